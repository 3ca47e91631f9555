"""The slots of a protocol's own sentences: all that such a sentence can name about a claim."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ...protocol import EVERY, MeasureSpec, Protocol, wording
from ...protocol.design.tables import SEVERAL
from ...protocol.reading.controls import joined_titles
from ...records import Estimate
from . import numerals, reading
from .caution_kinds import CautionKind
from .largest_shift import Moved, Share, leading_cell


def slots(
    protocol: Protocol,
    spec: MeasureSpec,
    row: Estimate,
    label: str,
    what_moved: Moved | None,
    nuisance: Mapping[str, str],
) -> dict[str, str]:
    """Returns {slot: its text} for a claim. label: the short name of its model; nuisance: {factor:
    title of the level at which the claim's value is highest}.
    """
    values = {"subject": label, "what": spec.text or spec.name, "answers": _answers(protocol, spec)}
    for name, level in row.condition.items():
        values[name] = (
            wording.language_name(protocol, level)
            if name == "language"
            else wording.title(protocol, name, level)
        )
    values |= _counted_slots(protocol, spec, row)
    if row.value is not None:
        values |= _numbers(spec, row, row.value)
    values |= _levels(protocol, spec, row)
    values |= _sides(spec, row)
    values |= _only_group(protocol, spec, row)
    if what_moved is not None:
        values |= _moved(protocol, spec, what_moved)
    values |= _others(protocol, spec, row) | _controls(protocol, spec, row)
    item = row.condition.get(protocol.item, _object(row))
    title = wording.title(protocol, protocol.item, str(item))
    values["items"] = f"the {title}" if item else f"{wording.item_noun(protocol)}s"
    for level in nuisance.values():
        values["order"] = level
    return values


def _answers(protocol: Protocol, spec: MeasureSpec) -> str:
    """Names the contents of a share's denominator: answers, pictures, or listed words."""
    if protocol.modality == "image":
        return "pictures"
    kinds = {one.kind for one in protocol.instruments if one.attribute == spec.attribute}
    return "its listed words" if kinds == {"lexicon"} else "answers"


def _others(protocol: Protocol, spec: MeasureSpec, row: Estimate) -> dict[str, str]:
    """Names the side that a claim's cell is compared with: its base, or all other groups."""
    cell = leading_cell(row)
    if cell is None:
        return {}
    base, factor = cell["base"], (spec.contrast or {}).get("factor", "")
    return {"others": wording.title(protocol, factor, base) if base else "all others"}


def _controls(protocol: Protocol, spec: MeasureSpec, row: Estimate) -> dict[str, str]:
    """Returns the titles of the control levels that a claim compares with."""
    contrast = spec.contrast or {}
    if "controls" not in contrast:
        return {}
    factor = contrast["factor"]
    text = (row.contrast or {}).get(factor, "").replace(" and ", SEVERAL) or contrast["controls"]
    titles = [wording.title(protocol, factor, level) for level in text.split(SEVERAL)]
    return {"controls": joined_titles(titles)}


def _object(row: Estimate) -> str | None:
    """Returns the object of the first cell that shows the claim; None if the claim has none."""
    cells = row.cells["named"] if row.cells else ()
    return cells[0]["object"] if cells else None


def _counted_slots(protocol: Protocol, spec: MeasureSpec, row: Estimate) -> dict[str, str]:
    def joined(values: Collection[str]) -> str:
        return " or ".join(wording.title(protocol, spec.attribute, value) for value in values)

    level = row.condition.get(spec.attribute)
    values = (level,) if level and (EVERY in spec.values or not spec.values) else spec.values
    others = [value for value in spec.among if value not in values]
    slot = {"counted": joined(values)} if values and EVERY not in values else {}
    return slot | ({"other": joined(others)} if others else {})


def _numbers(spec: MeasureSpec, row: Estimate, value: float) -> dict[str, str]:
    null = 0.0 if spec.null is None else spec.null
    slots_of = {"value": amount(row.value, row.unit, reading.is_signed(spec, row))}
    slots_of["interval"] = interval(spec, row)
    if spec.null is not None:
        slots_of["reference"] = _reference(spec, row)
        slots_of["more"] = "more" if value > null else "less"
    if row.unit == "share":
        slots_of["points"] = numerals.points(value - null).partition(" ")[0]
    if row.unit in numerals.RATIOS:
        slots_of |= _times(row, value)
    return slots_of


def _times(row: Estimate, value: float) -> dict[str, str]:
    """Returns the ratio in words, as "times as often"; if the count at one level is 0, names the
    level. A count that only gold corrects to 0 does not count as 0 here.
    """
    for kind, side in (
        (CautionKind.ZERO_COUNT, "level"),
        (CautionKind.ZERO_AT_BASELINE, "baseline"),
    ):
        if kind in row.cautions:
            return {"never": side}
    if value > 0:
        return {"times": numerals.odds(max(value, 1 / value), 1)}
    return {"never": "level"} if row.correction == "none" else {}


def _reference(spec: MeasureSpec, row: Estimate) -> str:
    """Formats the null value; unlike other shares not in whole per cent: one in eight is 12.5 %."""
    is_signed, null = reading.is_signed(spec, row), spec.null or 0.0
    if row.unit == "share" and not is_signed and reading.null_places(spec) > 2:
        return f"{100 * null:.3g} %"
    return amount(null, row.unit, is_signed)


def amount(value: float | None, unit: str, signed: bool) -> str:
    """Formats a number for a sentence: 58 %, +12 points, 1.4 times, or in its unit's digits."""
    if value is None:
        return numerals.NOTHING
    if unit == "share" and not signed:
        return numerals.percent(value)
    if unit == "share":
        return f"{numerals.sign(value)}{numerals.points(value)}"
    if unit in numerals.RATIOS:
        return numerals.odds(value)
    return numerals.quantity(value, unit, signed)


def interval(spec: MeasureSpec, row: Estimate) -> str:
    """Returns the interval in the format of `amount`, such as [54, 61]; "" if there is none."""
    if row.low is None and row.high is None:
        return ""
    if row.unit != "share":
        return reading.interval(row, spec, 2)
    places = numerals.point_places(row.value) if reading.is_signed(spec, row) else 0
    ends = (
        "—" if v is None else numerals.fixed_decimals(100 * v, places) for v in (row.low, row.high)
    )
    return f"[{', '.join(ends)}]"


def _levels(protocol: Protocol, spec: MeasureSpec, row: Estimate) -> dict[str, str]:
    factor = (spec.contrast or {}).get("factor", "")
    ends = reading.ends(row, factor)
    if ends is None:
        return {}
    level, baseline = (wording.title(protocol, factor, end) for end in ends)
    return {"level": level, "baseline": baseline, **_between(protocol, factor, row)}


def _between(protocol: Protocol, factor: str, row: Estimate) -> dict[str, str]:
    """Returns the titles of the two levels whose difference changed, if a row is about a change."""
    for name in row.contrast or ():
        ends = reading.ends(row, name)
        if name != factor and ends is not None:
            first, second = (wording.title(protocol, name, end) for end in ends)
            return {"for_one": first, "for_other": second}
    return {}


def _sides(spec: MeasureSpec, row: Estimate) -> dict[str, str]:
    """Returns both raw shares in per cent; a reference keeps decimals (one in eight is 12.5 %)."""
    sides = {}
    are_means = spec.kind == "mean_difference"
    places = decimals_of_sides(row)
    for name, value in (row.sides or {}).items():
        slot = {"level": "share", "baseline": "other_share"}.get(name, name)
        if are_means:
            sides[slot] = numerals.plain(value)
            sides["unit"] = f" {spec.unit}" if spec.unit else f" ({spec.attribute})"
            continue
        is_exact = spec.reference and slot == "other_share"
        sides[slot] = f"{100 * value:.3g} %" if is_exact else numerals.percent(value)
        if places:
            sides[slot] = f"{numerals.fixed_decimals(100 * value, places)} %"
    return sides


def decimals_of_sides(row: Estimate) -> int:
    """Returns the decimals of both shares and of their difference; 0 for other numbers."""
    sides = row.sides or {}
    if (
        not row.contrast
        or row.unit != "share"
        or row.value is None
        or not {"level", "baseline"} <= {*sides}
    ):
        return 0
    return numerals.places_to_subtract(sides["level"], sides["baseline"], row.value)


def _only_group(protocol: Protocol, spec: MeasureSpec, row: Estimate) -> dict[str, str]:
    """Returns the only group with data, if the claim covers several groups of items."""
    for factor, levels in spec.expected.items():
        present = [level for level in levels if level in (row.sides or {})]
        if factor not in row.condition and len(levels) > 1 == len(present):
            return {"alone": wording.title(protocol, factor, present[0])}
    return {}


def _moved(protocol: Protocol, spec: MeasureSpec, found: Moved) -> dict[str, str]:
    factor = (spec.contrast or {}).get("factor", "")
    return {
        "attribute": wording.title(protocol, "attribute", found.attribute).replace("_", " "),
        "changed": wording.title(protocol, found.attribute, found.value),
        "changed_in": wording.title(protocol, factor, found.level),
        "share": numerals.percent(found.share.value),
        "other_share": numerals.percent(found.other.value),
        "share_interval": _interval_text(found.share),
        "other_interval": _interval_text(found.other),
    }


def _interval_text(share: Share) -> str:
    if share.low is None or share.high is None:
        return ""
    low, high = (numerals.fixed_decimals(100 * end, 0) for end in (share.low, share.high))
    return f" [{low}, {high}]"
