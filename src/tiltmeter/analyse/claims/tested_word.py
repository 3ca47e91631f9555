"""The verdict that follows from a row's own test and interval, and the population it applies to."""

from __future__ import annotations

from ...records import Estimate
from ...stats.results import ALPHA
from ..words.populations import THESE
from ..words.verdict_words import BY_STATE, Word


def items_differ(row: Estimate) -> bool:
    """True if the row's items differ significantly (adjusted p < α)."""
    result = row.between_items
    return result is not None and result["p_adjusted"] < ALPHA


def test_word(row: Estimate, null: float | None) -> Word:
    """Returns the verdict that follows from a row's own test and interval alone."""
    if row.value is None:
        return Word.NOT_MEASURED
    if row.p is None:
        return Word.NO_TEST
    if row.stopped and row.stopped["state"] in BY_STATE:  # p alone decides, at any look
        word = BY_STATE[row.stopped["state"]]
        return Word.TILT_OF_THESE if word == Word.TILT and _not_like_these(row) else word
    alpha = 1 - (row.confidence or 1 - ALPHA) - 1e-12
    adjusted = row.p if row.p_adjusted is None else row.p_adjusted
    has_null = holds_null(row, null)
    is_found = adjusted < alpha and has_null is not True
    if is_found and not _of_these_words(row):
        return Word.TILT
    if is_found or _these_tilt(row, alpha):
        return Word.TILT_OF_THESE
    if row.p < alpha or has_null is False:
        return Word.UNDECIDED
    return Word.ITEMS_DIFFER if items_differ(row) else Word.NO_DIFFERENCE


def _not_like_these(row: Estimate) -> bool:
    """True if the tilt is not shown for other cue words of this kind. If a run stopped by sign
    flips over items (in older plans), p is multiplied by looks and claims (Bonferroni).
    """
    if row.stopped and row.stopped.get("statistic") == "words":
        return _of_these_words(row)
    population = row.population
    p = None if population is None else population["p_like_these"]
    looks = int(row.stopped["looks"]) if row.stopped else 1
    return _of_these_words(row) or (p is not None and p * looks * (row.family_size or 1) >= ALPHA)


def _of_these_words(row: Estimate) -> bool:
    """True if a row has too few cue words to generalise beyond them."""
    return row.population is not None and row.population["cue_words"] == THESE


def _these_tilt(row: Estimate, alpha: float) -> bool:
    """True if the test limited to these cue words is significant in its own family."""
    population = row.population
    p = None if population is None else population["p_these_adjusted"]
    return p is not None and p < alpha


def holds_null(row: Estimate, null: float | None) -> bool | None:
    """True if the interval contains the null value; None without an interval or a null value."""
    if null is None or row.low is None or row.high is None:
        return None
    return row.low <= null <= row.high
