"""Instruments turn outputs into labels: a parser, a rule, a judge, a panel, a human.

An instrument is pure. It is a generator that yields requests, is sent their replies, and returns
labels, at least one for each output. The engine answers the requests, so an instrument never sees a
connection. The base of a class says how it labels:

    Parser         labels by rules and asks nobody: it has `read`
    HitParser      a Parser that gives a label for each hit in a text
    ReplyParser    a Parser that is shown the subject's whole reply
    PictureParser  a Parser that is given the bytes of a picture
    Comparer       a Parser that is shown the other answers of the run first; a Judge may be one
    Judge          one model labels; each judge of --judge is an annotator of its own
    SecondJudge    a Judge that labels beside another instrument, which names it (a file cannot). An
                   instrument that marks what it is unsure of (`is_unsure`) can have it asked about
                   that alone (judges/cascade.py)
    Panel          any number of models vote
    Team           models play parts, in the order of --judge; one alone plays all
    Learner        finds something out before it labels, such as a taxonomy

What a protocol's file may set is declared, in the class, as JSON Schema: the loader checks a file
against it and names the line, and editors are given the same. A setting that is not declared is
refused.

    class Length(Parser):
        kind, version, summary = "length", "1", "how long an answer is"
        needs = ("unit",)  # settings that must be there
        settings_schema: ClassVar[Settings] = {
            "unit": {"enum": ["words", "characters"], "description": "What is counted."},
            "most": {
                "type": "integer",
                "minimum": 1,
                "default": 500,
                "description": "The longest answer that is read.",
            },
            # a CSV file, or its rows
            "words": rows("The words to count.", "language", "word"),
        }

        def read(self, item):
            return [self.label(item, str(len(item.output.text.split())))]

Understood are type, enum, properties, required, additionalProperties, minProperties, items,
minItems, maxItems, minimum, maximum, minLength and pattern (protocol/json_schema.py); every setting
has a `description` of one line. `__init__`
raises ProtocolError for what a schema cannot say (two options with one form); an instrument is made
once when a protocol is loaded, before anything is asked.
`check_design` refuses a design that lacks a column or a language. `values` lists the values of an
attribute if they are closed, so that a measure that counts another one is refused; `examples` gives
answers that mean one of them, for a planted model to write.
"""

from __future__ import annotations

from ..protocol.instrument_kinds import Derived, Labels
from .bases import (
    Comparer,
    Discoveries,
    Discovery,
    HitParser,
    Instrument,
    Judge,
    Learner,
    Panel,
    Parser,
    PictureParser,
    ReplyParser,
    SecondJudge,
    Settings,
    Team,
    rows,
)

__all__ = [
    "Comparer",
    "Derived",
    "Discoveries",
    "Discovery",
    "HitParser",
    "Instrument",
    "Judge",
    "Labels",
    "Learner",
    "Panel",
    "Parser",
    "PictureParser",
    "ReplyParser",
    "SecondJudge",
    "Settings",
    "Team",
    "rows",
]
