"""The verbs from Python: what the command line does, as functions, and a `Run`. A name's file is
imported when the name is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:  # what editors and mypy see; `__getattr__` looks the same up
    from . import checks
    from .batch_jobs import Job, cancel_jobs, jobs
    from .checks import CheckResult, ThresholdCheck
    from .deposits import check_folder, cite, export_audit, export_crate, seal_folder
    from .exchange import export_every_eval_ever, export_hugging_face, export_inspect
    from .execute import label, run
    from .imports import draw_gold_sample, import_gold, import_outputs
    from .merges import merge
    from .plan_model import Plan
    from .plans import plan, trials
    from .progress import Watch
    from .results import compare, export, history, validate
    from .run_folder import Run, frame, open_run, report
    from .trackers import log_to_mlflow
else:
    _NAMES = {  # of each file
        "batch_jobs": ("Job", "cancel_jobs", "jobs"),
        "checks": ("CheckResult", "ThresholdCheck"),
        "deposits": ("check_folder", "cite", "export_audit", "export_crate", "seal_folder"),
        "exchange": ("export_every_eval_ever", "export_hugging_face", "export_inspect"),
        "execute": ("label", "run"),
        "imports": ("draw_gold_sample", "import_gold", "import_outputs"),
        "merges": ("merge",),
        "plan_model": ("Plan",),
        "plans": ("plan", "trials"),
        "progress": ("Watch",),
        "results": ("compare", "export", "history", "validate"),
        "run_folder": ("Run", "frame", "open_run", "report"),
        "trackers": ("log_to_mlflow",),
    }
    _FILES = {name: file for file, names in _NAMES.items() for name in names}

    def __getattr__(name):
        if name == "checks":
            return import_module(".checks", __name__)
        if name in _FILES:
            return getattr(import_module(f".{_FILES[name]}", __name__), name)
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
