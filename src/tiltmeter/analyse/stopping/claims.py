"""The claims that a run will have, known before its first output: random labels are measured in a
temporary run of the same prompts.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ...errors import UsageError
from ...protocol import EVERY, MeasureSpec, Protocol
from ...protocol.design.tables import SEVERAL
from ...protocol.measures import measure_kind
from ...protocol.stopping import stopping_measures
from ...records import ANSWER, Estimate, Label, Output, Trial
from ...stats.stopping.after import widening
from ...store import Store
from ..claims import families
from ..claims.output_query import query_of
from ..whole_run.measure_run import measured_rows
from ..words.populations import LIKE
from .plan import PlannedClaim, PlannedFamily, Statistic, StoppingPlan, key_of
from .sums import CellGroups, Data, ItemSums, alone_with, claim_data

Labellers = Mapping[str, str]  # attribute → the annotator whose labels of it the run stops by
FEW_DRAWS = 99  # of tests that only say which claims there are
COPIES = 8  # of a prompt's trials, for measures of whole outputs
ANY = ("a", "b")  # values of an attribute that is not declared


def planned_families(
    protocol: Protocol,
    trials: Iterable[Trial],
    labellers: Labellers,
) -> list[PlannedFamily]:
    """Returns the families of claims whose decisions stop the run.

    trials: at least one per prompt. Raises UsageError if no claim is tested.
    """
    all_trials = list(trials)
    rows: list[Estimate] = []
    data: dict[str, Data] = {}
    for spec in stopping_measures(protocol):
        reduced = alone_with(protocol, (spec,))
        with (
            tempfile.TemporaryDirectory() as folder,
            Store(folder, create=True, writing=True) as store,
        ):
            _fill(store, protocol, spec, all_trials, _labeller(spec, labellers))
            measured = list(measured_rows(store, reduced, draws=FEW_DRAWS))
            data |= claim_data(store, reduced)
        leading = {row.key for _, row in families.headline(reduced, measured)}
        rows += [
            row
            for row in measured
            if row.measure == spec.name and (not spec.headline or row.key in leading)
        ]
    adjusted = families.adjust_by_claim(protocol, rows)
    return _families(protocol, adjusted, data)


def _labeller(spec: MeasureSpec, labellers: Labellers) -> str:
    if spec.attribute == EVERY:
        return next(iter(labellers.values()), "")
    return labellers.get(spec.attribute, "")


def _fill(
    store: Store, protocol: Protocol, spec: MeasureSpec, asked: Sequence[Trial], annotator: str
) -> None:
    """Stores random labels, as equal labels everywhere would leave some tests undefined."""
    generator = random.Random(0)
    store.freeze({"protocol": protocol.name})
    measured = [trial for trial in asked if not protocol.modes[trial.mode].for_discovery]
    values = _values(spec)
    attributes = ANY if spec.attribute == EVERY else (spec.attribute,)
    if spec.attribute == EVERY:  # a cell of two or three outputs makes no claim
        measured = [
            trial._replace(id=f"{trial.id}{copy}", sample=trial.sample + copy * len(asked))
            for trial in measured
            for copy in range(COPIES)
        ]
    for _ in store.iter_unanswered(measured):
        pass
    store.write(
        (),
        [Output(trial.id, ANSWER, "", trial.id) for trial in measured],
        [
            Label(trial.id, annotator, attribute, generator.choice(values))
            for trial in measured
            for attribute in attributes
            if annotator
        ],
    )


def _values(spec: MeasureSpec) -> Sequence[str]:
    if measure_kind(spec.kind).numbers:
        return "123456"
    expected = [v for levels in spec.expected.values() for v in levels.values()]
    values = [*(value for one in expected for value in one.split(SEVERAL)), *spec.among]
    values += [value for value in spec.values if value != EVERY]
    return list(dict.fromkeys((*values, *(() if spec.among else ANY))))


def _families(
    protocol: Protocol, rows: Sequence[Estimate], data: Mapping[str, Data]
) -> list[PlannedFamily]:
    specs = {spec.name: spec for spec in protocol.measures}
    by_family: dict[tuple[str, str], dict[families.Key, PlannedClaim]] = {}
    for row in rows:
        if row.p is not None and row.family:
            of_family = by_family.setdefault((row.family, row.adjustment or ""), {})
            claim = _claim(protocol, row, data.get(key_of(row)))
            of_family.setdefault(families.hypothesis(specs[row.measure], row), claim)
    if not by_family:
        raise UsageError(
            f"{protocol.name} tests no claim, so answers cannot stop the run early. "
            "Leave --stop out."
        )
    return [
        PlannedFamily(
            name, "holm" if rule == "holm" else "benjamini-hochberg", tuple(of_family.values()), 1.0
        )
        for (name, rule), of_family in by_family.items()
    ]


def _claim(protocol: Protocol, row: Estimate, data: Data | None) -> PlannedClaim:
    query = query_of(protocol, row)
    items = data.items if isinstance(data, ItemSums) else ()
    return PlannedClaim(
        key=key_of(row),
        measure=row.measure,
        subject=row.subject,
        instrument=row.instrument,
        condition=dict(row.condition),
        contrast=None if row.contrast is None else dict(row.contrast),
        statistic=_statistic(row, data),
        items=items,
        null=data.null if isinstance(data, ItemSums) else 0.0,
        subjects=query.subjects,
        levels={name: tuple(levels) for name, levels in query.levels.items()},
    )


def _statistic(row: Estimate, data: Data | None) -> Statistic:
    """Returns the test of a claim at each look, such as "words" if cue words are a sample."""
    if row.population is not None and row.population["cue_words"] == LIKE:
        return "words"
    if data is None:
        return "plain"
    if isinstance(data, CellGroups):
        return "cells"
    return "items" if isinstance(data, ItemSums) and data.items else "outputs"


def with_widening(plan: StoppingPlan) -> StoppingPlan:
    """Returns the plan with each family's g, the factor that widens intervals after stopping."""
    return replace(
        plan,
        families=tuple(
            replace(family, widening=widening(plan.design(family))) for family in plan.families
        ),
    )
