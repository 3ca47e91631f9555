"""Turns a protocol and choices into trials with stable ids, in interleaved rounds. Pure.

Rounds are interleaved so that a run stopped at any moment is balanced: round 1 holds each cell of
the design once per subject, in a seeded random order, then round 2, and so on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import product

from ...errors import UnknownName, UsageError
from ...models import reasoning
from ...protocol import EVERY, Mode, Protocol
from ...protocol.design.tables import SEVERAL, Row
from ...records import Message, Request, Sampling, Trial, canonical, digest
from . import begun

CROSS = "×"  # in a level: the intersection of two


@dataclass(frozen=True, slots=True)
class Choices:
    """A person's choices for a run. Subjects, languages, modes, samples, limit and where may grow
    later; the rest may not.

    samples: samples per prompt, None for the number that the protocol's mode sets.
    limit:   the number of items (words, texts, …) per language, None for all; a smaller limit is a
             subset of a larger one.
    begin:   the beginning of the answer in place of the mode's own.
    where:   {factor: levels} to ask, in place of the protocol's `defaults`; the level "*" is
             all of them.
    cross:   intersections to ask as well, each a level such as gender×age of some
             factor.
    system:  a system prompt in place of the protocol's own; "" for none, None for the protocol's.
    max_tokens: the limit of a reply in place of the modes' own; not for an exact reading.
    reasoning: off, default or an effort (models/reasoning.py); None for off if the model is known
             to support that.
    """

    subjects: tuple[str, ...]
    languages: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    samples: int | None = None
    limit: int | None = None
    seed: int = 0
    begin: str | None = None
    temperature: float | None = None
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    cross: tuple[str, ...] = ()
    system: str | None = None
    max_tokens: int | None = None
    reasoning: str | None = None

    def frozen(self, protocol: Protocol) -> dict[str, str | int | float | None]:
        """Returns the settings that may not change within a run, as plain values."""
        return {
            "protocol": protocol.name,
            "version": protocol.version,
            "digest": protocol.digest,
            "seed": self.seed,
            "begin": self.begin,
            "temperature": self.temperature,
            "system": self.system,
            "max_tokens": self.max_tokens,
            "reasoning": self.reasoning,
        }


def check(protocol: Protocol, choices: Choices) -> None:
    """Raises UsageError for names that the protocol lacks, numbers below 1, or a missing model."""
    for language in choices.languages:
        if language not in protocol.languages:
            languages = ", ".join(protocol.languages) or "none, leave --language out"
            raise UsageError(f"{protocol.name} has no language '{language}'. It has: {languages}.")
    for mode in choices.modes:
        if mode not in protocol.modes:
            raise UnknownName(f"mode of {protocol.name}", mode, protocol.modes)
    for factor, levels in choices.where.items():
        if factor not in protocol.factors:
            raise UnknownName(f"factor of {protocol.name}", factor, protocol.factors)
        for level in levels:
            if level != EVERY and level not in protocol.levels[factor]:
                raise UnknownName(f"{factor} of {protocol.name}", level, protocol.levels[factor])
    reasoning.check(choices.reasoning)
    for name, value in (
        ("samples", choices.samples),
        ("limit", choices.limit),
        ("max-tokens", choices.max_tokens),
    ):
        if value is not None and value < 1:
            raise UsageError(f"--{name} must be 1 or more.")
    for name in choices.cross:
        _find_intersection(protocol, name)
    if not choices.subjects:
        raise UsageError("A model is needed. Type for instance: --model builtin")


def cells(protocol: Protocol, choices: Choices) -> list[Row]:
    """Returns the chosen cells in a seeded order, which languages and limit do not change."""
    check(protocol, choices)
    languages = set(choices.languages)
    selected = [
        cell
        for cell in protocol.cells
        if not languages or languages & set(cell.get("language", "").split(SEVERAL))
    ]
    for factor, levels in levels_asked(protocol, choices).items():
        if EVERY not in levels:
            selected = [cell for cell in selected if set(cell[factor].split(SEVERAL)) & set(levels)]
    if choices.limit is not None:
        first = _first(protocol, selected, choices)
        selected = [
            cell
            for cell in selected
            if _item(protocol, cell) in first or SEVERAL in cell[protocol.item]
        ]
    selected = _still_shared(protocol, selected)
    return sorted(
        selected,
        key=lambda cell: shuffle_key(choices.seed, *(cell[name] for name in protocol.factors)),
    )


def levels_asked(protocol: Protocol, choices: Choices) -> dict[str, tuple[str, ...]]:
    """Returns {factor: levels to ask}: defaults or choices, with intersections."""
    levels = {**protocol.defaults, **choices.where}
    for name in choices.cross:
        factor, level = _find_intersection(protocol, name)
        levels[factor] = (*levels.get(factor, (EVERY,)), level)
    return levels


def _find_intersection(protocol: Protocol, name: str) -> tuple[str, str]:
    """Parses an intersection in either order: gender×age, age×gender, gender x age."""
    members = {
        level: factor
        for factor in protocol.factors
        for level in protocol.levels[factor]
        if CROSS in level
    }
    for level, factor in members.items():
        first, second = level.split(CROSS, 1)
        text = name.replace(" ", "").replace("*", CROSS)
        if text in (
            f"{a}{sign}{b}" for a, b in ((first, second), (second, first)) for sign in (CROSS, "x")
        ):
            return factor, level
    raise UnknownName(f"intersection of {protocol.name}", name, members)


def _still_shared(protocol: Protocol, kept: list[Row]) -> list[Row]:
    """Drops cells shared by several items unless one of these items is asked by itself."""
    items = {cell[protocol.item] for cell in kept if SEVERAL not in cell[protocol.item]}
    return [cell for cell in kept if not items or items & set(cell[protocol.item].split(SEVERAL))]


def tally(protocol: Protocol, choices: Choices) -> dict[str, int]:
    """Counts the chosen prompts by level of the protocol's `tally` factor."""
    if not protocol.tally:
        return {}
    return dict(
        Counter(
            cell[protocol.tally]
            for cell in sorted(
                cells(protocol, choices),
                key=lambda cell: protocol.levels[protocol.tally].get(cell[protocol.tally], 0),
            )
        )
    )


