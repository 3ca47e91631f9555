"""The forecast of a run that stops early (`plan --stop`): its calls, cost and findings.

It takes the plan that the run would fix, and simulates each claim (stats/stopping/planned).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...analyse.stopping.plan import PlannedClaim, StoppingPlan
from ...protocol import MeasureSpec, Protocol
from ...protocol.design.cue_words import CueWords
from ...records import Trial
from ...stages.planning import plan as planning
from ...stages.planning.cost import Totals
from ...stages.planning.plan import Choices
from ...stages.planning.planned_claims import labels_of, sides_of
from ...stages.planning.power import share_of
from ...stats.arguments import Floats
from ...stats.crossed.planned import WordsDesign, planned_shift_of_words, sampling_ratio, words_part
from ...stats.power.design import Design
from ...stats.power.detectable import planned_shift
from ...stats.stopping.design import StoppingDesign, items_needed
from ...stats.stopping.planned import (
    ForecastClaim,
    ForecastFamily,
    drift_found,
    first_look_that_rejects,
    forecast,
    twice_the_items,
)
from ...stats.stopping.rules import Flags
from ..options.options import Asking
from .stopped_run import make_plan, refuse_unfit

WORTH_STOPPING = 0.1  # of the calls; looks that save less are not worth it


@dataclass(frozen=True, slots=True)
class StoppingRow:
    """Simulated runs for one assumed truth. truth: "none", "detectable" or "wanted", the true
    difference in every claim; calls: the expected share of all calls; cost: in US dollars, None if
    a price is unknown; power: the share of tilting claims that are detected; full_power,
    fixed_power: this share for a run that asks everything, and for a run of `fixed_rounds` rounds.
    """

    truth: str
    calls: float
    cost: float | None
    power: float
    full_power: float
    fixed_power: float


@dataclass(frozen=True, slots=True)
class StoppingForecast:
    """The forecast of `plan --stop`. looks: the round of each look; moves: a sentence on looks
    moved to a balanced round; claims: number in all families; items: the smallest number of items
    of a claim, None if only outputs are permuted; items_needed: the smallest number of items with
    which the first look can decide a claim; decidable: per look, the number of claims that it is
    the first to be able to decide; never: number of claims that no look can decide; fixed_rounds:
    length of a shorter run without looks, for comparison; items_gain: the relative fall of the
    standard error with twice the items and half the samples; saves: True if a tenth of the calls or
    more should be saved; words_limit: the noun of the cue words if most variance at the end comes
    from them, else ""."""

    looks: tuple[int, ...]
    moves: str
    claims: int
    items: int | None
    items_needed: int | None
    decidable: tuple[int, ...]
    never: int
    fixed_rounds: int
    rows: tuple[StoppingRow, ...]
    items_gain: float
    saves: bool
    words_limit: str


@dataclass(frozen=True, slots=True)
class StoppingQuestion:
    """The run to forecast: the arguments of `plan`, and the totals of its calls."""

    protocol: Protocol
    choices: Choices
    asking: Asking
    icc: float
    correlation: float
    wanted: float | None
    totals: Totals


def stopping_forecast(asked: StoppingQuestion) -> StoppingForecast:
    """Forecasts a run. Raises UsageError if the run cannot stop early."""
    protocol, choices = asked.protocol, asked.choices
    refuse_unfit(protocol, choices, asked.asking)
    plan = make_plan(protocol, choices, asked.asking)
    trials = [
        trial
        for trial in planning.trials(protocol, replace(choices, samples=1))
        if not protocol.modes[trial.mode].for_discovery
    ]
    uses, sizes, call_counts = _conditions(plan.claims, trials)
    sized = [_size_of(asked, plan, claim, call_counts[claim.calls]) for claim in plan.claims]
    families, shifts, offset = [], [], 0
    for family in plan.families:
        of_family = slice(offset, offset + len(family.claims))
        design = plan.design(family)
        simulated = [_to_simulate(plan, size) for size in sized[of_family]]
        families.append(ForecastFamily(design, simulated, uses[of_family]))
        shifts.append([size.shift(design) for size in sized[of_family]] if asked.wanted else [])
        offset = of_family.stop
    return _summary(plan, families, sized, _rows(asked, families, sizes, shifts))


@dataclass(frozen=True)
class _ClaimSize:
    """The size of a planned claim. outputs: labels per item (or group), condition and round; share:
    the value from which it would tilt; ratio: s²/τ² of a round (within items by between items).
    """

    claim: PlannedClaim
    conditions: int
    outputs: float
    share: float
    icc: float
    correlation: float
    ratio: float
    rounds: int
    cue: CueWords | None = None

    @property
    def words(self) -> WordsDesign | None:
        """Returns the design of a claim whose cue words are a sample; None for other claims."""
        if self.claim.statistic != "words" or self.cue is None:
            return None
        answers = max(1, round(self.outputs * self.rounds / self.cue.fewest))
        return WordsDesign(self.cue.fewest, len(self.claim.items), answers)

    def shift(self, design: StoppingDesign) -> float | None:
        """Computes the difference that the full run can detect; None if unknown."""
        if self.words is not None:
            return planned_shift_of_words(self.words, level=design.alpha / design.claims)
        if self.claim.statistic != "items":
            return None
        items, answers = len(self.claim.items), self.outputs * self.rounds
        table = Design(
            self.share, items, max(answers, 1.0), self.icc, self.conditions, self.correlation
        )
        return planned_shift(design=table, level=design.alpha / design.claims)


def _size_of(
    asked: StoppingQuestion, plan: StoppingPlan, claim: PlannedClaim, trials: int
) -> _ClaimSize:
    measure = next(spec for spec in asked.protocol.measures if spec.name == claim.measure)
    labels = labels_of(asked.protocol, measure, claim.condition.get("language", ""))
    is_items = claim.statistic in ("items", "words")
    conditions = sides_of(measure) if is_items else _groups(measure, claim)
    places = conditions * (len(claim.items) if is_items else 1)
    outputs = trials / plan.rounds_a_sample / places * labels.an_output
    # several picks of an answer say little of how items differ: as if each stood by itself
    alike = asked.icc if is_items and labels.an_output <= 1 else 0.0
    ratio = (1 - alike) / alike if alike else math.inf
    paired = asked.correlation if is_items and conditions == 2 else 0.0
    share, rounds = share_of(measure, labels), plan.looks[-1]
    cue = asked.protocol.cues.get((measure.contrast or {}).get("factor", ""))
    sized = _ClaimSize(claim, conditions, outputs, share, asked.icc, paired, ratio, rounds, cue)
    return sized if sized.words is None else replace(sized, ratio=sampling_ratio(sized.words))


def _groups(measure: MeasureSpec, claim: PlannedClaim) -> int:
    """Counts the groups of outputs that a divergence compares."""
    return max(len(claim.levels.get((measure.contrast or {}).get("factor", ""), ())), 2)


def _to_simulate(plan: StoppingPlan, size: _ClaimSize) -> ForecastClaim:
    claim = size.claim
    if claim.statistic == "items":
        tails = 1.0 if size.conditions > 2 else 2.0
        least = min(1.0, tails * float(max(size.conditions, 2)) ** -len(claim.items))
        smallest = (least,) * len(plan.looks)
    elif claim.statistic in ("outputs", "cells"):
        smallest = _smallest_of_blocks(plan.looks, size.conditions, size.outputs)
    else:
        smallest = (0.0,) * len(plan.looks)
    is_flipped = claim.statistic in ("items", "outputs", "cells")
    return ForecastClaim(size.ratio, smallest, is_flipped, claim.calls, len(claim.items))


def _smallest_of_blocks(looks: Sequence[int], groups: int, each: float) -> tuple[float, ...]:
    """Computes the smallest possible p at each look if outputs are permuted inside each block of
    rounds. By hand: two groups of one picture per round, looks at 5 and 10: 2/252 and 2/252².
    """
    smallest, log, before = [], 0.0, 0
    for look in looks:
        size = max(each * (look - before), 1.0)
        log += math.lgamma(groups * size + 1) - groups * math.lgamma(size + 1)
        smallest.append(min(1.0, math.exp(math.lgamma(groups + 1) - log)))
        before = look
    return tuple(smallest)


def _conditions(
    claims: Sequence[PlannedClaim], trials: Iterable[Trial]
) -> tuple[Flags, Floats, Counter[str]]:
    """Groups calls by the set of claims that count them. Returns (True per kind of call and claim
    that counts it, shape (m, kinds); number of calls per kind in one sample; {`calls` of a claim:
    its number of calls}). Calls that no claim counts are asked as long as any claim is open.
    """
    kinds = {claim.calls: claim for claim in claims}
    together: Counter[frozenset[str]] = Counter()
    for trial in trials:
        counting = frozenset(
            name
            for name, claim in kinds.items()
            if claim.counts(trial.subject, trial.mode, trial.factors)
        )
        together[counting or frozenset(kinds)] += 1
    uses = np.array([[claim.calls in names for names in together] for claim in claims])
    calls_of: Counter[str] = Counter()
    for names, number in together.items():
        for name in names:
            calls_of[name] += number
    return uses, np.array([float(number) for number in together.values()]), calls_of


def _rows(
    asked: StoppingQuestion,
    families: Sequence[ForecastFamily],
    sizes: Floats,
    shifts: Sequence[Sequence[float | None]],
) -> list[StoppingRow]:
    """Simulates three truths: no difference, each claim's detectable one, and the wanted one."""
    detectable_drifts = [drift_found(design=family.design) for family in families]
    truths: dict[str, list[float | Floats]] = {
        "none": [0.0] * len(families),
        "detectable": [*detectable_drifts],
    }
    if asked.wanted and all(shift for of_family in shifts for shift in of_family):
        truths["wanted"] = [
            drift * asked.wanted / np.array(of_family, dtype=np.float64)
            for drift, of_family in zip(detectable_drifts, shifts, strict=True)
        ]
    totals, rows = asked.totals, []
    half = _nearest_half(families[0].design.looks)
    for truth, drifts in truths.items():
        average = forecast(families, sizes, drifts)
        cost = None if totals["price_unknown"] else average.calls * totals["cost"]
        fixed = average.fixed_power[half]
        rows.append(
            StoppingRow(truth, average.calls, cost, average.power, average.full_power, fixed)
        )
    return rows


