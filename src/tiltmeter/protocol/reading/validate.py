"""Checks the names in a protocol against the design: columns, factors and their levels, values of
instruments, other measures.

The shape of the file is checked before (schema.py, schema.toml). Every error gives its location.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from operator import itemgetter

from ...errors import ProtocolError, UsageError
from .. import Protocol, Variant, thresholds, wording
from ..design.cue_words import check_cue_words
from ..design.tables import SEVERAL
from ..names import refuse_twice, refuse_unknown, refuse_unknown_levels
from ..source.source_lines import SourceLocation
from ..stopping import check_stop
from .validate_measures import Values, check_levels, check_measure


def check(protocol: Protocol, place: SourceLocation, values: Values) -> None:
    """Raises ProtocolError at the first unknown name."""
    _design(protocol, place)
    _prompts(protocol, place)
    refuse_twice([spec.name for spec in protocol.instruments], place.at("instruments"), "name")
    refuse_twice([measure.name for measure in protocol.measures], place.at("measures"), "name")
    attributes = {name for spec in protocol.instruments for name in (spec.attribute, *spec.also)}
    for number, measure in enumerate(protocol.measures):
        check_measure(protocol, measure, place.at("measures", number), attributes, values)
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
    check_levels(protocol, protocol.defaults, place.at("defaults"))
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
    """Raises ProtocolError for unknown slots in system prompt or turns, or for a picture model."""
    key = "system" if protocol.system else "turns"
    if protocol.modality == "image" and (protocol.system or protocol.turns):
        raise ProtocolError(f"{place.at(key)}: a model that draws takes no {key}. Leave it out.")
    with _with_place(protocol, place.at(key)):
        for cell in protocol.cells if protocol.system or protocol.turns else ():
            protocol.context(cell)


def _prompts(protocol: Protocol, place: SourceLocation) -> None:
    """Raises ProtocolError for a slot without a column, or for equal prompts of one condition."""
    with _with_place(protocol, place.at("prompt")):
        prompts = [protocol.prompt_text(cell) for cell in protocol.cells]
    seen: set[tuple[str, ...]] = set()
    condition = itemgetter(protocol.item, *protocol.factors)
    for prompt, cell in zip(prompts, protocol.cells, strict=True):
        key = ("" if protocol.pictures else prompt, *condition(cell))  # one picture per condition
        if key in seen:
            raise ProtocolError(
                f"{place.at('tables')}: two rows make the same prompt in the same condition: "
                f"'{prompt[:60]}'. Remove one, or add a factor that tells them apart."
            )
        seen.add(key)
    _context(protocol, place)
    _selections(protocol, place)
    for mode in protocol.modes.values():
        with _with_place(protocol, place.at("modes", mode.name, "begin")):
            for cell in protocol.cells if "{" in mode.begin else ():
                protocol.answer_start(mode, cell)
    if next(iter(protocol.modes.values())).for_discovery:
        raise ProtocolError(
            f"{place.at('modes')}: the first mode is measured and cannot have for_discovery. "
            "Put another first."
        )


@contextmanager
def _with_place(protocol: Protocol, place: SourceLocation) -> Iterator[None]:
    """Adds the location in the file to the error about a slot that no column fills."""
    try:
        yield
    except ProtocolError as error:
        raise ProtocolError(f"{place}: {str(error).removeprefix(f'{protocol.source}: ')}") from None


def _variant(
    protocol: Protocol, variant: Variant, place: SourceLocation, attributes: Collection[str]
) -> None:
    check_levels(protocol, variant.where, place.at("where"))
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


def _selections(protocol: Protocol, place: SourceLocation) -> None:
    """Raises ProtocolError for a selection whose measure is not a share or groups are unknown."""
    measures = {measure.name: measure for measure in protocol.measures}
    for number, selection in enumerate(protocol.selections):
        at = place.at("selections", number)
        refuse_unknown("measure", selection["measure"], measures, at)
        measure = measures[selection["measure"]]
        if measure.kind != "share" or ("by" in selection) == ("groups" in selection):
            raise ProtocolError(
                f"{at}: a selection needs a measure of the kind share, and exactly one of `by` and "
                "`groups`. Add or leave out one."
            )
        grouped = dict.fromkeys(factor for by in measure.by for factor in by)
        for factor in selection.get("by", ()):
            refuse_unknown(f"factor in `by` of {measure.name}", factor, grouped, at)
        for values in selection.get("groups", {}).values():
            for value in values:
                refuse_unknown(f"value of {measure.attribute}", value, measure.among, at)
