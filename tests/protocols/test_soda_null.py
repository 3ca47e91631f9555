"""Where nothing is planted nothing is found beyond the stated error; attributes chosen on what is tested find too much."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ANALYSES = {"held out": 500, "the same": 500, "all the same": 100}


@pytest.fixture(scope="module")
def discovery() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "discovery.py"
    spec = importlib.util.spec_from_file_location("benchmark_discovery", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_held_out_discovery_keeps_the_error_and_the_same_pictures_do_not(
    discovery: ModuleType,
) -> None:
    """The bound is .05 and two standard errors: .07 of 500. Of `all the same` .28 are asked for and half are found: 100 will do."""
    found = {way: discovery.rates(way, ANALYSES[way]) for way in discovery.WAYS}
    allowed = discovery.allowed(ANALYSES["held out"])
    assert max(found["held out"].values()) <= allowed
    assert found["the same"]["bds"] > found["held out"]["bds"]
    assert min(found["all the same"].values()) > 4 * allowed
