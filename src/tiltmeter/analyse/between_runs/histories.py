"""One protocol over time: its runs in order of date, the changes from each run to the next, and the
headline numbers that moved by more than noise.

Each run is compared with the one before it, and the last with the first, as `compare` does. All
headline differences of all these steps are one family, adjusted by Holm, even if a protocol
puts some into families of their own: if nothing changes, at most 5 % of histories show any step.
If two runs cannot be compared (another version of the protocol, another judge, two things at
once), the history says so and claims nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ...errors import RunMismatch, UsageError
from ...protocol import Protocol
from ...records import Json
from ...store import Store
from ...store.queries import calls, labels
from ..claims.verdicts import Verdict
from ..words.verdict_words import Word
from . import compare
from .compare import MARGIN
from .paired_runs import ComparisonRow, RunPart, held_of
from .set_up import Difference, differences, made_with
from .verdicts import RunPair

NO_HEADLINE = "no headline number could be tested against the other run"
Levels = tuple[tuple[str, str], ...]
Key = tuple[str, str, str, Levels, Levels]  # model, annotator, measure, condition, contrast


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run to put into a history. verdicts: on the run's own headline claims."""

    store: Store
    protocol: Protocol
    verdicts: Sequence[Verdict]


@dataclass(frozen=True, slots=True)
class DatedRun:
    """A run in a history. date: of its last answer, "" for none; made_with: its set-up."""

    name: str
    date: str
    made_with: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """The step between two runs (by their indices in the history). verdicts: of each headline
    difference; not_compared: reasons why models have no verdict.
    """

    first: int
    second: int
    changes: tuple[Difference, ...]
    verdicts: tuple[Verdict, ...]
    not_compared: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def told(self) -> list[Verdict]:
        """The verdicts whose difference is significant."""
        return [verdict for verdict in self.verdicts if verdict.word == Word.DIFFERENT]


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """A headline number over runs: its verdict per run (values) and per step; None if missing."""

    measure: str
    subject: str
    condition: Mapping[str, str]
    contrast: Mapping[str, str]
    values: tuple[Verdict | None, ...]
    steps: tuple[Verdict | None, ...]


@dataclass(frozen=True, slots=True)
class History:
    """Runs of one protocol, oldest first. steps: each run against the next; since_first: the last
    against the first, None if there are only two runs; lines: one per headline number;
    changed_words: verdicts that another version of the rules worded differently.
    """

    protocol: Protocol
    runs: tuple[DatedRun, ...]
    steps: tuple[HistoryStep, ...]
    since_first: HistoryStep | None
    lines: tuple[HistoryLine, ...]
    left_out: tuple[str, ...]
    margin: float
    changed_words: tuple[str, ...] = ()

    @property
    def every_step(self) -> list[HistoryStep]:
        """The steps, then the comparison of the last run with the first."""
        return [*self.steps, *([self.since_first] if self.since_first else [])]

    def as_dict(self) -> dict[str, Json]:
        """Returns plain values for JSON; a step refers to runs by index."""
        return {
            "protocol": self.protocol.name,
            "margin": self.margin,
            "runs": [
                {"name": run.name, "date": run.date, "made_with": dict(run.made_with)}
                for run in self.runs
            ],
            "steps": [_step_as_dict(step) for step in self.steps],
            "since_first": _step_as_dict(self.since_first) if self.since_first else None,
            "not_compared": list(self.left_out),
            "changed_words": list(self.changed_words),
            "lines": [_line_as_dict(line) for line in self.lines],
        }


def _step_as_dict(step: HistoryStep) -> dict[str, Json]:
    return {
        "runs": [step.first, step.second],
        "changes": [change._asdict() for change in step.changes],
        "verdicts": [verdict.as_dict() for verdict in step.verdicts],
        "not_compared": list(step.not_compared),
        "warnings": list(step.warnings),
    }


def _line_as_dict(line: HistoryLine) -> dict[str, Json]:
    return {
        "measure": line.measure,
        "subject": line.subject,
        "condition": dict(line.condition),
        "contrast": dict(line.contrast),
        "values": [
            None
            if value is None
            else {"value": value.value, "low": value.low, "high": value.high, "n": value.n}
            for value in line.values
        ],
    }


def history(runs: Sequence[OpenRun], margin: float = MARGIN) -> History:
    """Returns the history of runs of one protocol, given in any order. Raises UsageError if there
    are fewer than two runs, or several protocols.
    """
    if len(runs) < 2:
        raise UsageError("Name at least two runs. Type: tiltmeter history RUN RUN …")
    names = list(dict.fromkeys(run.protocol.name for run in runs))
    if len(names) > 1:
        raise UsageError(f"Name runs of one protocol; these are of {' and '.join(names)}.")
    compare.refuse_twice([run.store for run in runs])
    called = compare.run_names([run.store for run in runs])
    ordered_runs = sorted(
        ((_date(run.store), place) for place, run in enumerate(runs)),
        key=lambda one: (one[0] == "", one),
    )
    ordered = [runs[place] for _, place in ordered_runs]
    runs_of_history = tuple(
        DatedRun(called[place], date, made_with(runs[place].store, runs[place].protocol))
        for date, place in ordered_runs
    )
    all_steps = _steps(ordered, runs_of_history, margin)
    steps = all_steps[: len(runs) - 1]
    return History(
        ordered[-1].protocol,
        runs_of_history,
        tuple(steps),
        all_steps[-1] if len(runs) > 2 else None,
        tuple(_lines(ordered, steps)),
        tuple(compare.left_out(ordered[-1].protocol)),
        margin,
    )


