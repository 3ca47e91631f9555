"""The estimates of a run, with p adjusted; for a run that stops early, with p over its looks."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from ..gold import majority
from ..protocol import MeasureSpec, Protocol
from ..records import Estimate
from ..store import Store
from ..store.queries import looks
from .claims import repeats
from .claims.families import adjust_by_claim
from .measures.estimate_rows import with_detectable
from .whole_run.measure_run import measured_rows


def estimates(store: Store, protocol: Protocol, variant: str = "default") -> list[Estimate]:
    """Lists all estimates of a run in one variant, in the order in which the protocol declares its
    measures, with p adjusted (`claims.adjust_by_claim`).
    """
    rows = repeats.without_tests(store, protocol, list(_rows(store, protocol, variant)))
    return [with_detectable(row) for row in adjust_by_claim(protocol, rows)]


def estimates_without(
    store: Store, protocol: Protocol, spec: MeasureSpec, people: Collection[str]
) -> list[Estimate]:
    """Lists a measure's estimates, as a run would have them without some people's labels of its
    attribute.

    Outputs that only these people labelled drop out; that changes numbers by chance alone if
    outputs were divided at random (`annotate --among`).
    """
    with TemporaryDirectory() as folder:  # a copy, since the votes of the others are stored
        store.backup(Path(folder))
        with Store(Path(folder), writing=True) as copy:
            majority.leave_out(copy, protocol, spec.attribute, people)
            return estimates(copy, replace(protocol, measures=(spec,)))


def _rows(store: Store, protocol: Protocol, variant: str) -> Iterable[Estimate]:
    if not looks.plan(store):
        return measured_rows(store, protocol, variant)
    from .stopping.estimates import estimates_of_looks  # with the tests of a look

    return estimates_of_looks(store, protocol, variant)
