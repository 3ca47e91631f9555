"""`python -m tiltmeter.corpus`: own.py."""

import sys

from .own import main

sys.exit(main())
