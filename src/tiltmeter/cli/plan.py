"""tiltmeter plan PROTOCOL --model M [--judge J]"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..protocol.thin_design import thin_design
from ..stats.results import count_of
from .options import (
    as_json,
    batch,
    choices,
    fail_if,
    full,
    judge,
    junit,
    label,
    reach,
    receives,
    stop,
    taxonomy,
    variant,
)
from .values import AuditValues

if TYPE_CHECKING:
    from ..api import Plan
    from ..api.options import PlanOptions
    from ..stages.connect import KnownModel
    from ..stages.cost import Line
    from ..stages.power import Detectable


@dataclass(frozen=True, kw_only=True)
class PlanValues(AuditValues):
    """What is typed after `plan`."""

    detect: float | None
    icc: float | None
    trials: str | None
    out: str | None  # as for run; nothing is written there
    stop: bool | None


@click.command()
@click.argument("protocol")
@choices
@judge
@click.option(
    "--detect",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="A difference in shares (0.05 is 5 points): how many items or samples it takes.",
)
@click.option(
    "--icc",
    type=click.FloatRange(0, 1),
    help="How alike outputs of one item are, 0 to 1.  [default: 0.2]",
)
@taxonomy
@click.option(
    "--out",
    type=click.Path(file_okay=False),
    help="As for run; nothing is written there.",
)
@stop
@reach
@batch
@variant
@label
@fail_if
@junit
@full
@click.option(
    "--trials",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write the trials as CSV: trial (its id), subject, mode, sample, prompt, factors, item.",
)
@as_json
@receives(PlanValues)
def command(typed: PlanValues) -> None:
    """What a run would ask and cost, and what it could detect, before it does: the options of run,
    and some more.
    """
    from .. import api, registry
    from ..analyse.model_labels import given_names
    from .output import refuse_thresholds

    declared = registry.protocol(typed.protocol)
    if typed.fail_if:
        refuse_thresholds(declared, typed.fail_if)
    options: PlanOptions = {
        **typed.choice_options(),
        **typed.connect_options(),
        **typed.batch_options(),
    }
    if typed.trials:
        _write_trials(typed.trials, api.trials(typed.protocol, typed.models, **options))
    plan = api.plan(
        typed.protocol,
        typed.models,
        judge=typed.judges,
        detect=typed.detect,
        icc=typed.icc,
        stop=typed.stop,
        **options,
    )
    if typed.labels:
        names = given_names(dict(typed.labels), (*typed.models, *typed.judges))
        calls = (replace(one, model=names.get(one.model, one.model)) for one in plan.calls)
        plan = replace(plan, calls=tuple(calls))
    if typed.as_json:
        click.echo(json.dumps({"schema": 1, **plan.as_dict()}, ensure_ascii=False, indent=1))
    else:
        _print_plan(plan, thin_design(declared))


def _print_plan(plan: Plan, thin: Sequence[str]) -> None:
    _print_trials(plan)
    _print_money(plan)
    _print_calls(plan)
    _print_models(plan.models)
    for line in plan.misfits:
        click.echo(f"warning: a run is refused: {line}")
    for line in thin:
        click.echo(f"warning: {line}")
    for line in plan.waiting:
        click.echo(f"waiting: {line}")
    _print_design(plan)
    _print_stopping(plan)


def _write_trials(path: str, rows: Iterator[dict[str, str]]) -> None:
    """The rows as CSV in UTF-8. Cells that a spreadsheet would take for formulas get a quote."""
    from ..gold.sheet import guard_formula

    first = next(rows)
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(map(guard_formula, first))
        for row in chain([first], rows):
            table.writerow(map(guard_formula, row.values()))


def _print_trials(plan: Plan) -> None:
    aside = (
        f", and {plan.for_discovery:,} aside of them that are not measured"
        if plan.for_discovery
        else ""
    )
    click.echo(f"{plan.protocol} {plan.version}: {count_of(plan.trials, 'trial')}{aside}")
    if plan.prompts:
        numbers = (f"{number:,} {level}" for level, number in plan.prompts.items())
        click.echo(f"prompts: {', '.join(numbers)}")
    for other in plan.others:
        fewer = plan.trials - other["trials"]
        change = f", {abs(fewer):,} {'fewer' if fewer > 0 else 'more'}" if fewer else ""
        click.echo(
            f"with --where {other['factor']}={other['level']}: {other['trials']:,} trials{change}"
        )


def _print_money(plan: Plan) -> None:
    """What it is expected to cost, and when the worst could happen."""
    total = plan.totals
    if not total["cost"] and not total["price_unknown"]:
        return
    line = f"cost: about ${_sum(total['cost'], total['price_unknown'])}"
    most = _sum(total["cost_most"], total["price_unknown"])
    click.echo(
        f"{line}. At the very most ${most}: if every answer ran to its limit of tokens, every "
        "byte were a token and every judge asked all its rounds. --max-cost holds a run below "
        "what you name."
    )


def _print_calls(plan: Plan) -> None:
    header = ("model", "part", "mode", "calls", "tokens in", "tokens out ≤", "$ about", "$ most")
    total = plan.totals
    sums = (
        "in all",
        "",
        "",
        _range(total["calls"], total["calls_most"]),
        f"{total['prompt_tokens']:,}",
        f"{total['completion_tokens']:,}",
        _sum(total["cost"], total["price_unknown"]),
        _sum(total["cost_most"], total["price_unknown"]),
    )
    _print_table([header, *map(_cells, plan.calls), sums], left=3)
    click.echo(f"  {plan.rule}")
    for name in total["price_unknown"]:
        click.echo(
            f"  the price of {name} is unknown and not in the sum. Add for instance: --price "
            f"{name}=2.5/10"
        )


def _cells(line: Line) -> tuple[str, ...]:
    """One model in one part, as a row of the table of calls."""
    return (
        line.model,
        "subject" if line.part == "subject" else line.part.partition("/")[0],
        line.mode,
        _range(line.calls, line.calls_most),
        f"{line.prompt_tokens:,}",
        f"{line.completion_tokens:,}",
        _money(line.cost),
        _money(line.cost_most),
    )


def _print_models(models: Iterable[KnownModel]) -> None:
    for model in models:
        if model["retired"]:
            click.echo(
                f"warning: {model['name']} was retired on {model['retires_on']}: a run is "
                "refused, unless --base-url names a server that still has it"
            )
        elif model["soon"]:
            click.echo(
                f"warning: {model['name']} ends on {model['retires_on']}: nobody can repeat the "
                "run after that"
            )
        elif model["retires_on"]:
            click.echo(f"{model['name']} ends on {model['retires_on']}")
        if "batch" in model:
            click.echo(f"{model['name']}: {model['batch']}")
        if "price_date" in model:
            click.echo(
                f"{model['name']}: price as of {model['price_date']}, {model['price_source']}"
            )


def _print_design(plan: Plan) -> None:
    """The table of detectable differences, and what to know to read it."""
    if not plan.design:
        click.echo(
            f"{plan.protocol} has no headline measure, so no detectable difference is worked out."
        )
        return
    click.echo(
        "\nDetectable with 80 % power at .05 over the tests that are adjusted together (items as "
        f"clusters, intra-item correlation {plan.icc:g} assumed):"
    )
    wanted = plan.wanted
    more = (f"items for {wanted:g}", f"samples for {wanted:g}") if wanted else ()
    twice = ("2 × items", "2 × samples")
    header = ("measure", "of", "items", "outputs each", "tests", "detectable", *twice, *more)
    rows = [_design_cells(row, with_needed=bool(wanted)) for row in plan.design]
    _print_table([header, *rows], left=2)
    for note in _design_notes(plan):
        click.echo(note)


def _print_stopping(plan: Plan) -> None:
    """What a run that stops early would ask and find."""
    from ..api import stopped_sentences

    if plan.stopping is not None:
        click.echo(f"\n{stopped_sentences.heading(plan.stopping)}")
        _print_table([*stopped_sentences.table(plan, plan.stopping)], left=1)
        for line in stopped_sentences.sentences(plan, plan.stopping):
            click.echo(f"  {line}")


def _design_cells(row: Detectable, with_needed: bool) -> tuple[str, ...]:
    value = "–" if row.detectable is None else f"{row.detectable:.3f} {row.unit}"
    twice = tuple(
        "" if one is None else f"{one:.3f}" for one in (row.twice_items, row.twice_samples)
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
        if row.detectable is None and row.note:
            yield f"  {row.measure}, {_place(row)}: {row.note}"
    if any(row.twice_items is not None for row in plan.design):
        yield "  2 × items, 2 × samples: what twice the calls would find, spent on one or the other"
    if any(row.clusters is None for row in plan.design):
        yield (
            "  items –: outputs are what is sampled there, each by itself, of a group or of a side"
        )
    sizes = [row.per_cluster for row in plan.design if row.unit == "bits"]
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


def _print_table(rows: Sequence[tuple[str, ...]], left: int) -> None:
    """Rows under a header, columns as wide as they need; the first `left` columns are words, the
    rest numbers.
    """
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for row in rows:
        cells = [
            text.ljust(width) if place < left else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        click.echo(("  " + "  ".join(cells)).rstrip())
