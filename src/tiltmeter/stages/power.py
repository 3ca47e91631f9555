"""What a design can tell from no tilt, before it is run: the smallest difference found with 80 %
power, and what it takes.

For each headline measure (and of an attribute that no headline is of, its first tested measure), by
mode and language and for each of its groupings (of these the group with the fewest items), from
stats/detectable.py: tables are drawn with the items as clusters, and the row's own test is made of
them at α over its family. How alike the outputs of one item are (`icc`, 0 to 1) is an assumption
that nobody knows before; a run's own differences replace it. Outputs that are no answer make the
real n smaller.

Items that are the levels of a factor, and few (four pairings), are no sample of items: there, as in
a divergence, which shuffles outputs, the outputs are what is sampled, each by itself.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from .. import registry
from ..errors import UsageError
from ..protocol import EVERY, MeasureSpec, Mode, Protocol, few_items
from ..protocol.instrument_kinds import Labels
from ..protocol.measures import measure_kind
from ..protocol.tables import SEVERAL, Row
from ..stats.detectable import Design, divergence_shift, planned_power, planned_shift
from ..stats.multiplicity import reach
from ..stats.results import ALPHA
from . import plan
from .plan import Choices

ICC = 0.2
POWER = 0.8
MOST_SAMPLES = 10_000
MOST_ITEMS = 300  # items up to which a design is simulated; beyond, differences go with 1/√items
SUPPOSED_VALUES = 6  # values of an attribute whose list is not known yet


@dataclass(frozen=True, slots=True)
class Detectable:
    """One row. clusters: items, None where outputs are what is sampled; per_cluster: labels for
    each item (and side), or of the group (of a side of a divergence); tests: the family that the
    row's p is adjusted in; detectable in `unit`, None with a note.

    twice_items, twice_samples: what is detectable at twice the cost, spent on more items or on
    more samples; None where it cannot be said. items_needed, samples_needed: what a wanted
    difference takes, each with the other as it is; None where it cannot.
    """

    measure: str
    mode: str
    language: str
    group: Mapping[str, str]
    clusters: int | None
    per_cluster: float
    tests: int
    detectable: float | None
    unit: str
    note: str = ""
    items_needed: int | None = None
    samples_needed: int | None = None
    twice_items: float | None = None
    twice_samples: float | None = None


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is asked: the protocol, the choices, the intra-item correlation, the wanted difference,
    and the size of the family of headline claims.
    """

    protocol: Protocol
    choices: Choices
    icc: float
    wanted: float | None
    family: int


@dataclass(frozen=True, slots=True)
class _Part:
    """The cells of one measure, mode and language, and of a group; `whole` if it is the first
    grouping. tests: the family of its p.
    """

    measure: MeasureSpec
    mode: Mode
    language: str
    group: dict[str, str]
    cells: list[Row]
    labels: Labels
    tests: int = 1
    whole: bool = True


def detectable(
    protocol: Protocol,
    choices: Choices,
    icc: float = ICC,
    wanted: float | None = None,
    family: int | None = None,
) -> list[Detectable]:
    """Rows for the measures of the default variant. wanted: a difference in shares, as 0.05 for 5
    points; family: headline claims of the run, counted where it is left out.
    """
    if not 0 <= icc <= 1 or (wanted is not None and not 0 < wanted < 1):
        raise UsageError(
            "--detect is a difference in shares between 0 and 1 (0.05 for 5 points), and --icc "
            "is from 0 to 1."
        )
    size = family_size(protocol, choices) if family is None else family
    asked = _Plan(protocol, choices, icc, wanted, size)
    return [_row(asked, part) for part in _parts(asked)]


