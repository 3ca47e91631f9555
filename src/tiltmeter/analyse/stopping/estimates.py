"""Estimates of a run that stops early: p over the looks, intervals widened for stopping, and the
state of each claim.

A test that did not stop the run uses the smallest p_k/w_k over the looks k up to which all of its
prompts were asked. While the run goes on, only the data of the last look count, and intervals are
valid at every look (docs/how-to/stopping.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property

from ...protocol import Protocol
from ...protocol.measures import measure_kind
from ...records import Estimate, Population
from ...stats.quantiles import normal_quantile, t_quantile
from ...stats.results import join_notes
from ...stats.shuffles.resampling import OVER_LOOKS
from ...stats.stopping.after import corrected_estimate, repeated_confidence
from ...stats.stopping.decision import StoppingDecision
from ...stats.stopping.sequential import bonferroni_over_looks
from ...store import Store
from ...store.queries import looks as stored
from ..claims.output_query import query_of
from ..whole_run.measure_run import measured_rows
from .looks import Look, is_over, read_looks
from .plan import PlannedClaim, PlannedFamily, StoppingPlan, key_of, read_plan


def estimates_of_looks(store: Store, protocol: Protocol, variant: str) -> list[Estimate]:
    """Lists the rows of a run in one variant; if it stops early, with p over its looks."""
    plan = read_plan(store)
    if plan is None:
        return list(measured_rows(store, protocol, variant))
    past_looks = read_looks(store, plan)
    with ExitStack() as stack:
        at_look = store
        if not is_over(plan, past_looks):
            at_look = stack.enter_context(stored.RunAtLook(store.folder, len(past_looks)))
        mark = f"|stop:{plan.hash[:8]}|tm:"
        rows = [
            replace(row, signature=row.signature.replace("|tm:", mark))
            for row in measured_rows(at_look, protocol, variant)
        ]
        if not past_looks:
            return []  # nothing is tested before the first look
        before = [
            list(measured_rows(stack.enter_context(view), protocol, variant))
            for view in (stored.RunAtLook(store.folder, k) for k in range(1, len(past_looks)))
        ]
        stopped = _Stopped(store, protocol, plan, past_looks, [*before, rows])
        return [stopped.row(row) for row in rows]


@dataclass(frozen=True)
class _Stopped:
    """The estimates at every look so far. rows: per look; p of each test is unadjusted."""

    store: Store
    protocol: Protocol
    plan: StoppingPlan
    made: Sequence[Look]
    rows: Sequence[Sequence[Estimate]]

    @cached_property
    def claims(self) -> dict[str, tuple[PlannedClaim, PlannedFamily]]:
        return {
            claim.key: (claim, family) for family in self.plan.families for claim in family.claims
        }

    @cached_property
    def q(self) -> list[dict[str, float | None]]:
        """Per look, {row's key: the unadjusted p of its test}."""
        return [{key_of(row): row.p for row in rows} for rows in self.rows]

    @cached_property
    def populations(self) -> list[dict[str, Population]]:
        """Per look, {row's key: the population that the row generalises to}."""
        return [
            {key_of(row): row.population for row in rows if row.population is not None}
            for rows in self.rows
        ]

    @cached_property
    def ended(self) -> list[tuple[str, str, Mapping[str, str], int]]:
        """Prompts dropped before the final look: (subject, mode, levels, their last look)."""
        last = len(self.made)
        return [look for look in stored.last_looks(self.store) if 0 < look[3] < last]

    def row(self, row: Estimate) -> Estimate:
        """Returns a row with p over looks. Drops its test of items, as stopping depended on it."""
        row = replace(row, test_items=None)
        planned = self.claims.get(key_of(row)) if row.variant == "default" else None
        if planned is None:
            return self._undecided_row(row)
        claim, family = planned
        decision = self.made[-1].decisions[claim.key]
        about: dict[str, int | str] = {
            "look": decision.look,
            "looks": len(self.plan.looks),
            "round": self.plan.looks[decision.look - 1],
            "rounds": self.plan.looks[-1],
            "state": decision.state,
        }
        if claim.statistic == "words":
            about["statistic"] = claim.statistic
        note = join_notes(row.note or None, self._note_of_bias(row, claim, family, decision))
        stopped_row = replace(row, p=decision.p, stopped=about, note=note or "")
        name, weight = row.name_cells, self.plan.weights[decision.look - 1]
        if name is not None:  # cells are named at what this look may spend
            stopped_row = replace(
                stopped_row, name_cells=lambda level, yes: name(level * weight, yes)
            )
        stopped_row = replace(stopped_row, population=self._population(row, family, decision))
        stopped_row = self._widen(replace(stopped_row, test=f"{row.test}{OVER_LOOKS}"), family)
        is_given_up = decision.state == "not pursued"
        return self._as_given_up(stopped_row, family, decision) if is_given_up else stopped_row

    def _population(
        self, row: Estimate, family: PlannedFamily, decision: StoppingDecision
    ) -> Population | None:
        """Returns a row's population, with p for these words (or items) over the looks so far."""
        named, key = row.population, key_of(row)
        if named is None:
            return None
        design, p_by_look = self.plan.design(family), []
        for rows in self.populations[: decision.look]:
            population = rows.get(key)
            p = None if population is None else population["p_these"]
            p_by_look.append(1.0 if p is None else p)
        return {**named, "p_these": bonferroni_over_looks(p_by_look, design) if p_by_look else None}

    def _as_given_up(
        self, row: Estimate, family: PlannedFamily, decision: StoppingDecision
    ) -> Estimate:
        """Replaces an interval that excludes the null value although p is above α: by the wider one
        at the level of its look and family, or by none if that one excludes the null value too.
        """
        spec = next(
            (measure for measure in self.protocol.measures if measure.name == row.measure), None
        )
        null = None if spec is None else spec.null
        if null is None or row.low is None or row.high is None or row.low <= null <= row.high:
            return row
        level = self.plan.alpha * self.plan.weights[decision.look - 1] / len(family.claims)
        factor = _quantile(1 - level / 2, row.clusters) / _quantile(0.975, row.clusters)
        low, high = stretch_interval(row, factor)
        if low <= null <= high:
            return replace(row, low=low, high=high, confidence=round(1 - level, 6))
        note = join_notes(row.note or None, "no interval: given up before its last look") or ""
        return replace(row, low=None, high=None, confidence=None, note=note)

    def _undecided_row(self, row: Estimate) -> Estimate:
        """Returns a row with p over the looks, for a test that did not stop the run."""
        family = max(self.plan.families, key=lambda one: one.widening)
        row = self._widen(row, family)
        if row.p is None:
            return row
        last_look = self._last_look(row)
        key = key_of(row)
        q = [one.get(key) for one in self.q[:last_look]]
        values = [1.0 if p is None else p for p in q]
        p = bonferroni_over_looks(values, self.plan.design(family)) if values else 1.0
        looks = len(self.plan.looks)
        remark = f"asked through look {last_look} of {looks} only" if last_look < looks else None
        note = join_notes(row.note or None, remark) or ""
        row = replace(row, p=p, test=f"{row.test}{OVER_LOOKS}", note=note)
        weight, detect = self.plan.weights[max(last_look, 1) - 1], row.detect
        if detect is None:
            return row
        return replace(row, detect=lambda level: detect(level * weight))

    def _last_look(self, row: Estimate) -> int:
        """Returns the last look up to which every prompt of a row was asked."""
        if not self.ended:
            return len(self.made)
        query = query_of(self.protocol, row)
        levels = {name: tuple(values) for name, values in query.levels.items()}
        as_claim = replace(self.plan.claims[0], subjects=query.subjects, levels=levels)
        rows = [
            look
            for subject, mode, factors, look in self.ended
            if as_claim.counts(subject, mode, factors)
        ]
        return min(rows, default=len(self.made))

    def _widen(self, row: Estimate, family: PlannedFamily) -> Estimate:
        """Widens a row's interval by g; while the run goes on, so that it holds at every look."""
        if row.value is None or row.low is None or row.high is None or row.confidence is None:
            return row
        factor = family.widening
        if not is_over(self.plan, self.made):
            design, look = self.plan.design(family), len(self.made)
            upper = (1 + repeated_confidence(design, look)) / 2
            factor = _quantile(upper, row.clusters) / _quantile(0.975, row.clusters)
        low, high = stretch_interval(row, factor)
        spec = next((s for s in self.protocol.measures if s.name == row.measure), None)
        kind = measure_kind(spec.kind) if spec else None
        if kind is not None and kind.low is not None:
            low = max(low, min(kind.low, row.low))
        if kind is not None and kind.high is not None:
            high = min(high, max(kind.high, row.high))
        return replace(row, low=low, high=high)

    def _note_of_bias(
        self, row: Estimate, claim: PlannedClaim, family: PlannedFamily, decision: StoppingDecision
    ) -> str | None:
        """Returns a note with the estimate corrected for stopping early, or None."""
        if claim.statistic != "items" or row.unit != "share" or decision.state == "on":
            return None
        if row.value is None or row.low is None or row.high is None:
            return None
        se = (row.high - row.low) / 2 / _quantile(0.975, row.clusters)
        value = corrected_estimate(
            design=self.plan.design(family),
            value=row.value,
            se=se,
            look=decision.look,
            level=decision.level,
            null=claim.null,
        )
        return None if value is None else f"corrected for having stopped early: {value:.3f}"


def stretch_interval(row: Estimate, factor: float) -> tuple[float, float]:
    """Stretches an interval around its value; for odds and ratios in logarithms."""
    value, low, high = row.value or 0.0, row.low or 0.0, row.high or 0.0
    if row.unit in ("odds", "ratio") and min(value, low) > 0:
        return value * (low / value) ** factor, value * (high / value) ** factor
    return value - factor * (value - low), value + factor * (high - value)


def _quantile(probability: float, clusters: int | None) -> float:
    if clusters and clusters > 1:
        return t_quantile(probability, float(clusters - 1))
    return normal_quantile(probability)
