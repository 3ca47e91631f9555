"""The items and cue words that a claim generalises to, in words."""

from __future__ import annotations

from ...protocol import MeasureSpec, Protocol, wording
from ...protocol.design.cue_words import lineup_column
from ...records import Estimate, Json, Population
from ...stats.crossed.words import ADVISED_WORDS, LEAST_WORDS
from ...stats.power.power import detectable
from ...stats.results import ALPHA
from . import numerals, reading
from .verdict_words import Word

LIKE, THESE, ALL = "like these", "these", "all"
BEGINNINGS = ("Asked", "By", "If", "In", "Of", "Over", "Shown", "Told", "Where")  # of conditions


def nouns(protocol: Protocol, spec: MeasureSpec) -> tuple[str, str]:
    """Returns the nouns for cue words and items: ("names", "jobs")."""
    if spec.contrast is None and lineup_column(protocol):
        return "names", "line-ups"
    cue = protocol.cues.get((spec.contrast or {}).get("factor", ""))
    if spec.contrast is None and len({one.column for one in protocol.cues.values()}) == 1:
        cue = next(iter(protocol.cues.values()))
    return "words" if cue is None else cue.noun, f"{wording.item_noun(protocol)}s"


def of_verdict(row: Estimate) -> dict[str, Json]:
    """Returns the population of a verdict; without cue words, `cue_words` says "all"."""
    population = row.population
    if population is None:
        return {"items": LIKE, "cue_words": ALL, "items_n": row.clusters}
    return {
        "items": population["items"],
        "cue_words": population["cue_words"],
        "words": list(population["words"]),
        "words_sd": population["words_sd"],
        "items_n": population["items_n"],
        "df": population["df"],
        "p_these": population["p_these"],
        "p_these_adjusted": population["p_these_adjusted"],
        "p_like_these": population["p_like_these"],
    }


def over(row: Estimate, named: tuple[str, str]) -> str:
    """Returns the population of a number, such as ", over names and jobs like these", for a verdict
    that is not a tilt; "" if unknown. named: nouns for cue words and items.
    """
    population, (words, items) = row.population, named
    if population is None:
        return ""
    if population["cue_words"] == THESE:
        return f", with these {words}"
    if population["items"] == THESE:
        return f", in these {population['items_n']} {items}"
    return f", over {words} and {items} like these"


def headline(text: str, word: Word, row: Estimate, named: tuple[str, str]) -> str:
    """Adds the population to the sentence of a tilt. named: nouns for cue words and items."""
    population, (words, items) = row.population, named
    if population is None:
        return text
    if word == Word.TILT and population["items"] == THESE:
        number = population["items_n"]
        prefix = f"In these {number} {items}" if number > 1 else f"In this one {items[:-1]}"
        end = f"; whether {items} like these show it, {number} cannot tell."
        return f"{prefix}, {_after_comma(text).removesuffix('.')}{end}"
    if word == Word.TILT and population["cue_words"] == LIKE:
        return f"{text.removesuffix('.')}, over {words} and {items} like these."
    if word == Word.TILT_OF_THESE:
        number = min(population["words"])
        each = f"one {words.removesuffix('s')}" if number == 1 else f"these {number} {words}"
        open_ = f"; {words} like these are not settled."
        return f"With {each} per group, {_after_comma(text).removesuffix('.')}{open_}"
    return text


def _after_comma(text: str) -> str:
    """Returns a sentence to follow a comma: in lower case if it begins with a condition."""
    return text[:1].lower() + text[1:] if text.partition(" ")[0] in BEGINNINGS else text


def of_these(row: Estimate, named: tuple[str, str], in_points: bool) -> str:
    """Explains why a tilt holds for these cue words only; adds the tilt that ten could show."""
    population, (words, _) = row.population, named
    if population is None:
        return ""
    p = population["p_these_adjusted"]
    chance = "" if p is None else f"With these {words} adjusted p {numerals.equal_to(p)}. "
    if population["cue_words"] == THESE:
        return (
            f"{chance}So few {words} say nothing of others: give {LEAST_WORDS} at least, better "
            f"{ADVISED_WORDS} a group."
        )
    apart_by = population["words_sd"] if in_points else None
    spread = "" if apart_by is None else numerals.points(apart_by)
    apart = f"{reading.title(words)} of one group differ by {spread} among themselves: for"
    is_few = in_points and min(population["words"]) < ADVISED_WORDS
    ten = _with_ten_words(row, population) if is_few else None
    could = "" if ten is None else f"; {ADVISED_WORDS} a group could show {numerals.points(ten)}"
    return f"{chance}{apart if spread else 'For'} {words} like these it cannot be told{could}."


def _with_ten_words(row: Estimate, population: Population) -> float | None:
    """Returns the difference detectable with ten words per group, if they vary as these do."""
    number = min(population["words"])
    word_variance = max(0.0, population["se"] ** 2 - population["se_items"] ** 2)
    variance = population["se_items"] ** 2 + word_variance * number / ADVISED_WORDS
    clusters = min(population["items_n"], 2 * ADVISED_WORDS - 1)
    if clusters < 2 or variance <= 0:
        return None
    return detectable(se=variance**0.5, clusters=clusters, alpha=ALPHA, tests=row.family_size or 1)
