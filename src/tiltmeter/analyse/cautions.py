"""What must be known of a run before its divergences are read: attributes that do not apply, groups
of few outputs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ..instruments.images.taxonomy import NOT_APPLICABLE
from ..protocol import EVERY, FEW_OUTPUTS, Protocol
from ..records import HUMAN
from ..store import Store
from ..store.queries import labels
from .output_values import has_value
from .outputs import LabelledOutput, read_labelled_outputs

SHOWN = 5  # places that a warning names


def warnings(store: Store, protocol: Protocol) -> list[str]:
    """Sentences for the command line and the report: panels of one judge, and of measures of whole
    outputs what does not apply or is few.
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
    found = read_labelled_outputs(store, protocol)
    texts: list[str] = []
    for (subject, annotator, _), outputs in found.outputs.items():
        if not annotator.startswith(HUMAN):
            texts += [
                f"{subject}: {text}" for text in _texts(outputs, found.asked, protocol.item, factor)
            ]
    return texts


def _texts(
    outputs: Sequence[LabelledOutput], asked: Sequence[Mapping[str, str]], item: str, factor: str
) -> Iterator[str]:
    groups = dict.fromkeys(((one[item], one[factor]) for one in asked), 0)
    labelled: Counter[tuple[str, str]] = Counter()
    none: Counter[tuple[str, str]] = Counter()
    for factors, values in outputs:
        groups[factors[item], factors[factor]] += any(has_value(values, name) for name in values)
        labelled.update((factors[item], name) for name in values)
        none.update(
            (factors[item], name) for name, value in values.items() if value == NOT_APPLICABLE
        )
    if none:
        told = [
            f"{name} of {thing} ({number} of {labelled[thing, name]})"
            for (thing, name), number in none.most_common()
        ]
        yield (
            "attributes that do not apply are counted and left out of the divergences: "
            f"{_some(told)}"
        )
    small = [
        f"{thing}, {group} ({number})"
        for (thing, group), number in groups.items()
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
