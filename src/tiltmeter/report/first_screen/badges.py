"""Makes a first screen's badges: verdicts, reversals, share of non-answers, people's checks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ... import gold
from ...analyse.claims import cut_replies
from ...analyse.claims.output_query import query_of
from ...analyse.claims.verdicts import Verdict
from ...analyse.stopping.progress import read_progress
from ...analyse.words import headlines, numerals, sentences
from ...analyse.words.first_sentence.facts import Strength
from ...analyse.words.verdict_words import BY_WEIGHT, Word
from ...gold import majority
from ...languages.pack import pack
from ...languages.quotes import facts
from ...protocol import Protocol, wording
from ...protocol.design.thin_design import cues_not_asked, thin_design
from ...store import Store
from ...store.queries import endpoints, labels
from ..page_model.page import Badge
from .ranking import effect_of, leading
from .summary import Missing

SIMULATED = ("planted:", "planted-rewriter:")  # begin the names of models of known tilt
NAMED = 3  # claims that a badge names
LEVELS = 4  # of a factor that have a badge each
MUCH_UNREAD = 0.05  # of the answers, from which it is said
MOST = 7  # for which the first screen has room


def badges(
    store: Store, protocol: Protocol, judged: Sequence[Verdict], missing: Missing
) -> tuple[Badge, ...]:
    """Returns the badges of verdicts, then badges of facts that qualify all verdicts. If there are
    too many, drops the last verdicts' badges: the table has verdicts but not those facts.
    """
    rest = tuple(_qualifying_badges(store, protocol, judged, missing))
    verdicts = tuple(_verdict_badges(protocol, judged))
    return verdicts[: max(1, MOST - len(rest))] + rest


def simulated(subjects: Sequence[str]) -> str:
    """Returns the note that some models are simulated; "" if no model is."""
    planted = [name for name in subjects if name.startswith(SIMULATED)]
    if not planted:
        return ""
    if len(planted) < len(subjects):
        return f"{len(planted)} of these models are simulated, for testing"
    if len(planted) == 1:
        return "A simulated model, for testing"
    return f"{len(planted)} simulated models, for testing"


def _qualifying_badges(
    store: Store, protocol: Protocol, judged: Sequence[Verdict], missing: Missing
) -> Iterator[Badge]:
    told = [(one, caution.factor) for one in judged for caution in one.cautions]
    for one, factor in [pair for pair in told if pair[1] in protocol.factors][:1]:
        effect = next(row for name, row, _ in one.claim.nuisances if name == factor)
        size = headlines.amount(effect.value, effect.unit, True)
        query = query_of(protocol, effect).text()
        yield Badge("tilt", f"▲ {factor} effect {size}", query=query)
    tilts = [one for one in judged if one.nuisance and one.word == Word.TILT]
    for one in sorted(tilts, key=lambda one: -effect_of(one))[:1]:
        size = headlines.amount(one.value, one.unit, False)
        yield Badge("tilt", f"▲ {one.nuisance}: {size}", query=one.query.text())
    stopped = read_progress(store)
    if stopped is not None and stopped.made:
        yield Badge("plain", stopped.badge(), "#looks-figure")
    thin = thin_design(protocol)
    if thin:
        no_cue = cues_not_asked(protocol)
        yield Badge("open", "! cue not in the prompt" if no_cue else "! thin design", "#limits")
    counts = cut_replies.count_cut(store, protocol)
    cut = max((cut_replies.share_of(one.claim.row, counts) for one in judged), default=0.0)
    if cut > cut_replies.SOME:
        yield Badge("open", f"! {numerals.percent(cut)} of replies cut", "#limits")
    hidden = endpoints.hidden_prompts(store)
    if any(one.subject in hidden for one in judged):
        yield Badge("open", "! hidden system prompt", "#limits")
    if missing.unread >= MUCH_UNREAD:
        unread = f"! {numerals.percent(missing.unread)} not read"
        without = f": no words of {' and '.join(names)}" if (names := _wordless(protocol)) else ""
        yield Badge("open", f"{unread}{without}", query=missing.unread_query)
    headline, in_all = _missing_of_headline(judged), (missing.share, missing.query)
    share, query = headline or in_all
    if share:
        yield Badge("plain", f"{share} no answer{'' if headline else ' in all'}", query=query)
    if labels.exist(store):
        attributes = {one.claim.spec.attribute for one in judged}
        by_people = attributes & {*majority.attributes_by_people(store, protocol)}
        if by_people:
            yield _people_badge(*majority.people_and_alpha(store, min(by_people)))
        else:
            yield _checked_badge(len(gold.annotators(store)))


def _missing_of_headline(judged: Sequence[Verdict]) -> tuple[str, str] | None:
    """Returns the share of answers that count neither way, as its caution says it, and the query
    for them, if the run has one headline claim; else None.
    """
    claims = [one.claim for one in judged if not one.nuisance]
    if len(claims) != 1 or claims[0].bounds is None:
        return None
    kinds = sentences.kinds_of_missing(claims[0].spec, claims[0].bounds)
    query = replace(claims[0].query, values=tuple(kinds), among=()).text()
    return (numerals.percent(sum(kinds.values())), query) if kinds else None


def _wordless(protocol: Protocol) -> list[str]:
    """Returns the names of languages without a word pack, whose sentences cannot be read."""
    own = {code for spec in protocol.instruments for code in spec.settings.get("languages", ())}
    codes = [code for code in protocol.languages if code not in own and not pack(code).words]
    return [facts(code).name for code in codes]


def _checked_badge(people: int) -> Badge:
    """Makes the badge on people's checks of the labels; for one person, it has no tick."""
    if people == 0:
        return Badge("open", "! labels not checked by people")
    one = "labels compared with one person"
    return Badge("plain", one if people == 1 else "✓ labels compared with people")


