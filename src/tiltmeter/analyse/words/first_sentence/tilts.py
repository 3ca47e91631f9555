"""The leads of runs in which something tilts, and the exceptions that follow them."""

from __future__ import annotations

from collections.abc import Sequence

from ....protocol.design.thin_design import NO_CUE
from ....stats.results import count_of
from .. import numerals
from ..verdict_words import Word
from .claims import Claims
from .clauses import (
    CONDITIONS,
    NAMED,
    Clause,
    brief_clause,
    clause,
    fits,
    is_tested,
    join_names,
    numbers,
)
from .facts import ClaimFacts, Nuisance, Strength, strength

ALSO = 2  # claims that are told behind the leading one
FAR = 3  # times as large as the largest tilt: a nuisance matters far more


def together(claims: Claims) -> Clause:
    return clause(claims.tilting, asked=len(claims.models))


def in_places(claims: Claims) -> Clause:
    """Writes `in 8 of 9 languages …`, with the numbers of the pooled claim, if the run has one."""
    tilting, alike = claims.tilting, claims.alike
    number = f"{len(tilting)} of {len(alike)}"
    if len(tilting) == len(alike):
        number = "both" if len(alike) == 2 else f"all {len(alike)}"
    template = str(claims.lead.spec.sentence.get("strata", ""))
    pooled = claims.overall if len(tilting) == len(alike) else ()
    inside = clause(pooled or tilting, "places").inside
    if template and claims.overall and fits(template, claims.overall[0].slots):
        inside = template.format_map(claims.overall[0].slots)
    comma = "," * inside.startswith(CONDITIONS)
    return Clause(f"in {number} {_noun(alike)}{comma} {inside}")


def _noun(alike: Sequence[ClaimFacts]) -> str:
    """Names the things in which claims differ: `languages`, `model–language pairs`, `groups`."""
    names = [
        name
        for name in dict.fromkeys(name for facts in alike for name, _ in facts.place)
        if len({dict(facts.place).get(name) for facts in alike}) > 1
    ]
    if len({facts.model for facts in alike}) > 1:
        return f"model–{names[0]} pairs" if len(names) == 1 else "comparisons"
    return f"{names[0].replace('_', ' ')}s" if len(names) == 1 else "groups"


def by_labeller(claims: Claims) -> Clause:
    """Writes each annotator's result for the leading claim, on which annotators disagree."""
    facts_by_labeller = [claims.lead, *claims.contradicting]
    names = [facts.row.instrument for facts in facts_by_labeller]
    names_short = [name.partition("@")[0] for name in names]
    labels = names_short if len({*names_short}) == len(names_short) else names
    labellers = [
        f"by {label} {strength(facts.row) if facts.tilts else facts.word} ({also_numbers(facts)})"
        for label, facts in zip(labels[1:], facts_by_labeller[1:], strict=True)
    ]
    text = clause([claims.lead], whole=False).inside
    return Clause(f"it hangs on who labels: by {labels[0]} {text}; {join_names(labellers)}")


def uncued(claims: Claims) -> Clause:
    factor = claims.lead.uncued
    return Clause(f"{NO_CUE}: it is the same for all levels of {factor}")


def opposite(claims: Claims) -> Clause:
    """Writes that models tilt to opposite sides: `A …, B does the reverse (…)`."""
    same_way = [f for f in claims.tilting if f.above == claims.lead.above]
    others = [f for f in claims.tilting if f.above != claims.lead.above]
    main, reference = clause(same_way, whole=False), claims.lead.slots.get("reference", "")
    texts: list[str] = []
    for facts in others[:NAMED]:
        name, model = place_name(facts, claims.alike), "" if texts else facts.model
        verb = " does" if name == model else ""
        texts.append(f"{name}{verb}{' the reverse' * (not texts)} ({also_numbers(facts)})")
    spec = claims.lead.spec
    is_share = spec.contrast is None and not spec.reference and reference
    ending = f"; {reference} would be even" if is_share else ""
    place = _place_words(claims.lead, claims.alike)
    if len(same_way) == 1 and place and not any(title in main.text for title in place):
        main = Clause(f"in {' '.join(place)}, {main.inside}")
    return Clause(f"{main.text}; {join_names(texts)}{ending}", main.begins)


