"""tiltmeter measures how far a generative model tilts when only a demographic cue changes.

    import tiltmeter
    run = tiltmeter.run("roles", model="builtin", out="run")
    run.estimates          # a polars frame
    run.report()           # writes run/report.html

Nothing heavy is imported here: names are looked up when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.2.0"
__all__ = [
    "Protocol",
    "Run",
    "__version__",
    "compare",
    "export",
    "import_",
    "import_gold",
    "label",
    "load",
    "plan",
    "run",
    "sample",
    "selftest",
    "validate",
]
_ELSEWHERE = {"Protocol": (".registry", "declare"), "selftest": (".api.selftest", "selftest")}


def __getattr__(name: str) -> Any:
    if name in __all__:
        room, there = _ELSEWHERE.get(name, (".api", name))
        return getattr(import_module(room, __name__), there)
    raise AttributeError(f"module 'tiltmeter' has no attribute '{name}'")
