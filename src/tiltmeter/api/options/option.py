"""The record of an option, and the reader of such records from a TypedDict of options."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Literal, get_args, get_origin


@dataclass(frozen=True, kw_only=True)
class Option:
    """An option without its name and type.

    flags:     its flags, if they differ from --name-of-the-field.
    default:   the value if nothing is typed; --help shows it.
    least, above, most: bounds of a number.
    path:      the kind of path that it names, "" for none.
    metavar:   the placeholder of the value in --help.
    commas:    True if several names are typed as one text, with commas.
    parse:     turns one typed text into a value; its ValueError says what to type instead.
    value:     turns all typed values into the value of the keyword.
    in_folder: True if tiltmeter.toml may set it. Never for an address, a key or a file to execute.
    """

    help: str
    flags: tuple[str, ...] = ()
    default: str | float | None = None
    required: bool = False
    least: float | None = None
    above: float | None = None
    most: float | None = None
    path: Literal["", "any", "file", "existing file"] = ""
    metavar: str | None = None
    commas: bool = False
    parse: Callable[[str], object] | None = None
    value: Callable[..., object] | None = None
    in_folder: bool = False


@dataclass(frozen=True)
class Record:
    """An option with its name and type. kind: the type of a value; multiple: repeatable."""

    name: str
    flags: tuple[str, ...]
    kind: type
    multiple: bool
    option: Option


def records(options: type) -> dict[str, Record]:
    """Reads a TypedDict's records, in order; skips fields without an `Option`."""
    noted = {name: get_args(form) for name, form in options.__annotations__.items()}
    return {
        name: _record(name, parts[0], parts[1])
        for name, parts in noted.items()
        if len(parts) == 2 and isinstance(parts[1], Option)
    }


def _record(name: str, form: object, option: Option) -> Record:
    kinds = [kind for kind in get_args(form) or (form,) if kind is not NoneType]
    is_multiple = any(get_origin(kind) in (Sequence, Mapping) for kind in (form, *kinds))
    kind = next((kind for kind in (str, bool, float, int) if kind in kinds), str)
    flags = option.flags or (f"--{name.replace('_', '-')}",)
    return Record(name, flags, kind, is_multiple and not option.commas, option)
