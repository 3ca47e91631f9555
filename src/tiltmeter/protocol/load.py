"""A protocol's file, or the same as values of Python → the declared protocol, checked. Every error
names the place in it.

First its shape (schema.toml), then the tables, then what its names must agree with
(cross_references.py), then the settings of
its instruments: so that nothing that is wrong with a protocol is found out in the middle of a run.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from ..errors import ProtocolError, UnknownName, UsageError
from . import InstrumentSpec, MeasureSpec, Mode, Protocol, Variant, schema, validate
from .json_schema import fault
from .measure_kinds import measure_kind
from .source_lines import Place
from .tables import Beside, Row, join, rows_of

SIZE = "1024x1024"  # of pictures, where a mode does not say
Kinds = Callable[[str], Any]  # the class of an instrument kind; raises UnknownName
CSV = ".csv"
_OUTPUTS = {"text": "texts", "image": "pictures"}
SOME = 9  # judges of a panel, to try its settings with


def load(path: Path, kinds: Kinds | None = None, taken: Collection[str] = ()) -> Protocol:
    """Reads and checks a protocol file.

    kinds: looks up kinds of instruments; without it their settings are not checked. taken: names
    that it cannot have.
    """
    where = path.name if path.parent.name == "" else f"{path.parent.name}/{path.name}"
    try:
        text = path.read_text(encoding="utf-8-sig")
        data = tomllib.loads(text)
    except FileNotFoundError:
        raise ProtocolError(
            f"There is no protocol file {path}. Type, for one to start from: tiltmeter init "
            f"{path.name}"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise ProtocolError(
            f"{where} is not a protocol file: {error}. Text stands in quotation marks, tables in "
            "[ ]."
        ) from None
    except OSError as error:
        raise ProtocolError(
            f"{where} cannot be read: {error.strerror or error}. Name a file."
        ) from None
    except UnicodeDecodeError as error:
        raise ProtocolError(f"{where} is not a protocol file: {error}. Save it as UTF-8.") from None
    return declare(data, Beside(path.parent), Place(where, text, data), kinds, taken)


def declare(
    data: Mapping[str, Any],
    beside: Beside,
    place: Place,
    kinds: Kinds | None = None,
    taken: Collection[str] = (),
) -> Protocol:
    """The protocol of what a file says. beside: the data files that it names; kinds and taken as in
    `load`.
    """
    found = fault(data, schema.shape())
    if found is not None:
        raise ProtocolError(f"{place.at(*found.path)}: {found.text}")
    if data["name"] in taken:
        raise ProtocolError(
            f"{place.at('name')}: '{data['name']}' is the name of a protocol that is installed. "
            "Give this one "
            f'another, as: name = "my-{data["name"]}"'
        )
    tables = [
        rows_of(table, beside, place.at("tables", n)) for n, table in enumerate(data["tables"])
    ]
    plain = {
        name: _frozen(value)
        for name, value in data.items()
        if name not in ("tables", "version", "crosstab")
    }
    instruments = [
        _instrument(spec, beside, place.at("instruments", n))
        for n, spec in enumerate(data.get("instruments", ()))
    ]
    protocol = Protocol(
        **{
            **plain,
            "version": str(data.get("version", "1")),
            "tables": tables,
            "modes": {
                name: _mode(name, mode, data, place.at("modes", name))
                for name, mode in _modes(data)
            },
            "instruments": tuple(instruments),
            "measures": tuple(map(_measure, data.get("measures", ()))),
            "variants": {"default": Variant("default")}
            | {
                name: _made(Variant, {"name": name, **spec})
                for name, spec in data.get("variants", {}).items()
            },
            "crosstab": data.get("crosstab", {}),
            "inline": _inline(data["tables"]),
            "source": place.name,
            "definition": {"declared": data, "files": beside.texts},
        }
    )
    if not protocol.cells:
        _apart(tables, place)
    if kinds is None:
        validate.check(protocol, place, {})
        return protocol
    made = _instruments(protocol, place, kinds)
    validate.check(protocol, place, _values(protocol, kinds))
    _fitting(protocol, place, made)
    return protocol


def _apart(tables: list[list[Row]], place: Place) -> None:
    """Refuses tables that have no rows in common, naming the one at which none is left."""
    rows: list[Row] = [{}]
    for number, table in enumerate(tables):
        shared = [name for name in table[0] if name in rows[0]]
        found = join(rows, table)
        if not found:
            sides = " and ".join(
                f"{', '.join(list(dict.fromkeys(row[name] for row in side))[:5])}"
                for name in shared[:1]
                for side in (rows, table)
            )
            raise ProtocolError(
                f"{place.at('tables', number)}: no row agrees with the tables before it in the "
                "column "
                f"{', '.join(shared)} ({sides}). Write the values alike, or rename the column."
            )
        rows = found


def _inline(tables: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """The columns whose text may have slots of its own: of rows in the file itself, and of files
    that declare some.
    """
    found = [
        names for table in tables for names in (table.get("slots", ()), *table.get("rows", ()))
    ]
    return tuple(dict.fromkeys(name for names in found for name in names))


def _modes(data: Mapping[str, Any]) -> Iterable[tuple[str, Mapping[str, Any]]]:
    modes: Mapping[str, Mapping[str, Any]] = data.get("modes", {"sampled": {}})
    return modes.items()


def _mode(name: str, mode: Mapping[str, Any], data: Mapping[str, Any], place: Place) -> Mode:
    """A mode; that of an image protocol has a size."""
    drawn = data.get("modality", "text") == "image"
    if "aside" in mode:  # its name in version 0.1
        mode = {k: v for k, v in mode.items() if k != "aside"} | {"for_discovery": mode["aside"]}
    made = _made(Mode, {"name": name, **({"size": SIZE} if drawn else {}), **mode})
    if made.size and not drawn:
        raise ProtocolError(
            f'{place.at("size")}: size = "{made.size}" is of pictures, and these are texts. '
            "Leave it out, or "
            'write at the top: modality = "image"'
        )
    return made


def _measure(spec: Mapping[str, Any]) -> MeasureSpec:
    """A measure; its unit and its drawing are those of its kind where it names none."""
    try:
        kind = measure_kind(spec["kind"])
    except UnknownName:
        return _made(MeasureSpec, spec)  # refused later, with its place
    own = {"unit": kind.unit or spec["attribute"], "figure": kind.figure}
    return _made(MeasureSpec, {**own, **spec})


def _instrument(spec: Mapping[str, Any], beside: Beside, place: Place) -> InstrumentSpec:
    """An instrument's settings; one that names a CSV file becomes its rows."""
    settings = {
        name: value
        for name, value in spec.items()
        if name not in ("name", "kind", "attribute", "also")
    }
    for name, value in settings.items():
        if isinstance(value, str) and value.endswith(CSV):
            settings[name] = beside.rows(value, place.at(name))
    return InstrumentSpec(
        spec["name"], spec["kind"], spec["attribute"], settings, tuple(spec.get("also", ()))
    )


