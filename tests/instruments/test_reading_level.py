"""The automated readability index, by hand."""

from __future__ import annotations

import math

import pytest

from tiltmeter.instruments.reading_level import reading_level
from tiltmeter.stats.means import geometric_ratio


def test_by_hand() -> None:
    found = reading_level("The cat sat. It purred.")
    assert found is not None and math.isclose(found, 4.71 * 17 / 5 + 0.5 * 5 / 2 - 21.43)
    assert reading_level("…") is None


def test_the_geometric_ratio_by_hand() -> None:
    """d = (ln 2, ln 8): exp of their mean is 4; s = ln 2·√2, so ± t(1)·ln 2 on the log scale."""
    found = geometric_ratio(sums_a=[20, 80], n_a=[1, 1], sums_b=[10, 10], n_b=[1, 1])
    assert found.value == pytest.approx(4) and found.low is not None and found.high is not None
    assert math.log(found.high / 4) == pytest.approx(12.7062 * math.log(2), rel=1e-4)
