"""Reading and checking of a protocol, from a file or from Python. Every error gives its location.

Checked are first its shape (schema.toml), then its tables, then its names (validate.py), then the
settings of its instruments: no error in a protocol may surface in the middle of a run.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeGuard, cast

from ...errors import ProtocolError, UnknownName, UsageError
from ...languages.pack import limits_of
from ...records import Json, Message
from ...system import intake
from .. import InstrumentSpec, Protocol, wording
from ..design.tables import Beside, rows_of
from ..instrument_kinds import InstrumentKind, ReadyInstrument
from ..source.json_schema import SchemaFault, fault
from ..source.keys import FileKeys
from ..source.source_lines import SourceLocation
from . import controls, joins, parts, schema, validate
from .pictures import read_pictures

Kinds = Callable[[str], InstrumentKind]  # raises ProtocolError for a name that nothing has
_SHIPPED = Path(__file__).parents[2] / "protocols"  # they share tables with one another
_OUTPUTS = {"text": "texts", "image": "pictures"}
TRIED_JUDGES = 9  # of a panel, to try its settings with


def load(
    path: Path,
    kinds: Kinds | None = None,
    taken: Collection[str] = (),
    texts: Mapping[str, str] | None = None,
    shown: Path | None = None,
) -> Protocol:
    """Reads and checks a protocol file.

    kinds: looks up kinds of instruments; without it their settings are not checked. taken: names
    that the protocol cannot have. texts: {name in the protocol: content} of data files that do not
    lie beside it. shown: the folder of its pictures, if they do not lie beside it.
    """
    data, location = _read(path)
    files = Beside(
        path.parent,
        dict(texts or {}),
        root=_SHIPPED if path.is_relative_to(_SHIPPED) else None,
        shown=shown,
    )
    return declare(data, files, location, kinds, taken)


def load_shipped(path: Path) -> Protocol:
    """Reads a shipped protocol's file without checks, which take longer than reading and which the
    tests make.
    """
    data, location = _read(path)
    files = Beside(path.parent, {}, root=_SHIPPED)
    return _protocol(cast(FileKeys, _expand(data, files, location)), data, files, location)


def _read(path: Path) -> tuple[dict[str, Json], SourceLocation]:
    """Returns the content of a protocol file, and its location for errors."""
    where = path.name if path.parent.name == "" else f"{path.parent.name}/{path.name}"
    try:
        text = intake.read_text(path, intake.MOST_DECLARED_BYTES)
        data = tomllib.loads(text)
    except FileNotFoundError:
        raise ProtocolError(
            f"There is no protocol file {path}. To make one to start from, type: tiltmeter init "
            f"{path.name}"
        ) from None
    except UnicodeDecodeError as error:
        raise ProtocolError(f"{where} is not a protocol file: {error}. Save it as UTF-8.") from None
    except (ValueError, RecursionError) as error:
        raise ProtocolError(
            f"{where} is not a protocol file: {error}. Write texts in quotation marks, and names "
            "of tables in [ ]."
        ) from None
    except OSError as error:
        raise ProtocolError(
            f"{where} cannot be read: {error.strerror or error}. Name a file."
        ) from None
    return data, SourceLocation(where, text, data)


# sentences of a measure that no report says any more; files that have them are read all the same
RETIRED_SENTENCES = ("none", "undecided", "unsettled", "reversed")


def _expand(data: Mapping[str, Json], beside: Beside, place: SourceLocation) -> Mapping[str, Json]:
    """Returns the content of a file without retired keys, and with its controls written out."""
    data = _without_retired(data)
    return controls.expand(data, beside, place) if isinstance(data.get(controls.KEY), str) else data


def _without_retired(data: Mapping[str, Json]) -> Mapping[str, Json]:
    measures = data.get("measures")
    if not isinstance(measures, list):
        return data

    def kept(measure: Json) -> Json:
        sentence = measure.get("sentence") if isinstance(measure, Mapping) else None
        if not isinstance(measure, Mapping) or not isinstance(sentence, Mapping):
            return measure
        current = {key: text for key, text in sentence.items() if key not in RETIRED_SENTENCES}
        return {**measure, "sentence": current}

    return {**data, "measures": [kept(measure) for measure in measures]}


def declare(
    data: Mapping[str, Json],
    beside: Beside,
    place: SourceLocation,
    kinds: Kinds | None = None,
    taken: Collection[str] = (),
    stored: bool = False,
) -> Protocol:
    """Makes the protocol from the content of a file. beside: the data files that the content names;
    kinds, taken: as in `load`; stored: True for a protocol that a run stored, whose join is not
    checked again.
    """
    declared, data = data, _expand(data, beside, place)
    if not _has_its_shape(data):
        wrong = fault(data, schema.shape()) or SchemaFault((), "it is not a protocol.")
        raise ProtocolError(f"{place.at(*wrong.path)}: {wrong.text}")
    if data["name"] in taken:
        raise ProtocolError(
            f"{place.at('name')}: '{data['name']}' is the name of a protocol that is installed. "
            "Give this one "
            f'another, as: name = "my-{data["name"]}"'
        )
    protocol = _protocol(data, declared, beside, place)
    if not stored:
        joins.refuse_dropped(data["tables"], protocol.tables, beside, place)
    if kinds is None:
        validate.check(protocol, place, {})
        return protocol
    instruments = _instruments(protocol, data, place, kinds)
    validate.check(protocol, place, _values(protocol, kinds))
    _check_fit(protocol, place, instruments, kinds)
    return protocol


def _has_its_shape(data: Mapping[str, Json]) -> TypeGuard[FileKeys]:
    """True if schema.toml allows all keys and values of the data."""
    return fault(data, schema.shape()) is None


def _protocol(
    data: FileKeys, declared: Mapping[str, Json], beside: Beside, place: SourceLocation
) -> Protocol:
    """Makes the protocol with its tables, data files and pictures read. Checks only that the tables
    join. declared: the content of its file as it stands.
    """
    definition: dict[str, Json] = {"declared": declared, "files": beside.texts}
    protocol = _of_keys(data, definition, beside, place)
    if not protocol.cells:
        joins.refuse_unjoined(protocol.tables, place)
    if protocol.pictures:
        read_pictures(protocol, beside, place)
        definition["pictures"] = beside.pictures
    return protocol


def _of_keys(
    data: FileKeys, definition: Mapping[str, Json], beside: Beside, place: SourceLocation
) -> Protocol:
    """Makes the protocol, with its tables and data files, without checks."""
    tables = data["tables"]
    measures = tuple(map(parts.measure_of, data.get("measures", ())))
    return Protocol(
        name=data["name"],
        version=str(data.get("version", "1")),
        title=data["title"],
        question=data["question"],
        tables=[rows_of(table, beside, place.at("tables", n)) for n, table in enumerate(tables)],
        prompt=data["prompt"],
        factors=tuple(data["factors"]),
        item=data["item"],
        modes=parts.modes_of(data, place),
        instruments=tuple(_declared_instruments(data, beside, place)),
        measures=measures,
        variants=parts.variants_of(data.get("variants", {})),
        modality=data.get("modality", "text"),
        citation=data.get("citation", ""),
        departures=tuple(data.get("departures", ())),
        matters=float(data.get("matters", 5)),
        limits=(*data.get("limits", ()), *_language_limits(data.get("instruments", ()), beside)),
        guidelines=tuple(data.get("guidelines", ())),
        crosstab=data.get("crosstab"),
        defaults=parts.defaults_of(data),
        apart=tuple(data.get("apart", ())),
        tally=data.get("tally", ""),
        titles=data.get("titles", {}),
        annotation=data.get("annotation", {}),
        first=data.get("first", {}),
        selections=tuple(data.get("selections", ())),
        system=data.get("system", ""),
        turns=tuple(Message(turn["role"], turn["text"]) for turn in data.get("turns", ())),
        judges_see_system=data.get("judges_see_system", False),
        pictures=tuple(data.get("pictures", ())),
        picture_names=beside.pictures,
        picture_folder=beside.shown or beside.folder,
        thresholds=tuple(data.get("thresholds", ())),
        stop=data.get("stop"),
        cue_words=data.get("cue_words", ""),
        cue_sets=data.get("cue_sets", ""),
        inline=parts.inline_columns(tables),
        source=place.name,
        definition=definition,
        notes=tuple(wording.text_notes(measures, place.at("measures"))),
    )


def _declared_instruments(
    data: FileKeys, beside: Beside, place: SourceLocation
) -> Iterator[InstrumentSpec]:
    for n, keys in enumerate(data.get("instruments", ())):
        yield parts.instrument_of(keys, beside, place.at("instruments", n))


def _language_limits(instruments: Sequence[Mapping[str, Json]], beside: Beside) -> list[str]:
    """Lists a report's limits for languages in which options are searched in sentences."""
    declared = (keys.get("forms") for keys in instruments if keys.get("kind") == "choice")
    codes = [code for forms in declared if isinstance(forms, Mapping) for code in forms]
    return limits_of(codes, beside.languages())