def _date(store: Store) -> str:
    """Returns the date of a run's last answer, or of its last label if the run was imported."""
    return max((row.last for row in calls.sums(store)), default="") or labels.last_date(store)


def _steps(runs: Sequence[OpenRun], made: Sequence[DatedRun], margin: float) -> list[HistoryStep]:
    """Compares each run with the one before it, and finally the last with the first."""
    parts = [
        compare.read_parts(one.name, run.store, run.protocol)
        for one, run in zip(made, runs, strict=True)
    ]
    keys = dict.fromkeys([*pairwise(range(len(runs))), (0, len(runs) - 1)])
    rows: list[ComparisonRow] = []
    pairs: dict[tuple[int, int], list[RunPair]] = {}
    reasons: dict[tuple[int, int], list[str]] = {}
    for first, second in keys:
        compared, refusals = _compare_pairs(runs, parts, (first, second), margin)
        pairs[first, second], reasons[first, second] = [pair for pair, _ in compared], refusals
        rows += [row for _, group in compared for row in group]
    all_pairs = [pair for group in pairs.values() for pair in group]
    judged = compare.with_claims(as_one_family([run.protocol for run in runs]), rows, all_pairs)
    return [_step(key, made, pairs[key], judged, reasons[key]) for key in keys]


def _step(
    place: tuple[int, int],
    made: Sequence[DatedRun],
    pairs: Sequence[RunPair],
    judged: Sequence[ComparisonRow],
    reasons: Sequence[str],
) -> HistoryStep:
    """Returns the step between two runs, by index. judged: rows of all steps, with verdicts."""
    first, second = place
    names = {pair.names for pair in pairs}
    verdicts = tuple(row.claim for row in judged if row.claim and row.runs in names)
    notes = [*reasons] or ([] if verdicts else [NO_HEADLINE])
    warnings = tuple(line for pair in pairs for line in compare.pair_warnings(pair))
    changes = tuple(differences(made[first].made_with, made[second].made_with))
    return HistoryStep(first, second, changes, verdicts, tuple(notes), warnings)


def _compare_pairs(
    runs: Sequence[OpenRun],
    parts: Sequence[Sequence[RunPart]],
    place: tuple[int, int],
    margin: float,
) -> tuple[list[tuple[RunPair, list[ComparisonRow]]], list[str]]:
    """Returns (pairs of subjects with their rows, reasons why others are not compared)."""
    first, second = place
    try:
        compare.refuse_other_design(runs[first].store, runs[second].store)
    except RunMismatch as error:
        return [], [str(error)]
    compared, refusals = [], []
    common = _common(parts[first], parts[second])
    if not common:
        refusals.append("the two runs have no model in common")
    for pair in common:
        try:
            compared.append((pair, list(compare.pair_rows(runs[second].protocol, pair, margin))))
        except RunMismatch as error:
            refusals.append(str(error))
    return compared, refusals


def _common(before: Sequence[RunPart], after: Sequence[RunPart]) -> list[RunPair]:
    """Pairs the models that both runs have; if each run has only one, pairs these two."""
    if len(before) == len(after) == 1:
        return [RunPair(before[0], after[0])]
    earlier = {part.subject: part for part in before}
    return [RunPair(earlier[part.subject], part) for part in after if part.subject in earlier]


def as_one_family(protocols: Sequence[Protocol]) -> Protocol:
    """Returns the last version of a protocol, with measures added that only earlier versions
    declare, and with all headlines in one family.
    """
    by_name = {m.name: m for protocol in reversed(protocols) for m in reversed(protocol.measures)}
    latest = {measure.name: measure for measure in protocols[-1].measures}
    measures = {**latest, **{name: m for name, m in by_name.items() if name not in latest}}
    joined = (replace(m, family="") if m.headline else m for m in measures.values())
    return replace(protocols[-1], measures=tuple(joined))


def _lines(runs: Sequence[OpenRun], steps: Sequence[HistoryStep]) -> Iterator[HistoryLine]:
    """Yields one line per headline number: one measure, set of levels, model and annotator."""
    by_run = [[*run.verdicts] for run in runs]
    has_several_models = any(len({one.subject for one in group}) > 1 for group in by_run)
    has_several_annotators = any(_several_annotators(group) for group in by_run)

    def key(one: Verdict) -> Key:
        levels = held_of(one)
        return (
            one.subject if has_several_models else "",
            one.instrument.partition("@")[0] if has_several_annotators else "",
            one.measure,
            tuple(sorted(one.condition.items())),
            tuple(sorted(levels.items())),
        )

    values = [{key(one): one for one in group} for group in by_run]
    verdicts = [{key(verdict): verdict for verdict in step.verdicts} for step in steps]
    for line_key in dict.fromkeys(one for group in values for one in group):
        subject, _, measure, condition, contrast = line_key
        yield HistoryLine(
            measure,
            subject,
            dict(condition),
            dict(contrast),
            tuple(group.get(line_key) for group in values),
            tuple(group.get(line_key) for group in verdicts),
        )


def _several_annotators(own: Sequence[Verdict]) -> bool:
    """True if a run has the same headline number from several annotators."""
    keys = [(one.subject, one.measure, str(one.condition), str(one.contrast)) for one in own]
    return len(set(keys)) < len(keys)
