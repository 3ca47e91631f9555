"""What an audit is, as data: the declared protocol and its loader.

A protocol is one TOML file with CSV files beside it. Its design is the natural join of its tables: rows that agree on
the columns they share are put together, and tables that share none are crossed. So words × option orders × languages,
names × ages × occupations within a gender, or objects × groups all need one mechanism. A joined row is a *cell*; the
columns named in `factors` make its condition, the others are slots for the prompt.

A cell of a table may hold several values, joined by `|` (a word that a paper prints in two classes).
"""

from __future__ import annotations

import csv
import io
import json
import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from .errors import ProtocolError, UnknownName
from .records import Sampling, content_id

Row = dict[str, str]
SEVERAL = "|"
EVERY = "*"  # as the attribute of a measure: each that an instrument labels
SIZE = "1024x1024"  # of pictures, where a mode does not say
FIGURES = ("dumbbell", "forest", "heat", "stacked")  # drawings that a measure can ask for
_SIZE = re.compile(r"[1-9]\d{1,4}x[1-9]\d{1,4}")
_SLOT = re.compile(r"\{\{|\}\}|\{(\w+)\}")  # {{ and }} stand for braces


@dataclass(frozen=True, slots=True)
class Mode:
    """One way to obtain outputs: drawn (`logprobs` 0) or read from the probabilities of the next tokens.

    size:  WIDTHxHEIGHT in pixels of the pictures that are asked for; "" in a protocol of texts.
    aside: drawn beside the mode that is measured, for an instrument to learn from, and never labelled.
    """

    name: str
    samples: int = 1
    begin: str = ""
    logprobs: int = 0
    temperature: float | None = 1.0
    top_p: float | None = 1.0
    max_tokens: int = 256
    size: str = ""
    aside: bool = False

    @property
    def sampling(self) -> Sampling:
        """Of a picture only the seed is asked for: providers' image models take nothing else."""
        return Sampling(None, None, 0) if self.size else Sampling(self.temperature, self.top_p, self.max_tokens)


