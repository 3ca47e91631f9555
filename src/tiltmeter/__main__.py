"""`python -m tiltmeter`."""

from .cli import entry

entry()
