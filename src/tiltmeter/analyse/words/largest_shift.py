"""The value whose share moved most in a divergence, and its level: a distance names neither."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...protocol import EVERY, MeasureSpec
from ...records import Estimate, NamedCell
from ...stats.wilson import wilson
from . import reading


class Share(NamedTuple):
    """A share with its 95 % interval; low and high are None if there is no interval."""

    value: float
    low: float | None = None
    high: float | None = None


Shares = Mapping[str, Mapping[str, Share]]  # {level: {value: share}}


class Moved(NamedTuple):
    """A value of an attribute whose share at a level differs most from its share elsewhere."""

    attribute: str
    level: str
    value: str
    share: Share
    other: Share


class StratumRows:
    """The rows of a stratum, indexed by measure and attribute for hundreds of look-ups."""

    def __init__(self, rows: Sequence[Estimate]) -> None:
        self.all = rows
        self.of_measure: dict[str, list[Estimate]] = {}
        self.of_attribute: dict[str, list[Estimate]] = {}
        self.tested: dict[str, list[Estimate]] = {}  # of one attribute each, by measure
        for row in rows:
            self.of_measure.setdefault(row.measure, []).append(row)
            if "attribute" in row.condition:
                self.of_attribute.setdefault(row.condition["attribute"], []).append(row)
                if row.p is not None:
                    self.tested.setdefault(row.measure, []).append(row)


def leading_cell(row: Estimate) -> NamedCell | None:
    """Returns the first cell that shows a claim over many cells, else its largest difference."""
    return None if row.cells is None else next(iter(row.cells["named"]), row.cells["largest"])


def cell_of(row: Estimate) -> Moved | None:
    """Returns the leading cell of a claim as a Moved, with Wilson intervals; None without cells."""
    cell = leading_cell(row)
    if cell is None:
        return None
    share, other = (
        Share(part, *wilson_ends(part, n))
        for part, n in ((cell["share"], cell["n"]), (cell["base_share"], cell["base_n"]))
    )
    return Moved(cell["attribute"], cell["group"], cell["value"], share, other)


def wilson_ends(share: float, n: float) -> tuple[float | None, float | None]:
    """Returns the ends of Wilson's 95 % interval of a share."""
    interval = wilson(share * n, n)
    return interval.low, interval.high


def moved(spec: MeasureSpec, row: Estimate, here: StratumRows) -> Moved | None:
    """Returns the value whose share moved most, for a divergence or claim on all attributes."""
    factor = (spec.contrast or {}).get("factor", "")
    if not factor:
        return None
    if spec.attribute == EVERY:
        return _from_base(spec, row, here, factor)
    if spec.kind == "divergence":
        shares = _shares_by_level(spec, here.all, factor)
        ends = reading.ends(row, factor) or ()
        levels = [level for level in ends if level in shares] or list(shares)
        return _largest_gain(spec.attribute, shares, levels, "")
    return None


def _from_base(spec: MeasureSpec, row: Estimate, here: StratumRows, factor: str) -> Moved | None:
    """Returns the value that gained most over the base, for the attribute with the smallest p."""
    parts = [
        one
        for one in here.tested.get(row.measure, ())
        if one.condition.items() >= row.condition.items()
    ]
    if not parts:
        return None
    best = min(parts, key=lambda one: (one.p or 0.0, -(one.value or 0.0)))
    contrast = spec.contrast or {}
    aside = {factor, contrast.get("within", "")}
    condition = {name: level for name, level in best.condition.items() if name not in aside}
    attribute = best.condition["attribute"]
    outcomes = {
        one.condition[factor]: one.outcomes
        for one in here.of_attribute[attribute]
        if one.outcomes and factor in one.condition and one.condition.items() >= condition.items()
    }
    base = contrast.get("baseline", "")
    levels = _levels(row, here.all, factor, contrast.get("within", "")) - {base}
    shares = {
        level: _normalised(counts) for level, counts in outcomes.items() if level in {*levels, base}
    }
    return _largest_gain(attribute, shares, [x for x in shares if x in levels], base)


def _levels(row: Estimate, here: Sequence[Estimate], factor: str, within: str) -> set[str]:
    """Returns the level that a row is about, or all levels of the factor in its stratum."""
    if factor in row.condition:
        return {row.condition[factor]}
    inside = {(within, row.condition[within])} if within in row.condition else set()
    rows = (one.condition for one in here if factor in one.condition)
    return {condition[factor] for condition in rows if condition.items() >= inside}


def _normalised(counts: Mapping[str, float]) -> dict[str, Share]:
    """Turns counts into shares with Wilson intervals, as answers to one prompt are independent."""
    total = sum(counts.values())
    rows = {value: wilson(count, total) for value, count in counts.items()} if total else {}
    return {value: Share(row.value or 0.0, row.low, row.high) for value, row in rows.items()}


def _shares_by_level(
    spec: MeasureSpec, here: Sequence[Estimate], factor: str
) -> dict[str, dict[str, Share]]:
    """Returns {level: {value: its share}}, from a measure of the shares of the same labels."""
    shares: dict[str, dict[str, Share]] = {}
    for one in here:
        is_share = one.value is not None and one.unit == "share" and not one.contrast
        if is_share and one.p is None and {factor, spec.attribute} <= one.condition.keys():
            value = one.condition[spec.attribute]
            shares.setdefault(one.condition[factor], {}).setdefault(
                value, Share(one.value or 0.0, one.low, one.high)
            )
    return shares


def _largest_gain(attribute: str, shares: Shares, levels: Sequence[str], base: str) -> Moved | None:
    """Returns the level and value with the largest gain over the base, or over the others' mean."""
    best: Moved | None = None
    for level in levels:
        others = [shares[base]] if base in shares else [shares[x] for x in shares if x != level]
        for value, share in shares[level].items():
            rest = [other.get(value, Share(0.0)) for other in others]
            if not rest:
                continue
            mean = Share(sum(one.value for one in rest) / len(rest))
            one = Moved(attribute, level, value, share, rest[0] if len(rest) == 1 else mean)
            if best is None or _gain(one) > _gain(best):
                best = one
    return best


def _gain(one: Moved) -> float:
    return one.share.value - one.other.value
