"""The headline claims that a plan would produce: each measure, mode and language with its groups,
and the number of claims over which the p-values would be adjusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ... import registry
from ...protocol import EVERY, MeasureSpec, Mode, Protocol, few_items
from ...protocol.design.refusals import with_derived_measures
from ...protocol.design.tables import SEVERAL, Row
from ...protocol.instrument_kinds import Labels
from ...protocol.measures import measure_kind
from . import plan
from .plan import Choices

SUPPOSED_VALUES = 6  # values of an attribute whose list is not known yet


@dataclass(frozen=True, slots=True)
class PlannedGroup:
    """The cells of a measure, mode, language and group. whole: True for the measure's first
    grouping; tests: the number of tests over which its p is adjusted.
    """

    measure: MeasureSpec
    mode: Mode
    language: str
    group: dict[str, str]
    cells: list[Row]
    labels: Labels
    tests: int = 1
    whole: bool = True


def family_size(protocol: Protocol, choices: Choices) -> int:
    """Counts the headline claims of a run: headline measures (per value if all values are counted,
    per group if no claim over the whole is declared), over subjects, modes and languages that are
    not pooled; of drawn answers also their refusals and missing answers, which a run compares if
    there are any. Judges are not counted.
    """
    kept = plan.cells(protocol, choices)
    measures, claims = _measures(protocol), 0
    modes = choices.modes or (protocol.default_mode,)
    if not any(protocol.modes[name].logprobs for name in modes):
        measures = list(with_derived_measures(measures))
    for measure in measures:
        if measure.headline and measure_kind(measure.kind).detectable:
            for language, cells in _languages(measure, kept).items():
                tests = tests_of(measure, labels_of(protocol, measure, language))
                groups = _first_groups(protocol, measure, _asked_of(measure, cells))
                claims += _strata(measure, choices) * tests * groups
    return max(claims, 1)


def _first_groups(protocol: Protocol, measure: MeasureSpec, cells: list[Row]) -> int:
    """Counts the groups of the first grouping: 1 for the whole, else the compared groups."""
    for group, _, number in _groups(protocol, measure, cells):
        return number if group else 1
    return 1


def _strata(measure: MeasureSpec, choices: Choices) -> int:
    """Counts the combinations of subject and mode that the measure does not pool."""
    subjects = 1 if "subject" in measure.over else len(choices.subjects)
    return max(subjects, 1) * max(len(choices.modes), 1)


def _measures(protocol: Protocol) -> list[MeasureSpec]:
    """Returns the default headline measures; for other attributes, their first tested measure."""
    only_in_variants = {name for variant in protocol.variants.values() for name in variant.only}
    default = [measure for measure in protocol.measures if measure.name not in only_in_variants]
    attributes = {measure.attribute for measure in default if measure.headline}
    claims = []
    for measure in default:
        has_test = measure.null is not None and measure_kind(measure.kind).detectable
        if measure.headline or (has_test and measure.attribute not in attributes):
            claims.append(measure)
            attributes.add(measure.attribute)
    return claims


def planned_groups(protocol: Protocol, choices: Choices, family: int) -> Iterator[PlannedGroup]:
    """Yields the groups per measure, mode and language. family: the run's headline claims."""
    kept = [cell for cell in plan.cells(protocol, choices) if SEVERAL not in cell[protocol.item]]
    for name in choices.modes or (protocol.default_mode,):
        for measure in _measures(protocol):
            for language, cells in _languages(measure, kept).items():
                labels = labels_of(protocol, measure, language)
                rows = _asked_of(measure, cells) * (
                    len(choices.subjects) if "subject" in measure.over else 1
                )
                part = PlannedGroup(measure, protocol.modes[name], language, {}, rows, labels)
                strata = _strata(measure, choices) * len(_languages(measure, kept))
                yield from _with_families(protocol, part, family, strata)


def _asked_of(measure: MeasureSpec, cells: Sequence[Row]) -> list[Row]:
    where = measure.where.items()
    return [cell for cell in cells if all(cell[f] in levels for f, levels in where if f in cell)]


def _with_families(
    protocol: Protocol, part: PlannedGroup, family: int, strata: int
) -> Iterator[PlannedGroup]:
    """Yields the groups of a measure with the number of tests over which their p is adjusted:
    `family` in a headline's first grouping, elsewhere the tests of the measure's other groups.
    """
    measure = part.measure
    groupings = list(_groups(protocol, measure, part.cells))
    tests_here = tests_of(measure, part.labels)
    rest = sum(number for _, _, number in groupings[measure.headline :])
    for index, (group, cells, _) in enumerate(groupings):
        is_leading = measure.headline and index == 0
        tests = family if is_leading else rest * tests_here * strata
        yield replace(part, group=group, cells=cells, tests=tests, whole=index == 0)


