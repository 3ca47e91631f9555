"""What a design can tell from no tilt, before it is run: the smallest difference found with 80 %
power, and what it takes.

For each headline measure, by mode and language and for each of its groupings (of these the group
with the fewest items), from stats/power.py with the items as clusters. How alike the outputs of one
item are (`icc`, 0 to 1) is an assumption that nobody knows before; a run's own interval replaces
it. Outputs that are no answer make the real n smaller.

Items that are the levels of a factor, and few (four pairings), are no sample of items: there, as in
a divergence, which shuffles outputs, the outputs are what is sampled, each by itself.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..errors import UsageError
from ..protocol import EVERY, MeasureSpec, Mode, Protocol, few_items
from ..protocol.measure_kinds import measure_kind
from ..protocol.tables import SEVERAL, Row
from . import plan
from .plan import Choices

ICC = 0.2
READ = 1e9  # outputs an item where its probability is read: no sampling error is left
MOST_SAMPLES = 100_000
SUPPOSED = 6  # values of an attribute whose list is not known yet


@dataclass(frozen=True, slots=True)
class Detectable:
    """One row. clusters: items, None where outputs are what is sampled; per_cluster: outputs for
    each item (and side), or of the group (of a side of a divergence); detectable in `unit`, None
    with a note.

    items_needed, samples_needed: what a wanted difference takes, each with the other as it is; None
    where it cannot.
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


def detectable(
    protocol: Protocol, choices: Choices, icc: float = ICC, wanted: float | None = None
) -> list[Detectable]:
    """Rows for all headline measures of the default variant. wanted: a difference in shares, as
    0.05 for 5 points.
    """
    if not 0 <= icc <= 1 or (wanted is not None and not 0 < wanted < 1):
        raise UsageError(
            "--detect is a difference in shares between 0 and 1 (0.05 for 5 points), and --icc "
            "is from 0 to 1."
        )
    kept = [cell for cell in plan.cells(protocol, choices) if SEVERAL not in cell[protocol.item]]
    own = {name for variant in protocol.variants.values() for name in variant.only}
    headlines = [
        measure for measure in protocol.measures if measure.headline and measure.name not in own
    ]
    found = []
    for name in choices.modes or (protocol.default_mode,):
        mode = protocol.modes[name]
        for measure in headlines:
            for language, cells in _languages(measure, kept).items():
                rows = [
                    cell
                    for cell in cells
                    if all(cell[f] in levels for f, levels in measure.where.items() if f in cell)
                ]
                if "subject" in measure.over:
                    rows = rows * len(choices.subjects)
                for group, part in _groups(protocol, measure, rows):
                    found.append(
                        _row(protocol, measure, mode, language, group, part, choices, icc, wanted)
                    )
    return found


def _languages(measure: MeasureSpec, cells: Sequence[Row]) -> dict[str, list[Row]]:
    """The cells of each language; all together under "" where the measure pools them."""
    found: dict[str, list[Row]] = {}
    for cell in cells:
        found.setdefault("" if "language" in measure.over else cell.get("language", ""), []).append(
            cell
        )
    return found


def _groups(
    protocol: Protocol, measure: MeasureSpec, cells: list[Row]
) -> Iterator[tuple[dict[str, str], list[Row]]]:
    """The whole, and of each grouping the group with the fewest items (of few items the one with
    the fewest prompts).
    """
    for by in measure.by:
        each = protocol.item in by and few_items(
            protocol
        )  # else an item by itself is no population
        single = by and len({tuple(c[f] for f in by) for c in cells}) == len(cells)
        if "mode" in by or (not each and (protocol.item in by or single)):
            continue
        groups: dict[tuple[str, ...], list[Row]] = {}
        for cell in cells:
            if not any(SEVERAL in cell[factor] for factor in by):
                groups.setdefault(tuple(cell[factor] for factor in by), []).append(cell)
        if not groups:
            continue
        key = min(
            groups,
            key=lambda key: (len({cell[protocol.item] for cell in groups[key]}), len(groups[key])),
        )
        if len({cell[protocol.item] for cell in groups[key]}) > 1 or each or not by:
            yield dict(zip(by, key, strict=True)), groups[key]


def _sides(measure: MeasureSpec, cells: list[Row]) -> tuple[int, list[Row]]:
    """2 where a level is held against a baseline over the same items, else 1; and the cells of
    these sides together.

    Of a measure with controls twice the tested cells: each control has as many, whether or not
    items share it.
    """
    contrast = measure.contrast or {}
    if "controls" in contrast:
        controls = contrast["controls"].split(SEVERAL)
        return 2, 2 * [cell for cell in cells if cell[contrast["factor"]] not in controls]
    if "level" not in contrast:
        return 1, cells
    compared = {contrast["level"], contrast["baseline"]}
    return 2, [
        cell for cell in cells if compared & set(cell[contrast["factor"]].split(SEVERAL))
    ] or cells


