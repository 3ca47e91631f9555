"""The headline claims of a run: rows that test the same hypothesis, and the family of each.

A *claim* is one null hypothesis about one population: which values are counted among which, in
which trials, against which null value or contrast, in one stratum and group. A share and its odds
are one claim with one p. The *headline claims* are the headline measures over their whole stratum,
or over their first grouping if no row covers the whole (then these groups are the question).

All headline claims of a run, over subjects, languages and measures, are one family and adjusted by
Holm. Several instruments that read one text (its words, its length, a score) and compare the same
two groups are the *cells* of one claim per cue. The claim is rejected if any cell is; inside it,
cells are adjusted by Holm at α over the number of claims, so that no released α is spent twice
(`multiplicity.nested`). All other rows are adjusted by Benjamini–Hochberg, one family per measure
over all strata. A measure's own `family` splits further. A row that gold corrects replaces the raw
row in its family.

benchmarks/null_runs.py counts how many runs without any effect claim something nevertheless.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ...protocol import EVERY, MeasureSpec, Protocol, in_variant
from ...protocol.design.contrasts import each_contrast
from ...records import Estimate
from ...stats import multiplicity
from ...stats.results import ALPHA, join_notes
from ...stats.shuffles.resampling import SIGN_FLIPS
from ..words.reading import CORRECTED, STRATA

HEADLINE = "headline claims"
Key = tuple[Hashable, ...]


def headline(protocol: Protocol, rows: Sequence[Estimate]) -> list[tuple[MeasureSpec, Estimate]]:
    """Returns the rows of headline measures that represent a run: in each stratum the row over the
    whole, else those of the first grouping. Includes untested rows; in the order of the protocol.
    """
    headlines = []
    protocol = in_variant(protocol, rows[0].variant) if rows else protocol
    for spec in protocol.compared_measures.values():
        if spec.headline:
            rows_of_measure = [row for row in rows if row.measure == spec.name]
            headlines += [(spec, row) for row in _coarsest(spec, protocol, rows_of_measure)]
    return headlines


def _coarsest(
    spec: MeasureSpec, protocol: Protocol, rows: Sequence[Estimate]
) -> Iterator[Estimate]:
    strata: dict[Key, list[Estimate]] = {}
    for row in rows:
        strata.setdefault(stratum(protocol, row), []).append(row)
    for group in strata.values():
        groupings = [grouping(spec, protocol, row) for row in group]
        chosen = () if () in groupings else groupings[0]
        yield from (row for row, by in zip(group, groupings, strict=True) if by == chosen)


def stratum(protocol: Protocol, row: Estimate) -> Key:
    """Returns the key of a row's stratum (never pooled): subject, instrument, levels kept apart."""
    names = {*STRATA, *protocol.apart}
    levels = tuple((name, level) for name, level in row.condition.items() if name in names)
    return (row.subject, row.instrument, levels)


def grouping(spec: MeasureSpec, protocol: Protocol, row: Estimate) -> tuple[str, ...]:
    """Returns the factors of a row's group within its stratum, without the counted attribute."""
    inside = {*STRATA, *protocol.apart, spec.attribute}
    return tuple(name for name in row.condition if name not in inside)


def hypothesis(spec: MeasureSpec | None, row: Estimate) -> Key:
    """Returns the key of a null hypothesis: rows with equal keys test the same hypothesis.

    spec: None for a row that a kind of measure adds under its own name.
    """
    place = (
        *(row.subject, row.instrument, row.variant),
        tuple(sorted(row.condition.items())),
        tuple(sorted((row.contrast or {}).items())),
    )
    if spec is None:
        return (row.measure, *place)
    kind, null = spec.kind, spec.null
    if kind == "odds" and null is not None:
        kind, null = "share", null / (1 + null)
    share_key = (spec.attribute, spec.values, spec.among, spec.without, spec.per)
    return (kind, null, *share_key, tuple(spec.where.items()), *place)


