"""What a comparison of runs begins with: what changed, what did not, and what cannot be told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..analyse import numerals
from ..analyse.claims import HEADLINE
from ..analyse.compare import Comparison
from ..analyse.pairing import ComparisonRow

NAMED = 3  # differences that a line names
# of a verdict against the margin: how a line begins
BEGINS = {
    "different": "Changed",
    "equivalent": "Not changed (surely by less than {margin})",
    "inconclusive": "Not known (too few items to say either)",
}


def headline_differences(found: Comparison) -> Comparison:
    """With the rows of headline claims alone, those that changed first; with all rows where no row
    is one.
    """
    rows = [row for row in found.rows if (row.estimate.family or "").startswith(HEADLINE)]
    rows.sort(key=lambda row: list(BEGINS).index(row.verdict) if row.verdict in BEGINS else 9)
    return replace(found, rows=tuple(rows)) if rows else found


def changes(found: Comparison) -> Iterator[str]:
    """A line for what changed, one for what did not, and one for what cannot be told."""
    rows = [row for row in headline_differences(found).rows if row.verdict]
    for verdict, begin in BEGINS.items():
        own = [row for row in rows if row.verdict == verdict]
        if own:
            head = begin.format(margin=numerals.share(own[0].margin, 2))
            yield f"{head}: {len(own)} of {len(rows)} headline numbers. {_named(own)}"
    if not rows:
        yield "No headline number could be tested against the other run."


def _named(rows: Sequence[ComparisonRow]) -> str:
    told = [_difference(row) for row in rows[:NAMED]]
    more = f"; {len(rows) - NAMED} more below" if len(rows) > NAMED else ""
    return f"{'; '.join(told)}{more}."


def _difference(row: ComparisonRow) -> str:
    """`share_she in en, fair − roles: .71 → .49 (p < .001)`."""
    e = row.estimate
    where = ", ".join(level for name, level in e.condition.items() if level and name != "mode")
    held = [level for name, level in (e.contrast or {}).items() if name != "run"]
    name = " ".join(filter(None, (e.measure, f"in {where}" if where else "", *held)))
    values = (
        f": {numerals.quantity(row.first, 'share', bool(held), 2)} → "
        f"{numerals.quantity(row.second, 'share', bool(held), 2)}"
        if row.first is not None and row.second is not None
        else ""
    )
    chance = numerals.chance(e.p_adjusted)
    p = f" (adjusted p {chance if chance[0] in '<>' else f'= {chance}'})"
    return f"{name}, {(e.contrast or {}).get('run', '')}{values}{p}"
