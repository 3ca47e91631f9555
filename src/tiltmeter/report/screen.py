"""The first screen: in ten seconds, whether it tilts, which way, how far and how sure.

It leads with the claim that weighs most (a refuted judge, then what is not settled, then the
largest tilt), in the words of the protocol.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from .. import gold
from ..analyse import headlines, numerals, reading, sentences
from ..analyse.evidence import Claim
from ..analyse.model_labels import short_names
from ..analyse.queries import query_of
from ..analyse.verdicts import Verdict, Word
from ..protocol import Protocol, wording
from ..protocol.thin_design import thin_design
from ..store import Store
from ..store.queries import labels
from . import same_prompt
from .audits import Audit
from .figures.first import first_figure
from .model import Badge, Screen

LEDE_CHARACTERS = 360  # for which the first screen has room
BADGES = 6
SIMULATED = ("planted:", "planted-rewriter:")  # begin the names of models of known tilt
NAMED = 3  # claims that a badge names
LEVELS = 4  # of a factor that have a badge each
CAUTION = (
    "What not to conclude: another wording, language, version or day can give another number, and "
    "a tilt says that outputs change with the cue, not why, nor which would be right."
)
# how a claim weighs, the heaviest first
ORDER = (
    Word.JUDGE_REFUTED,
    Word.NOT_SETTLED,
    Word.TILT,
    Word.UNDECIDED,
    Word.NO_TEST,
    Word.NO_DIFFERENCE,
    Word.NOT_MEASURED,
)
KINDS = {
    Word.TILT: ("tilt", "▲", "tilt found"),
    Word.NOT_SETTLED: ("open", "⇅", "direction not settled"),
    Word.JUDGE_REFUTED: ("open", "✕", "judge refuted by people"),
    Word.UNDECIDED: ("open", "◇", "borderline"),
    Word.NO_DIFFERENCE: ("none", "○", "no difference found"),
    Word.NO_TEST: ("plain", "·", "measured, not tested"),
    Word.NOT_MEASURED: ("plain", "—", "not measured"),
}


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim with what is said of it."""

    claim: Claim
    verdict: Verdict

    @property
    def word(self) -> Word:
        """Its verdict in a word."""
        return self.verdict.word

    @property
    def effect(self) -> float:
        """How far from no tilt, in the unit of the measure; ratios by their logarithm."""
        row, null = self.claim.row, self.claim.spec.null or 0.0
        if row.value is None:
            return 0.0
        if row.unit in numerals.RATIOS:
            return max(row.value, 1 / row.value) - 1 if row.value > 0 else 1.0
        return abs(row.value - null)


def screen(
    store: Store,
    audit: Audit | None,
    judged: Sequence[Judged],
    about: tuple[str, str, str],
    missing: str,
    named: Mapping[str, str] | None = None,
) -> Screen:
    """about: (title, date, what was asked); missing: how much was no answer; named: {model: short
    name}, where somebody gave one.
    """
    protocol = audit.protocol if audit else None
    subjects = list(dict.fromkeys(row.subject for row in audit.estimates)) if audit else []
    names = short_names([name for name in subjects if " + " not in name], named)
    lead = leading(judged)
    line = tuple(_with_short(part, names) for part in about if part)
    told = tuple((short, name) for name, short in names.items())
    if audit is None or protocol is None or lead is None:
        return Screen(line, told, "Nothing was measured yet.", (), (), None, None, CAUTION)
    lede = tuple(_lede(judged, lead))
    return Screen(
        line=line,
        names=told,
        headline=headline(judged, lead),
        lede=tuple(text for text, _ in lede),
        badges=tuple(_badges(store, protocol, judged, missing))[:BADGES],
        figure=first_figure(audit, names, _tilted_levels(protocol, judged)),
        prompt=same_prompt.same_prompt(
            store,
            protocol,
            _subject(lead, subjects),
            lead.claim.row.condition,
            _levels(protocol, judged),
        ),
        caution=CAUTION,
        queries=tuple(query for _, query in lede),
    )


def _with_short(text: str, names: Mapping[str, str]) -> str:
    for name, short in names.items():
        text = text.replace(name, short)
    return text


def _subject(lead: Judged, subjects: Sequence[str]) -> str:
    """The model whose outputs are shown: of a claim over several, the first."""
    name = lead.claim.row.subject
    return name if name in subjects and " + " not in name else name.split(" + ")[0]


def leading(judged: Sequence[Judged]) -> Judged | None:
    """The claim that weighs most; of equal verdicts that of the earlier measure, then the largest
    effect.
    """
    if not judged:
        return None
    measures = list(dict.fromkeys(one.verdict.measure for one in judged))
    return min(
        judged,
        key=lambda one: (
            ORDER.index(one.word),
            measures.index(one.verdict.measure),
            -one.effect,
        ),
    )


