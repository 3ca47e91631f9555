"""A history of runs as words, tables and a figure: the page and the screen are made of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..analyse import numerals, reading, sentences
from ..analyse.histories import DatedRun, History, Line, Step
from ..analyse.model_labels import given_names
from ..analyse.verdicts import Verdict, Word
from ..protocol import MeasureSpec, wording
from ..records import Estimate
from ..stats.results import count_of
from . import html, sanitize
from .figure_model import Point
from .figures import axes
from .figures.timeline import Link, Panel, Timeline
from .model import Column, Table

MOST_PANELS = 6  # of the figure; the tables have every number
SENTENCES = 3  # of differences, below the headline
NAMED = 2  # numbers that a cell names
NO_STEP, NOT_COMPARED = "nothing told from noise", "not compared"
SIGNS = {
    Word.DIFFERENT: "▲",
    Word.EQUIVALENT: "=",
    Word.NO_DIFFERENCE: "○",
    Word.UNDECIDED: "◇",
    Word.NOT_SETTLED: "⇅",
    Word.JUDGE_REFUTED: "✕",
}
KEY = (
    "A point is a run with its 95 % interval. A thick line with ▲ or ▼ is a step that is told from "
    "noise (adjusted over all steps and numbers), a thin one is not; no line: not compared."
)


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """What is printed of a history. cautions: what keeps a step from being read as it stands."""

    title: str
    question: str
    line: tuple[str, ...]
    headline: str
    lede: tuple[str, ...]
    figure: Timeline
    steps: Table
    numbers: Table
    runs: Table
    cautions: tuple[str, ...]


def build(found: History, labels: Mapping[str, str] | None = None) -> HistoryPage:
    """The page of a history. labels: {short name: model}."""
    models = {one.subject for run in found.lines for one in run.values if one}
    told = _Told(found, given_names(labels or {}, sorted(models)))
    first, last = found.runs[0], found.runs[-1]
    days = dict.fromkeys(run.date[:10] for run in (first, last) if run.date)
    page = HistoryPage(
        title=found.protocol.title,
        question=found.protocol.question,
        line=(found.protocol.name, count_of(len(found.runs), "run"), " to ".join(days)),
        headline=told.headline(),
        lede=tuple(told.lede()),
        figure=told.figure(),
        steps=told.steps(),
        numbers=told.numbers(),
        runs=told.runs(),
        cautions=tuple(dict.fromkeys(told.cautions())),
    )
    return sanitize.all_visible(page)


def write_page(page: HistoryPage, path: Path | str) -> None:
    """Writes the page as one HTML file that opens from disk and loads nothing."""
    made = html.template("history.html.j2").render(
        page=page, alone=None, brief=True, **html.shared()
    )
    html.write_whole(Path(path), made)


@dataclass(frozen=True)
class _Told:
    """A history in words. names: {model: short name}."""

    found: History
    names: Mapping[str, str]

    def headline(self) -> str:
        compared = [step for step in self.found.steps if step.verdicts]
        told = [step for step in compared if step.told]
        every = count_of(len(self.found.steps), "step")
        if not compared:
            return f"Of {every} between these runs, none can be compared."
        if not told:
            return f"Of {every}, none is told from noise."
        named = "; ".join(self._moved(step) for step in told[:SENTENCES])
        more = f"; and {len(told) - SENTENCES} more" if len(told) > SENTENCES else ""
        are = "is" if len(told) == 1 else "are"
        return f"Of {every}, {len(told)} {are} told from noise: {named}{more}."

    def _moved(self, step: Step) -> str:
        """`run 4 to 5 (2026-11-01), share of she: .71 to .42`."""
        day = self.found.runs[step.second].date[:10]
        when = f" ({day})" if day else ""
        told = "; ".join(self._values(step, one) for one in step.told[:NAMED])
        more = f" and {len(step.told) - NAMED} more" if len(step.told) > NAMED else ""
        return f"run {step.first + 1} to {step.second + 1}{when}, {told}{more}"

    def _values(self, step: Step, verdict: Verdict) -> str:
        before, after = self._pair(step, verdict)
        return f"{self.label(verdict, in_words=True)}: {before} to {after}"

    def _pair(self, step: Step, verdict: Verdict) -> tuple[str, str]:
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
        since = self.found.since_first
        if since and since.verdicts:
            if since.told:
                told = "; ".join(self._values(since, one) for one in since.told[:SENTENCES])
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
        spec = self._spec(one.measure) if in_words else None
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

    def _spec(self, measure: str) -> MeasureSpec | None:
        return next((one for one in self.found.protocol.measures if one.name == measure), None)

    def _value(self, one: Verdict | None) -> str:
        if one is None:
            return numerals.NOTHING
        return reading.value(self._estimate(one), self._spec(one.measure), 2)

    def _estimate(self, one: Verdict) -> Estimate:
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

    def figure(self) -> Timeline:
        drawn = [line for line in self.found.lines if self._spec(line.measure)]
        panels = tuple(self._panel(line) for line in drawn[:MOST_PANELS])
        left = len(drawn) - len(panels)
        more = f" The first {MOST_PANELS} of {len(drawn)} numbers." if left else ""
        points = "; ".join(
            f"{panel.title}: {', '.join(p.text if p else 'none' for p in panel.points)}"
            for panel in panels
        )
        return Timeline(
            id="history",
            title="Headline numbers by run",
            text=f"In the order of the runs. {points}",
            note=KEY + more,
            table="numbers",
            dates=tuple(run.date for run in self.found.runs),
            panels=panels,
        )

    def _panel(self, line: Line) -> Panel:
        spec = self._spec(line.measure)
        assert spec is not None
        rows = [None if one is None else self._estimate(one) for one in line.values]
        scale, domain, ticks = axes.axis(spec, [row for row in rows if row])
        about = spec.text or spec.name
        levels = self.label(line).removeprefix(line.measure).lstrip(", ")
        return Panel(
            title=f"{reading.title(about)}{f' · {levels}' if levels else ''}",
            scale=scale,
            domain=domain,
            ticks=ticks,
            null=reading.null_of(spec),
            ends=reading.directions(spec),
            points=tuple(None if row is None else self._point(row, spec) for row in rows),
            links=tuple(map(_link, line.steps)),
        )

    def _point(self, row: Estimate, spec: MeasureSpec) -> Point:
        number = reading.value(row, spec, 2)
        ends = reading.interval(row, spec, 2)
        return Point(0, row.value, row.low, row.high, number, ends, numerals.count(row.n), "")

    def steps(self) -> Table:
        """A row a step: what changed between the two runs, and what moved."""
        return Table(
            "steps",
            "What changed, step by step",
            "",
            (
                Column("step", brief=True),
                Column("until", brief=True),
                Column("changed", brief=True),
                Column("moved", brief=True),
            ),
            tuple(self._step_cells(step) for step in self.found.every_step),
        )

    def _step_cells(self, step: Step) -> tuple[str, ...]:
        since = step is self.found.since_first
        changes = "; ".join(
            f"{one.what}: {self._side(one.before)} → {self._side(one.after)}"
            for one in step.changes
        )
        return (
            f"{step.first + 1} → {step.second + 1}{' (first to last)' if since else ''}",
            self.found.runs[step.second].date[:10] or numerals.NOTHING,
            changes or "nothing",
            self._outcome(step),
        )

    def _side(self, text: str) -> str:
        return self.names.get(text, text) or "none"

    def _outcome(self, step: Step) -> str:
        if not step.verdicts:
            return NOT_COMPARED
        if not step.told:
            return NO_STEP
        return "; ".join(self._values(step, one) for one in step.told)

    def numbers(self) -> Table:
        """A row a difference of a step, with its interval, adjusted p and verdict; a row too for a
        step without any.
        """
        return Table(
            "numbers",
            "Every difference",
            "later less earlier, 95 % intervals, over the items that both runs have; p adjusted "
            "over all steps and headline numbers (Holm)",
            (
                Column("step", brief=True),
                Column("changed", brief=True),
                Column("number", brief=True),
                Column("values", "number"),
                Column("difference", "number", True),
                Column("p adj.", "number", True),
                Column("verdict", brief=True),
            ),
            tuple(row for step in self.found.every_step for row in self._number_rows(step)),
        )

    def _number_rows(self, step: Step) -> Iterator[tuple[str, ...]]:
        about = (
            f"{step.first + 1} → {step.second + 1}",
            ", ".join(change.what for change in step.changes) or "nothing",
        )
        for one in step.verdicts:
            row, spec = self._estimate(one), self._spec(one.measure)
            before, after = self._pair(step, one)
            yield (
                *about,
                self.label(one),
                f"{before} → {after}",
                reading.number(row, spec and replace(spec, null=0.0)),
                numerals.chance(one.p_adjusted),
                f"{SIGNS.get(one.word, '·')} {one.word.value}",
            )
        if not step.verdicts:
            yield (*about, *[numerals.NOTHING] * 4, NOT_COMPARED)

    def runs(self) -> Table:
        """A row a run, with what it was made with."""
        every = dict.fromkeys(name for run in self.found.runs for name in run.made_with)
        columns = [Column(name) for name in every]
        return Table(
            "runs",
            "The runs",
            "",
            (*(Column(name, brief=True) for name in ("run", "name", "date")), *columns),
            tuple(
                (str(number), run.name, run.date[:10] or numerals.NOTHING, *_facts(run, [*every]))
                for number, run in enumerate(self.found.runs, 1)
            ),
        )

    def cautions(self) -> Iterator[str]:
        for step in self.found.every_step:
            about = f"Run {step.first + 1} to {step.second + 1}"
            yield from (f"{about}: {line}" for line in (*step.not_compared, *step.warnings))
            for one in step.verdicts:
                yield from (f"{about}: {caution.text}" for caution in one.cautions)
        yield from (f"Not compared: {line}." for line in self.found.left_out)


def _facts(run: DatedRun, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(run.made_with.get(name, numerals.NOTHING) for name in names)


def _link(step: Verdict | None) -> Link:
    if step is None:
        return "none"
    return "told" if step.word == Word.DIFFERENT else "same"
