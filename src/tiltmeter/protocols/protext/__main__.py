"""`python -m tiltmeter.protocols.protext`: command.py."""

import sys

from .command import main

sys.exit(main())
