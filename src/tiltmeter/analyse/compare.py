"""Runs of one protocol against one another: subjects, dates or prompts, paired by item and held to
a margin.

The first run is what the others are compared with. One thing may differ at a time: the subject, the
date, or how it was asked (begun answer, temperature). What the signatures say is not comparable is
refused, with the reason. Shares are compared by what both runs have of the same items, differences
and effects by each item's own difference. Where both runs have gold for an annotator, the
difference is corrected by the errors in each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from .. import analyse
from ..errors import RunMismatch, UsageError
from ..protocol import MeasureSpec, Protocol
from ..protocol.contrasts import each_contrast
from ..protocol.measures import measure_kind
from ..records import Estimate
from ..stats import equivalence, multiplicity, rates
from ..stats.results import Interval, joined
from ..store import Store, served_models
from ..store.queries import settings
from . import corrected
from .groups import Floats, Table
from .judged import ALIKE, Sense, Side, correct, enough_gold, sum_by_cluster
from .paired import TESTED, shared_items
from .reading import CORRECTED
from .rows import sign_flip_of

MARGIN = 0.05
FIXED = {
    "protocol": "protocol",
    "version": "version of the protocol",
    "digest": "design (prompts, tables, modes)",
}
ASKED = {"begin": "begun answer", "temperature": "temperature"}
Stratum = tuple[tuple[str, str], ...]  # (what, level): annotator, mode, language, …


@dataclass(frozen=True, slots=True)
class Compared:
    """One row. estimate: second less first, with its interval and test; first, second: the two
    values.

    verdict: different | equivalent | inconclusive against `margin`, or None where nothing could be
    tested.
    """

    estimate: Estimate
    runs: tuple[str, str]
    first: float | None
    second: float | None
    verdict: str | None
    margin: float
    headline: bool

    def as_dict(self) -> dict[str, Any]:
        own = {
            "runs": list(self.runs),
            "first": self.first,
            "second": self.second,
            "verdict": self.verdict,
            "margin": self.margin,
        }
        return {**own, **self.estimate.as_dict()}


@dataclass(frozen=True, slots=True)
class Comparison:
    rows: tuple[Compared, ...]
    warnings: tuple[str, ...]
    left_out: tuple[str, ...]  # measures that are not compared, with the reason


@dataclass(frozen=True, slots=True)
class Part:
    """One subject of one run. tables: its counted labels by (annotator, mode, language, …); gold:
    attributes people labelled.
    """

    name: str
    subject: str
    store: Store
    frozen: Mapping[str, Any]
    tables: Mapping[Stratum, Table]
    gold: frozenset[str]


def compare(
    stores: Sequence[Store],
    protocols: Sequence[Protocol],
    margin: float = MARGIN,
    names: Sequence[str] = (),
) -> Comparison:
    """Every subject of every run against the first. RunMismatch names what makes two of them not
    comparable.

    names: what the runs are called; the names of their folders otherwise.
    """
    if margin <= 0:
        raise UsageError(
            "--margin must be above 0: the largest difference in shares that still counts as none."
        )
    protocol = protocols[0]
    folders = [Path(store.folder).resolve() for store in stores]
    if len(set(folders)) < len(folders):
        raise UsageError("A run is named twice; there is nothing to compare it with.")
    for store in stores[1:]:
        _refuse(stores[0], store)
    names = names or [Path(store.folder).name for store in stores]
    if len(set(names)) < len(names):
        names = [str(store.folder) for store in stores]
    parts = [
        part
        for name, store, own in zip(names, stores, protocols, strict=True)
        for part in _parts(name, store, own)
    ]
    if len(parts) < 2:
        raise UsageError(
            f"{stores[0].folder} holds one subject; name another run to compare it with."
        )
    first, *others = parts
    rows = [row for other in others for row in _compare_parts(protocol, first, other, margin)]
    warnings = [line for other in others for line in _warnings(first, other)]
    return Comparison(
        tuple(_adjust_families(rows)), tuple(dict.fromkeys(warnings)), tuple(_left_out(protocol))
    )


def _refuse(one: Store, other: Store) -> None:
    a, b = settings.frozen(one), settings.frozen(other)
    for key, what in FIXED.items():
        if a.get(key) != b.get(key):
            raise RunMismatch(
                f"{one.folder} and {other.folder} cannot be compared: another {what} "
                f"({a.get(key)}, "
                f"{b.get(key)}). Run the same protocol with the same tiltmeter again."
            )


def _parts(name: str, store: Store, protocol: Protocol) -> list[Part]:
    tables: dict[str, dict[Stratum, Table]] = {}
    gold: set[str] = set()
    for over, stratum, table, found in analyse.tables(store, protocol):
        if not over:
            tables.setdefault(stratum.pop("subject"), {})[tuple(stratum.items())] = table
            gold |= found
    if not tables:
        raise UsageError(f"{store.folder} has no labels yet. Type: tiltmeter label {store.folder}")
    return [
        Part(
            name if len(tables) == 1 else f"{name}: {subject}",
            subject,
            store,
            settings.frozen(store),
            own,
            frozenset(gold),
        )
        for subject, own in tables.items()
    ]


def _compare_parts(
    protocol: Protocol, first: Part, second: Part, margin: float
) -> Iterator[Compared]:
    _refuse_two(first, second)
    common = [stratum for stratum in first.tables if stratum in second.tables]
    if not common:
        told = ("; ".join(map(_stratum_text, part.tables)) for part in (first, second))
        raise RunMismatch(
            f"{first.name} and {second.name} cannot be compared: no annotator labelled both in "
            "the same mode and "
            f"language ({' against '.join(told)}). Type: tiltmeter label RUN --judge … for both."
        )
    for stratum in common:
        tables = first.tables[stratum], second.tables[stratum]
        for measure in analyse.default_measures(protocol):
            if corrected.can_correct(measure) and not measure.over:
                kept = [
                    replace(table, rows=analyse.kept_rows(table.rows, measure.where))
                    for table in tables
                ]
                for by, one in product(measure.by, each_contrast(protocol, measure)):
                    pair = _Pair(first, second, stratum, kept[0], kept[1], one, by, margin)
                    yield from pair.rows()


def _refuse_two(first: Part, second: Part) -> None:
    """Refuses where more than one thing differs, since the difference could then come from
    either.
    """
    differ = [
        f"{what} ({first.frozen.get(key)}, {second.frozen.get(key)})"
        for key, what in ASKED.items()
        if first.frozen.get(key) != second.frozen.get(key)
    ]
    if first.subject != second.subject:
        differ.insert(0, f"subject ({first.subject}, {second.subject})")
    if len(differ) > 1:
        raise RunMismatch(
            f"{first.name} and {second.name} cannot be compared: {' and '.join(differ)} differ "
            "at once, and the difference could come from either. Change one at a time."
        )


def _warnings(first: Part, second: Part) -> Iterator[str]:
    yield from served_models.between(
        served_models.read_served(first.store),
        served_models.read_served(second.store),
        (f"in {first.name}", f"in {second.name}"),
    )
    for part, other in ((first, second), (second, first)):
        alone = [_stratum_text(stratum) for stratum in part.tables if stratum not in other.tables]
        if alone:
            yield f"{part.name} alone has {'; '.join(alone)}: not compared with {other.name}"


def _stratum_text(stratum: Stratum) -> str:
    return " · ".join(level for _, level in stratum if level)


def _left_out(protocol: Protocol) -> Iterator[str]:
    for measure in analyse.default_measures(protocol):
        if measure.headline and not corrected.can_correct(measure):
            what = measure.kind.replace("_", " ")
            yield (
                f"{measure.name}: a {what} has no paired comparison here; read the reports "
                "side by side"
            )


@dataclass(frozen=True)
class _Pair:
    """One measure and grouping in one stratum of two parts."""

    first: Part
    second: Part
    stratum: Stratum
    before: Table
    after: Table
    measure: MeasureSpec
    by: Sequence[str]
    margin: float

    def rows(self) -> Iterator[Compared]:
        sides = [
            corrected.sides(table, self.measure, self.by) for table in (self.before, self.after)
        ]
        for more, values in self.before.values(self.measure):
            for key in (key for key in sides[0] if key in sides[1]):
                condition = {**dict(key), **more}
                hits = (
                    corrected.hits(self.measure, condition, self.by)
                    if self.measure.expected
                    else values
                )
                sense = Sense(
                    hits, self.measure.among, self.measure.without, shared_items(self.before)
                )
                for name in self._names():
                    ends = tuple(dict.fromkeys((TESTED, name)))
                    parts = [[side[key][end] for end in ends if end in side[key]] for side in sides]
                    if all(len(part) == len(ends) for part in parts):
                        yield from self._row(condition, name, parts[0], parts[1], sense)

    def _names(self) -> list[str]:
        """What the tested side is held against: itself for a share, the baseline, or each
        control.
        """
        contrast = self.measure.contrast or {}
        compared = measure_kind(self.measure.kind).sides
        if compared == "one":
            return [TESTED]
        return contrast["controls"].split("|") if compared == "controls" else [contrast["baseline"]]

    def _row(
        self,
        condition: Mapping[str, str],
        name: str,
        before: Sequence[Side],
        after: Sequence[Side],
        sense: Sense,
    ) -> Iterator[Compared]:
        items = _common((*before, *after), sense)
        dropped = len(
            {sense.shared.get(item, item) for side in (*before, *after) for item in side.said}
        ) - len(items)
        before, after = ([_only(side, items, sense) for side in part] for part in (before, after))
        arrays = [
            [
                sum_by_cluster(side, sense, {item: n for n, item in enumerate(items)})
                for side in part
            ]
            for part in (before, after)
        ]
        found, gaps, values = _share(arrays) if len(before) == 1 else _gap(arrays)
        contrast = {"run": f"{self.second.name} − {self.first.name}"}
        if name != TESTED:
            contrast[(self.measure.contrast or {})["factor"]] = name
        where = dict(self.stratum)
        annotator = where.pop("annotator")
        note = f"items that one run alone has: {dropped}" if dropped else None
        base = Estimate(
            self.before.protocol.name,
            self.second.subject,
            annotator,
            self.measure.name,
            {**where, **condition},
            contrast,
            found.value,
            "share",
            found.low,
            found.high,
            found.confidence if found.low is not None else None,
            found.method,
            n=round(found.n or 0.0, 6),
            clusters=len(items),
            family=f"{self.measure.name} by {', '.join(self.by) or 'whole'} | "
            f"{self.second.name} | {_stratum_text(self.stratum)}",
            note=joined(found.note, note) or "",
        )
        if len(items) < 2:
            return  # one item is no population
        test = sign_flip_of(base, gaps)
        base = replace(
            base, test=test.method, p=test.p, note=joined(base.note or None, test.note) or ""
        )
        yield self._with(base, found, values)
        yield from self._corrected_row(base, before, after, sense)

    def _corrected_row(
        self, base: Estimate, before: Sequence[Side], after: Sequence[Side], sense: Sense
    ) -> Iterator[Compared]:
        attribute = self.measure.attribute
        if not (attribute in self.first.gold or attribute in self.second.gold):
            return
        clear = replace(
            base,
            measure=base.measure + CORRECTED,
            value=None,
            low=None,
            high=None,
            confidence=None,
            interval_method=None,
            test=None,
            p=None,
            family=None,
        )
        nothing = Interval(None, None, None, "not corrected")
        missing = [part.name for part in (self.first, self.second) if attribute not in part.gold]
        if missing or len(before) > 1:
            why = (
                f"no gold in {' and '.join(missing)}"
                if missing
                else "a difference of differences is not corrected"
            )
            yield self._with(replace(clear, note=f"uncorrected: {why}"), nothing, (None, None))
            return
        random = all(corrected.is_random(table, attribute) for table in (self.before, self.after))
        parts, alike = [after[0], before[0]], ""
        if not all(
            enough_gold(side, sense, random) for side in parts
        ):  # the errors of each run, of all its conditions together
            parts = [
                Side(side.said, whole.weighted, whole.labels)
                for side, whole in zip(parts, self._wholes, strict=True)
            ]
            random, alike = False, ALIKE
        if not all(enough_gold(side, sense, random) for side in parts):
            why = "too little gold of a class in one of the runs"
            yield self._with(replace(clear, note=f"uncorrected: {why}"), nothing, (None, None))
            return
        made = correct(parts, Side({}), sense, random)
        if made.name == "none":
            yield self._with(
                replace(clear, note=f"uncorrected: {made.note}"), nothing, (None, None)
            )
            return
        row = replace(
            clear,
            value=made.found.value,
            low=made.found.low,
            high=made.found.high,
            correction=made.name,
            note=joined(made.note, alike) or "",
            confidence=made.found.confidence,
            interval_method=made.found.method,
        )
        second, first = (correct((side,), Side({}), sense, random).found.value for side in parts)
        yield self._with(row, made.found, (first, second))

    @cached_property
    def _wholes(self) -> list[Side]:
        """What the annotator says of all conditions of the second run and of the first, with their
        gold.
        """
        share = replace(self.measure, kind="share")
        return [
            corrected.sides(table, share, ()).get((), {}).get(TESTED, Side({}))
            for table in (self.after, self.before)
        ]

    def _with(
        self, row: Estimate, found: Interval, values: tuple[float | None, float | None]
    ) -> Compared:
        """With the verdict against the margin."""
        word = None
        if found.value is not None and found.se and found.df:
            word = equivalence.verdict(
                value=found.value, se=found.se, df=found.df, margin=self.margin
            ).word
        return Compared(
            row,
            (self.first.name, self.second.name),
            *values,
            word,
            self.margin,
            self.measure.headline,
        )


def _common(sides: Sequence[Side], sense: Sense) -> list[str]:
    """Items (or clusters of items that share their controls) that have something in the denominator
    on every side.
    """
    sets = [
        {
            sense.shared.get(item, item)
            for item, values in side.said.items()
            if any(map(sense.counts, values))
        }
        for side in sides
    ]
    return [
        item
        for item in dict.fromkeys(sense.shared.get(item, item) for item in sides[0].said)
        if all(item in one for one in sets)
    ]


_T = TypeVar("_T")


def _only(side: Side, items: Sequence[str], sense: Sense) -> Side:
    names = set(items)

    def keep(by_item: Mapping[str, _T]) -> dict[str, _T]:
        return {k: v for k, v in by_item.items() if sense.shared.get(k, k) in names}

    return Side(keep(side.said), keep(side.weighted), keep(side.labels))


Found = tuple[Interval, Floats, tuple[float | None, float | None]]


def _share(arrays: Sequence[Sequence[tuple[Floats, Floats]]]) -> Found:
    """(second less first, each item's difference, the two shares)."""
    ((xa, na),), ((xb, nb),) = arrays
    found = rates.clustered_difference(successes_a=xb, n_a=nb, successes_b=xa, n_b=na)
    return found, xb / nb - xa / na, (_ratio(xa, na), _ratio(xb, nb))


def _gap(arrays: Sequence[Sequence[tuple[Floats, Floats]]]) -> Found:
    """The same of each item's difference between the tested side and what it is held against."""
    first, second = ((one[0] / one[1] - other[0] / other[1]) for one, other in arrays)
    found = rates.clustered_mean(values=second - first)
    number = sum(float(n.sum()) for part in arrays for _, n in part)
    values = (float(first.mean()), float(second.mean())) if first.size else (None, None)
    return replace(found, n=number), second - first, values


def _ratio(x: Floats, n: Floats) -> float | None:
    return float(x.sum() / n.sum()) if n.sum() > 0 else None


def _adjust_families(rows: Sequence[Compared]) -> Iterator[Compared]:
    """Benjamini–Hochberg inside each family: a measure's groups in one stratum of one pair."""
    families: dict[str | None, list[int]] = {}
    for place, row in enumerate(rows):
        if row.estimate.p is not None:
            families.setdefault(row.estimate.family, []).append(place)
    p: dict[int, float | None] = {}
    for members in families.values():
        found = multiplicity.benjamini_hochberg(p=[rows[place].estimate.p for place in members])
        p |= dict(zip(members, found, strict=True))
    for place, row in enumerate(rows):
        yield (
            replace(row, estimate=replace(row.estimate, p_adjusted=p[place])) if place in p else row
        )
