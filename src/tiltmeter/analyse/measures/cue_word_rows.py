"""Rows whose cue words are a sample: the test and interval over items and cue words.

The row's own test, over items alone, is combined with this test: the larger p counts. The p over
items alone, which holds for these very words only, is kept as `p_these`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...protocol import MeasureSpec
from ...protocol.design.cue_words import CueWords
from ...records import Estimate, Population
from ...stats import rates
from ...stats.crossed.populations import TWO_WAY, Inference, Populations, populations
from ...stats.crossed.words import FEW_WORDS, LEAST_WORDS
from ...stats.quantiles import normal_quantile, t_quantile
from ...stats.rates import FEW_CLUSTERS
from ...stats.results import Interval, Test
from ...stats.shuffles.resampling import CANNOT_REACH
from ..counts.count_table import CountTable, Key
from ..counts.prompt_counts import PromptCounts, prompt_counts
from .estimate_rows import by_t, finite

LIKE, THESE, ALL = "like these", "these", "all"
IN_THESE_ITEMS = "over answers in these items, t"
OVER_WORDS = "over cue words in these items, t"
FEW_WORDS_CODE, FEW_ITEMS_CODE = "few_cue_words", "few_clusters"


def cue_of(table: CountTable, measure: MeasureSpec) -> CueWords | None:
    """Returns the cue words of the contrasted factor or, without one, of the only cue; or None."""
    cues = table.protocol.cues
    if measure.contrast is not None:
        return cues.get(measure.contrast["factor"])
    return next(iter(cues.values())) if len({cue.column for cue in cues.values()}) == 1 else None


class PromptsByValue:
    """The counts by prompt for the rows of one measure and grouping, computed once per counted
    value; None for every row if the measure has no cue words.
    """

    def __init__(self, table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> None:
        cue = cue_of(table, measure) if table.variant.intervals else None
        has_cue = cue is not None and {*cue.columns} <= {*table.rows.columns}
        self._cue, self._asked = cue if has_cue else None, (table, measure, by)
        self._by_values: dict[tuple[str, ...], Mapping[Key, PromptCounts]] = {}

    def of(
        self, condition: Mapping[str, str], about: Mapping[str, str] | None = None
    ) -> PromptCounts | None:
        """Returns a condition's prompts. about: the counted value, if the measure counts each."""
        return None if self._cue is None else self._counts_of(condition, about)

    def of_few_items(
        self, condition: Mapping[str, str], about: Mapping[str, str], items: int
    ) -> PromptCounts | None:
        """Returns the prompts of a headline difference if it has no cue words and so few items that
        the result holds for these items alone; else None.
        """
        table, measure, _ = self._asked
        is_tested = measure.headline and measure.per == "labels" and table.drawn
        if self._cue is not None or not is_tested or not table.variant.intervals:
            return None
        return self._counts_of(condition, about) if 1 <= items < FEW_CLUSTERS else None

    def _counts_of(
        self, condition: Mapping[str, str], about: Mapping[str, str] | None
    ) -> PromptCounts | None:
        table, measure, by = self._asked
        values = tuple((about or {}).values()) or measure.values
        if values not in self._by_values:
            counts = prompt_counts(table, measure, by, self._cue, values)
            self._by_values[values] = counts
        return self._by_values[values].get(tuple((name, condition[name]) for name in by))


def with_cue_words(
    estimate: Estimate, prompts: PromptCounts | None, *, null: float, ratio: bool = False
) -> Estimate:
    """Returns the row generalised to other cue words of this kind; unchanged if `prompts` is None.

    With fewer than three words on a side the row holds for these words alone; with fewer than nine
    items, for these items alone. null: the null value of the estimate (1 for a ratio).
    """
    fit = None if estimate.value is None else fit_prompts(prompts, null=null, ratio=ratio)
    if prompts is None or fit is None:
        return estimate
    is_few = prompts.design.items < FEW_CLUSTERS
    these = fit.these if is_few else None
    population = Population(
        items=THESE if is_few else LIKE,
        cue_words=LIKE if prompts.fewest >= LEAST_WORDS else THESE,
        words=fit.words_by_side,
        words_sd=round(fit.words_sd, 6),
        items_n=prompts.design.items,
        df=None,
        se=fit.both.se,
        se_items=fit.items.se,
        se_within=None if fit.these is None else fit.these.se,
        p_these=(None if these is None else these.p) if is_few else estimate.p,
        p_these_adjusted=None,
        p_like_these=fit.both.p,
    )
    chosen = inference_of(prompts, fit)
    if population["cue_words"] == THESE or chosen.p is None or chosen.low is None:
        return replace(estimate, population=population)
    population["df"] = round(chosen.df, 3)
    few_words = (FEW_WORDS_CODE,) if prompts.fewest < FEW_WORDS else ()
    kept = _without_few_items(estimate) if is_few else estimate
    row = replace(kept, population=population, cautions=(*kept.cautions, *few_words))
    return _over_words(row, chosen, OVER_WORDS if is_few else TWO_WAY, ratio)


