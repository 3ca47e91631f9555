"""A run in looks (`run --stop`), which stops asking about decided claims (how-to/stopping.md)."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ... import registry
from ...errors import RunMismatch, UsageError
from ...protocol import EVERY, Protocol
from ...protocol.source.keys import StopKeys
from ...protocol.stopping import LOOKS, stopping_measures
from ...records import Json
from ...stages.engine.limits import Tally
from ...stages.planning import plan as planning
from ...stages.planning.plan import Choices
from ...stages.planning.rounds import Rounds, rounds_of
from ...stages.planning.stored_plan import keep_plan, planned_of_looks
from ...stages.steps.label import annotators
from ...stages.steps.look_rounds import LookRounds
from ...stats.results import ALPHA, count_of
from ...store import Store
from ...store.database import is_begun
from ...store.queries import looks, settings
from ..options.options import Asking

if TYPE_CHECKING:  # import numpy, which a run that asks all must not pay for
    from ...analyse.stopping.looks import Look
    from ...analyse.stopping.plan import StoppingPlan

Ask = Callable[[planning.Wanted, int], Awaitable[Tally]]
LabelBy = Callable[[tuple[str, ...]], Awaitable[Tally]]
OPTIONS = {
    "subjects": "model",
    "languages": "language",
    "modes": "mode",
}  # field of Choices → option


def is_stopping(protocol: Protocol, stop: bool | None) -> bool:
    """True if a run stops early: by the option or, if it is None, by the protocol's default."""
    return protocol.stop is not None if stop is None else stop


def refuse_unfit(protocol: Protocol, choices: Choices, asking: Asking) -> None:
    """Raises UsageError for a run that cannot stop early: a shard, a mode that reads probabilities,
    a batch file, or an instrument that lacks judges.
    """
    if asking.shard is not None:
        raise UsageError(
            "--stop looks at all answers so far, but a shard has only some of them. To stop early "
            "leave --shard out; to ask all prompts type --no-stop."
        )
    modes = [protocol.modes[name] for name in choices.modes or protocol.default_modes]
    measured = [mode for mode in modes if not mode.for_discovery]
    if len(measured) != 1 or measured[0].logprobs:
        raise UsageError(
            "--stop needs a single mode with sampled answers: probabilities are asked for once, "
            f"without looks. Type --mode {_mode_that_draws(protocol)}, or leave --stop out."
        )
    if asking.batching.file is not None:
        raise UsageError(
            "--stop decides after each look what to ask next, so it cannot write all requests to "
            "one file. Leave --batch-file out, or --stop."
        )
    labelled, measures = _labellers(protocol, asking), stopping_measures(protocol)
    if not any(spec.attribute in (*labelled, EVERY) for spec in measures) or not labelled:
        raise UsageError(
            f"--stop looks at labels, and only a judge labels the answers of {protocol.name}. Type "
            "for instance: --judge openai:gpt-4.1-mini"
        )


def _mode_that_draws(protocol: Protocol) -> str:
    names = [n for n, mode in protocol.modes.items() if not (mode.logprobs or mode.for_discovery)]
    return names[0] if names else "of a protocol that draws"


def _labellers(protocol: Protocol, asking: Asking) -> dict[str, str]:
    """Returns {attribute: the first annotator to label it}; its labels decide when to stop."""
    annotator_of: dict[str, str] = {}
    for instrument in annotators(protocol, asking.judges, asking.given):
        if instrument.reads(False):
            for attribute in instrument.attributes:
                annotator_of.setdefault(attribute, instrument.annotator)
    derived = [
        attribute
        for spec in protocol.instruments
        for attribute in registry.instrument_kind(spec.kind, spec.name).derived(spec)
    ]
    for follower in derived:
        if follower.source in annotator_of:
            annotator_of.setdefault(follower.attribute, annotator_of[follower.source])
    return annotator_of


