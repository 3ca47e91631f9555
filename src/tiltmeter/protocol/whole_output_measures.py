"""The kinds of measures of whole outputs, with all their attributes, that ship with tiltmeter."""

from __future__ import annotations

from .measure_kinds import MeasureKind

_SCORES = "tiltmeter.analyse.scores"
_CELLS = (
    "factor",
    "baseline",
    "within",
)  # what a contrast names: of groups against a base inside a dimension
_POOLED = ("factor", "baseline", "within", "cells")  # … and over the cells, such as objects
_BITS = "share of 1 bit"
_MANY_CELLS = "the largest cell or the mean divergence, by shuffling whole outputs"

WHOLE_OUTPUTS = (
    MeasureKind(
        name="from_base",
        summary="divergence of each group from the base, over all attributes of whole outputs",
        compute=f"{_SCORES}.kinds:from_base",
        unit=_BITS,
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
        compute=f"{_SCORES}.kinds:between_groups",
        unit=_BITS,
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
        compute=f"{_SCORES}.kinds:concentration",
        unit="concentration",
        interval="none; a null band",
        test="the difference: by shuffling whole outputs",
        contrast=_CELLS,
        high=1,
    ),
    MeasureKind(
        name="dominant",
        summary="attributes of which all outputs of a prompt have one value",
        compute=f"{_SCORES}.kinds:dominant",
        contrast=_CELLS,
        low=0,
        high=1,
    ),
    MeasureKind(
        name="shift",
        summary="attributes whose commonest value is another than the base's",
        compute=f"{_SCORES}.kinds:shift",
        contrast=_CELLS,
        low=0,
        high=1,
    ),
    MeasureKind(
        name="cells_from_base",
        summary="each group against the base over all objects and attributes of whole outputs: "
        "one claim; the difference of the largest cell",
        compute=f"{_SCORES}.many_cells:from_base",
        test=_MANY_CELLS,
        contrast=_POOLED,
        null=0,
        low=-1,
        high=1,
        detectable="cells",
    ),
    MeasureKind(
        name="cells_between_groups",
        summary="the groups of a dimension among one another, over all objects and attributes of "
        "whole outputs: one claim; the difference of the largest cell",
        compute=f"{_SCORES}.many_cells:between_groups",
        test=_MANY_CELLS,
        contrast=_POOLED,
        null=0,
        low=-1,
        high=1,
        detectable="cells",
    ),
    MeasureKind(
        name="cells_between_levels",
        summary="the labels of the levels of a factor among one another: one claim; the "
        "difference of the largest cell",
        compute=f"{_SCORES}.many_cells:between_levels",
        test=_MANY_CELLS,
        contrast=("factor",),
        null=0,
        low=-1,
        high=1,
        detectable="cells",
    ),
    MeasureKind(
        name="from_base_pooled",
        summary="divergence of the groups from the base, mean over cells such as objects",
        compute=f"{_SCORES}.over_cells:from_base",
        unit=_BITS,
        interval="none; a null band",
        test="by shuffling whole outputs inside each cell",
        contrast=_POOLED,
        null=0,
        high=1,
    ),
    MeasureKind(
        name="between_groups_pooled",
        summary="divergence between the groups of a dimension, mean over cells such as objects",
        compute=f"{_SCORES}.over_cells:between_groups",
        unit=_BITS,
        interval="none; a null band",
        test="by shuffling whole outputs inside each cell",
        contrast=_POOLED,
        null=0,
        high=1,
    ),
    MeasureKind(
        name="concentration_pooled",
        summary="1 − H/H_max, mean over cells such as objects, and its difference from the base",
        compute=f"{_SCORES}.over_cells:concentration",
        unit="concentration",
        interval="none; a null band",
        test="the difference: by shuffling whole outputs inside each cell",
        contrast=_POOLED,
        high=1,
    ),
    MeasureKind(
        name="dominant_total",
        summary="share of prompts × attributes, over all cells, of which all outputs have one "
        "value",
        compute=f"{_SCORES}.over_cells:dominant",
        contrast=_POOLED,
        low=0,
        high=1,
    ),
    MeasureKind(
        name="shift_total",
        summary="share of groups × attributes, over all cells, whose commonest value is another "
        "than the base's",
        compute=f"{_SCORES}.over_cells:shift",
        contrast=_POOLED,
        low=0,
        high=1,
    ),
)
