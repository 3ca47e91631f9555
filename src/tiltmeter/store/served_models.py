"""The models that actually answered, as named by their servers, and changes among them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from ..stats.results import count_of
from . import Store
from .queries import calls
from .queries.calls import CallSums

MOST_NAMES = 4  # names of a model that are listed


class Served(NamedTuple):
    """A model under the name that its server gave, with number of calls, first and last date."""

    model: str
    name: str
    fingerprint: str
    calls: int
    first: str
    last: str


def read_served(store: Store) -> Iterator[Served]:
    """Yields the served models, sorted by model and date of the first call."""
    by_name: dict[tuple[str, str, str], list[CallSums]] = {}
    for sums in calls.sums(store):
        if sums.served or sums.fingerprint:
            by_name.setdefault((sums.model, sums.served, sums.fingerprint), []).append(sums)
    rows = (
        Served(
            *key,
            sum(one.calls for one in sums_of_name),
            min(one.first for one in sums_of_name),
            max(one.last for one in sums_of_name),
        )
        for key, sums_of_name in by_name.items()
    )
    return iter(sorted(rows, key=attrgetter("model", "first", "name", "fingerprint")))


def between(
    earlier: Iterable[Served], later: Iterable[Served], whose: tuple[str, str]
) -> list[str]:
    """Lists a warning per model whose served names, or else fingerprints, differ. Pure.

    whose: phrases for the two runs ("in run a", "in run b"). A missing name is not a difference.
    """
    before, after = _by_model(earlier), _by_model(later)
    warnings_ = []
    for model in before:
        rows = before[model], after.get(model, [])
        both = " and ".join(
            f"{_with_dates(part)} {name}" for part, name in zip(rows, whose, strict=True)
        )
        if _differ(*(_names(part) for part in rows)):
            warnings_.append(f"{model} was served by {both}. Their answers are not of one subject.")
        elif _differ(*(_prints(part) for part in rows)):
            warnings_.append(
                f"{model} had another system fingerprint: {both}. Its provider changed something "
                "between the two."
            )
    return warnings_


def other_models(one: Iterable[Served], other: Iterable[Served]) -> str:
    """Warns if two runs asked different models under one name: if they share no served name, or
    else no fingerprint; "" otherwise. Pure.
    """
    before, after = _by_model(one), _by_model(other)
    for model in before.keys() & after.keys():
        for reader, verb in ((_names, "served as"), (_prints, "served with the fingerprint")):
            first, second = reader(before[model]), reader(after[model])
            if first and second and not set(first) & set(second):
                names = (", ".join(part[:MOST_NAMES]) for part in (first, second))
                return f"{model} was {verb} {' and '.join(names)}"
    return ""


def warnings(store: Store, serves_asked: Callable[[str], bool]) -> list[str]:
    """Yields a line per model that was served under several names or fingerprints, or under a wrong
    name.

    serves_asked: True if a model's server reports the very name that was asked for. If a run was
    extended on a later day, its calls before and since that day are compared like two runs.
    """
    lines = []
    for model, rows in _by_model(read_served(store)).items():
        names, prints = _names(rows), _prints(rows)
        changes = _changes_between_days(rows)
        if changes:
            lines += changes
        elif len(names) > 1:
            lines.append(
                f"{model} was served by {len(names)} models within this run: {_with_dates(rows)}. "
                "Their answers are not of one subject; run again into another folder to have one."
            )
        elif len(prints) > 1:
            lines.append(
                f"{model} had {len(prints)} system fingerprints within this run "
                f"({_with_dates(rows)}): its provider changed something meanwhile."
            )
        asked = model.partition(":")[2]
        strange = [
            name for name in names if name and not name.startswith(asked.removesuffix("-latest"))
        ]
        if strange and serves_asked(model):
            lines.append(
                f"{model} was asked and {', '.join(strange[:MOST_NAMES])} answered: the provider "
                "put another in its place."
            )
    return lines


def _changes_between_days(rows: list[Served]) -> list[str]:
    """Lists changes if the calls split into earlier and later days that share no name."""
    rows = sorted(rows, key=lambda row: row.first)
    for cut in range(1, len(rows)):
        until, since = max(row.last[:10] for row in rows[:cut]), rows[cut].first[:10]
        if until < since:
            return between(
                rows[:cut], rows[cut:], (f"until {until}", f"since {since}, when the run went on")
            )
    return []


def _by_model(rows: Iterable[Served]) -> dict[str, list[Served]]:
    by_model: dict[str, list[Served]] = {}
    for row in rows:
        by_model.setdefault(row.model, []).append(row)
    return by_model


def _names(rows: Iterable[Served]) -> list[str]:
    return list(dict.fromkeys(row.name for row in rows if row.name))


def _prints(rows: Iterable[Served]) -> list[str]:
    return list(dict.fromkeys(row.fingerprint for row in rows if row.fingerprint))


def _differ(before: Sequence[str], after: Sequence[str]) -> bool:
    return bool(before and after) and set(before) != set(after)


def _with_dates(rows: list[Served]) -> str:
    listed = [
        f"{row.name}{' ' + row.fingerprint if row.fingerprint else ''} ("
        f"{count_of(row.calls, 'call')}, {row.first[:10]} to {row.last[:10]})"
        for row in rows[:MOST_NAMES]
    ]
    return ", ".join([*listed, *(["…"] if len(rows) > MOST_NAMES else [])])
