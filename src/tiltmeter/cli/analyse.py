"""tiltmeter analyse RUN"""

from __future__ import annotations

import click

from .options import Printing, as_json, fail_if, full, junit, label, prints, variant


@click.command()
@click.argument("run", type=click.Path(file_okay=False))
@variant
@label
@full
@as_json
@fail_if
@junit
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV on standard output.")
@prints
def command(run: str, printing: Printing) -> int:
    """Compute the estimates of a run again, and check thresholds.

    \b
    tiltmeter analyse run --full
    tiltmeter analyse run --variant published
    tiltmeter analyse run --fail-if "share_she > 0.6"
    """
    from .. import api
    from .output import emit_results

    return emit_results(api.open_run(run), printing)
