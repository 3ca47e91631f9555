"""The measured error rates of judges, for a note beside every result that rests on them.

A kind of judge names a file (`ModelKind.error_rates`) with what the judge is right about, how often
and on which data. The benchmark that measured it writes the file (benchmarks/faces.py).
"""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from .kinds import known_kind


class Rate(NamedTuple):
    """The share of cases in which a judge is right, with the ends of its 95 % interval.

    pictures, people: sample sizes.
    brief:            True if notes show it.
    """

    name: str
    pictures: int
    people: int
    brief: bool
    share: float
    low: float
    high: float


class ErrorRates(NamedTuple):
    """The measured errors of a judge.

    on: the data on which it was measured, as the end of a sentence. method: the name of the
    judge's rule; a changed rule gets a new name. package: the package that was measured, `NAME
    VERSION`.
    """

    on: str
    package: str
    date: str
    method: str
    rates: tuple[Rate, ...]


def note(annotator: str) -> str:
    """Returns a sentence with the error rates of the judges in an annotator
    (`panel/faces+openai:a@hash`); "" if none of them was measured.
    """
    names = annotator.partition("/")[2].rpartition("@")[0].split("+")
    judges = [name for name in names if name and not name.isdecimal()]  # else a parser's version
    return "; ".join(filter(None, map(_sentence, dict.fromkeys(judges))))


def read_rates(path: Path) -> ErrorRates:
    """Reads a judge's file of error rates, as its benchmark wrote it."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    rates = tuple(Rate(**row) for row in data["rates"])
    return ErrorRates(data["on"], data["with"], data["date"], data["method"], rates)


@lru_cache
def _sentence(judge: str) -> str:
    kind = known_kind(judge)
    if kind is None or kind.error_rates is None:
        return ""
    measured = read_rates(kind.error_rates)
    shares = (
        f"{rate.name} {_share(rate.share)} [{_share(rate.low)}, {_share(rate.high)}]"
        for rate in measured.rates
        if rate.brief
    )
    return f"the judge {judge} errs: right about {', '.join(shares)} on {measured.on}"


def _share(share: float) -> str:
    return f"{share:.2f}".removeprefix("0")
