"""The control law for a model's calls in flight and their rate; the time is passed to it."""

from __future__ import annotations

import math
import random
from collections import deque
from itertools import takewhile

from . import retries

FIRST_SIZE = 16  # calls in flight to one server, before anything is known of it
MOST_SIZE = 256  # that a server is tried with, unless --concurrency says otherwise
FASTEST, SLOW = 2.0, 1.25  # what a size grows by: at first, and once a limit was met
LEAST_SAMPLE = 8  # calls whose mean latency says something
WORTH = 0.3  # of the growth in size: the growth in calls/s that is worth it
UNNOTICED_S = 0.1  # of latency above the least, that nobody minds
FIRST_HOLD_S, LONGEST_HOLD_S = 3.0, 60.0  # for which a limit that was met is believed
SMALLEST_CUT = 0.7  # of a pace, unless MANY calls are refused
BELOW = 0.96  # of the rate at which a server answered before it refused
JUST_BELOW = 0.98  # of a pace that was refused once
WAITS_HELD = 20  # times what a server's pause lasts is how long a pace that was right is held
PROBING = 0.06  # of a pace, that is added every second once it is no longer believed
SPREAD = 4.0  # rounds per latency, that a window may begin at most
LATE_S = 0.02  # that a paced call may be late and the next one still in time
REMEMBERED = 4096  # dates of calls
LATELY_S = 1.0  # over which a server's rate is taken
ANSWERED, REFUSED, FAILED = "answered", "refused", "failed"
LAST = 100  # calls, of which a share that is refused is put up with
CUTS = 5  # of a pace in a row; if calls are refused all the same, their rate is not the reason
MANY = 0.3  # of the last calls refused: slow down, whatever was tried before
TOLERATED = 0.03  # of calls that are refused, and of the time that all wait for it