def family_size(protocol: Protocol, choices: Choices) -> int:
    """How many headline claims a run has: headline measures, each of its values where it counts all
    of them and each group where no whole is declared, over subjects, modes and languages that are
    not pooled. Judges are not counted.
    """
    kept = plan.cells(protocol, choices)
    claims = 0
    for measure in _measures(protocol):
        if measure.headline and measure_kind(measure.kind).detectable:
            for language, cells in _languages(measure, kept).items():
                each = _tests(measure, labels_of(protocol, measure, language))
                groups = _first_groups(protocol, measure, _asked_of(measure, cells))
                claims += _strata(measure, choices) * each * groups
    return max(claims, 1)


def _first_groups(protocol: Protocol, measure: MeasureSpec, cells: list[Row]) -> int:
    """How many groups the first grouping has: one, or the groups that are the question."""
    for group, _, number in _groups(protocol, measure, cells):
        return number if group else 1
    return 1


def _strata(measure: MeasureSpec, choices: Choices) -> int:
    """Subjects by modes, as far as the measure does not pool them."""
    subjects = 1 if "subject" in measure.over else len(choices.subjects)
    return max(subjects, 1) * max(len(choices.modes), 1)


def _measures(protocol: Protocol) -> list[MeasureSpec]:
    """The headline measures of the default variant, and the first tested measure of each attribute
    that none of them is of.
    """
    own = {name for variant in protocol.variants.values() for name in variant.only}
    default = [measure for measure in protocol.measures if measure.name not in own]
    seen = {measure.attribute for measure in default if measure.headline}
    found = []
    for measure in default:
        tested = measure.null is not None and measure_kind(measure.kind).detectable
        if measure.headline or (tested and measure.attribute not in seen):
            found.append(measure)
            seen.add(measure.attribute)
    return found


def _parts(asked: _Plan) -> Iterator[_Part]:
    protocol, choices = asked.protocol, asked.choices
    kept = [cell for cell in plan.cells(protocol, choices) if SEVERAL not in cell[protocol.item]]
    for name in choices.modes or (protocol.default_mode,):
        for measure in _measures(protocol):
            for language, cells in _languages(measure, kept).items():
                labels = labels_of(protocol, measure, language)
                rows = _asked_of(measure, cells) * (
                    len(choices.subjects) if "subject" in measure.over else 1
                )
                part = _Part(measure, protocol.modes[name], language, {}, rows, labels)
                yield from _each_group(asked, part, len(_languages(measure, kept)))


def _asked_of(measure: MeasureSpec, cells: Sequence[Row]) -> list[Row]:
    where = measure.where.items()
    return [cell for cell in cells if all(cell[f] in levels for f, levels in where if f in cell)]


def _each_group(asked: _Plan, part: _Part, languages: int) -> Iterator[_Part]:
    """The groups of a measure with the family of each: the headline claims of the run for the first
    grouping of a headline, else all groups of the measure over all strata.
    """
    measure = part.measure
    strata = _strata(measure, asked.choices) * languages
    groupings = list(_groups(asked.protocol, measure, part.cells))
    each = _tests(measure, part.labels)
    others = sum(number for _, _, number in groupings[measure.headline :])
    for place, (group, cells, _) in enumerate(groupings):
        leads = measure.headline and place == 0
        tests = asked.family if leads else others * each * strata
        yield replace(part, group=group, cells=cells, tests=tests, whole=place == 0)


def labels_of(protocol: Protocol, measure: MeasureSpec, language: str) -> Labels:
    """What is known of the measure's attribute from the instrument that labels it."""
    for spec in protocol.instruments:
        if measure.attribute in (spec.attribute, *spec.also):
            code = language or next(iter(protocol.languages), "")
            kind = registry.instrument_kind(spec.kind, spec.name)
            known = kind.expected_labels(spec, measure.attribute, code)
            return known._replace(values=len(measure.among) or known.values)
    return Labels(1, len(measure.among))


def _tests(measure: MeasureSpec, labels: Labels) -> int:
    """Rows of the measure in one group: one, or one for each value."""
    return labels.values or SUPPOSED_VALUES if _is_every_value(measure) else 1


def _is_every_value(measure: MeasureSpec) -> bool:
    solver = measure_kind(measure.kind).detectable
    return measure.values == (EVERY,) and solver in ("share", "half")


