"""A shard: one of so many equal parts of a plan, answered into a folder of its own, on another
machine or at another time. stages/merge.py joins them.

The ids of trials decide which shard has which: of every n consecutive trials of the plan each of
the n shards has one, by the order of their ids. So shards differ by one trial at most, each round
is spread evenly over them, and none has more of a subject or mode than chance gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from ... import registry
from ...errors import RunMismatch, UsageError
from ...protocol import Protocol
from ...records import Json, Trial, content_id
from ...store import Store
from ...store.queries import settings
from ...store.queries.settings import ShardRecord
from .plan import Choices

_FORM = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})")


@dataclass(frozen=True, slots=True)
class Shard:
    """number: from 1; of: how many shards there are."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """From `3/16`. UsageError for what is no such part."""
        match = _FORM.fullmatch(text.strip())
        if match is None or int(match[1]) > int(match[2]):
            raise UsageError(
                f"--shard {text} is no part of a plan. Type for instance: --shard 3/16"
            )
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def part(self, trials: Iterable[Trial]) -> Iterator[Trial]:
        """The trials of this shard, lazily, in the order of their rounds."""
        source = iter(trials)
        while block := list(islice(source, self.of)):
            if self.number <= len(block):
                yield sorted(block, key=lambda trial: trial.id)[self.number - 1]

    def size(self, trials: int) -> int:
        """Counts this shard's part of so many trials."""
        return (trials + self.of - self.number) // self.of


def record(
    shard: Shard, choices: Choices, judges: Sequence[str], given: Mapping[str, str]
) -> ShardRecord:
    """Makes the record that a shard keeps: all shards of a plan have the same options."""
    options: dict[str, Json] = {
        "--model": list(choices.subjects),
        "--judge": list(judges),
        "--language": list(choices.languages),
        "--mode": list(choices.modes),
        "--samples": choices.samples,
        "--limit": choices.limit,
        "--where": {name: list(levels) for name, levels in sorted(choices.where.items())},
        "--cross": list(choices.cross),
    }
    options |= {f"--{kind}": content_id(text)[:12] for kind, text in given.items()}
    return ShardRecord(shard.number, shard.of, options)


def with_judge_for(record: ShardRecord, protocol: Protocol) -> ShardRecord:
    """The record with where its judges are asked, if that is not everywhere."""
    asked = {
        spec.name: dict(spec.unsure) for spec in protocol.instruments if spec.unsure is not None
    }
    return record._replace(options={**record.options, "--judge-for": asked}) if asked else record


def enter(store: Store, wanted: ShardRecord | None) -> None:
    """Fixes which shard a run is, before its plan is frozen. RunMismatch if it is another."""
    held = settings.shard(store)
    if held is None and wanted is not None and settings.frozen(store):
        raise RunMismatch(
            f"{store.folder} holds a run that is no shard. Take another --out, or leave --shard "
            "out."
        )
    if held is None:
        if wanted is not None:
            settings.keep_shard(store, wanted)
        return
    number = f"{held.number}/{held.of}"
    if wanted is None or wanted[:2] != held[:2]:
        raise RunMismatch(
            f"{store.folder} holds shard {number} of a run. Type --shard {number} as before, or "
            "join all shards first: tiltmeter merge RUN RUN … --out RUN"
        )
    option = other_option(held, wanted)
    if option:
        raise RunMismatch(
            f"{store.folder} holds a shard that was begun with another {option} (before "
            f"{_words(held, option)}, now {_words(wanted, option)}), and its other shards with "
            "it. Take another --out."
        )


def other_option(first: ShardRecord, other: ShardRecord) -> str:
    """The first option that two shards were given differently, or ""."""
    names = dict.fromkeys((*first.options, *other.options))
    return next((n for n in names if first.options.get(n) != other.options.get(n)), "")


def _words(shard: ShardRecord, option: str) -> str:
    value = shard.options.get(option)
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    return "none" if value in (None, "", {}) else str(value)[:80]


def difference(first: ShardRecord, other: ShardRecord, option: str) -> str:
    """Describes the values that two shards were given for an option."""
    return f"{option} {_words(first, option)} and {_words(other, option)}"


def waits_for_all(protocol: Protocol, judges: Sequence[str], given: Mapping[str, str]) -> str:
    """Names the thing that is learned from all outputs before any is labelled, such as a taxonomy:
    a shard has only some of them, so it is labelled when all are joined. "" where there is no such
    thing.
    """
    for spec in protocol.instruments:
        kind = registry.instrument_kind(spec.kind, spec.name)
        if kind.discovers and kind.discovers not in given and (judges or not kind.judged):
            return kind.discovers
    return ""
