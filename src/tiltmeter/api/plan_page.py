"""What is shown of a plan: one line where it is printed, a small page in a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..display import Page
from ..stats.results import count_of
from . import stopped_sentences

if TYPE_CHECKING:
    from .plans import Plan

CALLS = ("model", "part", "mode", "calls", "tokens in", "tokens out at most", "$ about")
DESIGN = ("measure", "of", "items", "outputs each", "detectable")


def line(plan: Plan) -> str:
    """The plan in a line."""
    smallest = min((row.detectable for row in plan.design if row.detectable), default=None)
    found = "" if smallest is None else f"; smallest detectable difference {smallest:.3f}"
    return (
        f"<Plan {plan.protocol} {plan.version}: {count_of(plan.trials, 'trial')}, "
        f"{count_of(plan.totals['calls'], 'call')}, {money(plan)}{found}>"
    )


def money(plan: Plan) -> str:
    """What the calls are expected to cost, in US dollars."""
    unknown = plan.totals["price_unknown"]
    if unknown:
        return f"cost unknown (no price for {', '.join(unknown)})"
    return f"about ${plan.totals['cost']:,.2f}"


def page(plan: Plan) -> Page:
    """The page of a plan."""
    return Page(
        f"Plan of {plan.protocol} {plan.version}",
        (
            f"{count_of(plan.trials, 'trial')}, {count_of(plan.totals['calls'], 'call')}, "
            f"{money(plan)}.",
        ),
        {"To know": [*plan.misfits, *plan.waiting, *_ends(plan), *_of_stopping(plan)]},
        {
            "Calls": [CALLS, *_calls(plan)],
            "Detectable with 80 % power": [DESIGN, *_design(plan)],
        }
        | _stopping_table(plan),
    )


def _of_stopping(plan: Plan) -> Iterator[str]:
    if plan.stopping:
        yield from stopped_sentences.sentences(plan, plan.stopping)


def _stopping_table(plan: Plan) -> dict[str, list[tuple[str, ...]]]:
    if not plan.stopping:
        return {}
    title = stopped_sentences.heading(plan.stopping).removesuffix(":")
    return {title: [*stopped_sentences.table(plan, plan.stopping)]}


def _ends(plan: Plan) -> Iterator[str]:
    for model in plan.models:
        if model["retires_on"]:
            verb = "was retired" if model["retired"] else "ends"
            yield f"{model['name']} {verb} on {model['retires_on']}."


def _calls(plan: Plan) -> Iterator[tuple[str, ...]]:
    for one in plan.calls:
        cost = "?" if one.cost is None else f"{one.cost:,.2f}"
        tokens = f"{one.prompt_tokens:,}", f"{one.completion_tokens:,}"
        yield one.model, one.part, one.mode, f"{one.calls:,}", *tokens, cost


def _design(plan: Plan) -> Iterator[tuple[str, ...]]:
    for row in plan.design:
        place = ", ".join(filter(None, (row.language, row.mode, *row.group.values())))
        items = "–" if row.clusters is None else f"{row.clusters:,}"
        value = "–" if row.detectable is None else f"{row.detectable:.3f} {row.unit}"
        yield row.measure, place, items, f"{row.per_cluster:.3g}", value
