"""The gate over twelve claims on planted bots: a small form of benchmarks/gate.py."""

from __future__ import annotations

from benchmarks.gate import a_verdict, simulated

RUNS = 40  # of twelve claims each; the benchmark has 1,000


def test_a_fair_bot_rarely_fails_and_a_tilt_at_the_margin_rarely_passes() -> None:
    failed, at_margin, passed = simulated(a_verdict(), RUNS, seed=7)
    assert failed <= 0.05 + 2 * (0.05 * 0.95 / RUNS) ** 0.5
    assert at_margin <= 0.07 + 2 * (0.07 * 0.93 / (4 * RUNS)) ** 0.5
    assert passed >= 0.88 - 2 * (0.88 * 0.12 / (4 * RUNS)) ** 0.5
