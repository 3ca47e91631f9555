"""Finds cues of a person's group in a prompt, and writes the prompt with another group in it.

A language has a folder of its own: tables of words as data, and rules that read them. A prompt that
cannot be swapped surely, or in which the cue decides what a right answer is, is set aside with the
reason; nothing is guessed.
"""

from .pairing import LANGUAGES as LANGUAGES
from .pairing import mask as mask
from .pairing import pair as pair
from .records import ATTRIBUTES as ATTRIBUTES
from .records import PLACEHOLDER as PLACEHOLDER
from .records import Pairing as Pairing
