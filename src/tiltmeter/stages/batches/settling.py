"""The rules for believing a provider that a batch has ended.

As long as the provider may still deliver an answer, the request is not sent again. Good results are
stored as they are read. The provider's report on the other requests must be the same in several
looks in a row: in few looks if the batch's counts agree with the lines of its results, in more if
only one of the two is available. Unreadable requests that may be charged for are held.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from ...models.batch.format import Seen
from ...store.queries.batches import BatchRow
from .results import Collected

LOOKS_OF_ONE, LOOKS_OF_TWO = 4, 2  # that must agree, by how many witnesses tell the same
# Words for states in which what was not done is given back and not charged for.
_CUT_OFF = ("expire", "cancel", "timeout")


class BatchFinding(NamedTuple):
    """The result of one look at a batch. sign: equal for two looks with the same result; looks: the
    number of looks that must agree; got: the results read, None for none; is_short: True if results
    that are charged for are missing and other requests lack a reply; free: keys of requests that
    may be sent again; unread: keys of requests that may be charged for.
    """

    sign: Hashable
    looks: int
    reason: str
    got: Collected | None = None
    is_short: bool = False
    free: frozenset[str] = frozenset()
    unread: frozenset[str] = frozenset()


def gone(answer: str) -> BatchFinding:
    """Returns the finding that the provider does not know the batch."""
    return BatchFinding("gone", LOOKS_OF_ONE, answer)


def refused(seen: Seen) -> BatchFinding:
    """Returns the finding that the provider refused the whole batch."""
    return BatchFinding(("refused", seen.fault), LOOKS_OF_ONE, seen.fault)


def refusal(answer: str) -> Seen:
    """Describes a batch that the provider refused to create."""
    return Seen("", ended=True, said="", fault=answer, crowded="enqueued" in answer.lower())


def read(row: BatchRow, seen: Seen, got: Collected, *, in_file: bool) -> BatchFinding:
    """Judges an ended batch by its results. in_file: True if a file holds all its results."""
    succeeded, failed = _counts(row, seen)
    missing = max(0, (succeeded or 0) - got.billed)  # that are charged for, and were not read
    is_agreed = succeeded == got.billed and failed is not None
    is_cut_off = any(sign in seen.said for sign in _CUT_OFF)
    is_complete = is_agreed and (is_cut_off or got.billed + (failed or 0) == row.requests)
    unread = frozenset[str]() if in_file or is_complete else got.unread
    free = got.given_back | (got.unread - unread)
    rest = free or unread or got.faulty
    two = is_agreed and not got.unread
    looks = 1 if in_file or not (rest or missing) else LOOKS_OF_TWO if two else LOOKS_OF_ONE
    numbers = (got.billed, len(got.faulty), len(free), len(unread))
    reason = f"{got.billed:,} of {row.requests:,} results can be read"
    if missing:
        reason = f"{seen.said}: {succeeded:,} are done, and {got.billed:,} can be read"
    reason = f"{reason}; {got.fault}" if got.fault else reason
    sign = (seen.said, succeeded, failed, *numbers)
    # no line may tell of what is missing; if it is more, a line that tells of no charge lies
    is_short = missing > len(unread) and bool(rest)
    return BatchFinding(sign, looks, reason, got, is_short, free, unread)


def _counts(row: BatchRow, seen: Seen) -> tuple[int | None, int | None]:
    """Returns (succeeded, failed) of a batch; (None, None) if they contradict its requests."""
    numbers = (seen.succeeded, seen.failed)
    counts = [number for number in numbers if number is not None]
    if any(number < 0 for number in counts) or sum(counts) > row.requests:
        return None, None
    return numbers
