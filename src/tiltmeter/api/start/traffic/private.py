"""Keeps nothing of an audit but numbers and keyed hashes.

The audit runs in a folder that only its owner can read and that is deleted afterwards; no part of a
prompt or an answer is printed or kept, nor are the counts of words. Hashes identify the same prompt
in two audits; their key stays in the cache of this machine and is in no file of a run.
"""

from __future__ import annotations

import csv
import hmac
import secrets
import shutil
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from ....records import Estimate
from ....report.render import json_csv
from ....system import cache
from ...runs import baselines
from .decisions import PromptDecision

PROMPTS, NUMBERS = "decisions.csv", "numbers.csv"
_WORDS = "word"  # the attribute of counted words, which are texts of answers


def keep(
    out: Path, working: Path, decisions: Sequence[PromptDecision], estimates: Sequence[Estimate]
) -> None:
    """Writes an audit's numbers and the decision about each prompt, named by a keyed hash."""
    out.mkdir(parents=True, exist_ok=True)
    out.chmod(0o700)
    key = _key()
    with (out / PROMPTS).open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("prompt", "line", "item", "swap", "decision", "reason"))
        for decision in decisions:
            hashed = hmac.new(key, decision.prompt.encode(), sha256).hexdigest()[:16]
            reason = decision.reason.partition(":")[0]
            table.writerow(
                (hashed, decision.line, decision.item, decision.swap, decision.decision, reason)
            )
    rows = [row for row in estimates if _WORDS not in row.condition]
    (out / NUMBERS).write_text(json_csv.as_csv(rows), encoding="utf-8", newline="\n")
    if (working / baselines.FILE).exists():
        shutil.copyfile(working / baselines.FILE, out / baselines.FILE)


def _key() -> bytes:
    path = cache.cache() / "private.key"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_bytes(secrets.token_bytes(32))
    return path.read_bytes()
