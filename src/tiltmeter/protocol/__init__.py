"""A declared audit, as data (reading/load.py reads one from its file).

A protocol is one TOML file with CSV files beside it. Its design is the natural join of its tables:
rows that agree in the columns that both tables have are combined; tables without a common column
are crossed. So one mechanism covers words × option orders × languages, names × ages × occupations
within a gender, and objects × groups. A joined row is a *cell*; the columns listed in `factors`
make its condition, the others are slots for the prompt.

A cell of a table may hold several values, joined by `|` (a word in two classes).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Unpack
from warnings import warn

from ..errors import UnknownName
from ..records import Json, Message, content_id
from ..stats.results import count_of
from .design.tables import MITIGATED, SEVERAL, SYSTEM, Row, fill, join
from .source.keys import (
    AnnotationKeys,
    CrosstabKeys,
    FirstKeys,
    ProtocolKeys,
    SelectionKeys,
    StopKeys,
)
from .specs import InstrumentSpec, MeasureSpec, Mode, Variant

if TYPE_CHECKING:
    from .design.cue_words import CueWords

__all__ = [
    "EVERY",
    "FEW_OUTPUTS",
    "FIGURES",
    "InstrumentSpec",
    "MeasureSpec",
    "Mode",
    "Protocol",
    "Variant",
    "few_items",
]

# As the attribute of a measure: each attribute that an instrument labels; as its value: each value,
# in a row of its own; as a level of a factor: all levels.
EVERY = "*"
FEW_OUTPUTS = 10  # of a group in a divergence: with fewer, little can be concluded
FIGURES = ("dots", "dumbbell", "forest", "heat", "stacked")  # drawings that a measure can ask for


@dataclass(frozen=True, repr=False)
class Protocol:
    """One declared audit.

    defaults: {factor: levels} for runs that do not choose levels.
    system:   the system prompt; turns: the conversation before the prompt, as (role, text). Both
              may have slots.
    judges_see_system: True if judges are shown the system prompt before the prompt.
    pictures: the paths of the pictures that are shown with the prompt, with slots; picture_names:
              the blob name of each path; picture_folder: the folder with the files, None in a run.
    asked_digest: the digest of the whole design, if this copy holds only the rows that a run asked.
    apart:    factors whose levels are never pooled if a run holds several.
    titles:   {factor or attribute: {level or value: its name for people}}.
    annotation: {attribute: the question to people, and if they see the prompt}.
    first:    the parts of a report's first screen besides its sentence; {} for the usual ones.
    selections: tables of selection rates by category, for `export --format audit`.
    tally:    the factor by whose levels `plan` counts the prompts, "" for none.
    thresholds: bounds on measures (thresholds.py); a run that crosses one exits with code 3.
    matters:  points of a share below which a difference is slight.
    stop:     rules for stopping early (stopping.py); None for the default rules of `--stop`.
    cue_words: the column of words that stand for the levels of a factor, "none" if the words are
              the levels, "" to recognise it; cue_sets: the column of matched sets of such words.
    definition: {declared: the content of its file, files: the text of each data file}, from which
              it can be declared again.
    """

    # reads the keys of a file; the registry, which knows every kind of instrument, puts it here
    declarer: ClassVar[Callable[..., Protocol]]

    name: str
    title: str
    question: str
    tables: Sequence[Sequence[Row]]
    prompt: str
    factors: tuple[str, ...]
    item: str
    version: str = "1"
    modes: Mapping[str, Mode] = field(default_factory=dict)
    instruments: tuple[InstrumentSpec, ...] = ()
    measures: tuple[MeasureSpec, ...] = ()
    variants: Mapping[str, Variant] = field(default_factory=dict)
    modality: str = "text"
    citation: str = ""
    departures: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    matters: float = 5.0
    guidelines: tuple[str, ...] = ()
    crosstab: CrosstabKeys | None = None
    defaults: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    apart: tuple[str, ...] = ()
    tally: str = ""
    titles: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    annotation: Mapping[str, AnnotationKeys] = field(default_factory=dict)
    first: FirstKeys = field(default_factory=FirstKeys)
    selections: tuple[SelectionKeys, ...] = ()
    system: str = ""
    turns: tuple[Message, ...] = ()
    judges_see_system: bool = False
    pictures: tuple[str, ...] = ()
    picture_names: Mapping[str, str] = field(default_factory=dict)
    picture_folder: Path | None = field(default=None, compare=False)
    asked_digest: str = field(default="", compare=False)
    thresholds: tuple[str, ...] = ()
    stop: StopKeys | None = None
    cue_words: str = ""
    cue_sets: str = ""
    inline: tuple[str, ...] = ()
    source: str = ""
    definition: Mapping[str, Json] | None = field(default=None, compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def declare(cls, **keys: Unpack[ProtocolKeys]) -> Protocol:
        """Declares a protocol with the keys of a file (docs/reference/adding-a-protocol.md):
        tables, instruments and measures as lists of dicts, modes and variants as dicts of dicts. A
        data frame may stand for a table. Data files are looked up in the current folder.

        Until this process ends, the protocol can be used by its name (`planted:protocol=NAME`).
        Raises ProtocolError, which says what to write.
        """
        return cls.declarer(keys)

    def __post_init__(self) -> None:
        """Accepts the keys of a file, as before `declare` existed, with a DeprecationWarning."""
        if all(isinstance(table, Sequence) for table in self.tables):
            return
        text = "tiltmeter.Protocol(…) from the keys of a file is tiltmeter.Protocol.declare(…) now"
        warn(text, DeprecationWarning, stacklevel=3)
        names = [f.name for f in fields(self) if getattr(self, f.name)]
        keys = {name: getattr(self, name) for name in names}
        vars(self).update(vars(type(self).declarer(keys)))

    def __repr__(self) -> str:
        return (
            f"<Protocol {self.name} {self.version}: {self.title}; modes {', '.join(self.modes)}; "
            f"{len(self.measures)} measures>"
        )

    def _repr_html_(self) -> str:
        from .page import page

        return page(self).html()

    @cached_property
    def cells(self) -> list[Row]:
        """The rows of the tables' natural join, in the order of the tables."""
        rows: list[Row] = [{}]
        for table in self.tables:
            rows = join(rows, table)
        return rows

    @cached_property
    def cells_of(self) -> dict[tuple[str, str], list[Row]]:
        """{(factor, level): the cells at this level}."""
        cells: dict[tuple[str, str], list[Row]] = {}
        for cell in self.cells:
            for key in cell.items():
                cells.setdefault(key, []).append(cell)
        return cells

    @cached_property
    def compared_measures(self) -> dict[str, MeasureSpec]:
        """{name: measure}, with the measures of refusals (design/refusals.py)."""
        from .design.refusals import with_derived_measures

        return {spec.name: spec for spec in with_derived_measures(self.measures)}

    @cached_property
    def cues(self) -> Mapping[str, CueWords]:
        """{compared factor: its cue words}, for factors that have any (design/cue_words.py)."""
        from .design.cue_words import cue_words

        return cue_words(self)

    @cached_property
    def digest(self) -> str:
        """The hash of prompts, cells and modes. Different digests mean different trials."""
        return (
            self.asked_digest
            or content_id(
                self.name,
                self.version,
                self.prompt,
                self.tables,
                self.factors,
                self.item,
                {name: _digest_settings(mode) for name, mode in self.modes.items()},
                *((self.system, self.turns) if self.system or self.turns else ()),
                *((self.pictures, self.picture_names) if self.pictures else ()),
            )[:16]
        )

    @cached_property
    def levels(self) -> dict[str, dict[str, int]]:
        """{factor: {level: its index in the design's order}}; joined levels are split."""
        return {
            name: {
                level: n
                for n, level in enumerate(
                    dict.fromkeys(part for cell in self.cells for part in cell[name].split(SEVERAL))
                )
            }
            for name in (*self.factors, self.item)
        }

    @cached_property
    def languages(self) -> list[str]:
        """The languages of the design, in its order; [] if no table has the column."""
        return list(
            dict.fromkeys(
                part
                for cell in self.cells
                if "language" in cell
                for part in cell["language"].split(SEVERAL)
            )
        )

    def items(self, languages: Collection[str] = ()) -> set[str]:
        """Returns the items in these languages (or all), without cells that several items share."""
        return {
            cell[self.item]
            for cell in self.cells
            if SEVERAL not in cell[self.item]
            and (not languages or cell.get("language", "") in languages)
        }

    @property
    def counted_items(self) -> str:
        """The number of items in words, with their column if it says more: “12 items (job)”."""
        column = "" if self.item in ("item", "id") else f" ({self.item})"
        return f"{count_of(len(self.items()), 'item')}{column}"

    @property
    def default_mode(self) -> str:
        """The default mode of a run: the first one declared."""
        return next(iter(self.modes))

    @property
    def default_modes(self) -> tuple[str, ...]:
        """The modes that a run uses by default: the first one, and modes sampled for discovery."""
        return (
            self.default_mode,
            *(name for name, mode in self.modes.items() if mode.for_discovery),
        )

    def prompt_text(self, cell: Row) -> str:
        """Writes the prompt of one cell. A slot may hold a template from the protocol's file; text
        from a data file is a template only in columns that its table declares as `slots`.

        If the tables have a column `separator`, it joins the values of a cell.
        """
        template = fill(
            self.prompt, {name: cell[name] for name in self.inline}, self.source, missing="keep"
        )
        if "separator" in cell:
            cell = {name: value.replace(SEVERAL, cell["separator"]) for name, value in cell.items()}
        text = fill(template, cell, self.source)
        return cell[MITIGATED].replace("{prompt}", text) if MITIGATED in cell else text

    def context(self, cell: Row, system: str | None = None) -> tuple[Message, ...]:
        """Returns the messages before a cell's prompt: the system prompt, then earlier turns.

        system: used instead of the protocol's system prompt, without slots; "" for none.
        """
        instructions = fill(self.system, cell, self.source) if system is None else system
        instructions = "\n\n".join(filter(None, (instructions, cell.get(SYSTEM, ""))))
        turns = (Message(role, fill(text, cell, self.source)) for role, text, _ in self.turns)
        spoken = (turn for turn in turns if turn.content)  # conversations differ in length
        return (*((Message("system", instructions),) if instructions else ()), *spoken)

    def shown_with(self, cell: Row) -> tuple[str, ...]:
        """Returns the blob names of the pictures shown with a cell's prompt."""
        paths = (fill(text, cell, self.source) for text in self.pictures)
        return tuple(self.picture_names[path] for path in paths if path)

    def answer_start(self, mode: Mode, cell: Row) -> str:
        """Fills the slots of a mode's `begin` (the start of answers), which can differ
        by language.
        """
        return fill(mode.begin, cell, self.source) if "{" in mode.begin else mode.begin


