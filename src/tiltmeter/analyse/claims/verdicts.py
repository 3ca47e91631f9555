"""The verdict on each headline claim: the single source of verdicts for all reports.

Precedence: not measured; judge refuted by gold; direction not settled; tilt, no difference found
(on average only, if items differ), or undecided. A caveat that can reverse a claim changes the
verdict; any other caveat is a caution beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from ...protocol import Protocol
from ...records import CellClaim, Estimate, Json
from ...stats import multiplicity
from ...stats.judges import youden
from ...stats.results import ALPHA, FEW_GOLD, count_of
from ...stats.shuffles.resampling import SIGN_FLIPS
from ...store.queries.labels import MAJORITY
from ..words import numerals, populations, sentences
from ..words.caution_kinds import Caution, CautionKind
from ..words.first_sentence.facts import ClaimFacts, Nuisance, strength
from ..words.first_sentence.situations import first_sentence
from ..words.verdict_words import Word
from . import cut_replies, labels_of_people
from .background import Background, GoldFacts
from .cautions import further_cautions, pairing, reversing_cautions, significant
from .evidence import Claim, gather
from .output_query import OutputQuery
from .tested_word import items_differ, test_word

TO_LABEL = "To label them: tiltmeter label RUN"
NOTHING_KNOWN = Background()


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a headline claim: a word, a sentence and numbers.

    value, low, high and reference are in `unit`, and corrected by gold if `correction` is not
    "none". query: selects the outputs that were counted. between_items: the result of the test if
    items differ (`Estimate.between_items`), or None. population: the items and cue words that the
    verdict generalises to (`records.Population`). cells: the cells that show the effect of a claim
    over many cells (`records.CellClaim`).
    """

    word: Word
    headline: str
    sentence: str
    measure: str
    subject: str
    instrument: str
    variant: str
    condition: Mapping[str, str]
    contrast: Mapping[str, str] | None
    value: float | None
    low: float | None
    high: float | None
    unit: str
    reference: float | None
    direction: str
    test: str | None
    p: float | None
    p_adjusted: float | None
    family_size: int | None
    adjustment: str | None
    detectable: float | None
    correction: str
    n: float
    clusters: int | None
    between_items: Mapping[str, Any] | None
    population: Mapping[str, Json]
    cells: CellClaim | None
    cautions: tuple[Caution, ...]
    query: OutputQuery
    signature: str
    sides: Mapping[str, float]
    facts: ClaimFacts
    claim: Claim

    @property
    def nuisance(self) -> str:
        """The nuisance that the claim measures; "" if the claim is about a factor of interest."""
        return self.facts.spec.nuisance

    @property
    def strength(self) -> str:
        """The grade of a tilt in words; "" for any other verdict."""
        return strength(self.facts.row).value if self.word == Word.TILT else ""

    def as_dict(self) -> dict[str, Json]:
        """Returns plain values for JSON."""
        fields = {
            name: getattr(self, name) for name in self.__slots__ if name not in ("facts", "claim")
        }
        return fields | {
            "word": self.word.value,
            "sides": dict(self.sides),
            "strength": self.strength,
            "cautions": [caution.as_dict() for caution in self.cautions],
            "query": self.query.as_dict(),
        }


# what a verdict has from its row as it stands
_OWN = {"measure", "population", "cautions", "sides"}
_OF_ROW = tuple({f.name for f in fields(Verdict)} & {f.name for f in fields(Estimate)} - _OWN)


def verdicts(
    protocol: Protocol, rows: Sequence[Estimate], background: Background = NOTHING_KNOWN
) -> list[Verdict]:
    """Judges each headline claim of one variant, in the order of the protocol.

    background: facts about the run from outside the rows (`background.read_background`).
    """
    return [judge(claim, background) for claim in gather(protocol, rows)]


