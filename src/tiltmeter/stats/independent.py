"""Two shares of independent outputs: their difference with an interval, and an exact test.

For groups that are levels of the design, without a sample of items: the outputs are the only
sample, so the test permutes outputs.
"""

from __future__ import annotations

import math

import numpy as np

from tiltmeter.stats import arguments
from tiltmeter.stats.results import Interval, Test
from tiltmeter.stats.wilson import wilson

METHOD = "newcombe"
TEST = "outputs shuffled (exact)"
_TIE = 1e-9  # of a difference of shares: what differs by less is a tie


def difference(
    *, successes_a: float, n_a: float, successes_b: float, n_b: float, confidence: float = 0.95
) -> Interval:
    """Computes the share in a less the share in b, each of independent outputs; range [-1, 1].

    Interval: from Wilson's limits of both (Newcombe 1998, Stat. Med. 17, method 10). By hand
    (Newcombe's example): 56/70 - 48/80 = .2, [.0524, .3339]. Value None if a side is empty.
    ``ValueError``: more successes than outputs.
    """
    n = float(n_a + n_b)
    if n_a == 0 or n_b == 0:
        return Interval(None, None, None, METHOD, confidence, n=n, note="a side without outputs")
    a, b = (
        wilson(x, m, confidence=confidence) for x, m in ((successes_a, n_a), (successes_b, n_b))
    )
    assert a.value is not None and b.value is not None
    d = a.value - b.value
    low = d - math.hypot(a.value - _end(a.low), _end(b.high) - b.value)
    high = d + math.hypot(_end(a.high) - a.value, b.value - _end(b.low))
    return Interval(d, low, high, METHOD, confidence, n=n)


def shuffled_difference(*, successes_a: int, n_a: int, successes_b: int, n_b: int) -> Test:
    """Tests if two shares differ, over all assignments of the outputs to the two sides, two-sided
    by the size of the difference.

    The successes of side a are hypergeometric, so p is exact. By hand: 2 of 2 against 0 of 2: 2 of
    the 6 assignments separate them fully, p = 1/3, the smallest possible. p is None if a side is
    empty. Raises ``ValueError`` for counts that are negative or above n.
    """
    counts = [
        arguments.number(name, value)
        for name, value in (
            ("successes_a", successes_a),
            ("n_a", n_a),
            ("successes_b", successes_b),
            ("n_b", n_b),
        )
    ]
    if min(counts) < 0 or successes_a > n_a or successes_b > n_b:
        raise ValueError("successes_a, successes_b: numbers from 0 to n_a, n_b expected")
    if n_a == 0 or n_b == 0:
        return Test(None, None, TEST, note="a side without outputs")
    hits = successes_a + successes_b
    x = np.arange(max(0, hits - n_b), min(n_a, hits) + 1)
    log = np.array([_log_choose(n_a, k) + _log_choose(n_b, hits - k) for k in x.tolist()])
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    gap = np.abs(x / n_a - (hits - x) / n_b)
    observed = abs(successes_a / n_a - successes_b / n_b)
    is_extreme = gap >= gap.max() - _TIE
    return Test(
        successes_a / n_a - successes_b / n_b,
        float(min(1.0, weight[gap >= observed - _TIE].sum())),
        TEST,
        smallest_p=float(weight[is_extreme].sum()),
    )


def _end(value: float | None) -> float:
    assert value is not None
    return value


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
