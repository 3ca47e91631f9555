"""The estimates of one variant in the form that a report reads: by stratum, measure and group."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from ...analyse.words.reading import Stratum, group, grouping, inner, key, stratum
from ...protocol import MeasureSpec, Protocol, in_variant, wording
from ...protocol.design.cue_words import word_measures
from ...records import Estimate

K = TypeVar("K")
MANY = 24  # levels; a grouping with more has a folded table of its own and no figure
DEEP = 3  # factors; such a grouping has a table of its own where all rows together are many
SOME = 6  # likewise where each level is one item only (a word), since those are no groups


@dataclass(frozen=True)
class Audit:
    """The estimates of one variant, and the data to put them into words. All figures and tables use
    the order of `strata`. Look-ups are cached, so a report's time grows linearly.
    """

    protocol: Protocol
    estimates: Sequence[Estimate]
    marks: Mapping[str, str]
    strata: tuple[Stratum, ...]

    def spec(self, measure: str) -> MeasureSpec | None:
        """Returns the protocol's measure of this name, or None."""
        return self._specs.get(measure)

    def attribute(self, estimate: Estimate) -> str:
        """Returns the attribute that an estimate counts; by default the first instrument's."""
        spec = self.spec(estimate.measure)
        counted = estimate.condition.get("attribute") or (spec.attribute if spec else "")
        return counted or next(
            (instrument.attribute for instrument in self.protocol.instruments), ""
        )

    def outcomes(self, attribute: str) -> frozenset[str]:
        """Returns the outcomes of all estimates that count an attribute's labels."""
        return frozenset(self._outcomes.get(attribute, ()))

    def of(self, measure: str) -> list[Estimate]:
        """Returns the estimates of one measure, in their given order."""
        return list(self._by_measure.get(measure, ()))

    def wholes(self, measure: str, of: Stratum) -> list[Estimate]:
        """Returns a measure's estimates over a whole stratum, that is, without groups."""
        return list(self._wholes.get((measure, of), ()))

    @cached_property
    def _specs(self) -> dict[str, MeasureSpec]:
        beside = {spec.name: spec for spec in word_measures(self.protocol)}
        return beside | self.protocol.compared_measures

    @cached_property
    def _outcomes(self) -> dict[str, set[str]]:
        outcomes: dict[str, set[str]] = {}
        for estimate in self.estimates:
            outcomes.setdefault(self.attribute(estimate), set()).update(estimate.outcomes)
        return outcomes

    @cached_property
    def _by_measure(self) -> dict[str, list[Estimate]]:
        return grouped(self.estimates, lambda e: e.measure)

    @cached_property
    def _wholes(self) -> dict[tuple[str, Stratum], list[Estimate]]:
        whole = (e for e in self.estimates if not group(e))
        return grouped(whole, lambda e: (e.measure, stratum(e)))

    @cached_property
    def _differing(self) -> frozenset[int]:
        """The indices of a stratum's fields that vary between strata, and index 0, the subject."""
        places = zip(*self.strata, strict=True)
        return frozenset({0, *(n for n, levels in enumerate(places) if len(set(levels)) > 1)})

    @cached_property
    def _bare(self) -> Counter[str]:
        """The number of annotators per name without its hash."""
        return Counter(name.partition("@")[0] for name in {s[1] for s in self.strata})

    def differing_levels(self, estimate: Estimate) -> list[tuple[str, str]]:
        """Lists (name, level) of the subject and of a stratum's other fields that vary."""
        names = ["model", "instrument", *inner()]
        return [
            (names[place], self._stratum_level(names, place, level))
            for place, level in enumerate(stratum(estimate))
            if place in self._differing
        ]

    def _stratum_level(self, names: Sequence[str], place: int, level: str) -> str:
        """Returns the title of a stratum's field."""
        if place == 1:
            return self.instrument(level)
        return wording.title(self.protocol, names[place], level)

    def group_label(self, estimate: Estimate) -> str:
        """Returns the titles of the group's levels, or "all" without a group."""
        levels = group(estimate).items()
        return (
            ", ".join(wording.title(self.protocol, name, level) for name, level in levels) or "all"
        )

    def instrument(self, annotator: str) -> str:
        """Returns an annotator's name, without its hash if unique (the signature has the hash)."""
        bare = annotator.partition("@")[0]
        return annotator if self._bare[bare] > 1 else bare

    def fine(self, measure: str) -> set[tuple[str, ...]]:
        """Returns a measure's groupings with too many levels for a figure or unfolded table."""
        return self._fine.get(measure, set())

    @cached_property
    def _fine(self) -> dict[str, set[tuple[str, ...]]]:
        return {measure: _find_fine(rows) for measure, rows in self._by_measure.items()}

    def brief(self, estimate: Estimate) -> list[tuple[str, str]]:
        """Returns `differing_levels`, without a subject common to all strata if others differ."""
        parts = self.differing_levels(estimate)
        return (
            parts[1:] if len(parts) > 1 and len({other[0] for other in self.strata}) == 1 else parts
        )

    def same(self) -> list[tuple[str, str]]:
        """Lists (name, level) of the fields that all strata share, except the subject."""
        names = ["model", "instrument", *inner()]
        shared = []
        for place in range(1, len(names)):
            levels = {other[place] for other in self.strata}
            if len(levels) == 1 and levels != {""}:
                shared.append((names[place], next(iter(levels))))
        return shared

    def is_sampled(self, estimate: Estimate) -> bool:
        """True if outputs were sampled; False if probabilities were read."""
        mode = self.protocol.modes.get(estimate.condition.get("mode", ""))
        return mode is None or not mode.logprobs

    def items(self, number: float | None = 2) -> str:
        """Returns the protocol's word for an item, in the plural unless `number` is 1."""
        noun = wording.item_noun(self.protocol)
        return noun if number == 1 else f"{noun}s"


