"""The lines below the first sentence: size and certainty, nuisances such as order, and cautions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...analyse.claims.thresholds import at_confidence
from ...analyse.claims.verdicts import Verdict
from ...analyse.words import headlines, numerals, reading, sentences
from ...analyse.words.caution_kinds import CautionKind
from ...analyse.words.first_sentence.clauses import NAMED, capital, clause, join_names
from ...analyse.words.first_sentence.facts import ClaimFacts
from ...analyse.words.first_sentence.tilts import place_name
from ...stats.results import ALPHA, count_of
from .ranking import effect_of

CHARACTERS = 400  # for which the first screen has room
ONE_ITEM = "One item alone gives neither an interval nor a test."
SAID = (  # by the first sentence, or by the line of the order
    CautionKind.BORDERLINE,
    CautionKind.ITEMS_DIFFER,
    CautionKind.REVERSES,
    CautionKind.EFFECT,
    CautionKind.BOUNDS_HOLD_NULL,
    CautionKind.MISSING_DIFFERS,
)
ONE_POINT = 0.01  # of a share


def lede(spoken: Sequence[Verdict], judged: Sequence[Verdict]) -> Iterator[tuple[str, str]]:
    """Yields (sentence, query for the outputs behind its number) as long as there is room, at least
    one. spoken: the claims of the first sentence; judged: all claims.
    """
    room = CHARACTERS
    lead = spoken[0]
    among = [one.facts for one in spoken]
    sizes = [(_size(one, among), one.query.text()) for one in spoken[:NAMED]]
    aside = _nuisances(lead) or _nuisance_claims(spoken, judged)
    texts = [*sizes, (aside, ""), *((text, "") for text in _cautions(lead))]
    written: set[str] = set()
    for text, query in texts:
        if text and text not in written and (room == CHARACTERS or len(text) <= room):
            room -= len(text)
            written.add(text)
            yield text, query


def _size(one: Verdict, among: Sequence[ClaimFacts]) -> str:
    """Writes the difference, its interval, the least size that holds over all tests, adjusted p."""
    facts, row = one.facts, one.claim.row
    if row.value is None:
        return sentences.no_answers(row) if row.outcomes else f"{row.note or 'No reason stored'}."
    named = place_name(facts, among) if len(among) > 1 else ""
    name = f"{capital(named)}: " if named else ""
    number = _number(facts)
    ends = _interval(facts)
    interval = f" ({100 * (row.confidence or 0.95):g} % interval {ends})" if ends else ""
    least = _least(one)
    chance = _chance(facts, told=bool(least))
    parts = [f"{name}{number}{interval}", least, chance, _without_gold(one)]
    text = "; ".join(filter(None, parts))
    return f"{text if named else capital(text)}."


def _number(facts: ClaimFacts) -> str:
    row, value = facts.row, facts.row.value or 0.0
    if "unit" in facts.slots:
        return f"a difference of {numerals.plain(value)}{facts.slots['unit']}"
    if _is_difference(facts):
        places = headlines.decimals_of_sides(row)
        size = numerals.named_points(places, value) if places else numerals.points(value)
        return f"a difference of {numerals.MINUS * (value < 0 and size[:2] != '0 ')}{size}"
    if row.unit == "share" and facts.spec.reference:
        more = "more" if value > 0 else "less"
        return f"{numerals.points(value)} {more} than {facts.slots.get('other_share', 'expected')}"
    if row.unit == "share" and not reading.is_signed(facts.spec, row):
        return f"{_counted_phrase(facts)}{numerals.percent(value)}"
    if row.unit == "share" and "share_interval" not in facts.slots:
        return numerals.points(value)
    if row.unit in numerals.RATIOS and value > 0:
        return f"{numerals.odds(max(value, 1 / value), 1)} times"
    if "share_interval" in facts.slots:
        slots = facts.slots
        return (
            f"{slots['changed']} in {slots['share']}{slots['share_interval']}, "
            f"{slots['other_share']}{slots['other_interval']} (in brackets: 95 % intervals)"
        )
    return f"{facts.slots['what']} {reading.value(row, facts.spec, 2)}"


def _counted_phrase(facts: ClaimFacts) -> str:
    counted = facts.slots.get("counted", "")
    if counted.startswith("the "):  # a title in words
        return f"{counted} in "
    return f"“{counted}” in " if counted else ""


def _is_difference(facts: ClaimFacts) -> bool:
    return facts.row.unit == "share" and facts.spec.contrast is not None


def _interval(facts: ClaimFacts) -> str:
    """Formats the interval as `12 to 24`, in the unit and direction of the sentence's number."""
    row = facts.row
    if row.low is None or row.high is None:
        return ""
    low, high = row.low, row.high
    if row.unit == "share":
        signed = reading.is_signed(facts.spec, row)
        turned = signed and (row.value or 0.0) < 0 and not _is_difference(facts)
        ends = sorted((-low, -high) if turned else (low, high))
        places = numerals.point_places(row.value) if signed else 0
        places = max(places, headlines.decimals_of_sides(row))
        return " to ".join(numerals.fixed_decimals(100 * end, places) for end in ends)
    if row.unit in numerals.RATIOS and min(low, row.value or 0.0) > 0:
        ends = sorted((1 / low, 1 / high) if (row.value or 1.0) < 1 else (low, high))
        return " to ".join(numerals.odds(end, 1) for end in ends)
    return " to ".join(numerals.quantity(end, row.unit, False, 2) for end in (low, high))


