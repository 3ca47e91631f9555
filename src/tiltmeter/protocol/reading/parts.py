"""The parts of a protocol from the keys of its file: modes, measures, variants, instruments' names
and settings. Lists become tuples, so that a loaded protocol cannot change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...errors import ProtocolError, UnknownName
from ...records import Json
from .. import InstrumentSpec, MeasureSpec, Mode, Variant
from ..design.tables import Beside
from ..measures import measure_kind
from ..paper_tables import layouts_of
from ..source.filled import filled
from ..source.keys import FileKeys, MeasureKeys, ModeKeys, TableKeys, VariantKeys
from ..source.source_lines import SourceLocation

CSV = ".csv"
_READ_LANGUAGES = ("choice", "picks", "dialogue")  # kinds that a language's pack reads for
SIZE = "1024x1024"  # pixels of pictures, unless a mode names another
_OWN_KEYS = ("name", "kind", "attribute", "also")  # of an instrument; all others are settings


def modes_of(data: FileKeys, place: SourceLocation) -> dict[str, Mode]:
    """Reads the modes by name; without modes in the file, one that samples an answer per prompt."""
    declared = data.get("modes", {"sampled": ModeKeys()})
    is_image = data.get("modality") == "image"
    return {
        name: _mode(name, mode, is_image, place.at("modes", name))
        for name, mode in declared.items()
    }


def _mode(name: str, keys: ModeKeys, is_image: bool, place: SourceLocation) -> Mode:
    """Reads a mode; in a protocol of pictures the mode has a size."""
    if "size" in keys and not is_image:
        raise ProtocolError(
            f'{place.at("size")}: size = "{keys["size"]}" is for pictures; outputs here are texts. '
            "Leave it out, or "
            'write at the top: modality = "image"'
        )
    return filled(
        Mode,
        {"size": SIZE if is_image else "", **keys},
        name=name,
        for_discovery=keys.get("for_discovery", keys.get("aside", False)),
    )


def measure_of(keys: MeasureKeys) -> MeasureSpec:
    """Reads a measure; its kind gives the default unit and drawing."""
    unit, figure = "share", "forest"
    try:
        kind = measure_kind(keys["kind"])
    except UnknownName:
        pass  # refused later, with its place
    else:
        unit, figure = kind.unit or keys["attribute"], kind.figure
    return filled(MeasureSpec, {"unit": unit, "figure": figure, **keys})


def variants_of(declared: Mapping[str, VariantKeys]) -> dict[str, Variant]:
    """Returns the default variant, then the file's variants."""
    return {"default": Variant("default")} | {
        name: filled(
            Variant,
            keys,
            name=name,
            tables=layouts_of(keys.get("tables", ())),
            judges=keys.get("judges", {}),
        )
        for name, keys in declared.items()
    }


def defaults_of(data: FileKeys) -> dict[str, tuple[str, ...]]:
    """Returns {factor: levels} for runs that do not choose levels."""
    return {factor: tuple(levels) for factor, levels in data.get("defaults", {}).items()}


def instrument_of(
    keys: Mapping[str, Json], beside: Beside, place: SourceLocation
) -> InstrumentSpec:
    """Reads an instrument's name and settings; a setting that names a CSV file becomes its rows."""
    settings: dict[str, Json] = {
        name: beside.rows(value, place.at(name))
        if isinstance(value, str) and value.endswith(CSV)
        else value
        for name, value in keys.items()
        if name not in _OWN_KEYS
    }
    if keys["kind"] in _READ_LANGUAGES and (languages := beside.languages()):
        settings.setdefault("languages", languages)
    also = keys.get("also")
    return InstrumentSpec(
        str(keys["name"]),
        str(keys["kind"]),
        str(keys["attribute"]),
        settings,
        tuple(map(str, also)) if isinstance(also, Sequence) else (),
    )


def inline_columns(tables: Iterable[TableKeys]) -> tuple[str, ...]:
    """Finds columns whose text may have slots: columns of rows in the file, and declared ones."""
    columns: dict[str, None] = {}
    for table in tables:
        columns.update(dict.fromkeys(table.get("slots", ())))
        for row in table.get("rows", ()):
            columns.update(dict.fromkeys(row))
    return tuple(columns)