def _instruments(
    protocol: Protocol, data: FileKeys, place: SourceLocation, kinds: Kinds
) -> list[ReadyInstrument | None]:
    """Makes each instrument, which checks its settings; None for one that lacks its judges."""
    ready: list[ReadyInstrument | None] = []
    declared = data.get("instruments", ())
    for number, spec in enumerate(protocol.instruments):
        at = place.at("instruments", number)
        kind = _kind(spec, at, kinds, protocol.modality)
        wrong = fault(_first_rows(spec, declared[number]), schema.settings(kind))
        if wrong is not None:
            raise ProtocolError(f"{_setting(at, wrong.path, declared[number])}: {wrong.text}")
        try:
            judges = kind.parts if kind.judged else ()
            ready.append(kind.make(spec, *judges * (TRIED_JUDGES if kind.asks == "panel" else 1)))
        except ProtocolError as error:
            raise ProtocolError(f"{at}: {_without_name(error, spec)}") from None
        except UsageError:  # an extra or judges that are not there: matters of a run
            ready.append(None)
    return ready


def _first_rows(spec: InstrumentSpec, declared: Mapping[str, Json]) -> dict[str, Json]:
    """Returns the settings with only the first row of each CSV file, as all its rows are alike."""
    return {
        name: value[:1]
        if isinstance(declared.get(name), str) and not isinstance(value, str)
        else value
        for name, value in spec.settings.items()
    }