@dataclass(frozen=True, slots=True)
class InstrumentSpec:
    """A named instrument and its settings: `kind` is looked up in the registry, `settings` are given to it.

    also: further attributes that it labels, for measures to name.
    """

    name: str
    kind: str
    attribute: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MeasureSpec:
    """What is computed from labels.

    kind:     a name in `analyse.kinds.KINDS` (share, odds, difference, ratio, leader, divergence).
    values:   the label values that are counted; `["*"]` is each value on a row of its own.
    among:    the values that make the denominator; all labels otherwise, less those in `without`.
    per:      what the denominator counts, "labels" or "outputs".
    where:    {factor: [levels]}: only these trials, for a rate that is defined on some of them.
    by:       groupings, each a list of factors; [] is the whole.
    contrast: {factor, level, baseline}: the difference level − baseline, paired by cluster.
    null:     the value that stands for no tilt, tested against; None for no test.
    over:     parts of the stratum (subject, language) that are pooled for it; it has no row where the run has one of each.
    expected: {factor: {level: value}}: the one value that counts as a hit at each level of a factor.
    figure:   its drawing, a name in FIGURES; a forest plot is drawn of headlines and contrasts only.
    band:     {low, high, text}: shaded in its forest plot, such as the four-fifths band.
    """

    name: str
    kind: str
    attribute: str
    values: tuple[str, ...]
    among: tuple[str, ...] = ()
    by: tuple[tuple[str, ...], ...] = ((),)
    contrast: Mapping[str, str] | None = None
    null: float | None = None
    unit: str = "share"
    headline: bool = False
    per: str = "labels"
    without: tuple[str, ...] = ()
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    text: str = ""
    figure: str = "forest"
    band: Mapping[str, Any] | None = None
    over: tuple[str, ...] = ()
    expected: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Variant:
    """Another way to compute the same measures: `where` keeps trials, `several` says what a cell with several values is.

    several: "alone" leaves a word of two classes out of the classes; "each" counts it in each, as papers do.
    intervals: False where the authors gave none.
    measures:  the measures that it has, () for all; `only`: measures that no other variant has.
    reads:     {attribute: another that is counted in its place, where the run has it}.
    """

    name: str
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    several: str = "alone"
    intervals: bool = True
    measures: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    text: str = ""
    reads: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Protocol:
    """One declared audit.

    defaults: {factor: levels} that are asked where a run does not name others.
    apart:    factors whose levels are never pooled where a run holds several.
    tally:    a factor by whose levels `plan` counts the prompts, "" for none.
    """

    name: str
    version: str
    title: str
    question: str
    tables: Sequence[Sequence[Row]]
    prompt: str
    factors: tuple[str, ...]
    item: str
    modes: Mapping[str, Mode]
    instruments: tuple[InstrumentSpec, ...]
    measures: tuple[MeasureSpec, ...]
    variants: Mapping[str, Variant]
    modality: str = "text"
    citation: str = ""
    departures: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    crosstab: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    apart: tuple[str, ...] = ()
    tally: str = ""
    inline: tuple[str, ...] = ()
    source: str = ""

    @cached_property
    def cells(self) -> list[Row]:
        """Every combination of the design, in the order of the tables."""
        rows: list[Row] = [{}]
        for table in self.tables:
            rows = _join(rows, table)
        return rows

    @cached_property
    def digest(self) -> str:
        """Hash of the design: what is asked, of which cells, how. Another one is another set of trials."""
        return content_id(self.name, self.version, self.prompt, self.tables, self.factors, self.item,
                          {name: _declared(mode) for name, mode in self.modes.items()})[:16]  # fmt: skip

    @cached_property
    def levels(self) -> dict[str, dict[str, int]]:
        """The levels of each factor, numbered in the order of the design; of a cell with several values, each."""
        return {
            name: {level: n for n, level in enumerate(dict.fromkeys(
                part for cell in self.cells for part in cell[name].split(SEVERAL)))}
            for name in (*self.factors, self.item)
        }  # fmt: skip

    @property
    def languages(self) -> list[str]:
        return list(dict.fromkeys(part for cell in self.cells if "language" in cell
                                  for part in cell["language"].split(SEVERAL)))  # fmt: skip

    def items(self, languages: Collection[str] = ()) -> set[str]:
        """The items of some languages, or of all; a cell that several items share is none of them."""
        return {cell[self.item] for cell in self.cells
                if SEVERAL not in cell[self.item] and (not languages or cell.get("language", "") in languages)}  # fmt: skip

    @property
    def default_mode(self) -> str:
        return next(iter(self.modes))

    @property
    def default_modes(self) -> tuple[str, ...]:
        """What a run draws where it names no mode: the first, and those that are drawn aside of it."""
        return (self.default_mode, *(name for name, mode in self.modes.items() if mode.aside))

    def words(self, cell: Row) -> str:
        """The prompt of one cell. A slot may hold a template of the protocol file; a data file's text is expanded only in
        columns that its table declares as `slots`.

        A cell with several values is written with its `separator` between them, where the tables have such a column.
        """
        template = _fill(self.prompt, {name: cell[name] for name in self.inline}, self.source, missing="keep")
        if "separator" in cell:
            cell = {name: value.replace(SEVERAL, cell["separator"]) for name, value in cell.items()}
        return _fill(template, cell, self.source)

    def begun(self, mode: Mode, cell: Row) -> str:
        """The begun answer of a mode for one cell; it may have slots as the prompt has, for each language its own."""
        return _fill(mode.begin, cell, self.source) if "{" in mode.begin else mode.begin


def crosstab(protocol: Protocol) -> list[list[str]]:
    """Items counted as the protocol's `crosstab` says (rows, columns: names of columns), with a header row."""
    if not protocol.crosstab:
        return []
    rows, column = list(protocol.crosstab["rows"]), str(protocol.crosstab["columns"])
    items = {cell[protocol.item]: cell for cell in protocol.cells if SEVERAL not in cell[protocol.item]}.values()
    levels = list(protocol.crosstab.get("levels", ())) or list(dict.fromkeys(cell[column] for cell in items))
    counts: dict[tuple[str, ...], Counter[str]] = {}
    for cell in items:
        counts.setdefault(tuple(cell[name] for name in rows), Counter())[cell[column]] += 1
    table = [[*rows, *levels, "all"]]
    table += [[*key, *(str(count[level]) for level in levels), str(count.total())] for key, count in counts.items()]
    return table


