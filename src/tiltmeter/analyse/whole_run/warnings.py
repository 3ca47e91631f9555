"""Warnings about a run's divergences: attributes that do not apply, groups with few outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ...instruments.images import taxonomy
from ...protocol import EVERY, FEW_OUTPUTS, Protocol
from ...store import Store
from ...store.queries import label_counts, labels, trials

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
    with_value = label_counts.count_with_value(store, taxonomy.RESERVED)
    without = label_counts.count_of_values(store, taxonomy.RESERVED)
    none = label_counts.count_of_values(store, (taxonomy.NOT_APPLICABLE,)) if without else []
    attributes = list(dict.fromkeys(one.attribute for one in none))
    labelled = label_counts.count_of_attributes(store, attributes) if attributes else []
    texts: list[str] = []
    for whose in dict.fromkeys(one[:3] for one in (*with_value, *without)):
        groups, absent, of = (
            _sum_counts(rows, whose, (item, name))
            for rows, name in ((with_value, factor), (none, ""), (labelled, ""))
        )
        lines = _texts(dict.fromkeys(cells, 0) | groups, absent, of)
        texts += [f"{whose[0]}: {text}" for text in lines]
    return texts


def _sum_counts(
    counts: Sequence[label_counts.CellCount], whose: tuple[str, str, str], names: tuple[str, str]
) -> Counter[tuple[str, str]]:
    """Sums outputs by two factors (or factor, attribute). whose: subject, annotator, mode."""
    sums: Counter[tuple[str, str]] = Counter()
    for count in counts:
        if count[:3] == whose:
            item, factor = names
            name = count.levels[factor] if factor else count.attribute
            sums[count.levels[item], name] += count.outputs
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
