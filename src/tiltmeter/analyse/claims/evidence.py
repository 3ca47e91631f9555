"""Evidence on a headline claim: its corrected row, its bounds, its groups and its nuisances."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...protocol import MeasureSpec, Protocol, in_variant, wording
from ...protocol.design.contrasts import nuisance_measures
from ...protocol.design.thin_design import cues_not_asked, items_by_level
from ...records import Estimate
from ..words import headlines, numerals, populations, reading
from ..words.largest_shift import Moved, StratumRows, cell_of, moved
from ..words.reading import BOUNDS, CAPTURED, CORRECTED, INTERACTION, MISSING
from ..words.short_model_names import short_names
from . import families
from .output_query import OutputQuery, query_of


@dataclass(frozen=True, slots=True)
class Claim:
    """A headline row with the other rows that bear on it.

    row: the estimate, corrected by gold if possible; raw: from the instrument's labels. missing:
    the share outside the denominator at the level less that at the baseline. about: the levels that
    distinguish it from other claims of its measure and subject. parts: tested rows of its
    subgroups. nuisances: the tested effect of each factor that the protocol does not ask about,
    with the claim's value at each of its levels; interactions: the same with the tested difference
    of the claim's value between two levels of such a factor (for a share: its effect). query:
    selects the outputs that were counted. slots: values for a protocol's own sentence. nouns: plain
    words for its cue words and its items. sides: the raw numbers compared. matters: a difference of
    shares below this is slight. uncued: the compared factor, if no prompt states its level.
    item: the kind of item; pairing: how many were asked on both sides, and how many in all, or ()
    if the design pairs them all.
    """

    spec: MeasureSpec
    row: Estimate
    raw: Estimate
    bounds: Estimate | None
    missing: Estimate | None
    uncorrected: str
    about: str
    parts: tuple[Estimate, ...]
    nuisances: tuple[tuple[str, Estimate, Mapping[str, float]], ...]
    interactions: tuple[tuple[str, Estimate, Mapping[str, float]], ...]
    captured: float | None
    drawn: bool
    query: OutputQuery
    slots: Mapping[str, str]
    nouns: tuple[str, str]
    sides: Mapping[str, float]
    matters: float
    uncued: str
    item: str = ""
    pairing: tuple[int, ...] = ()


def gather(
    protocol: Protocol, rows: Sequence[Estimate], named: Mapping[str, str] | None = None
) -> Iterator[Claim]:
    """Yields a variant's headline claims with all rows that bear on them. named: short names."""
    protocol = in_variant(protocol, rows[0].variant) if rows else protocol
    by_stratum: dict[families.Key, list[Estimate]] = {}
    for row in rows:
        by_stratum.setdefault(families.stratum(protocol, row), []).append(row)
    leads = families.headline(protocol, rows)
    levels = _levels_by_claim(leads)
    specs = {spec.name: spec for spec, _ in leads}
    kin = {name: _related(spec, by_stratum) for name, spec in specs.items()}
    labels = short_names([row.subject for row in rows], named)
    uncued = cues_not_asked(protocol)
    among = {key: StratumRows(rows_of) for key, rows_of in by_stratum.items()}
    for spec, raw in leads:
        stratum = families.stratum(protocol, raw)
        own_rows = among[stratum]
        of = {
            name: _same_place(own_rows.of_measure.get(spec.name + name, ()), raw)
            for name in (BOUNDS, CORRECTED, MISSING)
        }
        corrected = of[CORRECTED]
        is_usable = corrected is not None and corrected.value is not None
        share = next((e.value for e in own_rows.of_measure.get(CAPTURED, ())), None)
        mode = protocol.modes.get(raw.condition.get("mode", ""))
        row = corrected if corrected is not None and is_usable else raw
        nuisances = tuple(_nuisances(protocol, spec, raw, own_rows.of_measure))
        shift = cell_of(row) or moved(spec, raw, own_rows)
        factor = (spec.contrast or {}).get("factor", "")
        yield Claim(
            spec=spec,
            row=row,
            raw=raw,
            bounds=of[BOUNDS],
            missing=of[MISSING],
            uncorrected=corrected.note if corrected is not None and not is_usable else "",
            about=_about(raw, levels[spec.name]),
            parts=tuple(_parts(protocol, spec, raw, kin[spec.name][stratum])),
            nuisances=nuisances,
            interactions=tuple(_interactions(protocol, spec, raw, own_rows.of_measure)),
            captured=share,
            drawn=mode is None or not mode.logprobs,
            query=query_of(protocol, raw),
            slots=headlines.slots(
                protocol,
                spec,
                row,
                labels[row.subject],
                shift,
                _highest(nuisances),
            )
            | _open_shares(of[BOUNDS], of[MISSING]),
            nouns=populations.nouns(protocol, spec),
            sides=_sides(row, shift),
            matters=protocol.matters / 100,
            uncued=factor if factor in uncued else "",
            item=protocol.item,
            pairing=_pairing(protocol, spec, row),
        )


