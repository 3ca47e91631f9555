"""The first sentence of a run, which sums up all its headline claims for every report.

A situation is a record: its condition, its lead, and the exceptions that follow. The first
situation whose condition holds writes the sentence. Nuisances (such as the order) are no tilts:
they lead if nothing tilts, and otherwise follow the lead if they are larger than the tilt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ....records import Estimate, Json
from ..caution_kinds import CautionKind
from ..verdict_words import Word
from .claims import Claims
from .clauses import CONDITIONS, Clause, capital
from .facts import ClaimFacts, Strength, strength
from .mitigated import is_mitigated, mitigated, of_mitigation
from .mitigated import others as with_mitigations
from .open import (
    alone,
    asked,
    by_nuisance,
    is_none,
    items,
    missing,
    needed,
    none,
    of_record,
    parts,
    pursued,
    refuted,
    shown,
    undecided,
    unmeasured,
)
from .tilts import (
    by_labeller,
    exceptions,
    few,
    in_places,
    only_weak,
    opposite,
    others,
    outweighing,
    together,
    uncued,
)

NOTHING = "Nothing was measured yet."


class FirstSentence(NamedTuple):
    """A report's first sentence. text: lead, nuisance and exceptions; lead: text without the
    exceptions; situation: its name; strength: grade of a tilt, else ""; claims: the lead's claims.
    """

    text: str
    lead: str
    situation: str
    strength: str
    claims: tuple[ClaimFacts, ...]

    def as_dict(self) -> dict[str, Json]:
        """Returns plain values for JSON, with the numbers of the claims."""
        return {
            "text": self.text,
            "lead": self.lead,
            "situation": self.situation,
            "strength": self.strength,
            "claims": [_numbers(facts) for facts in self.claims],
        }


def _numbers(facts: ClaimFacts) -> dict[str, Json]:
    row = facts.row
    return {
        "measure": facts.spec.name,
        "subject": row.subject,
        "condition": dict(row.condition),
        "contrast": None if row.contrast is None else dict(row.contrast),
        "sides": dict(facts.sides) if facts.sides else None,
        "reference": facts.spec.null,
        "bounds": _bounds(facts.bounds),
        "detectable": row.detectable,
        "nuisances": [
            {"name": nuisance.name, "levels": dict(nuisance.levels), "found": nuisance.found}
            for nuisance in facts.nuisances
        ],
        "value": row.value,
        "low": row.low,
        "high": row.high,
        "p_adjusted": row.p_adjusted,
    }


def _bounds(row: Estimate | None) -> dict[str, Json] | None:
    """Returns both bounds of the value, and their distance: the share outside the denominator."""
    if row is None or row.low is None or row.high is None:
        return None
    return {"low": row.low, "high": row.high, "missing": row.high - row.low}


class Situation(NamedTuple):
    """A kind of result: its condition, its lead, and the exceptions that follow, each without a
    full stop. spoken: returns the claims that the lead is about.
    """

    name: str
    holds: Callable[[Claims], bool]
    lead: Callable[[Claims], Clause]
    rest: Callable[[Claims], Sequence[str]] = lambda claims: ()
    spoken: Callable[[Claims], Sequence[ClaimFacts]] = lambda claims: [claims.lead]


def first_sentence(every: Sequence[ClaimFacts]) -> FirstSentence:
    """Sums up a run in a sentence and its exceptions."""
    if not every:
        return FirstSentence(NOTHING, NOTHING, "nothing", "", ())
    claims = Claims(tuple(every))
    situation = next(one for one in SITUATIONS if one.holds(claims))
    lead = situation.lead(claims)
    spoken = situation.spoken(claims)
    grades = sorted((strength(facts.row) for facts in spoken), key=list(Strength).index)
    grade = grades[(len(grades) - 1) // 2]  # the middle one; of two the weaker
    text = lead.alone
    if claims.tilts and any(facts.tilts for facts in spoken):
        if grade is Strength.WEAK:
            comma = "," * lead.inside.startswith(CONDITIONS)
            text = f"There are weak signs that{comma} {lead.inside}"
        text += outweighing(claims)
    begins = f"{text}."
    weaker = only_weak(claims, spoken) if grade is not Strength.WEAK else []
    rest = [
        f"{capital(one)}." for one in (*weaker, *situation.rest(claims), *claims.left_out) if one
    ]
    name = grade.value if claims.tilts else ""
    return FirstSentence(" ".join([begins, *rest]), begins, situation.name, name, (*spoken,))


def _leads(*words: Word) -> Callable[[Claims], bool]:
    return lambda claims: claims.lead.word in words


def _unsettled_by(*kinds: CautionKind) -> Callable[[Claims], bool]:
    def holds(claims: Claims) -> bool:
        lead = claims.lead
        return lead.word == Word.NOT_SETTLED and bool(lead.kinds & {*kinds})

    return holds


SITUATIONS = (
    Situation("mitigated", is_mitigated, mitigated, with_mitigations, of_mitigation),
    Situation("no cue", lambda claims: bool(claims.lead.uncued), uncued),
    Situation(
        "annotators disagree",
        lambda claims: bool(claims.tilts) and bool(claims.contradicting),
        by_labeller,
    ),
    Situation(
        "models disagree",
        lambda claims: len(claims.tilting) > 1 and not claims.one_way,
        opposite,
        others,
        lambda claims: claims.tilting,
    ),
    Situation(
        "several models tilt",
        lambda claims: len(claims.models) > 1 and claims.places == 1 and len(claims.tilting) > 1,
        together,
        others,
        lambda claims: claims.tilting,
    ),
    Situation(
        "all or most places tilt",
        lambda claims: claims.places > 1 and 2 * len(claims.tilting) >= max(3, len(claims.alike)),
        in_places,
        others,
        lambda claims: [*claims.overall, *claims.tilting],
    ),
    Situation("some tilt", lambda claims: bool(claims.tilts), few, others),
    Situation("not measured", _leads(Word.NOT_MEASURED), unmeasured),
    Situation("judge refuted", _leads(Word.JUDGE_REFUTED), refuted),
    Situation(
        "missing answers",
        _unsettled_by(CautionKind.BOUNDS_HOLD_NULL, CautionKind.MISSING_DIFFERS),
        missing,
    ),
    Situation(
        "nuisance",
        lambda claims: claims.nuisance is not None,
        by_nuisance,
        spoken=lambda claims: claims.of_nuisance or [claims.lead],
    ),
    Situation("parts oppose", _leads(Word.NOT_SETTLED), parts),
    Situation("these names", _leads(Word.TILT_OF_THESE), few, others),
    Situation("items differ", _leads(Word.ITEMS_DIFFER), items, exceptions),
    Situation("none", is_none, none, alone),
    Situation("undecided", _leads(Word.UNDECIDED), undecided, needed),
    Situation("given up", _leads(Word.NOT_PURSUED), pursued),
    Situation("still asked", _leads(Word.STILL_ASKED), asked),
    Situation("not tested", _leads(Word.NO_TEST), shown),
    Situation("its own", lambda claims: bool(claims.lead.word.record.headline), of_record),
    Situation("not measured", lambda claims: True, unmeasured),
)