class Window:
    """The calls that a model may have in flight, and the pace at which they may begin.

    *Size.* While all slots are taken, the size doubles after each round of as many answers as
    slots, as long as that pays: by Little's law a size at a latency gives size / latency calls/s.
    If the rate hardly grows (by less than WORTH of the growth in size) while the latency does, the
    server is saturated: the size returns to the one before, for a while that is longer each time.

    *Refusals* (429, "overloaded"). The size halves, once for all calls that were in flight then,
    and no call begins before the time that the server named, or before our own wait, which doubles
    until a call is answered. If answers came in between, the server counts calls per second: calls
    are then paced at BELOW of the rate at which it answered, and the size stays as large as that
    needs. The pace is held for a while, longer each time, then rises by PROBING per second until
    the next refusal. Rare refusals (TOLERATED) change neither; CUTS cuts of the pace that did not
    help are undone: providers with many customers refuse at any rate.

    *Failures* (500, time-outs, lost connections) halve the size once most calls fail, and do not
    change the pace.

    All times are seconds on one monotonic clock, all rates calls per second. The halving on refusal
    is TCP's (RFC 5681); the size by latency follows github.com/Netflix/concurrency-limits.
    """

    def __init__(self, first: float, most: int, rate: float = math.inf) -> None:
        self.size, self.most, self.rate = min(first, float(most)), most, rate
        self.in_flight = 0
        self.refused_in_a_row = 0
        self.refused_since = math.inf  # if nothing was answered since
        self._pace, self._paced_since, self._pace_hold = math.inf, 0.0, FIRST_HOLD_S
        self._allowed, self._allowed_until = math.inf, 0.0  # by the server's headers
        self._resume_at, self._next_at, self._cut_at = 0.0, -math.inf, -math.inf
        self._begins: deque[float] = deque(maxlen=REMEMBERED)  # of calls
        self._refused_begins: deque[float] = deque(maxlen=REMEMBERED)
        self._ends: deque[str] = deque(maxlen=LAST)  # of the last calls
        self._unslowed = math.inf  # the pace before the first of them
        self._cuts = 0  # of the pace, since the last calls were all taken
        self._least_latency = math.inf  # of a round
        self._latency = 0.0  # of the last calls, on average
        self._refused_at = -math.inf
        self._begun = math.inf
        self._growth, self._grow_at, self._grow_hold = FASTEST, 0.0, FIRST_HOLD_S
        self._before: tuple[float, float] | None = None  # size and latency before it last grew
        self._start_round(0.0)

    # when a call may begin

    @property
    def has_place(self) -> bool:
        """True if one more call may be in flight."""
        return self.in_flight < int(self.size)

    def delay(self, now: float) -> float:
        """Returns the seconds until the next call may begin, given a free slot."""
        return max(0.0, self._next_at - now, self._resume_at - now)

    def pace(self, now: float) -> float:
        """Returns the number of calls that may begin per second."""
        if self._pace == math.inf and now >= self._allowed_until:
            return self.rate
        limit = self._allowed if now < self._allowed_until else math.inf
        return min(self.rate, limit, self._learnt_pace(now))

    def _learnt_pace(self, now: float) -> float:
        if self._pace == math.inf:
            return math.inf
        probing_s = max(0.0, now - self._paced_since - self._pace_hold)
        return self._pace * (1.0 + PROBING * probing_s)

    def begin(self, now: float) -> float:
        """Takes a slot; returns the start time, to be passed in when the call ends."""
        self.in_flight += 1
        if self.in_flight >= int(self.size):
            self._is_full = True
        self._begins.append(now)
        if self._begun > now:
            self._begun = now
        pace = self.pace(now)
        if self._latency > UNNOTICED_S:  # many places that come free at once are no flood of calls
            pace = min(pace, SPREAD * self.size / self._latency)
        if pace != math.inf:
            start = self._next_at if self._next_at >= now - LATE_S else now
            self._next_at = start + 1.0 / pace
        return now

    # how a call ends

    def leave(self) -> None:
        """Frees the slot of a call whose answer is stored, or that shows nothing of the server."""
        self.in_flight -= 1

    def answered(self, began: float, now: float) -> None:
        """Records an answer; the call keeps its slot until `leave`."""
        self._ends.append(ANSWERED)
        self._latency += (now - began - self._latency) / min(LAST, len(self._ends))
        if self.refused_in_a_row:
            self.refused_in_a_row, self.refused_since = 0, math.inf
        if began >= self._round_at:
            self._answers_in_round += 1
            self._latencies += now - began
            if self._answers_in_round >= max(self.size, LEAST_SAMPLE):
                self._end_round(now)

    def allow(self, rate: float, until: float) -> None:
        """Sets the rate that the server's headers allow, valid until a time."""
        self._allowed, self._allowed_until = rate, until

    def failed(self, began: float, now: float, least: int) -> None:
        """Ends a call that the server broke off or answered with a server error. least: the number
        of calls in flight below which the size is not cut.
        """
        self.in_flight -= 1
        self._ends.append(FAILED)
        if began >= self._cut_at and self._share(FAILED) > 0.5:
            self._cut(now, max(self.size / 2, min(self.size, least)))

    def refused(self, began: float, now: float, retry_after: float | None) -> float:
        """Ends a refused call; returns the seconds to wait: the server's number, or our own."""
        self.in_flight -= 1
        if REFUSED not in self._ends:
            self._cuts = 0
        self._ends.append(REFUSED)
        self._refused_begins.append(began)
        wait = retry_after or 0.0
        if self._is_rare(now, wait):
            self._resume_at = max(self._resume_at, now + wait)
        else:
            is_new = began >= self._cut_at  # else it was in flight when the last one was refused
            self.refused_in_a_row += is_new
            self.refused_since = min(self.refused_since, now)
            wait = retry_after or self._own_wait()
            if is_new or retry_after is not None:
                self._resume_at = max(self._resume_at, now + wait)
            if is_new:
                self._slow_down(now, wait)
        self._refused_at = now
        return wait

    def _is_rare(self, now: float, wait: float) -> bool:
        """True if too few calls are refused for slowing down to gain anything."""
        is_short = wait <= TOLERATED * (now - max(self._refused_at, self._begun))
        is_known = len(self._ends) >= LAST // 2
        return is_known and is_short and self._share(REFUSED) <= TOLERATED

    def _share(self, end: str) -> float:
        """Returns the share of the latest calls whose end was `end`."""
        return self._ends.count(end) / max(LEAST_SAMPLE, len(self._ends))

    def _own_wait(self) -> float:
        wait = retries.FIRST_WAIT_S * 2.0 ** min(max(0, self.refused_in_a_row - 1), 30)
        return min(retries.LONGEST_WAIT_S, wait) * random.uniform(0.5, 1.0)

    def _slow_down(self, now: float, wait: float) -> None:
        if self.refused_in_a_row == 1:
            if self._cuts < CUTS or self._share(REFUSED) > MANY:
                if self._cuts == 0:
                    self._unslowed = self._learnt_pace(now)
                self._cuts += 1
                self._learn_pace(now, wait)
            elif self._share(REFUSED) <= MANY / 3:  # it was of no use
                self._pace = max(self._pace, self._unslowed)
            size = min(self.size, self._pace * max(self._latency, 1e-9))
            self._cut(now, max(1.0, size, self.size / 2))
        else:  # nobody is answered: one call looks when that ends
            self._cut(now, 1.0)
            self._growth = FASTEST

    def _learn_pace(self, now: float, wait: float) -> None:
        """Sets the pace from the rate at which the server accepted calls lately."""
        calls = _since(now - LATELY_S, self._begins) - _since(now - LATELY_S, self._refused_begins)
        old_pace, rate = self._learnt_pace(now), max(calls / LATELY_S, 1.0 / max(LATELY_S, wait))
        if self._share(REFUSED) <= MANY:
            if old_pace == math.inf and calls < LEAST_SAMPLE:
                return  # too few to tell a rate
            if old_pace != math.inf:
                if calls < SMALLEST_CUT * old_pace * LATELY_S and self._share(REFUSED) < MANY / 3:
                    return  # they did not come that fast
                rate = max(rate, SMALLEST_CUT * old_pace)
        factor = BELOW
        if old_pace == self._pace and self._share(REFUSED) <= TOLERATED:
            rate, factor = old_pace, JUST_BELOW  # it was nearly right
        if old_pace > self._pace:  # it was probed beyond what was believed, and that was right
            hold = max(2 * self._pace_hold, WAITS_HELD * wait)
            self._pace_hold = min(LONGEST_HOLD_S, hold)
        self._pace, self._paced_since = factor * min(old_pace, rate), now + wait

    def _cut(self, now: float, size: float) -> None:
        self.size, self._cut_at, self._growth = size, now, SLOW
        self._before = None
        self._start_round(now)

    # how the size grows

    def _start_round(self, now: float) -> None:
        self._round_at, self._answers_in_round, self._latencies = now, 0, 0.0
        self._is_full = self.in_flight >= int(self.size)

    def _end_round(self, now: float) -> None:
        latency = self._latencies / self._answers_in_round
        self._least_latency = min(self._least_latency, latency)
        if self._before is not None and self._is_full and not self._paid(*self._before, latency):
            self.size, self._growth = self._before[0], SLOW
            self._grow_at = now + self._grow_hold
            self._grow_hold = min(LONGEST_HOLD_S, 2 * self._grow_hold)
            self._before = None
        elif self._is_full and self.size < self.most and now >= self._grow_at:
            self._before = self.size, latency
            self.size = min(float(self.most), max(self.size * self._growth, self.size + 1))
        self._start_round(now)

    def _paid(self, size: float, latency: float, latency_now: float) -> bool:
        """True if growing from this size raised the rate enough, or the latency only a little."""
        growth = self.size / size - 1.0
        speedup = (self.size / latency_now) / (size / latency) - 1.0 if latency else 1.0
        return latency_now - self._least_latency < UNNOTICED_S or speedup >= WORTH * growth

    # in words

    def limit(self, now: float) -> str:
        """Names what limits the calls in flight; "" if fewer calls are wanted than are allowed."""
        pause = self._resume_at - now
        if pause > 0.5:
            return f"the server asks for a pause, {pause:.0f} s"
        pace = self.pace(now)
        if pace != math.inf and self._next_at > now:
            if pace == self.rate:
                return "--rate"
            name = "server's limit" if pace == self._learnt_pace(now) else "server's headers"
            return f"{name}, {pace:.3g}/s"
        if not self._is_full:
            return ""
        if self.size >= self.most:
            return "--concurrency"
        return "the server's speed" if now < self._grow_at else "growing"


def _since(date: float, dates: deque[float]) -> int:
    return sum(1 for _ in takewhile(lambda one: one > date, reversed(dates)))
