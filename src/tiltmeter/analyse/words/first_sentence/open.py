"""The leads of runs in which nothing tilts: no difference was found, or some are undecided."""

from __future__ import annotations

from collections.abc import Mapping

from ....stats.results import ALPHA
from .. import numerals
from ..caution_kinds import CautionKind
from ..verdict_words import Word
from .claims import Claims
from .clauses import (
    WORDS,
    Clause,
    all_models,
    brief_clause,
    clause,
    is_equal,
    join_names,
    number_of_words,
)
from .facts import ClaimFacts, detectable
from .tilts import ALSO, nuisance_words, place_name


def none(claims: Claims) -> Clause:
    number = len(claims.tested)
    lead = claims.lead
    group = claims.alike if len(claims.alike) == number else [lead]
    if any(facts.tilts for facts in group):
        group = [lead]
    inside = clause(group, "plain", whole=False).inside
    kind = "difference" if lead.spec.contrast or lead.spec.reference else "tilt"
    alike = [facts for facts in claims.tested if facts.spec.name == lead.spec.name]
    smallest = detectable(max(alike, key=lambda f: f.row.detectable or 0.0, default=lead))
    begins = f"no {kind} found: "
    if number > 1:
        are_alike = len(group) == number or is_equal(lead)
        begins = _in_comparisons(claims, "" if are_alike else "farthest apart, ")
    texts_short = (
        brief_clause(lead, model=len(claims.models) > 1, counted=True)
        if group == [lead] and number > 1
        else inside
    )
    noun = f"a {kind} of {smallest}" if smallest and not smallest.startswith("a ") else smallest
    endings = [f"; {noun} would mostly have been found", f"; {smallest} would mostly show"]
    texts = [
        f"{begins}{variant}{ending}"
        for variant in (inside, texts_short)
        for ending in (endings if smallest else [""])
    ]
    fitting = (text for text in texts if number_of_words(text) <= WORDS)
    return Clause(next(fitting, texts[-1]))


def _in_comparisons(claims: Claims, apart: str) -> str:
    """Begins a lead, such as `no difference found in 5 of 6 comparisons; undecided: `."""
    number = len(claims.tested)
    open_ = [facts for facts in claims.tested if facts.word != Word.NO_DIFFERENCE]
    if not open_:
        return f"no difference found in {number} comparisons: {apart}"
    begins = f"no difference found in {number - len(open_)} of {number} comparisons"
    if open_ == [claims.lead] and apart:
        return f"{begins}; undecided: "
    return f"{begins}, {len(open_)} undecided: {apart}"


def alone(claims: Claims) -> list[str]:
    """Lists, in one text, the claims that would be significant if each were the only claim."""
    facts_alone = [facts for facts in claims.tested if _stands_out_alone(facts)]
    names = [place_name(facts, claims.tested) for facts in facts_alone]
    if not names or not all(names):
        return []
    noun = "difference" if claims.lead.spec.contrast or claims.lead.spec.reference else "tilt"
    places = [name if name.startswith("in ") else f"for {name}" for name in names]
    plural = "s" if len(names) > 1 else ""
    return [f"taken alone, the {noun}{plural} {join_names(places)} would stand out"]


def is_none(claims: Claims) -> bool:
    """True if no claim tilts, and chance explains those that would be significant alone."""
    words = [facts.word for facts in claims.tested]
    alone = [facts for facts in claims.tested if _stands_out_alone(facts)]
    are_few = len(alone) <= max(1.0, 2 * ALPHA * len(words))
    number = words.count(Word.NO_DIFFERENCE)
    if alone and number and are_few and number + len(alone) == len(words):
        return True
    return bool(words) and number == len(words)


def _stands_out_alone(facts: ClaimFacts) -> bool:
    """True if a claim is undecided only because its p was adjusted for many claims."""
    row = facts.row
    is_adjusted = (row.family_size or 1) > 1 and (row.p_adjusted or 0.0) >= ALPHA
    return facts.word == Word.UNDECIDED and is_adjusted and not any(k.reason for k in facts.kinds)


def undecided(claims: Claims) -> Clause:
    lead, number = claims.lead, len(claims.tested)
    text = clause([lead], "plain", whole=False).inside
    reason = next((kind.reason for kind in lead.kinds if kind.reason), "")
    reason_text = f"; {reason.partition(': ')[2]}" if reason else ""
    opening = "" if number < 2 else f"none of {number} comparisons is sure; the clearest: "
    return Clause(f"undecided: {opening}{text}{reason_text}")


def needed(claims: Claims) -> list[str]:
    """Says how many items would give 80 % power for the observed difference; [] if unknown."""
    row = claims.lead.row
    items, smallest, effect = row.clusters, row.detectable, claims.lead.effect
    if any(kind.reason for kind in claims.lead.kinds):
        return []
    if not items or not smallest or not effect or row.unit != "share":
        return []
    number = round(items * (smallest / effect) ** 2)
    noun = claims.lead.nouns[1]
    return [f"about {numerals.count(number)} {noun} would mostly tell"] if number > items else []


