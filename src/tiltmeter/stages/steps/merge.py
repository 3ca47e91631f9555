"""Merges runs of one plan into one: shards answered on many machines, or runs of one audit with
different subjects. The merged run resumes, is labelled and reported like any single run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ...errors import RunMismatch, UsageError
from ...records import Json
from ...stats.results import count_of
from ...store import Store, served_models
from ...store.merging import RowCounts, count_rows, merge_rows, refuse_damaged
from ...store.queries import batches, calls, looks, settings
from ...store.queries.settings import Frozen, MergedPart, ShardRecord
from ...store.served_models import Served
from ..planning import shards
from ..planning.stored_plan import adopt_choices, widen_plan
from . import injection_count


@dataclass(frozen=True, slots=True)
class Merged:
    """A run after others were merged into it. rows: its rows; added: rows added by this merge;
    missing: shards, such as "3/16", that were not merged; open: planned trials without an answer.
    """

    runs: int
    rows: RowCounts
    added: RowCounts
    missing: Sequence[str]
    open: int


def merge(runs: Sequence[Path], out: Path) -> Merged:
    """Joins runs into the run `out`, new or existing. Merging the same run again changes nothing.

    Raises RunMismatch if two runs contradict each other, UsageError if a run cannot be merged.
    """
    if any(run.resolve() == out.resolve() for run in runs):
        raise UsageError(f"{out} is one of the runs to merge. Name another folder: --out RUN")
    _refuse_strangers(runs, out)
    with Store(out, create=True, writing=True) as store:
        old_counts, pictures = count_rows(store), 0
        for run in runs:
            with Store(run) as source:
                adopt = partial(_adopt_settings, store, source)
                pictures += merge_rows(store, source, adopt, (injection_count.KIND,))
        injection_count.write_counts(store)
        rows = count_rows(store)
        added = rows.since(old_counts, pictures)
        progress = settings.progress(store)
        missing = progress.planned - progress.answered
        return Merged(len(runs), rows, added, _missing(store), missing)


@dataclass(slots=True)
class _Known:
    """The facts of the runs compared so far, each with the folder in which it was first met."""

    folder: Path
    frozen: Frozen
    shard: tuple[Path, ShardRecord] | None
    served: list[tuple[Path, list[Served]]]


def _refuse_strangers(runs: Sequence[Path], out: Path) -> None:
    """Raises RunMismatch if the runs do not belong to one plan, before anything is written."""
    first: _Known | None = None
    old_runs = [out] if (out / "run.sqlite").is_file() else []
    for run in (*old_runs, *runs):
        with Store(run) as store:
            if run is out and settings.shard(store):
                raise UsageError(f"{out} is a shard itself. Name another folder: --out RUN")
            if looks.plan(store):
                raise UsageError(
                    f"{run} stops early, so it cannot be merged. Merge the other runs without it."
                )
            refuse_damaged(store)
            waiting = sum(row.requests for row in batches.rows(store, batches.UNFINISHED))
            if waiting:
                raise UsageError(
                    f"{run} has {count_of(waiting, 'request')} in batches that have not ended. Run "
                    "the command that submitted them to collect them, then merge."
                )
            first = _compare(first, store)


def _compare(known: _Known | None, store: Store) -> _Known:
    frozen, folder = settings.frozen(store), store.folder
    served = list(served_models.read_served(store))
    records = [part.shard for part in settings.merged_parts(store).values()]
    shards = [before for before in (settings.shard(store), *records) if before]
    if known is None:
        known = _Known(folder, frozen, None, [])
    for key in dict.fromkeys((*known.frozen, *frozen)):
        before, other = known.frozen.get(key), frozen.get(key)
        if before != other:
            noun = "the protocol's file or data" if key == "digest" else key
            _refuse(known.folder, folder, f"{noun} is {_short(before)} and {_short(other)}")
    for shard in shards:
        if known.shard is None:
            known.shard = (folder, shard)
        _compare_shards(known.shard, folder, shard)
    for earlier, rows in known.served:
        difference = served_models.other_models(rows, served)
        if difference:
            _refuse(earlier, folder, difference)
    known.served.append((folder, served))
    return known


def _compare_shards(known: tuple[Path, ShardRecord], folder: Path, shard: ShardRecord) -> None:
    earlier, first = known
    if first.of != shard.of:
        _refuse(earlier, folder, f"the plan was cut into {first.of} and {shard.of} shards")
    option = shards.other_option(first, shard)
    if option:
        _refuse(earlier, folder, f"the options were {shards.difference(first, shard, option)}")


def _refuse(first: Path, other: Path, why: str) -> None:
    raise RunMismatch(f"{first} and {other} are not parts of one run: {why}.")


def _short(value: object) -> str:
    return "none" if value is None else str(value)[:40]


def _adopt_settings(store: Store, source: Store) -> None:
    """Adds the settings of a run that is merged to the stored settings."""
    frozen: Mapping[str, Json] | None = source.get("frozen")
    store.freeze(frozen or {})
    for key in ("source", "origin", "definition", "given"):
        if store.get(key) is None and source.get(key) is not None:
            store.put(key, source.get(key))
    materials = settings.given_materials(source)
    if materials and materials != settings.given_materials(store):
        _refuse(store.folder, source.folder, "their --taxonomy differs")
    adopt_choices(store, source)
    plan = widen_plan(settings.planned_trials(store), settings.planned_trials(source))
    if plan:
        store.put("planned", plan)
    for name, cascade in settings.cascades(source).items():
        settings.keep_cascade(store, name, *cascade)
    for imported in settings.imports(source):
        settings.add_import(store, imported)
    _adopt_part(store, source)


def _adopt_part(store: Store, source: Store) -> None:
    """Adds a merged run's cost of unanswered calls and its failed trials, only once even if the run
    is merged again, directly or inside another run.
    """
    own, within = settings.merged_parts(store), settings.merged_parts(source)
    shard = settings.shard(source)
    name = f"{shard.number}/{shard.of}" if shard else calls.first_key(source)
    paid = max(0.0, settings.possibly_paid(source) - _possibly_paid(within))
    failed = max(0, settings.failed_trials(source) - sum(p.failed for p in within.values()))
    part = f"{name} merged" if within else name
    parts = {**within, **own, part: MergedPart(paid, failed, shard)}
    newly = _possibly_paid(parts) - _possibly_paid(own)
    settings.keep_possibly_paid(store, settings.possibly_paid(store) + newly, 0.0)
    settings.keep_merged_parts(store, parts)
    store.put("last_run", {"failed": sum(p.failed for p in parts.values()), "last_failure": ""})


def _possibly_paid(parts: Mapping[str, MergedPart]) -> float:
    return sum(part.possibly_paid for part in parts.values())


def _missing(store: Store) -> list[str]:
    """Lists the shards of the plan that were not merged yet."""
    records = _shards_of(settings.merged_parts(store).values())
    merged = {record.number for record in records}
    total = records[0].of if records else 0
    return [f"{number}/{total}" for number in range(1, total + 1) if number not in merged]


def _shards_of(parts: Iterable[MergedPart]) -> list[ShardRecord]:
    return [part.shard for part in parts if part.shard]
