"""Comparisons of runs of one protocol: by subject, date or prompt, paired by item, with a margin.

All others are compared with the first run. One thing may differ at a time: the subject, the date,
or a setting of the requests (start of the answer, temperature). Runs whose settings cannot be
compared are refused, with the reason. Shares are compared over the items that both runs have,
differences and effects by the change of each item's difference. If both runs have gold for an
annotator, the difference is corrected by the errors in each run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from ...errors import RunMismatch, UsageError
from ...protocol import Protocol
from ...protocol.design.contrasts import each_contrast
from ...records import Estimate
from ...store import Store, served_models
from ...store.queries import endpoints, settings
from ..claims import families
from ..claims.verdicts import Verdict
from ..correction import corrected_rows
from ..counts.count_table import CountTable
from ..measures.estimate_rows import with_detectable
from ..stopping.compared import looks_price, paying
from ..whole_run import measure_run
from . import cell_claims, notebook_page
from . import verdicts as compared_verdicts
from .distances import distances
from .joined_runs import JoinedRuns
from .paired_runs import ComparisonRow, PairedTables, RunPart, Stratum, leading, stratum_text
from .prompt_in_both import PromptInBoth, prompt_in_both
from .scores import ScorePair, can_compare
from .set_up import Difference, differences, made_with
from .verdicts import RunPair

MARGIN = 0.05
DIVERGENCE = "divergence"  # the kind whose distributions are compared
BY_OUTPUTS = (DIVERGENCE, *cell_claims.KINDS)  # compared by shuffling outputs between the runs
FIXED = {
    "protocol": "protocol",
    "version": "version of the protocol",
    "digest": "design (prompts, tables, modes)",
}
LOOKED_AT = ("mode", "language")  # within which prompts of a run are looked at together
ASKED = {"begin": "begun answer", "temperature": "temperature", "system": "system prompt"}


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """The differences between runs, one row per measure and group that they share."""

    rows: tuple[ComparisonRow, ...]
    warnings: tuple[str, ...]
    left_out: tuple[str, ...]  # measures that are not compared, with the reason
    protocol: Protocol
    set_up: tuple[Difference, ...] = ()  # in what the second run differs from the first
    example: PromptInBoth | None = None  # of the leading difference

    @property
    def verdicts(self) -> list[Verdict]:
        """The verdicts of all headline differences, in the order of the protocol."""
        return [row.claim for row in self.rows if row.claim is not None]

    def __repr__(self) -> str:
        counts = Counter(verdict.word for verdict in self.verdicts)
        summary = ", ".join(f"{number} {word}" for word, number in counts.items())
        return f"<Comparison: {len(self.rows)} rows; headline differences: {summary or 'none'}>"

    def _repr_html_(self) -> str:
        return notebook_page.page(self.rows, self.warnings, self.left_out).html()


def compare(
    stores: Sequence[Store],
    protocols: Sequence[Protocol],
    margin: float = MARGIN,
    names: Sequence[str] = (),
) -> Comparison:
    """Compares every subject of every run with the first subject. Raises RunMismatch with the
    reason if two subjects are not comparable.

    names: display names of the runs; if empty, the names of their folders.
    """
    if margin <= 0:
        raise UsageError(
            "--margin must be above 0: it is the largest difference in shares that does not matter."
        )
    protocol = protocols[0]
    refuse_twice(stores)
    names = run_names(stores, names)
    parts = [
        part
        for name, store, protocol_of_run in zip(names, stores, protocols, strict=True)
        for part in read_parts(name, store, protocol_of_run)
    ]
    if len(parts) < 2:
        raise UsageError(
            f"{stores[0].folder} has only one model. Name another run to compare it with."
        )
    first, *others = parts
    pairs = [RunPair(first, other) for other in others]
    for store in stores[1:]:
        refuse_other_design(stores[0], store)
    rows = [row for pair in pairs for row in pair_rows(protocol, pair, margin)]
    warnings = [line for pair in pairs for line in pair_warnings(pair)]
    if all(row.estimate.value is None for row in rows):
        reason = "; ".join([*left_out(protocol), *warnings]) or "no measure has values in both"
        raise RunMismatch(f"There is nothing to compare: {reason}.")
    claimed = tuple(with_claims(protocol, rows, pairs))
    return Comparison(
        claimed,
        tuple(dict.fromkeys(warnings)),
        tuple(left_out(protocol)),
        protocol,
        tuple(_set_up(stores, protocols)),
        _example(protocol, claimed, pairs),
    )


def _example(
    protocol: Protocol, rows: Sequence[ComparisonRow], pairs: Sequence[RunPair]
) -> PromptInBoth | None:
    """Returns one prompt that both runs have, for the leading difference."""
    claimed = [row for row in rows if row.claim is not None]
    if not claimed:
        return None
    lead = leading(claimed)
    pair = next(pair for pair in pairs if pair.names == lead.runs)
    return prompt_in_both(protocol, lead, pair)


def _set_up(stores: Sequence[Store], protocols: Sequence[Protocol]) -> Iterator[Difference]:
    """Yields, once each, the set-up differences between a later run and the first run."""
    settings = [made_with(*one) for one in zip(stores, protocols, strict=True)]
    diffs = [difference for later in settings[1:] for difference in differences(settings[0], later)]
    for fact in dict.fromkeys(one.what for one in diffs):
        same_fact = [one for one in diffs if one.what == fact]
        after = " or ".join(dict.fromkeys(one.after or "none" for one in same_fact))
        yield same_fact[0]._replace(after=after)


def refuse_twice(stores: Sequence[Store]) -> None:
    """Raises UsageError if a run is named twice."""
    if len({Path(store.folder).resolve() for store in stores}) < len(stores):
        raise UsageError("A run is named twice. Name each run once.")


def run_names(stores: Sequence[Store], names: Sequence[str] = ()) -> Sequence[str]:
    """Returns the given names, or the folders' names; the paths if two names are equal."""
    names = names or [Path(store.folder).name for store in stores]
    return names if len(set(names)) == len(names) else [str(store.folder) for store in stores]


