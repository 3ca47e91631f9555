"""The first screen: in ten seconds, whether it tilts, which way, how far and how sure.

It leads with the claim that weighs most (a refuted judge, then what is not settled, then the
largest tilt), in the words of the protocol.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ...analyse.claims.evidence import Claim
from ...analyse.words import headlines, numerals, reading, sentences
from ...analyse.words.caution_kinds import CautionKind
from ...analyse.words.short_model_names import short_names
from ...analyse.words.verdict_words import Word
from ...protocol import Protocol, wording
from ...protocol.design.thin_design import NO_CUE, cues_not_asked
from ...stats.results import ALPHA
from ...store import Store
from ...store.queries import settings
from ..figures.first import first_figure
from ..page_model.audits import Audit
from ..page_model.figures import Figure
from ..page_model.page import Screen
from . import badges, same_prompt
from .ranking import Judged, leading
from .summary import Missing

LEDE_CHARACTERS = 360  # for which the first screen has room
QUIET = (Word.NO_DIFFERENCE, Word.NO_TEST, Word.NOT_MEASURED)  # verdicts that claim nothing
AS_LABELLED = "Labels as they are, before gold corrects the number."
BETWEEN = f" {numerals.MINUS} "  # the ends of a contrast
NO_HEADLINE = "No measure of this protocol is a headline: the numbers stand in the tables."
ONE_ITEM = "One item alone gives neither an interval nor a test."
CAUTION = (
    "What not to conclude: another wording, language, version or day can give another number, and "
    "a tilt says that outputs change with the cue, not why, nor which would be right."
)


def screen(
    store: Store,
    audit: Audit | None,
    judged: Sequence[Judged],
    about: tuple[str, str, str],
    missing: Missing,
    named: Mapping[str, str] | None = None,
    *,
    for_page: bool = True,
) -> Screen:
    """about: (title, date, what was asked); missing: how much was no answer; named: {model: short
    name}, where somebody gave one; for_page: with the figure and the outputs, for which a terminal
    has no room.
    """
    protocol = audit.protocol if audit else None
    subjects = list(dict.fromkeys(row.subject for row in audit.estimates)) if audit else []
    names = short_names([name for name in subjects if " + " not in name], named)
    lead = leading(_together(store, judged) or judged)
    line = tuple(_with_short(part, names) for part in about if part)
    told = tuple((short, name) for name, short in names.items())
    if audit is None or protocol is None or lead is None:
        said = NO_HEADLINE if audit and audit.estimates else "Nothing was measured yet."
        return Screen(line, told, said, (), (), None, None, CAUTION)
    lede = tuple(_lede(protocol, judged, lead))
    shown = Screen(
        line=line,
        names=told,
        headline=headline(protocol, judged, lead),
        lede=tuple(text for text, _ in lede),
        badges=badges.badges(store, protocol, judged, missing),
        figure=None,
        prompt=None,
        caution=CAUTION,
        queries=tuple(query for _, query in lede),
    )
    if not for_page:
        return shown
    cue = same_prompt.cue_factor(protocol, lead.claim.spec)
    return replace(
        shown,
        figure=_figure(audit, names, judged, lead, cue),
        prompt=same_prompt.same_prompt(
            store,
            protocol,
            _subject(lead, subjects),
            lead.claim.row.condition,
            (cue, _levels(judged, lead, cue)),
        ),
    )


def _together(store: Store, judged: Sequence[Judged]) -> list[Judged]:
    """The claims by rules and a judge together: what either says alone stands behind them."""
    known = settings.cascades(store)
    return [one for one in judged if one.claim.row.instrument in known]


def _figure(
    audit: Audit, names: Mapping[str, str], judged: Sequence[Judged], lead: Judged, cue: str
) -> Figure | None:
    """The figure of the protocol. It draws labels as they are, and says so beside a number that
    gold corrects.
    """
    tilted = _tilted_levels(audit.protocol, judged, cue)
    found = first_figure(audit, names, tilted, lead.verdict.measure)
    if found is None or lead.claim.row is lead.claim.raw:
        return found
    return replace(found, note=f"{found.note} {AS_LABELLED}".lstrip())


def _with_short(text: str, names: Mapping[str, str]) -> str:
    for name, short in names.items():
        text = text.replace(name, short)
    return text


def _subject(lead: Judged, subjects: Sequence[str]) -> str:
    """The model whose outputs are shown: of a claim over several, the first."""
    name = lead.claim.row.subject
    return name if name in subjects and " + " not in name else name.split(" + ")[0]


def headline(protocol: Protocol, judged: Sequence[Judged], lead: Judged) -> str:
    """The sentence of the leading claim; of several models, how many tilt in any. Where the
    cue is in no prompt, that: whatever was found is not of the cue.
    """
    factor = (lead.claim.spec.contrast or {}).get("factor", "")
    if factor in cues_not_asked(protocol):
        return f"{NO_CUE}: it is the same for all levels of {factor}."
    words = [one.word for one in judged]
    if len(judged) > 1 and set(words) <= {Word.NO_DIFFERENCE, Word.NO_TEST}:
        tested = words.count(Word.NO_DIFFERENCE)
        if tested:
            which = "the one comparison" if tested == 1 else f"any of {tested} comparisons"
            return f"No difference was found at this n in {which}."
    alone = [one for one in judged if _stands_out_alone(one)]
    if (
        lead in alone
        and {*words} <= {*QUIET, Word.UNDECIDED}
        and len(alone) == words.count(lead.word)
    ):
        return (
            f"No difference was found over {lead.verdict.family_size} comparisons together; "
            f"{_borderline_alone(len(alone), sum(one.claim.row.p is not None for one in judged))}"
        )
    sentence = _by_instruments(judged, lead, _with_place(protocol, judged, lead))
    subjects = dict.fromkeys(one.verdict.subject for one in judged)
    tilting = {one.verdict.subject for one in judged if one.word == Word.TILT}
    if len(subjects) > 1 and lead.word == Word.TILT:
        return f"{sentence} {len(tilting)} of {len(subjects)} models tilt."
    return sentence


def _borderline_alone(number: int, tested: int) -> str:
    """How many of the claims would be borderline alone: no comfort where they are many more than
    chance lets be.
    """
    if number <= max(1.0, 2 * ALPHA * tested):
        return f"{number} would be borderline alone, as chance lets about one in twenty be."
    return (
        f"{number} of {tested} would be borderline alone, many more than the one in twenty that "
        "chance lets be: undecided."
    )


def _stands_out_alone(one: Judged) -> bool:
    """True if a claim is undecided for no other reason than that its p or its interval, each taken
    alone, would stand out among several that are adjusted together.
    """
    row, verdict = one.claim.row, one.verdict
    together = (row.family_size or 1) > 1 and (row.p_adjusted or 0.0) >= ALPHA
    reasons = any(caution.kind.reason for caution in verdict.cautions)
    return verdict.word == Word.UNDECIDED and together and not reasons


def _with_place(protocol: Protocol, judged: Sequence[Judged], one: Judged) -> str:
    """The headline of a claim with what tells it from others of its measure and model, where it
    does not name that: the language always, the groups where it names none.
    """
    text = one.verdict.headline
    differ = [(name, _title(protocol, name, level)) for name, level in _differing(judged, one)]
    named = {title for _, title in differ if all(end in text for end in title.split(BETWEEN))}
    told = [
        title
        for name, title in differ
        if title not in named and (name in reading.STRATA or not named)
    ]
    return f"{text.removesuffix('.')} ({', '.join(told)})." if told else text


def _title(protocol: Protocol, name: str, level: str) -> str:
    """What a person reads in place of a level, of a language, or of both ends of a contrast."""
    if name == "language":
        return wording.language_name(protocol, level)
    return BETWEEN.join(wording.title(protocol, name, end) for end in level.split(BETWEEN))


def _differing(judged: Sequence[Judged], one: Judged) -> list[tuple[str, str]]:
    """(factor, level) of a claim and of its contrast that others of its measure, model and
    instrument do not have.
    """
    row = one.claim.row
    own = {**row.condition, **(row.contrast or {})}
    others = [
        {**other.claim.row.condition, **(other.claim.row.contrast or {})}
        for other in judged
        if other.verdict.measure == one.verdict.measure
        and (other.claim.row.subject, other.claim.row.instrument) == (row.subject, row.instrument)
    ]
    return [(name, own[name]) for name in own if any(o.get(name) != own[name] for o in others)]


def _by_instruments(judged: Sequence[Judged], lead: Judged, text: str) -> str:
    """The headline of a tilt with what other instruments say of the same claim, where they find
    none or another direction: then it hangs on who labels.
    """
    row = lead.claim.row
    place = (lead.verdict.measure, row.subject, row.condition, row.contrast)
    found: dict[str, str] = {}
    for one in judged:
        other = one.claim.row
        if place != (one.verdict.measure, other.subject, other.condition, other.contrast):
            continue
        if one.word != Word.TILT:
            found[other.instrument] = one.word.chip
        elif one.verdict.direction != lead.verdict.direction:
            found[other.instrument] = one.verdict.direction
    if lead.word != Word.TILT or not found:
        return text
    told = "; ".join(f"by {_instrument(name, judged)}: {said}" for name, said in found.items())
    by = _instrument(row.instrument, judged)
    return f"It hangs on who labels. By {by}: {text} {_capital(told)}."


def _instrument(name: str, judged: Sequence[Judged]) -> str:
    """An annotator without its hash, where that tells it from the others."""
    bare = name.partition("@")[0]
    alike = {other for one in judged if (other := one.claim.row.instrument).startswith(f"{bare}@")}
    return bare if len(alike) < 2 else name


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _lede(protocol: Protocol, judged: Sequence[Judged], lead: Judged) -> Iterator[tuple[str, str]]:
    """The number with its uncertainty, what else was found, and what was not and how small it could
    be, each with the query of the outputs of its number; as far as there is room.
    """
    room = LEDE_CHARACTERS
    own = lead.verdict.query.text()
    of_lead = [(text, own) for text in _of_lead(lead, _which(protocol, judged, lead))]
    cautions = [(text, "") for text in _cautions(lead)]
    for text, query in (*of_lead, *cautions, *_others(protocol, judged, lead)):
        if text and (room == LEDE_CHARACTERS or len(text) <= room):
            room -= len(text)
            yield text, query


def _which(protocol: Protocol, judged: Sequence[Judged], lead: Judged) -> str:
    """` (outlook)`: the levels that tell the claim from others of its measure and model, and its
    instrument where there are several, where the headline speaks of all of them and names none.
    """
    row = lead.claim.row
    if lead.word in (Word.TILT, Word.NOT_SETTLED) and len(judged) > 1:
        return ""  # the headline names it
    differ = [_title(protocol, name, level) for name, level in _differing(judged, lead)]
    if len({one.claim.row.instrument for one in judged}) > 1:
        differ.append(_instrument(row.instrument, judged))
    return f" ({', '.join(differ)})" if differ else ""


def _of_lead(lead: Judged, which: str) -> Iterator[str]:
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
    parts = (_by_gold(claim), level, f"{null} is no tilt" if null else "", _chance(lead))
    rest = "; ".join(filter(None, parts))
    number = f"{slots['value']} {slots['interval']}".rstrip()
    yield f"{_shortened(claim)}{which}: {number} ({rest})."


def _by_gold(claim: Claim) -> str:
    """That gold corrects the number, and what it was without."""
    if claim.row is claim.raw:
        return ""
    signed = reading.is_signed(claim.spec, claim.raw)
    before = headlines.amount(claim.raw.value, claim.raw.unit, signed)
    return f"as gold corrects it, {before} without"


def _cautions(lead: Judged) -> Iterator[str]:
    """What is to be minded where the lede tells the number alone."""
    row = lead.claim.row
    known = row.value is not None
    if known and row.low is None and row.clusters == 1:
        yield ONE_ITEM
    if known and not ("share_interval" in lead.claim.slots and lead.word == Word.TILT):
        yield from (caution.text for caution in lead.verdict.cautions)


def _chance(lead: Judged) -> str:
    """p, without how it was adjusted; "" where a caution says it."""
    said = any(caution.kind is CautionKind.BORDERLINE for caution in lead.verdict.cautions)
    known = lead.claim.row.p is not None and not said
    return sentences.chance(lead.claim.row).partition(" (")[0] if known else ""


def _shortened(claim: Claim) -> str:
    """The measure in words, without what stands in brackets."""
    text = reading.title((claim.spec.text or claim.spec.name).partition(" (")[0])
    return text if len(text) <= wording.LONGEST_TEXT else f"{text[: wording.LONGEST_TEXT - 1]}…"


def _others(
    protocol: Protocol, judged: Sequence[Judged], lead: Judged
) -> Iterator[tuple[str, str]]:
    """The strongest of the others, those first in which something else moved; then what was not
    found.
    """
    same = [one for one in judged if one.word == lead.word and one is not lead]
    if lead.word in (Word.TILT, Word.NO_TEST):
        ranked = sorted(same, key=lambda one: (_alike(one, lead), -one.effect))
        for one in list({one.verdict.headline: one for one in reversed(ranked)}.values())[::-1]:
            if one.verdict.headline != lead.verdict.headline:
                told = _with_place(protocol, judged, one).removesuffix(".")
                yield f"{told}{_number(one)}.", one.verdict.query.text()
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


def _tilted_levels(protocol: Protocol, judged: Sequence[Judged], cue: str) -> set[str]:
    """Titles of the levels of the cue for which a tilt was found."""
    return {
        wording.title(protocol, cue, one.claim.row.condition[cue])
        for one in judged
        if one.word == Word.TILT and cue in one.claim.row.condition
    }


def _levels(judged: Sequence[Judged], lead: Judged, cue: str) -> list[str]:
    """Levels of the cue to show: the base of the contrast, then those that tilt most."""
    contrast = lead.claim.spec.contrast or {}
    base = contrast.get("baseline", "") if contrast.get("factor") == cue else ""
    tilts = sorted((one for one in judged if one.word == Word.TILT), key=lambda one: -one.effect)
    own = [one.claim.row.condition.get(cue, "") for one in tilts]
    told = (lead.claim.row.contrast or {}).get(cue, "").split(BETWEEN)
    return [level for level in dict.fromkeys([base, *reversed(told), *own]) if level]
