"""The result of `tiltmeter.plan`: one line when printed, a small page in a notebook."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from ...display.document import Document
from ...protocol.design import prompt_pairs
from ...records import Json
from ...stages.planning import cost, other_levels
from ...stages.steps.connect import KnownModel
from ...stats.results import count_of
from .plan_blocks import blocks

if TYPE_CHECKING:  # imports scipy, which a run that only asks must not pay for
    from ...stages.planning import power
    from ..stopping.forecast import StoppingForecast


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """The plan of a run, made without asking a model.

    subjects:      {subject: {mode: trials}}.
    trials:        the number of measured trials; for_discovery: of trials drawn only for an
                   instrument to learn from.
    calls:         one line per model and part: calls, tokens, US dollars; `totals`: their sums.
    rule:          how tokens were estimated.
    prompts:       prompts by level of the factor that the protocol counts by; mostly empty.
    others:        the trials with further levels of factors that have a default.
    models:        facts from the table of models: the end of each, and the source of its price.
    waiting:       one line per instrument that waits for judges.
    doubts:        one line per possible failure: a context that prompts may not fit into.
    misfits:       one line per model that would be asked for what it cannot give.
    matched:       the differences between the prompts that are compared.
    icc:           the intra-item correlation that `design` assumes.
    correlation:   the assumed correlation between an item's shares at two levels.
    wanted:        the difference in shares to detect, or None.
    design:        the smallest difference that each headline measure detects with 80 % power.
    stopping:      the forecast of a run that stops early; else None, and not in `as_dict`.
    """

    protocol: str
    version: str
    subjects: Mapping[str, Mapping[str, int]]
    trials: int
    for_discovery: int
    calls: tuple[cost.CostLine, ...]
    totals: cost.Totals
    rule: str
    prompts: Mapping[str, int]
    others: tuple[other_levels.Other, ...]
    models: tuple[KnownModel, ...]
    waiting: tuple[str, ...]
    doubts: tuple[str, ...]
    misfits: tuple[str, ...]
    matched: tuple[prompt_pairs.PromptDifference, ...]
    icc: float
    correlation: float
    wanted: float | None
    design: tuple[power.Detectable, ...]
    stopping: StoppingForecast | None = None

    def as_dict(self) -> dict[str, Json]:
        """Returns plain values, as in `tiltmeter plan --json` (`for_discovery` is "aside")."""
        return {
            {"for_discovery": "aside"}.get(name, name): list(value)
            if isinstance(value, tuple)
            else value
            for name, value in asdict(self).items()
            if name != "stopping" or value is not None
        }

    def __repr__(self) -> str:
        return _line(self)

    def _repr_html_(self) -> str:
        return self.document().html()

    def document(self, thin: Sequence[str] = ()) -> Document:
        """Writes the plan in words. thin: sentences about a design that is too thin."""
        return Document(f"Plan of {self.protocol} {self.version}", [*blocks(self, thin)])

    def __getitem__(self, name: str) -> Json:
        warnings.warn(
            f"plan(…)['{name}'] is plan(…).{name} now, or plan(…).as_dict()['{name}']",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.as_dict()[name]


def _line(plan: Plan) -> str:
    """Writes the plan in one line."""
    smallest = min((row.detectable for row in plan.design if row.detectable), default=None)
    detectable = "" if smallest is None else f"; smallest detectable difference {smallest:.3f}"
    return (
        f"<Plan {plan.protocol} {plan.version}: {count_of(plan.trials, 'trial')}, "
        f"{count_of(plan.totals['calls'], 'call')}, {_money(plan)}{detectable}>"
    )


def _money(plan: Plan) -> str:
    """Writes the expected cost of the calls, in US dollars."""
    unknown = plan.totals["price_unknown"]
    if unknown:
        return f"cost unknown (no price for {', '.join(unknown)})"
    how = "up to" if any(line.up_to for line in plan.calls) else "about"
    return f"{how} ${plan.totals['cost']:,.2f}"
