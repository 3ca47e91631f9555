"""A plan as printed text, part by part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..display.screen import Part, part
from ..stats.results import count_of
from .fitting import table_lines

if TYPE_CHECKING:
    from ..api import Plan
    from ..stages.planning.cost import CostLine
    from ..stages.planning.power import Detectable
    from ..stages.steps.connect import KnownModel

HEADER_OF_CALLS = (
    *("model", "part", "mode", "calls", "tokens in", "tokens out ≤", "$ about", "$ most"),
)
CALLS_LAST = ("tokens out ≤", "tokens in", "mode", "part")  # what a narrow terminal does without
DESIGN_LAST = ("2 × samples", "2 × items", "outputs each", "tests")
FEW_ROWS = 4  # of detectable differences, with their header, that a small screen has


def sections(plan: Plan, thin: Sequence[str], width: int) -> Iterator[Part]:
    """Yields the parts of a printed plan, in tables no wider than so many columns if possible."""
    trials = list(_trials(plan))
    yield part(trials, trials[:1], "prompts" if trials[1:] else "", 3)
    money = list(_money_lines(plan))
    yield part(money, money, worth=9)
    calls = table_lines(
        [HEADER_OF_CALLS, *map(_cells, plan.calls), _sums(plan)], 3, CALLS_LAST, width
    )
    yield part(calls, [calls[0], calls[-1]], "calls of each model", 6)
    notes = [*_notes_of_calls(plan)]
    yield part(notes, (), "how calls are estimated" if notes else "", 1)
    models = list(_models(plan.models))
    yield part(models, (), "models" if models else "", 4)
    warnings = [
        *(f"warning: a run is refused: {line}" for line in plan.misfits),
        *(f"warning: {line}" for line in (*plan.doubts, *thin)),
        *(f"waiting: {line}" for line in plan.waiting),
    ]
    yield part(warnings, warnings, worth=9)
    yield from _design(plan, width)
    yield from _stopping(plan, width)


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
    """All calls together, as a row of the table of calls."""
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
    """One model in one part, as a row of the table of calls."""
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


def _design(plan: Plan, width: int) -> Iterator[Part]:
    """The table of detectable differences, and what to know to read it."""
    if not plan.design:
        line = (
            f"{plan.protocol} has no headline measure, so no detectable difference is worked out."
        )
        yield part([line], [line])
        return
    head = (
        "",
        "Detectable with 80 % power at .05 over the tests that are adjusted together (items as "
        f"clusters, intra-item correlation {plan.icc:g} assumed, {plan.correlation:g} between the "
        "sides of an item):",
    )
    wanted = plan.wanted
    more = (f"items for {wanted:g}", f"samples for {wanted:g}") if wanted else ()
    twice = ("2 × items", "2 × samples")
    header = ("measure", "of", "items", "outputs each", "tests", "detectable", *twice, *more)
    rows = [_design_cells(row, with_needed=bool(wanted)) for row in plan.design]
    table = table_lines([header, *rows], 2, DESIGN_LAST, width)
    few = table[:FEW_ROWS]
    left = len(table) - len(few)
    yield part(
        [*head, *table], [*head[1:], *few], f"{left} more detectable differences" if left else "", 5
    )
    notes = list(_design_notes(plan))
    warnings = [line for line in notes if line.startswith("warning")]
    yield part(notes, warnings, "how to read them" if len(notes) > len(warnings) else "", 2)


def _stopping(plan: Plan, width: int) -> Iterator[Part]:
    """Yields the calls and findings of a run that stops early."""
    from ..api.stopping import sentences

    if plan.stopping is not None:
        head = sentences.heading(plan.stopping)
        rows = [*sentences.table(plan.totals, plan.wanted, plan.stopping)]
        table = table_lines(rows, 1, rows[0][-1:], width)
        told = [f"  {line}" for line in sentences.sentences(plan.totals, plan.stopping)]
        yield part(["", head, *table], [head], "what stopping early saves", 7)
        yield part(told, told[:1], "more on stopping early" if told[1:] else "", 2)


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
    from ..protocol import FEW_OUTPUTS

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
    """A sum of dollars; "?" stands for the models whose price is unknown."""
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