def _row(
    protocol: Protocol,
    measure: MeasureSpec,
    mode: Mode,
    language: str,
    group: dict[str, str],
    cells: list[Row],
    choices: Choices,
    icc: float,
    wanted: float | None,
) -> Detectable:
    sides, cells = _sides(measure, cells)
    items = len({cell[protocol.item] for cell in cells})
    samples = 1 if mode.logprobs else choices.samples or mode.samples
    tests = len(measure.among) if measure.values == (EVERY,) and measure.among else 1
    row = Detectable(
        measure.name,
        mode.name,
        language,
        group,
        items,
        len(cells) / items / sides * samples,
        tests,
        None,
        "share",
    )
    solver = measure_kind(measure.kind).detectable
    if solver == "divergence":
        return _divergence(row, measure, cells, samples)
    if solver == "spread":
        return replace(
            row, note="depends on how far items spread: see `detectable` after a small run"
        )
    if not solver:
        return replace(row, note=f"a {measure.kind} has no detectable difference of its own")
    units, share = _units(row, protocol, mode, icc), _share(measure)
    if units.clusters < 2:
        return replace(row, note="one item: nothing can be said of others")
    found = replace(
        row,
        detectable=_finite(units.smallest(share, tests, sides)),
        clusters=None if units.single else items,
        per_cluster=1.0 if mode.logprobs else row.per_cluster,
    )
    if (
        found.detectable is not None and found.detectable > 1
    ):  # of shares, whose differences end at 1
        found = replace(found, detectable=None, note="too few items to find any difference")
    if wanted is None or found.detectable is None:
        return found
    from ..stats import power

    sd = units.se(share, sides) * math.sqrt(units.clusters)
    needed = (
        None
        if units.single
        else power.clusters_needed(difference=wanted, sd=sd, tests=tests)
        if sd
        else 2
    )
    more = (
        None
        if mode.logprobs
        else _samples(units, samples, lambda one: one.smallest(share, tests, sides) <= wanted)
    )
    return replace(found, items_needed=needed, samples_needed=more)


@dataclass(frozen=True, slots=True)
class _Units:
    """What is sampled: items with outputs each, or (`single`) outputs by themselves, `clusters` of
    them.
    """

    clusters: int
    outputs: float
    icc: float
    single: bool = False

    def times(self, factor: float) -> _Units:
        """With that many times the outputs."""
        if self.single:
            return replace(self, clusters=round(self.clusters * factor))
        return replace(self, outputs=self.outputs * factor)

    def se(self, share: float, sides: int) -> float:
        """The standard error of a share, or of a difference of two (sides 2)."""
        from ..stats import power

        formula = power.paired_se if sides == 2 else power.share_se
        return formula(
            share=share, clusters=self.clusters, per_cluster=max(1.0, self.outputs), icc=self.icc
        )

    def smallest(self, share: float, tests: int, sides: int) -> float:
        """The smallest difference found with 80 % power; infinite with fewer than two clusters."""
        from ..stats import power

        if self.clusters < 2:
            return math.inf
        return power.detectable(se=self.se(share, sides), clusters=self.clusters, tests=tests)


def _units(row: Detectable, protocol: Protocol, mode: Mode, icc: float) -> _Units:
    items, outputs = row.clusters or 0, row.per_cluster
    if items == 1 and few_items(protocol) and not mode.logprobs:
        return _Units(round(outputs), 1.0, 0.0, single=True)
    return _Units(items, READ if mode.logprobs else outputs, icc)


def _share(measure: MeasureSpec) -> float:
    """The share near which a tilt would lie: the null of a share, one half, or 1/K where each of K
    values is counted.
    """
    if measure.null is not None and measure_kind(measure.kind).detectable == "share":
        return measure.null
    return 1 / len(measure.among) if measure.values == (EVERY,) and measure.among else 0.5


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _samples(units: _Units, samples: int, enough: Callable[[_Units], bool]) -> int | None:
    """The fewest samples of a prompt with which a difference is found among these items; None where
    no number does.
    """

    def found(number: int) -> bool:
        return enough(units.times(number / samples))

    if not found(MOST_SAMPLES):
        return None
    low, high = 0, 1
    while not found(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return high


def _divergence(
    row: Detectable, measure: MeasureSpec, cells: Sequence[Row], samples: int
) -> Detectable:
    """By simulation, from equal shares, with as many outputs as the smallest of the levels that are
    compared has.
    """
    factor = (measure.contrast or {}).get("factor", "")
    n = min(Counter(cell[factor] for cell in cells).values()) * samples
    import numpy as np

    from ..stats import power

    found = power.detectable_divergence(
        shares=[1.0] * (len(measure.among) or SUPPOSED),
        n=n,
        generator=np.random.default_rng(0),
        tests=1,
    )
    row = replace(row, unit="bits", clusters=None, per_cluster=float(n), tests=1)
    if found is None:
        return replace(row, note=f"no tilt is found with {n} outputs a side")
    return replace(
        row,
        detectable=found[1],
        note=f"simulated: {found[0]:.0%} of a side's outputs moved to one value",
    )
