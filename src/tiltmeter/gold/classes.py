"""The shares of all classes of an attribute, corrected by an annotator's confusion matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..protocol import Protocol
from ..stats.judges import confusion
from ..stats.judges.multiclass import corrected_shares
from ..stats.results import Interval
from ..store import Store
from ..store.queries import label_counts
from . import GoldPair


@dataclass(frozen=True, slots=True)
class ClassShare:
    """The share of a class among a subject's outputs that have a class. said: uncorrected share."""

    subject: str
    value: str
    said: Interval
    corrected: Interval


def shares(
    store: Store,
    protocol: Protocol,
    annotator: str,
    attribute: str,
    rows: Sequence[GoldPair],
    classes: Sequence[str],
) -> list[ClassShare]:
    """Returns the share of each class per subject. One confusion matrix, over all gold, corrects
    all shares; both leave out labels outside the classes.

    classes: the values that people gave; with fewer than two nothing can be corrected.
    """
    if len(classes) < 2:
        return []
    code = {value: place for place, value in enumerate(classes)}
    in_class = [row for row in rows if row.said in code]
    weights = [
        (one.subject, one.levels.get(protocol.item, ""), one.value, one.weight)
        for one in label_counts.condition_weights(store, annotator, attribute)
        if one.value in code
    ]
    gold_items = [row.item(protocol.item) for row in in_class]
    names = dict.fromkeys((*(item for _, item, _, _ in weights), *gold_items))
    items = {item: place for place, item in enumerate(names)}
    gold = confusion.confusion(
        truth=[code[row.truth] for row in in_class],
        said=[code[row.said] for row in in_class],
        classes=len(classes),
        clusters=[items[item] for item in gold_items],
        items=len(items),
        weights=[row.weight for row in in_class],
    )
    results = []
    for subject in dict.fromkeys(subject for subject, _, _, _ in weights):
        table = np.zeros((len(items), len(classes)))
        for name, item, value, weight in weights:
            if name == subject:
                table[items[item], code[value]] += weight
        corrected = corrected_shares(said=table, gold=gold)
        results += [
            ClassShare(subject, value, raw, estimate)
            for value, raw, estimate in zip(
                classes, corrected.uncorrected, corrected.corrected, strict=True
            )
        ]
    return results
