"""Verdicts and cautions in plain English. Pure.

Shares are given in per cent, differences of shares in points. Only the verdict of a tilt is called
a tilt; without one, the words are "no difference found at this n", with the smallest difference
that would be detected with 80 % power.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...protocol import EVERY, MeasureSpec, Protocol
from ...records import Estimate
from ...stats.results import count_of
from . import headlines, numerals, reading
from .first_sentence.facts import Strength, strength
from .verdict_words import Word

# where no item got two answers at one level, as at temperature 0
CONSTANT = (
    " No prompt got two different answers, so this holds for these prompts as they stand; "
    "other wordings may give other answers."
)
SIDES = ("below", "above")  # no tilt, where a protocol has no words for it


def chip(word: Word, spec: MeasureSpec, row: Estimate, protocol: Protocol | None = None) -> str:
    """Returns a verdict in two to five words; with levels' titles if the protocol is given."""
    side = direction(spec, row, protocol)
    if word != Word.TILT or not side:
        return word.chip
    return side if spec.contrast or spec.reference else f"tilts {side}"


def direction(spec: MeasureSpec, row: Estimate, protocol: Protocol | None = None) -> str:
    """Names the side of the null value on which a row lies, in the words of the protocol."""
    value = row.condition.get(spec.attribute)
    if value and EVERY in spec.values and spec.among:
        spec = replace(spec, values=(value,))
    below, above = reading.directions(spec, protocol)
    is_below = row.value is not None and spec.null is not None and row.value < spec.null
    return below if is_below else above


def verdict(
    word: Word,
    spec: MeasureSpec,
    row: Estimate,
    about: str,
    reasons: Sequence[str],
    refuted: str,
) -> str:
    """Writes the sentence of a verdict. about: the levels that distinguish the claim from others of
    its measure; reasons: sentences on an open direction or an undecided claim; refuted: a sentence
    on gold that contradicts the judge.
    """
    noun = without_article(spec.text or spec.name)  # "the" stands before it
    number = f"the {noun} is {reading.number(row, spec)}{_level(row)}{_by_gold(row)}{_look(row)}"
    numbers = f"{number}, {chance(row)}"
    label = chip(word, spec, row)
    if label != word.chip and strength(row) is Strength.WEAK:
        label = f"{Strength.WEAK} {label.removeprefix('tilts ')}"
    reason = no_answers(row) if row.outcomes else f"{row.note or 'no reason stored'}."
    return word.record.sentence.format(
        subject=f"{row.subject} ({about})" if about else row.subject,
        what=noun,
        Why=reading.title(reason),
        number=number,
        raw="uncorrected, " if row.correction == "none" else "",
        refuted=refuted,
        reasons=f" {' '.join(reasons)}" if reasons else "",
        tested=numbers,
        Tested=reading.title(numbers),
        tilts=f" {label}: {numbers}"
        if label.startswith("tilts")
        else f": {label}. {reading.title(numbers)}",
        power=_power(spec, row),
    )


def equivalent(spec: MeasureSpec, row: Estimate, about: str, number: str, margin: str) -> str:
    """Writes the sentence on a difference that is shown to be smaller than a margin."""
    return Word.EQUIVALENT.record.sentence.format(
        subject=row.subject,
        about=about,
        what=spec.text,
        number=f"{number}{_level(row)}",
        margin=margin,
    )


def without_article(text: str) -> str:
    """Removes a leading article, so that "the" can be put before the text."""
    return re.sub("^(an?|the) ", "", text)


def chance(row: Estimate) -> str:
    """Formats the p that decides: `adjusted p = .013 (Holm, 12 claims)`."""
    p = f"p {numerals.equal_to(row.deciding_p)}"
    if row.family_size is None or row.family_size < 2 or row.adjustment is None:
        return p
    method = {"holm": "Holm", "benjamini-hochberg": "Benjamini–Hochberg"}[row.adjustment]
    return f"adjusted {p} ({method}, {row.family_size} claims)"


def _level(row: Estimate) -> str:
    if not row.confidence or row.low is None:
        return ""
    return f" ({100 * row.confidence:g} % interval)"


def _look(row: Estimate) -> str:
    """Says at which look a run that stops early decided the claim, or gave it up; else ""."""
    stopped = row.stopped
    if stopped is None or stopped["state"] == "on":
        return ""
    ending = "given up" if stopped["state"] == "not pursued" else "decided"
    return (
        f", {ending} at look {stopped['look']} of {stopped['looks']} (round {stopped['round']} of "
        f"{stopped['rounds']})"
    )


