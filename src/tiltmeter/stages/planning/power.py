"""The power of a design before it is run: the smallest difference found with 80 % power, and the
number of items or samples that a wanted difference needs.

Computed for each headline measure (for an attribute without one, its first tested measure), by
mode, language and grouping (there for the group with the fewest items), by stats/detectable.py:
tables are simulated with items as clusters, and the row's own test is run on them at α over its
family. The correlation of the outputs of one item (`icc`, 0 to 1) is an assumption; after the run,
the items' measured differences replace it. Outputs without an answer make the real n smaller.

If items are the levels of a factor, and few (four pairings), they are no sample of items: then, as
for a divergence, which shuffles outputs, the single outputs are the sampling unit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...errors import UsageError
from ...protocol import MeasureSpec, Protocol, few_items
from ...protocol.design.tables import Row
from ...protocol.instrument_kinds import Labels
from ...protocol.measures import measure_kind
from ...stats.crossed.planned import WordsDesign, planned_shift_of_words
from ...stats.crossed.words import LEAST_WORDS
from ...stats.multiplicity import reach
from ...stats.power.cell_rises import SHARE, planned_critical, value_rise
from ...stats.power.design import POWER, Design
from ...stats.power.detectable import divergence_shift, planned_power, planned_shift
from ...stats.results import ALPHA, count_of
from .plan import Choices
from .planned_claims import (
    SUPPOSED_VALUES,
    PlannedGroup,
    compared_cells,
    counts_every_value,
    family_size,
    planned_groups,
    sides_of,
    tests_of,
)

ICC = 0.2
CORRELATION = 0.8  # of an item's own shares at two levels; 1 to .65 if items differ
# of an object, where a run has not found its attributes yet: its own, and those of all objects
SUPPOSED_ATTRIBUTES = (7, 4)
NAMES_AT_PRICE = 10  # cue words of a side that a plan with fewer is held against
MOST_SAMPLES = 10_000
MOST_ITEMS = 300  # items up to which a design is simulated; beyond, differences go with 1/√items


@dataclass(frozen=True, slots=True)
class Detectable:
    """The detectable difference of a group. clusters: items, None if outputs are the sampling unit;
    per_cluster: labels per item (and side), or per group (per side of a divergence); tests: the
    number of tests over which its p is adjusted; detectable: in `unit`, None with a note.

    twice_items, twice_samples: the difference detected at twice the cost, spent on more items or
    more samples; None if unknown. items_needed, samples_needed: the number that detects the wanted
    difference, the other unchanged; None if no number does. words: cue words per side, None if they
    are not a sample; by_words: a sentence on the differences that these words, and ten at the same
    price, detect.
    """

    measure: str
    mode: str
    language: str
    group: Mapping[str, str]
    clusters: int | None
    per_cluster: float
    tests: int
    detectable: float | None
    unit: str
    note: str = ""
    items_needed: int | None = None
    samples_needed: int | None = None
    twice_items: float | None = None
    twice_samples: float | None = None
    words: int | None = None
    by_words: str = ""


@dataclass(frozen=True, slots=True)
class _Wish:
    """The assumptions and the goal that a user gave. icc: the intra-item correlation; correlation:
    between an item's two sides; wanted: a difference in shares, or None.
    """

    protocol: Protocol
    choices: Choices
    icc: float
    correlation: float
    wanted: float | None


def detectable(
    protocol: Protocol,
    choices: Choices,
    icc: float = ICC,
    wanted: float | None = None,
    family: int | None = None,
    correlation: float = CORRELATION,
) -> list[Detectable]:
    """Returns a row per group of the default variant's measures. wanted: a difference in shares,
    such as 0.05 for 5 points; family: the number of the run's headline claims, None to count them.
    """
    if (
        not 0 <= icc <= 1
        or not 0 <= correlation <= 1
        or (wanted is not None and not 0 < wanted < 1)
    ):
        raise UsageError(
            "--detect must be a difference in shares between 0 and 1 (0.05 for 5 points), and "
            "--icc and --correlation must be from 0 to 1."
        )
    size = family_size(protocol, choices) if family is None else family
    wish = _Wish(protocol, choices, icc, correlation, wanted)
    return [_row(wish, part) for part in planned_groups(protocol, choices, size)]


def _row(asked: _Wish, part: PlannedGroup) -> Detectable:
    protocol, measure, mode = asked.protocol, part.measure, part.mode
    sides, cells = compared_cells(measure, part.cells)
    items = len({cell[protocol.item] for cell in cells})
    samples = 1 if mode.logprobs else asked.choices.samples or mode.samples
    size = len(cells) / items / sides * samples * (1 if mode.logprobs else part.labels.an_output)
    where = (measure.name, mode.name, part.language, part.group)
    row = Detectable(*where, items, size, part.tests, None, "share")
    solver = measure_kind(measure.kind).detectable
    if solver == "divergence":
        return _divergence(row, measure, cells, samples)
    if solver == "cells":
        return _cells(row, protocol, part, samples)
    if solver == "spread":
        return replace(
            row, note="depends on how far items spread: see `detectable` after a small run"
        )
    if not solver:
        return replace(row, note=f"a {measure.kind} has no detectable difference of its own")
    is_single = items == 1 and few_items(protocol) and not mode.logprobs
    if items < 2 and not is_single:
        return replace(row, note="one item: nothing can be said of others")
    share = share_of(measure, part.labels)
    if is_single:
        design = Design(share, round(size), 1.0, 0.0, sides)
    else:
        outputs = math.inf if mode.logprobs else size
        correlation = asked.correlation if sides == 2 else 0.0
        design = Design(share, items, outputs, asked.icc, sides, correlation)
    row = replace(
        row,
        clusters=None if is_single else items,
        per_cluster=1.0 if mode.logprobs else size,
    )
    row = _with_needed(_solve(row, design, part.whole), design, asked.wanted, samples)
    return row if is_single else _with_words(row, protocol, measure, cells)


def _with_words(
    row: Detectable, protocol: Protocol, measure: MeasureSpec, cells: Sequence[Row]
) -> Detectable:
    """Adds the difference found if cue words are a sample; `detectable` becomes the larger one."""
    cue = protocol.cues.get((measure.contrast or {}).get("factor", ""))
    if cue is None or sides_of(measure) != 2 or row.clusters is None:
        return row
    words_by_level: dict[str, set[str]] = {}
    for cell in cells:
        if cell.get(cue.column):
            words_by_level.setdefault(cell[cue.factor], set()).add(cell[cue.sets or cue.column])
    words = min(map(len, words_by_level.values()), default=0)
    noun = f"{count_of(words, cue.singular)} a level"
    row = replace(row, words=words)
    if words < LEAST_WORDS:
        advice = f"nothing can be said of others. Give {NAMES_AT_PRICE} each"
        return replace(row, by_words=f"{noun}: {advice}")
    shift = _shift_of_words(row, words)
    sentence = f"{noun}: {_points(shift)}, for {cue.noun} like these"
    if words < NAMES_AT_PRICE:
        sentence += f"; {NAMES_AT_PRICE} at the same price: {_points(_shift_of_words(row))}"
    if shift is None or row.detectable is None:
        return replace(row, detectable=None, by_words=sentence, note=row.note or sentence)
    return replace(row, detectable=max(row.detectable, shift), by_words=sentence)


def _shift_of_words(row: Detectable, words: int = NAMES_AT_PRICE) -> float | None:
    answers = max(1, round(row.per_cluster / words))
    design = WordsDesign(words, row.clusters or 0, answers)
    return planned_shift_of_words(design, level=ALPHA / row.tests)


def _points(shift: float | None) -> str:
    return "no difference would be found" if shift is None else f"{100 * shift:.0f} points"


def _solve(row: Detectable, design: Design, compared: bool) -> Detectable:
    """Adds the detectable difference; if `compared`, also the differences at twice the cost."""
    level = ALPHA / row.tests
    shift = planned_shift(design=design, level=level)
    if shift is None:
        conditions = max(design.conditions, 2)
        note = reach(items=design.items, tests=row.tests, alpha=ALPHA, conditions=conditions).note
        return replace(row, note=note or "too few items to find any difference")
    row = replace(row, detectable=shift)
    if not compared or row.clusters is None:
        return row
    items = replace(design, items=2 * design.items)
    samples = replace(design, outputs=2 * design.outputs)
    return replace(
        row,
        twice_items=planned_shift(design=items, level=level),
        twice_samples=None
        if math.isinf(design.outputs)
        else planned_shift(design=samples, level=level),
    )


def _with_needed(row: Detectable, design: Design, wanted: float | None, samples: int) -> Detectable:
    """Adds the number of items, and of samples, needed to detect the wanted difference."""
    if wanted is None or row.detectable is None or wanted >= 1 - design.share:
        return row
    level, is_single = ALPHA / row.tests, row.clusters is None

    def is_found(design: Design) -> bool:
        return planned_power(design=design, shift=wanted, level=level) >= POWER

    def with_samples(number: int) -> Design:
        if is_single:
            return replace(design, items=max(2, round(design.items * number / samples)))
        return replace(design, outputs=max(1.0, design.outputs * number / samples))

    items = None if is_single else _fewest_items(design, level, wanted, is_found)
    samples_needed = None
    if not math.isinf(design.outputs):
        samples_needed = _fewest(lambda number: is_found(with_samples(number)), MOST_SAMPLES)
    return replace(row, items_needed=items, samples_needed=samples_needed)


def _fewest_items(
    design: Design, level: float, wanted: float, is_found: Callable[[Design], bool]
) -> int | None:
    """Returns the fewest items that detect the wanted difference; extrapolates large numbers."""
    fewest = _fewest(lambda items: is_found(replace(design, items=items)), MOST_ITEMS)
    if fewest is not None:
        return fewest
    shift = planned_shift(design=replace(design, items=MOST_ITEMS), level=level)
    return None if shift is None else math.ceil(MOST_ITEMS * (shift / wanted) ** 2)


def _fewest(is_enough: Callable[[int], bool], most: int) -> int | None:
    """Returns the smallest sufficient number; None if even ``most`` does not suffice."""
    low, high = 0, 1
    while not is_enough(high):
        if high >= most:
            return None
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def share_of(measure: MeasureSpec, labels: Labels) -> float:
    """Returns the share from which tilts are simulated: a share's null, one half, or 1/K."""
    if measure.null is not None and measure_kind(measure.kind).detectable == "share":
        return measure.null
    return 1 / tests_of(measure, labels) if counts_every_value(measure) else 0.5


