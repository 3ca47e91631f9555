"""What bears on a headline claim: its row as gold corrects it, its bounds, its parts, and factors
that are no question of the protocol.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..protocol import MeasureSpec, Protocol, in_variant, wording
from ..records import Estimate
from . import claims, headlines
from .model_labels import short_names
from .moved import moved
from .queries import OutputQuery, query_of
from .reading import BOUNDS, CAPTURED, CORRECTED


@dataclass(frozen=True, slots=True)
class Claim:
    """A headline row with the other rows that bear on it.

    row: as gold corrects it, where it does; raw: as the instrument has it. about: what tells it
    from other claims of its measure and subject. parts: tested rows of its own groups. nuisances:
    the tested effect of each factor that is no question of the protocol, with the claim's value at
    each of its levels. query: of the outputs that were counted. slots: what a sentence of the
    protocol's own may name.
    """

    spec: MeasureSpec
    row: Estimate
    raw: Estimate
    bounds: Estimate | None
    uncorrected: str
    about: str
    parts: tuple[Estimate, ...]
    nuisances: tuple[tuple[str, Estimate, Mapping[str, float]], ...]
    captured: float | None
    drawn: bool
    query: OutputQuery
    slots: Mapping[str, str]


def gather(
    protocol: Protocol, rows: Sequence[Estimate], named: Mapping[str, str] | None = None
) -> Iterator[Claim]:
    """The headline claims of one variant with all that bears on them. named: {model: short name}
    for sentences, where somebody gave one.
    """
    protocol = in_variant(protocol, rows[0].variant) if rows else protocol
    by_stratum: dict[claims.Key, list[Estimate]] = {}
    for row in rows:
        by_stratum.setdefault(claims.stratum(protocol, row), []).append(row)
    leads = claims.headline(protocol, rows)
    labels = short_names([row.subject for row in rows], named)
    for spec, raw in leads:
        here = by_stratum[claims.stratum(protocol, raw)]
        of = {name: _same_place(here, spec.name + name, raw) for name in (BOUNDS, CORRECTED)}
        corrected = of[CORRECTED]
        usable = corrected is not None and corrected.value is not None
        captured = next((e.value for e in here if e.measure == CAPTURED), None)
        mode = protocol.modes.get(raw.condition.get("mode", ""))
        row = corrected if corrected is not None and usable else raw
        nuisances = tuple(_nuisances(protocol, spec, raw, here))
        yield Claim(
            spec=spec,
            row=row,
            raw=raw,
            bounds=of[BOUNDS],
            uncorrected=corrected.note if corrected is not None and not usable else "",
            about=_about(raw, [row for other, row in leads if other is spec]),
            parts=tuple(_parts(protocol, spec, raw, here)),
            nuisances=nuisances,
            captured=captured,
            drawn=mode is None or not mode.logprobs,
            query=query_of(protocol, raw),
            slots=headlines.slots(
                protocol,
                spec,
                row,
                labels[row.subject],
                moved(spec, raw, here),
                _highest(nuisances),
            ),
        )


def _highest(nuisances: Iterable[tuple[str, Estimate, Mapping[str, float]]]) -> dict[str, str]:
    """The level of each nuisance factor at which the claim's value is highest."""
    return {name: max(levels, key=levels.__getitem__) for name, _, levels in nuisances if levels}


def _same_place(rows: Sequence[Estimate], measure: str, raw: Estimate) -> Estimate | None:
    return next(
        (
            row
            for row in rows
            if row.measure == measure
            and row.condition == raw.condition
            and (row.contrast or {}) == (raw.contrast or {})
        ),
        None,
    )


def _about(raw: Estimate, others: Sequence[Estimate]) -> str:
    """The levels of a claim, and of its contrast, in which claims of its measure differ."""
    differ = [
        level
        for name, level in raw.condition.items()
        if any(other.condition.get(name) != level for other in others)
    ]
    differ += [
        level
        for name, level in (raw.contrast or {}).items()
        if any((other.contrast or {}).get(name) != level for other in others)
    ]
    return ", ".join(differ)


def _parts(
    protocol: Protocol, spec: MeasureSpec, raw: Estimate, here: Sequence[Estimate]
) -> Iterator[Estimate]:
    """Tested rows of the groups inside a claim: those of its own measure, and of the measures that
    it names as its parts. Levels of a nuisance factor are no parts.
    """
    aside = {factor for factor, _ in _nuisance_specs(protocol, spec)}
    for row in here:
        own = row.measure == spec.name and len(row.condition) > len(raw.condition)
        inside = all(row.condition.get(name) == level for name, level in raw.condition.items())
        cut = set(row.condition) - set(raw.condition)
        is_part = (own or row.measure in spec.parts) and inside
        if is_part and not cut & {*aside, protocol.item} and None not in (row.p, row.value):
            yield row


def _nuisance_specs(protocol: Protocol, spec: MeasureSpec) -> list[tuple[str, MeasureSpec]]:
    """(factor, measure of its effect) of the factors that no headline compares."""
    compared = {
        (other.contrast or {}).get("factor") for other in protocol.measures if other.headline
    }
    counted = (spec.attribute, spec.values, spec.among)
    return [
        (other.contrast["factor"], other)
        for other in protocol.measures
        if other.contrast
        and other.kind == "difference"
        and not other.headline
        and (other.attribute, other.values, other.among) == counted
        and other.where == spec.where
        and other.contrast["factor"] not in compared
    ]


def _nuisances(
    protocol: Protocol, spec: MeasureSpec, raw: Estimate, here: Sequence[Estimate]
) -> Iterator[tuple[str, Estimate, Mapping[str, float]]]:
    for factor, other in _nuisance_specs(protocol, spec):
        for row in here:
            if row.measure == other.name and row.condition == raw.condition and row.p is not None:
                levels = {
                    wording.title(protocol, factor, one.condition[factor]): one.value
                    for one in here
                    if one.measure == spec.name
                    and one.value is not None
                    and one.condition == {**raw.condition, factor: one.condition.get(factor, "")}
                }
                yield factor, row, levels
