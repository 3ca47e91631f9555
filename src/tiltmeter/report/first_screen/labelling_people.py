"""Statements on people who label without a judge: agreement, and the number without one person."""

from __future__ import annotations

from collections.abc import Iterator

from ...analyse.claims.verdicts import Verdict
from ...analyse.estimates import estimates_without
from ...analyse.words import headlines, numerals, reading
from ...gold import majority
from ...protocol import Protocol
from ...records import HUMAN
from ...store import Store
from ...store.queries import labels


def lines(store: Store, protocol: Protocol, lead: Verdict) -> Iterator[tuple[str, str]]:
    """Yields (text, ""): people's agreement; and, per person who disagrees, the number of `lead`
    without that person's labels. The second element, a query in other lines, is empty.
    """
    if not labels.have_human(store):
        return
    for agreement in majority.agreements(store, protocol):
        yield (
            f"People agree with Krippendorff's α {numerals.share(agreement.alpha)} on "
            f"{agreement.shared:,} outputs that several labelled.",
            "",
        )
        if agreement.attribute == lead.claim.spec.attribute:
            for person in agreement.named:
                text = _number_without(store, protocol, lead, person)
                yield from [(text, "")] if text else []


def _number_without(store: Store, protocol: Protocol, lead: Verdict, person: str) -> str:
    """Writes the headline number without a person's labels; "" if it then has no value."""
    spec, row = lead.claim.spec, lead.claim.row
    others = estimates_without(store, protocol, spec.attribute, person)
    same_row = next((other for other in others if other.key == row.key), None)
    if same_row is None or same_row.value is None:
        return ""
    signed = reading.is_signed(spec, row)
    number, before = (
        f"{headlines.amount(one.value, one.unit, signed)} {headlines.interval(spec, one)}"
        for one in (same_row, row)
    )
    return f"Without {person.removeprefix(HUMAN)} it is {number}, not {before}."
