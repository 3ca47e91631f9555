"""The base classes of instruments (see the package)."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Literal

from ..errors import UsageError
from ..protocol import InstrumentSpec, Protocol
from ..protocol.instrument_kinds import Derived, InstrumentKind, Labels
from ..protocol.source.json_schema import Schema
from ..records import Answered, Label, Output, Reply, Request, Steps, Trial, content_id
from .wording import Json

# Finds something out from outputs before labelling: yields requests, returns True if it did.
Discovery = Generator[Sequence[Request], Sequence[Reply], bool]
Discoveries = Iterator[tuple[Mapping[str, str], Discovery]]
Settings = Mapping[str, Schema]
# forms of answers whose last part counts as much as the first
_NEED_END = ("picks", "dialogue", "rewrite", "ranking")
_FLAGS = ("judges", "material")  # declarations of classes from before there were bases


def rows(description: str, *columns: str) -> Schema:
    """Makes the JSON Schema of a setting that is a table: a CSV file's path, or a list of rows."""
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
    if it is a Parser.

    An annotator's name contains the instrument, its version and a hash of its settings and model;
    so a changed prompt, list or judge is another annotator, and labels again.
    """

    kind: ClassVar[str]
    version: ClassVar[str]
    summary: ClassVar[str] = ""  # one line of description
    settings_schema: ClassVar[Settings] = {}  # setting → JSON Schema of it
    needs: ClassVar[tuple[str, ...]] = ()  # settings that must be there
    modality: ClassVar[str] = ""  # "text" or "image" if it labels outputs of one only
    # its answers: "prose", "choice", "picks", "dialogue", "rewrite", "ranking" or "picture"
    answers: ClassVar[str] = "prose"
    parts: ClassVar[tuple[str, ...]] = ()  # the parts of judges, in the order of --judge
    # settings with which it marks the outputs it is unsure of, so that a judge is asked about those
    # alone; None if it marks none. unsure_share: how often that is, as far as it was measured
    unsure_settings: ClassVar[Mapping[str, Json] | None] = None
    unsure_share: ClassVar[str] = ""
    # a typical text of a question to a judge, for estimates of cost
    typical_answer: ClassVar[str] = "An answer."

    def __init__(self, spec: InstrumentSpec, judge: str = "") -> None:
        self.name, self.attribute = spec.name, spec.attribute
        self.settings, self.judge = spec.settings, judge
        # every attribute that it labels; an output that is not an answer has a label of each
        self.attributes: tuple[str, ...] = (spec.attribute,)
        mark = content_id(self.kind, self.version, self.settings, judge, self.wording())[:8]
        self.annotator = f"{self.name}/{judge or self.version}@{mark}"

    @classmethod
    def record(cls) -> InstrumentKind:
        """Makes the registry's record of this kind of instrument."""
        modern = _modern(cls)
        return InstrumentKind(
            name=cls.kind,
            version=cls.version,
            summary=cls.summary or (cls.__doc__ or cls.kind).strip().partition("\n")[0],
            make=modern,
            settings=cls.settings_schema,
            needs=cls.needs,
            modality=cls.modality,
            values=cls.values,
            derived=cls.derived,
            expected_labels=cls.expected_labels,
            examples=cls.examples,
            answers=cls.answers,
            hits=issubclass(modern, HitParser),
            asks=modern.asks(),
            parts=modern.parts,
            nameable=not issubclass(modern, SecondJudge),
            second=cls.second(),
            unsure_settings=cls.unsure_settings,
            discovers=modern.artefact if issubclass(modern, Learner) else "",
        )

    @classmethod
    def asks(cls) -> Literal["nobody", "each", "panel", "team"]:
        """Returns which judges are asked: "nobody", "each", "panel" or "team"."""
        return "nobody"

    @classmethod
    def second(cls) -> type[SecondJudge] | None:
        """Returns the SecondJudge class that can label the same outputs by a model, or None."""
        return None

    @classmethod
    def derived(cls, spec: InstrumentSpec) -> Sequence[Derived]:
        """Lists the attributes to compute from the labels of this instrument."""
        return ()

    @classmethod
    def values(cls, spec: InstrumentSpec) -> Mapping[str, Collection[str]]:
        """Returns {attribute: its values, without outcomes (`invalid` …)} for closed attributes."""
        return {}

    @classmethod
    def expected_labels(cls, spec: InstrumentSpec, attribute: str, language: str) -> Labels:
        """Returns the expected number of labels per answer, and the number of values."""
        return Labels(1, len(cls.values(spec).get(attribute, ())))

    @classmethod
    def examples(cls, spec: InstrumentSpec, value: str, language: str) -> Sequence[str]:
        """Returns texts that the instrument labels with `value`, for a planted model to write; ()
        if there are none. language: "" for any. A slot ({name}) stands for that column of the
        prompt's row.
        """
        return ()

    @property
    def needs_end(self) -> bool:
        """True if an answer that was cut off cannot be labelled (a list, a dialogue …)."""
        return self.answers in _NEED_END

    def wording(self) -> Mapping[str, Json]:
        """Returns the instrument's own prompts and lists, which the annotator's hash covers."""
        return {}

    def check_design(self, protocol: Protocol) -> None:
        """Raises ProtocolError if the design lacks a column, or the words of a language."""

    def reads(self, exact: bool) -> bool:
        """True if outputs of this mode are labelled. exact: probabilities, else sampled text."""
        return not exact

    def can_label(self, trial: Trial) -> bool:
        """True if the output of a trial can be labelled now; False defers it."""
        return True

    def calls(self, trial: Trial, exact: bool) -> Mapping[str, tuple[int, int]]:
        """Returns {model: (fewest, most) calls} for labelling the output of a trial; the fewest are
        enough if each reply can be parsed and no tie has to be broken.
        """
        return {self.judge: (1, 1)} if self.judge and not exact else {}

    def different_answers(self, trial: Trial) -> int | None:
        """Returns the number of distinct answers to a prompt that a judge can be asked about, if
        equal answers share a call; None if it is unknown.
        """
        return None

    def steps(self, item: Answered) -> Steps:
        """Yields requests, is sent their replies, and returns the labels of an output."""
        raise NotImplementedError

    def is_unsure(self, labels: Sequence[Label]) -> bool:
        """True if the instrument is unsure of its labels, so that a judge should be asked."""
        return False

    def settle(
        self, item: Answered, labels: Sequence[Label], judged: Sequence[Label]
    ) -> Sequence[Label]:
        """Replaces the instrument's own labels of the attributes that the judge labelled."""
        replaced = {label.attribute for label in judged}
        labelled = {label.attribute for label in labels}
        return [
            *(label for label in judged if label.attribute in labelled),
            *(label for label in labels if label.attribute not in replaced),
        ]

    def about(self, item: Answered) -> str:
        """Returns facts about an output, such as the person described, for a judge that does not
        see the prompt; "" if there are none.
        """
        return ""

    def hide(self, item: Answered, text: str) -> tuple[str, Mapping[str, str]]:
        """Hides the cue in a text, for a judge that must not know it. Returns the text, and {code:
        the name that the code replaces} if the cue is a name.
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
        """Makes a label of an output. position: its index among the labels of the output; weight:
        1, or a probability; attribute: by default the attribute of the instrument's spec.
        """
        return Label(
            item.trial.id, self.annotator, attribute or self.attribute, value, position, weight
        )


class Parser(Instrument):
    """An instrument that labels by rules and asks nobody."""

    def read(self, item: Answered) -> Sequence[Label]:
        """Returns the labels of an output, at least one."""
        raise NotImplementedError

    def steps(self, item: Answered) -> Steps:
        """Yields no request; returns the labels of `read`."""
        yield from ()
        return self.read(item)


class HitParser(Parser):
    """A parser that gives one label per hit in a text, such as per word of a list."""


class ReplyParser(Parser):
    """A parser that also gets the subject's whole reply (item.reply), such as the prompt as the
    provider rewrote it.
    """


class PictureParser(Parser):
    """A parser that gets the bytes of a picture (item.picture) and analyses them itself."""


class Comparer(Parser):
    """A parser that compares each output with the other outputs of the run, and so labels only
    after `meet` has stored them all.
    """

    has_met: bool = False

    def meet(self, outputs: Sequence[tuple[Trial, Output]]) -> None:
        """Stores all outputs of the run, for `read` to compare with."""
        raise NotImplementedError

    def can_label(self, trial: Trial) -> bool:
        """True once `meet` was given the outputs of the run."""
        return self.has_met


class Judge(Instrument):
    """An instrument that asks one model; each judge of --judge is a separate annotator."""

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
        """Returns "each": every judge labels by itself."""
        return "each"

    def calls(self, trial: Trial, exact: bool) -> Mapping[str, tuple[int, int]]:
        """Returns {judge: (1, `rounds`)} calls; {} for exact probabilities."""
        return {} if exact else {self.judge: (1, self.rounds)}


class SecondJudge(Judge):
    """A judge that labels another instrument's outputs; that instrument's `second` returns it."""


class Panel(Instrument):
    """An instrument that lets any number of models vote; __init__ takes (spec, *judges)."""

    parts: ClassVar[tuple[str, ...]] = ("vote",)

    @classmethod
    def asks(cls) -> Literal["panel"]:
        """Returns "panel": the judges vote together."""
        return "panel"


class Team(Instrument):
    """An instrument whose models divide the tasks named in `parts`, in the order of --judge; a
    single model does all of them. __init__ takes (spec, *judges).
    """

    parts: ClassVar[tuple[str, ...]] = ("label",)

    @classmethod
    def asks(cls) -> Literal["team"]:
        """Returns "team": the judges divide the tasks among them."""
        return "team"


class Learner(Instrument):
    """An instrument that learns an artefact (such as a taxonomy) from sets of outputs before it
    labels any of them. A run stores the artefact; a file may supply it.
    """

    artefact: ClassVar[str]  # the kind of artefact, and the option of a command that gives it
    discovery_calls: ClassVar[int] = 1  # the most calls to find it out for one set

    @property
    def artefact_name(self) -> str:
        """The name under which a run keeps the artefact."""
        return self.name

    def discover(self, outputs: Iterable[tuple[Trial, Output]]) -> Discoveries:
        """Yields (name of a set, discovery) per set of outputs to learn the artefact from."""
        return iter(())

    def take_over(self, text: str) -> None:
        """Loads the artefact that an earlier run or a file stored as text."""

    def artefact_text(self) -> str:
        """Returns the artefact as text to store; "" if there is none."""
        return ""


def _modern(cls: type[Instrument]) -> type[Instrument]:
    """Returns the class; if it has the flags used before 0.2, a subclass with the right bases."""
    if issubclass(cls, Judge | Panel | Team | Learner) or not any(hasattr(cls, n) for n in _FLAGS):
        return cls
    from .old_flags import with_bases

    message = f"{cls.__name__}: flags of instruments are bases now (tiltmeter.instruments)."
    warnings.warn(message, DeprecationWarning, stacklevel=3)
    return with_bases(cls)
