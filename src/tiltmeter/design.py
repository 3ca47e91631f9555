"""What a design can tell from no tilt, before it is run: the smallest difference found with 80 % power, and what it takes.

For each headline measure, by mode and language and for each of its groupings (of these the group with the fewest items),
from stats/power.py with the items as clusters. How alike the outputs of one item are (`icc`, 0 to 1) is an assumption that
nobody knows before; a run's own interval replaces it. Outputs that are no answer make the real n smaller.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from . import plan
from .errors import UsageError
from .plan import Choices
from .protocol import SEVERAL, MeasureSpec, Mode, Protocol, Row

ICC = 0.2
READ = 1e9  # outputs an item where its probability is read: no sampling error is left
MOST_SAMPLES = 100_000


@dataclass(frozen=True, slots=True)
class Detectable:
    """One row. clusters: items; per_cluster: outputs for each item (and side); detectable in `unit`, None with a note.

    items_needed, samples_needed: what a wanted difference takes, each with the other as it is; None where it cannot.
    """

    measure: str
    mode: str
    language: str
    group: Mapping[str, str]
    clusters: int
    per_cluster: float
    tests: int
    detectable: float | None
    unit: str
    note: str = ""
    items_needed: int | None = None
    samples_needed: int | None = None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def detectable(protocol: Protocol, choices: Choices, icc: float = ICC, wanted: float | None = None) -> list[Detectable]:
    """Rows for all headline measures of the default variant. wanted: a difference in shares, as 0.05 for 5 points."""
    if not 0 <= icc <= 1 or (wanted is not None and not 0 < wanted < 1):
        raise UsageError(
            "--detect is a difference in shares between 0 and 1 (0.05 for 5 points), and --icc is from 0 to 1."
        )
    kept = plan.cells(protocol, choices)
    own = {name for variant in protocol.variants.values() for name in variant.only}
    headlines = [measure for measure in protocol.measures if measure.headline and measure.name not in own]
    found = []
    for name in choices.modes or (protocol.default_mode,):
        mode = protocol.modes[name]
        for language in dict.fromkeys(cell.get("language", "") for cell in kept):
            cells = [cell for cell in kept if cell.get("language", "") == language]
            for measure in headlines:
                rows = [
                    cell for cell in cells if all(cell[f] in levels for f, levels in measure.where.items() if f in cell)
                ]
                for group, part in _groups(protocol, measure, rows):
                    found.append(_row(protocol, measure, mode, language, group, part, choices, icc, wanted))
    return found


def _groups(protocol: Protocol, measure: MeasureSpec, cells: list[Row]) -> Iterator[tuple[dict[str, str], list[Row]]]:
    """The whole, and of each grouping the group with the fewest items; an item by itself is no population."""
    for by in measure.by:
        if protocol.item in by or "mode" in by or (by and len({tuple(c[f] for f in by) for c in cells}) == len(cells)):
            continue
        groups: dict[tuple[str, ...], list[Row]] = {}
        for cell in cells:
            if not any(SEVERAL in cell[factor] for factor in by):
                groups.setdefault(tuple(cell[factor] for factor in by), []).append(cell)
        if not groups:
            continue
        key = min(groups, key=lambda key: len({cell[protocol.item] for cell in groups[key]}))
        if len({cell[protocol.item] for cell in groups[key]}) > 1 or not by:
            yield dict(zip(by, key, strict=True)), groups[key]


def _row(protocol: Protocol, measure: MeasureSpec, mode: Mode, language: str, group: dict[str, str], cells: list[Row],
         choices: Choices, icc: float, wanted: float | None) -> Detectable:  # fmt: skip
    sides = _sides(measure, cells)
    clusters = len({cell[protocol.item] for cell in cells})
    samples = 1 if mode.logprobs else choices.samples or mode.samples
    cells_each = len(cells) / clusters / sides
    outputs = READ if mode.logprobs else max(1.0, cells_each * samples)
    tests = len(measure.among) if measure.values == ("*",) and measure.among else 1
    row = Detectable(
        measure.name, mode.name, language, group, clusters, 1.0 if mode.logprobs else outputs, tests, None, "share"
    )
    if measure.kind == "divergence":
        return _divergence(row, measure, cells, samples)
    if measure.kind not in ("share", "odds", "difference", "ratio"):
        return replace(row, note=f"a {measure.kind} has no detectable difference of its own")
    if clusters < 2:
        return replace(row, note="one item: nothing can be said of others")
    share = _share(measure)
    smallest = _smallest(share, clusters, outputs, icc, tests, sides)
    found = replace(row, detectable=smallest if math.isfinite(smallest) else None)
    if wanted is None or found.detectable is None:
        return found
    from .stats import power

    sd = _se(share, clusters, outputs, icc, sides) * math.sqrt(clusters)
    items = power.clusters_needed(difference=wanted, sd=sd, tests=tests) if sd else 2
    more = None if mode.logprobs else _samples(share, clusters, cells_each, icc, tests, sides, wanted)
    return replace(found, items_needed=items, samples_needed=more)


def _sides(measure: MeasureSpec, cells: Sequence[Row]) -> int:
    """2 where a level is held against a baseline over the same items, else 1."""
    return 2 if measure.contrast and "level" in measure.contrast else 1


def _share(measure: MeasureSpec) -> float:
    """The share near which a tilt would lie: the null of a share, one half, or 1/K where each of K values is counted."""
    if measure.kind == "share" and measure.null is not None:
        return measure.null
    return 1 / len(measure.among) if measure.values == ("*",) and measure.among else 0.5


def _se(share: float, clusters: int, outputs: float, icc: float, sides: int) -> float:
    from .stats import power

    if sides == 2:
        return power.paired_se(share=share, clusters=clusters, per_cluster=outputs, icc=icc)
    return power.share_se(share=share, clusters=clusters, per_cluster=outputs, icc=icc)


def _smallest(share: float, clusters: int, outputs: float, icc: float, tests: int, sides: int) -> float:
    from .stats import power

    return power.detectable(se=_se(share, clusters, outputs, icc, sides), clusters=clusters, tests=tests)


def _samples(
    share: float, clusters: int, cells_each: float, icc: float, tests: int, sides: int, wanted: float
) -> int | None:
    """The fewest samples of a prompt with which a difference is found among these items; None where no number does."""

    def enough(samples: int) -> bool:
        return _smallest(share, clusters, max(1.0, cells_each * samples), icc, tests, sides) <= wanted

    if not enough(MOST_SAMPLES):
        return None
    low, high = 0, 1
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _divergence(row: Detectable, measure: MeasureSpec, cells: Sequence[Row], samples: int) -> Detectable:
    """By simulation, from equal shares, with as many outputs as the smallest of the levels that are compared has."""
    factor = (measure.contrast or {}).get("factor", "")
    n = min(Counter(cell[factor] for cell in cells).values()) * samples
    import numpy as np

    from .stats import power

    found = power.detectable_divergence(
        shares=[1.0] * len(measure.among), n=n, generator=np.random.default_rng(0), tests=1
    )
    row = replace(row, unit="bits", per_cluster=float(n), tests=1)
    if found is None:
        return replace(row, note=f"no tilt is found with {n} outputs a side")
    return replace(row, detectable=found[1], note=f"simulated: {found[0]:.0%} of a side's outputs moved to one value")
