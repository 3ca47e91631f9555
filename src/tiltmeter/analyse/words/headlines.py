"""A claim in one sentence that a reader without statistics takes in: what moved, which way, how
far. The words are the protocol's own (`sentence` of a measure), else those below.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ...protocol import EVERY, MeasureSpec, Protocol, wording
from ...records import CellClaim, Estimate
from . import numerals, reading
from .caution_kinds import CautionKind
from .largest_shift import Moved, Share
from .verdict_words import Word

# of a measure without words of its own
SHARE = "{subject} gives {counted} in {value} of answers; {reference} would be no tilt."
DIFFERENCE = "{subject} gives {counted} {points} points {more} often for {level} than {baseline}."
RATIO = "{subject} gives {counted} {times} times as often for {level} as for {baseline}."
RATIO_BELOW = "{subject} gives {counted} {times} times as often for {baseline} as for {level}."
NEVER = "{subject} gives {counted} for {baseline}, and never for {level}."
NEVER_AT_BASELINE = "{subject} gives {counted} for {level}, and never for {baseline}."
NEVER_BY_SIDE = {"level": NEVER, "baseline": NEVER_AT_BASELINE}
OTHER = "{subject}: {what} is {value}."
# of a claim of many cells, none of which is shown to differ by itself
UNNAMED = "Answers of {subject} differ{for_whom}; in which attribute cannot be said."
# of a group whose answers count neither way more often, in place of a sentence of ours
LEFT_OPEN = (
    "{open_at_level} of the answers of {subject} for {level} count neither way, "
    "{open_at_baseline} for {baseline}: whether it tilts cannot be said."
)
BORDERLINE = ("is undecided: the number is borderline", "is borderline")  # end a sentence


def write(
    word: Word,
    spec: MeasureSpec,
    slots: Mapping[str, str],
    below: bool,
    kinds: Collection[CautionKind],
) -> str:
    """The sentence of a verdict. below: the value lies below the null value; kinds: of the cautions
    that are the reason for the verdict.
    """
    record = word.record
    key = record.wording
    own: dict[str, str] = {name: str(text) for name, text in spec.sentence.items()}
    wanted = [key]
    if key in ("tilt", "shown"):
        wanted = [*([key] if key == "shown" else []), *(["below"] if below else []), "tilt"]
    if key == "unsettled" and CautionKind.REVERSES in kinds:
        wanted = ["reversed", "unsettled"]
    template = next((own[name] for name in wanted if name in own), "")
    if not template or not _fits(template, slots):
        template = record.headline or _usual(spec, slots, below)
    if key != "unsettled" or CautionKind.REVERSES not in kinds:
        template = _by_reason(key, template, slots, kinds)
    if record.ending != ".":
        template = template.removesuffix(".") + record.ending
    if key == "shown" and spec.null is not None:
        template = f"Not tested: {template}"
    if slots.get("points") == "1":
        template = template.replace("{points} points", "{points} point")
    return template.format_map(slots)


def _by_reason(
    key: str, template: str, slots: Mapping[str, str], kinds: Collection[CautionKind]
) -> str:
    """The template, or with the reason of the verdict where it would name none or another: that a
    number is borderline, that nothing was measured, or which way something goes.
    """
    ours = template in (Word.NOT_SETTLED.record.headline, Word.NOT_MEASURED.record.headline)
    if ours and CautionKind.MISSING_DIFFERS in kinds and _fits(LEFT_OPEN, slots):
        return LEFT_OPEN
    reason = next((kind.reason for kind in CautionKind if kind in kinds and kind.reason), "")
    if key == "undecided" and reason:
        ending = next((text for text in BORDERLINE if text in template), "")
        return template.replace(ending, reason) if ending else template
    return template


def _fits(template: str, slots: Mapping[str, str]) -> bool:
    """True if there is something for every slot of a template."""
    try:
        template.format_map(slots)
    except KeyError:
        return False
    return True


def no_tilt(spec: MeasureSpec, unit: str) -> float:
    """The value on whose sides a number lies: of a ratio without a null value 1."""
    if spec.null is not None:
        return spec.null
    return 1.0 if unit in numerals.RATIOS else 0.0


def _usual(spec: MeasureSpec, slots: Mapping[str, str], below: bool) -> str:
    template = UNNAMED if "for_whom" in slots else OTHER
    if template == OTHER and spec.unit == "share" and spec.contrast and not spec.expected:
        template = DIFFERENCE
    elif spec.unit in numerals.RATIOS and spec.contrast:
        template = RATIO_BELOW if below else RATIO
        if "times" not in slots:  # one of the two counts is 0, and no number says how often
            template = NEVER_BY_SIDE.get(slots.get("never", ""), OTHER)
    elif spec.unit == "share" and spec.null is not None and not spec.signed:
        template = SHARE
    return template if _fits(template, slots) else OTHER


def slots(
    protocol: Protocol,
    spec: MeasureSpec,
    row: Estimate,
    label: str,
    what_moved: Moved | None,
    nuisance: Mapping[str, str],
) -> dict[str, str]:
    """What stands in the place of each slot of a claim. label: the short name of its model;
    nuisance: {factor: title of the level with the highest value}.
    """
    found = {"subject": label, "what": spec.text or spec.name}
    for name, level in row.condition.items():
        found[name] = wording.title(protocol, name, level)
    found |= _counted(protocol, spec, row)
    if row.value is not None:
        found |= _numbers(spec, row, row.value)
    found |= _levels(protocol, spec, row)
    if what_moved is not None:
        found |= _moved(protocol, spec, what_moved)
    if row.cells is not None:
        found |= _named_cell(protocol, spec, row, row.cells)
    for level in nuisance.values():
        found["order"] = level
    return found


def _counted(protocol: Protocol, spec: MeasureSpec, row: Estimate) -> dict[str, str]:
    def joined(values: Collection[str]) -> str:
        return " or ".join(wording.title(protocol, spec.attribute, value) for value in values)

    own = row.condition.get(spec.attribute)
    values = (own,) if own and (EVERY in spec.values or not spec.values) else spec.values
    others = [value for value in spec.among if value not in values]
    found = {"counted": joined(values)} if values and EVERY not in values else {}
    return found | ({"other": joined(others)} if others else {})


def _numbers(spec: MeasureSpec, row: Estimate, value: float) -> dict[str, str]:
    null = 0.0 if spec.null is None else spec.null
    found = {"value": amount(row.value, row.unit, reading.is_signed(spec, row))}
    found["interval"] = interval(spec, row)
    if spec.null is not None:
        found["reference"] = _reference(spec, row)
        found["more"] = "more" if value > null else "less"
    if row.unit == "share":
        found["points"] = numerals.points(value - null).partition(" ")[0]
    if row.unit in numerals.RATIOS:
        found |= _times(row, value)
    return found


def _times(row: Estimate, value: float) -> dict[str, str]:
    """How many times as often; if it was not once at one of the levels, which. A count that gold
    corrects to nothing is not such a level.
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
    """The value that is no tilt, as it is: one in eight is 12.5 %."""
    signed, null = reading.is_signed(spec, row), spec.null or 0.0
    if row.unit == "share" and not signed and reading.null_places(spec) > 2:
        return f"{100 * null:.3g} %"
    return amount(null, row.unit, signed)


