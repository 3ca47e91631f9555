"""Matches existing answers with the trials of a plan before anything is stored; lists answers
without a trial and trials without an answer, and for the first of each the nearest match.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol as Shape
from typing import runtime_checkable

from ...errors import UsageError
from ...models.existing.answers import AnswerLine, Answers, WantedTrial, fold_prompt, shorten_prompt
from ...models.kinds import kind_of
from ...protocol import Protocol
from ...records import Trial
from ..planning import plan
from ..planning.plan import Choices
from .connect import Connect

MATCHED_KINDS = ("file", "answers")
COMPARED = 2_000  # prompts among which the nearest is looked for


@runtime_checkable
class HasAnswers(Shape):
    """A model that reads its answers from a file or a table."""

    def read(self) -> Answers:
        """Reads all answers."""
        ...


@dataclass(frozen=True, slots=True)
class Match:
    """The match of one subject's lines with the trials of a plan. missing: trials without a line;
    unused: lines without a trial; prompts: the prompts of all trials.
    """

    subject: str
    trials: int
    missing: tuple[Trial, ...]
    unused: tuple[AnswerLine, ...]
    prompts: frozenset[str]
    answers: Answers

    def sentences(self) -> Iterator[str]:
        """Yields sentences about mismatches; nothing if every line and trial has its match."""
        if self.missing:
            prompt, line = self.missing[0].prompt, self._nearest_line()
            near = f"; the nearest is line {line.number}: " if line else ""
            beside = (line and line.prompt) or ""
            yield (
                f"{self.subject} answers {self.trials - len(self.missing):,} of {self.trials:,} "
                f"trials. The first without an answer: sample {self.missing[0].sample} of "
                f"{shorten_prompt(prompt, beside)}{near and near + shorten_prompt(beside, prompt)}"
                ". The others stay open: add their lines and run the same command again."
            )
        if self.unused:
            further = [line for line in self.unused if self._is_asked(line)]
            yield self._further(further) if len(further) == len(self.unused) else self._strangers()

    def refuse_nothing(self) -> None:
        """Raises UsageError if no line answers a trial."""
        if len(self.missing) < self.trials or not self.unused:
            return
        raise UsageError(
            f"None of the answers in {self.subject} match a prompt of this audit. "
            f"{self._strangers()} To write the prompts: tiltmeter plan … --trials trials.csv"
        )

    def _is_asked(self, line: AnswerLine) -> bool:
        return line.prompt is not None and fold_prompt(line.prompt) in self.prompts

    def _nearest_line(self) -> AnswerLine | None:
        line = self.answers.nearest(self.missing[0].prompt)
        return None if line is None or line.prompt is None or self._is_asked(line) else line

    def _further(self, lines: list[AnswerLine]) -> str:
        return (
            f"{len(lines):,} lines of {self.subject} are further answers to prompts that are "
            "asked less often. More of them are taken with: --samples NUMBER"
        )

    def _strangers(self) -> str:
        line = next(line for line in self.unused if not self._is_asked(line))
        prompt, prompts = line.prompt or "", sorted(self.prompts)[:COMPARED]
        best = next(iter(difflib.get_close_matches(prompt, prompts, 1, 0.4)), "")
        text = shorten_prompt(prompt, best) if prompt else f"id {line.id}" if line.id else ""
        text = text or ", ".join(f"{name}={value}" for name, value in line.columns.items())
        nearest = f" The nearest prompt of the audit: {shorten_prompt(best, prompt)}." * bool(best)
        return (
            f"{len(self.unused):,} lines of {self.subject} answer no trial, the first is line "
            f"{line.number} ({text}).{nearest}"
        )


def matches(protocol: Protocol, choices: Choices, connect: Connect) -> Iterator[Match]:
    """Yields the match of each subject whose answers are read from a file or a table."""
    for subject in choices.subjects:
        if kind_of(subject).name in MATCHED_KINDS:
            model = connect.model(subject, 1)
            if isinstance(model, HasAnswers):
                yield _match(subject, model.read(), protocol, choices)


def _match(subject: str, answers: Answers, protocol: Protocol, choices: Choices) -> Match:
    used_lines: set[int] = set()
    missing: list[Trial] = []
    prompts: set[str] = set()
    trials = list(plan.trials(protocol, plan.of_subject(choices, subject)))
    for trial in trials:
        prompts.add(fold_prompt(trial.prompt))
        line = answers.find(WantedTrial(trial.id, trial.prompt, trial.sample, _factors(trial)))
        if line is None:
            missing.append(trial)
        else:
            used_lines.add(line.number)
    unused = tuple(line for line in answers.lines if line.number not in used_lines)
    return Match(subject, len(trials), tuple(missing), unused, frozenset(prompts), answers)


def _factors(trial: Trial) -> Callable[[], dict[str, str]]:
    return lambda: {"mode": trial.mode, **trial.factors}