def grouped(rows: Iterable[Estimate], key: Callable[[Estimate], K]) -> dict[K, list[Estimate]]:
    """Groups rows by key, with keys in the order of first occurrence."""
    groups: dict[K, list[Estimate]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def audit(protocol: Protocol, estimates: Sequence[Estimate], marks: Mapping[str, str]) -> Audit:
    """Makes an `Audit` of these estimates, with strata in the order of first occurrence."""
    return Audit(
        in_variant(protocol, estimates[0].variant) if estimates else protocol,
        estimates,
        marks,
        tuple(dict.fromkeys(stratum(estimate) for estimate in estimates)),
    )


def _find_fine(rows: Sequence[Estimate]) -> set[tuple[str, ...]]:
    """Returns the groupings of one measure that have too many levels."""
    groupings = grouped(rows, grouping)
    whole = sum(map(len, groupings.values()))
    many = {by for by in groupings if len(by) >= DEEP and whole > MANY and len(groupings) > 1}
    for by, rows in groupings.items():
        levels = len({key(e) for e in rows})
        if levels > MANY or (
            levels > SOME and all((e.clusters or 1) <= 1 and not e.contrast for e in rows)
        ):
            many.add(by)
    return many


def number_signatures(signatures: Iterable[str]) -> dict[str, str]:
    """Returns {signature: its mark (S1, S2, …)}, in the order of first appearance."""
    return {
        text: f"S{place}"
        for place, text in enumerate(dict.fromkeys(text for text in signatures if text), 1)
    }


def together(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Puts rows of one group next to each other; groupings and groups keep their order."""
    first = {key(e): place for place, e in reversed(list(enumerate(estimates)))}
    depth = {by: place for place, by in enumerate(dict.fromkeys(grouping(e) for e in estimates))}
    return sorted(estimates, key=lambda e: (depth[grouping(e)], first[key(e)]))


def slug(*parts: object) -> str:
    """Joins names to an id that is valid in HTML."""
    return re.sub(r"[^\w.-]+", "_", "-".join(map(str, parts)))
