"""How long one call is tried, and how long it waits between two tries."""

from __future__ import annotations

import math
import random
import time

TRIES = 7  # of a call at the least, however long they take
FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 60.0
LONGEST_RETRY_AFTER_S = 600.0


class Patience:
    """The tries of one call: it outlasts an outage of `limit` seconds.

    Where other calls to the model are answered meanwhile there is no outage, and TRIES are enough.
    """

    def __init__(self, limit: float) -> None:
        self._limit, self._tries, self._first = limit, 0, 0.0

    def next_wait(self, retry_after: float | None, answered_at: float) -> float | None:
        """Seconds until the next try, or None where the call is given up.

        retry_after: what the server asks for, which is never shorter than the wait of our own and
        at most ten minutes. answered_at: when another call to the model was answered
        (time.monotonic).
        """
        now = time.monotonic()
        self._tries += 1
        if self._tries == 1:
            self._first = now
        others = answered_at > self._first and retry_after is None
        if self._tries >= TRIES and (others or self.seconds_left() <= 0):
            return None
        doubled = FIRST_WAIT_S * 2.0 ** min(self._tries - 1, 30)
        own = min(LONGEST_WAIT_S, doubled) * random.uniform(0.5, 1.0)
        if retry_after is None or not math.isfinite(retry_after):
            return own
        return max(own, min(retry_after, LONGEST_RETRY_AFTER_S))

    def seconds_left(self) -> float:
        """Seconds until the call is given up, if nothing else is answered either."""
        return self._limit - (time.monotonic() - self._first)
