"""Compares the answers in a log with today's answers to the same version of the same prompt.

The log's answers are never one side of a pair: they were given on another day, by a system with
unknown settings, to one version alone, so that every change since then would look like a tilt. They
only show if the system that is asked today is the system of the log.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from ....analyse.words import numerals
from ....instruments.comparing.similarity import likeness
from ....records import ANSWER, digest
from ....row_files.logs import Logged
from ....stats.means import pooled_mean
from ...runs.run_folder import Run
from .decisions import BETWEEN, PromptDecision, joined

_FEW = 10  # prompts, below which nothing is said


def answers_then(rows: Sequence[Logged]) -> dict[str, str]:
    """Returns {hash of a prompt, as in its decision: the answer in the log}."""
    return {digest(joined(row))[:12]: row.answer for row in rows if row.answer}


def sentences(
    run: Run, decisions: Sequence[PromptDecision], then: Mapping[str, str]
) -> Iterator[str]:
    """Yields a sentence per subject: if the log's answers are less like today's answers than those
    are like each other. Counts only prompts that are asked exactly as in the log.
    """
    asked = {
        decision.texts[0].rpartition(BETWEEN)[2]: then[decision.prompt]
        for decision in decisions
        if decision.asked
        and decision.prompt in then
        and digest(decision.texts[0])[:12] == decision.prompt
    }
    today: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for subject, prompt, outcome, text in run.outputs.select(
        "subject", "prompt", "outcome", "text"
    ).rows():
        if outcome == ANSWER and prompt in asked:
            today[subject][prompt].append(text)
    for subject, answers in today.items():
        gaps = [_gap(asked[prompt], texts) for prompt, texts in answers.items() if len(texts) > 1]
        if len(gaps) >= _FEW:
            yield _sentence(subject, gaps)


def _gap(then: str, today: Sequence[str]) -> float:
    """Returns an answer's mean likeness to today's answers less the mean likeness among these."""
    among = [likeness(one, other) for one, other in combinations(today, 2)]
    return float(np.mean([likeness(then, one) for one in today]) - np.mean(among))


def _sentence(subject: str, gaps: Sequence[float]) -> str:
    mean = pooled_mean(sums=np.array(gaps), n=np.ones(len(gaps)))
    span = numerals.interval(mean.low, mean.high, "share")
    among = f"those of {subject} today than these are to one another"
    text = f"{len(gaps):,} prompts were asked as the log has them: its answers are"
    if mean.high is not None and mean.high < 0:
        return (
            f"{text} less like {among} (likeness {numerals.share(mean.value)} {span}). The log is "
            "of another system, version or setting, and nothing here speaks of it."
        )
    return f"{text} not shown to be less like {among} (likeness {span})."