def _cells(row: Detectable, protocol: Protocol, part: PlannedGroup, samples: int) -> Detectable:
    """Simulates a largest-cell test: one value rises in one group, in all objects or in one."""
    contrast, objects = part.measure.contrast or {}, 1
    levels = Counter(cell[contrast["factor"]] for cell in part.cells)
    outputs, groups = min(levels.values()) * samples, len(levels)
    attributes_of_group, shared, values = 0, 1, len(part.measure.among) or SUPPOSED_VALUES
    if "cells" in contrast:
        objects = len({cell[protocol.item] for cell in part.cells})
        outputs, (attributes_of_group, shared) = max(1, outputs // objects), SUPPOSED_ATTRIBUTES
    side = outputs if groups < 3 else outputs * (groups - 1)
    critical = planned_critical(
        sizes=(outputs, side),
        parts=objects,
        attributes=(attributes_of_group, shared),
        values=values,
        level=ALPHA / row.tests / (groups if groups > 2 else 1),
    )
    everywhere, in_one_group = (
        value_rise(group=number * outputs, base=number * side, critical=critical, parts=number)
        for number in (objects, 1)
    )
    row = replace(row, clusters=None, per_cluster=float(outputs), detectable=everywhere)
    if everywhere is None:
        return replace(row, note=f"no rise of one value is found with {objects * outputs} outputs")
    assumption = f"one value that rises from {100 * SHARE:.0f} % in one group"
    if objects == 1:
        return replace(row, note=assumption)
    in_one = "none is found" if in_one_group is None else _points(in_one_group)
    return replace(row, note=f"{assumption}, in all {objects} objects; in one object {in_one}")


def _divergence(
    row: Detectable, measure: MeasureSpec, cells: Sequence[Row], samples: int
) -> Detectable:
    """Simulates a divergence of one attribute from equal shares, with the outputs of the smallest
    of the compared levels.
    """
    factor = (measure.contrast or {}).get("factor", "")
    sizes = Counter(cell[factor] for cell in cells)
    outputs = min(sizes.values()) * samples
    groups = len(sizes) if measure.kind == "divergence" else 2
    values = len(measure.among) or SUPPOSED_VALUES
    shift = divergence_shift(
        shares=[1.0] * values, outputs=outputs, groups=groups, level=ALPHA / row.tests
    )
    row = replace(row, unit="bits", clusters=None, per_cluster=float(outputs))
    if shift is None:
        return replace(row, note=f"no tilt is found with {outputs} outputs a side")
    tilt, bits = shift
    return replace(
        row, detectable=bits, note=f"simulated: {tilt:.0%} of a side's outputs moved to one value"
    )
