"""The rankings of people by a planted model (`protocol=hiring`). Pure.

    GROUP=w, GROUP.LEVEL=w     weight of a group's people, 1 by default (`Black men=0.5`)
    place 1=w, place 2=w, …    weight of the person at this position of the prompt
    short=p                    share of answers that leave out the last person
    refuse, invalid            shares of answers that are no ranking

The first person is sampled with a probability proportional to the weights (those of group and
position multiplied), the next likewise from the remaining people, and so on (Plackett–Luce). So the
true shares of first ranks are known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar

from ..errors import UsageError
from ..instruments.ranking.ranking import candidates
from ..protocol import InstrumentSpec, Protocol
from ..records import ANSWER, INVALID, REFUSAL
from .answers import PlantedAnswers, kinds
from .settings import MOST_WEIGHT, OUTCOMES, Settings
from .speech import one_of, pick
from .tilt import planted_number

_NO_RANKING = ("...", "They all have strong experience.")


class PlantedRankings(PlantedAnswers):
    """The rankings of one planted model, for every cell of its protocol."""

    answers = "ranking"
    what = "rankings"
    lacks = ("both", "neither", "foreign", "off", "long", "one", "more", "spread", "order", "rest")
    planted: ClassVar[Mapping[str, str]] = {
        name: found for name, found in OUTCOMES.items() if found in (REFUSAL, INVALID)
    }

    @classmethod
    def names(cls, protocol: Protocol) -> Sequence[str]:
        """Lists the groups of people, then the positions in the prompt."""
        groups: Sequence[str] = _ranked_by(protocol).settings["groups"]
        return [*groups, *(f"place {place}" for place in range(1, 2 * len(groups) + 1))]

    @classmethod
    def highest(cls, name: str) -> float:
        """Returns the highest allowed weight."""
        return MOST_WEIGHT

    def people(self, cell: Mapping[str, str]) -> Sequence[tuple[str, str]]:
        """Lists (group, name) of each person, in the order of the prompt."""
        return candidates(cell[str(_ranked_by(self.protocol).settings["candidates"])])

    def weights(self, cell: Mapping[str, str]) -> list[float]:
        """Returns each person's weight, in the prompt's order. Raises UsageError if all are 0."""
        products = []
        for place, (group, _) in enumerate(self.people(cell), 1):
            factors = (
                planted_number(self.settings, self.protocol, name, cell)
                for name in (group, f"place {place}")
            )
            products.append(math.prod(1.0 if weight is None else weight for weight in factors))
        if not sum(products) > 0:
            raise UsageError(
                "planted: all people have the weight 0. Give somebody a weight above 0."
            )
        return products

    def truth(self, cell: Mapping[str, str]) -> dict[str, float]:
        """Returns the true share of first ranks per group, and per position in the prompt.

        By hand: `Black men=0.5`, with eight groups: .5/7.5 = .067, and 1/7.5 = .133 for each other
        group.
        """
        weights = self.weights(cell)
        shares: dict[str, float] = {}
        for place, (group, _) in enumerate(self.people(cell)):
            for name in (group, f"place {place + 1}"):
                shares[name] = shares.get(name, 0.0) + weights[place] / sum(weights)
        return shares

    def write(self, cell: Mapping[str, str], draws: Sequence[float]) -> str:
        """Writes an answer. draws[0] decides the outcome, all draws together seed the ranking."""
        outcome = pick(self.outcomes(cell), draws[0], ANSWER)
        if outcome == REFUSAL:
            return self.decline("en", draws[1])
        if outcome == INVALID:
            return one_of(_NO_RANKING, draws[1], self.settings)
        random = Random(repr(draws))
        order = _draw_order(self.weights(cell), random)
        if random.random() < (planted_number(self.settings, self.protocol, "short", cell) or 0.0):
            order = order[:-1]
        names = [name for _, name in self.people(cell)]
        return _write_ranking([names[person] for person in order], draws[3], self.settings)


def _ranked_by(protocol: Protocol) -> InstrumentSpec:
    return next(spec for spec, kind in kinds(protocol) if kind.answers == PlantedRankings.answers)


def _draw_order(weights: Sequence[float], random: Random) -> list[int]:
    """Samples an order of all people by weight; people of weight 0 come last."""
    remaining = list(range(len(weights)))
    order = []
    while remaining:
        shares = [weights[person] for person in remaining]
        some = random.choices(remaining, shares if sum(shares) > 0 else None)[0]
        order.append(some)
        remaining.remove(some)
    return order


def _write_ranking(names: Sequence[str], uniform: float, settings: Settings) -> str:
    """Writes a ranking in one of the formats of real models; with dress=plain, a numbered list."""
    titled = [name.title() for name in names]
    numbered = "\n".join(f"{number}. {name}" for number, name in enumerate(titled, 1))
    ways = [
        numbered,
        f"Ranking from most qualified to least qualified:\n\n{numbered}",
        "\n".join(f"{number}) **{name}**" for number, name in enumerate(names, 1)),
        "\n".join(f"- {name}" for name in titled),
        " > ".join(titled),
        f"I would rank {titled[0]} first, followed by {', then '.join(titled[1:])}.",
    ]
    return one_of(ways, uniform, settings)
