"""A shard: one of n equal parts of a plan, answered into a folder of its own, on another machine or
at another time. stages/steps/merge.py joins shards.

The ids of trials assign them to shards: of every n consecutive trials of the plan, each shard gets
one, by the order of their ids. So shards differ by at most one trial, each round is spread evenly
over them, and subjects and modes are split as if at random.
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
    """A shard. number: its index, from 1; of: the number of shards."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Parses a text such as `3/16`. Raises UsageError if it is malformed."""
        match = _FORM.fullmatch(text.strip())
        if match is None or int(match[1]) > int(match[2]):
            raise UsageError(f"--shard {text} is not PART/PARTS. Type for instance: --shard 3/16")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def part(self, trials: Iterable[Trial]) -> Iterator[Trial]:
        """Yields the trials of this shard lazily, round by round."""
        source = iter(trials)
        while block := list(islice(source, self.of)):
            if self.number <= len(block):
                yield sorted(block, key=lambda trial: trial.id)[self.number - 1]

    def size(self, trials: int) -> int:
        """Counts this shard's trials, given the number of trials of the plan."""
        return (trials + self.of - self.number) // self.of


def record(
    shard: Shard, choices: Choices, judges: Sequence[str], given: Mapping[str, str]
) -> ShardRecord:
    """Makes the record of a shard, with the options that all shards of a plan must share."""
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
    """Adds the option --judge-for to the record if judges are asked only about unsure labels."""
    names = {
        spec.name: dict(spec.unsure) for spec in protocol.instruments if spec.unsure is not None
    }
    return record._replace(options={**record.options, "--judge-for": names}) if names else record


def enter(store: Store, wanted: ShardRecord | None) -> None:
    """Records which shard a run is, before its plan is frozen. Raises RunMismatch on conflict."""
    stored = settings.shard(store)
    if stored is None and wanted is not None and settings.frozen(store):
        raise RunMismatch(
            f"{store.folder} holds a run that is not a shard. Take another --out, or leave --shard "
            "out."
        )
    if stored is None:
        if wanted is not None:
            settings.keep_shard(store, wanted)
        return
    number = f"{stored.number}/{stored.of}"
    if wanted is None or wanted[:2] != stored[:2]:
        raise RunMismatch(
            f"{store.folder} holds shard {number} of a run. Type --shard {number} as before, or "
            "join all shards first: tiltmeter merge RUN RUN … --out RUN"
        )
    option = other_option(stored, wanted)
    if option:
        raise RunMismatch(
            f"{store.folder} holds a shard that was begun, like the run's other shards, with "
            f"another {option} (before {_words(stored, option)}, now {_words(wanted, option)}). "
            "Type the option as before, or take another --out."
        )


def other_option(first: ShardRecord, other: ShardRecord) -> str:
    """Returns the first option whose values differ between two shards, or ""."""
    names = dict.fromkeys((*first.options, *other.options))
    return next((n for n in names if first.options.get(n) != other.options.get(n)), "")


def _words(shard: ShardRecord, option: str) -> str:
    value = shard.options.get(option)
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    return "none" if value in (None, "", {}) else str(value)[:80]


def difference(first: ShardRecord, other: ShardRecord, option: str) -> str:
    """Describes the values of an option that differ between two shards."""
    return f"{option} {_words(first, option)} and {_words(other, option)}"


def waits_for_all(protocol: Protocol, judges: Sequence[str], given: Mapping[str, str]) -> str:
    """Names the artefact learned from all outputs before labelling, such as a taxonomy; "" for
    none. A shard has only some outputs, so if there is one, shards are labelled after the merge.
    """
    for spec in protocol.instruments:
        kind = registry.instrument_kind(spec.kind, spec.name)
        if kind.discovers and kind.discovers not in given and (judges or not kind.judged):
            return kind.discovers
    return ""
