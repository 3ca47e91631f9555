"""What comes from outside, changed at random: only clean errors, or a value.

    python benchmarks/fuzz.py [--cases 100000] [--target NAME] [--seed 0] [--json]

What is read stands in fuzz_targets.py: wire formats, loaders, importers, parsers of replies, the
rows and the file of a run, pictures, names of files, what pages send. A case is one of the corpus
(benchmarks/fuzz_corpus) with bytes cut, doubled, swapped, or replaced by what is known to hurt. An
exception that is none of tiltmeter's is printed with its case; keep such a case in the corpus once
it is mended. Exits 1 where there was one.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from pathlib import Path

from fuzz_targets import Target, targets

from tiltmeter.errors import TiltmeterError
from tiltmeter.models.http.fetching import Unfetched

HURTS = (
    *(b"null", b"true", b"[]", b"{}", b"-1", b"1e999", b"NaN", b"-Infinity", b'""', b'"\\ud83d"'),
    *(b"9" * 400, b"[" * 2000, b'{"a":' * 2000, b"\x00", b"\xff\xfe", b"\xf0\x9f", b"../"),
    *(b"\x1b[", b"=1+1", b"'", b'"', b"\\", b"\n", b"</answer>", b"{{", b"}}"),
    *("é".encode(), "\u202e".encode()),
)
CLEAN = (TiltmeterError, Unfetched, OSError)


def change(case: bytes, chance: random.Random) -> bytes:
    """One to four changes of a case."""
    changed = bytearray(case)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(changed) + 1)
        end = min(len(changed), at + chance.randint(0, 12))
        match chance.randrange(5):
            case 0:
                changed[at:end] = chance.choice(HURTS)
            case 1:
                del changed[at:end]
            case 2:
                changed[at:at] = changed[at:end] * chance.randint(1, 20)
            case 3:
                changed[at:end] = bytes(chance.randrange(256) for _ in range(end - at))
            case _:
                changed = changed[:at] if chance.random() < 0.2 else changed
    return bytes(changed[:200_000])


def fuzz(name: str, target: Target, cases: int, seed: int) -> list[str]:
    """The cases that raised what they should not, with it."""
    if not target.seeds:
        raise ValueError(f"{name} has no case: put one into the corpus")
    chance = random.Random(f"{name}/{seed}")
    found: dict[str, str] = {}
    for number in range(cases + len(target.seeds)):
        seeds = target.seeds
        case = seeds[number] if number < len(seeds) else change(chance.choice(seeds), chance)
        try:
            target.read(case)
        except CLEAN as error:
            if str(error).count("\n") > 2:
                found[f"{name}: {str(error).count(chr(10))} lines"] = repr(case[:2000])
        except Exception as error:  # noqa: BLE001
            trace = error.__traceback__
            while trace and trace.tb_next:
                trace = trace.tb_next
            where = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else ""
            found[f"{name}: {type(error).__name__} at {where}"] = f"{error} {case[:2000]!r}"
    return [f"{what} {case}" for what, case in found.items()]


def measure(cases: int, seed: int = 0, only: str = "") -> dict[str, list[str]]:
    """Target → what it should not have raised."""
    with tempfile.TemporaryDirectory() as folder:
        return {
            name: fuzz(name, target, cases, seed)
            for name, target in targets(Path(folder)).items()
            if only in ("", name)
        }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--target", default="")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = measure(given.cases, given.seed, given.target)
    if given.json:
        print(json.dumps(found))
    else:
        for name, wrong in found.items():
            print(f"{name:16} {given.cases} cases, {len(wrong)} kinds of harm", *wrong, sep="\n  ")
    return 1 if any(found.values()) or not found else 0


if __name__ == "__main__":
    sys.exit(main())