def _values(protocol: Protocol, kinds: Kinds) -> dict[str, list[str]]:
    """Returns {attribute with a closed list: its values, over all instruments}."""
    values: dict[str, dict[str, None]] = {}
    for spec in protocol.instruments:
        for attribute, closed in kinds(spec.kind).values(spec).items():
            values.setdefault(attribute, {}).update(dict.fromkeys(closed))
    return {name: list(closed) for name, closed in values.items()}


def _check_fit(
    protocol: Protocol, place: SourceLocation, ready: Sequence[ReadyInstrument | None], kinds: Kinds
) -> None:
    """Raises ProtocolError for a design, attribute or mode that no instrument can read or label."""
    for number, (spec, instrument) in enumerate(zip(protocol.instruments, ready, strict=True)):
        if instrument is None:
            continue
        place_of_spec = place.at("instruments", number)
        kind = kinds(spec.kind)
        known = {spec.attribute, *instrument.attributes, *kind.values(spec)}
        known |= {derived.attribute for derived in kind.derived(spec)}
        for name in spec.also:
            if name not in known:
                raise ProtocolError(
                    f"{place_of_spec.at('also')}: "
                    f"{UnknownName(f'attribute of {spec.name}', name, sorted(known))}"
                )
        try:
            instrument.check_design(protocol)
        except ProtocolError as error:
            raise ProtocolError(f"{place_of_spec}: {_without_name(error, spec)}") from None
    for name, mode in protocol.modes.items():
        if (
            mode.logprobs
            and ready
            and not any(instrument is None or instrument.reads(exact=True) for instrument in ready)
        ):
            raise ProtocolError(
                f"{place.at('modes', name, 'logprobs')}: no instrument reads probabilities, so the "
                "mode would have no labels. Leave it out, or add an instrument of the kind choice."
            )


def _without_name(error: ProtocolError, spec: InstrumentSpec) -> str:
    """Strips the instrument's name from an error's message, as the location already has it."""
    return str(error).removeprefix("instrument ").removeprefix(spec.name).lstrip(": ")


def _kind(
    spec: InstrumentSpec, place: SourceLocation, kinds: Kinds, modality: str
) -> InstrumentKind:
    """Looks up a kind. Raises ProtocolError if files may not name it or its modality differs."""
    try:
        kind = kinds(spec.kind)
    except ProtocolError as error:
        raise ProtocolError(f"{place.at('kind')}: {error}") from None
    if not kind.nameable:
        raise ProtocolError(
            f"{place.at('kind')}: '{spec.kind}' cannot be written here; --judge adds it. Name the "
            "kind that the judge is to check."
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


def _setting(
    place: SourceLocation, path: tuple[str | int, ...], declared: Mapping[str, Json]
) -> str:
    """Returns the location of a setting; for rows of a CSV file, that file and its line."""
    named = declared.get(str(path[0])) if path else None
    if isinstance(named, str) and named.endswith(parts.CSV) and len(path) > 1:
        return f"{place.at(path[0])}: {named}, line {int(path[1]) + 2}"
    return str(place.at(*path))
