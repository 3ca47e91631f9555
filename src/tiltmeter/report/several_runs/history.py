"""Lays out a history of runs as a document: words, tables and a figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from ...analyse.between_runs.first_words import pills
from ...analyse.between_runs.histories import DatedRun, History, HistoryLine, HistoryStep
from ...analyse.between_runs.history_first_words import of_history
from ...analyse.claims.verdicts import Verdict
from ...analyse.words import numerals, reading
from ...analyse.words.short_model_names import given_names
from ...analyse.words.verdict_words import Word
from ...protocol import MeasureSpec
from ...records import Estimate
from ...stats.results import count_of
from ..figures import axes
from ..figures.readable import share_tick
from ..figures.timeline import Link, Timeline, TimelinePanel
from ..first_screen.badges import simulated
from ..page_model import sanitize
from ..page_model.document import RunsPage, ScreenBlock, warnings_block
from ..page_model.figures import Point
from ..page_model.table import Field, Table, number, table_of, words
from .history_words import HistoryWords

MOST_PANELS = 6  # of the figure; the tables have every number
StepVerdict = tuple[HistoryStep, Verdict | None]  # None of a step that was not compared
NO_STEP, NOT_COMPARED = "no change found", "not compared"
KEY = (
    "A point is a run with its 95 % interval. A thick line with ▲ or ▼ is a change that was found "
    "(adjusted over all steps and numbers), a thin one is none; no line: not compared."
)


def build(found: History, labels: Mapping[str, str] | None = None) -> RunsPage:
    """Builds the page of a history. labels: {short name: model}."""
    models = {one.subject for run in found.lines for one in run.values if one}
    words = HistoryWords(found, given_names(labels or {}, sorted(models)))
    first, last = found.runs[0], found.runs[-1]
    days = dict.fromkeys(run.date[:10] for run in (first, last) if run.date)
    first_words = of_history(found, words.names)
    steps, numbers, runs = _steps(words), _numbers(words), _runs(words)
    cautions = tuple(dict.fromkeys(words.cautions()))
    document = RunsPage(
        kind="history",
        title=found.protocol.title,
        question=found.protocol.question,
        line=(found.protocol.name, count_of(len(found.runs), "run"), " to ".join(days)),
        headline=first_words.headline,
        lede=first_words.lede,
        pills=tuple(pills([one for step in found.steps for one in step.verdicts])),
        figure=_figure(words) if any(words.spec(line.measure) for line in found.lines) else None,
        tables=(steps, numbers, runs),
        simulated=simulated(sorted(models)),
        cautions=cautions,
        blocks=blocks(steps, numbers, runs, cautions),
        with_line=True,
        end="As a page with a figure: --out history.html",
    )
    return sanitize.all_visible(document)


def blocks(
    steps: Table, numbers: Table, runs: Table, cautions: tuple[str, ...]
) -> tuple[ScreenBlock, ...]:
    """Returns the terminal's blocks; if room is short, the table of runs is omitted first."""
    is_different = [row[-1].startswith(Word.DIFFERENT.symbol) for row in numbers.rows]
    order = sorted(range(len(is_different)), key=lambda place: (not is_different[place], -place))
    named = tuple(f"run {number}: {name}, {date}" for number, name, date, *_ in runs.rows)
    changed = tuple(f"{step}: {changes}" for step, _, changes, _ in steps.rows)
    return (
        ScreenBlock(
            rows=numbers,
            noun="difference",
            fewer=(12, 8, 5, 3, 0),
            order=tuple(order),
            weight=2,
        ),
        ScreenBlock(rows=named, noun="run", fewer=(0,)),
        ScreenBlock(rows=changed, style="dim", fewer=(0,)),
        warnings_block(cautions),
    )


def _figure(words: HistoryWords) -> Timeline:
    lines = [line for line in words.found.lines if words.spec(line.measure)]
    panels = tuple(_panel(words, line) for line in lines[:MOST_PANELS])
    omitted = len(lines) - len(panels)
    suffix = f" The first {MOST_PANELS} of {len(lines)} numbers." if omitted else ""
    points = "; ".join(
        f"{panel.title}: {', '.join(p.text if p else 'none' for p in panel.points)}"
        for panel in panels
    )
    return Timeline(
        id="history",
        title="Headline numbers by run",
        text=f"In the order of the runs. {points}",
        note=KEY + suffix,
        table="numbers",
        dates=tuple(run.date for run in words.found.runs),
        panels=panels,
    )


