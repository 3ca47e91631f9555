"""Logs of prompts and answers as tools write them: told by what is in them, not by the file's name.

No error shows a value: it names the line, the key and the kind alone.
"""

from .messages import Turn as Turn
from .reader import Log as Log
from .reader import Logged as Logged
from .reader import answers_of as answers_of
from .reader import read_log as read_log