def also_numbers(facts: ClaimFacts) -> str:
    """Returns both raw numbers of a claim, or only its share if it is compared with a reference."""
    if "share" in facts.slots:
        reference = facts.spec.reference  # the other is the same for all
        return facts.slots["share"] if reference else numbers(facts).replace(" against", " and")
    return facts.slots.get("value", numerals.NOTHING)


def few(claims: Claims) -> Clause:
    """Writes the leading claim, after its language or group if the claim exists for several."""
    lead = claims.lead
    lead_clause = clause([lead])
    place = _place_words(lead, claims.alike)
    if not place or any(title in lead_clause.text for title in place):
        return lead_clause
    place_text = " ".join(f"in {title}" if n == 0 else title for n, title in enumerate(place))
    return Clause(f"{place_text}, {lead_clause.inside}")


def others(claims: Claims) -> list[str]:
    """Lists the clauses after the lead: other tilts, models without a tilt, unsettled claims."""
    spoken = [*claims.tilting, *(claims.overall if claims.places > 1 else ())] or [claims.lead]
    is_pooled = claims.places > 1  # a claim over all places says the same again
    rest = [
        facts
        for facts in claims.questions
        if facts not in spoken and is_tested(facts) and not (is_pooled and facts.spec.over)
    ]
    agreeing = [facts for facts in rest if _is_same_claim(facts, claims.lead)]
    tilts = [f for f in rest if f.tilts and not f.follows and f not in agreeing]
    texts: dict[str, None] = {}
    is_silent = any(facts.follows for facts in rest)
    has_several_models = len({facts.model for facts in claims.questions}) > 1
    first = claims.lead.spec.name
    for facts in sorted(tilts, key=lambda f: (f.spec.name != first, -f.effect)):
        if numbers_of(facts) not in {numbers_of(one) for one in spoken}:
            is_other_value = facts.slots.get("counted") != claims.lead.slots.get("counted")
            texts.setdefault(brief_clause(facts, model=has_several_models, counted=is_other_value))
        else:
            is_silent = True
    lines = []
    if texts:
        more = len(texts) - ALSO
        end = f" and {more} more" if more > 0 else ""
        lines.append(f"also {'; '.join(list(texts)[:ALSO])}{end}")
    if agreeing:
        noun = "another annotator" if len(agreeing) == 1 else f"{len(agreeing)} other annotators"
        lines.append(f"so also by {noun} ({join_names([also_numbers(f) for f in agreeing])})")
    if any(facts.follows for facts in rest):
        lines.append("the rest follows")
    if has_several_models:
        lines += _models_without(claims)
    lines += exceptions(claims)
    return [*lines, *_not_found([facts for facts in rest if not facts.tilts], claims, is_silent)]


def only_weak(claims: Claims, spoken: Sequence[ClaimFacts]) -> list[str]:
    """Lists which of several tilting claims have only weak signs."""
    weak = [f for f in spoken if f.tilts and strength(f.row) is Strength.WEAK]
    names = [place_name(facts, claims.alike) for facts in weak]
    if not weak or len(spoken) < 2 or not all(names):
        return []
    if len(names) > NAMED:
        return [f"only weak signs in {len(names)} of them"]
    return [f"only weak signs: {join_names(names)}"]


def exceptions(claims: Claims) -> list[str]:
    """Lists the items whose share differs from that of all other items together."""
    items = (claims.lead.row.between_items or {}).get("exceptions") or []
    texts = [
        f"{one['item']}, {numerals.count(one['hits'])} of {numerals.count(one['n'])}"
        for one in items
    ]
    return [f"exception{'s' * (len(texts) > 1)}: {'; '.join(texts)}"] if texts else []


def _is_same_claim(facts: ClaimFacts, lead: ClaimFacts) -> bool:
    """True if a claim tilts and equals the leading claim, but for another annotator."""
    key = (facts.spec.name, facts.model, facts.what, facts.place)
    return facts.tilts and key == (lead.spec.name, lead.model, lead.what, lead.place)


