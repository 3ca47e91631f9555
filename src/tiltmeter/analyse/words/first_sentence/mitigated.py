"""The lead of a run with mitigations: how the best of them changes the tilt, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence

from ....protocol.design.mitigations import FACTOR
from .. import numerals
from ..verdict_words import Word
from .claims import Claims
from .clauses import Clause, capital, join_names
from .facts import ClaimFacts

EVEN, TURNED = "even", "turned"  # sides of a change beside its two numbers


def is_mitigated(claims: Claims) -> bool:
    """True if the run has mitigations."""
    return bool(_changes(claims))


def of_mitigation(claims: Claims) -> list[ClaimFacts]:
    """Returns, of the leading change and its costs, the claims that tilt; else only the change."""
    lead = _lead(claims)
    return [facts for facts in (lead, *_costs_of(claims, lead)) if facts.tilts] or [lead]


def mitigated(claims: Claims) -> Clause:
    lead = _lead(claims)
    subject = lead.slots["subject"]
    costs = _cost_texts(_costs_of(claims, lead))
    if lead.word == Word.NOT_SETTLED:
        effects = join_names([_tilt(lead), *costs])
        open_ = "what it does not choose leaves open if the tilt changes"
        return Clause(f"{lead.slots['level']}, {subject} {effects}; {open_}", "level")
    if lead.tilts:
        effects = join_names([_tilt(lead), *costs])
        grown = " and the tilt is larger" if _size(lead, "level") > _size(lead, "baseline") else ""
        ending = "" if costs else "; no cost was found"
        return Clause(f"{lead.slots['level']}, {subject} {effects}{grown}{ending}", "level")
    number = len(_levels(claims))
    noun = "the mitigation" if number == 1 else f"any of {number} mitigations"
    text = f"no change of a tilt was found with {noun}; farthest apart, {lead.slots['level']}, "
    return Clause(f"{text}{subject} {_tilt(lead)}")


def others(claims: Claims) -> list[str]:
    """Says how many mitigations lessen a tilt, which enlarge it, and what the others cost."""
    lead, levels = _lead(claims), _levels(claims)
    texts = []
    lessening = {facts.slots["level"] for facts in _changes(claims) if _helps(facts)}
    if len(levels) > 1 and lead.tilts:
        verb = "lessens" if len(lessening) == 1 else "lessen"
        texts.append(f"{len(lessening)} of {len(levels)} mitigations {verb} a tilt")
    enlarging = [f.slots["level"] for f in _changes(claims) if f.tilts and not _helps(f)]
    if enlarging and enlarging != [lead.slots["level"]]:
        texts.append(f"it is larger {join_names(list(dict.fromkeys(enlarging)))}")
    is_lead_told = lead.tilts or lead.word == Word.NOT_SETTLED
    spoken_of = (lead.slots["level"],) if is_lead_told else ()
    costs = [f for f in _costs(claims) if f.slots["level"] not in spoken_of]
    for facts in costs[:2]:
        cost = _cost(facts)
        texts.append(f"{facts.slots['level']}, {facts.slots['subject']} {cost}")
    return [capital(one) for one in texts]


def _is_of_mitigation(facts: ClaimFacts) -> bool:
    return (facts.spec.contrast or {}).get("factor") == FACTOR


def _changes(claims: Claims) -> list[ClaimFacts]:
    """Returns the claims about how a mitigation changes a tilt."""
    return [f for f in claims.every if _is_of_mitigation(f) and EVEN in f.sides]


def _costs(claims: Claims) -> list[ClaimFacts]:
    with_words = (f for f in claims.every if _is_of_mitigation(f) and "also" in f.spec.sentence)
    return [f for f in with_words if f.tilts and "share" in f.slots]


def _cost(facts: ClaimFacts) -> str:
    return str(facts.spec.sentence["also"]).format_map(facts.slots)


def _cost_texts(costs: Sequence[ClaimFacts]) -> list[str]:
    """Writes each cost; if it has values for several languages or models, the largest of these."""
    places: dict[str, list[ClaimFacts]] = {}
    for facts in costs:
        places.setdefault(facts.spec.name, []).append(facts)
    largest = [
        max(group, key=lambda facts: abs(facts.row.value or 0.0)) for group in places.values()
    ]
    several = {name for name, group in places.items() if len(group) > 1}
    return [
        f"{_cost(facts)} (most for {_place_of(facts)})"
        if facts.spec.name in several
        else _cost(facts)
        for facts in largest
    ]


def _place_of(facts: ClaimFacts) -> str:
    return join_names([facts.slots[name] for name in facts.spec.by[0] if name in facts.slots])


def _levels(claims: Claims) -> list[str]:
    mitigated_claims = filter(_is_of_mitigation, claims.every)
    return list(dict.fromkeys(f.slots["level"] for f in mitigated_claims if "level" in f.slots))


def _lead(claims: Claims) -> ClaimFacts:
    """Returns the change that lessens a tilt most, else one that enlarges it, else the largest."""
    return max(_changes(claims), key=_weight)


def _weight(facts: ClaimFacts) -> tuple[bool, bool, bool, float]:
    is_helping = _helps(facts)
    return is_helping, is_helping and TURNED not in facts.sides, facts.tilts, abs(_change(facts))


def _costs_of(claims: Claims, lead: ClaimFacts) -> list[ClaimFacts]:
    """Returns the costs of the lead's mitigation, for the same model and language."""
    place = (lead.row.subject, lead.slots.get("level"), lead.row.condition.get("language"))
    return [
        facts
        for facts in _costs(claims)
        if (facts.row.subject, facts.slots["level"], facts.row.condition.get("language")) == place
    ]


def _size(facts: ClaimFacts, side: str) -> float:
    """Returns the distance of the number at one side ("level" or "baseline") from no tilt."""
    return abs(facts.sides[side] - facts.sides[EVEN])


def _change(facts: ClaimFacts) -> float:
    return _size(facts, "level") - _size(facts, "baseline")


def _helps(facts: ClaimFacts) -> bool:
    return facts.tilts and _change(facts) < 0


def _tilt(facts: ClaimFacts) -> str:
    """Returns the tilt with and without the mitigation, as a predicate (`tilts by 5 points …`)."""
    level, baseline = facts.sides["level"], facts.sides["baseline"]
    noun = facts.slots.get("counted", facts.spec.attribute)
    if facts.sides[EVEN]:
        shares = [numerals.percent(share) for share in (level, baseline, facts.sides[EVEN])]
        limit = f", beyond {shares[2]}" if TURNED in facts.sides else ""
        return f"gives “{noun}” in {shares[0]} of answers instead of {shares[1]}{limit}"
    more, before = ("more" if share > 0 else "less" for share in (level, baseline))
    now, then = (numerals.points(abs(share)) for share in (level, baseline))
    if facts.row.cells is not None:  # of many: the one that changes most
        of = f"{facts.slots['attribute']} {facts.slots['changed']}"
        who = f"for {facts.slots['changed_in']} than for {facts.slots['others']}"
        then = then if more == before else f"{then} {before}"
        return f"gives {of} {now} {more} often {who} instead of {then}"
    if "for_one" not in facts.slots:
        ending = ", to the other side" if TURNED in facts.sides else ""
        return f"tilts by {now} instead of {then}{ending}"  # an effect
    phrase = f"{more} often for {facts.slots['for_one']} than {facts.slots['for_other']}"
    if more == before:
        return f"gives “{noun}” {now} instead of {then} {phrase}"
    return f"gives “{noun}” {now} {phrase} instead of {then} {before}"