def in_variant(protocol: Protocol, name: str) -> Protocol:
    """Returns the protocol with a variant's headlines and texts of measures."""
    variant = protocol.variants.get(name)
    if variant is None or not (variant.says or variant.headline):
        return protocol
    says, headline = variant.says, variant.headline
    measures = tuple(
        replace(spec, text=says[spec.name], null=None) if spec.name in says else spec
        for spec in protocol.measures
    )
    if headline:
        measures = tuple(replace(spec, headline=spec.name in headline) for spec in measures)
    return replace(protocol, measures=measures)


def _digest_settings(mode: Mode) -> dict[str, str | float | None]:
    """Returns a mode's settings for the digest. `for_discovery` is included only if set, and under
    its earlier name, so that digests do not change.
    """
    settings = asdict(mode)
    if settings.pop("for_discovery"):
        settings["aside"] = True
    return settings


def told_by(protocol: Protocol, variant: str) -> Protocol:
    """Returns the protocol with a variant's settings for judges. Raises UnknownName if there is no
    such variant.
    """
    if variant not in protocol.variants:
        raise UnknownName(f"variant of {protocol.name}", variant, protocol.variants)
    judges = protocol.variants[variant].judges
    return replace(
        protocol,
        instruments=tuple(
            replace(spec, told=judges.get(spec.name, {})) for spec in protocol.instruments
        ),
    )


def few_items(protocol: Protocol) -> bool:
    """True if the items are the few levels of a factor and so not a sample of items."""
    from ..stats.rates import FEW_CLUSTERS

    return protocol.item in protocol.factors and len(protocol.levels[protocol.item]) < FEW_CLUSTERS