def _first(protocol: Protocol, kept: list[Row], choices: Choices) -> set[tuple[str, str]]:
    """Returns the first `limit` (language, item) pairs of each language in the seeded order."""
    chosen: set[tuple[str, str]] = set()
    items = {_item(protocol, cell) for cell in kept if SEVERAL not in cell[protocol.item]}
    for language in {language for language, _ in items}:
        pairs = sorted(
            (item for item in items if item[0] == language),
            key=lambda item: shuffle_key(choices.seed, item[1]),
        )
        chosen.update(pairs[: choices.limit])
    return chosen


def _item(protocol: Protocol, cell: Row) -> tuple[str, str]:
    return cell.get("language", ""), cell[protocol.item]


Wanted = Callable[[str, str, Row, int], bool]  # of a subject, mode, row of a prompt and sample


def trials(protocol: Protocol, choices: Choices, wanted: Wanted | None = None) -> Iterator[Trial]:
    """Yields the trials of a plan lazily, sample by sample; only those `wanted`, if given."""
    chosen = cells(protocol, choices)
    modes = [protocol.modes[name] for name in choices.modes or protocol.default_modes]
    rounds = max(samples(choices, mode) for mode in modes)
    before = text_before(protocol, choices.system)
    prompts = [before + protocol.prompt_text(cell) for cell in chosen]
    factors = [{name: cell[name] for name in (*protocol.factors, protocol.item)} for cell in chosen]
    begun = [{mode.name: protocol.answer_start(mode, cell) for mode in modes} for cell in chosen]
    samplings = {mode.name: _sampling(mode, choices) for mode in modes}
    contexts = [protocol.context(cell, "" if before else choices.system) for cell in chosen]
    id_parts: dict[tuple[str, str, int], tuple[str, str, str]] = {}
    pictures = [protocol.shown_with(cell) for cell in chosen]
    rows = list(zip(chosen, factors, prompts, begun, contexts, pictures, strict=True))
    for sample, (row, cell, prompt, begins, context, shown), mode, subject in product(
        range(rounds), rows, modes, choices.subjects
    ):
        if sample >= samples(choices, mode):
            continue
        if wanted is not None and not wanted(subject, mode.name, row, sample):
            continue
        begin = begins[mode.name] if choices.begin is None else choices.begin
        sampling = samplings[mode.name]
        # Else a model that heeds the seed would draw aside what is measured again.
        prefix = f"{mode.name}/" if mode.for_discovery else ""
        seed = seed_of(f"{prefix}{choices.seed}/{sample}/{prompt}", shown)
        sampling = Sampling(*sampling[:-1], seed)  # half of what `_replace` takes
        name = (subject, mode.name, id(cell))
        parts = id_parts.get(name)
        if parts is None:
            settings = (protocol.name, subject, mode.name, cell, prompt, begin, sampling)
            parts = id_parts[name] = _id_parts(settings, context, shown)
        key = digest(f"{parts[0]}{sample}{parts[1]}{seed}{parts[2]}")
        yield Trial(key, subject, mode.name, cell, sample, prompt, begin, sampling, context, shown)


