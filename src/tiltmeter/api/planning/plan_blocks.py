"""A plan as a document: its parts in words, for a terminal and for a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ...display.document import Block
from ...stats.results import count_of
from ..stopping import sentences

if TYPE_CHECKING:
    from ...stages.planning.cost import CostLine
    from ...stages.planning.power import Detectable
    from ...stages.steps.connect import KnownModel
    from .plan_page import Plan

HEADER_OF_CALLS = (
    "model",
    "part",
    "mode",
    "calls",
    "tokens in",
    "tokens out ≤",
    "$ about",
    "$ most",
)
CALLS_LAST = ("tokens out ≤", "tokens in", "mode", "part")  # columns that a narrow terminal drops
DESIGN_LAST = ("2 × samples", "2 × items", "outputs each", "tests")
FEW_ROWS = 4  # of detectable differences, header included, on a small screen


def blocks(plan: Plan, thin: Sequence[str] = ()) -> Iterator[Block]:
    """Yields the parts of a plan. thin: sentences about a design that is too thin."""
    yield Block(lines=[*_trials(plan)], brief=(0,), noun="prompts", weight=3)
    yield _whole(_money_lines(plan))
    calls = [HEADER_OF_CALLS, *map(_cells, plan.calls), _sums(plan)]
    yield Block(
        table=calls,
        words=3,
        spare=CALLS_LAST,
        brief=(0, -1),
        noun="calls of each model",
        weight=6,
    )
    yield Block(lines=[*_notes_of_calls(plan)], noun="how calls are estimated", weight=1)
    yield Block(lines=[*_models(plan.models)], noun="models", weight=4)
    yield _whole(
        (
            *(f"warning: a run is refused: {line}" for line in plan.misfits),
            *(f"warning: {line}" for line in (*plan.doubts, *thin)),
            *(f"waiting: {line}" for line in plan.waiting),
        )
    )
    yield from _design(plan)
    yield from _stopping(plan)


def _whole(lines: Iterable[str]) -> Block:
    """Makes a block of lines that every screen shows."""
    shown = [*lines]
    return Block(lines=shown, brief=range(len(shown)), weight=9)


def _trials(plan: Plan) -> Iterator[str]:
    aside = (
        f", and {plan.for_discovery:,} aside of them that are not measured"
        if plan.for_discovery
        else ""
    )
    yield f"{plan.protocol} {plan.version}: {count_of(plan.trials, 'trial')}{aside}"
    if plan.prompts:
        numbers = (f"{number:,} {level}" for level, number in plan.prompts.items())
        yield f"prompts: {', '.join(numbers)}"
    for other in plan.others:
        fewer = plan.trials - other["trials"]
        change = f", {abs(fewer):,} {'fewer' if fewer > 0 else 'more'}" if fewer else ""
        yield f"with --where {other['factor']}={other['level']}: {other['trials']:,} trials{change}"


def _money_lines(plan: Plan) -> Iterator[str]:
    """Yields the expected cost, and the most that a run could cost."""
    total = plan.totals
    if not total["cost"] and not total["price_unknown"]:
        return
    sure = "up to" if any(line.up_to for line in plan.calls) else "about"
    line = f"cost: {sure} ${_sum(total['cost'], total['price_unknown'])}"
    most = _sum(total["cost_most"], total["price_unknown"])
    yield (
        f"{line}. At the very most ${most}: if every answer ran to its limit of tokens, every "
        "byte were a token and every judge asked all its rounds. --max-cost holds a run below "
        "what you name."
    )


def _sums(plan: Plan) -> tuple[str, ...]:
    """Makes the last row of the table of calls: the sums."""
    total = plan.totals
    least = total["calls"] - sum(line.calls for line in plan.calls if line.up_to)
    return (
        "in all",
        "",
        "",
        _range(least, total["calls_most"]),
        f"{total['prompt_tokens']:,}",
        f"{total['completion_tokens']:,}",
        _sum(total["cost"], total["price_unknown"]),
        _sum(total["cost_most"], total["price_unknown"]),
    )


def _notes_of_calls(plan: Plan) -> Iterator[str]:
    yield f"  {plan.rule}"
    yield from (f"  {note}" for note in dict.fromkeys(filter(None, map(_up_to, plan.calls))))
    for name in plan.totals["price_unknown"]:
        yield (
            f"  the price of {name} is unknown and not in the sum. Add for instance: --price "
            f"{name}=2.5/10"
        )


def _up_to(line: CostLine) -> str:
    """Explains the calls to a judge that is asked only if the rules are unsure."""
    return line.up_to and (
        f"{line.model} is asked where the rules are unsure ({line.up_to}); tokens and dollars are "
        f"those of asking about all {line.outputs:,}"
    )


def _cells(line: CostLine) -> tuple[str, ...]:
    """Makes a row of the table of calls: one model in one part."""
    return (
        line.model,
        "subject" if line.part == "subject" else line.part.partition("/")[0],
        line.mode,
        _range(0 if line.up_to else line.calls, line.calls_most),
        f"{line.prompt_tokens:,}",
        f"{line.completion_tokens:,}",
        _money(line.cost),
        _money(line.cost_most),
    )


def _models(models: Iterable[KnownModel]) -> Iterator[str]:
    for model in models:
        if model["retired"]:
            yield (
                f"warning: {model['name']} was retired on {model['retires_on']}: a run is "
                "refused, unless --base-url names a server that still has it"
            )
        elif model["soon"]:
            yield (
                f"warning: {model['name']} ends on {model['retires_on']}: nobody can repeat the "
                "run after that"
            )
        elif model["retires_on"]:
            yield f"{model['name']} ends on {model['retires_on']}"
        for limit in model.get("limits", ()):
            yield f"{model['name']}: {limit}"
        if "batch" in model:
            yield f"{model['name']}: {model['batch']}"
        if "price_date" in model:
            yield f"{model['name']}: price as of {model['price_date']}, {model['price_source']}"


def _design(plan: Plan) -> Iterator[Block]:
    """Yields the table of detectable differences, and notes for its readers."""
    if not plan.design:
        yield _whole(
            [f"{plan.protocol} has no headline measure, so no detectable difference is worked out."]
        )
        return
    wanted = plan.wanted
    more = (f"items for {wanted:g}", f"samples for {wanted:g}") if wanted else ()
    twice = ("2 × items", "2 × samples")
    header = ("measure", "of", "items", "outputs each", "tests", "detectable", *twice, *more)
    rows = [_design_cells(row, with_needed=bool(wanted)) for row in plan.design]
    left = len(rows) + 1 - FEW_ROWS
    yield Block(
        heading="Detectable with 80 % power at .05 over the tests that are adjusted together "
        f"(items as clusters, intra-item correlation {plan.icc:g} assumed, "
        f"{plan.correlation:g} between the sides of an item):",
        table=[header, *rows],
        words=2,
        spare=DESIGN_LAST,
        brief=range(min(FEW_ROWS, len(rows) + 1)),
        noun=f"{left} more detectable differences",
        weight=5,
    )
    notes = list(_design_notes(plan))
    warnings = [place for place, line in enumerate(notes) if line.startswith("warning")]
    yield Block(lines=notes, brief=warnings, noun="how to read them", weight=2)


def _stopping(plan: Plan) -> Iterator[Block]:
    """Yields the calls and findings of a run that stops early."""
    if plan.stopping is None:
        return
    rows = [*sentences.table(plan.totals, plan.wanted, plan.stopping)]
    yield Block(
        heading=sentences.heading(plan.stopping),
        table=rows,
        words=1,
        spare=rows[0][-1:],
        noun="what stopping early saves",
        weight=7,
    )
    explained = [f"  {line}" for line in sentences.sentences(plan.totals, plan.stopping)]
    yield Block(lines=explained, brief=(0,), noun="more on stopping early", weight=2)


def _design_cells(row: Detectable, with_needed: bool) -> tuple[str, ...]:
    in_points = row.unit == "share"
    scale, places = (100, 1) if in_points else (1, 3)
    value = "–"
    if row.detectable is not None:
        value = f"{scale * row.detectable:.{places}f} {'points' if in_points else row.unit}"
    twice = tuple(
        "" if detectable is None else f"{scale * detectable:.{places}f}"
        for detectable in (row.twice_items, row.twice_samples)
    )
    needed = (
        (_number_or_dash(row.items_needed), _number_or_dash(row.samples_needed))
        if with_needed
        else ()
    )
    items = "–" if row.clusters is None else str(row.clusters)
    size = f"{row.per_cluster:.3g}"
    return (row.measure, _place(row), items, size, str(row.tests), value, *twice, *needed)


def _place(row: Detectable) -> str:
    return ", ".join(filter(None, (row.language, row.mode, *row.group.values())))


def _design_notes(plan: Plan) -> Iterator[str]:
    from ...protocol import FEW_OUTPUTS

    for row in plan.design:
        if row.note and (row.detectable is None or row.clusters is None):
            yield f"  {row.measure}, {_place(row)}: {row.note}"
    for row in plan.design:
        if row.by_words:
            yield f"  {row.measure}, {_place(row)}: {row.by_words}"
    if any(row.twice_items is not None for row in plan.design):
        yield "  2 × items, 2 × samples: what twice the calls would find, spent on one or the other"
    if any(row.clusters is None for row in plan.design):
        yield (
            "  items –: outputs are what is sampled there, each by itself, of a group or of a side"
        )
    sizes = [row.per_cluster for row in plan.design if row.clusters is None]
    if sizes and min(sizes) < FEW_OUTPUTS:
        yield (
            f"warning: groups of {count_of(min(sizes), 'output')}: of fewer than {FEW_OUTPUTS} "
            f"little can be said. Type: --samples {FEW_OUTPUTS}"
        )
    if plan.wanted and any(row.samples_needed is None for row in plan.design):
        yield (
            "  –: no number does; with more samples the items themselves still differ, and an "
            "item is read once in exact mode"
        )


def _number_or_dash(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


def _range(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _sum(dollars: float, unknown: Sequence[str]) -> str:
    """Writes a sum of dollars; "?" stands for models whose price is unknown."""
    known = _money(dollars) if dollars or not unknown else ""
    return " + ".join(filter(None, (known, "?" if unknown else "")))


def _money(dollars: float | None) -> str:
    return (
        "?"
        if dollars is None
        else "0"
        if dollars == 0
        else f"{dollars:,.2f}"
        if dollars >= 0.01
        else "<0.01"
    )
