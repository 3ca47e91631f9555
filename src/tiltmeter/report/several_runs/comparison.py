"""A comparison of runs as a page: the first words, a pill a verdict, a figure of arrows, one prompt
in both runs, every headline difference, and what was told of the set-up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...analyse.between_runs import first_words
from ...analyse.between_runs.compare import Comparison
from ...analyse.between_runs.first_words import Pill
from ...analyse.between_runs.paired_runs import ComparisonRow
from ...analyse.words.headlines import amount
from ...analyse.words.verdict_words import Word
from ...stats.results import count_of
from ..figures.timeline import Arrow, Arrows
from ..page_model import sanitize
from ..page_model.page import Column, Table
from ..tables import judges
from . import changes
from .prompts import Example, example_of

MOST_ROWS = 12  # of the figure; the table has every number


@dataclass(frozen=True, slots=True)
class ComparisonPage:
    """What is printed of a comparison. cautions: what keeps it from being read as it stands."""

    kind: str
    title: str
    question: str
    line: tuple[str, ...]
    headline: str
    lede: tuple[str, ...]
    pills: tuple[Pill, ...]
    figure: Arrows | None
    example: Example | None
    tables: tuple[Table, ...]
    cautions: tuple[str, ...]


def build(found: Comparison, names: Mapping[str, str]) -> ComparisonPage:
    """The page of a comparison with short names (`changes.with_names`). names: {model: its short
    name}.
    """
    words = first_words.of_comparison(found)
    rows = [row for row in changes.headline_differences(found).rows if row.claim]
    runs = list(dict.fromkeys(run for row in found.rows for run in row.runs))
    named = [f"{name} = {model}" for model, name in names.items()]
    page = ComparisonPage(
        kind="compare",
        title=found.protocol.title,
        question=found.protocol.question,
        line=(found.protocol.name, count_of(len(runs), "run"), *named),
        headline=words.headline,
        lede=words.lede,
        pills=tuple(first_words.pills(found.verdicts)),
        figure=_figure(found, rows),
        example=example_of(found.example),
        tables=tuple(_tables(found)),
        cautions=tuple(_cautions(found)),
    )
    return sanitize.all_visible(page)


def _tables(found: Comparison) -> Iterator[Table]:
    yield judges.comparison(found)
    if found.set_up:
        columns = tuple(Column(name, brief=True) for name in ("what", "before", "after"))
        rows = tuple((one.what, one.before or "none", one.after or "none") for one in found.set_up)
        yield Table("set-up", "What else differs between the runs", "", columns, rows)


def _cautions(found: Comparison) -> Iterator[str]:
    yield from changes.cautions(found)
    yield from found.warnings
    yield from (f"Not compared: {line}." for line in found.left_out)


def _figure(found: Comparison, rows: Sequence[ComparisonRow]) -> Arrows | None:
    """The numbers of the leading one's unit, of two runs."""
    kept = [row for row in rows if None not in (row.first, row.second)]
    if not kept:
        return None
    lead = first_words.change_of(found, kept[0])
    alike = [
        row
        for row in kept
        if row.runs == kept[0].runs
        and (row.estimate.unit, first_words.change_of(found, row).signed)
        == (lead.unit, lead.signed)
    ]
    arrows = tuple(_arrow(found, row) for row in alike[:MOST_ROWS])
    domain, ticks = _axis(
        [value for arrow in arrows for value in arrow.values], lead.unit, lead.signed
    )
    left = len(kept) - len(arrows)
    more = f" {count_of(left, 'more number')} in the table." if left else ""
    told = "; ".join(f"{a.label}: {a.texts[0]} to {a.texts[1]}" for a in arrows)
    return Arrows(
        id="arrows",
        title="From the earlier run to the later one",
        text=told,
        note=f"An arrow a headline number; a thick one is a difference that was found.{more}",
        table="comparison",
        runs=kept[0].runs,
        rows=arrows,
        domain=domain,
        ticks=ticks,
        null=0.0 if lead.signed else None,
    )


def _arrow(found: Comparison, row: ComparisonRow) -> Arrow:
    change, word = first_words.change_of(found, row), row.verdict or Word.NO_TEST
    first, second = row.first or 0.0, row.second or 0.0
    slots, levels = change.slots(), change.levels
    label = slots.get("Counted") or change.measure.replace("_", " ")
    texts = tuple(amount(value, change.unit, change.signed) for value in (first, second))
    name = f"{label} ({', '.join(levels)})" if levels else label
    return Arrow(name, (first, second), (texts[0], texts[1], word.value), word == Word.DIFFERENT)


def _axis(
    values: Sequence[float], unit: str, signed: bool
) -> tuple[tuple[float, float], tuple[tuple[float, str], ...]]:
    """An axis zoomed to the values and no difference, with a few round places on it."""
    seen = [*values, 0.0] if signed else [*values]
    low, high = min(seen), max(seen)
    room = max(0.05 * (high - low), 0.02 if unit == "share" else 1e-6)
    low, high = low - room, high + room
    if unit == "share":
        low, high = max(low, -1.0 if signed else 0.0), min(high, 1.0)
    steps = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)
    step = next((s for s in steps if (high - low) / s <= 6), (high - low) / 4)
    first = round(low / step + 0.499999)
    places = [n * step for n in range(first, first + 9) if n * step <= high + 1e-9]
    ticks = tuple((p, amount(p, unit, signed) if unit == "share" else f"{p:.3g}") for p in places)
    return (low, high), tuple(
        (p, t.removesuffix(" points").removesuffix(" point")) for p, t in ticks
    )
