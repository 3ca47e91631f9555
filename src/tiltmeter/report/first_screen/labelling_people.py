"""Statements on people who label without a judge: agreement, and the numbers of single people."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ...analyse.claims.verdicts import Verdict
from ...analyse.estimates import estimates_without
from ...analyse.words import headlines, numerals, reading
from ...analyse.words.first_sentence.clauses import join_names
from ...gold import majority
from ...protocol import Protocol
from ...records import HUMAN, Estimate
from ...store import Store
from ...store.queries import labels

MOST_NAMED = 4  # people with a number each
OUTSIDE = "The number lies outside of these, since outputs without a majority drop out of it."


def lines(store: Store, protocol: Protocol, lead: Verdict) -> Iterator[str]:
    """Yields people's agreement; the number of `lead` from each person's labels alone; and, per
    person who disagrees, the number without that person's labels.
    """
    if not labels.have_human(store):
        return
    for agreement in majority.agreements(store, protocol):
        yield (
            f"People agree with Krippendorff's α {numerals.fixed_decimals(agreement.alpha, 2)} on "
            f"{agreement.shared:,} outputs that several labelled."
        )
        if agreement.attribute == lead.claim.spec.attribute:
            yield from _numbers_alone(store, protocol, lead)
            for person in agreement.named:
                yield from _number_without(store, protocol, lead, person)


def _numbers_alone(store: Store, protocol: Protocol, lead: Verdict) -> Iterator[str]:
    """Yields a sentence with each person's own number, if two have one."""
    people = majority.labellers(store, lead.claim.spec.attribute)
    alone = {
        person: row
        for person in people
        if (row := _row(store, protocol, lead, {*people} - {person})) is not None
    }
    values = [row.value or 0.0 for row in alone.values()]
    headline = lead.claim.row.value
    if len(values) < 2 or headline is None:
        return
    rest = ""
    is_outside = not min(values) <= headline <= max(values)
    if len(alone) > MOST_NAMED:
        ends = sorted(alone.items(), key=lambda one: one[1].value or 0.0)
        alone = dict((ends[0], ends[-1]))
        rest = f" (the lowest and the highest of {len(values)})"
    numbers = [f"{name.removeprefix(HUMAN)} {_number(lead, row)}" for name, row in alone.items()]
    text = f"From one person's labels alone: {join_names(numbers)}{rest}."
    yield f"{text} {OUTSIDE}" if is_outside else text


def _number_without(store: Store, protocol: Protocol, lead: Verdict, person: str) -> Iterator[str]:
    """Yields a sentence with the headline number without a person's labels, if it has a value."""
    row = _row(store, protocol, lead, {person})
    if row is not None:
        before = _number(lead, lead.claim.row)
        yield f"Without {person.removeprefix(HUMAN)} it is {_number(lead, row)}, not {before}."


def _row(
    store: Store, protocol: Protocol, lead: Verdict, without: Collection[str]
) -> Estimate | None:
    """Returns the lead's row without some people's labels; None if it then has no value."""
    rows = estimates_without(store, protocol, lead.claim.spec, without)
    same = next((row for row in rows if row.key == lead.claim.row.key), None)
    return None if same is None or same.value is None else same


def _number(lead: Verdict, row: Estimate) -> str:
    spec = lead.claim.spec
    signed = reading.is_signed(spec, row)
    return f"{headlines.amount(row.value, row.unit, signed)} {headlines.interval(spec, row)}"