def _by_gold(row: Estimate) -> str:
    return "" if row.correction == "none" else f", as gold corrects it ({row.correction})"


def _power(spec: MeasureSpec, row: Estimate) -> str:
    if row.detectable is None:
        return ""
    smallest = reading.detectable(row, spec, 2)
    if smallest == "none":
        return "; so few items could not have shown any difference with 80 % power"
    return f"; {reading.detectable_noun(row.unit)}: {smallest}"


def missing(spec: MeasureSpec, bounds: Estimate, drawn: bool, *, open_: bool) -> str:
    """Says how many answers lie outside the denominator, and the measure's range over all values
    that they could have. open_: True if that range contains the null value.
    """
    low, high = bounds.low or 0.0, bounds.high or 0.0
    noun = "of the answers count neither way" if drawn else "of the probability went to other words"
    kinds = kinds_of_missing(spec, bounds)
    share = sum(kinds.values()) if spec.contrast and kinds else high - low
    detail = f" ({_kinds(kinds)})" if len(kinds) > 1 and spec.unit == "share" else ""
    is_known = not spec.contrast or kinds  # of two runs, bounds are as wide as both together
    amount = numerals.percent(share) if is_known else "Some"
    sentence = f"{amount} {noun}{detail}. {_counting_all(spec, bounds)}"
    return f"{sentence}, so the direction is not certain." if open_ else f"{sentence}."


def missing_differs(spec: MeasureSpec, bounds: Estimate | None, slots: Mapping[str, str]) -> str:
    """Says that more answers lie outside the denominator at one level. slots: see `headlines`."""
    if bounds is None:
        return "More counts neither way on one side."
    if "open_at_level" not in slots:
        return f"More counts neither way on one side. {_counting_all(spec, bounds)}."
    kinds = kinds_of_missing(spec, bounds)
    detail = f" (of all answers {_kinds(kinds)})" if kinds else ""
    return (
        f"{slots['open_at_level']} of the answers for {slots['level']} count neither way, and "
        f"{slots['open_at_baseline']} for {slots['baseline']}: a difference of its own{detail}. "
        f"{_counting_all(spec, bounds)}."
    )


def _counting_all(spec: MeasureSpec, bounds: Estimate) -> str:
    """Gives the number's range over all values that the missing answers could have."""
    low, high = bounds.low or 0.0, bounds.high or 0.0
    one, other = _sides(spec)
    ends = reading.interval(bounds, spec, 2)
    if spec.unit == "share" and (spec.contrast or spec.signed):
        places = numerals.point_places(low, high)
        first, last = (numerals.named_points(places, end) for end in (low, high))
        first = f"{numerals.MINUS if low < 0 else '+'}{first.partition(' ')[0]}"
        ends = f"{first} to {numerals.MINUS if high < 0 else '+'}{last}"
    elif spec.unit == "share":
        ends = f"{numerals.percent(low)} to {numerals.percent(high)}"
    if spec.contrast:
        return f"Whatever these would have been, the number is {ends}"
    return f"Counting all of it as {other} or all as {one} gives {ends}"


def kinds_of_missing(spec: MeasureSpec, bounds: Estimate) -> dict[str, float]:
    """Returns {outcome outside the denominator: its share of all answers}; {} if these do not add
    up to the width of a share's bounds.
    """
    total = sum(bounds.outcomes.values())
    uncounted = {
        value: n
        for value, n in bounds.outcomes.items()
        if (value not in (*spec.values, *spec.among) if spec.among else value in spec.without)
    }
    width = total * ((bounds.high or 0.0) - (bounds.low or 0.0))
    if not spec.contrast and not math.isclose(sum(uncounted.values()), width):
        return {}
    return {value: n / total for value, n in uncounted.items()}


def _kinds(shares: Mapping[str, float]) -> str:
    """Formats outcomes with their shares, the largest first: `41 % refusal, 2 % unsure`."""
    ranked = sorted(shares.items(), key=lambda one: (-one[1], one[0]))
    return ", ".join(
        f"{numerals.percent(share)} {value.replace('_', ' ')}" for value, share in ranked
    )


def _sides(spec: MeasureSpec) -> tuple[str, str]:
    """Names the values that are hits, and the other values in the denominator."""
    hits = "/".join(spec.values) or "counted"
    others = "/".join(value for value in spec.among if value not in spec.values)
    return hits, others or f"not {hits}"


