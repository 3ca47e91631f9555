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
    """A protocol as a run keeps it. declared: its file; files: the text of those that it names;
    pictures: the blob name of each picture that it shows.
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
    """A run that was merged into this one. possibly_paid: US dollars; failed: trials that went
    unanswered when it last ran; shard: None where it was no shard.
    """

    possibly_paid: float
    failed: int
    shard: ShardRecord | None


# subject → mode → levels of the factors (as JSON) → trials
PlannedTrials = Mapping[str, Mapping[str, Mapping[str, int]]]


class Progress(NamedTuple):
    """The answered part of a run's plan. answered: trials with an output; planned: trials of all
    plans that it was given, of which unreached ones are stored nowhere else.
    """

    answered: int
    planned: int


class Imported(NamedTuple):
    """A file that was imported: its name, its SHA-256, and whose outputs it had."""

    file: str
    sha256: str
    subjects: list[str]


def frozen(store: Store) -> Frozen:
    """Empty where nothing was fixed yet."""
    kept: Frozen | None = store.get("frozen")
    return kept or Frozen()


def source(store: Store) -> str:
    """The protocol's name or the path of its file; "" where it was declared in Python."""
    return str(store.get("source") or "")


def keep_source(store: Store, source: str) -> None:
    """Keeps the protocol's name or path, with a mark that this user named it."""
    store.put("source", source)
    if source and Path(source).is_absolute():
        store.put("origin", origin.mark(_PROTOCOL, source))


def own_source(store: Store) -> bool:
    """False if the source is the path of a file that somebody else named."""
    named = source(store)
    if not Path(named).is_absolute() and not named.endswith(".toml"):
        return True
    return origin.is_own(_PROTOCOL, named, str(store.get("origin") or ""))


def definition(store: Store) -> Definition | None:
    """The protocol as the run keeps it, or None where it ships with tiltmeter."""
    kept: Definition | None = store.get("definition")
    return kept


def imports(store: Store) -> list[Imported]:
    """The files that were imported, in their order."""
    return [Imported(**fields) for fields in store.get("imports") or ()]


def add_import(store: Store, imported: Imported) -> None:
    """Keeps what was imported; the same file again is kept once."""
    others = [earlier for earlier in imports(store) if earlier != imported]
    store.put("imports", [earlier._asdict() for earlier in (*others, imported)])


def versions(store: Store) -> list[str]:
    """Lists the versions of tiltmeter that asked or labelled; none before 0.2."""
    return [str(one) for one in store.get("versions") or ()]


def keep_version(store: Store) -> None:
    """Keeps that this version works on the run."""
    known = versions(store)
    if __version__ not in known:
        store.put("versions", [*known, __version__])


def given_materials(store: Store) -> dict[str, str] | None:
    """Kind of material (a taxonomy) → the text that was given for it in place of finding it out."""
    kept: dict[str, str] | None = store.get("given")
    return kept


class KeptCascade(NamedTuple):
    """An annotator whose judge was asked if its rules were unsure. sure: or None."""

    judge: str
    sure: float | None


def cascades(store: Store) -> dict[str, KeptCascade]:
    """{annotator: how its judge was asked}."""
    return {name: KeptCascade(*fields) for name, fields in (store.get("cascades") or {}).items()}


def keep_cascade(store: Store, annotator: str, judge: str, sure: float | None) -> None:
    """Keeps how the judge of an annotator was asked; the same again is kept once."""
    known = store.get("cascades") or {}
    if annotator not in known:
        store.put("cascades", {**known, annotator: [judge, sure]})


def possibly_paid(store: Store) -> float:
    """Returns the most dollars of calls sent and never answered, in flight when killed."""
    kept = store.get("possibly_paid") or {}
    return float(kept.get("lost", 0.0)) + float(kept.get("in_flight", 0.0))


def keep_possibly_paid(store: Store, lost: float, in_flight: float) -> None:
    """US dollars; in_flight: of calls that wait for their reply, 0 where none does."""
    store.put("possibly_paid", {"lost": lost, "in_flight": in_flight})


def shard(store: Store) -> ShardRecord | None:
    """Returns the shard that a run is; None for a whole run."""
    kept = store.get("shard")
    return ShardRecord(**kept) if kept else None


def keep_shard(store: Store, record: ShardRecord) -> None:
    """Keeps which shard a run is."""
    store.put("shard", record._asdict())


def merged_parts(store: Store) -> dict[str, MergedPart]:
    """The runs that were merged into this one, by what names each of them."""
    return {name: _part(**fields) for name, fields in (store.get("parts") or {}).items()}


def _part(possibly_paid: float, failed: int, shard: dict[str, Any] | None) -> MergedPart:
    return MergedPart(possibly_paid, failed, ShardRecord(**shard) if shard else None)


def keep_merged_parts(store: Store, parts: Mapping[str, MergedPart]) -> None:
    """Keeps which runs were merged into this one."""
    parts_by_name = {
        name: {**part._asdict(), "shard": part.shard._asdict() if part.shard else None}
        for name, part in parts.items()
    }
    store.put("parts", parts_by_name)


def failed_trials(store: Store) -> int:
    """Counts the trials that went unanswered when the run last asked its subjects."""
    kept: dict[str, int] | None = store.get("last_run")
    return int(kept["failed"]) if kept else 0


def planned_trials(store: Store) -> PlannedTrials:
    """Returns the planned trials; empty if the run was imported or made before 0.2."""
    kept: PlannedTrials | None = store.get("planned")
    return kept or {}


def progress(store: Store) -> Progress:
    """Returns answered and planned trials; without a plan, those that are there."""
    query = "SELECT (SELECT count(*) FROM outputs), (SELECT count(*) FROM trials)"
    ((answered, stored),) = store.remembered_rows(query)
    plans = planned_trials(store).values()
    meant = sum(sum(levels.values()) for modes in plans for levels in modes.values())
    return Progress(int(answered), max(meant, int(stored)))
