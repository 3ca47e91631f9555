"""Statements on people who label without a judge: their agreement, and the number without one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from ...analyse.estimates import estimates
from ...analyse.words import headlines, numerals, reading
from ...gold import majority
from ...protocol import MeasureSpec, Protocol
from ...records import HUMAN, Estimate
from ...store import Store
from ...store.queries import labels
from ..page_model.audits import Audit


def lines(store: Store, audit: Audit) -> Iterator[tuple[str, str]]:
    """Yields (text, ""): people's agreement, and per named person the headline without that person.
    The "" stands where other lines have a query.
    """
    if not labels.have_human(store):
        return
    for found in majority.agreements(store, audit.protocol):
        yield (
            f"People agree with Krippendorff's α {numerals.share(found.alpha)} on "
            f"{found.shared:,} outputs that several saw.",
            "",
        )
        specs = (spec for spec in audit.protocol.measures if spec.headline)
        spec = next((spec for spec in specs if spec.attribute == found.attribute), None)
        row = next((row for row in audit.estimates if spec and row.measure == spec.name), None)
        if spec is not None and row is not None:
            for person in found.named:
                text = _without(store, audit.protocol, (spec, row), person)
                yield from [(text, "")] if text else []


def _without(
    store: Store, protocol: Protocol, headline: tuple[MeasureSpec, Estimate], person: str
) -> str:
    """Writes the headline without a person's labels. Outputs that only this person saw drop out,
    which changes the number by chance alone if they were divided at random (`annotate --among`).
    """
    spec, row = headline
    with TemporaryDirectory() as spare:  # a copy, since the votes of the others are stored
        store.backup(Path(spare))
        with Store(Path(spare), writing=True) as copy:
            majority.leave_out(copy, protocol, spec.attribute, person)
            others = estimates(copy, protocol)
    same = (row.measure, row.subject, row.condition, row.contrast)
    left = next((r for r in others if (r.measure, r.subject, r.condition, r.contrast) == same), row)
    if left.value is None or left is row:
        return ""
    signed = reading.is_signed(spec, row)
    number, before = (
        f"{headlines.amount(one.value, one.unit, signed)} {headlines.interval(spec, one)}"
        for one in (left, row)
    )
    return f"Without {person.removeprefix(HUMAN)} it is {number}, not {before}."