def _pairing(protocol: Protocol, spec: MeasureSpec, row: Estimate) -> tuple[int, ...]:
    """Returns the number of items that both compared levels have, and of all; () if all have both,
    if no table ties items to levels, or if the levels are kinds of items.
    """
    contrast = spec.contrast or {}
    if "of" in contrast:
        return ()
    factor = contrast.get("factor", "")
    items = items_by_level(protocol, factor) if reading.ends(row, factor) else {}
    sides = [items.get(level, set()) for level in reading.ends(row, factor) or ()]
    if not all(sides) or not sides or sides[0] == sides[1]:
        return ()
    return len(sides[0] & sides[1]), len(sides[0] | sides[1])


def _sides(row: Estimate, shift: Moved | None) -> Mapping[str, float]:
    """Returns the raw numbers that a claim compares; for a divergence, of the most moved value."""
    if shift is not None and not row.sides:
        return {"level": shift.share.value, "baseline": shift.other.value}
    return row.sides or {}


def _highest(nuisances: Iterable[tuple[str, Estimate, Mapping[str, float]]]) -> dict[str, str]:
    """Returns the level of each nuisance factor at which the claim's value is highest."""
    return {name: max(levels, key=levels.__getitem__) for name, _, levels in nuisances if levels}


def _open_shares(bounds: Estimate | None, missing: Estimate | None) -> dict[str, str]:
    """Computes the shares outside the denominator at a level and at its baseline: the bounds are as
    wide as the sum of both shares, and `missing` is their difference.
    """
    if bounds is None or missing is None or None in (bounds.low, bounds.high, missing.value):
        return {}
    total, gap = (bounds.high or 0.0) - (bounds.low or 0.0), missing.value or 0.0
    return {
        "open_at_level": numerals.percent(max(0.0, round((total + gap) / 2, 9))),
        "open_at_baseline": numerals.percent(max(0.0, round((total - gap) / 2, 9))),
    }


def _same_place(rows: Sequence[Estimate], raw: Estimate) -> Estimate | None:
    place = raw.condition, raw.contrast or {}
    return next((row for row in rows if (row.condition, row.contrast or {}) == place), None)


def _levels_by_claim(
    leads: Iterable[tuple[MeasureSpec, Estimate]],
) -> dict[str, list[dict[str, set[str | None]]]]:
    """Returns {measure: [levels in its claims' conditions, levels in their contrasts]}, each as
    {factor: levels}, with None if some claim lacks the factor.
    """
    by_claim: dict[str, list[Estimate]] = {}
    for spec, row in leads:
        by_claim.setdefault(spec.name, []).append(row)
    return {
        name: [_levels([r.condition for r in rows]), _levels([r.contrast or {} for r in rows])]
        for name, rows in by_claim.items()
    }


def _levels(places: Sequence[Mapping[str, str]]) -> dict[str, set[str | None]]:
    names = dict.fromkeys(name for place in places for name in place)
    return {name: {place.get(name) for place in places} for name in names}


