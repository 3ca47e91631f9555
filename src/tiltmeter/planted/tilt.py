"""What a planted model believes: the true shares that follow from its settings (settings.py).
Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from hashlib import blake2b
from statistics import NormalDist

from .. import registry
from ..errors import UsageError
from ..instruments.choice.forms import SLOT
from ..protocol import Protocol
from ..protocol.design.tables import SEVERAL, Row
from ..records import INVALID
from .capabilities import languages_offered, offered
from .lookup import cells_by_words
from .settings import OUTCOMES, TOGETHER, Settings, parse


def planted_number(
    settings: Settings, protocol: Protocol, name: str, cell: Mapping[str, str]
) -> float | None:
    """What is planted for a name in a cell: at a level of the latest factor that has one, else for
    all; None for nothing.
    """
    planted = settings.planted.get(name, {})
    found = _at_level(planted, protocol, cell)
    return planted.get("", getattr(settings, name, None)) if found is None else found


def _at_level(
    planted: Mapping[str, float], protocol: Protocol, cell: Mapping[str, str]
) -> float | None:
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
    """The share of each outcome in a cell. `names`: setting → outcome. Raises UsageError where they
    are over 1 in all.
    """
    found = {
        outcome: planted_number(settings, protocol, name, cell) or 0.0
        for name, outcome in names.items()
    }
    if sum(found.values()) > 1 + 1e-9:
        said = ", ".join(f"{outcome} {share:g}" for outcome, share in found.items() if share)
        raise UsageError(
            f"planted: {said} where {cell.get(protocol.item, '')} is asked: shares are at most 1 "
            "together."
        )
    return found


def divide_rest(
    settings: Settings,
    protocol: Protocol,
    cell: Mapping[str, str],
    attribute: str,
    names: Mapping[str, str],
) -> dict[str, float]:
    """The share of each value of an attribute in a cell; those that none is planted for divide the
    rest.

    names: value → the setting's name of it. Raises UsageError where there is more than 1 in all, or
    less and none to take it.
    """
    given = {
        value: planted_number(settings, protocol, name, cell)
        for value, name in names.items()
        if name in settings.planted
    }
    known = {value: share for value, share in given.items() if share is not None}
    rest = 1 - sum(known.values())
    if rest < -1e-9 or (len(known) == len(names) and rest > 1e-9):
        where = cell.get(protocol.item, "")
        raise UsageError(
            f"planted: the values of {attribute} of {where} have {1 - rest:.3g} in all, not 1. "
            "Mend one, or leave it out."
        )
    return {
        value: known.get(value, max(0.0, rest) / max(1, len(names) - len(known))) for value in names
    }


class Tilt:
    """The shares of one planted model for every cell of its protocol."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.protocol = registry.protocol(settings.protocol)
        values = offered(self.protocol)
        if not values:
            raise UsageError(
                f"planted: {self.protocol.name} offers no choice between words, so nothing can "
                "be planted in it."
            )
        self.value = settings.value or list(values)[-1]

    @cached_property
    def cells(self) -> Mapping[str, Row]:
        """Prompt → cell of the design."""
        return cells_by_words(self.protocol)

    def forms(self, cell: Mapping[str, str]) -> dict[str, str]:
        """Value → the form that is written for it."""
        forms = offered(self.protocol, cell.get("language", ""))
        return {value: SLOT.sub(lambda slot: cell[slot[1]], form) for value, form in forms.items()}

    def language(self, cell: Mapping[str, str]) -> str:
        """The language of a cell; in a design of one language that of its options."""
        return cell.get("language") or languages_offered(self.protocol)

    def share(self, cell: Mapping[str, str]) -> float:
        """The true share of the tilted value among the answers that are one of the values."""
        forms = self.forms(cell)
        settings = self.settings
        share = self._planted_share(cell, 1 / len(forms))
        if settings.spread and 0 < share < 1:
            item = cell.get(self.protocol.item, "")
            share = _logistic(
                math.log(share / (1 - share)) + settings.spread * normal(settings.seed, item)
            )
        if settings.order:
            sign = self._first(cell)
            share = min(1.0, max(0.0, share + sign * settings.order / 2))
        return share

    def _planted_share(self, cell: Mapping[str, str], equal: float) -> float:
        found = _at_level(self.settings.levels, self.protocol, cell)
        if found is not None:
            return found
        return equal if self.settings.share is None else self.settings.share

    def _first(self, cell: Mapping[str, str]) -> int:
        """1 where the tilted value is offered first, −1 where another is, 0 where the design does
        not say.
        """
        for factor in self.protocol.factors:
            if cell.get(factor, "").endswith("_first"):
                return 1 if cell[factor] == f"{self.value}_first" else -1
        return 0

    def outcomes(self, cell: Mapping[str, str]) -> dict[str, float]:
        """The true share of every outcome of a drawn answer: each value, and what is no choice."""
        settings, forms = self.settings, self.forms(cell)
        none = outcome_shares(settings, self.protocol, cell)
        none[INVALID] += settings.rest
        answered = max(0.0, 1 - sum(none.values()))
        share = self.share(cell)
        others = len(forms) - 1
        shares = {
            value: answered * (share if value == self.value else (1 - share) / others)
            for value in forms
        }
        return {**shares, **none}


def truth(settings: str, cell: Mapping[str, str]) -> float:
    """The exact share of the tilted value among chosen values in one cell: logistic(logit(p) +
    spread·z) ± order/2, in [0, 1].

    p is the share planted_number for the cell, z its item's own standard normal number. Worked
    example: she=.7, order=.1 gives .75 where she is offered first and .65 where he is.
    """
    return Tilt(parse(settings)).share(cell)


def mean_truth(settings: str, where: Mapping[str, str]) -> float:
    """The mean of `truth` over the protocol's cells in which each factor named in `where` has that
    value; NaN for none.

    With spread this is not p: the mean of logistic(logit(p) + s·z) lies nearer to one half, and the
    items are a finite sample. It is what an estimate over the fixed list of items should find.
    """
    tilt = Tilt(parse(settings))
    found = list(_matching(tilt.protocol.cells, where))
    return sum(map(tilt.share, found)) / len(found) if found else math.nan


def _matching(cells: Iterable[Row], where: Mapping[str, str]) -> Iterator[Row]:
    return (cell for cell in cells if all(cell.get(name) == value for name, value in where.items()))


def uniforms(*parts: object, number: int = 4) -> list[float]:
    """Independent uniform numbers in [0, 1) that depend on `parts` alone (64 bits of BLAKE2b
    each).
    """
    digest = blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=8 * number).digest()
    return [int.from_bytes(digest[at : at + 8]) / 2**64 for at in range(0, 8 * number, 8)]


def normal(seed: int, item: str) -> float:
    """The standard normal number of an item."""
    (uniform,) = uniforms("item", seed, item, number=1)
    return NormalDist().inv_cdf(min(max(uniform, 1e-15), 1 - 1e-15))


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
