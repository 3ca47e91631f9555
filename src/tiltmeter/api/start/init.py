"""Files to start an audit from: a commented template, an example with its tables, the schema."""

from __future__ import annotations

import csv
import json
import shutil
import tomllib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from ... import registry
from ...errors import UnknownName, UsageError
from ...models.http.body import object_at
from ...planted.model import planted
from ...protocol import EVERY, Protocol
from ...protocol.design.contrasts import each_contrast
from ...row_files import Row
from . import own_prompts, protocol_of_table

SCHEMA = "tiltmeter.schema.json"
TABLES = (".csv", ".tsv", ".xlsx", ".xls", ".ods", ".jsonl")
FILE = "audit.toml"  # an example's protocol in its folder
_HOME = Path(__file__).parents[1]
_EXAMPLES = _HOME / "examples"


def examples() -> dict[str, str]:
    """Returns {name of a shipped example: its question}."""
    folders = sorted(path.parent for path in _EXAMPLES.glob(f"*/{FILE}"))
    return {
        home.name: tomllib.loads((home / FILE).read_text("utf-8"))["question"] for home in folders
    }


def write(target: Path, images: bool = False, example: str = "") -> list[Path]:
    """Writes a protocol, its tables and the schema. Refuses to overwrite any but the schema."""
    _refuse_name(target)
    source = (
        _source(example)
        if example
        else _HOME / "starts" / ("images.toml" if images else "text.toml")
    )
    tables = (
        sorted(path for path in source.parent.iterdir() if path.name != FILE) if example else []
    )
    written = [target, *(target.parent / path.name for path in tables)]
    _refuse_existing(written)
    target.parent.mkdir(parents=True, exist_ok=True)
    for path, copied in zip(written, (source, *tables), strict=True):
        text = copied.read_text("utf-8")
        path.write_text(
            f"#:schema ./{SCHEMA}\n{text}" if path == target else text,
            encoding="utf-8",
            newline="\n",
        )
    return [*written, write_schema(target.parent / SCHEMA)]


def write_shipped(folder: Path, name: str) -> list[Path]:
    """Copies a shipped protocol into a folder, with the files that it names, its README and the
    schema. The design stays the same until a file is edited.
    """
    if not registry.is_protocol(name):
        raise UnknownName("protocol", name, registry.protocol_names(), "Type: tiltmeter ls")
    source = registry.protocol_file(name)
    definition = registry.protocol(name).definition or {}
    files = {file: Path(file).name for file in object_at(definition, "files")}
    beside = {source.parent / file: folder / copied for file, copied in files.items()}
    for extra in ("README.md", "LICENSE"):
        if (source.parent / extra).is_file():
            beside[source.parent / extra] = folder / extra
    text = source.read_text("utf-8")
    for file, copied in files.items():
        text = text.replace(json.dumps(file), json.dumps(copied))
    target = folder / f"{name}.toml"
    _refuse_existing((target, *beside.values()))
    folder.mkdir(parents=True, exist_ok=True)
    for path, copy in beside.items():
        shutil.copyfile(path, copy)
    target.write_text(f"#:schema ./{SCHEMA}\n{text}", encoding="utf-8", newline="\n")
    return [target, *beside.values(), write_schema(folder / SCHEMA)]


def write_over_table(target: Path, table: Path, reading: own_prompts.PromptColumns) -> list[Path]:
    """Writes a protocol that reads a table of prompts, and the schema beside it. A table outside
    the protocol's folder is copied into it; if the table lacks an item column or is not CSV, it is
    written there as CSV.
    """
    _refuse_name(target)
    home = target.parent
    inside = table.resolve().is_relative_to(home.resolve()) and not reading.rows
    beside = table.resolve().relative_to(home.resolve()) if inside else Path(table.name)
    if reading.rows:
        items = reading.item in reading.added
        ending = f"-{reading.item}s" if items else "-table" * (table.suffix == ".csv")
        beside = Path(f"{table.stem}{ending}.csv")
    written = [target] if inside else [target, home / beside]
    _refuse_existing(written)
    home.mkdir(parents=True, exist_ok=True)
    if reading.rows:
        _write_rows(home / beside, reading.rows)
    elif not inside:
        shutil.copyfile(table, home / beside)
    text = protocol_of_table.write(target.stem, beside.as_posix(), reading)
    target.write_text(f"#:schema ./{SCHEMA}\n{text}", encoding="utf-8", newline="\n")
    return [*written, write_schema(home / SCHEMA)]


def _write_rows(path: Path, rows: Sequence[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def _refuse_name(target: Path) -> None:
    if target.suffix == ".toml":
        return
    toml = target.with_suffix(".toml")
    more = f" --from {target}" if target.suffix in TABLES else ""
    raise UsageError(f"A protocol's file name ends in .toml. Type: tiltmeter init {toml}{more}")


def _refuse_existing(paths: Iterable[Path]) -> None:
    for path in paths:
        if path.exists():
            raise UsageError(
                f"{path} is there already, and was not changed. Name another file or folder."
            )


def _source(example: str) -> Path:
    names = examples()
    if example not in names:
        raise UnknownName("example", example, names, "Type: tiltmeter ls examples")
    return _EXAMPLES / example / FILE


def write_schema(path: Path) -> Path:
    """Writes the JSON Schema of a protocol's file, for completion and checks in an editor."""
    path.write_text(
        json.dumps(registry.schema_for_editors(), ensure_ascii=False, indent=1) + "\n",
        encoding="utf-8",
        newline="\n",
    )
    return path


def next_steps(target: Path) -> list[str]:
    """Lists the commands to type once a protocol is written."""
    protocol = registry.protocol(str(target))
    kinds = [registry.instrument_kind(spec.kind) for spec in protocol.instruments]
    planted = f"planted:protocol={target}"
    judge_arg = f" --judge {planted}" if any(kind.judged for kind in kinds) else ""
    out = target.with_name("tried")
    return [
        f"tiltmeter show {target}",
        f"tiltmeter plan {target} --model {planted}{judge_arg}",
        f"tiltmeter run {target} --model {planted}{_tilt(protocol, target)}{judge_arg} --out {out}",
        f"tiltmeter explore {out}",
    ]


def _tilt(protocol: Protocol, target: Path) -> str:
    """Returns settings that plant a tilt in the first measure that compares levels, or ""."""
    for measure in protocol.measures:
        contrast = measure.contrast or {}
        values = [value for value in (*measure.values, *measure.among) if value != EVERY]
        if "baseline" not in contrast or not values:
            continue
        contrast = each_contrast(protocol, measure)[0].contrast or {}
        for value in (values[0], f"{measure.attribute}/{values[0]}"):
            spec = f",{value}.{contrast['level']}=0.3,{value}.{contrast['baseline']}=0.7"
            with suppress(UsageError):
                planted(f"protocol={target}{spec}")
                return spec if " " not in spec else ""
    return ""
