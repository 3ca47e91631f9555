"""The cautions of a headline claim. If one could reverse the claim, the verdict stays open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...records import Estimate
from ...stats import multiplicity
from ...stats.results import ALPHA
from ..words import numerals, sentences
from ..words.caution_kinds import Caution, CautionKind
from ..words.verdict_words import Word
from .background import GoldFacts
from .evidence import Claim
from .tested_word import holds_null, test_word

# share of the probability below which the model would mostly have said something else
LOW_MASS = 0.5
MUCH_MISSING = 0.05  # width of the bounds from which they are told


def reversing_cautions(claim: Claim) -> Iterator[Caution]:
    """Yields the cautions that could reverse the direction; the claim's verdict stays open then."""
    spec, row = claim.spec, claim.row
    null = spec.null or 0.0
    bounds = claim.bounds
    if bounds is not None and test_word(row, null) == Word.TILT and holds_null(bounds, null):
        yield Caution(
            CautionKind.BOUNDS_HOLD_NULL, sentences.missing(spec, bounds, claim.drawn, open_=True)
        )
    if _hides_a_difference(claim):
        yield _missing_differs(claim)
    for factor, effect, levels in significant(claim.interactions):
        if _reverses(row, null, effect, levels):
            text = sentences.reversal(spec, row, factor, effect, levels)
            yield Caution(CautionKind.REVERSES, text, factor)
    reversing = [e for e in _significant_parts(claim.parts) if e.value != null]
    sides = {(e.value or 0.0) > null for e in reversing}
    if len(sides) == 2:
        yield Caution(CautionKind.PARTS_OPPOSE, sentences.opposite_tilts(spec, reversing))


def _misses_more(claim: Claim) -> bool:
    """True if one compared level has significantly more answers outside the denominator."""
    row = claim.missing
    p = None if row is None else row.deciding_p
    return p is not None and p < ALPHA


def _hides_a_difference(claim: Claim) -> bool:
    """True if no tilt was found, but one level has more answers outside the denominator, and
    counting these could take the number out of its interval.
    """
    row, bounds = claim.row, claim.bounds
    if bounds is None or not _misses_more(claim) or test_word(row, claim.spec.null) == Word.TILT:
        return False
    ends = (row.low, row.high, bounds.low, bounds.high)
    low, high, lowest, highest = (0.0 if end is None else end for end in ends)
    return None not in ends and (lowest < low or highest > high)


def _missing_differs(claim: Claim) -> Caution:
    return Caution(
        CautionKind.MISSING_DIFFERS,
        sentences.missing_differs(claim.spec, claim.bounds, claim.slots),
    )


def pairing(claim: Claim) -> Iterator[Caution]:
    """Yields a caution if not every item was asked on both sides: what differs may be the items."""
    if not claim.pairing:
        return
    shared, number = claim.pairing
    kind = CautionKind.PARTLY_PAIRED if shared else CautionKind.UNPAIRED
    (factor, compared), *_ = (claim.row.contrast or {}).items()
    level, _, baseline = compared.partition(numerals.BETWEEN)
    slots = {"level": level, "baseline": baseline, "factor": factor, "item": claim.item}
    yield Caution(kind, kind.text(shared=str(shared), all=str(number), **slots))


def significant(
    nuisances: Sequence[tuple[str, Estimate, Mapping[str, float]]],
) -> list[tuple[str, Estimate, Mapping[str, float]]]:
    adjusted = multiplicity.holm(p=[row.p for _, row, _ in nuisances])
    pairs = zip(nuisances, adjusted, strict=True)
    return [one for one, p in pairs if p is not None and p < ALPHA]


def _significant_parts(parts: Sequence[Estimate]) -> list[Estimate]:
    adjusted = multiplicity.holm(p=[row.p for row in parts])
    return [row for row, p in zip(parts, adjusted, strict=True) if p is not None and p < ALPHA]


def _reverses(row: Estimate, null: float, effect: Estimate, levels: Mapping[str, float]) -> bool:
    """True if the claim's values at the levels of a factor lie on both sides of the null value.

    If these values are not known, two balanced levels are assumed half the effect from the mean.
    """
    if len(levels) > 1:
        return min(levels.values()) < null < max(levels.values())
    distance = abs((row.value or 0.0) - null)
    return effect.value is not None and abs(effect.value) / 2 > distance


def further_cautions(claim: Claim, told: Sequence[Caution], known: GoldFacts) -> Iterator[Caution]:
    """Yields the cautions that could not reverse a claim. told: cautions already given."""
    spec, row = claim.spec, claim.row
    kinds = {caution.kind for caution in told}
    if row.value is None and row.outcomes:
        yield Caution(CautionKind.NO_ANSWERS, sentences.no_answers(row))
        if _misses_more(claim):
            yield _missing_differs(claim)
        return
    if claim.captured is not None and claim.captured < LOW_MASS:
        text = CautionKind.LOW_MASS.text(share=numerals.percent(claim.captured))
        yield Caution(CautionKind.LOW_MASS, text)
    bounds = claim.bounds
    if CautionKind.MISSING_DIFFERS not in kinds and _misses_more(claim):
        yield _missing_differs(claim)
    elif bounds is not None and not any(kind.missing for kind in kinds) and _is_wide(bounds):
        text = sentences.missing(spec, bounds, claim.drawn, open_=False)
        if row is not claim.raw:  # bounds are those of the labels as they are
            text = f"{text.removesuffix('.')}, before gold corrects the number."
        yield Caution(CautionKind.MISSING_ANSWERS, text)
    for factor, effect, levels in significant(claim.interactions):
        if factor not in {caution.factor for caution in told}:
            text = sentences.shared_direction(spec, factor, effect, levels)
            yield Caution(CautionKind.EFFECT, text, factor)
    if known.errs_by_level:
        yield Caution(CautionKind.JUDGE_ERRS_BY_LEVEL, known.errs_by_level)
    if claim.uncorrected and CautionKind.GOLD_SCARCE not in kinds:
        reason = claim.uncorrected.removeprefix("uncorrected: ")
        yield Caution(CautionKind.UNCORRECTED, CautionKind.UNCORRECTED.text(reason=reason))
    is_undecided = spec.null is not None and test_word(row, spec.null) == Word.UNDECIDED
    if is_undecided and CautionKind.TOO_FEW_ITEMS not in kinds:
        yield Caution(CautionKind.BORDERLINE, sentences.borderline(spec, row))
    if test_word(row, spec.null) == Word.TILT and row.stopped and holds_null(row, spec.null):
        kind = CautionKind.INTERVAL_AFTER_STOPPING
        yield Caution(kind, kind.text())
    for kind in map(CautionKind, row.cautions):
        if kind.mark:
            yield Caution(kind, kind.mark)


def _is_wide(bounds: Estimate) -> bool:
    return (
        bounds.low is not None
        and bounds.high is not None
        and bounds.high - bounds.low > MUCH_MISSING
    )
