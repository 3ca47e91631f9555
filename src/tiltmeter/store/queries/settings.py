"""The settings of a run (the table `meta`), typed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, NotRequired, TypedDict

from ...records import Json, __version__
from .. import Store, origin

_PROTOCOL = "protocol"  # of marks


class Frozen(TypedDict, total=False):
    """The settings of a run that may not change."""

    protocol: str
    version: str
    digest: str
    seed: int
    begin: str | None
    temperature: float | None
    system: str | None


class Definition(TypedDict):
    """A protocol as stored in a run. declared: its file; files: the texts of the files that it
    names; pictures: the blob name of each picture that it shows.
    """

    declared: Mapping[str, Json]
    files: Mapping[str, str]
    pictures: NotRequired[Mapping[str, str]]


class ShardRecord(NamedTuple):
    """A shard: one part of a plan. number: of the part, from 1; of: the number of parts; options:
    as typed, the same for all shards of a plan.
    """

    number: int
    of: int
    options: Mapping[str, Json]


class MergedPart(NamedTuple):
    """A run that was merged into this one. possibly_paid: US dollars; failed: trials without an
    answer when it last ran; shard: None if it was not a shard.
    """

    possibly_paid: float
    failed: int
    shard: ShardRecord | None


# subject → mode → levels of the factors (as JSON) → trials
PlannedTrials = Mapping[str, Mapping[str, Mapping[str, int]]]


class Progress(NamedTuple):
    """The answered part of a run's plan. answered: trials with an output; planned: trials of all
    plans so far, some of which may not be stored yet.
    """

    answered: int
    planned: int


class Imported(NamedTuple):
    """An imported file: its name, its SHA-256, and the subjects of its outputs."""

    file: str
    sha256: str
    subjects: list[str]


def frozen(store: Store) -> Frozen:
    """Returns the fixed settings; empty if none are fixed yet."""
    stored: Frozen | None = store.get("frozen")
    return stored or Frozen()


def source(store: Store) -> str:
    """Returns the protocol's name or its file's path; "" if it was declared in Python."""
    return str(store.get("source") or "")


def keep_source(store: Store, source: str) -> None:
    """Stores the protocol's name or path, with a mark that this user named it."""
    store.put("source", source)
    if source and Path(source).is_absolute():
        store.put("origin", origin.mark(_PROTOCOL, source))


def own_source(store: Store) -> bool:
    """False if the source is the path of a file that this user did not name (it lacks the mark)."""
    path = source(store)
    if not Path(path).is_absolute() and not path.endswith(".toml"):
        return True
    return origin.is_own(_PROTOCOL, path, str(store.get("origin") or ""))


def definition(store: Store) -> Definition | None:
    """Returns the stored protocol; None if the protocol ships with tiltmeter."""
    stored: Definition | None = store.get("definition")
    return stored


def imports(store: Store) -> list[Imported]:
    """Lists the imported files, in order."""
    return [Imported(**fields) for fields in store.get("imports") or ()]


def add_import(store: Store, imported: Imported) -> None:
    """Records an imported file, once even if it is imported again."""
    others = [earlier for earlier in imports(store) if earlier != imported]
    store.put("imports", [earlier._asdict() for earlier in (*others, imported)])


def versions(store: Store) -> list[str]:
    """Lists the versions of tiltmeter that worked on the run; recorded since 0.2."""
    return [str(one) for one in store.get("versions") or ()]


def keep_version(store: Store) -> None:
    """Records that this version works on the run."""
    stored = versions(store)
    if __version__ not in stored:
        store.put("versions", [*stored, __version__])


def given_materials(store: Store) -> dict[str, str] | None:
    """Returns {kind of material (a taxonomy): the text that a user gave instead of discovery}."""
    stored: dict[str, str] | None = store.get("given")
    return stored


class KeptCascade(NamedTuple):
    """An annotator's judge, asked if rules were unsure. sure: the threshold, or None."""

    judge: str
    sure: float | None


def cascades(store: Store) -> dict[str, KeptCascade]:
    """Returns {annotator: its judge and threshold}."""
    return {name: KeptCascade(*fields) for name, fields in (store.get("cascades") or {}).items()}


def keep_cascade(store: Store, annotator: str, judge: str, sure: float | None) -> None:
    """Records an annotator's judge and threshold, unless some are recorded already."""
    stored = store.get("cascades") or {}
    if annotator not in stored:
        store.put("cascades", {**stored, annotator: [judge, sure]})


def possibly_paid(store: Store) -> float:
    """Returns the maximum cost in US dollars of calls without a reply when a process died."""
    stored = store.get("possibly_paid") or {}
    return float(stored.get("lost", 0.0)) + float(stored.get("in_flight", 0.0))


def keep_possibly_paid(store: Store, lost: float, in_flight: float) -> None:
    """Stores possible costs in US dollars: lost for good, and in flight (0 without such calls)."""
    store.put("possibly_paid", {"lost": lost, "in_flight": in_flight})


def shard(store: Store) -> ShardRecord | None:
    """Returns the record of a run that is a shard; None for a whole run."""
    stored = store.get("shard")
    return ShardRecord(**stored) if stored else None


def keep_shard(store: Store, record: ShardRecord) -> None:
    """Records which shard of its plan a run is."""
    store.put("shard", record._asdict())


def merged_parts(store: Store) -> dict[str, MergedPart]:
    """Returns {identifying name: run} for the runs that were merged into this one."""
    return {name: _part(**fields) for name, fields in (store.get("parts") or {}).items()}


def _part(possibly_paid: float, failed: int, shard: dict[str, Any] | None) -> MergedPart:
    return MergedPart(possibly_paid, failed, ShardRecord(**shard) if shard else None)


def keep_merged_parts(store: Store, parts: Mapping[str, MergedPart]) -> None:
    """Stores which runs were merged into this one."""
    parts_by_name = {
        name: {**part._asdict(), "shard": part.shard._asdict() if part.shard else None}
        for name, part in parts.items()
    }
    store.put("parts", parts_by_name)


def failed_trials(store: Store) -> int:
    """Counts the trials that had no answer when the run last asked its subjects."""
    stored: dict[str, int] | None = store.get("last_run")
    return int(stored["failed"]) if stored else 0


def planned_trials(store: Store) -> PlannedTrials:
    """Returns the numbers of planned trials; empty for imported runs and runs made before 0.2."""
    stored: PlannedTrials | None = store.get("planned")
    return stored or {}


def progress(store: Store) -> Progress:
    """Returns the numbers of answered and of planned trials (at least those that are stored)."""
    query = "SELECT (SELECT count(*) FROM outputs), (SELECT count(*) FROM trials)"
    ((answered, stored),) = store.remembered_rows(query)
    plans = planned_trials(store).values()
    planned = sum(sum(levels.values()) for modes in plans for levels in modes.values())
    return Progress(int(answered), max(planned, int(stored)))
