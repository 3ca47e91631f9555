"""Verdicts of headline differences between two runs: judged by the same rules as claims of one run
(`verdicts.judge`), with the facts about both runs, and compared with the margin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ... import gold
from ...protocol import MeasureSpec, Protocol
from ...protocol.source.keys import SentenceKeys
from ...records import Estimate
from ...store.queries.settings import Progress
from ..claims import background, verdicts
from ..claims.background import Background, GoldFacts
from ..claims.evidence import Claim, gather
from ..claims.verdicts import Verdict
from ..words import headlines, numerals, populations, reading, sentences
from ..words.verdict_words import Word
from .cell_claims import KINDS
from .paired_runs import FACTOR, ComparisonRow, RunPart, held_of

DISTANCE = "divergence"  # the kind whose comparison is a distance, which has no direction
LEVELS = "{level} against {baseline}: "  # begins every sentence
SENTENCE: SentenceKeys = {"tilt": LEVELS + "{what} differs by {value}."}
LEFT_OPEN = ("open_at_level", "open_at_baseline")  # slots that hold for runs as for levels
# of a claim of many cells that names one
NAMED = LEVELS + "{attribute} {changed} in {share}{for_levels}, against {other_share}."
WITHIN = LEVELS + "{what} differs by less than {margin}{over}."


class RunPair(NamedTuple):
    """Two parts of runs to compare; differences are the second's numbers less the first's."""

    first: RunPart
    second: RunPart

    @property
    def names(self) -> tuple[str, str]:
        """The names of the two runs."""
        return self.first.name, self.second.name


def with_verdicts(
    protocol: Protocol, rows: Sequence[ComparisonRow], pairs: Sequence[RunPair]
) -> list[ComparisonRow]:
    """Adds verdicts to the rows that headline claims rest on (if gold corrects a row, to the
    corrected row). The rows' p must be adjusted already.
    """
    judged = list(rows)
    for pair in pairs:
        places = {row.estimate.key: n for n, row in enumerate(judged) if row.runs == pair.names}
        estimates = [judged[place].estimate for place in places.values()]
        backgrounds = _background(protocol, pair, estimates)
        for claim in gather(protocol, estimates):
            place = places[claim.row.key]
            verdict = _judge(protocol, claim, pair, backgrounds, judged[place])
            judged[place] = replace(judged[place], claim=verdict)
    return judged


def _judge(
    protocol: Protocol, claim: Claim, pair: RunPair, known: Background, row: ComparisonRow
) -> Verdict:
    spec = _as_compared(claim.spec, claim.row.unit, pair)
    slots = headlines.slots(protocol, spec, claim.row, pair.second.name, None, {})
    levels = _levels(claim)
    noun = f"{_plain(claim.spec)} ({levels})" if levels else _plain(claim.spec)
    if set(claim.row.contrast or ()) <= {FACTOR}:  # of differences no run has one number of these
        slots |= {name: text for name, text in claim.slots.items() if name in LEFT_OPEN}
    slots["for_levels"] = f" ({levels})" if levels else ""
    slots |= {"level": pair.second.name, "baseline": pair.first.name, "what": noun}
    about = ", ".join(filter(None, (f"{pair.second.name} − {pair.first.name}", levels)))
    subjects = tuple(dict.fromkeys((pair.first.subject, pair.second.subject)))
    query = replace(claim.query, subjects=subjects)
    placed = replace(claim, spec=spec, slots=slots, about=about, query=query)
    verdict = verdicts.judge(placed, known)
    if row.within_margin and not verdicts.is_open(verdict):
        margin = numerals.share(row.margin, 2)
        number = reading.number(claim.row, spec)
        return replace(
            verdict,
            word=Word.EQUIVALENT,
            headline=WITHIN.format_map(
                {**slots, "margin": margin, "over": populations.over(claim.row, claim.nouns)}
            ),
            sentence=sentences.equivalent(spec, claim.row, about, number, margin),
        )
    return replace(verdict, word=Word.DIFFERENT) if verdict.word == Word.TILT else verdict


def _as_compared(spec: MeasureSpec, unit: str, pair: RunPair) -> MeasureSpec:
    """Returns the measure for the difference between two runs, with null value 0."""
    first, second = pair.names
    is_distance = spec.kind == DISTANCE
    return replace(
        spec,
        null=0.0,
        unit=unit,
        contrast=None if is_distance else {"factor": FACTOR, "level": second, "baseline": first},
        text=f"{'distance' if is_distance else 'difference'} of the {_plain(spec)}",
        sentence={"tilt": NAMED} if spec.kind in KINDS else {**SENTENCE},
    )


def _plain(spec: MeasureSpec) -> str:
    return sentences.without_article(spec.text or spec.name)


def _levels(claim: Claim) -> str:
    """Joins the levels of a claim's group and the levels that the claim compares."""
    row = claim.row
    return ", ".join(filter(None, (*reading.group(row).values(), *held_of(row).values())))


def _background(protocol: Protocol, pair: RunPair, rows: Sequence[Estimate]) -> Background:
    """Reads the facts about both runs: gold, plans, and labelled attributes."""
    subject = pair.second.subject
    backgrounds = {
        part.name: background.read_background(part.store, protocol, rows) for part in pair
    }
    plans = [backgrounds[part.name].of_plan(part.subject) for part in pair]
    labelled: dict[tuple[str, str, str], tuple[int, int]] = {}
    for part in pair:
        for (owner, mode, annotator), (done, stored) in backgrounds[part.name].labelled.items():
            if owner == part.subject:
                key = (subject, mode, annotator)
                before = labelled.get(key, (0, 0))
                labelled[key] = (before[0] + done, before[1] + stored)
    plan = Progress(sum(one.answered for one in plans), sum(one.planned for one in plans))
    return Background(_gold(protocol, pair, backgrounds), {subject: plan}, labelled)


def _gold(
    protocol: Protocol, pair: RunPair, known: Mapping[str, Background]
) -> dict[background.Key, GoldFacts]:
    """Collects both runs' gold about a judge, and tests if its errors differ between the runs."""
    pairs = {part.name: gold.by_judge(gold.pairs(part.store)) for part in (pair.second, pair.first)}
    facts: dict[background.Key, GoldFacts] = {}
    for key in dict.fromkeys(key for one in known.values() for key in one.gold):
        by_run = {name: one.gold[key] for name, one in known.items() if key in one.gold}
        levels = {
            name: error_pairs[key[:2]]
            for name, error_pairs in pairs.items()
            if key[:2] in error_pairs
        }
        facts[key] = GoldFacts(
            sum(one.labels for one in by_run.values()),
            min(one.people for one in by_run.values()),
            " ".join(f"In {name}: {one.refuted}" for name, one in by_run.items() if one.refuted),
            background.errors_between(FACTOR, levels, key, protocol.item),
        )
    return facts
