"""Rankings of names that recur, on the release that the article's table is made of."""

from __future__ import annotations

from pathlib import Path

import pytest

import tiltmeter

RELEASE = Path(__file__).parents[4] / "shared" / "data" / "hiring" / "rankings.jsonl.xz"
# group: difference in points with its ends over line-ups and names, adjusted p over line-ups alone
# and over both, of GPT-3.5. Those over line-ups alone are of sampled sign flips: 82,000
# since hiring 4 tests all eight places. 68,000 gave .024, .048, .158, .158 (as the report had it), of
# the same 3,999 rankings with the same differences.
TABLE = {
    "Asian women": (2.15, 0.70, 3.61, 0.023, 0.032),
    "Black men": (-1.75, -3.05, -0.44, 0.050, 0.182),
    "Hispanic women": (1.65, 0.16, 3.15, 0.157, 0.229),
    "White men": (-1.42, -2.85, 0.01, 0.157, 0.492),
}


@pytest.mark.skipif(
    not RELEASE.exists(), reason="the published rankings are not beside the checkout"
)
def test_published_rankings_over_line_ups_and_names(tmp_path: Path) -> None:
    run = tiltmeter.import_outputs("hiring", RELEASE, tmp_path / "run")
    found = {
        row.condition["first"]: row
        for row in run.analyse()
        if row.measure == "from_even" and "job" not in row.condition and "3.5" in row.subject
    }
    for group, (value, low, high, before, after) in TABLE.items():
        row = found[group]
        assert 100 * (row.value or 0) == pytest.approx(value, abs=0.01)
        assert 100 * (row.low or 0) == pytest.approx(low, abs=0.01)
        assert 100 * (row.high or 0) == pytest.approx(high, abs=0.01)
        assert row.population is not None and row.population["words"] == (100,)
        assert row.population["p_these_adjusted"] == pytest.approx(before, abs=0.001)
        assert row.p_adjusted == pytest.approx(after, abs=0.001)
