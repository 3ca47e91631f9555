"""Which model really answered: what the servers said of themselves in a run, and where that changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .store import Store

ONE_MAKER = ("anthropic", "gemini")  # kinds whose servers name the model that was asked, or another that took its place
SHOWN = 4  # names of a model that are listed


class Served(NamedTuple):
    """A model as its server named it: name and fingerprint, how many calls, the first and the last date."""

    model: str
    name: str
    fingerprint: str
    calls: int
    first: str
    last: str


def served(store: Store) -> Iterator[Served]:
    """By model, in the order of their first call."""
    query = ("SELECT model, served, fingerprint, count(*), min(date), max(date) FROM calls WHERE outcome IS NOT NULL"
             " AND (served != '' OR fingerprint != '') GROUP BY 1, 2, 3 ORDER BY 1, 5, 2, 3")  # fmt: skip
    return (Served(*row) for row in store.rows(query))


def warnings(store: Store) -> list[str]:
    """A line for each model whose served name or fingerprint changed within the run, or is another's."""
    by_model: dict[str, list[Served]] = {}
    for row in served(store):
        by_model.setdefault(row.model, []).append(row)
    found = []
    for model, rows in by_model.items():
        names = list(dict.fromkeys(row.name for row in rows if row.name))
        prints = list(dict.fromkeys(row.fingerprint for row in rows if row.fingerprint))
        if len(names) > 1:
            found.append(f"{model} was served by {len(names)} models within this run: {_dated(rows)}. Their answers are not "
                         "of one subject; run again into another folder to have one.")  # fmt: skip
        elif len(prints) > 1:
            found.append(f"{model} had {len(prints)} system fingerprints within this run ({_dated(rows)}): its provider "
                         "changed something meanwhile.")  # fmt: skip
        kind, _, asked = model.partition(":")
        strange = [name for name in names if name and not name.startswith(asked.removesuffix("-latest"))]
        if kind in ONE_MAKER and strange:
            found.append(
                f"{model} was asked and {', '.join(strange[:SHOWN])} answered: the provider put another in its place."
            )
    return found


def _dated(rows: list[Served]) -> str:
    listed = [f"{row.name}{' ' + row.fingerprint if row.fingerprint else ''} ({row.calls} calls, {row.first[:10]} to "
              f"{row.last[:10]})" for row in rows[:SHOWN]]  # fmt: skip
    return ", ".join([*listed, *(["…"] if len(rows) > SHOWN else [])])