def _panel(words: HistoryWords, line: HistoryLine) -> TimelinePanel:
    spec = words.spec(line.measure)
    assert spec is not None
    rows = [None if one is None else one.facts.row for one in line.values]
    axis = axes.axis(spec, [row for row in rows if row])
    if spec.unit == "share":
        is_signed = axis.domain[0] < 0
        ticks = tuple((value, share_tick(value, signed=is_signed)) for value, _ in axis.ticks)
        axis = replace(axis, ticks=ticks)
    about = spec.text or spec.name
    levels = words.label(line).removeprefix(line.measure).lstrip(", ")
    return TimelinePanel(
        title=f"{reading.title(about)}{f' · {levels}' if levels else ''}",
        axis=axis,
        points=tuple(None if row is None else _point(row, spec) for row in rows),
        links=tuple(map(_link, line.steps)),
    )


def _point(row: Estimate, spec: MeasureSpec) -> Point:
    number = reading.value(row, spec, 2)
    ends = reading.interval(row, spec, 2)
    return Point(0, row.value, row.low, row.high, number, ends)


def _steps(told: HistoryWords) -> Table:
    """Tabulates a row per step: the changes of set-up, and the numbers that moved."""
    fields: tuple[Field[HistoryStep], ...] = (
        words("step", lambda step: _step_name(step, step is told.found.since_first)),
        words("until", lambda step: told.found.runs[step.second].date[:10] or numerals.NOTHING),
        words("changed", lambda step: _changes(told, step)),
        words("moved", lambda step: _outcome(told, step)),
    )
    return table_of("steps", "What changed, step by step", "", told.found.every_step, fields)


def _step_name(step: HistoryStep, since_first: bool = False) -> str:
    return f"{step.first + 1} → {step.second + 1}{' (first to last)' if since_first else ''}"


def _changes(told: HistoryWords, step: HistoryStep) -> str:
    changes = (
        f"{one.what}: {_side(told, one.before)} → {_side(told, one.after)}" for one in step.changes
    )
    return "; ".join(changes) or "nothing"


def _side(told: HistoryWords, text: str) -> str:
    return told.names.get(text, text) or "none"


def _outcome(told: HistoryWords, step: HistoryStep) -> str:
    if not step.verdicts:
        return NOT_COMPARED
    if not step.told:
        return NO_STEP
    return "; ".join(told.values(step, one) for one in step.told)


def _numbers(told: HistoryWords) -> Table:
    """Tabulates a row per difference of a step; a step without differences has one row."""

    def of(
        read: Callable[[HistoryStep, Verdict], str], nothing: str
    ) -> Callable[[StepVerdict], str]:
        return lambda row: nothing if row[1] is None else read(row[0], row[1])

    def values(step: HistoryStep, one: Verdict) -> str:
        return " → ".join(told.pair(step, one))

    def difference(step: HistoryStep, one: Verdict) -> str:
        spec = told.spec(one.measure)
        return reading.number(one.facts.row, spec and replace(spec, null=0.0))

    def verdict(step: HistoryStep, one: Verdict) -> str:
        return f"{one.word.symbol} {one.word.value}"

    def changed(row: StepVerdict) -> str:
        return ", ".join(change.what for change in row[0].changes) or "nothing"

    nothing = numerals.NOTHING
    fields: tuple[Field[StepVerdict], ...] = (
        words("step", lambda row: _step_name(row[0])),
        words("changed", changed),
        words("number", of(lambda step, one: told.label(one), nothing)),
        number("values", of(values, nothing), brief=False),
        number("difference", of(difference, nothing)),
        number("p adj.", of(lambda step, one: numerals.chance(one.p_adjusted), nothing)),
        words("verdict", of(verdict, NOT_COMPARED)),
    )
    about = (
        "later less earlier, 95 % intervals, over the items that both runs have; p adjusted "
        "over all steps and headline numbers (Holm)"
    )
    rows = ((step, one) for step in told.found.every_step for one in step.verdicts or (None,))
    return table_of("numbers", "Every difference", about, rows, fields)


def _runs(told: HistoryWords) -> Table:
    """Tabulates a row per run: its name, date, and set-up."""

    def made_with(name: str) -> Field[tuple[int, DatedRun]]:
        return words(name, lambda row: row[1].made_with.get(name, numerals.NOTHING), brief=False)

    fields: tuple[Field[tuple[int, DatedRun]], ...] = (
        words("run", lambda row: str(row[0])),
        words("name", lambda row: row[1].name),
        words("date", lambda row: row[1].date[:10] or numerals.NOTHING),
        *map(made_with, dict.fromkeys(name for run in told.found.runs for name in run.made_with)),
    )
    return table_of("runs", "The runs", "", enumerate(told.found.runs, 1), fields)


def _link(step: Verdict | None) -> Link:
    if step is None:
        return "none"
    return "told" if step.word == Word.DIFFERENT else "same"