def _instruments(protocol: Protocol, place: Place, kinds: Kinds) -> list[Any]:
    """Makes each instrument once, as a run will, so that what it refuses is said now; None where it
    could not be tried.
    """
    made = []
    for number, spec in enumerate(protocol.instruments):
        here = place.at("instruments", number)
        kind = _kind(spec, here, kinds, protocol.modality)
        found = fault(_first_rows(spec.settings, here), schema.settings(kind))
        if found is not None:
            raise ProtocolError(f"{_setting(here, found.path)}: {found.text}")
        try:
            made.append(kind(spec, *kind.judges * (SOME if kind.panel else 1)))
        except ProtocolError as error:
            raise ProtocolError(f"{here}: {_said(error, spec)}") from None
        except (
            UsageError
        ):  # an extra that is not there, or judges: matters of a run and not of its protocol
            made.append(None)
    return made


def _first_rows(settings: Mapping[str, Any], place: Place) -> dict[str, Any]:
    """The settings with the first row of each CSV file: all of its rows are texts in the same
    columns.
    """
    declared = place.data["instruments"][place.path[1]]
    return {
        name: value[:1] if isinstance(declared[name], str) and not isinstance(value, str) else value
        for name, value in settings.items()
    }


def _values(protocol: Protocol, kinds: Kinds) -> dict[str, list[str]]:
    """The values of the attributes whose values are closed, of all instruments together."""
    found: dict[str, dict[str, None]] = {}
    for spec in protocol.instruments:
        for attribute, closed in kinds(spec.kind).values(spec).items():
            found.setdefault(attribute, {}).update(dict.fromkeys(closed))
    return {name: list(closed) for name, closed in found.items()}