def load(path: Path) -> Protocol:
    """Reads and checks a protocol file. Every error names the file and the place in it."""
    where = path.name if path.parent.name == "" else f"{path.parent.name}/{path.name}"
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except FileNotFoundError:
        raise ProtocolError(f"There is no protocol file {path}.") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ProtocolError(f"{where} is not a protocol file: {error}") from None
    known = {f.name for f in fields(Protocol)} - {"source", "inline"}
    _only(data, known, where)
    for need in ("name", "title", "question", "tables", "prompt", "factors", "item"):
        if need not in data:
            raise ProtocolError(f"{where}: '{need}' is missing. Add a line: {need} = …")
    tables = []
    for number, table in enumerate(data["tables"], 1):
        tables.append(_table(table, path.parent, f"{where}, table {number}"))
    protocol = Protocol(
        name=_text(data, "name", where),
        version=str(data.get("version", "1")),
        title=_text(data, "title", where),
        question=_text(data, "question", where),
        tables=tables,
        prompt=_text(data, "prompt", where),
        factors=tuple(data["factors"]),
        item=_text(data, "item", where),
        modes={name: _mode(name, mode, data, f"{where}, modes.{name}") for name, mode in _modes(data)},
        instruments=tuple(_instrument(spec, path.parent, where) for spec in data.get("instruments", ())),
        measures=tuple(_make(MeasureSpec, _frozen(spec), f"{where}, measures") for spec in data.get("measures", ())),
        variants={"default": Variant("default")}
        | {
            name: _make(Variant, {"name": name, **_frozen(spec)}, f"{where}, variants.{name}")
            for name, spec in data.get("variants", {}).items()
        },
        modality=data.get("modality", "text"),
        citation=data.get("citation", ""),
        departures=tuple(data.get("departures", ())),
        limits=tuple(data.get("limits", ())),
        crosstab=data.get("crosstab", {}),
        defaults={name: tuple(levels) for name, levels in data.get("defaults", {}).items()},
        apart=tuple(data.get("apart", ())),
        tally=str(data.get("tally", "")),
        inline=_inline(data["tables"]),
        source=where,
    )
    _check(protocol, where)
    return protocol


