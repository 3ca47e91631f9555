"""tiltmeter analyse RUN"""

from __future__ import annotations

from dataclasses import dataclass

import click

from .options import as_json, fail_if, full, junit, label, receives, variant
from .values import ResultValues


@dataclass(frozen=True, kw_only=True)
class AnalyseValues(ResultValues):
    """What is typed after `analyse`."""

    run: str
    as_csv: bool


@click.command()
@click.argument("run", type=click.Path(file_okay=False))
@variant
@label
@full
@as_json
@fail_if
@junit
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV on standard output.")
@receives(AnalyseValues)
def command(typed: AnalyseValues) -> int:
    """Compute the estimates of a run again, and check thresholds.

    \b
    tiltmeter analyse run --full
    tiltmeter analyse run --variant published
    tiltmeter analyse run --fail-if "share_she > 0.6"
    """
    from .. import api
    from .output import emit_results

    printing = typed.printing(as_csv=typed.as_csv)
    return emit_results(api.open_run(typed.run), printing, {}, typed.fail_if)
