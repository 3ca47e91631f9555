"""The planted numbers of a cell, and pseudo-random numbers derived from a request. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from hashlib import blake2b
from statistics import NormalDist

from ..errors import UsageError
from ..protocol import Protocol
from ..protocol.design.tables import SEVERAL
from .settings import OUTCOMES, TOGETHER, Settings


def planted_number(
    settings: Settings, protocol: Protocol, name: str, cell: Mapping[str, str]
) -> float | None:
    """Returns a setting's number in a cell: by the latest factor with one, else the overall one."""
    planted = settings.planted.get(name, {})
    at_level = number_at_level(planted, protocol, cell)
    return planted.get("", getattr(settings, name, None)) if at_level is None else at_level


def number_at_level(
    planted: Mapping[str, float], protocol: Protocol, cell: Mapping[str, str]
) -> float | None:
    """Returns a cell's number: of joint levels, else of the latest factor that has one; or None."""
    if not planted:
        return None
    for level in planted:  # of several factors at once
        parts = level.split(TOGETHER)
        if len(parts) > 1 and all(part in cell.values() for part in parts):
            return planted[level]
    for factor in reversed(protocol.factors):
        fitting = [
            planted[level]
            for level in cell.get(factor, "").split(SEVERAL)
            if level and level in planted
        ]
        if fitting:
            return sum(fitting) / len(fitting)
    return None


def outcome_shares(
    settings: Settings,
    protocol: Protocol,
    cell: Mapping[str, str],
    names: Mapping[str, str] = OUTCOMES,
) -> dict[str, float]:
    """Returns {outcome: share} in a cell. names: {setting: outcome}. Raises UsageError above 1."""
    shares = {
        outcome: planted_number(settings, protocol, name, cell) or 0.0
        for name, outcome in names.items()
    }
    if sum(shares.values()) > 1 + 1e-9:
        listed = ", ".join(f"{outcome} {share:g}" for outcome, share in shares.items() if share)
        raise UsageError(
            f"planted: the shares {listed} for {cell.get(protocol.item, '')} add up to more than "
            "1. Lower one."
        )
    return shares


def divide_rest(
    settings: Settings,
    protocol: Protocol,
    cell: Mapping[str, str],
    attribute: str,
    names: Mapping[str, str],
) -> dict[str, float]:
    """Returns {value: share} of an attribute in a cell; values without a planted share divide the
    rest.

    names: {value: its setting}. Raises UsageError if the planted shares exceed 1 in sum, or if all
    values have a planted share and the sum is less than 1.
    """
    shares = {
        value: planted_number(settings, protocol, name, cell)
        for value, name in names.items()
        if name in settings.planted
    }
    declared = {value: share for value, share in shares.items() if share is not None}
    rest = 1 - sum(declared.values())
    if rest < -1e-9 or (len(declared) == len(names) and rest > 1e-9):
        where = cell.get(protocol.item, "")
        raise UsageError(
            f"planted: the values of {attribute} for {where} add up to {1 - rest:.3g}, not 1. "
            "Change one, or leave it out."
        )
    return {
        value: declared.get(value, max(0.0, rest) / max(1, len(names) - len(declared)))
        for value in names
    }


def uniforms(*parts: object, number: int = 4) -> list[float]:
    """Derives independent uniform numbers in [0, 1) from `parts` alone (64 bits of BLAKE2b)."""
    digest = blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=8 * number).digest()
    return [int.from_bytes(digest[at : at + 8]) / 2**64 for at in range(0, 8 * number, 8)]


def normal(seed: int, item: str) -> float:
    """Returns the standard normal number that `seed` and `item` determine."""
    (uniform,) = uniforms("item", seed, item, number=1)
    return NormalDist().inv_cdf(min(max(uniform, 1e-15), 1 - 1e-15))


def logistic(x: float) -> float:
    """Computes 1 / (1 + exp(−x))."""
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
