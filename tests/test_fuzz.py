"""Some hundred changed cases of all that comes from outside (100,000 each: benchmarks/fuzz.py)."""

from __future__ import annotations

from tests.benchmark import benchmark


def test_what_comes_from_outside_raises_clean_errors_only() -> None:
    found = benchmark("fuzz").measure(cases=80)
    assert len(found) >= 30
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
