"""tiltmeter plan PROTOCOL --model M [--judge J]"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from ..display.document import Block
from ..protocol.design.thin_design import lost_letters, thin_design
from .fitting import echo_parts, parts_of, table_width
from .json_output import echo_json
from .options import (
    Printing,
    as_json,
    batch,
    choices,
    data,
    gathers,
    judge,
    prints,
    reach_of_plan,
    results,
    stop,
    taxonomy_of_plan,
    variant,
)

if TYPE_CHECKING:
    from ..api import Plan
    from ..api.options.records import PlanOptions
    from ..protocol import Protocol


@dataclass(frozen=True, slots=True)
class Assumptions:
    """The assumed correlations and the difference to detect; None for defaults."""

    detect: float | None
    icc: float | None
    correlation: float | None


@click.command()
@click.argument("protocol")
@choices
@data
@judge
@click.option(
    "--detect",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="A difference in shares (0.05 is 5 points): print the items or samples that it takes.",
)
@click.option(
    "--icc",
    type=click.FloatRange(0, 1),
    help="Correlation between outputs of one item, 0 to 1.  [default: 0.2]",
)
@click.option(
    "--correlation",
    type=click.FloatRange(0, 1),
    help="Correlation between an item's shares at two levels, 0 to 1.  [default: 0.8]",
)
@taxonomy_of_plan
@click.option(
    "--out",
    type=click.Path(file_okay=False),
    expose_value=False,
    help="As for run; nothing is written there.",
)
@stop
@reach_of_plan
@batch
@variant
@results
@click.option(
    "--trials",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write the trials as CSV: trial (its id), subject, mode, sample, prompt, factors, item.",
)
@as_json
@prints
@gathers("assumed", Assumptions)
def command(
    protocol: str,
    models: tuple[str, ...],
    judges: tuple[str, ...],
    data: Path | None,
    assumed: Assumptions,
    trials: str | None,
    printing: Printing,
    **options: Unpack[PlanOptions],
) -> None:
    """Plan a run: its calls, its cost, the tilts it could find. Nothing is asked and no key is
    needed; it takes the options of run, and some more.

    \b
    tiltmeter plan roles --model openai:gpt-4.1-mini --language en
    """
    from .. import api, registry
    from ..analyse.words.short_model_names import given_names
    from .output import refuse_gates

    if data is not None:
        api.use_copy(protocol, data)
    declared = registry.protocol(protocol)
    refuse_gates(declared, printing)
    if trials:
        _write_trials(trials, api.trials(protocol, models, **options))
    plan = api.plan(
        protocol,
        models,
        judge=judges,
        **asdict(assumed),
        variant=printing.variant,
        **options,
    )
    if printing.labels:
        names = given_names(dict(printing.labels), (*models, *judges))
        calls = (replace(line, model=names.get(line.model, line.model)) for line in plan.calls)
        plan = replace(plan, calls=tuple(calls))
    _print_plan(plan, declared, printing)


def _print_plan(plan: Plan, declared: Protocol, printing: Printing) -> None:
    """Prints the plan as JSON or text, with the chances at the gate if a margin is given."""
    document, gate = plan.document([*thin_design(declared), *lost_letters(declared)]), {}
    if printing.margin is not None:
        from ..api.planning import gate_chances

        chances = gate_chances.chances(plan, declared, printing.margin)
        gate = {"gate": [asdict(chance) for chance in chances]}
        if lines := list(gate_chances.lines(chances)):
            block = Block(lines=lines, brief=range(len(lines)), weight=8)
            document = replace(document, blocks=[*document.blocks, block])
    if printing.as_json:
        echo_json({**plan.as_dict(), **gate}, indent=1)
    else:
        echo_parts(parts_of(document, table_width(printing.full)), printing.full)


def _write_trials(path: str, rows: Iterator[dict[str, str]]) -> None:
    """Writes rows as CSV in UTF-8. Cells that a spreadsheet would take for formulas get a quote."""
    from ..gold.sheet import guard_formula

    first = next(rows)
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(map(guard_formula, first))
        for row in chain([first], rows):
            table.writerow(map(guard_formula, row.values()))
