"""tiltmeter label RUN"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import click

from ..stats.results import count_of
from .options import Printing, as_json, batch, judge, reach, taxonomy

if TYPE_CHECKING:
    from ..api.options.records import LabelOptions

MOST_SHOWN = 20  # answers whose labels changed


@click.command()
@click.argument("run", type=click.Path(file_okay=False))
@judge
@taxonomy
@reach
@batch
@click.option(
    "--anew",
    is_flag=True,
    help="Read every stored answer again, with the protocol's instruments and the stored replies "
    "of its judges, and print the differences. Nobody is asked.",
)
@as_json
def command(
    run: str,
    judges: tuple[str, ...],
    taxonomy: str | None,
    anew: bool,
    as_json: bool,
    **options: Unpack[LabelOptions],
) -> int:
    """Label the outputs of a run again, or with another judge."""
    from .. import api
    from ..report.page_model.sanitize import visible
    from .output import emit_results
    from .progress import progress_line

    if anew:
        changed = api.label_anew(run)
        for answer in changed[:MOST_SHOWN]:
            before, now = (
                ", ".join(f"{label[0]}={label[2]}" for label in labels) or "nothing"
                for labels in (answer.before, answer.now or ())
            )
            click.echo(visible(f"{answer.output}  {answer.annotator}  {before} → {now}"), err=True)
        number = count_of(len(changed), "answer")
        click.echo(f"{number} now read differently", err=True)
    with progress_line() as (watch, tallies):
        labelled = api.label(run, judge=judges, watch=watch, taxonomy=taxonomy, **options)
    return emit_results(labelled, Printing(as_json=as_json), tallies)
