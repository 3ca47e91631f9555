"""Rare garbage collection while models are asked."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# Made before the collector looks for cycles: at Python's own 700 it takes 8 % of a judge's call.
NEW_OBJECTS = 50_000


@contextmanager
def rare_collection() -> Iterator[None]:
    """Collects garbage rarely inside a `with` block: calls make no cycles of objects, and the
    objects of calls in flight would be examined again and again. A higher threshold stays, and a
    collector that is switched off stays off.
    """
    thresholds = gc.get_threshold()
    gc.set_threshold(max(thresholds[0], NEW_OBJECTS) if thresholds[0] else 0, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
