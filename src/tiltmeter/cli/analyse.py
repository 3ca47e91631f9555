"""tiltmeter analyse RUN"""

from __future__ import annotations

import click

from .options import as_json, fail_if, full, junit, variant


@click.command()
@click.argument("run", type=click.Path(file_okay=False))
@variant
@full
@as_json
@fail_if
@junit
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV on standard output.")
def command(
    run: str,
    variant: str,
    full: bool,
    as_json: bool,
    fail_if: tuple[str, ...],
    junit: str | None,
    as_csv: bool,
) -> int:
    """Compute the estimates of a run again."""
    from .. import api
    from .output import Printing, emit_results

    return emit_results(
        api.open_run(run), Printing(variant, as_json, as_csv, full=full, junit=junit), {}, fail_if
    )