def _languages(measure: MeasureSpec, cells: Sequence[Row]) -> dict[str, list[Row]]:
    """The cells of each language; all together under "" where the measure pools them."""
    found: dict[str, list[Row]] = {}
    for cell in cells:
        found.setdefault("" if "language" in measure.over else cell.get("language", ""), []).append(
            cell
        )
    return found


def _groups(
    protocol: Protocol, measure: MeasureSpec, cells: list[Row]
) -> Iterator[tuple[dict[str, str], list[Row], int]]:
    """The whole, and of each grouping the group with the fewest items (of few items the one with
    the fewest prompts); and how many groups the grouping has.
    """
    for by in measure.by:
        # else an item by itself is no population
        each = protocol.item in by and few_items(protocol)
        single = by and len({tuple(c[f] for f in by) for c in cells}) == len(cells)
        if "mode" in by or (not each and (protocol.item in by or single)):
            continue
        groups: dict[tuple[str, ...], list[Row]] = {}
        for cell in cells:
            if not any(SEVERAL in cell[factor] for factor in by):
                groups.setdefault(tuple(cell[factor] for factor in by), []).append(cell)
        if not groups:
            continue
        key = min(
            groups,
            key=lambda key: (len({cell[protocol.item] for cell in groups[key]}), len(groups[key])),
        )
        if len({cell[protocol.item] for cell in groups[key]}) > 1 or each or not by:
            yield dict(zip(by, key, strict=True)), groups[key], len(groups)


def sides_of(measure: MeasureSpec) -> int:
    """How many conditions of an item a measure holds against each other."""
    contrast = measure.contrast or {}
    if "controls" in contrast and measure.kind == "joint_effect":
        return 1 + len(contrast["controls"].split(SEVERAL))
    return 2 if "controls" in contrast or "level" in contrast else 1


def _sides(measure: MeasureSpec, cells: list[Row]) -> tuple[int, list[Row]]:
    """2 where a level is held against a baseline over the same items, 3 and more where it is
    against all controls together, else 1; and the cells of these sides together.

    Of a measure with controls as many cells in each as are tested, whether or not items share them.
    """
    contrast, sides = measure.contrast or {}, sides_of(measure)
    if "controls" in contrast:
        controls = contrast["controls"].split(SEVERAL)
        return sides, sides * [c for c in cells if c[contrast["factor"]] not in controls]
    if "level" not in contrast:
        return 1, cells
    compared = {contrast["level"], contrast["baseline"]}
    return 2, [
        cell for cell in cells if compared & set(cell[contrast["factor"]].split(SEVERAL))
    ] or cells


def _row(asked: _Plan, part: _Part) -> Detectable:
    protocol, measure, mode = asked.protocol, part.measure, part.mode
    sides, cells = _sides(measure, part.cells)
    items = len({cell[protocol.item] for cell in cells})
    samples = 1 if mode.logprobs else asked.choices.samples or mode.samples
    each = len(cells) / items / sides * samples * (1 if mode.logprobs else part.labels.an_output)
    where = (measure.name, mode.name, part.language, part.group)
    row = Detectable(*where, items, each, part.tests, None, "share")
    solver = measure_kind(measure.kind).detectable
    if solver == "divergence":
        return _divergence(row, measure, cells, samples)
    if solver == "spread":
        return replace(
            row, note="depends on how far items spread: see `detectable` after a small run"
        )
    if not solver:
        return replace(row, note=f"a {measure.kind} has no detectable difference of its own")
    single = items == 1 and few_items(protocol) and not mode.logprobs
    if items < 2 and not single:
        return replace(row, note="one item: nothing can be said of others")
    share = share_of(measure, part.labels)
    if single:
        design = Design(share, round(each), 1.0, 0.0, sides)
    else:
        design = Design(share, items, math.inf if mode.logprobs else each, asked.icc, sides)
    row = replace(
        row,
        clusters=None if single else items,
        per_cluster=1.0 if mode.logprobs else each,
    )
    return _with_needed(_solve(row, design, part.whole), design, asked.wanted, samples)


