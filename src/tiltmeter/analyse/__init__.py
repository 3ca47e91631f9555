"""Labels → estimates: groups, contrasts, clusters, families, outcomes, bounds, variants, as the protocol declares them.

Nothing is pooled over subjects, instruments, modes or languages: these make a *stratum*. Inside a stratum a measure is
computed for each of its groupings, with the items (words, texts, …) as clusters: intervals speak of the population of
items. Every formula and test is in `stats/`.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from . import signature
from .errors import UnknownName
from .protocol import SEVERAL, MeasureSpec, Protocol, Variant
from .records import OUTCOMES, Estimate
from .stats import association, multiplicity, power, rates, resampling
from .stats.results import Interval, Test
from .store import Store

STRATA = ("subject", "annotator", "mode", "language")
DRAWS = 9_999
Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Group:
    """One cell of a table: sums of weights by item. `hits` and `among` have one entry an item, shape (C,).

    fixed: the group is one item, so its outputs and not the items are the population.
    drawn: outputs were sampled, not read from probabilities.
    """

    condition: Mapping[str, str]
    items: Sequence[str]
    hits: Floats
    among: Floats
    outcomes: Mapping[str, float]
    fixed: bool
    drawn: bool


def estimates(store: Store, protocol: Protocol, variant: str = "default") -> list[Estimate]:
    """All estimates of a run in one variant, in the order in which the protocol declares its measures."""
    if variant not in protocol.variants:
        raise UnknownName(f"variant of {protocol.name}", variant, protocol.variants)
    chosen = protocol.variants[variant]
    frame = _kept(labels(store, protocol), chosen)
    frozen = store.get("frozen", {})
    found: list[Estimate] = []
    strata = [name for name in STRATA if name in frame.columns]
    for key, part in frame.group_by(strata, maintain_order=True):
        stratum = dict(zip(strata, (str(value) for value in key), strict=True))
        about = {name: stratum[name] for name in strata if name not in ("subject", "annotator")}
        n = part["output"].n_unique()
        mark = signature.short(protocol, stratum["subject"], stratum["annotator"], about, n, variant, frozen)
        blank = Estimate(protocol.name, stratum["subject"], stratum["annotator"], "", about, None, None, "",
                         variant=variant, signature=mark)  # fmt: skip
        found += _stratum(part, protocol, chosen, blank)
    return _adjusted(found)


def labels(store: Store, protocol: Protocol) -> pl.DataFrame:
    """One row a label with the factors of its trial; where an annotator labelled an output again, the latest counts."""
    rows = store.rows(
        "SELECT l.output, l.annotator, l.attribute, l.value, l.weight, l.date, t.subject, t.mode, t.factors"
        " FROM labels l JOIN trials t ON t.id = l.output ORDER BY l.id"
    )
    columns = ("output", "annotator", "attribute", "value", "weight", "date", "subject", "mode", "factors")
    types = [pl.String] * 4 + [pl.Float64] + [pl.String] * 4
    frame = pl.DataFrame(list(rows), schema=dict(zip(columns, types, strict=True)), orient="row")
    latest = pl.col("date") == pl.col("date").max().over("output", "annotator", "attribute")
    frame = frame.filter(latest).drop("date")
    names = list(dict.fromkeys((*protocol.factors, protocol.item)))
    cells = frame["factors"].unique()
    levels = [json.loads(text) for text in cells]
    known = pl.DataFrame({"factors": cells} | {name: [row.get(name, "") for row in levels] for name in names},
                         schema={"factors": pl.String} | dict.fromkeys(names, pl.String))  # fmt: skip
    return frame.join(known, on="factors", how="left", maintain_order="left").drop("factors")


def _kept(frame: pl.DataFrame, variant: Variant) -> pl.DataFrame:
    for factor, levels in variant.where.items():
        frame = frame.filter(pl.col(factor).is_in(list(levels)))
    return frame


def _stratum(part: pl.DataFrame, protocol: Protocol, variant: Variant, blank: Estimate) -> Iterator[Estimate]:
    drawn = protocol.modes[blank.condition["mode"]].logprobs == 0 if "mode" in blank.condition else True
    for measure in protocol.measures:
        if variant.measures and measure.name not in variant.measures:
            continue
        rows = part.filter(pl.col("attribute") == measure.attribute)
        for by in measure.by:
            family = (
                f"{measure.name} by {', '.join(by) or 'whole'} | {blank.subject} | {blank.instrument} | "
                + ", ".join(blank.condition.values())
            )
            for estimate in KINDS[measure.kind](rows, measure, by, protocol, variant, drawn):
                yield replace(
                    estimate,
                    **{
                        name: getattr(blank, name)
                        for name in ("protocol", "subject", "instrument", "variant", "signature")
                    },
                    condition={**blank.condition, **estimate.condition},
                    family=family,
                )
    if not variant.measures:
        for attribute in dict.fromkeys(spec.attribute for spec in protocol.instruments):
            rows = part.filter(pl.col("attribute") == attribute)
            for estimate in _outcome_rates(rows, attribute, protocol, drawn):
                yield replace(
                    estimate,
                    **{
                        name: getattr(blank, name)
                        for name in ("protocol", "subject", "instrument", "variant", "signature")
                    },
                    condition={**blank.condition, **estimate.condition},
                )


def _groups(rows: pl.DataFrame, values: Sequence[str], among: Sequence[str], by: Sequence[str], protocol: Protocol,
            variant: Variant, drawn: bool) -> Iterator[Group]:  # fmt: skip
    """The groups of one grouping, in the order in which their levels first appear in the design."""
    for factor in by:
        if variant.several == "each":
            rows = rows.with_columns(pl.col(factor).str.split(SEVERAL)).explode(factor)
        elif factor != protocol.item:
            rows = rows.filter(~pl.col(factor).str.contains(SEVERAL, literal=True))
    hit, base = pl.col("value").is_in(list(values)), pl.col("value").is_in(list(among))
    sums = rows.group_by([*by, protocol.item], maintain_order=True).agg(
        pl.col("weight").filter(hit).sum().alias("hits"),
        (pl.col("weight").filter(base).sum() if among else pl.col("weight").sum()).alias("among"),
    )
    counts = rows.group_by([*by, "value"], maintain_order=True).agg(pl.col("weight").sum())
    outcomes: dict[tuple[Any, ...], dict[str, float]] = {}
    for *levels, value, weight in counts.iter_rows():
        outcomes.setdefault(tuple(levels), {})[value] = round(weight, 6)
    parts = sums.partition_by(list(by), as_dict=True, maintain_order=True) if by else {(): sums}
    for key, part in parts.items():
        yield Group(dict(zip(by, (str(level) for level in key), strict=True)), part[protocol.item].to_list(),
                    part["hits"].to_numpy(), part["among"].to_numpy(), outcomes.get(key, {}),
                    fixed=bool(by) and part.height == 1 and sums.height == len(parts), drawn=drawn)  # fmt: skip


def _row(group: Group, measure: MeasureSpec, found: Interval, intervals: bool = True) -> Estimate:
    """An interval as an estimate; what is not finite is null."""
    low, high = (_number(found.low), _number(found.high)) if intervals else (None, None)
    return Estimate(
        "", "", "", measure.name, group.condition, None, _number(found.value), measure.unit, low, high,
        found.confidence if low is not None else None, found.method if low is not None else None,
        n=round(float(group.among.sum()), 6), clusters=found.clusters, outcomes=group.outcomes, note=found.note or "",
    )  # fmt: skip


def _share(rows: pl.DataFrame, measure: MeasureSpec, by: Sequence[str], protocol: Protocol, variant: Variant,
           drawn: bool) -> Iterator[Estimate]:  # fmt: skip
    for group in _groups(rows, measure.values, measure.among, by, protocol, variant, drawn):
        if group.fixed:
            yield _row(group, measure, _one_item(group), variant.intervals)
            continue
        found = rates.clustered_share(successes=_within(group), n=group.among)
        estimate = _row(group, measure, found, variant.intervals)
        if variant.intervals:
            estimate = _against_null(estimate, group, measure, found)
        yield estimate
        if variant.intervals and measure.among:
            yield _bounds(group, measure)


def _one_item(group: Group) -> Interval:
    """One item is not a population of items: its own outputs are, where they were drawn independently."""
    hits, n = float(_within(group)[0]), float(group.among[0])
    if n == 0:
        return Interval(None, None, None, "wilson", n=0.0, note="no outcomes")
    if not group.drawn:
        return Interval(hits / n, None, None, "read", n=n, note="read from probabilities: no sampling error, one item")
    return rates.wilson(hits, n)


def _within(group: Group) -> Floats:
    return np.minimum(group.hits, group.among)  # rounding of summed probabilities


def _against_null(estimate: Estimate, group: Group, measure: MeasureSpec, found: Interval) -> Estimate:
    if measure.null is None or group.among.sum() == 0:
        return estimate
    weight = group.among * group.among.size / group.among.sum()
    shares = np.divide(group.hits, group.among, out=np.full_like(group.hits, measure.null), where=group.among > 0)
    return _tested(estimate, (shares - measure.null) * weight, found, measure)


def _tested(estimate: Estimate, differences: Floats, found: Interval, measure: MeasureSpec) -> Estimate:
    """Sign flip over items; its seed comes from the condition, so that a table does not depend on its other rows."""
    seed = zlib.crc32(json.dumps([measure.name, sorted(estimate.condition.items())]).encode())
    test: Test = resampling.sign_flip(differences=differences, draws=DRAWS, generator=np.random.default_rng(seed))
    clusters = found.clusters or 0
    smallest = power.detectable(se=found.se, clusters=clusters) if found.se and clusters > 1 else None
    note = "; ".join(part for part in (estimate.note, test.note) if part)
    return replace(estimate, test=test.method, p=_number(test.p), detectable=_number(smallest), note=note)


def _bounds(group: Group, measure: MeasureSpec) -> Estimate:
    """Between all other outcomes counted against, and all counted for: it holds whatever they would have been."""
    total = sum(group.outcomes.values())
    hits, among = float(_within(group).sum()), float(group.among.sum())
    found = rates.bounds(successes=hits, failures=max(0.0, among - hits), missing=max(0.0, total - among))
    return replace(_row(group, measure, found), measure=f"{measure.name}_bounds", n=round(total, 6), confidence=None)


def _odds(rows: pl.DataFrame, measure: MeasureSpec, by: Sequence[str], protocol: Protocol, variant: Variant,
          drawn: bool) -> Iterator[Estimate]:  # fmt: skip
    for group in _groups(rows, measure.values, measure.among, by, protocol, variant, drawn):
        first = _within(group)
        found = association.odds(first=first, second=group.among - first)
        estimate = _row(group, measure, found, variant.intervals)
        if not variant.intervals and not group.among.sum() - first.sum() > 0:
            estimate = replace(estimate, value=None, note="no answer in the denominator")
        yield estimate


def _difference(rows: pl.DataFrame, measure: MeasureSpec, by: Sequence[str], protocol: Protocol, variant: Variant,
                drawn: bool) -> Iterator[Estimate]:  # fmt: skip
    """level − baseline of the contrast factor, paired by item."""
    contrast = measure.contrast or {}
    factor, level, baseline = contrast["factor"], contrast["level"], contrast["baseline"]
    sides = [
        {tuple(group.condition.items()): group
         for group in _groups(rows.filter(pl.col(factor) == side), measure.values, measure.among, by, protocol, variant, drawn)}
        for side in (level, baseline)
    ]  # fmt: skip
    for key, first in sides[0].items():
        second = sides[1].get(key)
        if second is None:
            continue
        items = list(dict.fromkeys((*first.items, *second.items)))
        (xa, na), (xb, nb) = _aligned(first, items), _aligned(second, items)
        found = rates.clustered_difference(successes_a=xa, n_a=na, successes_b=xb, n_b=nb)
        outcomes = {name: first.outcomes.get(name, 0) + second.outcomes.get(name, 0)
                    for name in dict.fromkeys((*first.outcomes, *second.outcomes))}  # fmt: skip
        estimate = _row(replace(first, outcomes=outcomes, among=na + nb), measure, found, variant.intervals)
        estimate = replace(estimate, contrast={factor: f"{level} − {baseline}"})
        both = (na > 0) & (nb > 0)
        if variant.intervals:
            estimate = _tested(estimate, xa[both] / na[both] - xb[both] / nb[both], found, measure)
        yield estimate


def _aligned(group: Group, items: Sequence[str]) -> tuple[Floats, Floats]:
    place = {item: number for number, item in enumerate(items)}
    hits, among = np.zeros(len(items)), np.zeros(len(items))
    index = [place[item] for item in group.items]
    hits[index], among[index] = _within(group), group.among
    return hits, among


def _outcome_rates(rows: pl.DataFrame, attribute: str, protocol: Protocol, drawn: bool) -> Iterator[Estimate]:
    """How often each label occurs among all: what is no answer has a rate too."""
    if rows.is_empty():
        return
    seen = rows["value"].unique(maintain_order=True).to_list()
    ordered = [value for value in seen if value not in OUTCOMES] + [value for value in OUTCOMES if value in seen]
    for value in ordered:
        measure = MeasureSpec("outcome_rate", "share", attribute, (value,))
        for group in _groups(rows, (value,), (), (), protocol, Variant("default"), drawn):
            found = rates.clustered_share(successes=_within(group), n=group.among)
            yield replace(
                _row(group, measure, found), condition={"outcome": value}, outcomes={value: group.outcomes[value]}
            )
    options = tuple(value for value in ordered if value not in OUTCOMES)
    if not drawn and options:
        measure = MeasureSpec("captured_mass", "share", attribute, options)
        for group in _groups(rows, options, (), (), protocol, Variant("default"), drawn):
            yield _row(group, measure, rates.clustered_share(successes=_within(group), n=group.among))


def _adjusted(found: list[Estimate]) -> list[Estimate]:
    """Benjamini–Hochberg inside each family, raw p kept beside it."""
    families: dict[str, list[int]] = {}
    for index, estimate in enumerate(found):
        if estimate.p is not None and estimate.family:
            families.setdefault(estimate.family, []).append(index)
    for members in families.values():
        adjusted = multiplicity.benjamini_hochberg(p=[found[index].p for index in members])
        for index, p in zip(members, adjusted, strict=True):
            found[index] = replace(found[index], p_adjusted=p)
    return [estimate if estimate.p is not None else replace(estimate, family=None) for estimate in found]


def _number(value: float | None) -> float | None:
    return float(value) if value is not None and np.isfinite(value) else None


Kind = Callable[[pl.DataFrame, MeasureSpec, Sequence[str], Protocol, Variant, bool], Iterator[Estimate]]
KINDS: dict[str, Kind] = {"share": _share, "odds": _odds, "difference": _difference}