def _fitting(protocol: Protocol, place: Place, made: Sequence[Any]) -> None:
    """Refuses a design that lacks what an instrument needs, attributes that it does not label, and
    modes that none reads.
    """
    for number, (spec, instrument) in enumerate(zip(protocol.instruments, made, strict=True)):
        if instrument is None:
            continue
        here = place.at("instruments", number)
        known = {spec.attribute, *instrument.attributes, *instrument.values(spec)}
        known |= {derived.attribute for derived in instrument.derived(spec)}
        for name in spec.also:
            if name not in known:
                raise ProtocolError(
                    f"{here.at('also')}: "
                    f"{UnknownName(f'attribute of {spec.name}', name, sorted(known))}"
                )
        try:
            instrument.check_design(protocol)
        except ProtocolError as error:
            raise ProtocolError(f"{here}: {_said(error, spec)}") from None
    for name, mode in protocol.modes.items():
        if (
            mode.logprobs
            and made
            and not any(one is None or one.reads_probabilities for one in made)
        ):
            raise ProtocolError(
                f"{place.at('modes', name, 'logprobs')}: no instrument reads probabilities "
                "(choice does), so this mode would have no labels. Leave it out."
            )


def _said(error: ProtocolError, spec: InstrumentSpec) -> str:
    """What an instrument says, without its name, which the place has."""
    return str(error).removeprefix("instrument ").removeprefix(spec.name).lstrip(": ")


def _kind(spec: InstrumentSpec, place: Place, kinds: Kinds, modality: str) -> Any:
    """The class of a kind that a file can name, for outputs of this modality."""
    try:
        kind = kinds(spec.kind)
    except ProtocolError as error:
        raise ProtocolError(f"{place.at('kind')}: {error}") from None
    if kind.beside:
        raise ProtocolError(
            f"{place.at('kind')}: '{spec.kind}' is what --judge adds beside another instrument. "
            "Name that one."
        )
    if kind.modality not in ("", modality):
        wanted = (
            f"'{spec.kind}' labels {_OUTPUTS[kind.modality]}, and this protocol's outputs "
            f"are {_OUTPUTS[modality]}"
        )
        raise ProtocolError(
            f'{place.at("kind")}: {wanted}. Name another, or write: modality = "{kind.modality}"'
        )
    return kind


def _setting(place: Place, path: tuple[str | int, ...]) -> str:
    """The place of a setting; of rows of a CSV file, the line there."""
    declared = place.data["instruments"][place.path[1]]
    named = declared.get(path[0]) if path else None
    if isinstance(named, str) and named.endswith(CSV) and len(path) > 1:
        return f"{place.at(path[0])}: {named}, line {int(path[1]) + 2}"
    return str(place.at(*path))


Made = TypeVar("Made", Mode, MeasureSpec, Variant)


def _made(kind: type[Made], values: Mapping[str, Any]) -> Made:
    return kind(**{name: _frozen(value) for name, value in values.items()})


def _frozen(value: Any) -> Any:
    """Lists of a TOML file as tuples, so that a loaded protocol cannot change."""
    if isinstance(value, (list, tuple)):
        return tuple(_frozen(part) for part in value)
    if isinstance(value, Mapping):
        return {key: _frozen(part) for key, part in value.items()}
    return value
