"""Additions by other packages: the entry points of groups whose names begin with `tiltmeter.`."""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.metadata import EntryPoint


def entry_points(group: str) -> Mapping[str, EntryPoint]:
    """Returns the entry points of `tiltmeter.GROUP` by name. Packages are read anew only after a
    folder of `sys.path` has changed: reading all of a large environment takes tens of milliseconds.
    """
    return {point.name: point for point in _read(_marks()) if point.group == f"tiltmeter.{group}"}


def _marks() -> tuple[tuple[str, int], ...]:
    """Returns the dates of the folders in which Python looks for packages."""
    marks = []
    for folder in map(Path, sys.path):
        with suppress(OSError):
            marks.append((str(folder.absolute()), folder.stat().st_mtime_ns))
    return tuple(marks)


@lru_cache(maxsize=1)
def _read(marks: tuple[tuple[str, int], ...]) -> tuple[EntryPoint, ...]:
    from importlib import metadata  # a tenth of the time of the first `--help`

    points = metadata.entry_points()
    return tuple(
        point
        for group in points.groups
        if group.startswith("tiltmeter.")
        for point in points.select(group=group)
    )