@dataclass(frozen=True)
class StoppedRun:
    """A run that stops early, with the plan that was fixed for it."""

    store: Store
    protocol: Protocol
    choices: Choices
    rounds: Rounds
    plan: StoppingPlan

    async def ask(self, ask: Ask, label: LabelBy) -> list[Tally]:
        """Asks and labels look by look, until every claim is decided or the last look is done. If a
        call fails, returns early; running the same command again resumes the look.
        """
        from ...analyse.stopping.looks import check_looks, is_over, make_look, read_looks

        tallies: list[Tally] = []
        past_looks = read_looks(self.store, self.plan)
        check_looks(self.store, self.plan, past_looks)
        while not is_over(self.plan, past_looks):
            look = self._next_rounds(past_looks)
            number = look.assign(self.store)
            keep_plan(self.store, planned_of_looks(self.store, self.protocol))
            tallies.append(await ask(look.filter_trials(), number))
            tallies.append(await label(self.plan.judges))
            if any(tally.failed for tally in tallies[-2:]) or looks.count_unanswered(self.store):
                return tallies
            past_looks.append(make_look(self.store, self.protocol, self.plan, past_looks))
        return tallies

    def _next_rounds(self, past_looks: list[Look]) -> LookRounds:
        from ...analyse.stopping.looks import open_claims

        wanted, every, number = (
            open_claims(self.plan, past_looks),
            self.plan.claims,
            len(past_looks) + 1,
        )

        def is_open(subject: str, mode: str, factors: Mapping[str, str]) -> bool:
            if any(claim.counts(subject, mode, factors) for claim in wanted):
                return True  # trials that no claim counts are asked with the others
            return not any(claim.counts(subject, mode, factors) for claim in every)

        since = past_looks[-1].rounds if past_looks else 0
        until = self.plan.looks[number - 1]
        return LookRounds(self.protocol, self.choices, self.rounds, number, since, until, is_open)


def plan_of(folder: Path, protocol: Protocol, choices: Choices, asking: Asking) -> StoppingPlan:
    """Returns the stored plan of a run, or makes one before the first output. Raises RunMismatch if
    the run was begun with other options, UsageError if it cannot stop early.
    """
    from ...analyse.stopping.plan import read_plan

    refuse_unfit(protocol, choices, asking)
    if is_begun(folder):
        with Store(folder) as store:
            plan = read_plan(store)
            if plan is not None:
                _refuse_other(store, plan, choices, asking)
                _refuse_other_judging(store, protocol, plan, asking)
                return plan
            if looks.is_answered(store):
                raise RunMismatch(
                    f"{store.folder} was begun without --stop, and looks must be fixed before the "
                    "first answer. Leave --stop out, or take another --out."
                )
    return make_plan(protocol, choices, asking)


def open_stopped(
    store: Store, protocol: Protocol, choices: Choices, plan: StoppingPlan
) -> StoppedRun:
    """Opens a run that stops early; stores its plan if it is new."""
    if not looks.plan(store):
        looks.keep_plan(store, plan.as_dict())
    return StoppedRun(store, protocol, choices, rounds_of(protocol, choices), plan)


def refuse_without_stop(store: Store) -> None:
    """Raises RunMismatch if the run stops early but the command was typed without --stop."""
    if looks.plan(store):
        raise RunMismatch(
            f"{store.folder} stops early by a fixed plan. Type --stop; or, to ask all prompts, "
            "take another --out."
        )


def _refuse_other(store: Store, plan: StoppingPlan, choices: Choices, asking: Asking) -> None:
    now = _choices(choices)
    for name, old_value in plan.choices.items():
        if now.get(name) != old_value:
            option = OPTIONS.get(name, name)
            typed = " ".join(_option_words(option, old_value))
            raise RunMismatch(
                f"{store.folder} stops early by a fixed plan, which differs from this command in "
                f"{name}. {f'Type {typed}' if typed else f'Leave --{option} out'}, or take "
                "another --out."
            )
    missing = [judge for judge in plan.judges if judge not in asking.judges]
    if missing:
        raise RunMismatch(
            f"{store.folder} stops by the labels of {', '.join(plan.judges)}. Type also: "
            + " ".join(f"--judge {judge}" for judge in missing)
        )


