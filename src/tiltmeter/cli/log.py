"""tiltmeter log RUN --to mlflow"""

from __future__ import annotations

import click

from .options import variant


@click.command()
@click.argument("run", type=click.Path(file_okay=False))
@click.option(
    "--to",
    type=click.Choice(["mlflow"]),
    default="mlflow",
    show_default=True,
    help="The tracker; mlflow writes to where MLFLOW_TRACKING_URI points.",
)
@click.option(
    "--experiment",
    default="tiltmeter",
    show_default=True,
    help="The tracker's experiment for the run; made if it does not exist.",
)
@click.option("--with-texts", is_flag=True, help="Log the report with answers and pictures.")
@variant
def command(run: str, to: str, experiment: str, with_texts: bool, variant: str) -> None:
    """Hand a run to a tracker of experiments (MLflow). Metrics with limits, tables, the report."""
    from ..api.handover import trackers

    for key in trackers.log_to_mlflow(
        run, experiment=experiment, texts=with_texts, variant=variant
    ):
        click.echo(f"{to}: run {key} of experiment {experiment}")
