"""What is measured of the offline judges, for a note beside every result of theirs.

JUDGE.toml has the error rates that benchmarks/JUDGE.py measured, with what they were measured on;
the benchmark writes it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

JUDGES = ("faces", "objects")


def note(annotator: str) -> str:
    """The error rates of the offline judges in an annotator (`panel/faces+openai:a@hash`), as a
    sentence; "" for others.
    """
    names = annotator.partition("/")[2].rpartition("@")[0].split("+")
    return "; ".join(_sentence(name) for name in JUDGES if name in names)


def rates(judge: str) -> Mapping[str, Any]:
    """`on`, `with`, `date`, `method`, and `rates`: right about what, how often, the interval's
    ends, of how many pictures.

    A rate that is not `brief` is left out of notes.
    """
    return tomllib.loads(Path(__file__).with_name(f"{judge}.toml").read_text(encoding="utf-8"))


@lru_cache
def _sentence(judge: str) -> str:
    found = rates(judge)
    each = [
        f"{row['name']} {_share(row['share'])} [{_share(row['low'])}, {_share(row['high'])}]"
        for row in found["rates"]
        if row["brief"]
    ]
    return f"the judge {judge} errs: right about {', '.join(each)} on {found['on']}"


def _share(share: float) -> str:
    return f"{share:.2f}".removeprefix("0")
