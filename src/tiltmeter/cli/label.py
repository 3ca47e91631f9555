"""tiltmeter label RUN"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import click

from ..stats.results import count_of
from .options import Printing, as_json, batch, judge, reach, taxonomy

if TYPE_CHECKING:
    from ..api.options.records import LabelOptions

MOST_SHOWN = 20  # answers that are read otherwise than before


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
    "of its judges, and say what differs. Nobody is asked.",
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
        for one in changed[:MOST_SHOWN]:
            said, now = (
                ", ".join(f"{told[0]}={told[2]}" for told in each) or "nothing"
                for each in (one.before, one.now or ())
            )
            click.echo(visible(f"{one.output}  {one.annotator}  {said} → {now}"), err=True)
        number = count_of(len(changed), "answer")
        click.echo(f"{number} read otherwise than the run had them", err=True)
    with progress_line() as (watch, tallies):
        labelled = api.label(run, judge=judges, watch=watch, taxonomy=taxonomy, **options)
    return emit_results(labelled, Printing(as_json=as_json), tallies)