def with_claims(
    protocol: Protocol, rows: Sequence[ComparisonRow], pairs: Sequence[RunPair]
) -> list[ComparisonRow]:
    """Adjusts p over the rows of all pairs, and adds the verdict of each headline claim."""
    return compared_verdicts.with_verdicts(protocol, _adjust_families(protocol, rows), pairs)


def refuse_other_design(one: Store, other: Store) -> None:
    """Raises RunMismatch if two runs differ in protocol, version or design."""
    a, b = settings.frozen(one), settings.frozen(other)
    for key, noun in FIXED.items():
        if a.get(key) != b.get(key):
            raise RunMismatch(
                f"{one.folder} and {other.folder} cannot be compared: their {noun} differs "
                f"({a.get(key)}, {b.get(key)}). Run the same protocol again with the same "
                "tiltmeter."
            )


def read_parts(name: str, store: Store, protocol: Protocol) -> list[RunPart]:
    """Reads each subject of a run with its counts of labels. Raises UsageError without labels."""
    tables: dict[str, dict[Stratum, CountTable]] = {}
    gold: set[str] = set()
    for over, stratum, table, gold_of_stratum in measure_run.tables(store, protocol):
        if not over:
            tables.setdefault(stratum.pop("subject"), {})[tuple(stratum.items())] = table
            gold |= gold_of_stratum
    if not tables:
        raise UsageError(f"{store.folder} has no labels yet. Type: tiltmeter label {store.folder}")
    return [
        RunPart(
            name if len(tables) == 1 else f"{name}: {subject}",
            subject,
            store,
            settings.frozen(store),
            rows,
            frozenset(gold),
        )
        for subject, rows in tables.items()
    ]


def pair_rows(protocol: Protocol, pair: RunPair, margin: float) -> Iterator[ComparisonRow]:
    """Yields every difference of two subjects, with unadjusted p. Raises RunMismatch if more than
    one thing differs, or the two have nothing in common.

    If a run stopped early, p and intervals allow for its interim looks, and no difference counts
    as smaller than the margin.
    """
    cached: dict[tuple[tuple[str, str], ...], tuple[tuple[float, float], ...]] = {}
    for row in _pair_rows(protocol, pair, margin):
        condition = row.estimate.condition
        place = tuple((name, condition[name]) for name in LOOKED_AT if condition.get(name))
        if place not in cached:
            cached[place] = tuple(looks_price(p.store, p.subject, dict(place)) for p in pair)
        if cached[place] == ((1.0, 1.0), (1.0, 1.0)):
            yield row
        else:
            within = None if row.within_margin is None else False
            yield replace(row, estimate=paying(row.estimate, cached[place]), within_margin=within)


