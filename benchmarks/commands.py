"""CPU seconds of `run`, `analyse` and `report` in two checkouts, in turn.

    python benchmarks/commands.py OLD [NEW] [--rounds 9] [--samples 2] [--instructions]

OLD and NEW are the Pythons of two environments (NEW: this one). A small run of the built-in model
is asked, analysed and reported on by each, with nothing kept between commands. Printed are medians,
and the ratio of each pair's medians. `--instructions` counts instructions with valgrind instead,
which other work on the machine does not change, in one round. Exits 1 if a ratio is above 1.05.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

MOST = 1.05
VERBS = ("run", "analyse", "report")
COUNT = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")


def commands(out: Path, samples: int) -> dict[str, list[str]]:
    """The three verbs, over one folder."""
    plan = ["--language", "en", "--samples", str(samples), "--limit", "40", "--out", str(out)]
    return {
        "run": ["run", "roles", "--model", "planted:she=.8", *plan],
        "analyse": ["analyse", str(out)],
        "report": ["report", str(out), "--out", str(out.with_suffix(".html"))],
    }


def cpu_seconds(command: list[str], environment: dict[str, str]) -> float:
    """CPU seconds of a process."""
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return used.ru_utime + used.ru_stime


def billions(command: list[str], environment: dict[str, str]) -> float:
    """Instructions of a process, in thousand millions."""
    done = subprocess.run(
        [*COUNT, *command], capture_output=True, text=True, env=environment, check=True
    )
    counted = re.search(r"I +refs: +([\d,]+)", done.stderr)
    assert counted is not None
    return int(counted[1].replace(",", "")) / 1e9


def measure(
    pythons: list[str], rounds: int, samples: int, use: Callable[[list[str], dict[str, str]], float]
) -> dict[str, tuple[float, float]]:
    """The medians of each verb, for the old and the new environment."""
    taken: dict[tuple[str, int], list[float]] = {}
    for round_ in range(rounds):
        with tempfile.TemporaryDirectory() as place:
            for verb in VERBS:
                for which in (0, 1) if round_ % 2 else (1, 0):
                    cache = {"TILTMETER_CACHE": f"{place}/cache{which}", "TILTMETER_KEEP": "0"}
                    typed = commands(Path(place, f"run{which}"), samples)[verb]
                    command = [pythons[which], "-m", "tiltmeter", *typed]
                    used = use(command, {**os.environ, **cache})
                    taken.setdefault((verb, which), []).append(used)
    medians = {key: statistics.median(values) for key, values in taken.items()}
    return {verb: (medians[verb, 0], medians[verb, 1]) for verb in VERBS}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("old")
    parser.add_argument("new", nargs="?", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("--instructions", action="store_true")
    given = parser.parse_args()
    rounds, use = (1, billions) if given.instructions else (given.rounds, cpu_seconds)
    unit = "billion instructions" if given.instructions else "CPU s"
    medians = measure([given.old, given.new], rounds, given.samples, use)
    for verb, (old, new) in medians.items():
        print(f"{verb}: {old:.2f} → {new:.2f} {unit}: {new / old:.2f}")
    return int(any(new / old > MOST for old, new in medians.values()))


if __name__ == "__main__":
    sys.exit(main())
