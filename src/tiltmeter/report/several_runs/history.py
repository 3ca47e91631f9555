"""A history of runs as a document: words, tables and a figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from ..page_model import sanitize
from ..page_model.document import Block, Document, warnings_block
from ..page_model.figures import Point
from ..page_model.page import Column, Table
from .history_words import HistoryWords

MOST_PANELS = 6  # of the figure; the tables have every number
NO_STEP, NOT_COMPARED = "no change found", "not compared"
KEY = (
    "A point is a run with its 95 % interval. A thick line with ▲ or ▼ is a change that was found "
    "(adjusted over all steps and numbers), a thin one is none; no line: not compared."
)


def build(found: History, labels: Mapping[str, str] | None = None) -> Document:
    """The page of a history. labels: {short name: model}."""
    models = {one.subject for run in found.lines for one in run.values if one}
    words = HistoryWords(found, given_names(labels or {}, sorted(models)))
    first, last = found.runs[0], found.runs[-1]
    days = dict.fromkeys(run.date[:10] for run in (first, last) if run.date)
    first_words = of_history(found, words.names)
    steps, numbers, runs = _steps(words), _numbers(words), _runs(words)
    cautions = tuple(dict.fromkeys(words.cautions()))
    document = Document(
        kind="history",
        title=found.protocol.title,
        question=found.protocol.question,
        line=(found.protocol.name, count_of(len(found.runs), "run"), " to ".join(days)),
        headline=first_words.headline,
        lede=first_words.lede,
        pills=tuple(pills([one for step in found.steps for one in step.verdicts])),
        figure=_figure(words) if any(words.spec(line.measure) for line in found.lines) else None,
        tables=(steps, numbers, runs),
        cautions=cautions,
        blocks=blocks(steps, numbers, runs, cautions),
        with_line=True,
        end="As a page with a figure: --out history.html",
    )
    return sanitize.all_visible(document)


def blocks(
    steps: Table, numbers: Table, runs: Table, cautions: tuple[str, ...]
) -> tuple[Block, ...]:
    """The blocks for a terminal: with less room the runs are left out first."""
    found = [row[-1].startswith(Word.DIFFERENT.symbol) for row in numbers.rows]
    order = sorted(range(len(found)), key=lambda place: (not found[place], -place))
    named = tuple(f"run {number}: {name}, {date}" for number, name, date, *_ in runs.rows)
    changed = tuple(f"{step}: {changes}" for step, _, changes, _ in steps.rows)
    return (
        Block(
            rows=numbers,
            noun="difference",
            fewer=(12, 8, 5, 3, 0),
            order=tuple(order),
            weight=2,
        ),
        Block(rows=named, noun="run", fewer=(0,)),
        Block(rows=changed, style="dim", fewer=(0,)),
        warnings_block(cautions),
    )


def _figure(words: HistoryWords) -> Timeline:
    drawn = [line for line in words.found.lines if words.spec(line.measure)]
    panels = tuple(_panel(words, line) for line in drawn[:MOST_PANELS])
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
        dates=tuple(run.date for run in words.found.runs),
        panels=panels,
    )


def _panel(words: HistoryWords, line: HistoryLine) -> TimelinePanel:
    spec = words.spec(line.measure)
    assert spec is not None
    rows = [None if one is None else words.estimate(one) for one in line.values]
    axis = axes.axis(spec, [row for row in rows if row])
    if spec.unit == "share":
        signed = axis.domain[0] < 0
        ticks = tuple((value, share_tick(value, signed=signed)) for value, _ in axis.ticks)
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
    return Point(0, row.value, row.low, row.high, number, ends, numerals.count(row.n), "")


def _steps(words: HistoryWords) -> Table:
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
        tuple(_step_cells(words, step) for step in words.found.every_step),
    )


def _step_cells(words: HistoryWords, step: HistoryStep) -> tuple[str, ...]:
    since = step is words.found.since_first
    changes = "; ".join(
        f"{one.what}: {_side(words, one.before)} → {_side(words, one.after)}"
        for one in step.changes
    )
    return (
        f"{step.first + 1} → {step.second + 1}{' (first to last)' if since else ''}",
        words.found.runs[step.second].date[:10] or numerals.NOTHING,
        changes or "nothing",
        _outcome(words, step),
    )


def _side(words: HistoryWords, text: str) -> str:
    return words.names.get(text, text) or "none"


def _outcome(words: HistoryWords, step: HistoryStep) -> str:
    if not step.verdicts:
        return NOT_COMPARED
    if not step.told:
        return NO_STEP
    return "; ".join(words.values(step, one) for one in step.told)


def _numbers(words: HistoryWords) -> Table:
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
        tuple(row for step in words.found.every_step for row in _number_rows(words, step)),
    )


def _number_rows(words: HistoryWords, step: HistoryStep) -> Iterator[tuple[str, ...]]:
    about = (
        f"{step.first + 1} → {step.second + 1}",
        ", ".join(change.what for change in step.changes) or "nothing",
    )
    for one in step.verdicts:
        row, spec = words.estimate(one), words.spec(one.measure)
        before, after = words.pair(step, one)
        yield (
            *about,
            words.label(one),
            f"{before} → {after}",
            reading.number(row, spec and replace(spec, null=0.0)),
            numerals.chance(one.p_adjusted),
            f"{one.word.symbol} {one.word.value}",
        )
    if not step.verdicts:
        yield (*about, *[numerals.NOTHING] * 4, NOT_COMPARED)


def _runs(words: HistoryWords) -> Table:
    """A row a run, with what it was made with."""
    every = dict.fromkeys(name for run in words.found.runs for name in run.made_with)
    columns = [Column(name) for name in every]
    return Table(
        "runs",
        "The runs",
        "",
        (*(Column(name, brief=True) for name in ("run", "name", "date")), *columns),
        tuple(
            (str(number), run.name, run.date[:10] or numerals.NOTHING, *_facts(run, [*every]))
            for number, run in enumerate(words.found.runs, 1)
        ),
    )


def _facts(run: DatedRun, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(run.made_with.get(name, numerals.NOTHING) for name in names)


def _link(step: Verdict | None) -> Link:
    if step is None:
        return "none"
    return "told" if step.word == Word.DIFFERENT else "same"
