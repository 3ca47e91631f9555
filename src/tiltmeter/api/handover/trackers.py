"""Logs a finished run in an experiment tracker."""

from __future__ import annotations

import tempfile
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import UsageError
from ...store import now
from ...store.queries import trials
from .outgoing import Outgoing, outgoing

if TYPE_CHECKING:
    from mlflow import MlflowClient

EXPERIMENT = "tiltmeter"


def log_to_mlflow(
    folder: Path | str,
    *,
    experiment: str = EXPERIMENT,
    texts: bool = False,
    variant: str = "default",
) -> list[str]:
    """Logs each model of a run as a run of MLflow, at MLFLOW_TRACKING_URI: headline claims as
    metrics with limits, all estimates as a table, the report as a file, verdicts and signatures as
    tags. Returns the ids of MLflow's runs. texts: True to include answers and pictures in the
    report.

    Raises UsageError if MLflow is not installed."""
    try:
        mlflow = import_module("mlflow")
    except ModuleNotFoundError:
        raise UsageError(
            "tiltmeter log --to mlflow needs MLflow. Type: pip install mlflow-skinny"
        ) from None
    client = mlflow.MlflowClient()
    with outgoing(folder, variant) as run:
        experiment_id = _experiment(client, experiment)
        return [
            _log_subject(client, experiment_id, run, subject, texts, variant)
            for subject in trials.subjects(run.store)
        ]


def _experiment(client: MlflowClient, name: str) -> str:
    """Returns the id of an experiment, creating the experiment if it does not exist."""
    existing = client.get_experiment_by_name(name)
    return str(existing.experiment_id if existing else client.create_experiment(name))


def _log_subject(
    client: MlflowClient, experiment: str, run: Outgoing, subject: str, texts: bool, variant: str
) -> str:
    from ...formats import tracked
    from ...report.page_model.page import alone
    from ...report.render import html

    claims, name = run.claims(subject), run.hide(subject)
    begun, ended = _milliseconds(run.begun), _milliseconds(run.ended)
    created = client.create_run(
        experiment,
        start_time=begun,
        tags=tracked.tags(claims),
        run_name=f"{run.protocol.name} {name}",
    )
    key = str(created.info.run_id)
    for parameter, value in tracked.settings(run.protocol, name, variant).items():
        client.log_param(key, parameter, value)
    for metric, number in tracked.metrics(claims).items():
        client.log_metric(key, metric, number, timestamp=ended)
    client.log_dict(key, tracked.table(run.of(subject)), "estimates.json")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        html.write_html(alone(run.content(texts)), path)
        client.log_artifact(key, str(path))
    client.set_terminated(key, end_time=ended)
    return key


def _milliseconds(moment: str) -> int:
    """Converts an ISO 8601 time to Unix milliseconds; "" means now."""
    return int(datetime.fromisoformat(moment or now()).timestamp() * 1000)
