"""Estimates from labels: groups, contrasts, clusters, families, outcomes, bounds and variants, as
the protocol declares them.

Nothing is pooled over subjects, instruments, modes or languages, unless a measure names some of
them (`over`): their levels define a *stratum*. Inside a stratum a measure is computed per grouping,
with the items (words, texts, …) as clusters: intervals refer to the population of items. Formulas
and tests are in `stats/`, kinds of measures in `measures/` and `scores/`, and the facts about each
kind in `protocol/built_in_measures.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product

import polars as pl

from ...errors import UnknownName
from ...models import error_rates
from ...protocol import EVERY, MeasureSpec, Protocol, Variant
from ...protocol.design.contrasts import each_contrast
from ...protocol.design.cue_words import word_measures
from ...protocol.design.refusals import REFUSED, UNANSWERED
from ...protocol.measures import measure_kind
from ...records import HUMAN, Estimate
from ...stats import multiplicity
from ...stats.results import join_notes
from ...store import Store
from ...store.queries import endpoints, settings
from ..claims import families
from ..correction import corrected_rows
from ..counts import shared_items
from ..counts.count_table import CountTable
from ..counts.label_counts import count_labels, with_derived
from ..counts.whole_outputs import read_labelled_outputs
from ..measures.shares import non_answers, outcome_rates
from ..words.reading import STRATA, TOGETHER
from . import signature

MOST_DRAWS = 200_000  # of a headline claim: enough for a family of 200


def measured_rows(
    store: Store, protocol: Protocol, variant: str = "default", draws: int = MOST_DRAWS
) -> Iterator[Estimate]:
    """Yields all estimates of a run in one variant, in the order in which the protocol declares its
    measures, with unadjusted p. draws: the most random samples for a headline claim's test.
    """
    frozen, hidden = settings.frozen(store), endpoints.hidden_prompts(store)
    strata = list(tables(store, protocol, variant))
    enough = multiplicity.draws_needed(tests=max(1, families.most_claims(protocol, len(strata))))
    for over, stratum, table, gold in strata:
        subject, annotator = stratum.pop("subject"), stratum.pop("annotator")
        n = int(table.rows["outputs"].sum())
        chosen = {**frozen, "hidden_prompt": hidden.get(subject)}
        mark = signature.short(protocol, subject, annotator, stratum, n, variant, chosen)
        errors = error_rates.note(annotator)
        for estimate in _stratum(table, over, gold, min(enough, draws)):
            rate = None if estimate.value is None else errors
            yield estimate.with_fields(
                protocol=protocol.name,
                subject=subject,
                instrument=annotator,
                variant=variant,
                signature=mark,
                condition={**stratum, **estimate.condition},
                note=join_notes(estimate.note, rate) or "",
            )


def tables(
    store: Store, protocol: Protocol, variant: str = "default"
) -> Iterator[tuple[tuple[str, ...], dict[str, str], CountTable, set[str]]]:
    """Yields, per stratum: pooled factors, levels, counts of labels, attributes that have gold."""
    if variant not in protocol.variants:
        raise UnknownName(f"variant of {protocol.name}", variant, protocol.variants)
    chosen = protocol.variants[variant]
    by_machines, people = (
        count_labels(store, protocol, factor_names(protocol, chosen)),
        pl.col("annotator").str.starts_with(HUMAN),
    )
    frame = kept_rows(by_machines.filter(~people), chosen.where)
    frame = shared_items.read_as(with_derived(frame, protocol), chosen.reads)
    if not by_machines.filter(
        people
    ).is_empty():  # gold is picked: what it does to a number is in correction/corrected_rows.py
        frame = corrected_rows.with_gold(frame, store)
    gold = corrected_rows.attributes_with_gold(frame)
    frame, apart = shared_items.keep_apart(shared_items.spread_shared(frame, protocol), protocol)
    outputs = cache(lambda: read_labelled_outputs(store, protocol))
    for over, stratum, part in _strata(frame, protocol, chosen, apart):
        is_drawn = protocol.modes[stratum["mode"]].logprobs == 0
        place = (stratum["subject"], stratum["annotator"], stratum["mode"])
        yield over, stratum, CountTable(part, protocol, chosen, is_drawn, place, outputs), gold


def factor_names(protocol: Protocol, variant: Variant) -> list[str]:
    """Lists the factors that measures, variant, item or strata need; all others are summed over."""
    names = {protocol.item, *STRATA, *variant.where, *protocol.apart}
    for measure in protocol.measures:
        names.update(*measure.by, measure.where, measure.expected)
        names.add((measure.contrast or {}).get("factor", ""))
    return [name for name in dict.fromkeys((*protocol.factors, protocol.item)) if name in names]


def kept_rows(frame: pl.DataFrame, where: Mapping[str, tuple[str, ...]]) -> pl.DataFrame:
    """Returns the rows that have, for each factor in `where`, one of its levels."""
    for factor, levels in where.items():
        frame = frame.filter(pl.col(factor).is_in(list(levels)))
    return frame


def _strata(
    frame: pl.DataFrame, protocol: Protocol, variant: Variant, apart: Sequence[str]
) -> Iterator[tuple[tuple[str, ...], dict[str, str], pl.DataFrame]]:
    """Yields (pooled factors, levels, rows) per stratum, then per pooled stratum of a measure."""
    chosen = list(_measures(protocol, variant))
    in_tables = {cell.measure for layout in variant.tables for cell in layout.cells}
    printed = {measure.over for measure in chosen if measure.name in in_tables}
    for over in dict.fromkeys(((), *(measure.over for measure in chosen))):
        names = [name for name in (*STRATA, *apart) if name in frame.columns and name not in over]
        is_single = all(frame[name].n_unique() < 2 for name in over if name in frame.columns)
        if (
            over and is_single and over not in printed
        ):  # a paper's table has its means of one cell too
            continue
        for key, part in frame.group_by(names, maintain_order=True):
            subjects = TOGETHER.join(part["subject"].unique().sort())
            yield over, {"subject": subjects, **dict(zip(names, map(str, key), strict=True))}, part


def _stratum(
    table: CountTable, over: tuple[str, ...], gold: Collection[str], draws: int
) -> Iterator[Estimate]:
    """Yields the declared measures of one stratum, then the rate of every outcome; for a pooled
    stratum, only the measures that pool the same factors.

    gold: the attributes with gold labels, whose measures get corrected rows too. draws: the number
    of random samples in tests of headline claims.
    """
    names = set(table.rows["attribute"].unique())
    derived = _derived_measures(table)
    for measure in _measures(table.protocol, table.variant):
        if measure.attribute not in (*names, EVERY) or measure.over != over:
            continue
        part = replace(table, rows=kept_rows(table.rows, measure.where))
        if measure.where and part.rows.is_empty():  # nothing of it was asked
            continue
        compute = measure_kind(measure.kind).function()
        for by, one in product(measure.by, each_contrast(table.protocol, measure)):
            is_lead = measure.headline and by == measure.by[0]
            leading = replace(part, draws=draws) if is_lead else part
            rows = list(compute(leading, one, by))
            yield from rows
            for spec in derived if is_lead else ():
                if spec.name in (measure.name + REFUSED, measure.name + UNANSWERED):
                    yield from non_answers(leading, replace(spec, contrast=one.contrast), by)
            if measure.attribute in gold:
                yield from corrected_rows.corrected_rows(rows, part, one, by)
    if table.variant.intervals and not over:
        for spec in word_measures(table.protocol):
            if spec.attribute in names and {*spec.by[0]} <= {*table.rows.columns}:
                part = replace(table, rows=kept_rows(table.rows, spec.where))
                estimates = measure_kind(spec.kind).function()(part, spec, spec.by[0])
                yield from (row for row in estimates if row.measure == spec.name)  # without bounds
    if not table.variant.measures and not over:
        attributes = dict.fromkeys(
            name for spec in table.protocol.instruments for name in (spec.attribute, *spec.also)
        )
        for attribute in attributes:
            if attribute in names:
                yield from outcome_rates(table, attribute, named=len(attributes) > 1)
    table.computed.clear()


def _derived_measures(table: CountTable) -> list[MeasureSpec]:
    """Lists the measures of refusals and missing answers that the protocol does not declare."""
    if not (table.drawn and table.variant.intervals):
        return []
    declared = {spec.name for spec in table.protocol.measures}
    compared = table.protocol.compared_measures
    return [spec for name, spec in compared.items() if name not in declared]


def _measures(protocol: Protocol, variant: Variant) -> Iterator[MeasureSpec]:
    """Yields the variant's measures: those it lists, else all that no variant reserves."""
    kept_by_variants = {name for other in protocol.variants.values() for name in other.only}
    for measure in protocol.measures:
        if measure.name in variant.only or (
            measure.name in variant.measures
            if variant.measures
            else measure.name not in kept_by_variants
        ):
            yield measure


def default_measures(protocol: Protocol) -> list[MeasureSpec]:
    """Returns the measures of the default variant."""
    return list(_measures(protocol, protocol.variants["default"]))
