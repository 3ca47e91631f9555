"""The copy of the protocol that a run keeps, readable without the file or process it came from."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ... import images, registry
from ...errors import StoreError, UsageError
from ...models.http.body import object_at
from ...protocol import Protocol
from ...protocol.design.tables import Beside, Row
from ...protocol.reading import load
from ...protocol.source.keys import MeasureKeys
from ...protocol.source.source_lines import SourceLocation
from ...records import Json
from ...secret_filter import variable_in
from ...store import Store
from ...store.queries import settings, trials
from ...system import intake

# Version 1 of `decisions` asked the texts that `discrim_eval` reads from a copy now.
EARLIER = {("decisions", "1"): "discrim_eval"}


Pairs = set[tuple[str, str]]  # of a factor and a level that was asked


class Snapshot(NamedTuple):
    """A protocol as a run keeps it. source: a name, a file's path, or "" if it was declared in
    Python; definition: all of the protocol with its texts; None if it ships with tiltmeter.
    """

    source: str
    definition: Json

    def keep(self, store: Store) -> None:
        """Stores the snapshot in a run."""
        store.put("definition", self.definition)
        settings.keep_source(store, self.source)


def record(
    given: str | Path | Protocol, declared: Protocol, used: Callable[[], Iterable[Row]] = list
) -> Snapshot:
    """Makes the copy of a protocol. given: what the user named; used: returns the rows that the run
    asks. Of texts that do not ship, only these rows are kept.
    """
    given = declared.name if isinstance(given, Protocol) else str(given)
    if registry.is_protocol(given) and not registry.is_sourced(given):
        return Snapshot(given, None)
    refuse_secrets(f"The protocol {Path(given).name}", declared.definition)
    is_file = not registry.is_protocol(given)
    source = (str(Path(given).resolve()) if given.endswith(".toml") else "") if is_file else given
    if registry.is_sourced(given):  # without the copy, nobody could read the run
        return Snapshot(source, _with_rows(declared, list(used())))
    return Snapshot(source, declared.definition)


def refuse_secrets(what: str, content: Json) -> None:
    """Raises UsageError if content to be asked and stored holds a key of the environment. Masking
    the key would make the stored text differ from the text that is asked.
    """
    name = variable_in(json.dumps(content, ensure_ascii=False))
    if name:
        raise UsageError(
            f"{what} is stored and shown, but holds the value of {name}. Take the value out; if it "
            f"is not a key, type before the command: env -u {name}"
        )


def trust(folder: Path | str) -> None:
    """Marks the protocol's file of a run as this user's own, so that it is read from now on."""
    with Store(folder, writing=True) as store:
        settings.keep_source(store, settings.source(store))


def _with_rows(protocol: Protocol, used: Sequence[Row]) -> Json:
    """Returns the definition of a protocol with only the used rows in its JSON-lines tables, and
    only the pictures shown with these rows.
    """
    definition = dict(protocol.definition or {})
    files = object_at(definition, "files")
    lines = {
        name: _lines_used(str(text), used) if name.endswith(".jsonl") else text
        for name, text in files.items()
    }
    definition["files"] = lines
    pairs = {(name, cell[name]) for cell in used for name in protocol.factors}
    definition["declared"] = _readable_part(object_at(definition, "declared"), pairs)
    if protocol.pictures:
        names = {name for cell in used for name in protocol.shown_with(cell)}
        pictures = {path: name for path, name in protocol.picture_names.items() if name in names}
        definition["pictures"] = pictures
    return definition


def _lines_used(text: str, used: Sequence[Row]) -> str:
    """Returns the lines of a table that occur in the used rows; all lines if none occurs."""
    used_values: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    used_lines = []
    for line in text.splitlines():
        row = json.loads(line)
        names = tuple(row)
        if names not in used_values:
            used_values[names] = {tuple(cell.get(name, "") for name in names) for cell in used}
        if tuple(row.values()) in used_values[names]:
            used_lines.append(line)
    return "".join(f"{line}\n" for line in used_lines) or text


def keep_pictures(store: Store, protocol: Protocol, used: Iterable[Row]) -> None:
    """Stores the pictures that rows show. Raises UsageError if one is damaged or was changed."""
    folder = protocol.picture_folder
    paths = {name: path for path, name in protocol.picture_names.items()}
    names = dict.fromkeys(name for cell in used for name in protocol.shown_with(cell))
    if folder is None:  # the run has them already
        return
    for name in names:
        try:
            content = intake.read_bytes(intake.inside(folder, paths[name]), images.MOST_BYTES)
            picture = images.check_picture(content)
        except (OSError, images.Unusable) as problem:
            raise UsageError(f"{paths[name]}: {problem}. Put the picture there.") from None
        if store.put_blob(content, picture.suffix) != name:
            raise UsageError(f"{paths[name]} changed during the command. Type the command again.")
        store.describe_picture(name, picture, len(content))


def protocol_of(store: Store) -> tuple[Protocol, str]:
    """Returns the protocol of a run, and a note about it ("" if there is nothing to note).

    The protocol is read from its file, whose measures may be newer, if the design is unchanged;
    otherwise from the copy in the run.
    """
    protocol, note = _protocol_of(store)
    if settings.own_source(store) and registry.is_sourced(settings.source(store)):
        protocol = replace(protocol, asked_digest=str(settings.frozen(store).get("digest", "")))
    for mode in trials.modes(store):
        if mode not in protocol.modes:
            raise StoreError(
                f"{store.folder} is damaged at trials.mode: {str(mode)[:60]!r} is not a mode of "
                f"{protocol.name}. Restore it from a copy."
            )
    return protocol, note


def _protocol_of(store: Store) -> tuple[Protocol, str]:
    source, definition = settings.source(store), settings.definition(store)
    digest = settings.frozen(store).get("digest")
    if not definition:
        if not source:
            raise StoreError(
                f"{store.folder} holds no run yet: the command that fills it was interrupted. "
                "Type that command again."
            )
        if not registry.is_protocol(source):
            raise StoreError(
                f"{store.folder} is damaged at meta.source: {source[:60]!r} is not an "
                "installed protocol, and the run keeps no copy of it. Restore the run from a copy."
            )
        frozen = settings.frozen(store)
        if (source, str(frozen.get("version"))) in EARLIER:
            return _rebuild(store, EARLIER[source, str(frozen["version"])]), ""
        shipped = registry.protocol(source)
        if frozen.get("protocol", shipped.name) != shipped.name:
            raise StoreError(
                f"{store.folder} is damaged at meta.source: it was made with "
                f"{str(frozen['protocol'])[:60]!r}, not {source!r}. Restore it from a copy."
            )
        warning = (
            f"was made with another design of {shipped.name} (data {digest}, now "
            f"{shipped.digest}): its answers stand, its "
        )
        return (
            shipped,
            ""
            if shipped.digest == digest
            else f"{warning}measures are those of this version of tiltmeter.",
        )
    if not settings.own_source(store):
        return _from_run(definition), (
            f"was not made by you on this machine, so {Path(source).name} was not looked at. To "
            f"read it from now on, type: tiltmeter jobs {store.folder} --trust"
        )
    current, note = _from_file(source, str(definition["declared"]["name"]))
    if current is not None and current.digest == digest:
        return current, ""
    return _from_run(definition), note and f"is read with the protocol that it kept: {note}"


def _rebuild(store: Store, name: str) -> Protocol:
    """Rebuilds the protocol of a run whose texts no longer ship, from the prompts in the run."""
    rows = [
        json.dumps({**factors, "text": prompt.rpartition("\n\n")[0]})
        for factors, prompt in trials.prompts_asked(store)
    ]
    pairs = {pair for factors, _ in trials.prompts_asked(store) for pair in factors.items()}
    data = _readable_part(registry.declaration(name), pairs)
    location = SourceLocation("the protocol of this run", "", data)
    files = Beside(None, {"texts.jsonl": "\n".join(rows)})
    return load.declare(data, files, location, registry.instrument_kind)


def _readable_part(data: dict[str, Any], asked: Pairs) -> dict[str, Any]:
    """Returns a protocol's file without measures, variants and levels that the asked rows lack."""
    measures = [
        {**keys, "expected": _levels_asked(keys["expected"], asked)} if "expected" in keys else keys
        for keys in data["measures"]
        if _can_be_read(keys, asked)
    ]
    names = [keys["name"] for keys in measures]
    variants = {
        name: {**keys, "measures": [key for key in keys["measures"] if key in names]}
        if "measures" in keys
        else keys
        for name, keys in data.get("variants", {}).items()
    }
    defaults = {
        factor: [level for level in levels if (factor, level) in asked]
        for factor, levels in data.get("defaults", {}).items()
    }
    readable = {**data, "measures": measures, "variants": variants}
    return readable | {"defaults": {name: levels for name, levels in defaults.items() if levels}}


