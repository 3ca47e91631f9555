"""The verbs from Python: what the command line does, as functions, and a `Run`."""

from . import checks
from .checks import CheckResult, ThresholdCheck
from .deposits import check_folder, cite, export_audit, export_crate, seal_folder
from .exchange import export_every_eval_ever, export_hugging_face, export_inspect
from .execute import label, run
from .imports import draw_gold_sample, import_gold, import_outputs
from .jobs import Job, cancel_jobs, jobs
from .merges import merge
from .plan_model import Plan
from .plans import plan, trials
from .progress import Watch
from .results import compare, export, history, validate
from .run_folder import Run, frame, open_run, report
from .trackers import log_to_mlflow

__all__ = [
    "CheckResult",
    "Job",
    "Plan",
    "Run",
    "ThresholdCheck",
    "Watch",
    "cancel_jobs",
    "check_folder",
    "checks",
    "cite",
    "compare",
    "draw_gold_sample",
    "export",
    "export_audit",
    "export_crate",
    "export_every_eval_ever",
    "export_hugging_face",
    "export_inspect",
    "frame",
    "history",
    "import_gold",
    "import_outputs",
    "jobs",
    "label",
    "log_to_mlflow",
    "merge",
    "open_run",
    "plan",
    "report",
    "run",
    "seal_folder",
    "trials",
    "validate",
]