def _inline(tables: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """The columns whose text may have slots of its own: of rows in the file itself, and of files that declare some."""
    found = [names for table in tables for names in (table.get("slots", ()), *table.get("rows", ()))]
    return tuple(dict.fromkeys(name for names in found for name in names))


def _check(protocol: Protocol, where: str) -> None:
    cells = protocol.cells
    if not cells:
        raise ProtocolError(f"{where}: the tables have no rows in common, so there is nothing to ask.")
    columns = cells[0].keys()
    for factor in (*protocol.factors, protocol.item):
        if factor not in columns:
            raise ProtocolError(f"{where}: {UnknownName('column', factor, columns)} (factors and item name columns)")
    for factor in (*protocol.apart, *filter(None, [protocol.tally])):
        if factor not in protocol.factors:
            raise ProtocolError(f"{where}, apart or tally: {UnknownName('factor', factor, protocol.factors)}")
    for factor, levels in protocol.defaults.items():
        if factor not in protocol.factors:
            raise ProtocolError(f"{where}, defaults: {UnknownName('factor', factor, protocol.factors)}")
        for level in levels:
            if level not in protocol.levels[factor]:
                raise ProtocolError(f"{where}, defaults: {UnknownName(factor, level, protocol.levels[factor])}")
    names = {name for spec in protocol.instruments for name in (spec.attribute, *spec.also)}
    for measure in protocol.measures:
        for group in measure.by:
            for factor in group:
                if factor not in (*protocol.factors, "mode"):
                    raise ProtocolError(
                        f"{where}, measure {measure.name}: {UnknownName('factor', factor, protocol.factors)}"
                    )
        if measure.attribute not in (*names, EVERY):
            raise ProtocolError(
                f"{where}, measure {measure.name}: {UnknownName('attribute', measure.attribute, names)}"
            )
        if measure.figure not in FIGURES:
            raise ProtocolError(f"{where}, measure {measure.name}: {UnknownName('figure', measure.figure, FIGURES)}")
        if measure.band is not None:
            _banded(measure.band, f"{where}, measure {measure.name}")
    for cell in cells:
        protocol.words(cell)
        for mode in protocol.modes.values():
            protocol.begun(mode, cell)


def _declared(mode: Mode) -> dict[str, Any]:
    """A mode's settings as they are hashed; `aside` where it is set, since it came later."""
    return {name: value for name, value in asdict(mode).items() if name != "aside" or value}


def _banded(band: Any, where: str) -> None:
    """Refuses a band that is not {low, high, text} with two numbers in their order."""
    match band:
        case {"low": int() | float() as low, "high": int() | float() as high, "text": str(), **more}:
            if low < high and not more:
                return
    like = '{ low = 0.8, high = 1.25, text = "four-fifths band" }'
    raise ProtocolError(f"{where}: a band is {like}, low below high.")


def _modes(data: Mapping[str, Any]) -> Iterable[tuple[str, dict[str, Any]]]:
    modes: dict[str, dict[str, Any]] = data.get("modes", {"sampled": {}})
    return modes.items()


def _mode(name: str, mode: dict[str, Any], data: Mapping[str, Any], where: str) -> Mode:
    """A mode; that of an image protocol has a size."""
    drawn = data.get("modality", "text") == "image"
    made = _make(Mode, {"name": name, **({"size": SIZE} if drawn else {}), **mode}, where)
    if drawn != bool(made.size) or (drawn and not _SIZE.fullmatch(made.size)):
        raise ProtocolError(f'{where}: size = "{made.size}". With modality = "image" it is for instance "{SIZE}", '
                            "in a protocol of texts it is left out.")  # fmt: skip
    return made


def _instrument(spec: dict[str, Any], folder: Path, where: str) -> InstrumentSpec:
    """An instrument's settings; one that names a CSV file becomes its rows."""
    spec = dict(spec)
    for need in ("name", "kind", "attribute"):
        if need not in spec:
            raise ProtocolError(f"{where}, instruments: '{need}' is missing.")
    for name, value in spec.items():
        if isinstance(value, str) and value.endswith(".csv"):
            spec[name] = _read_file(folder / value, f"{where}, instrument {spec['name']}")
    also = tuple(spec.pop("also", ()))
    return InstrumentSpec(spec.pop("name"), spec.pop("kind"), spec.pop("attribute"), spec, also)


Made = TypeVar("Made", Mode, MeasureSpec, Variant)


def _make(kind: type[Made], values: dict[str, Any], where: str) -> Made:
    _only(values, {f.name for f in fields(kind)}, where)
    try:
        return kind(**values)
    except TypeError as error:
        raise ProtocolError(f"{where}: {error}") from None


def _only(values: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    known = sorted(known)
    for name in values:
        if name not in known:
            raise ProtocolError(f"{where}: {UnknownName('setting', name, known)}")


def _text(data: Mapping[str, Any], name: str, where: str) -> str:
    if not isinstance(data[name], str) or not data[name].strip():
        raise ProtocolError(f"{where}: '{name}' must be text.")
    return str(data[name])


def _frozen(value: Any) -> Any:
    """Lists of a TOML file as tuples, so that a loaded protocol cannot change."""
    if isinstance(value, list):
        return tuple(_frozen(part) for part in value)
    if isinstance(value, dict):
        return {key: _frozen(part) for key, part in value.items()}
    return value


def _table(table: dict[str, Any], folder: Path, where: str) -> list[Row]:
    """The rows of one table: from the file itself (`rows`), from a data file beside it (`file`), or of several `parts`."""
    _only(table, {"rows", "file", "parts", "where", "key", "columns", "add", "needs", "slots"}, where)
    if "rows" in table:
        rows = [{key: str(value) for key, value in row.items()} for row in table["rows"]]
    elif "file" in table:
        rows = _read_file(folder / table["file"], where)
        _filled(rows, table, f"{where}: {table['file']}")
    elif "parts" in table:
        parts = (_table(part, folder, f"{where}, part {number}") for number, part in enumerate(table["parts"], 1))
        rows = [row for part in parts for row in part]
    else:
        raise ProtocolError(f'{where}: needs rows = [...] or file = "….csv" (or .jsonl).')
    rows = [{**row, **table["add"]} for row in rows] if "add" in table else rows
    for column, allowed in table.get("where", {}).items():
        keep = [allowed] if isinstance(allowed, str) else allowed
        rows = [row for row in rows if row.get(column) in keep]
    if "columns" in table:
        rows = [{name: row[name] for name in table["columns"]} for row in rows]
    if "key" in table:
        rows = _merge(rows, table["key"])
    if not rows:
        raise ProtocolError(f"{where}: has no rows.")
    return rows


def _filled(rows: Sequence[Row], table: Mapping[str, Any], where: str) -> None:
    """Refuses a row of a data file without a cell that the table `needs`, or whose template has no slot."""
    for number, row in enumerate(rows, 2):
        for name in table.get("needs", ()):
            if not row.get(name, "").strip():
                shown = next((text for text in row.values() if text.strip()), "")
                raise ProtocolError(f"{where}, line {number} ('{shown}') has no {name}.")
        for name in table.get("slots", ()):
            if not any(slot[1] for slot in _SLOT.finditer(row.get(name, ""))):
                raise ProtocolError(f"{where}, line {number}: the {name} '{row.get(name, '')}' has no slot for the word, as "
                                    "{noun}.")  # fmt: skip


def _read_file(path: Path, where: str) -> list[Row]:
    """The rows of a CSV or JSON-lines file in UTF-8; a cell of JSON lines that is not text is kept as JSON."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix == ".jsonl":
            return [_texts(json.loads(line)) for line in text.split("\n") if line.strip()]
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except FileNotFoundError:
        raise ProtocolError(f"{where}: there is no file {path.name}.") from None
    except (OSError, ValueError, csv.Error) as error:
        raise ProtocolError(f"{where}: {path.name} cannot be read as {path.suffix[1:]} in UTF-8: {error}") from None
    for number, row in enumerate(rows, 2):
        if None in row or None in row.values():
            raise ProtocolError(f"{where}: {path.name}, line {number} has not as many cells as the header.")
    return rows


def _texts(row: dict[str, Any]) -> Row:
    return {
        key: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for key, value in row.items()
    }


def _merge(rows: list[Row], key: Sequence[str]) -> list[Row]:
    """Rows that agree on `key` become one; where they differ in a column it holds all values, joined by `|`."""
    merged: dict[tuple[str, ...], dict[str, dict[str, None]]] = {}
    for row in rows:
        cell = merged.setdefault(tuple(row[name] for name in key), {})
        for name, value in row.items():
            cell.setdefault(name, {})[value] = None
    return [{name: SEVERAL.join(values) for name, values in cell.items()} for cell in merged.values()]


def _join(left: list[Row], right: Sequence[Row]) -> list[Row]:
    """Natural join in the order of `left`, then of `right`. Cells with several values agree where they share one."""
    if not left or not right:
        return []
    shared = [name for name in right[0] if name in left[0]]
    index: dict[tuple[str, ...], list[Row]] = {}
    for row in right:
        for key in _keys(row, shared):
            index.setdefault(key, []).append(row)
    return [
        {**a, **b, **{name: _common(a[name], b[name]) for name in shared}}
        for a in left
        for b in {id(row): row for key in _keys(a, shared) for row in index.get(key, ())}.values()
    ]


def _keys(row: Row, names: Sequence[str]) -> Iterable[tuple[str, ...]]:
    """What a row is found by: of a cell with several values, each."""
    return product(*(row[name].split(SEVERAL) for name in names))


def _common(one: str, other: str) -> str:
    """The values that two cells share, in the order of the first."""
    return one if one == other else SEVERAL.join(part for part in one.split(SEVERAL) if part in other.split(SEVERAL))


def _fill(template: str, row: Mapping[str, str], where: str, missing: str = "refuse") -> str:
    def value(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0] if missing == "keep" else match[0][0]
        if match[1] in row:
            return row[match[1]]
        if missing == "keep":
            return match[0]
        raise ProtocolError(
            f"{where}: the prompt '{template[:80]}' has a slot {{{match[1]}}} and the tables have no such column. "
            f"There is: {', '.join(row)}."
        )

    return _SLOT.sub(value, template)
