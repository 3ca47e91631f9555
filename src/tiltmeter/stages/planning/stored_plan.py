"""The planned number of trials, stored before the first trial is asked, so that a run that was
stopped early can report the answered part of its plan.
"""

from __future__ import annotations

from collections import Counter

from ...protocol import Protocol
from ...records import canonical
from ...store import Store
from ...store.queries import looks, settings
from ...store.queries.settings import PlannedTrials
from . import plan
from .plan import Choices


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