def _nearest_half(looks: Sequence[int]) -> int:
    """Returns the index of the look nearest to half of the run, never the last; ties: the later."""
    return min(range(len(looks) - 1), key=lambda k: (abs(looks[k] - looks[-1] / 2), -k))


def _limiting_words(sized: Sequence[_ClaimSize]) -> str:
    """Returns the noun of cue words that make up most of a claim's variance at the end, else ""."""
    for size in sized:
        if size.words is not None and size.cue is not None and words_part(size.words) > 0.5:
            return size.cue.noun
    return ""


def _summary(
    plan: StoppingPlan,
    families: Sequence[ForecastFamily],
    sized: Sequence[_ClaimSize],
    rows: Sequence[StoppingRow],
) -> StoppingForecast:
    first = [
        first_look_that_rejects(family.design, claim)
        for family in families
        for claim in family.claims
    ]
    fewest = min(
        (size for size in sized if size.claim.statistic == "items"),
        key=lambda size: len(size.claim.items),
        default=None,
    )
    largest = max((family.design for family in families), key=lambda design: design.claims)
    return StoppingForecast(
        looks=plan.looks,
        moves=plan.told_moves,
        claims=len(plan.claims),
        items=len(fewest.claim.items) if fewest else None,
        items_needed=items_needed(design=largest, conditions=max(fewest.conditions, 2))
        if fewest
        else None,
        decidable=tuple(first.count(look) for look in range(1, len(plan.looks) + 1)),
        never=first.count(None),
        fixed_rounds=plan.looks[_nearest_half(plan.looks)],
        rows=tuple(rows),
        items_gain=max(
            1 - twice_the_items(samples=plan.looks[-1], ratio=size.ratio) for size in sized
        ),
        saves=any(row.calls <= 1 - WORTH_STOPPING for row in rows),
        words_limit=_limiting_words(sized),
    )
