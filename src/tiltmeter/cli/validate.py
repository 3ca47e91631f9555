"""tiltmeter validate RUN, and tiltmeter validate RUN --sample N --sheet FILE"""

from __future__ import annotations

import click

from ..errors import UsageError
from ..stats.results import count_of
from .json_output import echo_json
from .options import as_json, full_text


@click.command()
@click.argument("run", type=click.Path(file_okay=False))
@click.option(
    "--sample",
    "number",
    type=click.IntRange(1),
    help="The number of outputs to draw for people to annotate.",
)
@click.option(
    "--sheet",
    type=click.Path(dir_okay=False),
    help="The file to write them to: CSV, or JSON lines (.jsonl).",
)
@click.option(
    "--attribute",
    default="",
    help="The attribute to annotate, '*' for all with a closed list; by default the headline "
    "measure's.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the sample.")
@full_text
@as_json
def command(
    run: str,
    number: int | None,
    sheet: str | None,
    attribute: str,
    seed: int,
    full: bool,
    as_json: bool,
) -> int:
    """Compare judges with people; draw outputs for people to label. Errors are given by class and
    condition.

    \b
    tiltmeter validate run --sample 100 --sheet sheet.csv
    tiltmeter import gold run sheet.csv
    tiltmeter validate run
    """
    if (number is None) != (sheet is None):
        usual = f"--sample {number or 100} --sheet {sheet or 'sheet.csv'}"
        raise UsageError(
            "--sample (how many outputs) and --sheet (the file to write) must be given together. "
            f"Type: tiltmeter validate {run} {usual}"
        )
    if number is not None and sheet is not None:
        return _sample(run, number, sheet, attribute, seed)
    return _validate(run, as_json, full)


def _sample(run: str, number: int, sheet: str, attribute: str, seed: int) -> int:
    from .. import api

    gold = api.draw_gold_sample(run, number, sheet, attribute=attribute, seed=seed)
    within = f", within {' × '.join(gold.by)}" if gold.by else ""
    outputs = gold.random + gold.disagreeing
    rows = f" in {count_of(len(gold.rows), 'row')}" if len(gold.rows) > outputs else ""
    click.echo(
        f"{sheet}: {outputs} outputs{rows}; {gold.random} at random{within}, {gold.disagreeing} "
        "on which annotators disagree"
    )
    listed = (
        f"The values of {gold.attribute}: {', '.join(gold.values)}"
        if gold.values
        else "The possible values of each row are in its column 'values'"
    )
    click.echo(f"Fill in 'value' and 'annotator'. {listed}")
    click.echo(f"Then: tiltmeter import gold {run} {sheet}")
    return 0


def _validate(run: str, as_json: bool, full: bool) -> int:
    from rich.console import Console

    from .. import api
    from ..report.render import terminal
    from ..report.tables import judges
    from .output import emit_warnings

    validation = api.validate(run)
    for card in validation.cards:
        emit_warnings(card.warnings)
    if as_json:
        echo_json(validation.as_dict())
    else:
        for attribute, reasons in validation.skipped.items():
            click.echo(
                f"{attribute}: people skipped "
                f"{', '.join(f'{number} ({why})' for why, number in reasons.items())}"
            )
        terminal.print_tables(list(judges.tables(validation)), Console(), full)
    return 0