def reversal(
    spec: MeasureSpec, row: Estimate, factor: str, effect: Estimate, levels: Mapping[str, float]
) -> str:
    """Writes that a nuisance factor moves the number across the null value."""
    distance = abs((row.value or 0.0) - (spec.null or 0.0))
    more, tilt = numerals.points(effect.value), numerals.points(distance)
    sentence = f"The {factor} matters more ({more}) than the tilt ({tilt})"
    return f"{sentence}: {_levels(spec, levels)}." if levels else f"{sentence}."


def shared_direction(
    spec: MeasureSpec, factor: str, effect: Estimate, levels: Mapping[str, float]
) -> str:
    """Writes that a nuisance factor moves the number, but not across the null value."""
    sentence = f"The {factor} moves the number by {numerals.points(effect.value)}"
    return (
        f"{sentence}, and every level lies on the same side: {_levels(spec, levels)}."
        if levels
        else f"{sentence}."
    )


def _levels(spec: MeasureSpec, levels: Mapping[str, float]) -> str:
    return ", ".join(
        f"{name} {headlines.amount(value, spec.unit, spec.signed)}"
        for name, value in levels.items()
    )


def items_differ(spec: MeasureSpec, row: Estimate) -> str:
    """Writes how many items lie on each side of no tilt, for items that differ."""
    result = row.between_items or {}
    below, above = (
        side or other for side, other in zip(reading.directions(spec), SIDES, strict=True)
    )
    row_of_test = replace(
        row,
        p=result["p"],
        p_adjusted=result["p_adjusted"],
        family_size=int(result["claims"]),
        adjustment="holm",
    )
    # of a share an item's prompts cannot be told from the item
    place = " in these prompts" if row.contrast is None else ""
    return (
        f"Items differ in this{place} more than chance lets them, {chance(row_of_test)}: of "
        f"{count_of(result['items'], 'item')} {numerals.count(result['above'])} lie {above}, "
        f"{numerals.count(result['below'])} {below}.{_exceptions(result)}"
        f"{CONSTANT if result.get('constant') else ''}"
    )


def _exceptions(found: Mapping[str, Any]) -> str:
    """Lists the items that differ from all others together, with their counts."""
    texts = [
        f"{one['item']} ({numerals.count(one['hits'])} of {numerals.count(one['n'])})"
        for one in found.get("exceptions", ())
    ]
    return f" Exceptions: {', '.join(texts)}." if texts else ""


def opposite_tilts(spec: MeasureSpec, parts: Iterable[Estimate]) -> str:
    """Writes that parts of a claim tilt in different directions, and lists both."""
    null = spec.null or 0.0
    sides: dict[bool, list[str]] = {True: [], False: []}
    for row in parts:
        label = ", ".join((*reading.group(row).values(), *(row.contrast or {}).values()))
        number = headlines.amount(row.value, row.unit, spec.signed or row.contrast is not None)
        sides[(row.value or 0.0) > null].append(f"{label} {number}")
    below, above = reading.directions(spec)
    return (
        f"Its parts point both ways: {above or 'above'} in {'; '.join(sides[True])}; "
        f"{below or 'below'} in {'; '.join(sides[False])}."
    )


def no_answers(row: Estimate) -> str:
    """Describes the answers of a claim that could not be measured."""
    total = numerals.count(sum(row.outcomes.values()))
    if row.n:
        return (
            f"{numerals.count(row.n)} of {total} answers could be counted, and none on one side of "
            f"the comparison ({reading.outcomes(row)})."
        )
    return f"None of {total} answers could be counted ({reading.outcomes(row)})."


def scarce_gold(labels: int, more: int | None, why: str = "") -> str:
    """Says how many gold labels there are, and how many more would show if a tilt is the judge's
    error. more: None if no number would; why: the reason why gold could not correct the number.
    """
    labels_text = f"{numerals.count(labels)} gold label{'s' * (labels != 1)}"
    if more is None:
        return f"{labels_text}, and no number of them would do over so few items."
    if more <= 0:
        return f"{labels_text} do not correct the number ({why.removeprefix('uncorrected: ')})."
    least = "at least" if why else "about"
    return f"{labels_text}, {least} {numerals.count(more)} more would do."


def borderline(spec: MeasureSpec, row: Estimate) -> str:
    """Says that test and interval disagree, or that adjusting p changes the decision."""
    null = numerals.quantity(spec.null, spec.unit, spec.signed, reading.null_places(spec))
    holds = row.low is not None and row.high is not None and row.low <= (spec.null or 0) <= row.high
    return f"Borderline: the interval {'holds' if holds else 'excludes'} {null}, {chance(row)}."
