"""The kinds of measures that ship with tiltmeter. docs/adding-a-measure.md has the same table."""

from __future__ import annotations

from .measure_kinds import MeasureKind

_ANALYSE = "tiltmeter.analyse"
_LEVEL = ("factor", "level", "baseline")  # what a contrast of two levels names
_CELLS = ("factor", "baseline", "within")  # … of groups against a base inside a dimension
_PAIRED_TEST = "sign flip over items; where no item is on both sides, items shuffled over the two"

_SHARES = (
    MeasureKind(
        name="share",
        summary="hits / among, over items; with bounds where `among` is declared",
        compute=f"{_ANALYSE}.shares:share",
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
        compute=f"{_ANALYSE}.shares:odds",
        interval="clustered, log scale",
        test="where `null` is 1: the share against one half",
        null=1,
        low=0,
        detectable="half",
    ),
    MeasureKind(
        name="difference",
        summary="share at a level less share at its baseline",
        compute=f"{_ANALYSE}.shares:difference",
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
        compute=f"{_ANALYSE}.alike:alike",
        test="omnibus: shares shuffled over the levels inside each item",
        contrast=("factor",),
        null=0,
        low=0,
        high=1,
    ),
    MeasureKind(
        name="ratio",
        summary="rate at a level over the rate at its baseline (disparate impact)",
        compute=f"{_ANALYSE}.shares:ratio",
        interval='log scale, paired by item; none where `per = "outputs"`',
        test="sign flip over items",
        contrast=_LEVEL,
        null=1,
        low=0,
        detectable="half",
    ),
    MeasureKind(
        name="logit_difference",
        summary="mean log-odds of a hit at a level less at its baseline: each prompt's log-odds, "
        "then the mean of an item, then the mean over items",
        compute=f"{_ANALYSE}.log_odds:logit_difference",
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
        compute=f"{_ANALYSE}.impact:impact_ratio",
        interval="log scale, paired by item; allows for the highest being picked from the data",
        unit="ratio",
        low=0,
        high=1,
        detectable="half",
    ),
    MeasureKind(
        name="leader",
        summary="for each value, the group in which its share is largest",
        compute=f"{_ANALYSE}.leaders:leader",
        interval="Wilson",
        test="the groups alike, by shuffling",
        low=0,
        high=1,
    ),
    MeasureKind(
        name="divergence",
        summary="Jensen–Shannon divergence between levels, less what chance gives",
        compute=f"{_ANALYSE}.divergences:divergences",
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
        compute=f"{_ANALYSE}.numbers:mean",
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
        compute=f"{_ANALYSE}.numbers:mean_difference",
        interval="paired by item",
        test="sign flip over items, or items shuffled over the two",
        contrast=_LEVEL,
        unit="",
        null=0,
        numbers=True,
        counts="numbers",
        detectable="spread",
    ),
)
_REFERENCES = (
    MeasureKind(
        name="from_reference",
        summary="a share less its reference: a column with a share for each item, or given shares "
        "of the whole",
        compute=f"{_ANALYSE}.references:from_reference",
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
        compute=f"{_ANALYSE}.references:reference_slope",
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
        compute=f"{_ANALYSE}.paired:effect",
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
        compute=f"{_ANALYSE}.joint:joint_effect",
        interval="t over items, or over groups of items that share a control",
        test="which condition is the tested one, drawn anew in each item",
        contrast=("factor", "controls"),
        null=0,
        low=-1,
        high=1,
        detectable="half",
    ),
    MeasureKind(
        name="effect_mean",
        summary="the unweighted mean of the effect over cells, as papers average",
        compute=f"{_ANALYSE}.paired:effect_mean",
        test="none; how many cells have p < .05 is in the note",
        contrast=("factor", "controls", "cells"),
        null=0,
        low=-1,
        high=1,
    ),
    MeasureKind(
        name="cell_mean",
        summary="the unweighted mean of hits / among over cells",
        compute=f"{_ANALYSE}.paired:cell_mean",
        contrast=("cells",),
        low=0,
        high=1,
    ),
    MeasureKind(
        name="item_mean",
        summary="the unweighted mean of the items' shares, an undefined one counted as 0, as "
        "published",
        compute=f"{_ANALYSE}.paired:item_mean",
        contrast=("factor",),
        low=0,
        high=1,
    ),
)
_WHOLE_OUTPUTS = (
    MeasureKind(
        name="from_base",
        summary="divergence of each group from the base, over all attributes of whole outputs",
        compute=f"{_ANALYSE}.cell_scores:from_base",
        interval="none; a null band",
        test="by shuffling whole outputs",
        contrast=_CELLS,
        null=0,
        high=1,
        detectable="divergence",
    ),
    MeasureKind(
        name="between_groups",
        summary="divergence between the groups of a dimension, mean over pairs, over all "
        "attributes of whole outputs",
        compute=f"{_ANALYSE}.cell_scores:between_groups",
        interval="none; a null band",
        test="by shuffling whole outputs",
        contrast=_CELLS,
        null=0,
        high=1,
        detectable="divergence",
    ),
    MeasureKind(
        name="concentration",
        summary="1 − H/H_max of each attribute and prompt, and its difference from the base",
        compute=f"{_ANALYSE}.cell_scores:concentration",
        interval="none; a null band",
        test="the difference: by shuffling whole outputs",
        contrast=_CELLS,
        high=1,
    ),
    MeasureKind(
        name="dominant",
        summary="attributes of which all outputs of a prompt have one value",
        compute=f"{_ANALYSE}.cell_scores:dominant",
        contrast=_CELLS,
        low=0,
        high=1,
    ),
    MeasureKind(
        name="shift",
        summary="attributes whose commonest value is another than the base's",
        compute=f"{_ANALYSE}.cell_scores:shift",
        contrast=_CELLS,
        low=0,
        high=1,
    ),
)
KINDS = {
    kind.name: kind for kind in (*_SHARES, *_NUMBERS, *_REFERENCES, *_CONTROLS, *_WHOLE_OUTPUTS)
}