def most_claims(protocol: Protocol, strata: int) -> int:
    """Returns the most headline claims that a run with this number of strata can have."""
    return strata * sum(
        len(each_contrast(protocol, spec))
        * max(1, len(spec.among) if EVERY in spec.values else 1)
        * math.prod(len(protocol.levels.get(factor, ())) or 1 for factor in spec.by[0])
        for spec in protocol.measures
        if spec.headline
    )


def adjust_by_claim(protocol: Protocol, rows: Sequence[Estimate]) -> list[Estimate]:
    """Returns the rows of one variant with the p of their claim, adjusted within its family.

    `family`, `family_size` and `adjustment` give the family, its number of claims, and the method.
    They stay empty for a row without a test, a raw row that a corrected one replaces, and any row
    of a variant whose authors adjusted nothing.
    """
    if rows and not protocol.variants[rows[0].variant].adjust:
        return list(rows)
    specs = protocol.compared_measures
    # of a run that stops early the claims that it stops by, whoever else labelled since
    stopping = {row.measure for row in rows if row.stopped}
    first = {
        row.key for _, row in headline(protocol, rows) if row.stopped or row.measure not in stopping
    }
    keys = {uncorrected_key(row) for row in rows if row.key in first}
    by_gold = (row for row in rows if row.measure.endswith(CORRECTED) and row.p is not None)
    replaced = set(map(uncorrected_key, by_gold))
    members: dict[tuple[str, str], dict[Key, list[int]]] = {}
    for place, row in enumerate(rows):
        name = row.measure.removesuffix(CORRECTED)
        spec = specs.get(name)
        is_corrected = row.measure != name
        if row.p is None or (not is_corrected and row.key in replaced):
            continue
        is_lead = row.key in first or (is_corrected and uncorrected_key(row) in keys)
        theme = (spec.family or spec.nuisance) if spec else ""
        family = (HEADLINE, theme) if is_lead else (theme or name, "")
        members.setdefault(family, {}).setdefault(hypothesis(spec, row), []).append(place)
    _join_equal_claims(members)
    adjusted = list(rows)
    for (name, part), claims in members.items():
        label = f"{name}: {part}" if part else name
        if name == HEADLINE:
            p = multiplicity.nested(p=_cells_by_claim(specs, adjusted, claims))
        else:
            unadjusted = [adjusted[places[0]].p for places in claims.values()]
            p = multiplicity.adjust(p=unadjusted, method="benjamini-hochberg")
        _write(adjusted, claims, label, p)
    leading = [place for place, row in enumerate(rows) if row.key in first]
    _test_items(adjusted, leading)
    _name_cells(adjusted, leading)
    corrected = [
        place
        for place, row in enumerate(rows)
        if row.measure.endswith(CORRECTED) and uncorrected_key(row) in keys
    ]
    gone = {place for place in leading if uncorrected_key(rows[place]) in replaced}
    _adjust_narrower(adjusted, [*(place for place in leading if place not in gone), *corrected])
    return adjusted


def _adjust_narrower(made: list[Estimate], leads: Iterable[int]) -> None:
    """Adjusts p of headline tests limited to their own cue words or items, by Holm over the run."""
    populations = {place: made[place].population for place in leads}
    narrower = {
        place: population
        for place, population in populations.items()
        if population is not None and population["p_these"] is not None
    }
    adjusted = multiplicity.holm(p=[population["p_these"] for population in narrower.values()])
    for (place, population), p in zip(narrower.items(), adjusted, strict=True):
        made[place] = replace(made[place], population={**population, "p_these_adjusted": p})


