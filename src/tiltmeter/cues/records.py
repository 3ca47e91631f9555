"""The records of this package: a cue in a text, and a prompt in two versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

ATTRIBUTES = ("gender", "race", "age", "religion", "disability", "orientation")
PLACEHOLDER = "xxxx"  # of a masked cue, of the length of a usual word

# The states of a prompt.
PAIRED = "paired"  # its cues are all of one group: the other version has the other group
MIRRORED = "mirrored"  # it has cues of both groups: the other version exchanges them
SET_ASIDE = "set aside"  # it has a cue that was not swapped; the reason says why
NO_CUE = "no cue"
# Reasons that others count: a prompt that is not read, and one whose code or address has a cue.
LANGUAGE = "language"
IN_CODE = "a name or a gender stands in code or an address"

AS_WRITTEN, EXCHANGED = "as written", "exchanged"  # the groups of a mirrored prompt


@dataclass(frozen=True, slots=True)
class Cue:
    """A span of a text that shows a person's group.

    group: the group; other: the group in the other version. same: the text that replaces the span
    in the version of its own group; other_text: that in the other version. person: the name in
    lower case, if the cue is a name.
    """

    start: int
    end: int
    group: str
    other: str
    same: str
    other_text: str
    person: str = ""


@dataclass(frozen=True, slots=True)
class Pairing:
    """The result for a prompt: its status and two versions.

    groups: the groups of the two versions, the prompt's own first; texts: in the same order.
    reason: why the prompt was set aside, or "".
    """

    attribute: str
    status: str
    groups: tuple[str, str] = ("", "")
    texts: tuple[str, str] = ("", "")
    cues: tuple[Cue, ...] = ()
    reason: str = ""

    @property
    def text(self) -> str:
        """The version for the other group; "" if there is none."""
        return self.texts[1]


def apply(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    """Returns a text with each edit (start, end, new text) made."""
    parts, last = [], 0
    for start, end, new in sorted(edits):
        parts += [text[last:start], new]
        last = end
    return "".join((*parts, text[last:]))


def like(model: str, word: str) -> str:
    """Returns a word in the case of `model`: all capitals, a capital initial, or unchanged."""
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word
