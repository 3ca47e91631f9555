"""How long a call is tried: by hand, with a clock that the test moves."""

from __future__ import annotations

import math

import pytest

from tiltmeter.errors import ModelError, TransientError
from tiltmeter.stages.engine import retries
from tiltmeter.stages.engine.retries import TRIES, Patience, wait_asked_for


class Clock:
    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(retries, "time", made)
    return made


def waits(
    clock: Clock, limit: float, retry_after: float | None = None, answered: float = 0.0
) -> list[float]:
    """The waits of a call that never succeeds."""
    tried, found = Patience(limit), []
    while (wait := tried.next_wait(retry_after, clock.now if answered else 0.0)) is not None:
        found.append(wait)
        clock.now += wait
    return found


def test_half_an_hour_is_outlasted(clock: Clock) -> None:
    found = waits(clock, 1800)
    assert 1800 <= sum(found) <= 1860
    assert max(found) <= 60


def test_without_patience_there_are_seven_tries_all_the_same(clock: Clock) -> None:
    found = waits(clock, 0)
    assert len(found) == TRIES - 1
    assert 15.75 <= sum(found) <= 31.5  # half a second doubled six times, half of it jitter


def test_where_others_are_answered_it_is_no_outage(clock: Clock) -> None:
    assert len(waits(clock, 1800, answered=1)) == TRIES - 1


@pytest.mark.parametrize("asked", [0.0, -5.0, math.nan, math.inf, None])
def test_a_server_cannot_take_the_waiting_away(clock: Clock, asked: float | None) -> None:
    assert sum(waits(clock, 0, wait_asked_for(TransientError("503", asked)))) >= 15.75


def test_what_a_server_asks_for_is_kept_to_the_second(clock: Clock) -> None:
    found = waits(clock, 0, wait_asked_for(TransientError("503", 7.0)))
    assert found == [7.0] * (TRIES - 1)


def test_a_server_that_asks_for_more_than_ten_minutes_ends_the_run() -> None:
    assert wait_asked_for(TransientError("503", 600.0)) == 600.0
    with pytest.raises(ModelError, match="1,440 minutes"):
        wait_asked_for(TransientError("503", 86_400.0))
