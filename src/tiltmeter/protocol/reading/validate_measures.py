"""Checks of a protocol's measures: their kind, values, factors and references."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from ...errors import ProtocolError, UnknownName
from ...records import OUTCOMES
from .. import EVERY, FIGURES, MeasureSpec, Protocol
from ..design.tables import SEVERAL
from ..measure_kinds import MeasureKind
from ..measures import measure_kind
from ..names import refuse_unknown, refuse_unknown_levels
from ..source.source_lines import SourceLocation

Values = Mapping[str, Collection[str]]  # of each attribute whose values are closed


def check_measure(
    protocol: Protocol,
    measure: MeasureSpec,
    place: SourceLocation,
    attributes: Collection[str],
    values: Values,
) -> None:
    """Raises ProtocolError at the first unknown name of a measure."""
    kind = _kind_of(measure, place)
    refuse_unknown(
        "attribute",
        measure.attribute,
        (*attributes, EVERY) if measure.attribute == EVERY else attributes,
        place.at("attribute"),
    )
    for number, group in enumerate(measure.by):
        for factor in group:
            refuse_unknown("factor", factor, (*protocol.factors, "mode"), place.at("by", number))
    for number, name in enumerate(measure.figure.split(SEVERAL)):
        refuse_unknown(
            "figure",
            name,
            FIGURES,
            place.at("figure", *([number] if SEVERAL in measure.figure else [])),
        )
    if measure.band is not None and measure.band["low"] >= measure.band["high"]:
        raise ProtocolError(f"{place.at('band')}: low must be below high. Exchange them.")
    check_levels(protocol, measure.where, place.at("where"))
    for factor, expected in measure.expected.items():
        _expected_levels(protocol, factor, tuple(expected), place.at("expected"))
        for level, several in expected.items():
            for value in several.split(SEVERAL) if measure.attribute in values else ():
                known = (*values[measure.attribute], *OUTCOMES)
                refuse_unknown(
                    f"value of {measure.attribute}",
                    value,
                    known,
                    place.at("expected", factor, level),
                )
    _values(measure, kind, place, values.get(measure.attribute))
    _null(measure, kind, place.at("null"))
    _reference(protocol, measure, kind, place.at("reference"), values.get(measure.attribute))
    _contrast(protocol, measure, kind, place.at("contrast"))


def _expected_levels(
    protocol: Protocol, factor: str, levels: Sequence[str], place: SourceLocation
) -> None:
    refuse_unknown("factor", factor, (*protocol.factors, "mode"), place.at(factor))
    known = protocol.modes if factor == "mode" else protocol.levels[factor]
    refuse_unknown_levels(factor, levels, known, place.at(factor))


def _kind_of(measure: MeasureSpec, place: SourceLocation) -> MeasureKind:
    try:
        return measure_kind(measure.kind)
    except UnknownName as error:
        raise ProtocolError(f"{place.at('kind')}: {error}") from None


def _values(
    measure: MeasureSpec, kind: MeasureKind, place: SourceLocation, known: Collection[str] | None
) -> None:
    """Raises ProtocolError for values unknown to the instrument, or hits not in `among`."""
    if known is not None:
        for setting in ("values", "among", "without"):
            for number, value in enumerate(getattr(measure, setting)):
                if value not in (*OUTCOMES, EVERY):
                    refuse_unknown(
                        f"value of {measure.attribute}", value, known, place.at(setting, number)
                    )
    for number, value in enumerate(measure.values):
        if measure.among and value not in (*measure.among, EVERY):
            raise ProtocolError(
                f"{place.at('values', number)}: '{value}' is counted but missing in the "
                f"denominator, among = {list(measure.among)}. Add it there, or leave it out here."
            )
    _scores(measure, kind, place.at("scores"), known)
    if kind.numbers:
        if known is not None and not measure.scores and not any(map(_is_number, known)):
            raise ProtocolError(
                f"{place.at('attribute')}: no label of {measure.attribute} is a number, so it "
                "has no mean. Give them scores = { VALUE = NUMBER }, or count them with a share."
            )
    elif (
        not measure.values
        and measure.attribute != EVERY
        and not isinstance(measure.reference, Mapping)
    ):
        raise ProtocolError(
            f'{place.at("values")}: nothing is counted. Name a value, or ["*"] for each.'
        )


def _scores(
    measure: MeasureSpec, kind: MeasureKind, place: SourceLocation, known: Collection[str] | None
) -> None:
    """Raises ProtocolError for scores of unknown values, or for scores without a mean."""
    if measure.scores and not kind.numbers:
        raise ProtocolError(
            f'{place}: a {measure.kind} counts labels and takes no scores. Write kind = "mean".'
        )
    if known is not None:
        for value in measure.scores:
            noun = f"value of {measure.attribute}"
            refuse_unknown(noun, value, (*known, *OUTCOMES), place.at(value))


def _null(measure: MeasureSpec, kind: MeasureKind, place: SourceLocation) -> None:
    """Raises ProtocolError for a null value that is not the formula's, or is out of range."""
    null = measure.null
    if null is None:
        return
    if kind.null is not None and null != kind.null:
        raise ProtocolError(
            f"{place}: a {kind.name} is tested against {kind.null:g} and no other value. "
            f"Write null = {kind.null:.1f}, or leave it out for no test."
        )
    if not kind.low <= null <= kind.high:
        raise ProtocolError(
            f"{place}: a {kind.name} lies between {kind.low:g} and {kind.high:g}, so {null:g} "
            "cannot be its null. Write a value between them."
        )


