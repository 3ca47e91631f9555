"""Lays out a comparison of runs as a document: headline and lede, a badge per verdict, a figure
of arrows, one prompt in both runs, every headline difference, and changes of the set-up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ...analyse.between_runs import first_words
from ...analyse.between_runs.compare import Comparison
from ...analyse.between_runs.paired_runs import ComparisonRow
from ...analyse.between_runs.prompt_in_both import PromptInBoth
from ...analyse.between_runs.set_up import Difference
from ...analyse.words import numerals
from ...analyse.words.headlines import amount
from ...analyse.words.verdict_words import Word
from ...display import shorten
from ...stats.results import count_of
from ..figures import axes
from ..figures.readable import axis_over
from ..figures.timeline import Arrow, Arrows
from ..first_screen.badges import simulated
from ..page_model import sanitize
from ..page_model.document import Example, RunsPage, ScreenBlock, warnings_block
from ..page_model.figures import Axis
from ..page_model.table import Field, Table, number, table_of, words
from ..tables import judges
from . import changes

MOST_ROWS = 12  # of the figure; the table has every number
LONGEST_NAME = 16  # characters of a run's name in a terminal; the lines below have all of it
LONGEST_PROMPT, LONGEST_ANSWER = 240, 200  # characters that are shown


def build(found: Comparison, names: Mapping[str, str], full: bool = False) -> RunsPage:
    """Builds the document of a comparison with short names (`changes.with_names`). names: {model:
    short name}; full: True to list every difference in the terminal.
    """
    words = first_words.of_comparison(found)
    headlines = changes.headline_differences(found).rows
    runs = list(dict.fromkeys(run for row in found.rows for run in row.runs))
    named = tuple(f"{name} = {model}" for model, name in names.items())
    warned = warnings_block(tuple(changes.cautions(found)))
    models = ScreenBlock(rows=named, style="dim")
    blocks = (
        (warned, models, *_every_difference(found))
        if full
        else _blocks(found, headlines, warned, models)
    )
    document = RunsPage(
        kind="compare",
        title=found.protocol.title,
        question=found.protocol.question,
        line=(found.protocol.name, count_of(len(runs), "run"), *named),
        headline=words.headline,
        lede=words.lede,
        pills=tuple(first_words.pills(found.verdicts)),
        figure=_figure(found, [row for row in headlines if row.claim]),
        example=_example(found.example),
        tables=tuple(_tables(found)),
        simulated=simulated(_models(found, names)),
        cautions=tuple(_cautions(found)),
        blocks=blocks,
    )
    return sanitize.all_visible(document)


def _models(found: Comparison, names: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the models of all runs, each once."""
    changed = [one for one in found.set_up if one.what == "model"]
    sides = [name for one in changed for side in one[1:] for name in side.split(", ")]
    return tuple(dict.fromkeys((*names, *(row.estimate.subject for row in found.rows), *sides)))


def _blocks(
    found: Comparison, rows: Sequence[ComparisonRow], warned: ScreenBlock, named: ScreenBlock
) -> tuple[ScreenBlock, ...]:
    """Returns the terminal's blocks; if room is short, fewer cautions, then fewer differences."""
    kind = "headline number" if any(row.claim for row in rows) else "difference"
    others = "difference of other measures and groups"
    table = ScreenBlock(
        rows=_headline_table(rows), noun=f"more {kind}", fewer=(12, 8, 5, 3, 2, 0), weight=2
    )
    return table, ScreenBlock(noun=others, hidden=len(found.rows) - len(rows)), warned, named


def _every_difference(found: Comparison) -> Iterator[ScreenBlock]:
    """Yields blocks on the differences of all measures and groups, and on their notes."""
    table = judges.comparison(found, everything=True)
    _, group, *others = table.columns
    rows = tuple((f"{measure}: {by}", *rest) for measure, by, *rest in table.rows)
    yield ScreenBlock(rows=replace(table, columns=(group, *others), rows=rows))
    notes = (f"{letter}  {text}" for letter, text in table.notes)
    yield ScreenBlock(rows=(table.about, *notes), style="dim")


