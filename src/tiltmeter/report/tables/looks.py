"""Shows the looks of a run that stops early: how each claim's p moved, and when it was decided."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ...analyse.stopping.plan import PlannedClaim
from ...analyse.stopping.progress import StoppingProgress, read_progress
from ...analyse.words import numerals
from ...analyse.words.short_model_names import short_names
from ...analyse.words.verdict_words import BY_STATE
from ...protocol import Protocol, wording
from ...store import Store
from ..page_model import audits
from ..page_model.figures import Axis, FigureRow, Plot, Point
from ..page_model.page import Section
from ..page_model.table import Field, Table, number, table_of, words

if TYPE_CHECKING:
    from ...stats.stopping.decision import StoppingDecision

LOOKS = "looks"  # in the place of a variant
MOST_ROWS = 40  # of the figure; the table has all
LEAST_P = 1e-5  # the left end of the axis
TICKS = (
    (1e-5, ".00001"),
    (1e-4, ".0001"),
    (1e-3, ".001"),
    (0.01, ".01"),
    (0.05, ".05"),
    (1.0, "1"),
)
NOTE = (
    "A point a look: the p that is valid at any stop, before it is adjusted over the claims. It "
    "only falls. Not pursued: a tilt had little chance of being found by the last look, which is "
    "no finding that there is none. How many answers a claim has differs by design."
)


def section(
    store: Store, protocol: Protocol, named: Mapping[str, str] | None = None
) -> Section | None:
    """Makes the section on looks; None before the first look. named: {model: short name}."""
    progress = read_progress(store)
    if progress is None or not progress.made:
        return None
    rows = list(_rows(progress, protocol, named))
    figure, table = _figure(progress, rows), _table(progress, rows)
    text = f"{progress.sentence()} {progress.plan.told_moves}".rstrip()
    return Section(LOOKS, "When the run knew", text, (figure,), (table,))


def limits(store: Store) -> Iterator[str]:
    """Yields the limitation of a run that stops early; nothing for other runs."""
    progress = read_progress(store)
    if progress is not None:
        yield (
            f"{progress.sentence()} Claims have different numbers of answers by design; p holds at "
            "any stop, intervals are longer for it, and what was not pursued is no finding."
        )


def _state_words(path: Sequence[StoppingDecision]) -> str:
    """Returns the verdict that follows from a claim's state at its last look."""
    word = BY_STATE.get(path[-1].state)
    return "no tilt found" if word is None else word.value


Row: TypeAlias = "tuple[PlannedClaim, str, Sequence[StoppingDecision]]"


def _rows(
    found: StoppingProgress, protocol: Protocol, named: Mapping[str, str] | None
) -> Iterator[Row]:
    """Yields (claim, a label that distinguishes it, its decisions up to the last)."""
    claims = found.plan.claims
    names = short_names([claim.subject for claim in claims], named)
    claim_levels = [_levels(claim, protocol) | {"model": names[claim.subject]} for claim in claims]
    names_seen = {name for levels in claim_levels for name in levels}
    differ = [n for n in names_seen if len({levels.get(n, "") for levels in claim_levels}) > 1]
    for claim, levels in zip(claims, claim_levels, strict=True):
        label = ", ".join(levels[name] for name in levels if name in differ) or claim.measure
        path = [look.decisions[claim.key] for look in found.made]
        yield claim, label, [one for n, one in enumerate(path, 1) if one.look == n]


def _levels(claim: PlannedClaim, protocol: Protocol) -> dict[str, str]:
    levels = {"measure": claim.measure, "model": claim.subject}
    for name, level in (*claim.condition.items(), *(claim.contrast or {}).items()):
        levels[name] = wording.title(protocol, name, level)
    return levels


def _figure(found: StoppingProgress, rows: Sequence[Row]) -> Plot:
    series = tuple(
        f"look {look.number}, round {look.rounds} of {found.plan.looks[-1]}" for look in found.made
    )
    figure_rows = tuple(
        FigureRow(claim.measure, f"{label}: {_state_words(path)}", tuple(map(_point, path)))
        for claim, label, path in rows[:MOST_ROWS]
    )
    description = "; ".join(f"{label}: {_state_words(path)}" for _, label, path in rows[:MOST_ROWS])
    return Plot(
        id=audits.slug(LOOKS, "figure"),
        title="p at each look",
        text=f"p of each claim at each look. {description}.",
        note=NOTE,
        table=audits.slug(LOOKS),
        series=series,
        rows=figure_rows,
        axis=Axis(
            scale="log",
            domain=(LEAST_P, 1.0),
            ticks=TICKS,
            null=found.plan.alpha,
            ends=("more surely a tilt", ""),
        ),
        joined=True,
    )


def _point(one: StoppingDecision) -> Point:
    return Point(one.look - 1, max(one.p, LEAST_P), None, None, numerals.chance(one.p), "")


def _table(found: StoppingProgress, rows: Sequence[Row]) -> Table:
    plan = found.plan

    def chance(
        name: str, read: Callable[[StoppingDecision], float], brief: bool = False
    ) -> Field[Row]:
        return number(name, lambda row: numerals.chance(read(row[2][-1])), brief)

    def round_of(row: Row) -> str:
        return f"{plan.looks[row[2][-1].look - 1]} of {plan.looks[-1]}"

    def later(row: Row) -> str:
        found = row[2][-1].chance
        return numerals.NOTHING if found is None else numerals.share(found, 2)

    fields: tuple[Field[Row], ...] = (
        words("measure", lambda row: row[0].measure, brief=False),
        words("claim", lambda row: row[1]),
        words("what became of it", lambda row: _state_words(row[2])),
        number("at look", lambda row: str(row[2][-1].look)),
        number("after round", round_of, brief=False),
        chance("p", lambda last: last.p, brief=True),
        chance("p of the look", lambda last: last.q),
        chance("level", lambda last: last.level),
        number("chance of a tilt by the last look", later, brief=False),
    )
    about = (
        f"α {plan.alpha:g}; weights of the looks {', '.join(f'{w:g}' for w in plan.weights)}; "
        f"futility below {', '.join(f'{f:g}' for f in plan.futility)}; plan {plan.hash[:12]}"
    )
    title = "Each claim at the look that decided it"
    return table_of(audits.slug(LOOKS), title, about, rows, fields)
