"""The headline and lede of a comparison: one sentence over all headline differences, and the lines
below it. Terminal, page, Markdown and JSON show the same text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...display import shorten
from ...records import Estimate, NamedCell
from ...stats.results import count_of
from ..claims.verdicts import Verdict
from ..whole_run.signature import RULES
from ..words import numerals, populations, reading
from ..words.first_sentence.facts import Strength, strength
from ..words.verdict_words import Word
from .change_sentences import Change
from .compare import Comparison
from .paired_runs import NONE, ComparisonRow, held_of, leading
from .set_up import Difference

GRADES = {  # of a difference: as a class of the style sheet, and in words
    Strength.WEAK: ("weak", "weak signs"),
    Strength.TILT: ("plain", Word.DIFFERENT.value),
    Strength.CLEAR: ("clear", "clearly different"),
}
NO_CLAIM = "No headline number could be tested against the other run."
REFUTED = "Nothing can be said: people contradict the judge."
SIMULATED, SERVED_SIMULATED = ("planted:", "planted-rewriter:"), "planted tilt"
LONGEST = 48  # characters of a thing of the set-up, in the lede
OPEN = {  # of a change that cannot be told: what begins its sentence, or ends "Whether …"
    Word.UNDECIDED: ("Undecided, borderline", " is undecided: the number is borderline"),
    Word.NOT_SETTLED: ("The direction is open", " cannot be said: the direction is open"),
    Word.JUDGE_REFUTED: (
        "People contradict the judge",
        " cannot be said, since people contradict the judge: now",
    ),
}
MOST_NAMED = 4  # things that differ in the set-up, in the lede


class FirstWords(NamedTuple):
    """A headline (one sentence with its exceptions) and a lede (the sentences below it)."""

    headline: str
    lede: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pill:
    """A badge with a verdict and its number of differences. strength: clear, plain, weak or ""."""

    symbol: str
    text: str
    colour: str
    strength: str


def of_comparison(found: Comparison) -> FirstWords:
    """Returns the headline and lede of a comparison. Its runs must already carry display names."""
    rows = [row for row in found.rows if row.claim is not None]
    if not rows:
        return FirstWords(NO_CLAIM, tuple(set_up_and_rules(found.set_up)))
    lead = leading(rows)
    headline = f"{_headline(found, rows, lead)}{uncompared(found.left_out)}"
    return FirstWords(headline, tuple(_lede(found, lead)))


def uncompared(left_out: Sequence[str]) -> str:
    """Names the headline measures that were not compared, to end a headline; "" if there are none.
    left_out: lines such as "salary: a mean difference has …".
    """
    names = ", ".join(line.partition(":")[0] for line in left_out)
    return f" Not compared, so open: {names}." if names else ""


def pills(verdicts: Sequence[Verdict]) -> list[Pill]:
    """Returns one badge per verdict that occurs, such as "different: 2 of 5"."""
    words = [one.word for one in verdicts]
    grades = [strength(one.facts.row) for one in verdicts if one.word == Word.DIFFERENT]
    pills_of_words = []
    for word in Word:
        number = words.count(word)
        if number:
            grade, text = "", word.value
            if word == Word.DIFFERENT:
                grade, text = GRADES[max(grades, key=list(Strength).index)]
            look = word.record.look
            pills_of_words.append(
                Pill(look.symbol, f"{text}: {number} of {len(words)}", look.colour, grade)
            )
    return pills_of_words


def weakened(sentence: str, verdict: Verdict) -> str:
    """Begins a difference's sentence with "There are weak signs that" if its adjusted p ≥ .01."""
    if strength(verdict.facts.row) is not Strength.WEAK:
        return sentence
    start = f"the {sentence[4:]}" if sentence.startswith("The ") else sentence
    return f"There are weak signs that {start}"


