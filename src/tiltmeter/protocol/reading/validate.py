"""Checks the names in a protocol against the design: columns, factors and their levels, values of
instruments, other measures.

The shape of its file is checked before (schema.py, schema.toml). Every error names the place, and
the nearest name.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import itemgetter

from ...errors import ProtocolError, UnknownName, UsageError
from ...records import OUTCOMES
from .. import EVERY, FIGURES, MeasureSpec, Protocol, Variant, thresholds, wording
from ..design.cue_words import check_cue_words
from ..design.selections import check_selections
from ..design.tables import SEVERAL
from ..measure_kinds import MeasureKind
from ..measures import measure_kind
from ..names import refuse_twice, refuse_unknown, refuse_unknown_levels
from ..source.source_lines import SourceLocation
from ..stopping import check_stop

Values = Mapping[str, Collection[str]]  # of each attribute whose values are closed


def check(protocol: Protocol, place: SourceLocation, values: Values) -> None:
    """Raises ProtocolError at the first name that nothing has."""
    _design(protocol, place)
    _prompts(protocol, place)
    refuse_twice([spec.name for spec in protocol.instruments], place.at("instruments"), "name")
    refuse_twice([measure.name for measure in protocol.measures], place.at("measures"), "name")
    attributes = {name for spec in protocol.instruments for name in (spec.attribute, *spec.also)}
    for number, measure in enumerate(protocol.measures):
        _measure(protocol, measure, place.at("measures", number), attributes, values)
    wording.check(protocol, place, attributes)
    for number, text in enumerate(protocol.thresholds):
        try:
            thresholds.check(thresholds.parse(text), protocol)
        except UsageError as error:
            raise ProtocolError(f"{place.at('thresholds', number)}: {error}") from None
    check_stop(protocol, place.at("stop"))
    for variant in protocol.variants.values():
        _variant(protocol, variant, place.at("variants", variant.name), attributes)


def _design(protocol: Protocol, place: SourceLocation) -> None:
    columns = protocol.cells[0].keys()
    for number, factor in enumerate(protocol.factors):
        refuse_unknown("column", factor, columns, place.at("factors", number))
    refuse_twice(protocol.factors, place.at("factors"))
    refuse_unknown("column", protocol.item, columns, place.at("item"))
    for some in {tuple(cell) for cell in protocol.cells}:
        for name in (*protocol.factors, protocol.item):
            if name not in some:
                raise ProtocolError(
                    f"{place.at('tables')}: some rows have no column '{name}'. Give it to all of "
                    "them."
                )
    if not all(cell[protocol.item].strip() for cell in protocol.cells):
        raise ProtocolError(
            f"{place.at('item')}: the column {protocol.item} is empty in some row. Fill it in."
        )
    for number, factor in enumerate(protocol.apart):
        refuse_unknown("factor", factor, protocol.factors, place.at("apart", number))
    if protocol.tally:
        refuse_unknown("factor", protocol.tally, protocol.factors, place.at("tally"))
    check_cue_words(protocol, columns, place)
    _levels(protocol, protocol.defaults, place.at("defaults"))
    if protocol.crosstab:
        for name in protocol.crosstab["rows"]:
            refuse_unknown("column", name, columns, place.at("crosstab", "rows"))
        column = protocol.crosstab["columns"]
        refuse_unknown("column", column, columns, place.at("crosstab", "columns"))
        known = dict.fromkeys(
            part for cell in protocol.cells for part in cell[column].split(SEVERAL)
        )
        listed = protocol.crosstab.get("levels", known)
        refuse_unknown_levels(column, list(listed), known, place.at("crosstab", "levels"))


def _context(protocol: Protocol, place: SourceLocation) -> None:
    """Slots of the system prompt and of earlier turns have columns; pictures take none of both."""
    key = "system" if protocol.system else "turns"
    if protocol.modality == "image" and (protocol.system or protocol.turns):
        raise ProtocolError(f"{place.at(key)}: what draws takes no {key}. Leave it out.")
    with _with_place(protocol, place.at(key)):
        for cell in protocol.cells if protocol.system or protocol.turns else ():
            protocol.context(cell)


def _prompts(protocol: Protocol, place: SourceLocation) -> None:
    """Every slot of every prompt and begun answer has a column, and no prompt stands in a condition
    twice.
    """
    with _with_place(protocol, place.at("prompt")):
        prompts = [protocol.prompt_text(cell) for cell in protocol.cells]
    seen: set[tuple[str, ...]] = set()
    condition = itemgetter(protocol.item, *protocol.factors)
    for prompt, cell in zip(prompts, protocol.cells, strict=True):
        key = ("" if protocol.pictures else prompt, *condition(cell))  # one picture a condition
        if key in seen:
            raise ProtocolError(
                f"{place.at('tables')}: two rows make the same prompt in the same condition: "
                f"'{prompt[:60]}'. Remove one, or make a factor of what parts them."
            )
        seen.add(key)
    _context(protocol, place)
    check_selections(protocol, place)
    for mode in protocol.modes.values():
        with _with_place(protocol, place.at("modes", mode.name, "begin")):
            for cell in protocol.cells if "{" in mode.begin else ():
                protocol.answer_start(mode, cell)
    if next(iter(protocol.modes.values())).for_discovery:
        raise ProtocolError(
            f"{place.at('modes')}: the first mode is measured and cannot be drawn aside. Put "
            "another first."
        )


@contextmanager
def _with_place(protocol: Protocol, place: SourceLocation) -> Iterator[None]:
    """A slot that no column fills, with its place in the file."""
    try:
        yield
    except ProtocolError as error:
        raise ProtocolError(f"{place}: {str(error).removeprefix(f'{protocol.source}: ')}") from None


def _measure(
    protocol: Protocol,
    measure: MeasureSpec,
    place: SourceLocation,
    attributes: Collection[str],
    values: Values,
) -> None:
    kind = _kind(measure, place)
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
        raise ProtocolError(f"{place.at('band')}: low is to be below high. Exchange them.")
    _levels(protocol, measure.where, place.at("where"))
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


def _kind(measure: MeasureSpec, place: SourceLocation) -> MeasureKind:
    try:
        return measure_kind(measure.kind)
    except UnknownName as error:
        raise ProtocolError(f"{place.at('kind')}: {error}") from None


def _values(
    measure: MeasureSpec, kind: MeasureKind, place: SourceLocation, known: Collection[str] | None
) -> None:
    """Values are among those that the instrument gives, and hits among what they are divided by."""
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
                f"{place.at('values', number)}: '{value}' is counted and not in the denominator, "
                f"among = {list(measure.among)}. Add it there, or leave it out here."
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
    """Scores are of values that the instrument gives, for a mean of them."""
    if measure.scores and not kind.numbers:
        raise ProtocolError(
            f'{place}: a {measure.kind} counts labels and takes no scores. Write kind = "mean".'
        )
    if known is not None:
        for value in measure.scores:
            what = f"value of {measure.attribute}"
            refuse_unknown(what, value, (*known, *OUTCOMES), place.at(value))


def _null(measure: MeasureSpec, kind: MeasureKind, place: SourceLocation) -> None:
    """A test takes the null value that its formula has, and one in the range of the values."""
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
    """A reference is a column with a share for each item, or shares of values; only some kinds take
    one.
    """
    reference = measure.reference
    if not kind.reference:
        if reference:
            raise ProtocolError(
                f'{place}: a {measure.kind} takes no reference. Write kind = "from_reference".'
            )
        return
    if not reference:
        raise ProtocolError(
            f'{place}: a {measure.kind} needs one. Write for instance: reference = "women_share"'
        )
    if isinstance(reference, Mapping):
        if kind.reference == "column":
            raise ProtocolError(
                f"{place}: a {measure.kind} needs a column with a share for each item."
            )
        for value in reference:
            if known is not None:
                refuse_unknown(f"value of {measure.attribute}", value, known, place.at(value))
        if sum(reference.values()) > 1 + 1e-9:
            raise ProtocolError(
                f"{place}: the shares are {sum(reference.values()):g} in all. Mend them: at most 1."
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
            f"{place}: {contrast['factor']} has one level only, {', '.join(levels)}: nothing to "
            "compare."
        )
    if contrast.get("level", "") == contrast.get("baseline") != EVERY:
        raise ProtocolError(
            f"{place}: level and baseline are both '{contrast['level']}'. Name two levels."
        )


def _variant(
    protocol: Protocol, variant: Variant, place: SourceLocation, attributes: Collection[str]
) -> None:
    _levels(protocol, variant.where, place.at("where"))
    measures = [measure.name for measure in protocol.measures]
    for setting in ("measures", "only"):
        for number, name in enumerate(getattr(variant, setting)):
            refuse_unknown("measure", name, measures, place.at(setting, number))
    for name in variant.judges:
        named = [spec.name for spec in protocol.instruments]
        refuse_unknown("instrument", name, named, place.at("judges"))
    for number, table in enumerate(variant.tables):
        for name in table.measures:
            refuse_unknown("measure", name, measures, place.at("tables", number, "measures"))
        for column, cell in enumerate(table.cells):
            inside = place.at("tables", number, "cells", column)
            if not cell.measure.startswith(tuple(f"{name}_" for name in measures)):
                refuse_unknown("measure", cell.measure, measures, inside.at("measure"))
            if cell.stars:
                refuse_unknown("measure", cell.stars.measure, measures, inside.at("stars"))
    for name in variant.says:
        refuse_unknown("measure", name, measures, place.at("says"))
    for name, other in variant.reads.items():
        refuse_unknown("attribute", name, attributes, place.at("reads"))
        refuse_unknown("attribute", other, attributes, place.at("reads", name))


def _levels(protocol: Protocol, named: Mapping[str, Sequence[str]], place: SourceLocation) -> None:
    """{factor: levels} that the design has; `mode` is a factor where modes are named."""
    for factor, levels in named.items():
        refuse_unknown("factor", factor, (*protocol.factors, "mode"), place.at(factor))
        known = protocol.modes if factor == "mode" else protocol.levels[factor]
        for level in levels:
            refuse_unknown(factor, level, known, place.at(factor))