def _pair_rows(protocol: Protocol, pair: RunPair, margin: float) -> Iterator[ComparisonRow]:
    first, second = pair
    _refuse_two(first, second)
    strata = [stratum for stratum in first.tables if stratum in second.tables]
    if not strata:
        raise RunMismatch(_nothing_common(first, second))
    for stratum, measure in product(strata, measure_run.default_measures(protocol)):
        if measure.over:
            continue
        tables = first.tables[stratum], second.tables[stratum]
        if can_compare(measure):
            pairing = PairedTables(first, second, stratum, *tables, measure, margin)
            yield from ScorePair(pairing).rows()
            continue
        before, after = (
            replace(table, rows=measure_run.kept_rows(table.rows, measure.where))
            for table in tables
        )
        pairing = PairedTables(first, second, stratum, before, after, measure, margin)
        if measure.kind in cell_claims.KINDS:
            yield from cell_claims.cell_claims(pairing)
        elif measure.kind == DIVERGENCE:
            yield from distances(pairing)
        elif corrected_rows.can_correct(measure):
            for by, one in product(measure.by, each_contrast(protocol, measure)):
                yield from JoinedRuns(replace(pairing, measure=one), by).rows()


def _nothing_common(first: RunPart, second: RunPart) -> str:
    """Returns the reason why two subjects have no stratum in common, and the advice for it."""
    begins = f"{first.name} and {second.name} cannot be compared:"
    languages, modes = (
        [{dict(stratum).get(part, "") for stratum in side.tables} for side in (first, second)]
        for part in ("language", "mode")
    )
    if languages[0].isdisjoint(languages[1]):
        return (
            f"{begins} they have no language in common ({' against '.join(map(_named, languages))})"
            ". To compare languages, ask them in one run: put all prompts into one table with a "
            "column 'language', and type: tiltmeter init both.toml --from TABLE"
        )
    if modes[0].isdisjoint(modes[1]):
        return (
            f"{begins} they have no mode in common ({' against '.join(map(_named, modes))}). Run "
            f"both in one, such as: --mode {min(modes[0])}"
        )
    sides = ("; ".join(map(stratum_text, part.tables)) for part in (first, second))
    return (
        f"{begins} no annotator labelled both in the same mode and language "
        f"({' against '.join(sides)}). Type: tiltmeter label RUN --judge … for both."
    )


def _named(levels: Iterable[str]) -> str:
    return ", ".join(sorted(levels))


def _refuse_two(first: RunPart, second: RunPart) -> None:
    """Raises RunMismatch if several settings differ, as each could have caused a difference."""
    differing = [
        f"{what} ({first.frozen.get(key)}, {second.frozen.get(key)})"
        for key, what in ASKED.items()
        if first.frozen.get(key) != second.frozen.get(key)
    ]
    if first.subject != second.subject:
        differing.insert(0, f"subject ({first.subject}, {second.subject})")
    if len(differing) > 1:
        raise RunMismatch(
            f"{first.name} and {second.name} cannot be compared: {' and '.join(differing)} differ "
            "at once, and the difference could come from either. Change one at a time."
        )


def pair_warnings(pair: RunPair) -> Iterator[str]:
    """Yields warnings: models changed behind a name, early stopping, strata in one run only."""
    first, second = pair
    yield from served_models.between(
        served_models.read_served(first.store),
        served_models.read_served(second.store),
        (f"in {first.name}", f"in {second.name}"),
    )
    yield from endpoints.differences(
        first.store, second.store, (f"in {first.name}", f"in {second.name}")
    )
    for part, other in ((first, second), (second, first)):
        unshared = [stratum_text(stratum) for stratum in part.tables if stratum not in other.tables]
        if looks_price(part.store, part.subject, {})[0] > 1:
            yield (
                f"{part.name} stopped early: p of each difference and its interval allow for its "
                "looks, and none is called equivalent"
            )
        if unshared:
            yield f"{part.name} alone has {'; '.join(unshared)}: not compared with {other.name}"


def left_out(protocol: Protocol) -> Iterator[str]:
    """Yields a line per headline measure that cannot be compared, with the reason."""
    for measure in measure_run.default_measures(protocol):
        has_test = corrected_rows.can_correct(measure) or can_compare(measure)
        if measure.headline and not has_test and measure.kind not in BY_OUTPUTS:
            noun = measure.kind.replace("_", " ")
            yield (
                f"{measure.name}: a {noun} has no paired comparison here; read the reports "
                "side by side"
            )


def _adjust_families(protocol: Protocol, rows: Sequence[ComparisonRow]) -> list[ComparisonRow]:
    """Adjusts p: by Holm over all headline differences of all pairs; by Benjamini–Hochberg within
    each other measure (`claims.adjust_by_claim`).
    """
    adjusted = families.adjust_by_claim(protocol, [row.estimate for row in rows])
    return [
        replace(row, estimate=_with_detectable(one))
        for row, one in zip(rows, adjusted, strict=True)
    ]


def _with_detectable(row: Estimate) -> Estimate:
    """Adds the smallest detectable difference (80 % power) to headline rows only."""
    is_headline = (row.family or "").startswith(families.HEADLINE)
    return with_detectable(row if is_headline else replace(row, detect=None))
