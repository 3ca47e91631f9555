"""The data of a report, made by `content.build`: frozen rows of text and numbers, without layout.

A *stratum* is a combination that is never pooled: subject, instrument, mode, language. A *mark*
(S1, S2, …) stands beside a number for its signature, which is written out in full under the table
and in the list at the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...analyse.words.verdict_words import Word
from ...records import Json
from .figures import Figure, Pairs, Plot
from .table import Table


@dataclass(frozen=True, slots=True)
class Finding:
    """One headline number in words.

    what:  the measure, with the value that means no tilt.
    parts: (name, level) of the subject and of levels that distinguish the number in its measure;
    label: the levels that distinguish the number from the others shown with it.
    """

    subject: str
    about: str
    what: str
    parts: Pairs
    verdict: Word
    chip: str
    value: str
    interval: str
    sentence: str
    sure: tuple[str, ...]
    warnings: tuple[str, ...]
    gauge: Plot | None
    mark: str
    signature: str
    measure: str
    place: int
    n: str
    p: str
    query: str
    language: str = ""
    label: str = ""

    @property
    def more_warnings(self) -> tuple[str, ...]:
        """The warnings whose text is not in the sentence already."""
        return tuple(line for line in self.warnings if line not in self.sentence)


@dataclass(frozen=True, slots=True)
class Section:
    """All tables and figures of one variant; variants never share a table.

    Data that only picture protocols need (a grid of pictures) is a separate field beside `sections`
    in `Content`, not a kind of figure, as figures are drawn from estimates.
    """

    variant: str
    title: str
    text: str
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...]


@dataclass(frozen=True, slots=True)
class Subject:
    """A model that the run called. role: subject | judge; facts: (name, value) from its calls."""

    name: str
    role: str
    facts: Pairs
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RawExample:
    """One raw answer with its labels."""

    condition: str
    prompt: str
    answer: str
    labels: Pairs
    probabilities: str = ""
    language: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class ExampleGroup:
    """Answers of one subject and mode with the same label. total: how many the run has."""

    title: str
    total: int
    examples: tuple[RawExample, ...]


@dataclass(frozen=True, slots=True)
class Examples:
    rule: str
    groups: tuple[ExampleGroup, ...]
    shown: int
    total: int


NO_EXAMPLES = Examples("", (), 0, 0)


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture with its labels. source: a data URL of a small JPEG, "" if it is not shown."""

    source: str
    about: str
    label: str
    notes: tuple[str, ...] = ()
    id: str = ""


@dataclass(frozen=True, slots=True)
class PictureRow:
    """An item. cells: per column, its pictures."""

    label: str
    cells: tuple[tuple[Shot, ...], ...]


@dataclass(frozen=True, slots=True)
class PictureGrid:
    """Pictures of one subject by condition; `across` is the factor whose levels are the columns."""

    subject: str
    across: str
    columns: tuple[str, ...]
    rows: tuple[PictureRow, ...]
    rule: str


@dataclass(frozen=True, slots=True)
class Behind:
    """The outputs behind a number. total: their number; in_page: the number of them on the page;
    here: (id in the page, label) of the first outputs; query: selects all, for the explorer.
    """

    id: str
    title: str
    total: int
    in_page: int
    here: Pairs
    query: str


@dataclass(frozen=True, slots=True)
class Signature:
    mark: str
    text: str


@dataclass(frozen=True, slots=True)
class Badge:
    """A fact in a few words. kind: tilt | open | none | plain; link: an address in the page, or "";
    query: selects the outputs of the badge's number, or ""; rows: numbers of the findings that the
    badge is about.
    """

    kind: str
    text: str
    link: str = ""
    query: str = ""
    rows: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CueSide:
    """One level of the cue. own_words: words only in its prompt; answer, labels: its result."""

    title: str
    own_words: str
    answer: str
    labels: str
    shots: tuple[Shot, ...] = ()


@dataclass(frozen=True, slots=True)
class SamePrompt:
    """A prompt at several levels of the cue. before, after: the words that all of them share."""

    title: str
    rule: str
    before: str
    after: str
    sides: tuple[CueSide, ...]


@dataclass(frozen=True, slots=True)
class Screen:
    """The first screen: what moved, which way, how far, how surely, and an example.

    names: (short name, model); asked: the audit's question; simulated: a warning about planted
    models; lead: the headline without its exceptions; figure: the protocol's; queries: per lede
    sentence, selects its outputs (the first query also selects the headline's).
    """

    line: tuple[str, ...]
    names: Pairs
    headline: str
    lede: tuple[str, ...]
    badges: tuple[Badge, ...]
    figure: Figure | None
    prompt: SamePrompt | None
    caution: str
    queries: tuple[str, ...] = ()
    asked: str = ""
    simulated: str = ""
    lead: str = ""

    @property
    def rest(self) -> str:
        """The headline's exceptions: the text that follows its lead."""
        return self.headline.removeprefix(self.lead).strip() if self.lead else ""


@dataclass(frozen=True, slots=True)
class Content:
    """Everything that a report says. The last fields, from `design` on, are for pages and empty for
    a terminal. run_info: the `run` of the JSON output; behind_of: {query: its drawer}.
    """

    title: str
    question: str
    protocol: str
    date: str
    version: str
    asked: str
    screen: Screen
    lead: str
    basis: Pairs
    findings: tuple[Finding, ...]
    every_finding: tuple[Finding, ...]
    cautions: tuple[str, ...]
    measures: Pairs
    sections: tuple[Section, ...]
    departures: tuple[str, ...]
    citation: str
    signatures: tuple[Signature, ...]
    run_info: Mapping[str, Json] = field(default_factory=dict)
    design: Pairs = ()
    prompts: Pairs = ()
    subjects: tuple[Subject, ...] = ()
    examples: Examples = NO_EXAMPLES
    pictures: tuple[PictureGrid, ...] = ()
    limits: tuple[str, ...] = ()
    long_signatures: Pairs = ()
    commands: tuple[str, ...] = ()
    commands_note: str = ""
    behind: tuple[Behind, ...] = ()
    behind_of: Mapping[str, str] = field(default_factory=dict)

    @property
    def more_findings(self) -> int:
        """The number of headline findings left out of `findings`."""
        return len(self.every_finding) - len(self.findings)


@dataclass(frozen=True, slots=True)
class ToldRun:
    """One run in a report. prefix: begins the run's ids in the page; "" if it is the only run."""

    name: str
    content: Content
    prefix: str = ""

    @property
    def id(self) -> str:
        """The id of this run's section in the page."""
        return f"{self.prefix}run"


@dataclass(frozen=True, slots=True)
class Report:
    """One run, or several with a comparison. question: "" if the runs' questions differ."""

    title: str
    question: str
    runs: tuple[ToldRun, ...]
    against: Section | None = None


def alone(content: Content) -> Report:
    """Wraps one run's content as a report."""
    return Report(content.title, content.question, (ToldRun("", content),))
