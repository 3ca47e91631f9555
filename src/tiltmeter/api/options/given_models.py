"""Models given in Python (names, functions, answers), and the names they get in a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

from ...errors import UsageError
from ...models.kinds import full_name
from ...protocol import Protocol

if TYPE_CHECKING:
    from ...models.existing.given import Given, Rows
    from ...models.own.calls import Function

# KIND:NAME; a function; rows or a frame of answers; {a name: a function or answers}; or several
ModelGiven: TypeAlias = (
    "str | Function | Given | Mapping[str, Function | Given] | Sequence[str | Function | Given]"
)


PLANTED = "planted"  # the kind of models that answer one protocol
PLANTED_USUAL = "roles"  # the protocol of a planted model that names none


def model_names(given: ModelGiven) -> tuple[str, ...]:
    """Returns the names of one or several models. Raises UsageError if `given` is neither."""
    if isinstance(given, str):
        names = [full_name(given)]
    elif isinstance(given, Mapping):
        names = [_name(each, name) for name, each in given.items()]
    elif isinstance(given, Sequence) and not _are_rows(given):
        names = [full_name(each) if isinstance(each, str) else _name(each) for each in given]
    else:
        names = [_name(given)]
    return tuple(dict.fromkeys(names))


def fill_protocol(name: str, given: str | Path | Protocol, declared: Protocol) -> str:
    """Returns the name of a model; adds the run's protocol to a `planted` model without a protocol.

    given: the audit as the caller named it; declared: its protocol.
    """
    kind, _, settings = name.partition(":")
    source = declared.name if isinstance(given, Protocol) else str(given)
    if kind != PLANTED or "protocol=" in settings or declared.name == PLANTED_USUAL:
        return name
    if {",", "="} & set(source) or not _can_be_planted(source):
        return name
    return f"{kind}:{settings},protocol={source}" if settings else f"{kind}:protocol={source}"


def _can_be_planted(protocol: str) -> bool:
    """True if a planted model can answer the protocol."""
    from ...planted.model import planted

    try:
        planted(f"protocol={protocol}")
    except UsageError:
        return False
    return True


def _are_rows(given: object) -> TypeGuard[Rows]:
    """True if `given` is a list of rows of answers, each with a text, a prompt or an id."""
    return (
        isinstance(given, Sequence)
        and bool(given)
        and all(isinstance(row, Mapping) and {"text", "prompt", "id"} & set(row) for row in given)
    )


def _name(given: object, name: str = "") -> str:
    """Makes a name for a function or rows of answers. name: the caller's own name, "" for none."""
    from ...models.existing.given import is_frame, name_answers
    from ...models.own.function import name_function

    if isinstance(given, str):
        raise UsageError(f"The model {given!r} already is a name. Pass it alone: model={given!r}")
    if _are_rows(given):
        return name_answers(given, name)
    if is_frame(given):
        return name_answers(given, name)
    if callable(given):
        return name_function(given, name)
    raise UsageError(
        f"{type(given).__name__} is not a model. Give KIND:NAME, a function, or rows with a prompt "
        "and a text."
    )
