"""How long a CPU second is on this machine just now, so that promises in CPU seconds hold anywhere.

    python benchmarks/pace.py [--rounds 5]

A fixed piece of work is timed: additions, dictionaries and tuples of 20 MB, JSON, a regular
expression, zlib and SQLite. Additions alone do not do: neighbours that keep a machine's memory busy
leave them as they are and make a report half as slow again. `REFERENCE_S` is what the work takes on
the machine that the promises were written for, with nothing else on it (results/sizes.md says how
it was found). A benchmark times the work right before and right after what it measures and divides
its CPU seconds by the mean of both paces; it prints both.
"""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
import time
import zlib
from collections.abc import Callable
from typing import NamedTuple

REFERENCE_S = 0.29


class CpuTime(NamedTuple):
    """CPU seconds of a measurement. here: as they were measured; pace: how many times longer the
    fixed work took than on the reference machine.
    """

    here: float
    pace: float

    @property
    def reference(self) -> float:
        """The seconds that the reference machine would have taken."""
        return self.here / self.pace


def work() -> float:
    """CPU seconds of the fixed work."""
    began = time.process_time()
    total = 0
    for number in range(1_000_000):
        total += number
    rows = [(f"trial {n * 7919 % 60_000:05}", n % 7, {"value": n}) for n in range(60_000)]
    known = {row[0]: row for row in rows}
    rows.sort(key=lambda row: row[:2])
    found = [known[name][2]["value"] for name, _, _ in rows]
    text = json.dumps(rows[:20_000])
    json.loads(text)
    words = len(re.findall(r"\w+(?:\.\d)?", text))
    zlib.compress(text.encode(), 6)
    with sqlite3.connect(":memory:") as store:
        store.execute("CREATE TABLE rows (name TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID")
        store.executemany("INSERT INTO rows VALUES (?, ?)", zip(known, found, strict=True))
        store.execute("SELECT value % 7, count(*) FROM rows GROUP BY 1").fetchall()
    store.close()
    assert words and total
    return time.process_time() - began


def pace(rounds: int = 3) -> float:
    """How many times longer the fixed work takes than on the reference machine: the median."""
    return sorted(work() for _ in range(rounds))[rounds // 2] / REFERENCE_S


def timed(measure: Callable[[], float]) -> CpuTime:
    """The CPU seconds that a measurement gives, with the pace around it."""
    before = pace()
    spent = measure()
    return CpuTime(spent, (before + pace()) / 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=5)
    print(f"{pace(parser.parse_args().rounds):.2f} times the reference machine's CPU seconds")


if __name__ == "__main__":
    main()