def _test_items(made: list[Estimate], leads: Iterable[int]) -> None:
    """Tests whether the items of headline claims differ by more than chance. Holm adjusts these
    tests in a family of their own over the run, so that no claim's p changes.
    """
    tests = {place: made[place].test_items for place in leads if made[place].p_adjusted is not None}
    results = {place: test() for place, test in tests.items() if test is not None}
    testable = {place: one for place, one in results.items() if one is not None}
    adjusted = multiplicity.holm(p=[one["p"] for one in testable.values()])
    for (place, one), p in zip(testable.items(), adjusted, strict=True):
        with_p = {**one, "p_adjusted": p or 0.0, "claims": len(testable)}
        if with_p["p_adjusted"] >= ALPHA:
            with_p["exceptions"] = []
        made[place] = replace(made[place], between_items=with_p)


def _name_cells(made: list[Estimate], leads: Iterable[int]) -> None:
    """Stores, per claim over many cells, the cells that show its effect at α / number of claims."""
    for place in leads:
        row = made[place]
        if row.name_cells is not None:
            level = ALPHA / (row.family_size or 1)
            is_rejected = row.p_adjusted is not None and row.p_adjusted < ALPHA
            cells = row.name_cells(level, is_rejected)
            made[place] = replace(row, cells=cells, name_cells=None)


def _cells_by_claim(
    specs: Mapping[str, MeasureSpec], made: Sequence[Estimate], claims: Mapping[Key, Sequence[int]]
) -> list[tuple[Hashable, float | None]]:
    """Returns (claim, p) for each hypothesis. A hypothesis is its own claim, unless several
    attributes compare the same levels in the same condition, in a run that does not stop early.
    """
    keys: list[Hashable] = []
    attributes: dict[Hashable, set[str]] = {}
    for hypothesis, places in claims.items():
        row = made[places[0]]
        spec = specs.get(row.measure.removesuffix(CORRECTED))
        key: Hashable = hypothesis
        if spec is not None and spec.contrast and row.contrast and not row.stopped:
            place = tuple(sorted(row.condition.items())), tuple(sorted(row.contrast.items()))
            key = (row.subject, *place, tuple(spec.where.items()))
            attributes.setdefault(key, set()).add(spec.attribute)
        keys.append(key)
    joint_keys = {key for key, names in attributes.items() if len(names) > 1}
    return [
        (key if key in joint_keys else hypothesis, made[places[0]].p)
        for key, (hypothesis, places) in zip(keys, claims.items(), strict=True)
    ]


def _write(
    made: list[Estimate], claims: dict[Key, list[int]], label: str, family: multiplicity.Family
) -> None:
    values = [made[places[0]].p for places in claims.values()]
    for places, p, adjusted_p in zip(claims.values(), values, family.p, strict=True):
        for place in places:
            row = made[place].with_fields(
                p=p,
                p_adjusted=adjusted_p,
                family=label,
                family_size=family.tests,
                adjustment=family.method,
            )
            made[place] = _with_reach(row, family.tests) if family.method == "holm" else row


def _with_reach(row: Estimate, tests: int) -> Estimate:
    """Adds a note if a row's items are too few to be significant in a family of this size."""
    if not row.clusters or row.test not in SIGN_FLIPS:
        return row
    reach = multiplicity.reach(items=row.clusters, tests=tests, alpha=ALPHA)
    return replace(row, note=join_notes(row.note or None, reach.note) or "")


def _join_equal_claims(members: dict[tuple[str, str], dict[Key, list[int]]]) -> None:
    """Puts rows that test one hypothesis into one family: the headline row's or the first row's."""
    owner: dict[Key, list[int]] = {}
    for family in sorted(members, key=lambda family: family[0] != HEADLINE):
        joint = members[family]
        for key in list(joint):
            if key in owner:
                owner[key].extend(joint.pop(key))
            else:
                owner[key] = joint[key]
        if not joint:
            del members[family]


def uncorrected_key(row: Estimate) -> Key:
    """Returns the key of the row that this row corrects, or its own key if it corrects none."""
    return (row.measure.removesuffix(CORRECTED), *row.key[1:])
