"""What turns an output into labels: a parser, a rule, a judge, a panel, a human.

An instrument is pure. It is a generator that yields requests, is sent their replies, and returns
labels, at least one for each output. The engine answers the requests, so an instrument never sees a
connection. A class says what it is by its base:

    Parser         labels by rules and asks nobody: it writes `read`
    HitParser      a Parser that gives a label for each hit in a text
    ReplyParser    a Parser that is shown all of the subject's reply
    PictureParser  a Parser that is given the bytes of a picture
    Comparer       a Parser that is shown the other answers of the run first; a Judge may be one
    Judge          one model labels; each judge of --judge is an annotator of its own
    SecondJudge    a Judge that labels beside another instrument, which names it; no file does. An
                   instrument that says where it is unsure (`is_unsure`) has it asked there alone if
                   a command says so (judges/cascade.py)
    Panel          any number of models vote
    Team           models play parts, in the order of --judge; one alone plays all
    Learner        besides: finds something out before it labels, as a taxonomy

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
has a `description` of one line. What a schema cannot say (two options with one form) `__init__`
refuses with a ProtocolError; it is made once when a protocol is loaded, before anything is asked.
`check_design` refuses a design that lacks a column or a language. `values` names the values that an
attribute can have, where they are closed, so that a measure that counts another one is refused;
`examples` says what an answer looks like that means one of them, so that a planted model can write
it.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Literal

from ..errors import UsageError
from ..protocol import InstrumentSpec, Protocol
from ..protocol.instrument_kinds import Derived as Derived
from ..protocol.instrument_kinds import InstrumentKind
from ..protocol.instrument_kinds import Labels as Labels
from ..protocol.source.json_schema import Schema
from ..records import Answered, Label, Output, Reply, Request, Steps, Trial, content_id
from .wording import Json

# What is found out from a set of outputs before any of them is labelled: asks as `steps` does, and
# returns True if it found it.
Discovery = Generator[Sequence[Request], Sequence[Reply], bool]
Discoveries = Iterator[tuple[Mapping[str, str], Discovery]]
Settings = Mapping[str, Schema]
# kinds of answers whose last part counts as much as the first
_NEED_END = ("picks", "dialogue", "rewrite", "ranking")
_FLAGS = ("judges", "material")  # by which classes declared themselves before there were bases


def rows(description: str, *columns: str) -> Schema:
    """The JSON Schema of a setting that is a table: a CSV file beside the protocol, or its rows;
    with these columns.
    """
    row: Schema = {
        "type": "object",
        "required": list(columns),
        "additionalProperties": {"type": "string"},
    }
    return {
        "type": ["string", "array"],
        "pattern": r"\.csv$",
        "minItems": 1,
        "items": row,
        "description": description,
    }


class Instrument:
    """Base of all instruments. A subclass sets `kind` and `version` and writes `steps`, or `read`
    where it is a Parser.

    The annotator is instrument + version + a hash of its settings and of the model behind it, so a
    changed prompt, list or judge is another annotator and labels again.
    """

    kind: ClassVar[str]
    version: ClassVar[str]
    summary: ClassVar[str] = ""  # what it does, in one line
    settings_schema: ClassVar[Settings] = {}  # setting → JSON Schema of it
    needs: ClassVar[tuple[str, ...]] = ()  # settings that must be there
    modality: ClassVar[str] = ""  # "text" or "image" if it labels outputs of one only
    # its answers: "prose", "choice", "picks", "dialogue", "rewrite", "ranking" or "picture"
    answers: ClassVar[str] = "prose"
    parts: ClassVar[tuple[str, ...]] = ()  # what judges do in it, in the order of --judge
    # settings with which it says where it is unsure, so that a judge is asked there alone; None if
    # it does not say so. unsure_share: how often that is, as far as it was measured
    unsure_settings: ClassVar[Mapping[str, Json] | None] = None
    unsure_share: ClassVar[str] = ""
    # a text that it asks a model about, for an estimate of what that costs
    typical_answer: ClassVar[str] = "An answer."

    def __init__(self, spec: InstrumentSpec, judge: str = "") -> None:
        self.name, self.attribute, self.settings, self.judge = (
            spec.name,
            spec.attribute,
            spec.settings,
            judge,
        )
        # all that it labels: what is no answer has a label of each
        self.attributes: tuple[str, ...] = (spec.attribute,)
        mark = content_id(self.kind, self.version, self.settings, judge, self.wording())[:8]
        self.annotator = f"{self.name}/{judge or self.version}@{mark}"

    @classmethod
    def record(cls) -> InstrumentKind:
        """What is known of this kind, for all that does not label with it."""
        made = _modern(cls)
        return InstrumentKind(
            name=cls.kind,
            version=cls.version,
            summary=cls.summary or (cls.__doc__ or cls.kind).strip().partition("\n")[0],
            make=made,
            settings=cls.settings_schema,
            needs=cls.needs,
            modality=cls.modality,
            values=cls.values,
            derived=cls.derived,
            expected_labels=cls.expected_labels,
            examples=cls.examples,
            answers=cls.answers,
            hits=issubclass(made, HitParser),
            asks=made.asks(),
            parts=made.parts,
            nameable=not issubclass(made, SecondJudge),
            second=cls.second(),
            unsure_settings=cls.unsure_settings,
            discovers=made.artefact if issubclass(made, Learner) else "",
        )

    @classmethod
    def asks(cls) -> Literal["nobody", "each", "panel", "team"]:
        """Which judges label with it."""
        return "nobody"

    @classmethod
    def second(cls) -> type[SecondJudge] | None:
        """The kind of the judges that label the same outputs beside it; None if there is none."""
        return None

    @classmethod
    def derived(cls, spec: InstrumentSpec) -> Sequence[Derived]:
        """Attributes that follow from those that it labels."""
        return ()

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

    @classmethod
    def examples(cls, spec: InstrumentSpec, value: str, language: str) -> Sequence[str]:
        """Texts that it labels with a value, in a language ("" for any): a planted model writes one
        of them. A slot ({name}) stands for that column of the prompt's row. () if it has none.
        """
        return ()

    @property
    def needs_end(self) -> bool:
        """True if an answer that was cut cannot be labelled: a list, a dialogue, a rewrite, a
        ranking.
        """
        return self.answers in _NEED_END

    def wording(self) -> Mapping[str, Json]:
        """Prompts and lists of the instrument's own that a label depends on (part of the
        annotator's hash).
        """
        return {}

    def check_design(self, protocol: Protocol) -> None:
        """Refuses, with a ProtocolError, a design that lacks what it needs: a column, the forms of
        a language.
        """

    def reads(self, exact: bool) -> bool:
        """True if it labels outputs that are probabilities of the next token (exact), or drawn
        ones.
        """
        return not exact

    def can_label(self, trial: Trial) -> bool:
        """True if the output of a trial can be labelled now; False defers it."""
        return True

    def calls(self, trial: Trial, exact: bool) -> Mapping[str, tuple[int, int]]:
        """{model: (fewest, most)} calls about the output of a trial: the fewest where every reply
        can be used and settles it.
        """
        return {self.judge: (1, 1)} if self.judge and not exact else {}

    def different_answers(self, trial: Trial) -> int | None:
        """How many answers to a prompt are different questions to a judge, where equal ones share a
        call; None where that is not known.
        """
        return None

    def steps(self, item: Answered) -> Steps:
        """Yields requests, is sent replies, returns labels."""
        raise NotImplementedError

    def is_unsure(self, labels: Sequence[Label]) -> bool:
        """True if a judge had better say what its own labels of an output say."""
        return False

    def settle(
        self, item: Answered, labels: Sequence[Label], said: Sequence[Label]
    ) -> Sequence[Label]:
        """Its own labels of an output with what the judge said of it in their place."""
        asked = {label.attribute for label in said}
        own = {label.attribute for label in labels}
        return [
            *(label for label in said if label.attribute in own),
            *(label for label in labels if label.attribute not in asked),
        ]

    def about(self, item: Answered) -> str:
        """What a judge must know of an output that is not shown what was asked: of which person it
        is; "" for nothing.
        """
        return ""

    def hide(self, item: Answered, text: str) -> tuple[str, Mapping[str, str]]:
        """A text as a judge may see it that is blind to the cue, and {code: the name that it
        stands for} where names are the cue.
        """
        return text, {}

    def label(
        self,
        item: Answered,
        value: str,
        position: int = 0,
        weight: float = 1.0,
        attribute: str = "",
    ) -> Label:
        """A label of an output. position: its place among several; weight: how much it counts, 1
        but for probabilities; attribute: that of the spec where none is named.
        """
        return Label(
            item.trial.id, self.annotator, attribute or self.attribute, value, position, weight
        )


class Parser(Instrument):
    """Labels by rules and asks nobody."""

    def read(self, item: Answered) -> Sequence[Label]:
        """The labels of an output, at least one."""
        raise NotImplementedError

    def steps(self, item: Answered) -> Steps:
        """Yields no request; returns the labels of `read`."""
        yield from ()
        return self.read(item)


class HitParser(Parser):
    """A parser that gives a label for each hit in a text, as for each word of a list."""


class ReplyParser(Parser):
    """A parser that is shown all of the subject's reply (item.reply), as the prompt that its
    provider rewrote.
    """


class PictureParser(Parser):
    """A parser that is given the bytes of a picture (item.picture), which it reads by itself."""


class Comparer(Parser):
    """Compares an output with others of the run: it labels when all are there (`meet`)."""

    has_met: bool = False

    def meet(self, outputs: Sequence[tuple[Trial, Output]]) -> None:
        """Takes in all outputs of the run."""
        raise NotImplementedError

    def can_label(self, trial: Trial) -> bool:
        """True if it was shown the outputs."""
        return self.has_met


class Judge(Instrument):
    """One model labels. Each judge that a command names is an annotator of its own."""

    parts: ClassVar[tuple[str, ...]] = ("label",)
    rounds: ClassVar[int] = 3  # replies of the judge that are read, at most

    def __init__(self, spec: InstrumentSpec, judge: str = "") -> None:
        if not judge:
            raise UsageError(
                f"{spec.name} is labelled by a judge. Type for instance: --judge "
                "openai:gpt-4.1-mini"
            )
        super().__init__(spec, judge)

    @classmethod
    def asks(cls) -> Literal["each"]:
        """ "each": every judge labels by itself."""
        return "each"

    def calls(self, trial: Trial, exact: bool) -> Mapping[str, tuple[int, int]]:
        """One to `rounds` calls to the judge; none for exact probabilities."""
        return {} if exact else {self.judge: (1, self.rounds)}


class SecondJudge(Judge):
    """A judge that labels the same outputs as another instrument, which names it (`second`)."""


class Panel(Instrument):
    """Any number of models vote on one label; __init__ takes (spec, *judges)."""

    parts: ClassVar[tuple[str, ...]] = ("vote",)

    @classmethod
    def asks(cls) -> Literal["panel"]:
        """ "panel": the judges vote together."""
        return "panel"


class Team(Instrument):
    """Models play parts, in the order of --judge; one alone plays all. __init__ takes
    (spec, *judges).
    """

    parts: ClassVar[tuple[str, ...]] = ("label",)

    @classmethod
    def asks(cls) -> Literal["team"]:
        """ "team": the judges share the parts."""
        return "team"


class Learner(Instrument):
    """Finds something out (its artefact, as a taxonomy) from sets of outputs before any of them is
    labelled; a run keeps it, and a file may give it.
    """

    artefact: ClassVar[str]  # what it is called: the kind of artefact, and the option of a command
    discovery_calls: ClassVar[int] = 1  # calls that finding it out for one set takes at most

    @property
    def artefact_name(self) -> str:
        """The name under which a run keeps it."""
        return self.name

    def discover(self, outputs: Iterable[tuple[Trial, Output]]) -> Discoveries:
        """What is to be found out of these outputs: (which set, how)."""
        return iter(())

    def take_over(self, text: str) -> None:
        """Takes over an artefact that was found or given before."""

    def artefact_text(self) -> str:
        """The artefact as it is kept; "" for none."""
        return ""


def _modern(cls: type[Instrument]) -> type[Instrument]:
    """The class itself; of one that declares itself by flags, as before version 0.2, one with the
    bases that they mean.
    """
    if issubclass(cls, Judge | Panel | Team | Learner) or not any(hasattr(cls, n) for n in _FLAGS):
        return cls
    from .old_flags import with_bases

    message = f"{cls.__name__}: flags of instruments are bases now (tiltmeter.instruments)."
    warnings.warn(message, DeprecationWarning, stacklevel=3)
    return with_bases(cls)
