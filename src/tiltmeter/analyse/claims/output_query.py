"""The outputs that a number counts: the query of an estimate or a verdict.

A query selects outputs by subject, annotator, mode, language and levels of factors, and says which
of their labels were counted among which. It has two forms: plain values for JSON, and a text for an
address. `whole_run/outputs_behind.py` reads the selected outputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, quote_plus

from ...errors import UsageError
from ...instruments.images import taxonomy
from ...protocol import EVERY, MeasureSpec, Protocol
from ...protocol.design.tables import SEVERAL
from ...protocol.measures import measure_kind
from ...records import Estimate, Json
from ..words.numerals import BETWEEN
from ..words.reading import (
    BOUNDS,
    CAPTURED,
    CODE,
    CORRECTED,
    INTERACTION,
    MISSING,
    OUTCOME_RATE,
    STRATA,
)

PLUGIN, DIFFERENCE = "_plugin", "_difference"  # end the names of rows that a measure adds
SHIFTS = ("shift_total",)  # kinds that count groups × attributes, without the base
CASES = ("dominant", "dominant_total", *SHIFTS)  # kinds that count prompts × attributes
MODE = "mode"
LEVEL = "f."  # begins a factor's name in the text form
Chosen = str | tuple[str, ...] | Mapping[str, tuple[str, ...]]  # a field of a query


@dataclass(frozen=True, slots=True)
class OutputQuery:
    """The outputs from which a number was counted.

    subjects, levels: () and a factor without an entry stand for all. levels: of the mode, the
              language, every other factor and the item.
    values:   the labels that count as hits; () if the number is about all labels.
    among:    the labels in the denominator; () for all except those in `without`, which lists
              values, or attributes if the number is about all attributes.
    counts:   the kind of things that n counts: "labels" (sums of weights), "numbers" (labels that
              are numbers), "outputs", "prompts" or "cases" (prompts × attributes).
    having:   a column of the tables; items without a value in it were left out.
    attribute: "" for all.
    """

    annotator: str
    attribute: str = ""
    subjects: tuple[str, ...] = ()
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    values: tuple[str, ...] = ()
    among: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    counts: str = "labels"
    having: str = ""
    variant: str = "default"

    def as_dict(self) -> dict[str, Json]:
        """Returns plain values for JSON, without fields at their default."""
        return {name: _plain(value) for name, value in self._chosen().items()}

    def _chosen(self) -> dict[str, Chosen]:
        """Returns the fields that differ from their default."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {
            name: value
            for name, value in values.items()
            if name == "annotator" or (value and value != getattr(_ALL, name))
        }

    def text(self) -> str:
        """Returns the query as URL parameters, in a fixed order."""
        parameters: list[str] = []
        for name, value in self._chosen().items():
            if isinstance(value, str):
                parameters.append(_parameters(name, (value,)))
            elif isinstance(value, tuple):
                parameters.append(_parameters(name, value))
            else:
                parameters += [
                    _parameters(LEVEL + factor, one) for factor, one in value.items() if one
                ]
        return "&".join(parameters)

    @classmethod
    def parse(cls, text: str) -> OutputQuery:
        """Parses a query. Raises UsageError if the text is malformed."""
        typed: dict[str, list[str]] = {}
        for name, value in parse_qsl(text, keep_blank_values=True):
            typed.setdefault(name, []).append(value)
        levels = {n.removeprefix(LEVEL): (*v,) for n, v in typed.items() if n.startswith(LEVEL)}

        chosen: dict[str, Any] = {
            name: (*values,) if isinstance(getattr(_ALL, name, ""), tuple) else values[0]
            for name, values in typed.items()
            if not name.startswith(LEVEL)
        }
        if not chosen.get("annotator") or not chosen.keys() <= {*cls.__slots__}:
            raise UsageError("No counted outputs fit this address. Follow a link of the report.")
        return cls(**(chosen | {"levels": levels}))


_ALL = OutputQuery("")


@lru_cache(maxsize=4096)
def _parameters(name: str, values: tuple[str, ...]) -> str:
    """Encodes URL parameters; cached, as a report repeats few of them thousands of times."""
    return "&".join(f"{quote_plus(name)}={quote_plus(value)}" for value in values)


