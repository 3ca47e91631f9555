"""The progress of a run that stops early, and its savings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...records import Json
from ...store import Store
from ...store.queries import calls
from .plan import StoppingPlan, read_plan

if TYPE_CHECKING:  # with the tests of a look, which the report of a run without looks does without
    from .looks import Look


@dataclass(frozen=True)
class StoppingProgress:
    """The data that looks used so far: outputs; answered calls and dollars, judges included."""

    plan: StoppingPlan
    made: tuple[Look, ...]
    outputs: int
    calls: int
    spent: float

    @property
    def is_over(self) -> bool:
        """True if no more trials will be asked."""
        from .looks import is_over

        return is_over(self.plan, self.made)

    @property
    def saved_outputs(self) -> int:
        """The planned outputs that are never asked for; 0 while the run goes on."""
        return max(0, self.plan.outputs - self.outputs) if self.is_over else 0

    @property
    def saved_share(self) -> float:
        """The saved outputs as a share of the whole plan."""
        return self.saved_outputs / self.plan.outputs

    @property
    def saved_calls(self) -> int:
        """The calls saved, judges' included: saved outputs times calls per output so far."""
        return round(self.calls * self.saved_outputs / self.outputs) if self.outputs else 0

    @property
    def saved_dollars(self) -> float:
        """The dollars saved: saved outputs times the cost per output so far; 0 without a price."""
        return self.spent * self.saved_outputs / self.outputs if self.outputs else 0.0

    def badge(self) -> str:
        """Returns the progress in a few words."""
        look = f"look {len(self.made)} of {len(self.plan.looks)}"
        if self.plan.told_moves:
            looks = ", ".join(map(str, self.plan.looks))
            look += f" (looks moved to rounds {looks}, which are balanced)"
        if not self.is_over:
            return f"goes on after {look}"
        if not self.saved_outputs:
            return f"came to its last look, {look}: nothing saved"
        return f"stopped at {look}, {100 * self.saved_share:.0f} % saved"

    def sentence(self) -> str:
        """Describes the progress of the run in one sentence."""
        looks, number = len(self.plan.looks), len(self.made)
        answers = f"{self.outputs:,} of {self.plan.outputs:,} answers"
        if not self.is_over:
            return f"Look {number} of {looks} was made, after {answers}; the run goes on."
        if not self.saved_outputs:
            return f"The run came to its last look, look {looks}: all {answers} were asked."
        savings = f"{self.saved_outputs:,} answers ({100 * self.saved_share:.0f} %)"
        about = f", about {self.saved_calls:,} calls" if self.calls > self.outputs else ""
        money = f" and ${self.saved_dollars:,.2f}" if self.saved_dollars >= 0.005 else ""  # a cent
        return (
            f"The run ended at look {number} of {looks}, after {answers}: {savings} were not "
            f"asked{about}{money}."
        )

    def as_dict(self) -> dict[str, Json]:
        """Returns the progress as plain JSON values."""
        return {
            "plan": self.plan.hash,
            "looks": list(self.plan.looks),
            "weights": list(self.plan.weights),
            "futility": list(self.plan.futility),
            "alpha": self.plan.alpha,
            "rounds": self.plan.looks[-1],
            "outputs": self.outputs,
            "planned_outputs": self.plan.outputs,
            "saved": {
                "outputs": self.saved_outputs,
                "calls": self.saved_calls,
                "cost": round(self.saved_dollars, 6),
            },
            "over": self.is_over,
            "families": [
                {
                    "name": family.name,
                    "method": family.method,
                    "claims": len(family.claims),
                    "widening": family.widening,
                }
                for family in self.plan.families
            ],
            "made": [_look(self.plan, look) for look in self.made],
        }


def _look(plan: StoppingPlan, look: Look) -> Json:
    return {
        "look": look.number,
        "round": look.rounds,
        "date": look.date,
        "digest": look.digest,
        "outputs": look.outputs,
        "claims": [
            {
                "measure": claim.measure,
                "subject": claim.subject,
                "condition": claim.condition,
                "contrast": claim.contrast,
                "q": one.q,
                "p": one.p,
                "level": one.level,
                "information": one.information,
                "chance": one.chance,
                "state": one.state,
                "decided": None if one.state == "on" else one.look,
            }
            for claim in plan.claims
            for one in [look.decisions[claim.key]]
        ],
    }


def read_progress(store: Store) -> StoppingProgress | None:
    """Reads the progress of a run; None if the run never stops early."""
    plan = read_plan(store)
    if plan is None:
        return None
    from .looks import read_looks

    past_looks = tuple(read_looks(store, plan))
    outputs = past_looks[-1].outputs if past_looks else 0
    return StoppingProgress(plan, past_looks, outputs, calls.number_answered(store), store.spent())