def _headline(found: Comparison, rows: Sequence[ComparisonRow], lead: ComparisonRow) -> str:
    assert lead.claim is not None
    words = [row.claim.word for row in rows if row.claim]
    change = change_of(found, lead)
    if words.count(Word.JUDGE_REFUTED) == len(words):
        return REFUTED
    if lead.claim.word == Word.DIFFERENT:
        suffix = populations.over(lead.estimate, _nouns(found, lead))
        sentence = weakened(change.between().removesuffix("."), lead.claim)
        return f"{sentence}{suffix}. {_count_others(words)}".strip()
    if lead.claim.word == Word.TILT_OF_THESE:
        names = _nouns(found, lead)[0]
        sentence_between = change.between().removesuffix(".")
        return f"With these {names}: {sentence_between}; {names} like these are not settled."
    if set(words) == {Word.EQUIVALENT}:
        largest = max(rows, key=lambda row: abs(row.estimate.value or 0.0))
        margin = amount_of_margin(largest.margin, largest.estimate.unit)
        text = change_of(found, largest).between(margin)
        return f"{text} {f'So in all {len(rows)} comparisons.' if len(rows) > 1 else ''}".strip()
    if lead.claim.word not in NONE:
        return _unsettled(change, lead.claim.word)
    return _no_difference(change, rows)


def _unsettled(change: Change, word: Word) -> str:
    """Writes both values of an unsettled change, and the reason why it is unsettled."""
    sentence, (head, mark, values) = change.between(), change.between().partition(":")
    start = f"the {head[4:]}" if head.startswith("The ") else head
    begins, ends = OPEN.get(word, ("", ""))
    if not ends:
        return f"{word.chip[:1].upper()}{word.chip[1:]}: {sentence}"
    return f"Whether {start}{ends},{values}" if mark else f"{begins}: {sentence}"


def _no_difference(change: Change, rows: Sequence[ComparisonRow]) -> str:
    slots = change.slots()
    detectable = detectable_of([row.claim for row in rows if row.claim])
    power = f"; a change of {detectable} would mostly have been found" if detectable else ""
    if len(rows) == 1 and change.cell is not None:
        return f"No difference found: {change.between()}".removesuffix(".") + f"{power}."
    if len(rows) == 1 and change.first is None:
        return f"No difference found in {slots['what']}{power}."
    if len(rows) == 1:
        values = f"{slots['what']} is {slots['second']} in {change.runs[1]}, {slots['first']}"
        return f"No difference found: {values} in {change.runs[0]}{power}."
    equivalent = sum(row.claim is not None and row.claim.word == Word.EQUIVALENT for row in rows)
    margin = amount_of_margin(rows[0].margin, "share")
    addition = f", {equivalent} of them the same to within {margin}" if equivalent else ""
    return f"No difference found in {len(rows)} comparisons{addition}{power}."


def _count_others(words: Sequence[Word]) -> str:
    """Says how many comparisons differ; if at most one does, how many others are not settled."""
    changed, others = words.count(Word.DIFFERENT), [w for w in words if w != Word.DIFFERENT]
    if changed > 1:
        return f"{changed} of {len(words)} comparisons differ."
    if not others:
        return ""
    open_count = sum(word not in NONE for word in others)
    if open_count:
        return f"Not settled: {open_count} of {len(words)}."
    return "No other difference found."


def _lede(found: Comparison, lead: ComparisonRow) -> Iterator[str]:
    row, spec = lead.estimate, change_of(found, lead).spec
    if row.value is not None and lead.first is not None:
        size = difference(row.value, row.low, row.high, row.unit)
        yield f"The difference is {size}{_chance(lead)}."
    elif spec is not None:
        yield f"The distance is {reading.number(row, spec)}{_chance(lead)}."
    yield from set_up_and_rules(found.set_up)


