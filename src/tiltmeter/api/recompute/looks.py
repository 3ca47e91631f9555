"""Recomputes the looks of a run that stops early from the run's labels."""

from __future__ import annotations

from ...analyse.stopping.looks import look_again, read_looks
from ...analyse.stopping.plan import read_plan
from ...errors import TiltmeterError
from ...protocol import Protocol
from ...store import Store
from ...store.queries import looks as stored
from .findings import Findings


def check_looks(store: Store, protocol: Protocol, findings: Findings) -> None:
    """Checks that each look and its decisions follow from the labels."""
    try:
        plan = read_plan(store)
        looks = [] if plan is None else read_looks(store, plan)
    except TiltmeterError as error:
        findings.add("a look or its plan does not follow from the run", str(error))
        return
    if plan is None:
        return
    if len(looks) < stored.last_look(store) and not stored.count_unanswered(store):
        findings.add("a look is missing", f"{len(looks)} of {stored.last_look(store)} are there")
    if stored.is_planned_late(store):
        findings.add("the plan is younger than the first look", "its date")
    for number, look in enumerate(looks):
        findings.count("looks")
        new_look = look_again(store, protocol, plan, looks[:number]).as_dict()
        for name, value in look.as_dict().items():
            if name != "date" and new_look[name] != value:
                findings.add("a look is not what its labels give", f"look {number + 1}: {name}")