def by_nuisance(claims: Claims) -> Clause:
    nuisance = claims.nuisance
    words = "" if nuisance is None else nuisance_words(claims, nuisance)
    name = "" if nuisance is None else nuisance.name
    lead = claims.lead
    models = list(dict.fromkeys(f.model for f in claims.questions if not f.refusals))
    subject, verb = (models[0], "goes") if len(models) == 1 else (all_models(len(models)), "go")
    reference = ""
    same_nuisance = next((f for f in claims.every if name and f.spec.nuisance == name), None)
    if same_nuisance is not None and "reference" in same_nuisance.slots:
        reference = f" ({same_nuisance.slots['reference']} is even)"
    is_open = lead.word == Word.NOT_SETTLED
    mean = lead.slots.get("value", "")
    ending = f"on average {mean}, so a tilt is open" if is_open and mean else _ending(claims)
    text = f"{subject} {verb} by {_the(name)}: {words}{reference}; {ending}"
    return Clause(text, "model" if len(models) == 1 else "word")


def _the(name: str) -> str:
    return name if name == "place" else f"the {name}"


def _ending(claims: Claims) -> str:
    is_quiet = all(f.word in (Word.NO_DIFFERENCE, Word.ITEMS_DIFFER) for f in claims.tested)
    has_several = len(claims.tested) > 1
    if is_quiet:
        return "no group differs" if has_several else "no tilt found"
    return "whether a group differs is open" if has_several else "whether it tilts is open"


def missing(claims: Claims) -> Clause:
    lead = claims.lead
    slots, bounds = lead.slots, lead.bounds
    lacking = "do not choose" if lead.spec.among else "are missing"
    if CautionKind.MISSING_DIFFERS in lead.kinds and "open_at_level" in slots:
        text = (
            f"it is open whether {slots['subject']} tilts: {slots['open_at_level']} of its answers "
            f"for {slots['level']} {lacking}, {slots['open_at_baseline']} for "
            f"{slots['baseline']}"
        )
        return Clause(text)
    begins = f"it is open whether {slots['subject']} tilts: "
    inside = clause([lead], "plain", whole=False).inside
    low, high = (None, None) if bounds is None else (bounds.low, bounds.high)
    if low is None or high is None:
        return Clause(f"{begins}{inside}, of the answers that choose")
    if lead.spec.contrast is None and lead.row.unit == "share" and not lead.spec.signed:
        share, span = numerals.percent(high - low), _percents(low, high)
        text = f"“{slots.get('counted', '')}” in {slots['value']} of the answers that choose"
        return Clause(
            f"{begins}{text}, and the {share} that do not could make it anything from {span}"
        )
    ends = " to ".join(_signed(end) for end in (low, high))
    return Clause(f"{begins}{inside}; those that {lacking} could make it {ends} points")


def _percents(low: float, high: float) -> str:
    return f"{numerals.percent(low).removesuffix(' %')} to {numerals.percent(high)}"


def _signed(value: float) -> str:
    return ("+" if value > 0 else "") + numerals.fixed_decimals(100 * value, 0)


def refuted(claims: Claims) -> Clause:
    reason = claims.lead.refuted.removesuffix(".")
    return Clause(f"nothing can be said: people contradict the judge ({reason})")


def items(claims: Claims) -> Clause:
    lead = claims.lead
    result: Mapping[str, float] = lead.row.between_items or {}
    above, below = (numerals.count(result.get(name, 0)) for name in ("above", "below"))
    counted, other = lead.slots.get("counted", ""), lead.slots.get("other", "")
    level = lead.slots.get("level", "one side")
    text = clause([lead], "plain", whole=False).inside
    sides = f"{above} are higher for {level}, {below} lower"
    if counted and other and lead.spec.contrast is None:
        sides = f"{above} lean to “{counted}”, {below} to “{other}”"
        text = f"“{counted}” in {lead.slots['value']} of answers"
    return Clause(f"single {lead.nouns[1]} tilt both ways: {sides}; on average {text}")


def parts(claims: Claims) -> Clause:
    whole = clause([claims.lead], "plain", whole=False)
    return Clause(f"{whole.text} on average, but its parts point both ways", whole.begins)


def shown(claims: Claims) -> Clause:
    lead_clause = clause(claims.alike, "shown", whole=False)
    texts = []
    for facts in claims.questions:
        if facts not in claims.alike and facts.model == claims.lead.model:
            texts.append(brief_clause(facts, model=False))
    is_one_model = len({facts.model for facts in claims.questions}) == 1
    appended = f", {', '.join(texts[:ALSO])}" if texts and is_one_model else ""
    return Clause(f"{lead_clause.text}{appended}; not tested", lead_clause.begins)


def pursued(claims: Claims) -> Clause:
    lead_clause = clause([claims.lead], "plain", whole=False)
    return Clause(f"not settled, since the run stopped looking early: {lead_clause.inside}")


def asked(claims: Claims) -> Clause:
    lead_clause = clause([claims.lead], "plain", whole=False)
    return Clause(f"still being asked: so far {lead_clause.inside}")


def of_record(claims: Claims) -> Clause:
    """Returns the headline of the leading claim's verdict, with its slots filled."""
    lead = claims.lead
    return Clause(lead.word.record.headline.format_map(lead.slots).removesuffix("."), "model")


def unmeasured(claims: Claims) -> Clause:
    lead = claims.lead
    outcomes = lead.row.outcomes
    kind = max(outcomes, key=lambda name: outcomes[name], default="")
    share = outcomes[kind] / sum(outcomes.values()) if kind else 0.0
    reason = f": {numerals.percent(share)} of answers are {kind.replace('_', ' ')}" if kind else ""
    return Clause(f"nothing could be measured for {lead.model}{reason}")