def _least(one: Verdict) -> str:
    """Writes `at least 10 points, allowing for all 6 comparisons`; "" for a single comparison."""
    facts, row = one.facts, one.claim.row
    tests = row.family_size or 1
    if not facts.tilts or tests < 2 or row.unit != "share" or row.stopped:
        return ""
    at_level = at_confidence(row, 1 - ALPHA / tests)
    if at_level is None:
        return ""
    away = [end - facts.null for end in at_level]
    nearer = min(map(abs, away))
    if away[0] * away[1] <= 0 or nearer < ONE_POINT / 2:
        return ""
    from_even = "" if _is_difference(facts) or facts.spec.reference else " from even"
    every = "both" if tests == 2 else f"all {tests}"
    return f"at least {numerals.points(nearer)}{from_even}, allowing for {every} comparisons"


def _chance(facts: ClaimFacts, told: bool) -> str:
    """Formats the adjusted p. told: True if the text before gave the number of comparisons."""
    row = facts.row
    if row.deciding_p is None:
        return ""
    several = (row.family_size or 1) > 1 and not told
    over = f" over {row.family_size} comparisons" if several else ""
    return f"p {numerals.equal_to(row.deciding_p)}{over}"


def _without_gold(one: Verdict) -> str:
    """Writes that gold corrects the number, and the raw number; "" if gold does not correct it."""
    row, raw = one.claim.row, one.claim.raw
    if row is raw or raw.value is None:
        return ""
    share = numerals.percent(raw.value)
    if reading.is_signed(one.claim.spec, raw):
        share = numerals.points(raw.value)
    labels = count_of(one.facts.gold, "label")
    return f"as {labels} by people correct it, {share} without"


def _nuisances(lead: Verdict) -> str:
    """Writes the share, in per cent, at each level of each tested nuisance."""
    lines = []
    counted = _counted_phrase(lead.facts)
    tested = lead.word.record.tested
    for one in lead.facts.nuisances if tested else ():
        shares = [f"{numerals.percent(share)} ({title})" for title, share in one.levels]
        if shares:
            lines.append(f"By {one.name}: {counted}{join_names(shares)}.")
    return " ".join(lines)


def _nuisance_claims(spoken: Sequence[Verdict], judged: Sequence[Verdict]) -> str:
    """Writes the largest nuisance claim; "" if the first sentence is about a nuisance."""
    nuisances = [one for one in judged if one.nuisance and one.claim.row.value is not None]
    if not nuisances or any(one.nuisance for one in spoken):
        return ""
    tilts = [one for one in nuisances if one.facts.tilts]
    largest = max(tilts or nuisances, key=effect_of)
    inside = clause([largest.facts], whole=False).inside
    return f"By {largest.nuisance}: {inside}{'' if tilts else ', which may be chance'}."


def _cautions(lead: Verdict) -> Iterator[str]:
    row = lead.claim.row
    if row.value is not None and row.low is None and row.p is None and row.clusters == 1:
        yield ONE_ITEM
    yield from (one.text for one in lead.cautions if one.kind not in SAID)
