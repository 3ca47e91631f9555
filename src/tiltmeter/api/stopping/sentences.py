"""The forecast of a run that stops early, as a table and sentences for terminal and notebook."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...stages.planning.cost import Totals
from ...stats.results import count_of

if TYPE_CHECKING:
    from .forecast import StoppingForecast, StoppingRow

WORTH_SAYING = 0.05  # the relative fall of a standard error with more items
Cells = tuple[str, ...]


def table(totals: Totals, wanted: float | None, forecast: StoppingForecast) -> Iterator[Cells]:
    """Yields a header and a row per assumed truth. wanted: the difference to detect, or None."""
    share = forecast.fixed_rounds / forecast.looks[-1]
    power_header = ("found", "by all calls", f"by a fixed {share:.0%}")
    paid = totals["cost"] or totals["price_unknown"]
    yield ("if there is", "calls about", "of all", *(("$ about",) if paid else ()), *power_header)
    for row in forecast.rows:
        cost = "?" if row.cost is None else f"{row.cost:,.2f}"
        yield (
            _truth(row, wanted),
            f"{row.calls * totals['calls']:,.0f}",
            f"{row.calls:.0%}",
            *((cost,) if paid else ()),
            *("–" if row.truth == "none" else f"{power:.0%}" for power in _powers(row)),
        )


def _powers(row: StoppingRow) -> tuple[float, float, float]:
    return row.power, row.full_power, row.fixed_power


def _truth(row: StoppingRow, wanted: float | None) -> str:
    if row.truth == "wanted":
        return f"{wanted:g} in every claim"
    return "no difference" if row.truth == "none" else "just what is detectable"


def heading(forecast: StoppingForecast) -> str:
    """Returns the heading of the table."""
    *first, last = forecast.looks
    return (
        f"With --stop, {count_of(forecast.claims, 'claim')}, looks after "
        f"{', '.join(map(str, first))} and {last} rounds; error rates as of a full "
        "run (docs/how-to/stopping.md). Simulated:"
    )


def sentences(totals: Totals, forecast: StoppingForecast) -> Iterator[str]:
    """Yields the sentences to print below the table."""
    money = f", about ${totals['cost']:,.2f}" if totals["cost"] else ""
    yield (
        f"At most all {totals['calls']:,} calls{money}, where a claim is open until the last look."
    )
    if forecast.moves:
        yield forecast.moves
    yield from _floor(forecast)
    if forecast.items_gain > WORTH_SAYING:
        yield (
            "The same calls on twice the items, half as often each: standard errors "
            f"{forecast.items_gain:.0%} smaller."
        )
    if forecast.words_limit:
        yield (
            f"How {forecast.words_limit} of one group differ is most of what stays unknown here, "
            "and asking on tells nothing of it, so stopping saves little of what matters: more "
            f"{forecast.words_limit}, each asked less often, find more."
        )
    if not forecast.saves:
        yield (
            "--stop saves nothing here: less than a tenth of the calls, whatever is true. Leave "
            "it out."
        )


def _floor(forecast: StoppingForecast) -> Iterator[str]:
    """Yields a sentence on the first look that can decide a claim, unless look 1 can decide all."""
    if forecast.decidable[0] == forecast.claims:
        return
    needed = forecast.items_needed
    if needed is not None and forecast.items is not None and forecast.items < needed:
        yield (
            f"The first look can find something with {needed} items or more; the fewest here are "
            f"{forecast.items}."
        )
    numbered = enumerate(forecast.decidable, 1)
    parts = [f"{many} from look {look} on" for look, many in numbered if many]
    if forecast.never:
        parts.append(f"{forecast.never} at none, with so few items")
    yield f"Tilts can be found first, given the number of items: {', '.join(parts)}."
