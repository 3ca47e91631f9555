"""tiltmeter measures how far a generative model tilts when only a demographic cue changes.

    import tiltmeter
    run = tiltmeter.run("roles", model="builtin", out="run")
    run.estimates          # a polars frame
    run.warnings()         # what to know before they are trusted
    run.report()           # writes run/report.html

Nothing heavy is imported here: names are looked up when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from .records import __version__

__all__ = [
    "Plan",
    "Protocol",
    "Run",
    "__version__",
    "compare",
    "draw_gold_sample",
    "export",
    "import_gold",
    "import_outputs",
    "label",
    "load_protocol",
    "merge",
    "open_run",
    "plan",
    "run",
    "selftest",
    "use_copy",
    "validate",
]

if TYPE_CHECKING:  # what editors and mypy see; `__getattr__` looks the same up
    from .api import (
        Plan,
        Run,
        compare,
        draw_gold_sample,
        export,
        import_gold,
        import_outputs,
        label,
        merge,
        open_run,
        plan,
        run,
        use_copy,
        validate,
    )
    from .api.check.selftest import selftest
    from .protocol import Protocol
    from .registry import protocol as load_protocol
else:
    _ELSEWHERE = {
        "Protocol": (".registry", "Protocol"),
        "load_protocol": (".registry", "protocol"),
        "selftest": (".api.check.selftest", "selftest"),
    }
    _RENAMED = {"load": "open_run", "import_": "import_outputs", "sample": "draw_gold_sample"}

    def __getattr__(name):
        if name in _RENAMED:
            import warnings

            text = f"tiltmeter.{name} is tiltmeter.{_RENAMED[name]} now"
            warnings.warn(text, DeprecationWarning, stacklevel=2)
            name = _RENAMED[name]
        if name in __all__:
            room, attribute = _ELSEWHERE.get(name, (".api", name))
            return getattr(import_module(room, __name__), attribute)
        raise AttributeError(f"module 'tiltmeter' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
