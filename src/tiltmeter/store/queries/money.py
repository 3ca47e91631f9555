"""The money of a run: requests by state, with their expected and maximum cost."""

from __future__ import annotations

from typing import NamedTuple

from .. import Store
from . import batches, settings
from .batches import ACCEPTED, COLLECTED, UNCLEAR, UNFINISHED, WRITTEN_OFF

STATES = (*UNFINISHED, COLLECTED, UNCLEAR, WRITTEN_OFF)
SINGLE = "single calls that were sent and not answered"


class Money(NamedTuple):
    """The requests of one model in one state. requests: None if only their sum is known; expected:
    US dollars as billed, else from the mean cost of the model's answers so far, None without
    answers; most: the maximum in US dollars.
    """

    state: str
    model: str
    requests: int | None
    expected: float | None
    most: float


def money(store: Store) -> list[Money]:
    """Lists the states that hold requests or money, per model, in the order of STATES."""
    query = (
        "SELECT model, count(*), sum(cost), avg(cost) FROM calls WHERE outcome IS NOT NULL"
        " GROUP BY model"
    )
    rows = list(store.rows(query))
    means: dict[str, float | None] = {model: mean for model, _, _, mean in rows}
    lines = [Money(COLLECTED, model, n, sum_, sum_ or 0.0) for model, n, sum_, _ in rows]
    lines += _of_batches(store, means)
    query = (
        "SELECT model, count(*) FROM calls WHERE outcome IS NULL AND remote_id IS NOT NULL"
        " GROUP BY model"
    )
    for model, number in store.rows(query):
        lines.append(Money(ACCEPTED, model, number, _times(means.get(model), number), 0.0))
    lost = settings.possibly_paid(store) - sum(row.lost for row in batches.rows(store))
    if lost > 1e-12:
        lines.append(Money(WRITTEN_OFF, SINGLE, None, None, lost))
    return sorted(lines, key=lambda line: (STATES.index(line.state), line.model))


def _of_batches(store: Store, means: dict[str, float | None]) -> list[Money]:
    sums: dict[tuple[str, str], tuple[int, float]] = {}
    for row in batches.rows(store):
        number = len(batches.keys_of(store, row.key))
        if row.state == WRITTEN_OFF and row.lost:
            number = row.requests - row.billed
        if number:
            old_sums = sums.get((row.state, row.model), (0, 0.0))
            sums[row.state, row.model] = old_sums[0] + number, old_sums[1] + row.reserved + row.lost
    return [
        Money(state, model, number, _times(means.get(model), number), most)
        for (state, model), (number, most) in sums.items()
    ]


def _times(mean: float | None, number: int) -> float | None:
    return None if mean is None else mean * number