def difference(value: float, low: float | None, high: float | None, unit: str) -> str:
    """Formats a difference with its interval: `−18 points [−25, −11]`."""
    if unit != "share":
        ends = "" if low is None or high is None else f" [{low:.3g}, {high:.3g}]"
        return f"{value:+.3g}{ends}".replace("-", numerals.MINUS)
    places = numerals.point_places(value)
    ends_of = [numerals.fixed_decimals(100 * one, places) for one in (low, high) if one is not None]
    ends = f" [{', '.join(ends_of)}]" if len(ends_of) == 2 else ""
    return f"{numerals.sign(value)}{numerals.points(value)}{ends}"


def _chance(lead: ComparisonRow) -> str:
    row = lead.estimate
    if row.p_adjusted is None:
        return ""
    return f", {adjusted(row)}"


def adjusted(row: Estimate | Verdict) -> str:
    """Formats the adjusted p: `adjusted p = .013 over 12 comparisons`."""
    among = f" over {row.family_size} comparisons" if (row.family_size or 1) > 1 else ""
    return f"adjusted p {numerals.equal_to(row.p_adjusted)}{among}"


def set_up_text(changes: Sequence[Difference]) -> Iterator[str]:
    """Writes, in one sentence, the other recorded differences between the runs."""
    facts = [_set_up_change(one) for one in changes if not _is_between_simulated_models(one)]
    omitted = (
        f" and {count_of(len(facts) - MOST_NAMED, 'thing')} more" if len(facts) > MOST_NAMED else ""
    )
    if facts:
        yield f"What else differs: {'; '.join(facts[:MOST_NAMED])}{omitted}."
    elif any(one.what == "model" for one in changes):
        yield "Of what the runs record, only the simulated model differs."
    else:
        yield "Nothing else that the runs record differs."


def _is_between_simulated_models(one: Difference) -> bool:
    """True for a change from one planted model to another; pages hide the names of both."""
    if one.what == "served as":
        return one.before.startswith(SERVED_SIMULATED)
    return one.what == "model" and all(side.startswith(SIMULATED) for side in one[1:])


def _set_up_change(one: Difference) -> str:
    if all(side.startswith(SIMULATED) for side in one[1:]):
        return f"{one.what} another simulated model"
    return f"{one.what} {_setting(one.before)} → {_setting(one.after)}"


def _setting(text: str) -> str:
    """Shortens a setting; a planted model becomes "a simulated model", which hides its tilt."""
    return "a simulated model" if text.startswith(SIMULATED) else shorten(text or "none", LONGEST)


def set_up_and_rules(changes: Sequence[Difference]) -> Iterator[str]:
    """Yields the differences of set-up, then the version of the rules that read all runs."""
    yield from set_up_text(changes)
    yield f"All runs are read by the same rules (version {RULES})."


def change_of(found: Comparison, row: ComparisonRow) -> Change:
    """Converts a row of a comparison to a Change."""
    claim = row.claim
    return Change(
        found.protocol,
        claim.measure if claim else row.estimate.measure,
        row.first,
        row.second,
        row.estimate.unit,
        row.estimate.condition,
        held_of(row.estimate),
        row.runs,
        _cell(claim),
    )


def _cell(claim: Verdict | None) -> NamedCell | None:
    """Returns the strongest cell that a claim over many cells names, else the largest; or None."""
    if claim is None or claim.cells is None:
        return None
    return claim.cells["named"][0] if claim.cells["named"] else claim.cells["largest"]


def amount_of_margin(margin: float, unit: str) -> str:
    """Formats a margin in the unit of the number: points for shares."""
    return numerals.points(margin) if unit == "share" else f"{margin:g}"


def detectable_of(verdicts: Sequence[Verdict]) -> str:
    """Returns the largest detectable difference among verdicts on shares; "" if none is known."""
    differences = [v.detectable for v in verdicts if v.detectable is not None and v.unit == "share"]
    return numerals.points(max(differences)) if differences else ""


def _nouns(found: Comparison, row: ComparisonRow) -> tuple[str, str]:
    spec = change_of(found, row).spec
    return ("words", "items") if spec is None else populations.nouns(found.protocol, spec)