def _reference(
    protocol: Protocol,
    measure: MeasureSpec,
    kind: MeasureKind,
    place: SourceLocation,
    known: Collection[str] | None,
) -> None:
    """Raises ProtocolError for a reference that has no shares, or that the kind cannot use."""
    reference = measure.reference
    if not kind.reference:
        if reference:
            raise ProtocolError(
                f'{place}: a {measure.kind} takes no reference. Write kind = "from_reference".'
            )
        return
    if not reference:
        raise ProtocolError(
            f'{place}: a {measure.kind} needs a share. Write for example: reference = "women_share"'
        )
    if isinstance(reference, Mapping):
        if kind.reference == "column":
            raise ProtocolError(
                f"{place}: a {measure.kind} needs as its reference a column with a share for each "
                "item."
            )
        for value in reference:
            if known is not None:
                refuse_unknown(f"value of {measure.attribute}", value, known, place.at(value))
        if sum(reference.values()) > 1 + 1e-9:
            raise ProtocolError(
                f"{place}: the shares add up to {sum(reference.values()):g}; they must not "
                "exceed 1."
            )
        return
    refuse_unknown("column", reference, protocol.cells[0], place)
    for cell in protocol.cells:
        if cell[reference].strip() and not _is_share(cell[reference]):
            raise ProtocolError(
                f"{place}: the column {reference} holds '{cell[reference]}' for "
                f"{cell[protocol.item]}. Write a share from 0 to 1, or leave the cell empty."
            )


def _is_number(value: str) -> bool:
    try:
        return math.isfinite(float(value))
    except ValueError:
        return False


def _is_share(value: str) -> bool:
    return _is_number(value) and 0 <= float(value) <= 1


def _contrast(
    protocol: Protocol, measure: MeasureSpec, kind: MeasureKind, place: SourceLocation
) -> None:
    contrast, needs = measure.contrast or {}, kind.contrast
    for need in needs:
        if need not in contrast:
            example = ", ".join(f'{name} = "…"' for name in needs)
            raise ProtocolError(
                f"{place}: a {measure.kind} needs {', '.join(needs)}; '{need}' is missing. "
                f"Write for instance: contrast = {{ {example} }}"
            )
    for name in contrast.get("cells", "").split(SEVERAL) if "cells" in contrast else ():
        refuse_unknown("factor", name, ("subject", *protocol.factors), place.at("cells"))
    if "within" in contrast:
        refuse_unknown("factor", contrast["within"], protocol.factors, place.at("within"))
    if "factor" not in contrast:
        return
    refuse_unknown("factor", contrast["factor"], protocol.factors, place.at("factor"))
    levels = protocol.levels[contrast["factor"]]
    for setting in ("level", "baseline"):
        if setting in contrast:
            every = (EVERY,) if "level" in contrast and "within" not in contrast else ()
            refuse_unknown(
                contrast["factor"], contrast[setting], (*levels, *every), place.at(setting)
            )
    for level in contrast["controls"].split(SEVERAL) if "controls" in contrast else ():
        refuse_unknown(contrast["factor"], level, levels, place.at("controls"))
    if contrast.get("baseline") == EVERY and contrast.get("level") != EVERY:
        raise ProtocolError(
            f'{place}: baseline = "*" compares every pair of levels. Write level = "*" too.'
        )
    if len(levels) < 2:
        raise ProtocolError(
            f"{place}: {contrast['factor']} has one level only, {', '.join(levels)}. Name a factor "
            "with two levels or more."
        )
    if contrast.get("level", "") == contrast.get("baseline") != EVERY:
        raise ProtocolError(
            f"{place}: level and baseline are both '{contrast['level']}'. Name two levels."
        )


def check_levels(
    protocol: Protocol, named: Mapping[str, Sequence[str]], place: SourceLocation
) -> None:
    """Raises ProtocolError for unknown factors and levels; `mode` counts as a factor."""
    for factor, levels in named.items():
        refuse_unknown("factor", factor, (*protocol.factors, "mode"), place.at(factor))
        known = protocol.modes if factor == "mode" else protocol.levels[factor]
        for level in levels:
            refuse_unknown(factor, level, known, place.at(factor))
