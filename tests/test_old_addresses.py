"""What README and docs of version 0.1 told others to type or to import works for one version more."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tiltmeter.corpus", "tiltmeter.protocols.protext"),
        ("tiltmeter.models.serve", "tiltmeter.planted.server"),
    ],
)
def test_a_program_runs_from_its_old_address(old: str, new: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", old, "--help"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0 and done.stdout.startswith(f"usage: python -m {new} ")
    assert f"DeprecationWarning: python -m {old} is " in done.stderr and new in done.stderr


@pytest.mark.parametrize("old", ["tiltmeter.corpus", "tiltmeter.models.serve"])
def test_an_import_of_a_program_runs_nothing(old: str) -> None:
    sys.modules.pop(old, None)
    with pytest.warns(DeprecationWarning):
        importlib.import_module(old)


@pytest.mark.parametrize(
    ("old", "name", "new"),
    [("tiltmeter.models.connection", "Connection", "tiltmeter.models.http.connection")],
)
def test_a_moved_name_is_imported_with_a_warning(old: str, name: str, new: str) -> None:
    sys.modules.pop(old, None)
    with pytest.warns(DeprecationWarning, match=f"{old} is {new} now"):
        moved = getattr(importlib.import_module(old), name)
    assert moved is getattr(importlib.import_module(new), name)


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("tiltmeter.analyse.groups", ["Table"]),
        ("tiltmeter.errors", ["MissingKey"]),
        ("tiltmeter.models", ["FREE", "Model"]),
        ("tiltmeter.models.http", ["HttpModel", "HttpRequest"]),
        ("tiltmeter.protocol", ["MeasureSpec"]),
        ("tiltmeter.records", ["Estimate", "Message", "REFUSAL", "Reply", "Request", "Sampling"]),
        ("tiltmeter.stats", ["rates"]),
    ],
)
def test_what_the_pages_on_adding_printed_is_there(module: str, names: list[str]) -> None:
    importlib.import_module("tiltmeter.stats.rates")
    assert all(hasattr(importlib.import_module(module), name) for name in names)
