"""The command line, as `python -m tiltmeter`."""

from .cli import entry

entry()
