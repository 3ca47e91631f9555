"""Puts a history of runs into words: names and formatted numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...analyse.between_runs.histories import History, HistoryLine, HistoryStep
from ...analyse.between_runs.history_first_words import line_of
from ...analyse.claims.verdicts import Verdict
from ...analyse.words import numerals, reading, sentences
from ...protocol import MeasureSpec


@dataclass(frozen=True, slots=True)
class HistoryWords:
    """A history in words. names: {model: short name}."""

    found: History
    names: Mapping[str, str]

    def values(self, step: HistoryStep, verdict: Verdict) -> str:
        """Writes a number in both runs: `share of she: .71 to .42`."""
        before, after = self.pair(step, verdict)
        return f"{self.label(verdict, in_words=True)}: {before} to {after}"

    def pair(self, step: HistoryStep, verdict: Verdict) -> tuple[str, str]:
        """Formats the number in both runs of the step."""
        line = line_of(self.found, verdict)
        values = (line.values[step.first], line.values[step.second]) if line else (None, None)
        first, second = (self._value(one) for one in values)
        return first, second

    def label(self, one: Verdict | HistoryLine, in_words: bool = False) -> str:
        """Names the measure, with the levels that vary within this history."""
        spec = self.spec(one.measure) if in_words else None
        name = sentences.without_article(spec.text or spec.name) if spec else one.measure
        own_levels = {**one.condition, **(one.contrast or {})}
        lines = self.found.lines
        levels = [
            reading.level_title(self.found.protocol, name, level)
            for name, level in own_levels.items()
            if name != "run"
            and level
            and any({**line.condition, **line.contrast}.get(name) != level for line in lines)
        ]
        has_models = any(line.subject for line in lines)
        model = self.names.get(one.subject, one.subject) if has_models else ""
        return ", ".join(filter(None, (name, *levels, model)))

    def spec(self, measure: str) -> MeasureSpec | None:
        """Returns the protocol's measure of this name, or None."""
        return next((one for one in self.found.protocol.measures if one.name == measure), None)

    def _value(self, one: Verdict | None) -> str:
        if one is None:
            return numerals.NOTHING
        return reading.value(one.facts.row, self.spec(one.measure), 2)

    def cautions(self) -> Iterator[str]:
        """Yields the cautions of each step, and the numbers that were not compared."""
        for step in self.found.every_step:
            about = f"Run {step.first + 1} to {step.second + 1}"
            yield from (f"{about}: {line}" for line in (*step.not_compared, *step.warnings))
            for one in step.verdicts:
                yield from (f"{about}: {caution.text}" for caution in one.cautions)
        yield from self.found.changed_words
        yield from (f"Not compared: {line}." for line in self.found.left_out)