def judge(claim: Claim, background: Background) -> Verdict:
    """Returns the verdict on one claim, with its cautions."""
    row, spec = claim.row, claim.spec
    of_judge = background.of_judge(spec, row)
    uneven = background.uneven.get(spec.name, "")
    claim = replace(claim, missing=None if uneven else claim.missing)
    has_null = row.value is not None and spec.null is not None
    reversals = list(reversing_cautions(claim)) if has_null else []
    people = "" if of_judge.refuted else labels_of_people.disagree(claim, of_judge)
    gold_note = "" if people and row.voices else _scarce_gold(claim, of_judge)
    one_person = "" if gold_note else people
    paired = list(pairing(claim)) if has_null else []
    unpaired = "".join(one.text for one in paired if one.kind is CautionKind.UNPAIRED)
    has_few_items = "" if unpaired else _too_few_items(row, spec.null)
    cut_share = cut_replies.share_of(row, background.cut)
    much_cut = cut_replies.sentence(cut_share) if cut_share > cut_replies.MUCH else ""
    open_ = list(filter(None, (unpaired, gold_note, has_few_items, one_person, much_cut)))
    word = _word(claim, of_judge, reversals, "".join(open_))
    items = sentences.items_differ(spec, row) if word.record.items and items_differ(row) else ""
    first = [
        *_told((CautionKind.JUDGE_REFUTED, of_judge.refuted), (CautionKind.UNEVEN_VOTES, uneven)),
        *reversals,
        *paired,
        *_told(
            (CautionKind.GOLD_SCARCE, gold_note),
            (CautionKind.TOO_FEW_ITEMS, has_few_items),
            (CautionKind.ONE_ANNOTATOR, one_person),
            (CautionKind.MUCH_CUT, much_cut),
            (CautionKind.ITEMS_DIFFER, items),
        ),
    ]
    cautions = (*first, *further_cautions(claim, first, of_judge), *_plan_cautions(background, row))
    reasons = _reasons(claim, word, open_, [caution.text for caution in reversals], items)
    facts = _facts(claim, word, cautions, of_judge, joined=row.instrument in background.cascades)
    return Verdict(
        word=word,
        headline=first_sentence([facts]).text,
        sentence=sentences.verdict(word, spec, row, claim.about, reasons, of_judge.refuted),
        measure=spec.name,
        reference=spec.null,
        direction=sentences.direction(spec, row),
        population=populations.of_verdict(row),
        cautions=cautions,
        query=claim.query,
        sides=claim.sides,
        facts=facts,
        claim=claim,
        **{name: getattr(row, name) for name in _OF_ROW},
    )


def _reasons(
    claim: Claim, word: Word, open_: list[str], unsettled: list[str], told: str
) -> list[str]:
    """Returns the reasons that the sentence of a verdict gives."""
    if word == Word.TILT_OF_THESE:
        return [populations.of_these(claim.row, claim.nouns, claim.row.unit == "share")]
    reasons = open_ if word == Word.UNDECIDED and open_ else unsettled
    return [*reasons, told] if told else reasons


def _told(*pairs: tuple[CautionKind, str]) -> Iterator[Caution]:
    """Yields a Caution for each (kind, text) whose text is not empty."""
    for kind, text in pairs:
        if text:
            yield Caution(kind, text)


def _facts(
    claim: Claim, word: Word, cautions: Sequence[Caution], known: GoldFacts, *, joined: bool
) -> ClaimFacts:
    """Collects the facts about a claim and its verdict that the first sentence needs."""
    significant_factors = {factor for factor, _, _ in significant(claim.nuisances)}
    nuisances = tuple(
        Nuisance(
            factor,
            tuple(sorted(levels.items(), key=lambda pair: -pair[1])),
            abs(effect.value or 0.0) / 2,
            factor in significant_factors,
        )
        for factor, effect, levels in claim.nuisances
    )
    return ClaimFacts(
        word=word,
        spec=claim.spec,
        row=claim.row,
        slots=claim.slots,
        sides=claim.sides,
        kinds=frozenset(caution.kind for caution in cautions),
        nouns=claim.nouns,
        matters=claim.matters,
        nuisances=nuisances,
        bounds=claim.bounds,
        refuted=known.refuted,
        gold=known.labels,
        uncued=claim.uncued,
        joined=joined,
    )