def text_before(protocol: Protocol, system: str | None) -> str:
    """Returns the text before each prompt: a system prompt, for models that draw, which take none
    by itself.
    """
    return f"{system}\n\n" if system and protocol.modality == "image" else ""


def seed_of(asked: str, shown: Sequence[str]) -> int:
    """Returns the seed of a sample, hashed from the prompt and the pictures shown with it."""
    return int(sha256("/".join((asked, *shown)).encode()).hexdigest()[:7], 16)


def _sampling(mode: Mode, choices: Choices) -> Sampling:
    """Returns the sampling settings of a mode, without the seed."""
    sampling = mode.sampling
    if choices.temperature is not None:
        sampling = sampling._replace(temperature=choices.temperature)
    if choices.max_tokens is not None and not (mode.logprobs or mode.size):
        sampling = sampling._replace(max_tokens=choices.max_tokens)
    return sampling


def _id_parts(
    asked: tuple[str, str, str, Row, str, str, Sampling],
    context: Sequence[Message],
    shown: Sequence[str],
) -> tuple[str, str, str]:
    """Returns three pieces of canonical JSON around the sample number and the seed of a trial's id;
    all samples of a prompt share the pieces. asked: protocol, subject, mode, cell, prompt, begin
    and sampling.
    """
    *before, prompt, begin, sampling = asked
    tail = "".join(f",{canonical(part)}" for part in (context, shown) if part) + "]"
    settings = canonical(sampling[:-1])[:-1]
    return (
        f"{canonical(before)[:-1]},",
        f",{canonical((prompt, begin))[1:-1]},{settings},",
        "]" + tail,
    )


def request(trial: Trial, protocol: Protocol) -> Request:
    """Builds the request of a trial."""
    mode = protocol.modes[trial.mode]
    stop, limit = begun.ending(trial, protocol)
    sampling = trial.sampling
    if limit and sampling.max_tokens == mode.max_tokens:  # else somebody chose another limit
        sampling = sampling._replace(max_tokens=min(limit, mode.max_tokens))
    return Request(
        trial.subject,
        trial.messages,
        sampling,
        trial.begin,
        mode.logprobs,
        nonce=f"{trial.id}/{trial.sample}",
        size=mode.size,
        stop=stop,
    )


def count(protocol: Protocol, choices: Choices) -> dict[str, dict[str, int]]:
    """Counts the trials by subject and mode."""
    number = len(cells(protocol, choices))
    modes = {
        name: number * samples(choices, protocol.modes[name])
        for name in choices.modes or protocol.default_modes
    }
    return {subject: dict(modes) for subject in choices.subjects}


def of_subject(choices: Choices, subject: str) -> Choices:
    """Returns these choices for one subject only."""
    return replace(choices, subjects=(subject,))


def only(choices: Choices, subject: str) -> Choices:
    """Returns these choices for one subject only, with one sample per prompt."""
    return replace(choices, subjects=(subject,), samples=1)


def samples(choices: Choices, mode: Mode) -> int:
    """Returns the number of samples per prompt in a mode: 1 for an exact reading, which never
    varies; the mode's number for discovery; else the user's number, by default the mode's.
    """
    if mode.for_discovery:
        return mode.samples
    return 1 if mode.logprobs else choices.samples or mode.samples


def shuffle_key(seed: int, *names: str) -> bytes:
    """Returns the hash of a seed and names, by which items are put into a random, fixed order."""
    return sha256("\x1f".join((str(seed), *names)).encode()).digest()


__all__: Sequence[str] = (
    "Choices",
    "cells",
    "check",
    "count",
    "request",
    "tally",
    "trials",
)
