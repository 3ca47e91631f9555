"""The kinds of measures that ship with tiltmeter. docs/reference/adding-a-measure.md has the same
table.
"""

from __future__ import annotations

from .measure_kinds import MeasureKind
from .whole_output_measures import WHOLE_OUTPUTS

_ANALYSE = "tiltmeter.analyse"
_LEVEL = ("factor", "level", "baseline")  # what a contrast of two levels names
_PAIRED_TEST = "sign flip over items; where no item is on both sides, items shuffled over the two"

_SHARES = (
    MeasureKind(
        name="share",
        summary="hits / among, over items; with bounds where `among` is declared",
        compute=f"{_ANALYSE}.measures.shares:share",
        interval="clustered by item",
        test="against `null`: sign flip over items",
        low=0,
        high=1,
        sides="one",
        detectable="share",
    ),
    MeasureKind(
        name="odds",
        summary="hits / (among − hits)",
        compute=f"{_ANALYSE}.measures.shares:odds",
        unit="odds",
        interval="clustered, log scale",
        test="where `null` is 1: the share against one half",
        null=1,
        low=0,
        detectable="half",
    ),
    MeasureKind(
        name="difference",
        summary="share at a level less share at its baseline",
        compute=f"{_ANALYSE}.measures.shares:difference",
        interval="paired by item",
        test=_PAIRED_TEST,
        contrast=_LEVEL,
        null=0,
        low=-1,
        high=1,
        sides="level",
        detectable="half",
    ),
    MeasureKind(
        name="alike",
        summary="the largest share over the levels of a factor less the smallest: are all alike",
        compute=f"{_ANALYSE}.measures.omnibus:alike",
        test="omnibus: shares shuffled over the levels inside each item",
        contrast=("factor",),
        null=0,
        low=0,
        high=1,
    ),
    MeasureKind(
        name="ratio",
        summary="rate at a level over the rate at its baseline (disparate impact)",
        compute=f"{_ANALYSE}.scores.rest_follows:ratio",
        unit="ratio",
        interval='log scale, paired by item; none where `per = "outputs"`',
        test="sign flip over items",
        contrast=_LEVEL,
        null=1,
        low=0,
        detectable="half",
    ),
    MeasureKind(
        name="odds_ratio",
        summary="odds of a hit at a level over the odds at its baseline",
        compute=f"{_ANALYSE}.measures.shares:odds_ratio",
        unit="ratio",
        interval="log scale, paired by item",
        test="sign flip over items",
        contrast=_LEVEL,
        null=1,
        low=0,
    ),
    MeasureKind(
        name="logit_difference",
        summary="mean log-odds of a hit at a level less at its baseline: each prompt's log-odds, "
        "then the mean of an item, then the mean over items",
        compute=f"{_ANALYSE}.measures.log_odds:logit_difference",
        interval="paired by item, t: a mixed model's with a slope for each item",
        test="paired t over items",
        contrast=_LEVEL,
        unit="log-odds",
        null=0,
        counts="prompts",
    ),
    MeasureKind(
        name="impact_ratio",
        summary="a group's rate by the highest group's; the groups are the values of the "
        "attribute, or the levels of the last factor of `by`",
        compute=f"{_ANALYSE}.measures.impact_ratio:impact_ratio",
        interval="log scale, paired by item; allows for the highest being picked from the data",
        unit="ratio",
        low=0,
        high=1,
        detectable="half",
    ),
    MeasureKind(
        name="leader",
        summary="for each value, the group in which its share is largest",
        compute=f"{_ANALYSE}.measures.leading_level:leader",
        interval="Wilson",
        test="the groups alike, by shuffling",
        low=0,
        high=1,
    ),
    MeasureKind(
        name="divergence",
        summary="Jensen–Shannon divergence between levels, less what chance gives",
        compute=f"{_ANALYSE}.measures.divergences:divergences",
        interval="none; a null band",
        test="by shuffling outputs",
        contrast=("factor",),
        null=0,
        high=1,
        detectable="divergence",
    ),
)
_NUMBERS = (
    MeasureKind(
        name="mean",
        summary="Σ numbers / outputs that have one, for labels that are numbers "
        "(a length, a score)",
        compute=f"{_ANALYSE}.measures.numeric_labels:mean",
        interval="clustered by item, t; of one item over its outputs",
        test="against `null`: sign flip over items",
        unit="",
        numbers=True,
        counts="numbers",
        detectable="spread",
    ),
    MeasureKind(
        name="mean_difference",
        summary="mean at a level less mean at its baseline",
        compute=f"{_ANALYSE}.measures.numeric_labels:mean_difference",
        interval="paired by item",
        test="sign flip over items, or items shuffled over the two",
        contrast=_LEVEL,
        unit="",
        null=0,
        numbers=True,
        counts="numbers",
        detectable="spread",
    ),
    MeasureKind(
        name="mean_ratio",
        summary="mean at a level by the mean at its baseline, as the geometric mean over items",
        compute=f"{_ANALYSE}.measures.numeric_labels:mean_ratio",
        interval="log scale, paired by item, t",
        test="sign flip over items",
        contrast=_LEVEL,
        unit="ratio",
        null=1,
        low=0,
        numbers=True,
        counts="numbers",
    ),
)
_REFERENCES = (
    MeasureKind(
        name="from_reference",
        summary="a share less its reference: a column with a share for each item, or given shares "
        "of the whole",
        compute=f"{_ANALYSE}.measures.references:from_reference",
        interval="paired by item; of given shares that of the share",
        test="against `null`: sign flip over items",
        low=-1,
        high=1,
        reference="any",
        signed=True,
        detectable="half",
    ),
    MeasureKind(
        name="reference_slope",
        summary="how much the share rises with the reference from item to item: 1 as it does, "
        "above 1 exaggerates it",
        compute=f"{_ANALYSE}.measures.references:reference_slope",
        interval="over items, HC3, t(C − 2)",
        test="against `null`: t",
        unit="slope",
        reference="column",
        detectable="spread",
    ),
)
_CONTROLS = (
    MeasureKind(
        name="effect",
        summary="hits / among on the tested side less the same in each control, with bounds",
        compute=f"{_ANALYSE}.measures.controlled_effects:effect",
        interval='clustered by item, or by items that share a control; by t where `per = "items"`',
        test='paired t over items; sign flip where `per = "items"`',
        contrast=("factor", "controls"),
        null=0,
        low=-1,
        high=1,
        sides="controls",
        detectable="half",
    ),
    MeasureKind(
        name="joint_effect",
        summary="the effect over all groups and controls together, each item once: one claim",
        compute=f"{_ANALYSE}.measures.joint_effect:joint_effect",
        interval="t over items, or over groups of items that share a control",
        test="which condition is the tested one, drawn anew in each item",
        contrast=("factor", "controls"),
        null=0,
        low=-1,
        high=1,
        detectable="half",
    ),
    MeasureKind(
        name="item_effects",
        summary="the effect of each item by itself, ranked: a description",
        compute=f"{_ANALYSE}.measures.item_effects:item_effects",
        contrast=("factor", "controls"),
        signed=True,
        low=-1,
        high=1,
    ),
    MeasureKind(
        name="effect_mean",
        summary="the unweighted mean of the effect over cells, as papers average",
        compute=f"{_ANALYSE}.measures.controlled_effects:effect_mean",
        test="none; how many cells have p < .05 is in the note",
        contrast=("factor", "controls", "cells"),
        null=0,
        low=-1,
        high=1,
    ),
    MeasureKind(
        name="cell_mean",
        summary="the unweighted mean of hits / among over cells",
        compute=f"{_ANALYSE}.measures.controlled_effects:cell_mean",
        contrast=("cells",),
        low=0,
        high=1,
    ),
    MeasureKind(
        name="item_mean",
        summary="the unweighted mean of the items' shares, an undefined one counted as 0, as "
        "published",
        compute=f"{_ANALYSE}.measures.controlled_effects:item_mean",
        contrast=("factor",),
        low=0,
        high=1,
    ),
)
KINDS = {
    kind.name: kind for kind in (*_SHARES, *_NUMBERS, *_REFERENCES, *_CONTROLS, *WHOLE_OUTPUTS)
}