def headline(judged: Sequence[Judged], lead: Judged) -> str:
    """The sentence of the leading claim; of several models, how many tilt."""
    words = [one.word for one in judged]
    if len(judged) > 2 and set(words) <= {Word.NO_DIFFERENCE, Word.NO_TEST}:
        tested = words.count(Word.NO_DIFFERENCE)
        if tested:
            return f"No difference was found at this n in any of {tested} comparisons."
    sentence = lead.verdict.headline
    subjects = dict.fromkeys(one.verdict.subject for one in judged)
    tilting = {one.verdict.subject for one in judged if one.word == Word.TILT}
    if len(subjects) > 1 and lead.word == Word.TILT:
        return f"{sentence} {len(tilting)} of {len(subjects)} models tilt."
    return sentence


def _lede(judged: Sequence[Judged], lead: Judged) -> Iterator[tuple[str, str]]:
    """The number with its uncertainty, what else was found, and what was not and how small it could
    be, each with the query of the outputs of its number; as far as there is room.
    """
    room = LEDE_CHARACTERS
    own = lead.verdict.query.text()
    of_lead = [(text, own) for text in _of_lead(lead)]
    cautions = [(text, "") for text in _cautions(lead)]
    for text, query in (*of_lead, *cautions, *_others(judged, lead)):
        if text and (room == LEDE_CHARACTERS or len(text) <= room):
            room -= len(text)
            yield text, query


def _of_lead(lead: Judged) -> Iterator[str]:
    claim, row = lead.claim, lead.claim.row
    slots = claim.slots
    if row.value is None:
        yield (
            sentences.no_answers(row) if row.outcomes else f"{row.note or 'No reason was stored'}."
        )
        return
    if "share_interval" in slots and lead.word == Word.TILT:
        yield (
            f"{reading.title(slots['changed'])}: {slots['share']}{slots['share_interval']} against "
            f"{slots['other_share']}{slots['other_interval']} (in brackets: 95 % intervals)."
        )
        yield f"{_shortened(claim)}: {reading.number(row, claim.spec)}, {sentences.chance(row)}."
        return
    null = slots.get("reference")
    level = f"{100 * row.confidence:g} % interval" if row.confidence and row.low is not None else ""
    rest = "; ".join(filter(None, (level, f"{null} is no tilt" if null else "", _chance(lead))))
    yield f"{_shortened(claim)}: {slots['value']} {slots['interval']}".rstrip() + f" ({rest})."


def _cautions(lead: Judged) -> Iterator[str]:
    """What is to be minded where the lede tells the number alone."""
    known = lead.claim.row.value is not None
    if known and not ("share_interval" in lead.claim.slots and lead.word == Word.TILT):
        yield from (caution.text for caution in lead.verdict.cautions)


def _chance(lead: Judged) -> str:
    """p, without how it was adjusted; "" where a caution says it."""
    said = any(caution.code == "borderline" for caution in lead.verdict.cautions)
    known = lead.claim.row.p is not None and not said
    return sentences.chance(lead.claim.row).partition(" (")[0] if known else ""


def _shortened(claim: Claim) -> str:
    """The measure in words, without what stands in brackets."""
    text = reading.title((claim.spec.text or claim.spec.name).partition(" (")[0])
    return text if len(text) <= wording.LONGEST_TEXT else f"{text[: wording.LONGEST_TEXT - 1]}…"


def _others(judged: Sequence[Judged], lead: Judged) -> Iterator[tuple[str, str]]:
    """The strongest of the others, those first in which something else moved; then what was not
    found.
    """
    same = [one for one in judged if one.word == lead.word and one is not lead]
    if lead.word in (Word.TILT, Word.NO_TEST):
        ranked = sorted(same, key=lambda one: (_alike(one, lead), -one.effect))
        for one in list({one.verdict.headline: one for one in reversed(ranked)}.values())[::-1]:
            if one.verdict.headline != lead.verdict.headline:
                yield (
                    f"{one.verdict.headline.removesuffix('.')}{_number(one)}.",
                    one.verdict.query.text(),
                )
                break
    quiet = [one for one in judged if one.word == Word.NO_DIFFERENCE and one is not lead]
    if lead.word == Word.NO_DIFFERENCE:
        smallest = _smallest([lead, *quiet]).removeprefix("; ")
        yield (f"{reading.title(smallest)}." if smallest else ""), ""
    elif quiet:
        which = f"{len(quiet)} of {len(judged)} comparisons"
        told = "the other comparison" if len(judged) == 2 else which
        yield f"In {told} no difference was found{_smallest(quiet)}.", ""


def _alike(one: Judged, lead: Judged) -> tuple[bool, bool]:
    """False for what is told first: another value that moved, of the same measure."""
    own, first = one.claim.slots, lead.claim.slots
    moved = own.get("changed", own.get("counted")) == first.get("changed", first.get("counted"))
    return moved, one.verdict.measure != lead.verdict.measure


def _number(one: Judged) -> str:
    found = one.claim.slots.get("interval", "")
    return f" {found}" if found else ""


