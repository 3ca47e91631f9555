"""`python -m tiltmeter.protocols.protext`: own.py."""

import sys

from .own import main

sys.exit(main())
