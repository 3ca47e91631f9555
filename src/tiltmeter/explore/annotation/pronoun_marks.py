"""The third-person pronouns of a rewrite for a person to mark, and the labels that follow.

Rules find the pronouns; the person marks each as referring to the text's main person, to another
person, or to several. The class of the rewrite and the verdict then follow from the protocol's
table and are offered, not stored: the person decides. Marks are text, `14:primary 32:another`, by a
pronoun's offset in the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NotRequired, TypedDict

from ...instruments.pronouns.pronouns import MIXED, NEO, NONE, Found, mentions, person
from ...instruments.rewrites import NEEDED, PRONOUNS, PUBLISHED, VERDICT, verdicts
from ...instruments.rewrites.outcomes import READ, shape
from ...protocol import Protocol
from ..selection.detail import MOST_CHARACTERS

MAIN = "primary"


class MarkedPiece(TypedDict):
    """A piece of an answer. begin: the offset of a pronoun; absent in other pieces."""

    text: str
    begin: NotRequired[int]


def apply(protocol: Protocol, attribute: str) -> bool:
    """True if an attribute is about a rewrite's pronouns and the design has the input texts."""
    return attribute in (PRONOUNS, VERDICT, PUBLISHED) and set(NEEDED) <= protocol.cells[0].keys()


def pieces(cell: Mapping[str, str], output: str) -> list[MarkedPiece]:
    """Splits an answer so that each pronoun is a piece of its own, with its offset as `begin`."""
    return list(_pieces(output, _pronouns(cell, output)))


def _pieces(output: str, found: list[Found]) -> Iterator[MarkedPiece]:
    at = 0
    for one in found:
        yield {"text": output[at : one.begin]}
        at = one.begin + len(one.form)
        yield {"text": output[one.begin : at], "begin": one.begin}
    yield {"text": output[at:]}


def _pronouns(cell: Mapping[str, str], output: str) -> list[Found]:
    """Finds the pronouns in the part that rules read: all of an output, or its first variant."""
    read = shape(cell["text"], output)
    start = output.find(read.text)
    if read.outcome not in READ or start < 0 or len(output) > MOST_CHARACTERS:
        return []
    main = person(cell["theme"], cell["noun"], cell["text"])
    return [mention._replace(begin=mention.begin + start) for mention in mentions(read.text, main)]


def value(cell: Mapping[str, str], attribute: str, output: str, marks: str) -> str:
    """Returns the label of the attribute that follows from the marks; "" until every pronoun is
    marked, or if the main person has neopronouns.
    """
    whose = dict(mark.split(":", 1) for mark in marks.split())
    pronouns = _pronouns(cell, output)
    if shape(cell["text"], output).outcome not in READ or any(
        str(one.begin) not in whose for one in pronouns
    ):
        return ""
    mine = {one.value for one in pronouns if whose[str(one.begin)] == MAIN}
    if NEO in mine:
        return ""
    return verdicts(cell, mine.pop() if len(mine) == 1 else MIXED if mine else NONE)[attribute]
