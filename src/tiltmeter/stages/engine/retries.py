"""The retries of one call: for how long it is tried, and the pauses between tries."""

from __future__ import annotations

import math
import random
import time

from ...errors import ModelError, TransientError

TRIES = 7  # of a call at the least, however long they take
FAILURES_IN_A_ROW = 5  # calls that used up all their tries, before the run stops
FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 60.0
LONGEST_RETRY_AFTER_S = 600.0  # that is waited for; a longer one ends the run


def wait_asked_for(error: TransientError) -> float | None:
    """Returns the seconds that a server asks to wait; None if it names no usable number (0,
    negative, NaN). Raises ModelError if they are more than ten minutes.
    """
    seconds = error.retry_after
    if seconds is None or not math.isfinite(seconds) or seconds <= 0:
        return None
    if seconds > LONGEST_RETRY_AFTER_S:
        raise ModelError(
            f"{error}. The server asks for a pause of {seconds / 60:,.0f} minutes, too long for a "
            "run. What was received is stored; run the same command again after the pause."
        )
    return seconds


class Patience:
    """The retry policy of one call, which outlasts an outage of `limit` seconds.

    If the model answers other calls meanwhile, there is no outage, and the call has TRIES tries.
    """

    def __init__(self, limit: float) -> None:
        self._limit, self._tries, self._first = limit, 0, 0.0

    def next_wait(self, retry_after: float | None, answered_at: float) -> float | None:
        """Returns the seconds until the next try; None to give the call up.

        retry_after: seconds that the server asks for, returned unchanged; None to double the last
        wait. answered_at: when another call to the model was last answered (time.monotonic).
        """
        now = time.monotonic()
        self._tries += 1
        if self._tries == 1:
            self._first = now
        has_others = answered_at > self._first and retry_after is None
        if self._tries >= TRIES and (has_others or self.seconds_left() <= 0):
            return None
        if retry_after is not None:
            return retry_after
        wait = FIRST_WAIT_S * 2.0 ** min(self._tries - 1, 30)
        return min(LONGEST_WAIT_S, wait) * random.uniform(0.5, 1.0)

    def seconds_left(self) -> float:
        """Returns the seconds until the call is given up, unless other calls are answered."""
        return self._limit - (time.monotonic() - self._first)
