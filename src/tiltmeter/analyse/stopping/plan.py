"""The plan of a run that stops early, fixed before the first output and stored with its hash."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Literal

from ...errors import StoreError
from ...protocol.design.tables import SEVERAL
from ...records import Estimate, Json, canonical, content_id
from ...records.typed_json import parse_as
from ...stats.multiplicity import Method
from ...stats.stopping.design import StoppingDesign
from ...store import Store
from ...store.queries import looks as stored

Statistic = Literal["items", "outputs", "cells", "plain", "words"]


def key_of(row: Estimate) -> str:
    """Returns a claim's identity: its measure, subject, instrument, condition and contrast."""
    place = sorted(row.condition.items()), sorted((row.contrast or {}).items())
    return canonical([row.measure, row.subject, row.instrument, *place])


@dataclass(frozen=True)
class PlannedClaim:
    """A planned claim. statistic: the units that its test flips or permutes; "cells" if it permutes
    whole outputs and takes the largest cell or the mean divergence, "plain" if it permutes nothing,
    "words" (the row's own test at each look) if cue words are a sample like items. items: in the
    order of the flips. null: the value that a single condition is compared with. subjects, levels:
    of the prompts that the claim counts; () and a factor without levels mean all.
    """

    key: str
    measure: str
    subject: str
    instrument: str
    condition: Mapping[str, str]
    contrast: Mapping[str, str] | None
    statistic: Statistic
    items: tuple[str, ...]
    null: float
    subjects: tuple[str, ...]
    levels: Mapping[str, tuple[str, ...]]

    def counts(self, subject: str, mode: str, factors: Mapping[str, str]) -> bool:
        """True if the claim counts the outputs of a prompt."""
        if self.subjects and subject not in self.subjects:
            return False
        levels_of_prompt = {**factors, "mode": mode}
        return all(
            levels_of_prompt[name] in levels
            or not set(levels_of_prompt[name].split(SEVERAL)).isdisjoint(levels)
            for name, levels in self.levels.items()
            if name in levels_of_prompt
        )

    @cached_property
    def calls(self) -> str:
        """A key that is equal for claims answered by the same calls; such claims end together."""
        return content_id(self.subjects, {name: list(v) for name, v in self.levels.items()})[:16]


@dataclass(frozen=True)
class PlannedFamily:
    """Claims that are adjusted together. widening: the factor for intervals after stopping."""

    name: str
    method: Method
    claims: tuple[PlannedClaim, ...]
    widening: float


@dataclass(frozen=True)
class StoppingPlan:
    """A stopping plan. looks: the rounds after which a look is made, the last being the whole plan;
    asked_looks: the looks that the user requested; moved_looks: these, moved to balanced rounds;
    rounds_a_sample: rounds per sample of every prompt; outputs: number in the whole plan; judges:
    the judges that label from the start; choices: the settings of the calls.
    """

    looks: tuple[int, ...]
    asked_looks: tuple[int, ...]
    moved_looks: tuple[int, ...]
    weights: tuple[float, ...]
    futility: tuple[float, ...]
    alpha: float
    seed: int
    rounds_a_sample: int
    outputs: int
    judges: tuple[str, ...]
    choices: Mapping[str, Json]
    families: tuple[PlannedFamily, ...]

    def design(self, family: PlannedFamily) -> StoppingDesign:
        """Returns the design of the looks for one family of claims."""
        return StoppingDesign(
            self.looks,
            self.weights,
            self.futility,
            len(family.claims),
            self.alpha,
            family.method,
            self.seed,
        )

    @property
    def claims(self) -> list[PlannedClaim]:
        """The claims of all families."""
        return [claim for family in self.families for claim in family.claims]

    @property
    def told_moves(self) -> str:
        """A sentence on looks that were moved to a balanced round; "" if none was moved."""
        moves = zip(self.asked_looks, self.moved_looks, strict=True)
        pairs = [f"{wanted} to {moved}" for wanted, moved in moves if wanted != moved]
        if not pairs:
            return ""
        return (
            "Looks were moved to the next round that holds each template, order and name equally "
            f"often: from round {', '.join(pairs)}."
        )

    def as_dict(self) -> dict[str, Json]:
        """Returns the plan as plain JSON values, which `read_plan` can read."""
        fields: dict[str, Json] = json.loads(json.dumps(asdict(self)))
        return fields

    @cached_property
    def hash(self) -> str:
        """The hash of everything that the plan fixes."""
        return content_id(self.as_dict())


def read_plan(store: Store) -> StoppingPlan | None:
    """Returns the stopping plan of a run; None if the run never stops early."""
    text = stored.plan(store)
    try:
        return parse_as(StoppingPlan, text) if text else None
    except ValueError:
        raise StoreError(
            f"{store.folder} is damaged at artefacts.content: its stopping plan cannot be read. "
            "Restore it from a copy."
        ) from None
