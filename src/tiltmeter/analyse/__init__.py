"""Labels → estimates: groups, contrasts, clusters, families, outcomes, bounds, variants, as the protocol declares them.

Nothing is pooled over subjects, instruments, modes or languages: these make a *stratum*. Inside a stratum a measure is
computed for each of its groupings, with the items (words, texts, …) as clusters: intervals speak of the population of
items. Formulas and tests are in `stats/`, what a kind of measure does with them in `kinds.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace

import polars as pl

from .. import signature
from ..errors import ProtocolError, UnknownName
from ..protocol import MeasureSpec, Protocol, Variant
from ..records import Estimate
from ..stats import multiplicity
from ..store import Store
from .groups import Table
from .kinds import KINDS, outcome_rates

STRATA = ("subject", "annotator", "mode", "language")


def estimates(store: Store, protocol: Protocol, variant: str = "default") -> list[Estimate]:
    """All estimates of a run in one variant, in the order in which the protocol declares its measures."""
    if variant not in protocol.variants:
        raise UnknownName(f"variant of {protocol.name}", variant, protocol.variants)
    chosen = protocol.variants[variant]
    frame = counted(store, protocol)
    frame = kept_rows(frame, chosen.where)
    frozen = store.get("frozen", {})
    found: list[Estimate] = []
    strata = [name for name in STRATA if name in frame.columns]
    for key, part in frame.group_by(strata, maintain_order=True):
        stratum = dict(zip(strata, (str(value) for value in key), strict=True))
        subject, annotator = stratum.pop("subject"), stratum.pop("annotator")
        n = int(part["outputs"].sum())
        mark = signature.short(protocol, subject, annotator, stratum, n, variant, frozen)
        drawn = protocol.modes[stratum["mode"]].logprobs == 0
        for estimate in _stratum(Table(part, protocol, chosen, drawn)):
            family = f"{estimate.family} | {subject} | {annotator} | {', '.join(stratum.values())}"
            found.append(
                replace(
                    estimate, protocol=protocol.name, subject=subject, instrument=annotator, variant=variant, signature=mark,
                    condition={**stratum, **estimate.condition}, family=family,
                )
            )  # fmt: skip
    return _adjusted(found)


def counted(store: Store, protocol: Protocol) -> pl.DataFrame:
    """Labels summed by stratum, factors, attribute and value: one row each, with `weight` and the number of `outputs`.

    `outputs` counts an output once for each annotator (on its first label), so that its sum over a stratum is n.
    """
    sums: dict[tuple[str, ...], list[float]] = {}
    last = ("", "")
    for output, subject, mode, factors, annotator, attribute, value, weight in store.labelled():
        cell = sums.setdefault((subject, annotator, mode, factors, attribute, value), [0.0, 0])
        cell[0] += weight
        if (output, annotator) != last:
            last = (output, annotator)
            cell[1] += 1
    names = list(dict.fromkeys((*protocol.factors, protocol.item)))
    levels = {text: json.loads(text) for text in {key[3] for key in sums}}
    rows = [
        (subject, annotator, mode, attribute, value, *(levels[factors].get(name, "") for name in names), *cell)
        for (subject, annotator, mode, factors, attribute, value), cell in sorted(sums.items())
    ]
    texts = ("subject", "annotator", "mode", "attribute", "value", *names)
    return pl.DataFrame(
        rows, {**dict.fromkeys(texts, pl.String), "weight": pl.Float64, "outputs": pl.Int64}, orient="row"
    )


def kept_rows(frame: pl.DataFrame, where: Mapping[str, tuple[str, ...]]) -> pl.DataFrame:
    """The rows whose factors have one of the levels named."""
    for factor, levels in where.items():
        frame = frame.filter(pl.col(factor).is_in(list(levels)))
    return frame


def _stratum(table: Table) -> Iterator[Estimate]:
    """The declared measures of one stratum, then the rate of every outcome."""
    seen = set(table.rows["attribute"].unique())
    for measure in _measures(table.protocol, table.variant):
        if measure.attribute not in seen:
            continue
        kept = replace(table, rows=kept_rows(table.rows, measure.where))
        for by in measure.by:
            for estimate in KINDS[measure.kind](kept, measure, by):
                yield replace(estimate, family=f"{measure.name} by {', '.join(by) or 'whole'}")
    if not table.variant.measures:
        attributes = dict.fromkeys(name for spec in table.protocol.instruments for name in (spec.attribute, *spec.also))
        for attribute in attributes:
            if attribute in seen:
                yield from outcome_rates(table, attribute, named=len(attributes) > 1)


def _measures(protocol: Protocol, variant: Variant) -> Iterator[MeasureSpec]:
    """Those that the variant names; without a name, those that no variant keeps for itself."""
    own = {name for other in protocol.variants.values() for name in other.only}
    for measure in protocol.measures:
        if measure.kind not in KINDS:
            raise ProtocolError(f"measure {measure.name}: {UnknownName('kind', measure.kind, KINDS)}")
        if measure.name in variant.only or (
            measure.name in variant.measures if variant.measures else measure.name not in own
        ):
            yield measure


def _adjusted(found: list[Estimate]) -> list[Estimate]:
    """Benjamini–Hochberg inside each family, raw p kept beside it; what was not tested has no family."""
    families: dict[str | None, list[int]] = {}
    for index, estimate in enumerate(found):
        if estimate.p is None:
            found[index] = replace(estimate, family=None)
        else:
            families.setdefault(estimate.family, []).append(index)
    for members in families.values():
        adjusted = multiplicity.benjamini_hochberg(p=[found[index].p for index in members])
        for index, p in zip(members, adjusted, strict=True):
            found[index] = replace(found[index], p_adjusted=p)
    return found