def numbers_of(facts: ClaimFacts) -> tuple[str, str, str]:
    """Returns a claim's model and numbers, so that a sentence mentions no cell twice."""
    changed = facts.slots.get("changed", "")
    return facts.model, changed, facts.slots["share"] if changed else also_numbers(facts)


def _models_without(claims: Claims) -> list[str]:
    """Names the models without a tilt; if they are many, counts the models that tilt."""
    models = list(dict.fromkeys(facts.model for facts in claims.questions if is_tested(facts)))
    tilting = {facts.model for facts in claims.tilts}
    names = [name for name in models if name not in tilting]
    if not names or len(names) == len(models):
        return []
    if len(names) > NAMED:
        return [f"{len(tilting)} of {len(models)} models tilt"]
    return [f"no tilt found in {join_names(names)}"]


def _not_found(rest: Sequence[ClaimFacts], claims: Claims, untold: bool) -> list[str]:
    """Names the claims that are not settled. If all are, writes `no other difference found`, or
    nothing if the sentence leaves a tilt unmentioned (`untold`).
    """
    if not rest:
        return []
    open_ = [f for f in rest if f.word not in (Word.NO_DIFFERENCE, Word.ITEMS_DIFFER)]
    names = list(
        dict.fromkeys(filter(None, (place_name(f, [*rest, *claims.tilts]) for f in open_)))
    )
    if not open_:
        return [] if untold else ["no other difference found"]
    spoken = {place_name(facts, [*rest, *claims.tilts]) for facts in claims.tilts}
    if names and len(names) <= NAMED and not spoken & {*names}:
        return [f"not settled: {join_names(names)}"]
    if len(open_) == 1:
        return [f"not settled: {brief_clause(open_[0], model=False, counted=True)}"]
    return [f"{count_of(len(open_), 'other comparison')} not settled"]


def _place_words(facts: ClaimFacts, among: Sequence[ClaimFacts]) -> list[str]:
    """Returns the titles of those of a claim's language, mode and group that vary in `among`."""
    return [
        facts.slots.get(name, level)
        for name, level in facts.place
        if len({dict(one.place).get(name) for one in among}) > 1
    ]


def _what_title(facts: ClaimFacts, name: str, level: str) -> str:
    """Returns the title of the counted value, or of the compared level."""
    is_compared = name in (facts.row.contrast or {})
    return facts.slots.get("level" if is_compared else name, level)


def place_name(facts: ClaimFacts, among: Sequence[ClaimFacts]) -> str:
    """Names a claim by its differences from others: model, compared values, language."""
    model = facts.model if len({one.model for one in among}) > 1 else ""
    place = [
        f"in {title}" if name == "language" else title
        for name, level in facts.place
        if len({dict(one.place).get(name) for one in among}) > 1
        for title in [facts.slots.get(name, level)]
    ]
    what = [
        _what_title(facts, name, level)
        for name, level in facts.what
        if len({dict(one.what).get(name) for one in among}) > 1
    ]
    return " ".join(filter(None, (model, *what, *place)))


def outweighing(claims: Claims) -> str:
    """Writes that a nuisance outweighs every tilt: `; order matters far more: …`; else ""."""
    nuisance = claims.nuisance
    if nuisance is None or not claims.outweighed:
        return ""
    amount = "far more" if nuisance.size >= FAR * claims.largest else "more"
    return f"; {nuisance.name} matters {amount}: {nuisance_words(claims, nuisance)}"


def nuisance_words(claims: Claims, nuisance: Nuisance) -> str:
    of_nuisance = claims.of_nuisance
    if of_nuisance:
        return clause(of_nuisance, whole=False).inside
    if not nuisance.levels:
        return f"{numerals.points(2 * nuisance.size)} between its levels"
    counted = claims.lead.slots.get("counted", "")
    shares = join_names(
        [f"{numerals.percent(share)} ({title})" for title, share in nuisance.levels]
    )
    return f"“{counted}” in {shares}" if counted else shares