def _levels_asked(
    expected: Mapping[str, Mapping[str, str]], asked: Pairs
) -> dict[str, dict[str, str]]:
    return {
        factor: {level: value for level, value in values.items() if (factor, level) in asked}
        for factor, values in expected.items()
    }


def _can_be_read(measure: MeasureKeys, asked: Pairs) -> bool:
    """True if the levels that a measure requires were asked."""
    required = {(factor, level) for factor, of in measure.get("where", {}).items() for level in of}
    contrast = measure.get("contrast", {})
    sides = (contrast[side] for side in ("level", "baseline") if side in contrast)
    required |= {(contrast["factor"], side) for side in sides if side != "*"}
    levels = sum(factor == contrast.get("factor") for factor, _ in asked)
    return required <= asked and (not contrast or levels > 1)


def _from_file(source: str, name: str) -> tuple[Protocol | None, str]:
    """Reads the protocol from its source. Returns (protocol or None, a note if it does not fit)."""
    if registry.is_sourced(source):
        try:
            return registry.protocol(source), f"{source} has another design by now."
        except UsageError:
            return None, ""
    if not source and name.endswith(".toml"):  # of no process: a stranger's path
        return None, ""
    if source and not Path(source).exists():
        return None, f"{Path(source).name} is not where it was."
    try:
        return registry.protocol(
            source or name
        ), f"{Path(source or name).name} has another design by now."
    except UsageError:
        if not source:
            return None, ""
        return None, f"{Path(source).name} cannot be read as a protocol now."


def _from_run(definition: settings.Definition) -> Protocol:
    data = definition["declared"]
    location = SourceLocation("the protocol kept in the run", "", data)
    pictures = dict(definition.get("pictures", {}))
    files = Beside(None, dict(definition["files"]), pictures=pictures)
    return load.declare(data, files, location, registry.instrument_kind, stored=True)