def _solve(row: Detectable, design: Design, compared: bool) -> Detectable:
    """With the detectable difference, and where it is `compared` what twice the cost would buy."""
    level = ALPHA / row.tests
    shift = planned_shift(design=design, level=level, power=POWER)
    if shift is None:
        conditions = max(design.conditions, 2)
        few = reach(items=design.items, tests=row.tests, alpha=ALPHA, conditions=conditions).note
        return replace(row, note=few or "too few items to find any difference")
    row = replace(row, detectable=shift)
    if not compared or row.clusters is None:
        return row
    items = replace(design, items=2 * design.items)
    samples = replace(design, outputs=2 * design.outputs)
    return replace(
        row,
        twice_items=planned_shift(design=items, level=level, power=POWER),
        twice_samples=None
        if math.isinf(design.outputs)
        else planned_shift(design=samples, level=level, power=POWER),
    )


def _with_needed(row: Detectable, design: Design, wanted: float | None, samples: int) -> Detectable:
    """With the items, and the samples, that find the wanted difference."""
    if wanted is None or row.detectable is None or wanted >= 1 - design.share:
        return row
    level, single = ALPHA / row.tests, row.clusters is None

    def is_found(design: Design) -> bool:
        return planned_power(design=design, shift=wanted, level=level) >= POWER

    def with_samples(number: int) -> Design:
        if single:
            return replace(design, items=max(2, round(design.items * number / samples)))
        return replace(design, outputs=max(1.0, design.outputs * number / samples))

    items = None if single else _fewest_items(design, level, wanted, is_found)
    more = None
    if not math.isinf(design.outputs):
        more = _fewest(lambda number: is_found(with_samples(number)), MOST_SAMPLES)
    return replace(row, items_needed=items, samples_needed=more)


def _fewest_items(
    design: Design, level: float, wanted: float, is_found: Callable[[Design], bool]
) -> int | None:
    """The fewest items that find the wanted difference; many by what the most simulated find."""
    found = _fewest(lambda items: is_found(replace(design, items=items)), MOST_ITEMS)
    if found is not None:
        return found
    shift = planned_shift(design=replace(design, items=MOST_ITEMS), level=level, power=POWER)
    return None if shift is None else math.ceil(MOST_ITEMS * (shift / wanted) ** 2)


def _fewest(is_enough: Callable[[int], bool], most: int) -> int | None:
    """The fewest that are enough; None where ``most`` are not."""
    low, high = 0, 1
    while not is_enough(high):
        if high >= most:
            return None
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def share_of(measure: MeasureSpec, labels: Labels) -> float:
    """The share near which a tilt would lie: the null of a share, one half, or 1/K where each of K
    values is counted.
    """
    if measure.null is not None and measure_kind(measure.kind).detectable == "share":
        return measure.null
    return 1 / _tests(measure, labels) if _is_every_value(measure) else 0.5


def _divergence(
    row: Detectable, measure: MeasureSpec, cells: Sequence[Row], samples: int
) -> Detectable:
    """By simulation of one attribute, from equal shares, with as many outputs as the smallest of
    the levels that are compared has.
    """
    factor = (measure.contrast or {}).get("factor", "")
    sizes = Counter(cell[factor] for cell in cells)
    outputs = min(sizes.values()) * samples
    groups = len(sizes) if measure.kind == "divergence" else 2
    values = len(measure.among) or SUPPOSED_VALUES
    found = divergence_shift(
        shares=[1.0] * values, outputs=outputs, groups=groups, level=ALPHA / row.tests, power=POWER
    )
    row = replace(row, unit="bits", clusters=None, per_cluster=float(outputs))
    if found is None:
        return replace(row, note=f"no tilt is found with {outputs} outputs a side")
    tilt, bits = found
    return replace(
        row, detectable=bits, note=f"simulated: {tilt:.0%} of a side's outputs moved to one value"
    )
