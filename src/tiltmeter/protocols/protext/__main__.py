"""Runs command.py: `python -m tiltmeter.protocols.protext`."""

import sys

from .command import main

sys.exit(main())
