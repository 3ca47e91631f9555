"""What a folder says for all audits in it: `tiltmeter.toml`, and a file of environment variables.

Only the current folder is looked at, and the file may be anybody's: so it names no address, no key
and no model that executes code. These are for the command line.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from ... import intake
from ...errors import UnknownName, UsageError
from ...models.kinds import kind_of

FILE = "tiltmeter.toml"
Default: TypeAlias = "str | int | float | list[str]"
# the key there → the option's name in the verbs, and what it must be
KEYS: Mapping[str, tuple[str, type | tuple[type, ...]]] = {
    "model": ("models", list),
    "judge": ("judges", list),
    "judge_for": ("judge_for", str),
    "language": ("languages", list),
    "mode": ("modes", list),
    "samples": ("samples", int),
    "limit": ("limit", int),
    "seed": ("seed", int),
    "max_cost": ("max_cost", (int, float)),
    "concurrency": ("concurrency", int),
    "rate": ("rate", (int, float)),
    "timeout": ("timeout", (int, float)),
    "patience": ("patience", (int, float)),
    "variant": ("variant", str),
}


def project_defaults(folder: Path) -> dict[str, Default]:
    """Defaults of options, by the names that they have in the verbs; {} where there is no file.
    UsageError names the key.
    """
    path = folder / FILE
    if not path.is_file():
        return {}
    try:
        data = tomllib.loads(intake.read_text(path, intake.MOST_DECLARED_BYTES))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{FILE} cannot be read as TOML: {error}. Mend it.") from None
    found: dict[str, Default] = {}
    for key, value in data.items():
        if key not in KEYS:
            raise UsageError(f"{FILE}: {UnknownName('key', key, KEYS)}")
        name, kind = KEYS[key]
        given: Default = [value] if kind is list and isinstance(value, str) else value
        fits = isinstance(given, kind) and not isinstance(given, bool)
        if not fits:
            raise UsageError(f"{FILE}, {key}: {value!r} is no value for it.")
        found[name] = given
    for key in ("models", "judges"):
        _refuse_code(found.get(key, []))
    return found


def _refuse_code(names: Default) -> None:
    for name in names if isinstance(names, list) else []:
        if kind_of(str(name)).executes:
            raise UsageError(
                f"{FILE} names {name}, which executes code. Name it on the command line: "
                f"--model '{name}'"
            )


def read_env_file(path: Path | str) -> dict[str, str]:
    """NAME=VALUE lines, with or without `export` and quotation marks; lines that begin with # and
    empty ones are left out. UsageError names the line.
    """
    try:
        lines = intake.read_text(path, intake.MOST_DECLARED_BYTES).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--env-file {path} cannot be read: {error}. Name a text file.") from None
    found = {}
    for number, line in enumerate(map(str.strip, lines), 1):
        name, equals, value = line.removeprefix("export ").partition("=")
        if not line or line.startswith("#"):
            continue
        if not equals or not name.strip().isidentifier():
            raise UsageError(f"--env-file {path}, line {number}: write NAME=VALUE")
        found[name.strip()] = value.strip().strip("\"'")
    return found


def set_environment(path: Path | str) -> None:
    """Sets the variables of a file that are not set yet."""
    for name, value in read_env_file(path).items():
        os.environ.setdefault(name, value)
