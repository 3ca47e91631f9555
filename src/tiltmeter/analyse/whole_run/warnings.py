"""Warnings about a run's divergences: attributes that do not apply, groups with few outputs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from ...instruments.images import taxonomy
from ...protocol import EVERY, FEW_OUTPUTS, Protocol
from ...records import HUMAN
from ...store import Store
from ...store.queries import labels, trials
from ..counts.label_counts import read_cells
from ..counts.stored_labels import StoredLabels, stored_labels

Whose = tuple[str, str, str]  # subject, annotator, mode

SHOWN = 5  # places that a warning names


def warnings(store: Store, protocol: Protocol) -> list[str]:
    """Lists warnings for the command line and the report: on panels of one judge; and, for measures
    of whole outputs, on attributes that do not apply and on small groups.
    """
    return [*_panels_of_one(store), *_whole_outputs(store, protocol)]


def _panels_of_one(store: Store) -> Iterator[str]:
    for annotator in labels.panels_of_one(store):
        yield (
            f"{annotator} is a panel of one judge: its word is the label, no other judge can "
            "disagree, and nothing says how often it errs. Name others with --judge"
        )


def _whole_outputs(store: Store, protocol: Protocol) -> list[str]:
    factor = next(
        (m.contrast["factor"] for m in protocol.measures if m.attribute == EVERY and m.contrast), ""
    )
    if not factor:
        return []
    item, aside = protocol.item, [n for n, mode in protocol.modes.items() if mode.for_discovery]
    cells = [(one[item], one[factor]) for one in trials.cells_outside(store, aside)]
    conditions, places = read_cells(store, (item, factor))
    stored = stored_labels(store)
    rows = _machine_labels(stored).join(places, on="n", maintain_order="left")
    is_empty = pl.col("value").is_in(stored.indices(taxonomy.RESERVED))
    none = rows.filter(pl.col("value").is_in(stored.indices([taxonomy.NOT_APPLICABLE])))
    of_same = rows.filter(pl.col("attribute").is_in(none["attribute"].unique().to_list()))
    with_value, without, absent, labelled = (
        _count_outputs(part, conditions, stored.texts, about)
        for part, about in (
            (rows.filter(~is_empty), factor),
            (rows.filter(is_empty), factor),
            (none, "attribute"),
            (of_same, "attribute"),
        )
    )
    texts: list[str] = []
    for whose in dict.fromkeys((*with_value, *without)):
        groups = dict.fromkeys(cells, 0) | with_value[whose]
        lines = _texts(groups, absent[whose], labelled[whose])
        texts += [f"{whose[0]}: {text}" for text in lines]
    return texts


def _machine_labels(stored: StoredLabels) -> pl.DataFrame:
    machines = (~stored.texts.str.starts_with(HUMAN)).arg_true().to_list()
    return pl.concat([one.filter(pl.col("annotator").is_in(machines)) for one in stored.pieces])


def _count_outputs(
    rows: pl.DataFrame, conditions: pl.DataFrame, texts: pl.Series, about: str
) -> defaultdict[Whose, Counter[tuple[str, str]]]:
    """Counts the outputs that some labels are of, by item and a factor or "attribute"; sorted by
    first output. conditions: those of each `place`; texts: the words that rows name by index.
    """
    keys = ["annotator", "place", *(["attribute"] if about == "attribute" else [])]
    counted = rows.unique(["n", *keys]).group_by(keys).agg(pl.col("n").min(), outputs=pl.len())
    sums: defaultdict[Whose, Counter[tuple[str, str]]] = defaultdict(Counter)
    for annotator, place, *attribute, _, outputs in counted.sort("n", *keys).iter_rows():
        subject, mode, item, level = conditions.row(place)
        name = texts[attribute[0]] if attribute else level
        sums[subject, texts[annotator], mode][item, name] += outputs
    return sums


def _texts(
    groups: Mapping[tuple[str, str], int],
    none: Counter[tuple[str, str]],
    labelled: Mapping[tuple[str, str], int],
) -> Iterator[str]:
    """Yields warnings. groups: the outputs with a value, by (item, group); none: by (item,
    attribute), the outputs to which the attribute does not apply; labelled: all labelled outputs.
    """
    if none:
        texts = [
            f"{name} of {noun} ({number} of {labelled[noun, name]})"
            for (noun, name), number in none.most_common()
        ]
        yield (
            "attributes that do not apply are counted and left out of the divergences: "
            f"{_some(texts)}"
        )
    small = [
        f"{noun}, {group} ({number})"
        for (noun, group), number in groups.items()
        if number < FEW_OUTPUTS
    ]
    if small:
        yield (
            f"of groups with fewer than {FEW_OUTPUTS} labelled pictures little can be said: "
            f"{_some(small)}"
        )


def _some(told: Sequence[str]) -> str:
    more = f", and {len(told) - SHOWN} more" if len(told) > SHOWN else ""
    return ", ".join(told[:SHOWN]) + more