def with_few_items(estimate: Estimate, prompts: PromptCounts | None, test: Test | None) -> Estimate:
    """Returns the row of a difference over fewer than nine items, which are the cue, with an
    interval and test for these items alone; keeps the p for items like them as `p_like_these`.

    test: for these items, used instead of t if given; also if no prompt got two different answers.
    """
    fit = None if estimate.value is None else fit_prompts(prompts)
    if prompts is None or fit is None or (fit.these is None and test is None):
        return estimate
    these = fit.these
    population = Population(
        items=THESE,
        cue_words=ALL,
        words=(),
        words_sd=None,
        items_n=prompts.design.items,
        df=None if these is None else round(these.df, 3),
        se=fit.items.se,
        se_items=fit.items.se,
        se_within=None if these is None else these.se,
        p_these=None,
        p_these_adjusted=None,
        p_like_these=estimate.p,
    )
    row = replace(_without_few_items(estimate), population=population)
    if these is not None and these.p is not None:
        row = _over_words(row, these, IN_THESE_ITEMS)
    return row if test is None else replace(row, p=finite(test.p), test=test.method)


def _without_few_items(estimate: Estimate) -> Estimate:
    """Removes the caution of few items and what the note says of a test over items, as the row is
    about these items only.
    """
    few = rates.few_clusters(estimate.clusters or 0)
    note = _without_parts(estimate.note, few.text if few else CANNOT_REACH)
    codes = tuple(code for code in estimate.cautions if code != FEW_ITEMS_CODE)
    return replace(estimate, cautions=codes, note=_without_parts(note, CANNOT_REACH))


def _without_parts(note: str, end: str) -> str:
    """Removes the parts of a note that end with some words."""
    return "; ".join(part for part in note.split("; ") if not part.endswith(end))


def fit_prompts(
    prompts: PromptCounts | None, *, null: float = 0.0, ratio: bool = False
) -> Populations | None:
    """Tests the prompts for each population to generalise to; None if the prompts are unknown."""
    if prompts is None:
        return None
    reference = math.log(null) if ratio else null
    return populations(
        prompts.design, prompts.shares, within=prompts.within, null=reference, ratio=ratio
    )


def inference_of(prompts: PromptCounts, fit: Populations) -> Inference:
    """Returns the test for the widest population that the design allows: few items stay fixed."""
    return fit.words if prompts.design.items < FEW_CLUSTERS else fit.both


def widened(found: Interval, population: Population | None) -> Interval:
    """Widens a corrected interval over items, for sampled cue words: by the ratio of the standard
    error over items and words to that over items alone, at the smaller degrees of freedom.
    """
    if population is None or population["cue_words"] != LIKE or not population["se_items"]:
        return found
    if found.value is None or found.low is None or found.high is None or population["df"] is None:
        return found
    tail = 0.5 + found.confidence / 2
    df = min(found.df or math.inf, population["df"])
    quantile = t_quantile(tail, found.df) if found.df else normal_quantile(tail)
    factor = population["se"] / population["se_items"] * t_quantile(tail, df) / quantile
    low, high = (found.value + factor * (end - found.value) for end in (found.low, found.high))
    return replace(found, low=low, high=high, df=df)


def _over_words(estimate: Estimate, chosen: Inference, test: str, ratio: bool = False) -> Estimate:
    """Sets the interval of the chosen population, and its p if that is larger than the row's."""
    low, high = chosen.low or 0.0, chosen.high or 0.0
    if ratio:
        low, high = math.exp(low), math.exp(high)
    elif estimate.unit == "share":
        low, high = max(low, -1.0), min(high, 1.0)
    method = f"log ratio, {test}" if ratio else test
    spread = (chosen.se, chosen.df) if chosen.se else estimate.spread
    row = replace(
        estimate, low=finite(low), high=finite(high), interval_method=method, spread=spread
    )
    if estimate.p is not None and test == TWO_WAY and (chosen.p or 0.0) < estimate.p:
        return row
    degrees = max(2, round(chosen.df) + 1)
    by_words = Interval(row.value, None, None, method, se=chosen.se, clusters=degrees)
    note = _without_parts(row.note, CANNOT_REACH)  # of the test that this one replaces
    return replace(row, p=chosen.p, test=test, detect=by_t(by_words, ratio=ratio), note=note)
