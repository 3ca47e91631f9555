"""Finds cues of a person's group in a prompt, and writes the prompt with another group in its
place.

Each language has a folder: tables of words as data, and rules that use them. If a prompt cannot be
swapped with certainty, or the cue decides what a right answer is, the prompt is set aside with the
reason; nothing is guessed."""

from .pairing import LANGUAGES as LANGUAGES
from .pairing import mask as mask
from .pairing import pair as pair
from .records import ATTRIBUTES as ATTRIBUTES
from .records import PLACEHOLDER as PLACEHOLDER
from .records import Pairing as Pairing
