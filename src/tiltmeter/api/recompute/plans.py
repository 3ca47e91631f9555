"""Draws a run's plan again from the choices that the run states, and compares it with the stored
plan and with the trials.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import NamedTuple

from ...errors import UsageError
from ...protocol import EVERY, Protocol
from ...records import Trial
from ...stages.planning import plan
from ...stages.planning.pilot import FIRST
from ...stages.planning.plan import Choices
from ...stages.planning.shards import Shard
from ...stages.planning.stored_plan import asked_plans, planned_trials, widen_plan
from ...stats.results import count_of
from ...store import Store
from ...store.queries import looks, settings, tables
from ...store.queries.settings import PlannedTrials
from ...store.rows import levels
from .findings import Findings

NAMED = 3  # items that a note names
_PILOT = 2 * FIRST  # trials of a subject that may be stored before those that precede them


class Prompt(NamedTuple):
    """A prompt put to a subject. levels: of the factors and of the item, which comes last; text:
    the prompt itself, as two names of one group have the same levels.
    """

    subject: str
    mode: str
    levels: tuple[str, ...]
    text: str

    @property
    def item(self) -> str:
        """The item, as the design names it."""
        return self.levels[-1]


def levels_of(protocol: Protocol, factors: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the levels of a trial or a cell, the item last."""
    return tuple(factors.get(name, "") for name in (*protocol.factors, protocol.item))


@dataclass
class Drawn:
    """The plan of one command, drawn again. before: the text before each prompt."""

    protocol: Protocol
    choices: Choices
    before: str

    @cached_property
    def samples(self) -> dict[Prompt, int]:
        """The number of samples of each prompt, in the order of asking."""
        modes = self.protocol.modes
        samples = {name: plan.samples(self.choices, modes[name]) for name in self.choices.modes}
        return {
            Prompt(subject, mode, levels_of(self.protocol, cell), text): number
            for cell in plan.cells(self.protocol, self.choices)
            for text in (self.before + self.protocol.prompt_text(cell),)
            for mode, number in samples.items()
            for subject in self.choices.subjects
        }

    def absent(self, stored: Mapping[Prompt, set[int]], others: list[Drawn]) -> Counter[str]:
        """Counts, by item, trials that are not stored though later trials of this plan are, which
        no interruption leaves: trials are stored in the order of asking, after a pilot.
        """
        counts = Counter[str]()
        for subject in self.choices.subjects:
            order = [prompt for prompt in self.samples if prompt.subject == subject]
            gaps = {
                prompt: (_first_gap(stored[prompt]), place)
                for place, prompt in enumerate(order)
                if _first_gap(stored[prompt]) < self.samples[prompt]
            }
            first = min(gaps.values(), default=None)
            later = sum(
                first is not None and (sample, place) > first
                for place, prompt in enumerate(order)
                for sample in stored[prompt]
                if not any(sample < other.samples.get(prompt, 0) for other in others)
            )
            for prompt in gaps if later > _PILOT else ():
                has = sum(sample < self.samples[prompt] for sample in stored[prompt])
                counts[prompt.item] += self.samples[prompt] - has
        return counts


def _first_gap(samples: Container[int]) -> int:
    return next(number for number in count() if number not in samples)