def labels_of(protocol: Protocol, measure: MeasureSpec, language: str) -> Labels:
    """Returns the labels that the instrument of the measure's attribute is expected to give."""
    for spec in protocol.instruments:
        if measure.attribute in (spec.attribute, *spec.also):
            code = language or next(iter(protocol.languages), "")
            kind = registry.instrument_kind(spec.kind, spec.name)
            expected = kind.expected_labels(spec, measure.attribute, code)
            return expected._replace(values=len(measure.among) or expected.values)
    return Labels(1, len(measure.among))


def tests_of(measure: MeasureSpec, labels: Labels) -> int:
    """Counts the rows of the measure per group: 1, or one per value if each value is tested."""
    return labels.values or SUPPOSED_VALUES if counts_every_value(measure) else 1


def counts_every_value(measure: MeasureSpec) -> bool:
    solver = measure_kind(measure.kind).detectable
    return measure.values == (EVERY,) and solver in ("share", "half")


def _languages(measure: MeasureSpec, cells: Sequence[Row]) -> dict[str, list[Row]]:
    """Groups cells by language; one group "" if the measure pools languages."""
    by_language: dict[str, list[Row]] = {}
    for cell in cells:
        by_language.setdefault(
            "" if "language" in measure.over else cell.get("language", ""), []
        ).append(cell)
    return by_language


def _without_base(measure: MeasureSpec, cells: list[Row]) -> list[Row]:
    """Returns the cells to count: without the baseline if the measure compares groups within
    dimensions, and without dimensions of one group if it compares the dimensions.
    """
    contrast = measure.contrast or {}
    factor, within, base = (contrast.get(name, "") for name in ("factor", "within", "baseline"))
    if not within:
        return cells
    rest = [cell for cell in cells if cell[factor] != base]
    if factor in measure.by[0]:
        return rest
    groups: dict[str, set[str]] = {}
    for cell in rest:
        groups.setdefault(cell[within], set()).add(cell[factor])
    return [cell for cell in rest if len(groups[cell[within]]) > 1]


def _groups(
    protocol: Protocol, measure: MeasureSpec, cells: list[Row]
) -> Iterator[tuple[dict[str, str], list[Row], int]]:
    """Yields (levels, cells, number of groups) per grouping: for the whole, or else for the group
    with the fewest items (then the fewest prompts).
    """
    for by in measure.by:
        # else an item by itself is no population
        is_by_item = protocol.item in by and few_items(protocol)
        is_one_cell_each = by and len({tuple(c[f] for f in by) for c in cells}) == len(cells)
        if "mode" in by or (not is_by_item and (protocol.item in by or is_one_cell_each)):
            continue
        groups: dict[tuple[str, ...], list[Row]] = {}
        for cell in _without_base(measure, cells):
            if not any(SEVERAL in cell[factor] for factor in by):
                groups.setdefault(tuple(cell[factor] for factor in by), []).append(cell)
        if not groups:
            continue
        key = min(
            groups,
            key=lambda key: (len({cell[protocol.item] for cell in groups[key]}), len(groups[key])),
        )
        if len({cell[protocol.item] for cell in groups[key]}) > 1 or is_by_item or not by:
            yield dict(zip(by, key, strict=True)), groups[key], len(groups)


def sides_of(measure: MeasureSpec) -> int:
    """Counts the conditions that a measure compares per item."""
    contrast = measure.contrast or {}
    if "controls" in contrast and measure.kind == "joint_effect":
        return 1 + len(contrast["controls"].split(SEVERAL))
    return 2 if "controls" in contrast or "level" in contrast else 1


def compared_cells(measure: MeasureSpec, cells: list[Row]) -> tuple[int, list[Row]]:
    """Returns the number of sides, and the cells of all sides: 2 sides if a level is compared with
    a baseline over the same items, 3 or more if with several controls together, else 1.

    If a measure has controls, each side gets as many cells as are tested, shared items or not.
    """
    contrast, sides = dict(measure.contrast or {}), sides_of(measure)
    if contrast.get("level") == EVERY:  # of all levels one: each is asked as often
        factor, base = contrast["factor"], contrast["baseline"]
        levels = dict.fromkeys(level for cell in cells for level in cell[factor].split(SEVERAL))
        contrast["baseline"] = next(iter(levels), "") if base == EVERY else base
        others = (level for level in levels if level != contrast["baseline"])
        contrast["level"] = next(others, contrast["baseline"])
    if "controls" in contrast:
        controls = contrast["controls"].split(SEVERAL)
        return sides, sides * [c for c in cells if c[contrast["factor"]] not in controls]
    if "level" not in contrast:
        return 1, cells
    compared = {contrast["level"], contrast["baseline"]}
    return 2, [
        cell for cell in cells if compared & set(cell[contrast["factor"]].split(SEVERAL))
    ] or cells