def amount(value: float | None, unit: str, signed: bool) -> str:
    """A number as a sentence has it: 58 %, +12 points, 1.4 times, else with its unit's digits."""
    if value is None:
        return numerals.NOTHING
    if unit == "share" and not signed:
        return numerals.percent(value)
    if unit == "share":
        told = numerals.points(value)
        sign = "" if value == 0 else "+" if value > 0 else numerals.MINUS
        return f"{sign}{told}"
    if unit in numerals.RATIOS:
        return numerals.odds(value)
    return numerals.quantity(value, unit, signed)


def interval(spec: MeasureSpec, row: Estimate) -> str:
    """The interval beside `amount`, such as [54, 61]; "" where there is none."""
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
    ends = (row.contrast or {}).get(factor, "").split(f" {numerals.MINUS} ")
    if len(ends) != 2:
        return {}
    level, baseline = (wording.title(protocol, factor, end) for end in ends)
    return {"level": level, "baseline": baseline}


def _moved(protocol: Protocol, spec: MeasureSpec, found: Moved) -> dict[str, str]:
    factor = (spec.contrast or {}).get("factor", "")
    return {
        "attribute": wording.title(protocol, "attribute", found.attribute),
        "changed": wording.title(protocol, found.attribute, found.value),
        "changed_in": wording.title(protocol, factor, found.level),
        "share": numerals.percent(found.share.value),
        "other_share": numerals.percent(found.other.value),
        "share_interval": _ends(found.share),
        "other_interval": _ends(found.other),
    }


def _named_cell(
    protocol: Protocol, spec: MeasureSpec, row: Estimate, cells: CellClaim
) -> dict[str, str]:
    """The strongest cell that a claim names; without one, whom the claim is about."""
    contrast = spec.contrast or {}
    factor = contrast.get("factor", "")
    if not cells["named"]:
        whom = row.condition.get(factor) or row.condition.get(contrast.get("within", ""))
        return {
            "for_whom": f" by {whom}"
            if whom and factor not in row.condition
            else f" for {wording.title(protocol, factor, whom)}"
            if whom
            else ""
        }
    cell = cells["named"][0]
    base = cell["base"]
    return {
        "attribute": wording.title(protocol, "attribute", cell["attribute"]),
        "changed": wording.title(protocol, cell["attribute"], cell["value"]),
        "changed_in": wording.title(protocol, factor, cell["group"]),
        "others": wording.title(protocol, factor, base) if base else "all others",
        "where": f"the {cell['object']}" if cell["object"] else "objects",
        "share": numerals.percent(cell["share"]),
        "other_share": numerals.percent(cell["base_share"]),
    }


def _ends(share: Share) -> str:
    if share.low is None or share.high is None:
        return ""
    low, high = (numerals.fixed_decimals(100 * end, 0) for end in (share.low, share.high))
    return f" [{low}, {high}]"
