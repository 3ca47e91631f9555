"""Logs of prompts and answers as tools write them, recognised by content, not by the file's name.

No error shows a value from the file: errors name only the line, the key and the kind of log.
"""

from .messages import USER as USER
from .messages import Turn as Turn
from .reader import Log as Log
from .reader import Logged as Logged
from .reader import answers_of as answers_of
from .reader import read_log as read_log
