"""The plan of a run, stored before the first trial is asked: the planned number of trials, so that
a run that was stopped early can report the answered part of its plan; and the choices behind it,
from which anybody can draw the plan again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from ...errors import StoreError
from ...protocol import EVERY, Protocol
from ...records import canonical
from ...records.typed_json import parse_as
from ...store import Store
from ...store.queries import looks, settings
from ...store.queries.settings import PlannedTrials
from . import plan
from .plan import Choices

_ASKED = "asked"  # of a run's settings


class AskedPlan(NamedTuple):
    """The choices of a command that may grow within a run, with the protocol's defaults filled in,
    which may change without a new version.
    """

    subjects: tuple[str, ...]
    languages: tuple[str, ...]
    modes: tuple[str, ...]
    samples: int | None
    limit: int | None
    where: Mapping[str, tuple[str, ...]]

    def choices(self, store: Store) -> Choices:
        """Returns the choices, with the settings that are fixed for the run."""
        return Choices(*self[:5], seed=settings.frozen(store).get("seed", 0), where=self.where)


def keep_choices(store: Store, protocol: Protocol, choices: Choices) -> None:
    """Records the choices of a command, before its plan; not in a run that was begun without."""
    plans = asked_plans(store)
    if not plans and settings.planned_trials(store):
        return
    levels = plan.levels_asked(protocol, choices)
    new = AskedPlan(
        choices.subjects,
        choices.languages,
        choices.modes or protocol.default_modes,
        choices.samples,
        choices.limit,
        {name: tuple(levels.get(name, (EVERY,))) for name in protocol.factors},
    )
    if new not in plans:
        _put(store, [*plans, new])


def asked_plans(store: Store) -> list[AskedPlan]:
    """Returns the plans of all commands so far; [] if the run does not state all of them."""
    text = json.dumps(store.get(_ASKED) or [])
    try:
        return list(parse_as(tuple[AskedPlan, ...], text))
    except ValueError:
        raise StoreError(
            f"{store.folder} is damaged at meta.{_ASKED}: the choices cannot be read. Restore it "
            "from a copy."
        ) from None


def adopt_choices(store: Store, source: Store) -> None:
    """Adds the choices of a run that is merged, before its plan; none if one run does not state
    its choices.
    """
    before, new = asked_plans(store), asked_plans(source)
    if before or not settings.planned_trials(store):
        is_stated = new or not settings.planned_trials(source)
        _put(store, [*before, *(one for one in new if one not in before)] if is_stated else [])


def _put(store: Store, plans: list[AskedPlan]) -> None:
    store.put(_ASKED, [one._asdict() for one in plans])


def planned_trials(protocol: Protocol, choices: Choices) -> PlannedTrials:
    """Returns {subject: {mode: {levels of the factors as JSON: items × samples}}}."""
    factors = [name for name in protocol.factors if name != protocol.item]
    items = Counter(
        canonical([cell[name] for name in factors]) for cell in plan.cells(protocol, choices)
    )
    modes = {
        name: {
            levels: number * plan.samples(choices, protocol.modes[name])
            for levels, number in items.items()
        }
        for name in choices.modes or protocol.default_modes
    }
    return dict.fromkeys(choices.subjects, modes)


def planned_of_looks(store: Store, protocol: Protocol) -> PlannedTrials:
    """Returns the trials asked for by the looks so far, in a run that stops early."""
    factors = [name for name in protocol.factors if name != protocol.item]
    planned: dict[str, dict[str, dict[str, int]]] = {}
    for subject, mode, levels, number in looks.asked_levels(store):
        numbers = planned.setdefault(subject, {}).setdefault(mode, {})
        key = canonical([levels[name] for name in factors])
        numbers[key] = numbers.get(key, 0) + number
    return planned


def keep_plan(store: Store, planned: PlannedTrials) -> None:
    """Adds a plan to the stored one. For the same subject, mode and levels the larger number
    counts.
    """
    store.put("planned", widen_plan(settings.planned_trials(store), planned))


def widen_plan(planned: PlannedTrials, more: PlannedTrials) -> PlannedTrials:
    """Combines two plans; the larger number counts for each entry. Pure."""
    merged = {
        subject: {mode: dict(levels) for mode, levels in modes.items()}
        for subject, modes in planned.items()
    }
    for subject, modes in more.items():
        for mode, levels in modes.items():
            numbers = merged.setdefault(subject, {}).setdefault(mode, {})
            for key, number in levels.items():
                numbers[key] = max(number, numbers.get(key, 0))
    return merged