def _refuse_other_judging(
    store: Store, protocol: Protocol, plan: StoppingPlan, asking: Asking
) -> None:
    """Raises RunMismatch unless the plan and this command combine rules and judges equally."""
    by = {claim.instrument for claim in plan.claims}
    other = by - set(_labellers(protocol, asking).values())
    has_cascade = any(spec.unsure is not None for spec in protocol.instruments)
    if other and (has_cascade or other & set(settings.cascades(store))):
        raise RunMismatch(
            f"{store.folder} stops by the labels of {', '.join(sorted(other))}. Type --judge-for "
            "and --sure as before, or take another --out."
        )


def _option_words(option: str, value: Json) -> Iterator[str]:
    """Yields an option and its values as typed; nothing if the value is None."""
    if isinstance(value, Mapping):
        for factor, levels in value.items():
            typed = ",".join(map(str, levels)) if isinstance(levels, Sequence) else levels
            yield f"--{option} {shlex.quote(f'{factor}={typed}')}"
    elif value is not None:
        values = value if isinstance(value, list) else [value]
        yield from (f"--{option} {shlex.quote(str(part))}" for part in values)


def _choices(choices: Choices) -> dict[str, Json]:
    plain = asdict(choices)
    plain["where"] = {name: list(levels) for name, levels in choices.where.items()}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in plain.items()}


def make_plan(protocol: Protocol, choices: Choices, asking: Asking) -> StoppingPlan:
    """Makes the plan before the first output. Raises UsageError if it has only one look."""
    from ...analyse.stopping.claims import planned_families, with_widening
    from ...analyse.stopping.plan import StoppingPlan

    keys, rounds = protocol.stop or {}, rounds_of(protocol, choices)
    shares = keys.get("looks", LOOKS)
    moved = rounds.looks(shares)
    at = tuple(dict.fromkeys(moved))
    if len(at) < 2:
        raise UsageError(
            f"This run has {count_of(rounds.total, 'round')} of prompts, and none before the last "
            "holds each template, order and name equally often, so there is no look to stop at. "
            "Raise --samples, or leave --stop out."
        )
    weights, futility = _spending(keys, moved)
    families = planned_families(
        protocol,
        planning.trials(protocol, replace(choices, samples=2)),
        _labellers(protocol, asking),
    )
    return with_widening(
        StoppingPlan(
            looks=at,
            asked_looks=tuple(rounds.wanted_looks(shares)),
            moved_looks=tuple(moved),
            weights=weights,
            futility=futility,
            alpha=ALPHA,
            seed=choices.seed,
            rounds_a_sample=rounds.in_sample,
            outputs=_outputs(protocol, choices),
            judges=asking.judges,
            choices=_choices(choices),
            families=tuple(families),
        )
    )


def _outputs(protocol: Protocol, choices: Choices) -> int:
    """Counts the outputs of the whole plan, except outputs for discovery."""
    return sum(
        number
        for modes in planning.count(protocol, choices).values()
        for name, number in modes.items()
        if not protocol.modes[name].for_discovery
    )


def _spending(keys: StopKeys, moved: Sequence[int]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Computes weights and futility bounds of the moved looks. Looks moved to the same round become
    one look, with the sum of their weights and the bound of the later look.
    """
    from ...stats.stopping.design import DEFAULTS

    number = len(set(moved))
    weights, bounds = DEFAULTS.get(number, ((1 / number,) * number, (0.0,) * (number - 1)))
    if "weights" in keys:
        weight_of: dict[int, float] = {}
        for look, weight in zip(moved, keys["weights"], strict=True):
            weight_of[look] = weight_of.get(look, 0.0) + weight
        weights = tuple(weight_of.values())
    if "futility" in keys:
        futile = dict(zip(moved, keys["futility"], strict=False))
        bounds = tuple(futile[look] for look in dict.fromkeys(moved) if look < moved[-1])
    return tuple(weights), tuple(bounds)