def _about(raw: Estimate, levels: Sequence[Mapping[str, set[str | None]]]) -> str:
    """Joins the levels of a claim and its contrast that differ between the measure's claims."""
    raw_levels = (raw.condition, raw.contrast or {})
    return ", ".join(
        level
        for place, among in zip(raw_levels, levels, strict=True)
        for name, level in place.items()
        if len(among[name]) > 1
    )


def _related(
    spec: MeasureSpec, by_stratum: Mapping[families.Key, Sequence[Estimate]]
) -> dict[families.Key, list[Estimate]]:
    """Lists, by stratum, the tested rows that may describe parts of a claim of this measure."""
    return {
        key: [
            row
            for row in rows
            if (row.measure == spec.name or row.measure in spec.parts)
            and None not in (row.p, row.value)
        ]
        for key, rows in by_stratum.items()
    }


def _parts(
    protocol: Protocol, spec: MeasureSpec, raw: Estimate, kin: Sequence[Estimate]
) -> Iterator[Estimate]:
    """Yields the rows of a claim's subgroups, except subgroups by a nuisance factor or by item."""
    excluded = {protocol.item, *(factor for factor, _ in nuisance_measures(protocol, spec))}
    excluded -= raw.condition.keys()
    for row in kin:
        is_part = len(row.condition) > len(raw.condition)
        is_in = row.condition.items() >= raw.condition.items()
        if (is_part or row.measure in spec.parts) and is_in and not excluded & row.condition.keys():
            yield row


def _nuisances(
    protocol: Protocol,
    spec: MeasureSpec,
    raw: Estimate,
    of_measure: Mapping[str, Sequence[Estimate]],
) -> Iterator[tuple[str, Estimate, Mapping[str, float]]]:
    for factor, other in nuisance_measures(protocol, spec):
        for row in of_measure.get(other.name, ()):
            if row.condition == raw.condition and row.p is not None:
                levels = _raw_levels(protocol, factor, row) or _values_by_level(
                    protocol, spec, raw, of_measure, factor
                )
                yield factor, row, levels


def _raw_levels(protocol: Protocol, factor: str, row: Estimate) -> dict[str, float]:
    """Returns {level of a nuisance: the share there}, from the two sides of its effect."""
    ends = reading.ends(row, factor)
    if row.sides is None or ends is None:
        return {}
    titles = [wording.title(protocol, factor, end) for end in ends]
    return dict(zip(titles, (row.sides["level"], row.sides["baseline"]), strict=True))


def _interactions(
    protocol: Protocol,
    spec: MeasureSpec,
    raw: Estimate,
    of_measure: Mapping[str, Sequence[Estimate]],
) -> Iterator[tuple[str, Estimate, Mapping[str, float]]]:
    """Yields the nuisance factors whose level changes a claim's difference. An effect of the factor
    on both compared levels alike does not count.
    """
    if spec.contrast is None:
        yield from _nuisances(protocol, spec, raw, of_measure)
        return
    factors = {factor for factor, _ in nuisance_measures(protocol, spec)}
    levels = (raw.contrast or {}).items()
    for row in of_measure.get(spec.name + INTERACTION, ()):
        factor = next((name for name in row.contrast or {} if name in factors), "")
        if factor and row.condition == raw.condition and levels <= (row.contrast or {}).items():
            yield factor, row, _values_by_level(protocol, spec, raw, of_measure, factor)


def _values_by_level(
    protocol: Protocol,
    spec: MeasureSpec,
    raw: Estimate,
    of_measure: Mapping[str, Sequence[Estimate]],
    factor: str,
) -> dict[str, float]:
    """Returns {level of a factor: the claim's value there}."""
    return {
        wording.title(protocol, factor, one.condition[factor]): one.value
        for one in of_measure[spec.name]
        if one.value is not None
        and one.contrast == raw.contrast
        and one.condition == {**raw.condition, factor: one.condition.get(factor, "")}
    }
