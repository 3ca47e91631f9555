"""Makes the two versions of a prompt, or says why it has none."""

from __future__ import annotations

from functools import lru_cache

from ..errors import UsageError
from .matched import Picker
from .records import (
    AS_WRITTEN,
    ATTRIBUTES,
    EXCHANGED,
    LANGUAGE,
    MIRRORED,
    NO_CUE,
    PAIRED,
    SET_ASIDE,
    Pairing,
    apply,
)

LANGUAGES = ("en",)


def pair(text: str, attribute: str = "gender", *, language: str = "en", seed: int = 0) -> Pairing:
    """Finds the cues of an attribute in a prompt and writes both versions.

    seed: chooses, with the text, the matched sets of names.
    """
    if attribute not in ATTRIBUTES:
        raise UsageError(f"'{attribute}' has no cues. Type one of: {', '.join(ATTRIBUTES)}")
    if language not in LANGUAGES:
        reason = f"{LANGUAGE}: {language}; only English is swapped"
        return Pairing(attribute, SET_ASIDE, reason=reason)
    from .en import english  # hundreds of patterns, which most readers of answers never need

    reading = english.read(text, attribute, Picker(text, seed))
    if not reading.cues:
        if reading.reason:
            return Pairing(attribute, SET_ASIDE, reason=reading.reason)
        return Pairing(attribute, NO_CUE)
    if reading.reason:
        return Pairing(attribute, SET_ASIDE, cues=reading.cues, reason=reading.reason)
    cues = reading.cues
    groups = list(dict.fromkeys(cue.group for cue in cues))
    versions = (
        english.edited(text, [(cue.start, cue.end, cue.same) for cue in cues]),
        english.edited(text, [(cue.start, cue.end, cue.other_text) for cue in cues]),
    )
    if reason := english.left_over(versions[1], cues):
        return Pairing(attribute, SET_ASIDE, cues=cues, reason=reason)
    if len(groups) > 1:
        return Pairing(attribute, MIRRORED, (AS_WRITTEN, EXCHANGED), versions, cues)
    return Pairing(attribute, PAIRED, (groups[0], cues[0].other), versions, cues)


@lru_cache(maxsize=8192)  # several instruments read the same answers
def mask(text: str, attributes: tuple[str, ...], language: str = "en") -> str:
    """Replaces all cues of some attributes in a text by one placeholder, so that two answers do not
    differ just because they mention different people.
    """
    if language not in LANGUAGES:
        return text
    from .en import english

    edits = english.masked(text, attributes)
    return apply(text, edits)
