"""The first screen: in ten seconds, whether a model tilts, which way, how far and how sure.

The first sentence sums up all headline claims; the rest is about the claims in that sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...analyse.claims.verdicts import Verdict
from ...analyse.words import numerals, reading
from ...analyse.words.first_sentence.situations import first_sentence
from ...analyse.words.largest_shift import leading_cell
from ...analyse.words.short_model_names import short_names
from ...analyse.words.verdict_words import Word
from ...protocol import Protocol, wording
from ...protocol.design.contrasts import each_contrast
from ...protocol.design.tables import SEVERAL
from ...records import OUTCOMES
from ...store import Store
from ...store.queries import label_counts, settings
from ..figures.first import first_figure
from ..page_model.audits import Audit
from ..page_model.figures import Figure
from ..page_model.page import Screen
from . import badges, labelling_people, same_prompt
from .examples import main
from .lede import lede
from .pairs import WantedPair
from .ranking import effect_of
from .summary import Missing

AS_LABELLED = "Labels as they are, before gold corrects the number."
NO_HEADLINE = "No measure of this protocol is a headline: the numbers stand in the tables."
NOTHING_COMPUTED = "No headline number can be computed from these answers."
CAUTION = (
    "What not to conclude: another wording, language, version or day can give another number, and "
    "a tilt says that outputs change with the cue, not why, nor which would be right."
)


def screen(
    store: Store,
    audit: Audit | None,
    judged: Sequence[Verdict],
    about: tuple[str, str, str],
    missing: Missing,
    named: Mapping[str, str] | None = None,
    *,
    for_page: bool = True,
) -> Screen:
    """Builds the first screen. about: (title, date, line on the size of the run); missing: the
    non-answers; named: {model: short name}; for_page: True to include the figure and the example
    outputs."""
    protocol = audit.protocol if audit else None
    subjects = list(dict.fromkeys(row.subject for row in audit.estimates)) if audit else []
    names = short_names([name for name in subjects if reading.TOGETHER not in name], named)
    line = tuple(_with_short(part, names) for part in about if part)
    abbreviations = tuple((short, name) for name, short in names.items())
    if audit is None or protocol is None or not judged:
        text = _nothing_compared(store, audit)
        return Screen(line, abbreviations, text, (), (), None, None, CAUTION)
    sentence = first_sentence([one.facts for one in judged])
    spoken = [one for facts in sentence.claims for one in judged if one.facts is facts]
    lead = spoken[0]
    people = labelling_people.lines(store, protocol, lead)
    lines = [*lede(spoken, judged), *((text, "") for text in people)]
    first = Screen(
        line=line,
        names=abbreviations,
        headline=sentence.text,
        lead=sentence.lead,
        asked=protocol.question,
        simulated=badges.simulated(subjects),
        lede=tuple(text for text, _ in lines),
        queries=tuple(query for _, query in lines),
        badges=badges.badges(store, protocol, judged, missing),
        figure=None,
        prompt=None,
        caution=CAUTION,
    )
    if not for_page:
        return first
    cue = _cue(protocol, lead, sentence.situation)
    example = same_prompt.same_prompt(
        store,
        protocol,
        lead.subject.split(reading.TOGETHER)[0],
        lead.condition,
        (cue, _levels(judged, lead, cue)),
        _fitting_pair(protocol, lead, cue, sentence.situation),
    )
    return replace(first, figure=_figure(audit, names, judged, lead, cue), prompt=example)


def _figure(
    audit: Audit, names: Mapping[str, str], judged: Sequence[Verdict], lead: Verdict, cue: str
) -> Figure | None:
    """Returns the figure of the raw labels; its note says if gold corrects the headline number."""
    tilted = {
        wording.title(audit.protocol, cue, one.claim.row.condition[cue])
        for one in judged
        if one.word == Word.TILT and cue in one.claim.row.condition
    }
    cell = leading_cell(lead.claim.row)
    attribute = cell["attribute"] if cell else ""
    figure = first_figure(audit, names, tilted, lead.measure, attribute)
    if figure is None or lead.claim.row is lead.claim.raw:
        return figure
    return replace(figure, note=f"{figure.note} {AS_LABELLED}".lstrip())


def _with_short(text: str, names: Mapping[str, str]) -> str:
    for name, short in names.items():
        text = text.replace(name, short)
    return text


def _cue(protocol: Protocol, lead: Verdict, situation: str) -> str:
    """Returns the factor to show side by side: a nuisance if it leads the screen; else the cue."""
    nuisance = next((one.name for one in lead.facts.nuisances if one.found), "")
    if situation == "nuisance" and nuisance in protocol.factors:
        return nuisance
    return same_prompt.cue_factor(protocol, lead.claim.spec)


def _fitting_pair(protocol: Protocol, lead: Verdict, cue: str, situation: str) -> WantedPair | None:
    """Returns the pair that fits the first sentence: an answer that counts at the level with the
    higher number; or, if the cue is a nuisance that does not lead, counted answers at both levels.
    """
    facts, row = lead.facts, lead.claim.row
    cell = next(iter(row.cells["named"]), None) if row.cells else None
    if cell is not None and cell["base"] is not None:
        place = (cell["attribute"], (cell["value"],), row.instrument)
        return WantedPair(*place, cell["group"], cell["base"])
    effects = {name: effect for name, effect, _ in lead.claim.nuisances}
    sides = facts.sides if cue not in effects else effects[cue].sides
    ends = reading.ends(effects.get(cue, row), cue)
    if ends is None or not sides:
        return None
    word = row.condition.get(facts.spec.attribute)
    values = (word,) if word else tuple(facts.spec.values)
    more, less = ends if sides["level"] >= sides["baseline"] else reversed(ends)
    both = ""
    if cue in effects and situation != "nuisance":
        others = tuple(value for value in facts.spec.among if value not in values)
        values = values if facts.above else others
        both = " or ".join(wording.title(protocol, facts.spec.attribute, one) for one in values)
        both = f"“{both}”"
    among = tuple(facts.spec.among)
    return WantedPair(facts.spec.attribute, values, row.instrument, more, less, both, among)


def _levels(judged: Sequence[Verdict], lead: Verdict, cue: str) -> list[str]:
    """Returns the levels of the cue to show: those of the contrast, then those that tilt."""
    contrast = lead.claim.spec.contrast or {}
    base = contrast.get("baseline", "") if contrast.get("factor") == cue else ""
    tilts = sorted(
        (one for one in judged if one.word == Word.TILT), key=lambda one: -effect_of(one)
    )
    levels = [one.claim.row.condition.get(cue, "") for one in tilts]
    ends = (lead.claim.row.contrast or {}).get(cue, "").split(numerals.BETWEEN)
    return [level for level in dict.fromkeys([base, *reversed(ends), *levels]) if level]


def _nothing_compared(store: Store, audit: Audit | None) -> str:
    """Returns the sentence that no headline number stands in the run: because of the levels without
    an answer that counts, if there are any.
    """
    if audit is None or not audit.estimates:
        return _nothing_measured(store)
    protocol = audit.protocol
    headlines = [spec for spec in protocol.measures if spec.headline]
    if not headlines:
        return NO_HEADLINE
    counted = {
        (factor, level)
        for row in label_counts.condition_weights(store, *main(store, protocol))
        if row.value not in OUTCOMES
        for factor, cell in row.levels.items()
        for level in cell.split(SEVERAL)
    }
    lacking: dict[str, None] = {}
    for contrast in (one.contrast or {} for s in headlines for one in each_contrast(protocol, s)):
        factor = contrast.get("factor", "")
        for level in (contrast.get("level", ""), contrast.get("baseline", "")):
            if level in protocol.levels.get(factor, ()) and (factor, level) not in counted:
                lacking[f"{wording.title(protocol, factor, level)} ({factor})"] = None
    if lacking:
        return f"Nothing can be compared: no answer counts for {' or '.join(lacking)}."
    return NOTHING_COMPUTED


def _nothing_measured(store: Store) -> str:
    """Returns the sentence that nothing was measured and, if people label, the command for it."""
    stored = settings.definition(store)
    instruments = stored["declared"].get("instruments") if stored else None
    listed = instruments if isinstance(instruments, Sequence) else ()
    if not any(isinstance(one, Mapping) and one.get("kind") == "people" for one in listed):
        return "Nothing was measured yet."
    return f"Nobody has labelled yet. Type: tiltmeter annotate {store.folder} --annotator NAME"