def _smallest(quiet: Sequence[Judged]) -> str:
    """How small a difference could have been and mostly be found, where all are of one unit."""
    rows = [one.claim for one in quiet if one.claim.row.detectable is not None]
    if not rows or len({claim.row.unit for claim in rows}) > 1:
        return ""
    worst = max(rows, key=lambda claim: claim.row.detectable or 0.0)
    smallest = reading.detectable(worst.row, worst.spec, 2)
    if smallest == "none":
        return "; so few items could not have shown any"
    if worst.row.unit not in numerals.RATIOS:
        smallest = headlines.amount(worst.row.detectable, worst.row.unit, True).lstrip("+")
    return f"; {reading.detectable_noun(worst.row.unit)}: {smallest}"


def _badges(
    store: Store, protocol: Protocol, judged: Sequence[Judged], missing: str
) -> Iterator[Badge]:
    yield from _verdict_badges(protocol, judged)
    for one in judged:
        for caution in one.verdict.cautions:
            factor = caution.code.partition("_effect")[0].partition("_reverses")[0]
            if factor != caution.code and factor in protocol.factors:
                effect = next(row for name, row, _ in one.claim.nuisances if name == factor)
                size = headlines.amount(effect.value, effect.unit, True)
                query = query_of(protocol, effect).text()
                yield Badge("tilt", f"▲ {factor} effect {size}", query=query)
                break
        else:
            continue
        break
    if thin_design(protocol):
        yield Badge("open", "! thin design", "#limits")
    if missing:
        yield Badge("plain", f"{missing} no answer")
    if any(one.verdict.subject.startswith(SIMULATED) for one in judged):
        yield Badge("plain", "simulated model")
    if labels.exist(store):
        checked = gold.has_gold(store)
        yield Badge(
            "plain" if checked else "open",
            "✓ labels compared with people" if checked else "! labels not checked by people",
        )


def _verdict_badges(protocol: Protocol, judged: Sequence[Judged]) -> Iterator[Badge]:
    """A badge a level of the factor that the protocol names, else one a verdict."""
    factor = protocol.first.get("badges", "")
    levels = list(dict.fromkeys(one.claim.row.condition.get(factor, "") for one in judged))
    if factor and 1 < len([level for level in levels if level]) <= LEVELS:
        for level in filter(None, levels):
            own = [one for one in judged if one.claim.row.condition.get(factor) == level]
            top = leading(own)
            if top is not None:
                kind, symbol, text = KINDS[top.word]
                number = [one.word for one in own].count(top.word)
                of = f", {number} of {len(own)}" if len(own) > 1 else ""
                yield Badge(
                    kind,
                    f"{symbol} {wording.title(protocol, factor, level)}: {text}{of}",
                    "#findings",
                    top.verdict.query.text() if len(own) == 1 else "",
                )
        return
    for word in ORDER:
        same = [one for one in judged if one.word == word]
        if same:
            kind, symbol, text = KINDS[word]
            query = same[0].verdict.query.text() if len(same) == 1 else ""
            yield Badge(kind, f"{symbol} {text}{_which(judged, same)}", "#findings", query)


def _which(judged: Sequence[Judged], same: Sequence[Judged]) -> str:
    if len(judged) == 1:
        return ""
    names = [name for one in same if (name := _name(judged, one))]
    if len(same) <= NAMED and len(names) == len(same) and sum(map(len, names)) < 60:
        return f": {', '.join(names)}"
    return f": {len(same)} of {len(judged)}"


def _name(judged: Sequence[Judged], one: Judged) -> str:
    """What tells a claim from the others, in short."""
    slots, row = one.claim.slots, one.claim.row
    subjects = {other.verdict.subject for other in judged}
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


def _tilted_levels(protocol: Protocol, judged: Sequence[Judged]) -> set[str]:
    """Titles of the levels of the cue for which a tilt was found."""
    cue = same_prompt.cue_factor(protocol)
    return {
        wording.title(protocol, cue, one.claim.row.condition[cue])
        for one in judged
        if one.word == Word.TILT and cue in one.claim.row.condition
    }


def _levels(protocol: Protocol, judged: Sequence[Judged]) -> list[str]:
    """Levels of the cue to show: the base of the contrast, then those that tilt most."""
    cue = same_prompt.cue_factor(protocol)
    lead = leading(judged)
    if lead is None:
        return []
    contrast = lead.claim.spec.contrast or {}
    base = contrast.get("baseline", "") if contrast.get("factor") == cue else ""
    tilts = sorted((one for one in judged if one.word == Word.TILT), key=lambda one: -one.effect)
    own = [one.claim.row.condition.get(cue, "") for one in tilts]
    told = (lead.claim.row.contrast or {}).get(cue, "").split(f" {numerals.MINUS} ")
    return [level for level in dict.fromkeys([base, *reversed(told), *own]) if level]
