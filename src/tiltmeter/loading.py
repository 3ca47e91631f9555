"""A protocol's file → the declared protocol, checked. Every error names the file and the place in it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from .errors import ProtocolError, UnknownName
from .protocol import EVERY, FIGURES, InstrumentSpec, MeasureSpec, Mode, Protocol, Variant
from .tables import SEVERAL, only, read_file, rows_of

SIZE = "1024x1024"  # of pictures, where a mode does not say
_SIZE = re.compile(r"[1-9]\d{1,4}x[1-9]\d{1,4}")


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
    only(data, known, where)
    for need in ("name", "title", "question", "tables", "prompt", "factors", "item"):
        if need not in data:
            raise ProtocolError(f"{where}: '{need}' is missing. Add a line: {need} = …")
    tables = []
    for number, table in enumerate(data["tables"], 1):
        tables.append(rows_of(table, path.parent, f"{where}, table {number}"))
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
        for name in measure.figure.split(SEVERAL):
            if name not in FIGURES:
                raise ProtocolError(f"{where}, measure {measure.name}: {UnknownName('figure', name, FIGURES)}")
        if measure.band is not None:
            _banded(measure.band, f"{where}, measure {measure.name}")
    for cell in cells:
        protocol.words(cell)
        for mode in protocol.modes.values():
            protocol.begun(mode, cell)


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
            spec[name] = read_file(folder / value, f"{where}, instrument {spec['name']}")
    also = tuple(spec.pop("also", ()))
    return InstrumentSpec(spec.pop("name"), spec.pop("kind"), spec.pop("attribute"), spec, also)


Made = TypeVar("Made", Mode, MeasureSpec, Variant)


def _make(kind: type[Made], values: dict[str, Any], where: str) -> Made:
    only(values, {f.name for f in fields(kind)}, where)
    try:
        return kind(**values)
    except TypeError as error:
        raise ProtocolError(f"{where}: {error}") from None


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