@dataclass
class PlanCheck:
    """A comparison of a run with its plan. answered: {prompt: number of outputs}."""

    store: Store
    protocol: Protocol
    findings: Findings
    answered: Counter[Prompt] = field(default_factory=Counter)

    def take(self, trial: Trial) -> None:
        """Counts an answered trial."""
        levels = levels_of(self.protocol, trial.factors)
        self.answered[Prompt(trial.subject, trial.mode, levels, trial.prompt)] += 1

    def check(self) -> None:
        """Compares the stored plan and the trials with the plan drawn again, if the run states its
        choices, and notes how many trials lack an answer.
        """
        stored = _stored_samples(self.store, self.protocol)
        drawn = self._draw(stored)
        if drawn:
            self._check_numbers(drawn)
            self._check_trials(drawn, stored)
        samples = Counter({prompt: len(numbers) for prompt, numbers in stored.items()})
        for each in drawn if not looks.plan(self.store) else ():
            samples |= Counter(each.samples)
        self._note_open(samples, bool(drawn))

    def _draw(self, stored: Mapping[Prompt, set[int]]) -> list[Drawn]:
        """Draws the plan of each command; [] with a note if that is impossible."""
        asked, protocol = asked_plans(self.store), self.protocol
        if not stored or not (asked or settings.planned_trials(self.store)):
            return []
        items = {prompt.item for prompt in stored}
        number = f"it asks {len(items)} of {count_of(len(_items(protocol)), 'item')}"
        if not asked:
            self.findings.note(
                "the run does not state its choices (--limit, --where, …), as runs of earlier "
                f"versions do not, so its plan was not drawn anew; {number}"
            )
            return []
        if settings.frozen(self.store).get("digest") not in (None, protocol.digest) or (
            protocol.asked_digest and not {prompt.levels for prompt in stored} <= _all(protocol)
        ):
            self.findings.note(
                "not all prompts that the run asked are at hand, so its plan was not drawn anew; "
                f"{number}"
            )
            return []
        try:
            before = plan.text_before(protocol, settings.frozen(self.store).get("system"))
            drawn = [Drawn(protocol, one.choices(self.store), before) for one in asked]
            for each in drawn:
                self.findings.plans.append(f"{_words(each)}: {sum(each.samples.values()):,} trials")
            return drawn
        except (UsageError, KeyError) as error:
            self.findings.add("the choices that the run states do not fit its protocol", str(error))
            return []

    def _check_numbers(self, drawn: list[Drawn]) -> None:
        """Compares the stored numbers of trials with those of the plan."""
        planned: PlannedTrials = settings.planned_trials(self.store)
        wanted: PlannedTrials = {}
        for each in drawn:
            wanted = widen_plan(wanted, planned_trials(self.protocol, each.choices))
        stops = bool(looks.plan(self.store))
        before, now = _flat(planned), _flat(wanted)
        for key in dict.fromkeys((*before, *now)):
            old, new = before.get(key, 0), now.get(key, 0)
            if old > new if stops else old != new:
                self.findings.add(
                    "the stored plan is not what the run's choices draw",
                    f"{', '.join(key)}: {old:,}, and {new:,} follows",
                )

    def _check_trials(self, drawn: list[Drawn], stored: Mapping[Prompt, set[int]]) -> None:
        """Finds trials outside the plan, and trials left out of it."""
        imported = {name for one in settings.imports(self.store) for name in one.subjects}
        for prompt, numbers in stored.items():
            samples = max(each.samples.get(prompt, 0) for each in drawn)
            outside = sum(number >= samples for number in numbers)
            if outside and prompt.subject not in imported:
                self.findings.add(
                    "a trial is in no plan of the run",
                    f"{outside} of {prompt.item} ({prompt.subject}, {prompt.mode})",
                    outside,
                )
        if _shards(self.store) or looks.plan(self.store):
            return
        for each in drawn:
            others = [other for other in drawn if other is not each]
            for item, number in each.absent(stored, others).items():
                self.findings.add(
                    "a planned trial is not in the run, though later ones are",
                    f"{number} of {item}",
                    number,
                )

    def _note_open(self, samples: Counter[Prompt], is_drawn: bool) -> None:
        """Notes how many planned trials lack an answer, and of which items."""
        shards = _shards(self.store) if is_drawn else []
        total, answered = samples.total(), self.answered.total()
        if shards:
            total = sum(shard.size(total) for shard in shards)
        elif not is_drawn:
            total = max(total, settings.progress(self.store).planned)
        if answered >= total:
            return
        by_item = Counter[str]()
        for prompt, number in (samples - self.answered).items() if not shards else ():
            by_item[prompt.item] += number
        names = ", ".join(f"{number:,} of {item}" for item, number in by_item.most_common(NAMED))
        missing = f"; without: {names}{', …' * (len(by_item) > NAMED)}" if names else ""
        part = f"shard {', '.join(map(str, shards))} of " if shards else ""
        self.findings.note(
            f"the run is not complete: {answered:,} of {total:,} trials of {part}its plan are "
            f"answered{missing}"
        )


def _stored_samples(store: Store, protocol: Protocol) -> Mapping[Prompt, set[int]]:
    columns = ("subject", "mode", "factors", "prompt", "sample")
    stored = defaultdict[Prompt, set[int]](set)
    for piece in tables.pieces(store, "trials"):
        rows = zip(*(piece[name] for name in columns), strict=True)
        for subject, mode, factors, text, sample in rows:
            stored[Prompt(subject, mode, levels_of(protocol, levels(factors)), text)].add(sample)
    return stored


def _all(protocol: Protocol) -> set[tuple[str, ...]]:
    return {levels_of(protocol, cell) for cell in protocol.cells}


def _items(protocol: Protocol) -> set[str]:
    return {cell[protocol.item] for cell in protocol.cells}


def _flat(planned: PlannedTrials) -> dict[tuple[str, str, str], int]:
    return {
        (subject, mode, key): number
        for subject, modes in planned.items()
        for mode, numbers in modes.items()
        for key, number in numbers.items()
    }


def _shards(store: Store) -> list[Shard]:
    """Lists the shards that the run holds, if it does not hold a whole plan."""
    records = [settings.shard(store), *(p.shard for p in settings.merged_parts(store).values())]
    shards = {Shard(record.number, record.of) for record in records if record}
    whole = shards and len(shards) == next(iter(shards)).of
    return [] if whole else sorted(shards, key=lambda shard: shard.number)


def _words(drawn: Drawn) -> str:
    """Writes the choices of a command as it could be typed."""
    return " ".join((drawn.protocol.name, *_options(drawn.protocol, drawn.choices)))


def _options(protocol: Protocol, choices: Choices) -> Iterator[str]:
    yield from (f"--model {name}" for name in choices.subjects)
    yield from (f"--language {name}" for name in choices.languages)
    if choices.modes != protocol.default_modes:
        yield from (f"--mode {name}" for name in choices.modes)
    for name in ("samples", "limit", "seed"):
        if getattr(choices, name) is not None:
            yield f"--{name} {getattr(choices, name)}"
    for factor, chosen in choices.where.items():
        if chosen != protocol.defaults.get(factor, (EVERY,)):
            yield f"--where {factor}={','.join(chosen)}"