def _people_badge(people: int, alpha: float | None) -> Badge:
    """Makes the badge on labels that people gave, which nothing else checks."""
    if people == 1:
        return Badge("open", "labels by one person")
    agree = "none labelled by two" if alpha is None else f"α {numerals.fixed_decimals(alpha, 2)}"
    weak = alpha is None or alpha < majority.WEAK
    return Badge("open" if weak else "plain", f"labels by {people} people, {agree}")


def _verdict_badges(protocol: Protocol, judged: Sequence[Verdict]) -> Iterator[Badge]:
    """Yields a badge per level of the protocol's `badges` factor, else per verdict and strength."""
    factor = protocol.first.get("badges", "")
    levels = [*filter(None, dict.fromkeys(one.condition.get(factor, "") for one in judged))]
    if factor and 1 < len(levels) <= LEVELS:
        for level in levels:
            of_level = [one for one in judged if one.condition.get(factor) == level]
            top = leading(of_level)
            if top is not None:
                same = [one for one in of_level if one.word == top.word]
                of = f", {len(same)} of {len(of_level)}" if len(of_level) > 1 else ""
                grade = max(_grades(same), key=list(Strength).index, default="")
                about = f"{wording.title(protocol, factor, level)}: {grade or _text(top.word)}{of}"
                yield _badge(top.word, about, judged, same)
        return
    questions = [one for one in judged if not one.nuisance]
    following = [one for one in questions if _follows(one)]
    for word in BY_WEIGHT:
        for grade in [each.value for each in reversed(Strength)] if word == Word.TILT else [""]:
            same = [
                one
                for one in questions
                if one.word == word and one.strength == grade and not _follows(one)
            ]
            if same:
                text = f"{grade or _text(word)}{_names_text(questions, same)}"
                yield _badge(word, text, judged, same)
    if following:
        rows = _rows(judged, following)
        text = f"follows{_names_text(questions, following)}"
        yield Badge("plain", text, f"#finding-{rows[0]}", "", rows)


def _follows(one: Verdict) -> bool:
    return one.facts.follows and one.word == Word.TILT


def _rows(judged: Sequence[Verdict], own: Sequence[Verdict]) -> tuple[int, ...]:
    """Returns the rows of some verdicts in the table of all, from 1."""
    return tuple(n for n, one in enumerate(judged, 1) if any(one is other for other in own))


def _grades(same: Sequence[Verdict]) -> list[Strength]:
    """Returns the strengths of the verdicts that have one."""
    return [Strength(one.strength) for one in same if one.strength]


def _text(word: Word) -> str:
    return word.record.badge or word.chip


def _badge(word: Word, text: str, judged: Sequence[Verdict], own: Sequence[Verdict]) -> Badge:
    """Makes a badge that links to the outputs of its only claim, or to the rows of its claims."""
    query = own[0].query.text() if len(own) == 1 else ""
    grade = max(_grades(own), key=list(Strength).index, default=None)
    kind = "clear" if grade is Strength.CLEAR else "weak" if grade is Strength.WEAK else ""
    rows = _rows(judged, own)
    text = f"{word.symbol} {text}"
    kinds = f"{word.record.look.colour} {kind}".rstrip()
    return Badge(kinds, text, f"#finding-{rows[0]}", query, rows)


def _names_text(judged: Sequence[Verdict], same: Sequence[Verdict]) -> str:
    if len(judged) == 1:
        return ""
    names = [name for one in same if (name := _name(judged, one))]
    if len(same) <= NAMED and len({*names}) == len(same) and sum(map(len, names)) < 60:
        return f": {', '.join(names)}"
    return f": {len(same)} of {len(judged)}"


def _name(judged: Sequence[Verdict], one: Verdict) -> str:
    """Returns a short name that distinguishes a claim from the others."""
    slots, row = one.claim.slots, one.claim.row
    subjects = {other.subject for other in judged}
    parts = [slots["subject"]] if len(subjects) > 1 else []
    differ = [
        name
        for name in row.condition
        if len({other.claim.row.condition.get(name) for other in judged}) > 1
    ]
    parts += [slots[name] for name in differ if name in slots]
    contrasts = {str(other.claim.row.contrast) for other in judged}
    if "level" in slots and len(contrasts) > 1:
        bases = {other.claim.slots.get("baseline") for other in judged}
        against = f" against {slots['baseline']}" if len(bases) > 1 else ""
        parts.append(slots["level"] + against)
    return " ".join(parts)
