"""Alternative plans: each with one level of a factor that this plan leaves out."""

from __future__ import annotations

from dataclasses import replace
from typing import TypedDict

from ...protocol import Protocol
from .plan import Choices, count


class Other(TypedDict):
    """A plan with a level of a factor that this plan leaves out, and its number of trials."""

    factor: str
    level: str
    trials: int


def others(protocol: Protocol, choices: Choices) -> list[Other]:
    """Lists plans with further levels of factors that have defaults, one level per plan."""
    plans: list[Other] = []
    for factor, levels in protocol.defaults.items():
        for level in protocol.levels[factor] if factor not in choices.where else ():
            if level not in levels:
                changed = replace(choices, where={**choices.where, factor: (level,)})
                number = sum(
                    n
                    for modes in count(protocol, changed).values()
                    for name, n in modes.items()
                    if not protocol.modes[name].for_discovery
                )
                if number:  # none where the level goes with one of another factor that is not asked
                    plans.append({"factor": factor, "level": level, "trials": number})
    return plans
