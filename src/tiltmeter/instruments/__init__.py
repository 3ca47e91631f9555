"""What turns an output into labels: a parser, a rule, a judge, a panel, a human.

An instrument is pure. It is a generator that yields requests, is sent their replies, and returns
labels, at least one for each output; a parser returns at once. The engine answers the requests, so
an instrument never sees a connection.

What a protocol's file may set is declared, in the class, as JSON Schema: the loader checks a file
against it and names the line, and editors are given the same. A setting that is not declared is
refused.

    class Length(Instrument):
        kind, version = "length", "1"
        needs = ("unit",)                                  # settings that must be there
        settings_schema: ClassVar[Settings] = {
            "unit": {"enum": ["words", "characters"], "description": "What is counted."},
            "most": {"type": "integer", "minimum": 1, "default": 500, "description": "Longest answer
            that is read."},
            "words": rows("The words to count.", "language", "word"),   # a CSV file, or its rows
        }

Understood are type, enum, properties, required, additionalProperties, minProperties, items,
minItems, maxItems, minimum, maximum, minLength and pattern (checking.py); every setting has a
`description` of one line. What a schema cannot say (two options with one form) `__init__` refuses
with a ProtocolError; it is made once when a protocol is loaded, before anything is asked.
`check_design` refuses a design that lacks a column or a language. `values` names the values that an
attribute can have, where they are closed, so that a measure that counts another one is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from ..protocol import InstrumentSpec, Protocol
from ..records import Answered, Label, Output, Reply, Request, Steps, Trial, content_id

# What is found out from a set of outputs before any of them is labelled: asks as `steps` does, and
# says whether it found it.
Lesson = Generator[Sequence[Request], Sequence[Reply], bool]
Lessons = Iterator[tuple[Mapping[str, str], Lesson]]
Settings = Mapping[str, Mapping[str, Any]]


class Derived(NamedTuple):
    """An attribute that another one decides, so that nobody stores it: a word's class. Looked up
    when labels are counted.

    values: (language, "" where the design has none; value of `source`) → the attribute's values, of
    which each counts.
    """

    attribute: str
    source: str
    values: Callable[[str, str], Sequence[str]]


class Labels(NamedTuple):
    """What a design can know of an attribute before a run.

    an_output: labels that an answer has of it, more than one for a list; values: how many different
    ones there can be, 0 where nobody knows.
    """

    an_output: int = 1
    values: int = 0


def rows(description: str, *columns: str) -> dict[str, Any]:
    """The JSON Schema of a setting that is a table: a CSV file beside the protocol, or its rows;
    with these columns.
    """
    row = {"type": "object", "required": list(columns), "additionalProperties": {"type": "string"}}
    return {
        "type": ["string", "array"],
        "pattern": r"\.csv$",
        "minItems": 1,
        "items": row,
        "description": description,
    }


class Instrument:
    """Base of all instruments. A subclass sets `kind` and `version` and writes `steps`.

    The annotator is instrument + version + a hash of its settings and of the model behind it, so a
    changed prompt, list or judge is another annotator and labels again.
    """

    kind: ClassVar[str]
    version: ClassVar[str]
    settings_schema: ClassVar[Settings] = {}  # setting → JSON Schema of it
    needs: ClassVar[tuple[str, ...]] = ()  # settings that must be there
    second: ClassVar[str] = ""  # the kind of instrument in which a judge labels the same outputs
    # parts that judges play in it, in the order of --judge; one alone plays all
    judges: ClassVar[tuple[str, ...]] = ()
    panel: ClassVar[bool] = False  # takes any number of judges, each in the one part
    # is what --judge adds beside another instrument (its `second`); no file names it
    beside: ClassVar[bool] = False
    each_judge: ClassVar[bool] = False  # is made anew for each judge, which labels by itself
    # the kind of artefact that it labels with and finds out: a taxonomy
    material: ClassVar[str] = ""
    # calls that finding it out for one set of outputs takes at most
    lesson_calls: ClassVar[int] = 1
    # takes outputs that are probabilities of the next token
    reads_probabilities: ClassVar[bool] = False
    # is shown all of the subject's reply, as the prompt that its provider rewrote
    reads_reply: ClassVar[bool] = False
    # is given the bytes of a picture, which it reads by itself
    reads_picture: ClassVar[bool] = False
    modality: ClassVar[str] = ""  # "text" or "image" where it can label outputs of one only
    # a text that it asks its judge about, for an estimate of what that costs
    example: ClassVar[str] = "An answer."

    def __init__(self, spec: InstrumentSpec, judge: str = "") -> None:
        self.name, self.attribute, self.settings, self.judge = (
            spec.name,
            spec.attribute,
            spec.settings,
            judge,
        )
        self.attributes: tuple[str, ...] = (
            spec.attribute,
        )  # all that it labels: what is no answer has a label of each
        self.name_of_material = self.name
        mark = content_id(self.kind, self.version, self.settings, judge, self.wording())[:8]
        self.annotator = f"{self.name}/{judge or self.version}@{mark}"

    def wording(self) -> Mapping[str, Any]:
        """Prompts and lists of the instrument's own that a label depends on (part of the
        annotator's hash).
        """
        return {}

    @classmethod
    def derived(cls, spec: InstrumentSpec) -> Sequence[Derived]:
        """Attributes that follow from those that it labels."""
        return ()

    def check_design(self, protocol: Protocol) -> None:
        """Refuses, with a ProtocolError, a design that lacks what it needs: a column, the forms of
        a language.
        """

    @classmethod
    def values(cls, spec: InstrumentSpec) -> Mapping[str, Collection[str]]:
        """{attribute: the values that it can have beside the outcomes}, of the attributes whose
        values are closed.
        """
        return {}

    @classmethod
    def expected_labels(cls, spec: InstrumentSpec, attribute: str, language: str) -> Labels:
        """How many labels an answer has of an attribute, and how many values there are."""
        return Labels(1, len(cls.values(spec).get(attribute, ())))

    def calls(self, trial: Trial, exact: bool) -> Mapping[str, tuple[int, int]]:
        """Calls about the output of a trial, by model: where every reply can be used and settles
        it, and the most.
        """
        return {self.judge: (1, 1)} if self.judge and not exact else {}

    def takes(self, trial: Trial) -> bool:
        """Whether it can label the output of a trial by now; what it does not take is left for
        another time.
        """
        return True

    def lessons(self, outputs: Iterable[tuple[Trial, Output]]) -> Lessons:
        """What is to be found out from sets of outputs first: (which set, how)."""
        return iter(())

    def learnt(self, text: str) -> None:
        """Takes over material that was found or given before."""

    def material_text(self) -> str:
        """The material as it is kept."""
        return ""

    def steps(self, item: Answered) -> Steps:
        """Yields requests, is sent replies, returns labels."""
        raise NotImplementedError

    def label(
        self,
        item: Answered,
        value: str,
        position: int = 0,
        weight: float = 1.0,
        attribute: str = "",
    ) -> Label:
        return Label(
            item.trial.id, self.annotator, attribute or self.attribute, value, position, weight
        )