def _word(claim: Claim, known: GoldFacts, unsettled: Sequence[Caution], reason: str) -> Word:
    """Returns the verdict's word. reason: why it is undecided, apart from test and interval."""
    row = claim.row
    if row.value is None:
        return Word.NOT_MEASURED
    if known.refuted:
        return Word.JUDGE_REFUTED
    if unsettled:
        return Word.NOT_SETTLED
    return Word.UNDECIDED if reason else test_word(row, claim.spec.null)


def is_open(verdict: Verdict) -> bool:
    """True if nothing may be concluded: judge refuted, gold scarce, replies cut, direction open."""
    has_caution = {CautionKind.GOLD_SCARCE, CautionKind.MUCH_CUT} & verdict.facts.kinds
    return bool(has_caution) or verdict.word in (Word.JUDGE_REFUTED, Word.NOT_SETTLED)


def _scarce_gold(claim: Claim, known: GoldFacts) -> str:
    """Writes the caution that the instrument alone finds a tilt, but gold is too scarce to show
    whether the judge's errors cause it: no interval could be corrected, or the corrected one finds
    no tilt and its half-width is at least the raw difference. "" if gold suffices or is absent.
    """
    row, raw, null = claim.row, claim.raw, claim.spec.null
    was_tried = row is not raw or bool(claim.uncorrected)
    if null is None or not was_tried or test_word(raw, null) != Word.TILT:
        return ""
    if row is raw:
        sides = 1 if claim.spec.contrast is None else 2
        missing = 2 * FEW_GOLD * sides - known.labels
        return sentences.scarce_gold(known.labels, missing, claim.uncorrected)
    half_width, raw_half = _half_width(row), _half_width(raw)
    difference = abs((raw.value or 0.0) - null)
    if test_word(row, null) == Word.TILT or half_width < difference:
        return ""
    needed = youden.gold_needed(
        half_width=half_width, least_half_width=raw_half, difference=difference, labels=known.labels
    )
    return sentences.scarce_gold(known.labels, needed)


def _too_few_items(row: Estimate, null: float | None) -> str:
    """Writes the caution that so few items can never reach significance by sign flips in this
    family; "" if they can.
    """
    is_flip = row.p is not None and row.clusters and row.test in SIGN_FLIPS
    if not is_flip or row.stopped or test_word(row, null) == Word.TILT:
        return ""
    reach = multiplicity.reach(items=row.clusters or 0, tests=row.family_size or 1, alpha=ALPHA)
    if reach.possible:
        return ""
    return CautionKind.TOO_FEW_ITEMS.text(
        items=count_of(reach.items, "item"),
        family="" if reach.tests == 1 else f" among {reach.tests} comparisons",
        needed=str(reach.items_needed),
    )


def _half_width(row: Estimate) -> float:
    return 0.0 if row.low is None or row.high is None else (row.high - row.low) / 2


def _plan_cautions(background: Background, row: Estimate) -> Iterator[Caution]:
    labelled, stored = background.of_labels(row)
    count = numerals.count
    if labelled < stored:
        kind = CautionKind.PARTLY_LABELLED
        by_people = row.instrument == MAJORITY
        advice = "Nobody gave the others a value." if by_people else TO_LABEL
        slots = {"labelled": count(labelled), "there": count(stored), "advice": advice}
        yield Caution(kind, kind.text(**slots))
    answered, planned = background.of_plan(row.subject)
    if answered < planned:
        kind = CautionKind.PARTLY_ANSWERED
        yield Caution(kind, kind.text(answered=count(answered), planned=count(planned)))
    cut_share = cut_replies.share_of(row, background.cut)
    if cut_replies.SOME < cut_share <= cut_replies.MUCH:
        yield Caution(CautionKind.CUT, cut_replies.sentence(cut_share))
