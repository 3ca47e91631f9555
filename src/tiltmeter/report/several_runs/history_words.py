"""A history of runs in words: its headline, and how its numbers are called and written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ...analyse.between_runs.histories import History, Line, Step
from ...analyse.claims.verdicts import Verdict
from ...analyse.words import numerals, reading, sentences
from ...analyse.words.verdict_words import Word
from ...protocol import MeasureSpec, wording
from ...records import Estimate
from ...stats.results import count_of

SENTENCES = 3  # of differences, below the headline
NAMED = 2  # numbers that a cell names


@dataclass(frozen=True, slots=True)
class HistoryWords:
    """A history in words. names: {model: short name}."""

    found: History
    names: Mapping[str, str]

    def headline(self) -> str:
        """How many steps are told from noise, and which."""
        compared = [step for step in self.found.steps if step.verdicts]
        told = [step for step in compared if step.told]
        every = count_of(len(self.found.steps), "step")
        if not compared:
            return f"Of {every} between these runs, none can be compared."
        if not told:
            return f"Of {every}, none is told from noise."
        named = "; ".join(self._tell_moves(step) for step in told[:SENTENCES])
        more = f"; and {len(told) - SENTENCES} more" if len(told) > SENTENCES else ""
        are = "is" if len(told) == 1 else "are"
        return f"Of {every}, {len(told)} {are} told from noise: {named}{more}."

    def _tell_moves(self, step: Step) -> str:
        """`run 4 to 5 (2026-11-01), share of she: .71 to .42`."""
        day = self.found.runs[step.second].date[:10]
        when = f" ({day})" if day else ""
        told = "; ".join(self.values(step, one) for one in step.told[:NAMED])
        more = f" and {len(step.told) - NAMED} more" if len(step.told) > NAMED else ""
        return f"run {step.first + 1} to {step.second + 1}{when}, {told}{more}"

    def values(self, step: Step, verdict: Verdict) -> str:
        """`share of she: .71 to .42`."""
        before, after = self.pair(step, verdict)
        return f"{self.label(verdict, in_words=True)}: {before} to {after}"

    def pair(self, step: Step, verdict: Verdict) -> tuple[str, str]:
        """The number of both runs, by themselves."""
        line = self._line(verdict)
        values = (line.values[step.first], line.values[step.second]) if line else (None, None)
        first, second = (self._value(one) for one in values)
        return first, second

    def _line(self, verdict: Verdict) -> Line | None:
        held = {name: level for name, level in (verdict.contrast or {}).items() if name != "run"}
        return next(
            (
                line
                for line in self.found.lines
                if line.measure == verdict.measure
                and line.condition == verdict.condition
                and line.contrast == held
                and line.subject in ("", verdict.subject)
            ),
            None,
        )

    def lede(self) -> Iterator[str]:
        """Sentences below the headline: since the first run, what is surely small, what could have
        been found.
        """
        since = self.found.since_first
        if since and since.verdicts:
            if since.told:
                told = "; ".join(self.values(since, one) for one in since.told[:SENTENCES])
                yield f"Since the first run: {told}."
            else:
                yield "Since the first run, nothing is told from noise."
        within = [
            one for step in self.found.steps for one in step.verdicts if one.word == Word.EQUIVALENT
        ]
        if within:
            margin = numerals.share(self.found.margin, 2)
            yield f"{count_of(len(within), 'difference')} surely smaller than {margin}."
        shares = [
            one.detectable
            for step in self.found.steps
            for one in step.verdicts
            if one.detectable is not None and one.unit == "share"
        ]
        if shares:
            points = numerals.points(max(shares))
            yield f"Smallest detectable step (80 % power): {points}."

    def label(self, one: Verdict | Line, in_words: bool = False) -> str:
        """The measure, by its name or in words, with the levels in which numbers of this history
        differ.
        """
        spec = self.spec(one.measure) if in_words else None
        name = sentences.without_article(spec.text or spec.name) if spec else one.measure
        held = {**one.condition, **(one.contrast or {})}
        lines = self.found.lines
        levels = [
            self._title(name, level)
            for name, level in held.items()
            if name != "run"
            and level
            and any({**line.condition, **line.contrast}.get(name) != level for line in lines)
        ]
        apart = any(line.subject for line in lines)
        model = self.names.get(one.subject, one.subject) if apart else ""
        return ", ".join(filter(None, (name, *levels, model)))

    def _title(self, factor: str, level: str) -> str:
        ends = level.split(f" {numerals.MINUS} ")
        return f" {numerals.MINUS} ".join(
            wording.title(self.found.protocol, factor, end) for end in ends
        )

    def spec(self, measure: str) -> MeasureSpec | None:
        """What the protocol declares of a measure, by its name."""
        return next((one for one in self.found.protocol.measures if one.name == measure), None)

    def _value(self, one: Verdict | None) -> str:
        if one is None:
            return numerals.NOTHING
        return reading.value(self.estimate(one), self.spec(one.measure), 2)

    def estimate(self, one: Verdict) -> Estimate:
        """The number of a verdict, as formats of numbers take it."""
        blank = Estimate(
            self.found.protocol.name,
            one.subject,
            one.instrument,
            one.measure,
            dict(one.condition),
            dict(one.contrast) if one.contrast else None,
            one.value,
            one.unit,
        )
        return replace(blank, low=one.low, high=one.high, n=one.n)

    def cautions(self) -> Iterator[str]:
        """What keeps each step from being read as it stands, and what was not compared."""
        for step in self.found.every_step:
            about = f"Run {step.first + 1} to {step.second + 1}"
            yield from (f"{about}: {line}" for line in (*step.not_compared, *step.warnings))
            for one in step.verdicts:
                yield from (f"{about}: {caution.text}" for caution in one.cautions)
        yield from (f"Not compared: {line}." for line in self.found.left_out)
