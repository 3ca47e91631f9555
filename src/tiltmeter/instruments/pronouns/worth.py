"""The features of a whole reading of a text (one way to resolve its pronouns), and its log-odds, a
weighted sum of them (data/attribution.toml, [readings]; fitted by benchmarks/reading_weights.py).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from ..wording import texts
from .attribution import Entity
from .candidates import GENDER, NEO, NEUTRAL, Pronoun
from .passage import WordToken
from .plurals import PLURAL

_FIRST = frozenset(("i", "me", "my", "mine", "myself", "i'm"))
_FARTHEST, _MOST = 5.0, 8.0  # beyond these a margin, a count tell no more


class Step(NamedTuple):
    """A pronoun of a reading: the entity chosen for it, the primary person's margin, and True if
    the previous pronoun of this gender had another referent.
    """

    pronoun: Pronoun
    chosen: Entity | None
    margin: float
    changes: bool

    @property
    def mine(self) -> bool:
        """True if the reading assigns the pronoun to the primary person."""
        return self.chosen is not None and self.chosen.primary


def worth(seen: Mapping[str, float]) -> float:
    """Returns the log-odds of a reading: the weighted sum of its features."""
    table = _weights()
    return sum(table.get(name, 0.0) * amount for name, amount in seen.items())


@cache
def _weights() -> Mapping[str, float]:
    readings = texts("attribution").section("readings")
    return {name: readings.number(name) for name in readings.table}


def signs(
    steps: Sequence[Step], said: Mapping[int, str], known: frozenset[str], cue: str
) -> dict[str, float]:
    """Returns {name: value} of a reading's features. said: {id of an entity: gender that words
    state}; cue: the gender of the primary person's noun.
    """
    counts = Counter(_name(step, known, said) for step in steps)
    counts.update(f"{_side(step)}_{step.pronoun.nearest}" for step in steps)
    counts["changes"] = sum(step.changes for step in steps)
    seen: dict[str, float] = {}
    for name, number in counts.items():
        seen[name] = min(float(number), _MOST)
        seen[f"log_{name}"] = math.log1p(number)
    for side in ("mine", "theirs"):
        each = [step for step in steps if _side(step) == side]
        if each:
            seen |= _margins(side, each)
    had = Counter(step.pronoun.value for step in steps if step.mine)
    return seen | _of_classes(had, cue)


def _side(step: Step) -> str:
    return "mine" if step.mine else "theirs"


def _name(step: Step, known: frozenset[str], said: Mapping[int, str]) -> str:
    """Names a pronoun's feature by its referent and its kind: "nobody_he", "named_they", …."""
    value, chosen = step.pronoun.value, step.chosen
    kind = "they" if step.pronoun.gender == PLURAL else "neo" if value == NEO else "he"
    if chosen is None:
        return f"nobody_{kind}{'_known' if value in known else ''}"
    if chosen.primary:
        return f"mine_{kind}{'_known' if value in known else ''}"
    if chosen.thing:
        return f"thing_{kind}"
    return f"{'named' if said.get(id(chosen)) in ('m', 'f', PLURAL) else 'unknown'}_{kind}"


def _margins(side: str, steps: Sequence[Step]) -> dict[str, float]:
    """Returns features of the primary person's margins over the pronouns of one `side`."""
    margins = [max(-_FARTHEST, min(_FARTHEST, step.margin)) for step in steps]
    evidence = sum(step.pronoun.told for step in steps)
    return {
        f"{side}_margin": sum(margins) / len(margins),
        f"{side}_margin_most": max(margins),
        f"{side}_margin_least": min(margins),
        f"{side}_margin_first": margins[0],
        f"{side}_margin_all": sum(margins) / math.sqrt(len(margins)),
        f"{side}_ahead": sum(margin > 0 for margin in margins) / len(margins),
        f"{side}_told": max(-4.0, min(4.0, evidence)),
    }


def _of_classes(had: Mapping[str, int], cue: str) -> dict[str, float]:
    """Returns features of the classes of the primary person's pronouns. had: {class: number}."""
    seen: dict[str, float] = {}
    if len(had) > 1:
        total, most = sum(had.values()), max(had.values())
        seen["several"] = 1.0
        seen["stray"] = math.log1p(total - most)
        seen["stray_share"] = 1 - most / total
        seen["several_they"] = float(NEUTRAL in had)
    for value in had:
        if cue and GENDER[value] in ("m", "f"):
            seen["agrees" if GENDER[value] == cue else "against"] = 1.0
        seen[f"is_{'they' if value == NEUTRAL else 'neo' if value == NEO else 'he'}"] = 1.0
    return seen


def signs_of_none(found: Sequence[WordToken], absent: bool, number: int) -> dict[str, float]:
    """Returns the features of a reading that assigns no pronoun to the primary person. absent: True
    if words outside quotations do not name the person either.
    """
    first_person = sum(token.word in _FIRST for token in found) > 1
    return {
        "none": 1.0,
        "none_absent": float(absent),
        "none_first_person": float(first_person),
        "none_first_absent": float(first_person and absent),
        "none_of_many": math.log1p(number),
    }