def _plain(value: Chosen) -> Json:
    if isinstance(value, Mapping):
        return {name: list(levels) for name, levels in value.items()}
    return value if isinstance(value, str) else list(value)


def query_of(protocol: Protocol, row: Estimate) -> OutputQuery:
    """Returns the query that selects exactly the labels that an estimate's n counts."""
    if row.measure in (OUTCOME_RATE, CAPTURED):
        return _of_outcomes(protocol, row)
    spec, ending = _spec_of(protocol, row.measure)
    if spec is None:
        levels = _levels(protocol, row, {})
        return OutputQuery(row.instrument, "", (row.subject,), levels, variant=row.variant)
    if "within" in measure_kind(spec.kind).contrast:
        return _of_whole_outputs(protocol, spec, row, ending)
    kind, reference = measure_kind(spec.kind), spec.reference
    among = spec.among or (tuple(reference) if isinstance(reference, Mapping) else ())
    if kind.numbers:
        among = spec.values
    # outputs are counted whatever they say
    is_by_output = spec.per == "outputs" and ending not in (BOUNDS, MISSING)
    return OutputQuery(
        row.instrument,
        spec.attribute,
        () if "subject" in spec.over else (row.subject,),
        _levels(protocol, row, spec.where, spec),
        _hits(protocol, spec, row),
        () if is_by_output or ending in (BOUNDS, MISSING) else among,
        () if is_by_output or ending in (BOUNDS, MISSING) else spec.without,
        "outputs" if is_by_output else kind.counts,
        reference if isinstance(reference, str) else "",
        row.variant,
    )


def query_of_labels(protocol: Protocol, row: Estimate) -> OutputQuery:
    """Returns the query for a row's `outcomes`: all labels of its own group, with refusals and
    other non-answers, but without the group that it is compared with.
    """
    query = query_of(protocol, row)
    spec, _ = _spec_of(protocol, row.measure)
    factor = ((spec.contrast if spec else None) or {}).get("factor", "")
    own_level = {factor: (row.condition[factor],)} if factor in row.condition else {}
    levels = {**query.levels, **own_level}
    return replace(query, levels=levels, values=(), among=(), without=(), counts="labels")


def joined(queries: Sequence[OutputQuery]) -> OutputQuery:
    """Returns one query for several queries that differ only in the levels of factors."""
    first = queries[0]
    levels = {
        name: tuple(dict.fromkeys(level for query in queries for level in query.levels[name]))
        for name in first.levels
        if all(name in query.levels for query in queries)
    }
    return replace(first, levels=levels)


def _spec_of(protocol: Protocol, name: str) -> tuple[MeasureSpec | None, str]:
    """Returns the measure that a row belongs to, and the suffix of the row's name ("" if none)."""
    specs = protocol.compared_measures
    for ending in (
        "",
        CORRECTED,
        BOUNDS,
        MISSING,
        INTERACTION,
        PLUGIN,
        DIFFERENCE,
        DIFFERENCE + PLUGIN,
    ):
        if name.endswith(ending) and name.removesuffix(ending) in specs:
            return specs[name.removesuffix(ending)], ending
    return None, ""


def _of_outcomes(protocol: Protocol, row: Estimate) -> OutputQuery:
    """Returns the query of an outcome's rate, or of the total probability of the options."""
    first = next((instrument.attribute for instrument in protocol.instruments), "")
    outcome = row.condition.get("outcome")
    return OutputQuery(
        row.instrument,
        row.condition.get("attribute", first),
        (row.subject,),
        _levels(protocol, row, {}),
        (outcome,) if outcome else tuple(row.outcomes),
        variant=row.variant,
    )


