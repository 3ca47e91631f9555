"""The Python API: the commands of the command line as functions, and the class `Run`. A name's
module is imported when the name is first used.
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
    "export_as",
    "export_audit",
    "export_crate",
    "export_every_eval_ever",
    "export_hugging_face",
    "export_inspect",
    "export_replies",
    "frame",
    "history",
    "import_gold",
    "import_outputs",
    "jobs",
    "label",
    "label_anew",
    "log_to_mlflow",
    "merge",
    "money",
    "open_run",
    "plan",
    "report",
    "run",
    "seal_folder",
    "sign_folder",
    "trials",
    "use_copy",
    "validate",
    "verify",
]

if TYPE_CHECKING:  # what editors and mypy see; `__getattr__` looks the same up
    from .handover.deposits import (
        check_folder,
        cite,
        export_audit,
        export_crate,
        seal_folder,
        sign_folder,
    )
    from .handover.exchange import (
        export,
        export_as,
        export_every_eval_ever,
        export_hugging_face,
        export_inspect,
        export_replies,
    )
    from .handover.trackers import log_to_mlflow
    from .planning.plan import plan, trials
    from .planning.plan_page import Plan
    from .recompute.verify import label_anew, verify
    from .runs import checks
    from .runs.batch_jobs import Job, cancel_jobs, jobs, money
    from .runs.checks import CheckResult, ThresholdCheck
    from .runs.execute import label, run
    from .runs.imports import draw_gold_sample, import_gold, import_outputs, merge, use_copy
    from .runs.progress import Watch
    from .runs.results import compare, history, validate
    from .runs.run_folder import Run, frame, open_run, report
else:
    _NAMES = {  # of each file
        "runs.batch_jobs": ("Job", "cancel_jobs", "jobs", "money"),
        "runs.checks": ("CheckResult", "ThresholdCheck"),
        "handover.deposits": (
            "check_folder",
            "cite",
            "export_audit",
            "export_crate",
            "seal_folder",
            "sign_folder",
        ),
        "handover.exchange": (
            "export",
            "export_as",
            "export_every_eval_ever",
            "export_hugging_face",
            "export_inspect",
            "export_replies",
        ),
        "runs.execute": ("label", "run"),
        "runs.imports": ("draw_gold_sample", "import_gold", "import_outputs", "merge", "use_copy"),
        "planning.plan_page": ("Plan",),
        "planning.plan": ("plan", "trials"),
        "runs.progress": ("Watch",),
        "runs.results": ("compare", "history", "validate"),
        "runs.run_folder": ("Run", "frame", "open_run", "report"),
        "handover.trackers": ("log_to_mlflow",),
        "recompute.verify": ("label_anew", "verify"),
    }
    _FILES = {name: file for file, names in _NAMES.items() for name in names}

    def __getattr__(name):
        if name == "checks":
            return import_module(".runs.checks", __name__)
        if name in _FILES:
            return getattr(import_module(f".{_FILES[name]}", __name__), name)
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
