"""The control law of a model's window, against servers that live in these lines: a clock that jumps
from event to event, no loop, no socket.
"""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Callable
from itertools import count

import pytest

from tiltmeter.stages.engine.window import FIRST_SIZE, Window

LATENCY_S, REFUSAL_S = 0.3, 0.02
Server = Callable[[float, int], float | None]  # (time, in flight) → latency, None if it refuses


def bucket(rate: float) -> Server:
    """Takes `rate` calls a second, and as many at once that were not used before."""
    tokens, then = rate, 0.0

    def take(now: float, in_flight: int) -> float | None:
        nonlocal tokens, then
        tokens, then = min(rate, tokens + (now - then) * rate), now
        if tokens < 1:
            return None
        tokens -= 1
        return LATENCY_S

    return take


def any_second(rate: int) -> Server:
    """Takes `rate` calls in any second."""
    taken: deque[float] = deque()

    def take(now: float, in_flight: int) -> float | None:
        while taken and taken[0] <= now - 1:
            taken.popleft()
        if len(taken) >= rate:
            return None
        taken.append(now)
        return LATENCY_S

    return take


def knee(places: int) -> Server:
    """Slows down in proportion beyond so many calls in flight."""
    return lambda now, in_flight: LATENCY_S * max(1.0, in_flight / places)


def full_beyond(places: int) -> Server:
    """Refuses what comes beyond so many calls in flight."""
    return lambda now, in_flight: LATENCY_S if in_flight <= places else None


def away(since: float, until: float) -> Server:
    """Refuses everything for a while."""
    return lambda now, in_flight: None if since <= now < until else LATENCY_S


def drive(
    window: Window, server: Server, calls: int, retry_after: float | None = None
) -> tuple[float, float, float]:
    """Seconds until all calls are answered, the share of requests that was refused, and the longest
    time without a request.
    """
    chance, numbers = random.Random(1), count()
    events: list[tuple[float, int, str, float]] = []
    now, left, answered, refused, sent, longest = 0.0, calls, 0, 0, 0.0, 0.0
    taken = 0  # in flight at the server
    while answered < calls:
        while left and window.has_place:
            delay = window.delay(now)
            if delay > 1e-9:
                heapq.heappush(events, (now + delay, next(numbers), "wake", 0.0))
                break
            began, left = window.begin(now), left - 1
            longest, sent = max(longest, now - sent), now
            latency = server(now, taken + 1)
            taken += latency is not None
            lasts = REFUSAL_S if latency is None else latency * chance.uniform(0.5, 1.5)
            kind = "refused" if latency is None else "answered"
            heapq.heappush(events, (now + lasts, next(numbers), kind, began))
        now, _, kind, began = heapq.heappop(events)
        if kind == "answered":
            window.answered(began, now)
            window.leave()
            answered, taken = answered + 1, taken - 1
        elif kind == "refused":
            window.refused(began, now, retry_after)
            refused, left = refused + 1, left + 1
    return now, refused / (calls + refused), longest


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("make", "rate", "retry_after", "ideal_s"),
    [
        (bucket, 40, None, 48.0),
        (any_second, 40, None, 49.0),
        (bucket, 50, 1.0, 38.2),
        (any_second, 50, 1.0, 39.2),
    ],
)
def test_calls_per_second_are_found_out(
    make: Callable[[int], Server], rate: int, retry_after: float | None, ideal_s: float, seed: int
) -> None:
    random.seed(seed)
    seconds, refused, _ = drive(Window(FIRST_SIZE, 256), make(rate), 1960, retry_after)
    assert seconds <= 1.15 * ideal_s and refused <= 0.03


def test_a_size_is_found_by_latency() -> None:
    window = Window(FIRST_SIZE, 256)
    seconds, refused, _ = drive(window, knee(32), 20_000 // 8)
    assert refused == 0 and seconds <= 1.2 * (20_000 / 8) / (32 / LATENCY_S)
    assert window.size <= 64


def test_places_are_found_out_by_refusals() -> None:
    random.seed(1)
    seconds, refused, _ = drive(Window(FIRST_SIZE, 256), full_beyond(20), 4000)
    assert seconds <= 1.5 * 4000 / (20 / LATENCY_S) and refused <= 0.05


def test_a_server_without_limits_gets_all_that_is_allowed() -> None:
    window = Window(FIRST_SIZE, 100)
    drive(window, knee(10_000), 2000)
    assert window.size == 100 and window.limit(1e9) in ("--concurrency", "")


def test_a_server_that_is_full_for_two_minutes_is_asked_ever_less_and_then_as_before() -> None:
    random.seed(1)
    window = Window(FIRST_SIZE, 64)
    seconds, refused, longest = drive(window, away(10.0, 130.0), 4000)
    ideal_s = 120 + 4000 / (64 / LATENCY_S)
    assert seconds <= 1.6 * ideal_s
    assert refused <= 0.03  # one look after each wait, when the first have been refused
    assert 30 <= longest <= 62


def test_a_date_is_kept_exactly() -> None:
    window = Window(4, 4)
    began = [window.begin(0.0) for _ in range(3)]
    assert window.refused(began[0], 0.1, 7.0) == 7.0
    assert window.delay(7.0) == pytest.approx(0.1) and window.delay(7.1) == 0.0
    window.refused(began[1], 0.2, 7.0)  # was in flight: it asks for its own time, no more
    assert window.delay(7.0) == pytest.approx(0.2)


def test_a_given_rate_is_kept_and_headers_are_too() -> None:
    window = Window(8, 8, rate=10.0)
    window.begin(0.0)
    assert window.delay(0.0) == pytest.approx(0.1) and window.pace(0.0) == 10.0
    window.allow(2.0, until=5.0)
    assert window.pace(1.0) == 2.0 and window.pace(5.0) == 10.0


def test_refusals_that_slowing_down_does_not_mend_are_put_up_with() -> None:
    chance = random.Random(1)
    random.seed(1)
    sporadic: Server = lambda now, n: None if chance.random() < 0.02 else LATENCY_S  # noqa: E731
    seconds, _, _ = drive(Window(FIRST_SIZE, 64), sporadic, 4000)
    assert seconds <= 10 * 4000 / (64 / LATENCY_S)  # slower, but it does not come to a halt


def test_failures_halve_once_most_calls_fail_and_leave_some_to_look() -> None:
    window = Window(16, 64)
    for number in range(40):
        window.failed(window.begin(number), number + 0.5, least=5)
    assert window.size == 5.0
