"""A sentence on a headline number in two runs: the change, its direction, and both values.

The words are the protocol's own (`sentence.between` and `sentence.over_time` of a measure), else
the templates below.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...protocol import EVERY, MeasureSpec, Protocol, wording
from ...records import NamedCell
from ..words import numerals, reading, sentences
from ..words.headlines import amount

# of two runs, side by side
SHARE = "{second_run} gives {counted} {more} often than {first_run}: {second} against {first}."
GAP = (
    "{second_run} gives {counted} {second_gap} often for {level} than for {baseline}; {first_run} "
    "{first_gap}."
)
LEVEL = "{What} is {higher} in {second_run} than in {first_run}: {second} against {first}."
APART = "{second_run} and {first_run} differ in {what}."
MORE, AS_OFTEN = "{more} often than", "as often as"
CELL = "{second_run} has {value}{where} {more} often than {first_run}: {second} against {first}."
SAME = "{What} is the same in {second_run} and {first_run}{within}: {second} and {first}."
# of one run after another
OVER_TIME = "{What} {rose} from {first} to {second}"
APART_OVER_TIME = "{What} changed"
BETWEEN, TIME = "between", "over_time"  # keys of a measure's `sentence`


@dataclass(frozen=True, slots=True)
class Change:
    """A headline number in two runs. first, second: its values, None for a distance between runs;
    held: levels compared inside each run; condition: all other levels; runs: names of the runs.
    """

    protocol: Protocol
    measure: str
    first: float | None
    second: float | None
    unit: str
    condition: Mapping[str, str]
    held: Mapping[str, str]
    runs: tuple[str, str]
    cell: NamedCell | None = None  # the value that tells a claim of many cells

    @property
    def spec(self) -> MeasureSpec | None:
        """The measure as the protocol declares it; None if tiltmeter itself adds the measure."""
        return next((one for one in self.protocol.measures if one.name == self.measure), None)

    @property
    def signed(self) -> bool:
        """True if the number is a difference, which has a sign."""
        return bool(self.held) or (self.spec is not None and self.spec.signed)

    def between(self, within: str = "") -> str:
        """Writes the values of both runs. within: the margin, if the runs are equivalent."""
        slots = self.slots()
        if self.cell is not None:
            own_template = str(self.spec.sentence.get(BETWEEN, "")) if self.spec else ""
            baseline = (self.spec.contrast or {}).get("baseline") if self.spec else None
            filled = slots | self._cell(self.cell)
            with_cue = own_template and baseline not in self.condition.values()
            return (with_cue and _filled(own_template, filled)) or _filled(CELL, filled)
        slots["within"] = f" to within {within}" if within else ""
        template = self._template()
        if self.first is None or self.second is None:
            template = APART
        elif within or "more" not in slots:
            text = template.replace(MORE, AS_OFTEN)
            template = SAME if text == template else text.replace(":", f"{slots['within']}:")
        return _filled(template, slots) or _filled(LEVEL if "higher" in slots else SAME, slots)

    def over_time(self) -> str:
        """Writes the change from one run to a later one, without a full stop."""
        slots, spec = self.slots(), self.spec
        template = str(spec.sentence.get(TIME, "")) if spec else ""
        default = OVER_TIME if "rose" in slots else APART_OVER_TIME
        return (_filled(template, slots) if template and "rose" in slots else "") or _filled(
            default, slots
        )

    def _cell(self, cell: NamedCell) -> dict[str, str]:
        """Returns the slots of a sentence on a cell: its value, levels, and share in both runs."""
        value = wording.title(self.protocol, cell["attribute"], cell["value"])
        attribute = wording.title(self.protocol, "attribute", cell["attribute"])
        where = ", ".join(filter(None, (*self.levels, cell["object"])))
        return {
            **{
                name: wording.title(self.protocol, name, one)
                for name, one in self.condition.items()
            },
            "attribute": attribute,
            "changed": value,
            "value": f"{attribute} {value}",
            "where": f" ({where})" if where else "",
            "more": "more" if cell["share"] > cell["base_share"] else "less",
            "first": amount(cell["base_share"], "share", False),
            "second": amount(cell["share"], "share", False),
        }

    def _template(self) -> str:
        spec = self.spec
        if spec is None:
            return LEVEL
        template = str(spec.sentence.get(BETWEEN, ""))
        if template:
            return template
        if self.unit != "share" or spec.expected or EVERY in spec.values:
            return LEVEL
        if not self.signed:
            return SHARE
        return GAP if "baseline" in (spec.contrast or {}) else LEVEL

    def slots(self) -> dict[str, str]:
        """Returns {slot of a sentence's template: its text}."""
        spec = self.spec
        name = sentences.without_article(spec.text or spec.name) if spec else self.measure
        name = name.partition(" (")[0]
        levels = self.levels
        noun = f"{name} ({', '.join(levels)})" if levels else name
        first, second = (amount(one, self.unit, self.signed) for one in (self.first, self.second))
        by_name = {
            **self._levels(),
            "first_run": self.runs[0],
            "second_run": self.runs[1],
            "what": f"the {noun}",
            "What": f"The {noun}",
            "first": first,
            "second": second,
        }
        if self.first is not None and self.second is not None and first != second:
            is_more = self.second > self.first
            by_name["more"] = "more" if is_more else "less"
            by_name["higher"] = "higher" if is_more else "lower"
            by_name["rose"] = "rose" if is_more else "fell"
        if spec is not None:
            by_name |= self._counted_slots(spec) | self._gap(spec)
        return by_name

    @property
    def levels(self) -> list[str]:
        """The titles of the levels that distinguish the number from others of its measure."""
        return [*self._levels().values(), *self._compared_titles()]

    def _levels(self) -> dict[str, str]:
        return {
            name: wording.title(self.protocol, name, level)
            for name, level in self.condition.items()
            if level and name not in reading.STRATA
        }

    def _compared_titles(self) -> list[str]:
        """Returns the titles of the levels that the number compares."""
        return [
            reading.level_title(self.protocol, name, level) for name, level in self.held.items()
        ]

    def _counted_slots(self, spec: MeasureSpec) -> dict[str, str]:
        value = self.condition.get(spec.attribute)
        values = (value,) if value and EVERY in spec.values else spec.values
        if not values or EVERY in values:
            return {}
        text = " or ".join(wording.title(self.protocol, spec.attribute, one) for one in values)
        return {"counted": text, "Counted": text[:1].upper() + text[1:]}

    def _gap(self, spec: MeasureSpec) -> dict[str, str]:
        """Returns slots for a gap: both levels, and each run's difference in points."""
        ends = [end for level in self.held.values() for end in level.split(numerals.BETWEEN)]
        if len(ends) != 2 or self.unit != "share":
            return {}
        factor = (spec.contrast or {}).get("factor", "")
        level, baseline = (wording.title(self.protocol, factor, end) for end in ends)
        return {
            "level": level,
            "baseline": baseline,
            "first_gap": _points(self.first),
            "second_gap": _points(self.second),
        }


def _points(value: float | None) -> str:
    """Formats a difference of shares, such as `36 points less` for a negative one."""
    if value is None:
        return numerals.NOTHING
    points = numerals.points(value)
    return f"{points} {'more' if value > 0 else 'less'}"


def _filled(template: str, slots: Mapping[str, str]) -> str:
    """Fills the slots of a template; "" if a slot has no text."""
    try:
        return template.format_map(slots)
    except KeyError:
        return ""