def _of_whole_outputs(
    protocol: Protocol, spec: MeasureSpec, row: Estimate, ending: str
) -> OutputQuery:
    """Returns the query of a score of whole outputs: outputs of the group and of the base."""
    contrast = spec.contrast or {}
    factor, base, within = contrast["factor"], contrast["baseline"], contrast["within"]
    levels = _levels(protocol, row, {}, names={"dimension": within, "group": factor})
    has_base = "from_base" in spec.kind or ending.startswith(DIFFERENCE)
    if has_base and factor in levels:
        levels[factor] = (*levels[factor], base)
        if within in levels:  # of the mean over all groups it names none
            dimensions = {cell[within] for cell in protocol.cells_of.get((factor, base), ())}
            levels[within] = tuple(dict.fromkeys((*levels[within], *sorted(dimensions))))
    elif factor not in levels and (within in levels or spec.kind in SHIFTS):
        levels[factor] = tuple(level for level in protocol.levels[factor] if level != base)
    attribute = row.condition.get("attribute", "")
    value = row.condition.get("value")
    is_pooled = spec.kind == "between_groups" and row.variant == CODE  # over all subjects there
    is_about_cases = spec.kind in CASES and not attribute
    return OutputQuery(
        row.instrument,
        attribute,
        () if is_pooled or "subject" in spec.over else (row.subject,),
        levels,
        (value,) if value else (),
        (),
        (
            *(() if attribute else spec.without),  # which names attributes
            *(taxonomy.RESERVED if attribute or is_about_cases else ()),
        ),
        "cases" if is_about_cases else "outputs",
        "",
        row.variant,
    )


def _levels(
    protocol: Protocol,
    row: Estimate,
    where: Mapping[str, Sequence[str]],
    spec: MeasureSpec | None = None,
    names: Mapping[str, str] | None = None,
) -> dict[str, tuple[str, ...]]:
    """Returns {factor: levels that a row is restricted to}. names: {condition's name: factor}."""
    factors = {MODE, *STRATA, *protocol.factors, protocol.item}
    has_each_level = protocol.variants[row.variant].several == "each"
    restricted = {name: tuple(levels) for name, levels in where.items()}
    if spec is not None and row.contrast:
        restricted |= _contrasted(protocol, spec, row.contrast)
    for name, level in row.condition.items():
        factor = (names or {}).get(name, name)
        if factor in factors:
            allowed = _cells_with(protocol, factor, level) if has_each_level else (level,)
            restricted[factor] = tuple(
                one for one in allowed if one in restricted.get(factor, allowed)
            )
    return restricted


def _cells_with(protocol: Protocol, factor: str, level: str) -> tuple[str, ...]:
    """Returns the level, and every table cell that lists it together with other levels."""
    if factor == MODE:
        return (level,)
    cells = dict.fromkeys(cell[factor] for cell in protocol.cells if factor in cell)
    return tuple(dict.fromkeys((level, *(c for c in cells if level in c.split(SEVERAL)))))


def _contrasted(
    protocol: Protocol, spec: MeasureSpec, contrast: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """Returns {factor of a contrast: the levels on both sides}."""
    declared = spec.contrast or {}
    factor = declared.get("factor", "")
    if factor not in contrast:
        return {}
    levels, text = tuple(protocol.levels[factor]), contrast[factor]
    if "controls" in declared:
        controls = declared["controls"].split(SEVERAL)
        aside = [control for control in controls if control not in (text, *text.split(" and "))]
        cells = dict.fromkeys(cell[factor] for cell in protocol.cells)
        return {factor: tuple(one for one in dict.fromkeys((*levels, *cells)) if one not in aside)}
    pair = next(((a, b) for a in levels for b in levels if f"{a}{BETWEEN}{b}" == text), None)
    return {factor: pair or levels}


def _hits(protocol: Protocol, spec: MeasureSpec, row: Estimate) -> tuple[str, ...]:
    """Returns the values that count as hits in a row: the expected values, the value that the row
    is about, or the measure's own; () if the expected value differs between trials of the row.
    """
    if any(factor not in row.condition for factor in spec.expected):
        return ()
    expected: Iterable[str] = (
        value
        for factor, levels in spec.expected.items()
        for value in levels[row.condition[factor]].split(SEVERAL)
    )
    about = row.condition.get(spec.attribute)
    is_value = about is not None and spec.attribute not in (*protocol.factors, protocol.item)
    values = (about,) if is_value and about is not None else spec.values
    return tuple(dict.fromkeys(expected)) or (() if values == (EVERY,) else values)
