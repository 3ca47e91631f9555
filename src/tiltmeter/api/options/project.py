"""The defaults of a folder for all audits in it: `tiltmeter.toml`, and a file of variables.

Only the file in the current folder is read. As it may come from a stranger, it may not name
addresses, keys or models that execute code. Those must be typed.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from ...errors import UnknownName, UsageError
from ...models.kinds import kind_of
from ...system import intake
from .audit_options import AuditOptions
from .option import Record, records
from .records import RunOptions

FILE = "tiltmeter.toml"
Default: TypeAlias = "str | int | float | list[str]"
_TYPES: Mapping[type, tuple[type, ...]] = {int: (int,), float: (int, float), str: (str,)}


def keys() -> dict[str, Record]:
    """Returns {key: option} for the options that tiltmeter.toml may set."""
    listed = {**records(AuditOptions), **records(RunOptions)}.values()
    named = {record.flags[0].lstrip("-").replace("-", "_"): record for record in listed}
    return {key: record for key, record in named.items() if record.option.in_folder}


def project_defaults(folder: Path) -> dict[str, Default]:
    """Reads {option: default}; {} without a file. Raises UsageError with the name of a bad key."""
    path = folder / FILE
    if not path.is_file():
        return {}
    try:
        data = tomllib.loads(intake.read_text(path, intake.MOST_DECLARED_BYTES))
    except (OSError, ValueError, RecursionError) as error:  # too many digits, too deep
        why = " ".join(str(error).split())[:200]
        raise UsageError(f"{FILE} cannot be read as TOML: {why}. Correct it.") from None
    defaults, by_key = dict[str, Default](), keys()
    for key, value in data.items():
        if key not in by_key:
            raise UsageError(f"{FILE}: {UnknownName('key', key, by_key)}")
        record = by_key[key]
        default: Default = [value] if record.multiple and isinstance(value, str) else value
        types = (list,) if record.multiple else _TYPES[record.kind]
        if not isinstance(default, types) or isinstance(default, bool):
            raise UsageError(f"{FILE}: {repr(value)[:60]} has the wrong type for the key {key}.")
        defaults[record.name] = default
    for key in ("models", "judges"):
        _refuse_code(defaults.get(key, []))
    return defaults


def _refuse_code(names: Default) -> None:
    for name in names if isinstance(names, list) else []:
        if kind_of(str(name)).executes:
            raise UsageError(
                f"{FILE} names {name}, which executes code. Name it on the command line: "
                f"--model '{name}'"
            )


def read_env_file(path: Path | str) -> dict[str, str]:
    """Reads NAME=VALUE lines like a shell; skips comments. Raises UsageError for a bad line."""
    try:
        lines = intake.read_text(path, intake.MOST_DECLARED_BYTES).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--env-file {path} cannot be read: {error}. Name a text file.") from None
    variables = {}
    for number, line in enumerate(map(str.strip, lines), 1):
        name, equals, value = line.removeprefix("export ").partition("=")
        if not line or line.startswith("#"):
            continue
        if not equals or not name.strip().isidentifier():
            raise UsageError(f"--env-file {path}, line {number}: write NAME=VALUE")
        variables[name.strip()] = value.strip().strip("\"'")
    return variables


def set_environment(path: Path | str) -> None:
    """Sets the variables listed in a file, except variables that the environment already has."""
    for name, value in read_env_file(path).items():
        os.environ.setdefault(name, value)
