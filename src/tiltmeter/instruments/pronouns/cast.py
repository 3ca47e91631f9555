"""The people in a text, and its pronouns with their context: the speaker, the people named before,
the facts that the input gives about each person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .attribution import Entity
from .candidates import NEUTRAL, Pronoun, nearest, pronoun_of
from .everybody import everybody
from .passage import WordToken
from .person import Person
from .plurals import PLURAL
from .speakers import Line, dialogue, in_brackets, speaker
from .told import OTHER, PRIMARY, Told, marks_of, words_of_mentions

_STAGED = 3.0  # a stage direction in a speaker's line is of that speaker; "they are a nurse"
_COPULAS = frozenset(("is", "was", "are", "were", "am", "'s", "'re"))


class Marked(NamedTuple):
    """A text's tokens, its pronouns (token index → class), quotations, indices of pairs such as "he
    or she"; lines: True if it may have lines of dialogue with labels.
    """

    found: Sequence[WordToken]
    places: Mapping[int, str]
    spans: Sequence[tuple[int, int]]
    doubles: frozenset[int]
    lines: bool = False


class Cast(NamedTuple):
    """The people of a text, and its pronouns, still without referents. absent: True if the primary
    person is named only inside quotations or as the label of a speaker.
    """

    primary: Entity
    others: Sequence[Entity]
    pronouns: Sequence[Pronoun]
    absent: bool


def cast_of(marked: Marked, who: Person) -> Cast:
    """Finds the people of a text, and its pronouns with their speakers."""
    found = marked.found
    primary, others = everybody(found, who, NEUTRAL in marked.places.values())
    lines = dialogue(found) if marked.lines else ()
    labels = frozenset(at for line in lines for at in line.label)
    absent = all(
        mention.first in labels or _inside(mention.first, marked.spans)
        for mention in primary.mentions
    )
    speakers = [(span, speaker(found, span)) for span in marked.spans]
    pronouns = []
    for at, value in marked.places.items():
        speaking = next((who for (low, high), who in speakers if low < at < high), range(0))
        line = _line_of(lines, at)
        staged = line is not None and in_brackets(found, line, at)
        if line is not None and not speaking and not staged:
            speaking = line.label
        double = found[at].begin in marked.doubles
        pronoun = pronoun_of(found, at, value, double, speaking, absent)
        if line is not None and staged:
            mine = any(mention.first in line.label for mention in primary.mentions)
            pronoun = pronoun._replace(told=_STAGED if mine else -_STAGED)
        pronouns.append(pronoun)
    return Cast(primary, others, pronouns, absent)


def _line_of(lines: Sequence[Line], at: int) -> Line | None:
    return next((line for line in lines if line.first < at < line.last), None)


def _inside(at: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(low < at < high for low, high in spans)


def with_signs(marked: Marked, cast: Cast, told: Told) -> Cast:
    """Adds to each pronoun the evidence for its referent that needs no other pronoun resolved."""
    everyone = [cast.primary, *cast.others]
    owned = _words_of_pronouns(marked, cast) if told.words else {}
    pronouns = [
        pronoun._replace(
            told=pronoun.told
            + told.of_primary(owned.get(pronoun.at, ()))
            + (_STAGED if _is_primary(marked.found, pronoun.at, cast.primary) else 0.0),
            nearest=nearest(marked.found, pronoun, everyone),
        )
        for pronoun in cast.pronouns
    ]
    return cast._replace(pronouns=pronouns)


def _is_primary(found: Sequence[WordToken], at: int, primary: Entity) -> bool:
    """True if a sentence equates a pronoun with the primary person: "they are a nurse"."""
    for place in range(at + 1, min(at + 4, len(found) - 1)):
        if found[place].word in _COPULAS:
            near = range(place + 1, place + 5)
            return found[place + 1].word in ("a", "an", "the", "our", "my") and any(
                mention.first in near for mention in primary.mentions
            )
    return False


def _words_of_pronouns(marked: Marked, cast: Cast) -> Mapping[int, Sequence[str]]:
    """Returns {index of a pronoun: the words whose owner or subject the pronoun is}."""
    others = [(OTHER, other) for other in cast.others if other.gender != PLURAL]
    whose = dict.fromkeys(marked.places, OTHER)
    return words_of_mentions(
        marked.found, marks_of(marked.found, [(PRIMARY, cast.primary), *others], whose)
    )
