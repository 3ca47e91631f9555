"""The keys of a protocol's file as types, from which reading/schema.py makes its JSON Schema; the
meaning of each key, an example and its bounds are in schema.toml.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired, Protocol, Required, TypeAlias, TypedDict

from ...records import Json

Texts: TypeAlias = Sequence[str]
Levels: TypeAlias = Mapping[str, Texts]  # {factor: levels}
Cells: TypeAlias = Mapping[str, str | int | float]  # a row by its columns


class PolarsFrame(Protocol):
    """A polars data frame, which may stand for a table."""

    def to_dicts(self) -> Sequence[Mapping[str, Json]]:
        """Returns the rows, each as {column: value}."""
        ...


class PandasFrame(Protocol):
    """A pandas data frame, which may stand for a table."""

    def to_dict(self, orient: Literal["records"], /) -> Sequence[Mapping[str, Json]]:
        """Returns the rows, each as {column: value}, for `orient` "records"."""
        ...


class TableKeys(TypedDict, total=False):
    """A table of the design: `rows`, or a `file`, or several `parts`."""

    rows: Sequence[Cells]
    file: str
    parts: Sequence[TableKeys]
    columns: Texts
    key: Texts
    needs: Texts
    slots: Texts
    where: Mapping[str, str | Texts]
    add: Mapping[str, str]
    leaves_out: str


class ModeKeys(TypedDict, total=False):
    """One way to obtain outputs."""

    samples: int
    logprobs: int
    begin: str
    temperature: float
    top_p: float
    max_tokens: int
    size: str
    for_discovery: bool
    aside: bool


class BandKeys(TypedDict):
    """A band that is shaded in a forest plot."""

    low: float
    high: float
    text: str


class SentenceKeys(TypedDict, total=False):
    """Sentences for a measure's claims, by verdict, with the {slots} of `wording.SLOTS`. between,
    over_time: for two runs side by side, and one after the other (`wording.SLOTS_OF_RUNS`).
    """

    tilt: str
    below: str
    plain: str
    alone: str
    also: str
    strata: str
    places: str
    shown: str
    between: str
    over_time: str


class FirstKeys(TypedDict, total=False):
    """The first screen of a report: its figure, the factor shown side by side, its badges."""

    measure: str
    figure: str
    by: Texts
    cue: str
    badges: str
    item: str


class InstrumentKeys(TypedDict, total=False):
    """An instrument's common keys; the settings of its kind are further keys."""

    name: Required[str]
    kind: Required[str]
    attribute: Required[str]
    also: Texts


class MeasureKeys(TypedDict, total=False):
    """A measure: a number computed from labels."""

    name: Required[str]
    kind: Required[str]
    attribute: Required[str]
    values: Required[Texts]
    among: Texts
    without: Texts
    where: Levels
    per: Literal["labels", "outputs", "items"]
    over: Sequence[Literal["subject", "language"]]
    by: Sequence[Texts]
    null: float
    unit: str
    headline: bool
    figure: str
    text: str
    family: str
    nuisance: str
    parts: Texts
    reference: str | Mapping[str, float]
    expected: Mapping[str, Mapping[str, str]]
    scores: Mapping[str, float]
    contrast: Mapping[str, str]
    band: BandKeys
    sentence: SentenceKeys


class StarKeys(TypedDict, total=False):
    """Stars of another measure's test beside a cell."""

    measure: Required[str]
    where: Levels
    at: Levels
    most: int


class PaperCellKeys(TypedDict, total=False):
    """A column of a paper's table, or a column per level of the axes in `each`."""

    head: Required[Texts]
    measure: Required[str]
    each: Texts
    where: Levels
    less: Levels
    show: Sequence[Literal["value", "stars", "interval", "p", "n", "se", "baseline", "level"]]
    axis: str
    stars: StarKeys
    percent: bool
    decimals: int
    signed: bool
    after: str


class PaperTableKeys(TypedDict, total=False):
    """A table of a paper: estimates laid out as rows × columns."""

    title: Required[str]
    measures: Texts
    cells: Sequence[PaperCellKeys]
    names: Mapping[str, Mapping[str, str]]
    split: Mapping[str, Mapping[str, str]]
    continues: bool
    count: str
    leading_zero: bool
    half_even: bool
    mark_below: float
    top: int
    rows: Texts
    columns: Texts
    show: Sequence[Literal["value", "stars", "interval", "p", "n"]]
    where: Levels
    percent: bool
    decimals: int
    leader: bool
    column_leader: bool
    ranked: bool


class VariantKeys(TypedDict, total=False):
    """Other definitions of the same measures."""

    where: Levels
    several: Literal["alone", "each"]
    intervals: bool
    adjust: bool
    measures: Texts
    only: Texts
    headline: Texts
    text: str
    reads: Mapping[str, str]
    says: Mapping[str, str]
    tables: Sequence[PaperTableKeys]
    judges: Mapping[str, Mapping[str, Json]]


class TurnKeys(TypedDict):
    """A turn of the conversation before the prompt."""

    role: Literal["user", "assistant"]
    text: str


class CrosstabKeys(TypedDict):
    """A table that counts items."""

    rows: Texts
    columns: str
    levels: NotRequired[Texts]


class SelectionKeys(TypedDict, total=False):
    """A table of selection rates and impact ratios by category, as in audits of employment tools.
    by: factors whose levels are the categories, crossed if there are several; groups: instead of
    `by`, {category: values of the measure's attribute}.
    """

    title: Required[str]
    measure: Required[str]
    by: Texts
    groups: Levels


class StopKeys(TypedDict, total=False):
    """Rules by which a run stops early. looks: shares of all rounds, the last 1; weights: of the
    error rate, one per look; futility: bounds, one per look but the last; measures: the measures
    whose claims stop the run.
    """

    looks: Sequence[float]
    weights: Sequence[float]
    futility: Sequence[float]
    measures: Texts


class AnnotationKeys(TypedDict, total=False):
    """The question to people about one attribute. values: {value: its meaning}; prompt: "folded" if
    the prompt would bias people and is not needed for labelling.
    """

    question: str
    prompt: Literal["shown", "folded"]
    values: Mapping[str, str]


class _Keys(TypedDict, total=False):
    """All keys of a protocol except tables; settings of instruments stand beside their names."""

    name: Required[str]
    title: Required[str]
    question: Required[str]
    prompt: Required[str]
    factors: Required[Texts]
    item: Required[str]
    cue_words: str
    cue_sets: str
    version: str | int
    modes: Mapping[str, ModeKeys]
    instruments: Sequence[Mapping[str, Json]]
    measures: Sequence[MeasureKeys]
    variants: Mapping[str, VariantKeys]
    modality: Literal["text", "image"]
    citation: str
    departures: Texts
    limits: Texts
    matters: float
    guidelines: Texts
    defaults: Levels
    apart: Texts
    controls: str
    thresholds: Texts
    tally: str
    system: str
    turns: Sequence[TurnKeys]
    judges_see_system: bool
    pictures: Texts
    crosstab: CrosstabKeys
    titles: Mapping[str, Mapping[str, str]]
    annotation: Mapping[str, AnnotationKeys]
    first: FirstKeys
    selections: Sequence[SelectionKeys]
    stop: StopKeys


class ProtocolKeys(_Keys, total=False):
    """The keys of a protocol declared in Python: a data frame may stand for a table."""

    tables: Required[Sequence[TableKeys | PolarsFrame | PandasFrame]]


class FileKeys(_Keys, total=False):
    """The keys of a protocol's file."""

    tables: Required[Sequence[TableKeys]]