def _headline_table(rows: Sequence[ComparisonRow]) -> Table:
    """Tabulates a row per difference: its distinguishing levels, values and verdict."""
    several = len({row.runs for row in rows}) > 1

    def name(row: ComparisonRow) -> str:
        levels_of = _levels(row)
        differ = (n for n in levels_of if any(_levels(o).get(n, "") != levels_of[n] for o in rows))
        levels = (levels_of[n] for n in differ if n != "run" and levels_of[n])
        return ", ".join((row.estimate.measure, *levels))

    def values(row: ComparisonRow) -> str:
        text = judges.values(row)
        return text if numerals.NOTHING not in text else numerals.NOTHING

    def verdict(row: ComparisonRow) -> str:
        return f"{row.verdict.symbol if row.verdict else '·'} {row.verdict or numerals.NOTHING}"

    fields: tuple[Field[ComparisonRow], ...] = (
        words("number", name),
        words("run", lambda row: shorten(row.runs[1], LONGEST_NAME), brief=several),
        number("values", values),
        number("difference", judges.difference),
        number("p adj.", lambda row: numerals.chance(row.estimate.p_adjusted)),
        words("verdict", verdict),
    )
    return table_of("differences", "", "", rows, fields)


def _levels(row: ComparisonRow) -> dict[str, str]:
    return {**row.estimate.condition, **(row.estimate.contrast or {})}


def _example(found: PromptInBoth | None) -> Example | None:
    """Returns the prompt that both runs answered, with its texts shortened; None without one."""
    if found is None:
        return None
    answers = tuple(
        (run, shorten(text, LONGEST_ANSWER), value)
        for run, text, value in zip(found.runs, found.answers, found.values, strict=True)
    )
    count = (
        f"{found.alike} of {found.of} prompts differ so in their first answers, {found.reverse} "
        "the other way."
    )
    return Example(shorten(found.prompt, LONGEST_PROMPT), answers, count)


def _tables(found: Comparison) -> Iterator[Table]:
    yield judges.comparison(found)
    if found.set_up:
        fields: tuple[Field[Difference], ...] = (
            words("what", lambda one: one.what),
            words("before", lambda one: one.before or "none"),
            words("after", lambda one: one.after or "none"),
        )
        title = "What else differs between the runs"
        yield table_of("set-up", title, "", found.set_up, fields)


def _cautions(found: Comparison) -> Iterator[str]:
    yield from changes.cautions(found)
    yield from found.warnings
    yield from (f"Not compared: {line}." for line in found.left_out)


def _figure(found: Comparison, rows: Sequence[ComparisonRow]) -> Arrows | None:
    """Draws an arrow per number with the first row's unit and runs; None without numbers."""
    in_both = [row for row in rows if None not in (row.first, row.second)]
    if not in_both:
        return None
    lead = first_words.change_of(found, in_both[0])
    alike = [
        row
        for row in in_both
        if row.runs == in_both[0].runs
        and (row.estimate.unit, first_words.change_of(found, row).signed)
        == (lead.unit, lead.signed)
    ]
    arrows = tuple(_arrow(found, row) for row in alike[:MOST_ROWS])
    values = [value for arrow in arrows for value in arrow.values]
    omitted = len(in_both) - len(arrows)
    more = f" {count_of(omitted, 'more number')} in the table." if omitted else ""
    described = "; ".join(f"{a.label}: {a.texts[0]} to {a.texts[1]}" for a in arrows)
    return Arrows(
        id="arrows",
        title="From the earlier run to the later one",
        text=described,
        note=f"One arrow per headline number; a thick one is a difference that was found.{more}",
        table="comparison",
        runs=in_both[0].runs,
        rows=arrows,
        axis=_axis(values, lead.unit, lead.signed),
    )


def _arrow(found: Comparison, row: ComparisonRow) -> Arrow:
    change, word = first_words.change_of(found, row), row.verdict or Word.NO_TEST
    first, second = row.first or 0.0, row.second or 0.0
    slots, levels = change.slots(), change.levels
    label = slots.get("Counted") or change.measure.replace("_", " ")
    texts = tuple(amount(value, change.unit, change.signed) for value in (first, second))
    name = f"{label} ({', '.join(levels)})" if levels else label
    return Arrow(name, (first, second), (texts[0], texts[1], word.value), word == Word.DIFFERENT)


def _axis(values: Sequence[float], unit: str, signed: bool) -> Axis:
    """Returns an axis that covers the values, and 0 if they are signed."""
    domain, ticks = axes.linear([0.0, *values] if signed else values, signed=signed, unit=unit)[1:]
    whole = Axis(domain=domain, ticks=ticks, null=0.0 if signed else None)
    return axis_over(values, whole, signed=signed) if unit == "share" else whole
