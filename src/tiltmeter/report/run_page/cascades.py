"""Counts the outputs that rules label, and those that a judge labels as the rules were unsure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...records import Json
from ...store import Store
from ...store.queries import calls, label_counts, settings


class Shares(NamedTuple):
    """One annotator made of rules and a judge. sure: the confidence below which the judge is
    called, None if not a number; answers: number labelled; asked: number sent to the judge;
    left_open: number of the latter without a usable reply.
    """

    annotator: str
    judge: str
    sure: float | None
    answers: int
    asked: int
    left_open: int

    @property
    def sentence(self) -> str:
        """Returns a sentence on how many labels come from rules, and how many from the judge."""
        unsure = "unsure" if self.sure is None else f"less sure than {self.sure:g}"
        in_vain = f", {self.left_open:,} by neither: it gave no usable answer"
        return (
            f"{self.answers - self.asked:,} labelled by rules, {self.asked - self.left_open:,} by "
            f"the judge {self.judge}, where they were {unsure}{in_vain if self.left_open else ''}"
        )

    def as_dict(self) -> dict[str, Json]:
        """Returns plain values for the JSON output."""
        return {
            "annotator": self.annotator,
            "judge": self.judge,
            "sure": self.sure,
            "by_rules": self.answers - self.asked,
            "by_judge": self.asked - self.left_open,
            "left_open": self.left_open,
        }

    @property
    def options(self) -> Iterator[str]:
        """Yields the command-line options that go with this judge."""
        yield "--judge-for unsure"
        if self.sure is not None:
            yield f"--sure {self.sure:g}"


def shares(store: Store) -> list[Shares]:
    """Returns every annotator of a run that combines rules and a judge."""
    asked = {(one.annotator, one.model): one.outputs for one in calls.by_annotator(store)}
    return [
        Shares(
            name,
            stored.judge,
            stored.sure,
            label_counts.answers(store, name),
            asked.get((name, stored.judge), 0),
            label_counts.asked_in_vain(store, name),
        )
        for name, stored in settings.cascades(store).items()
    ]


def limits(store: Store) -> Iterator[str]:
    """Yields a caution, if rules and a judge label together: rates have the errors of both."""
    if settings.cascades(store):
        yield (
            "Where rules and a judge label as one, rates carry the errors of both: of the rules "
            "where they were sure and wrong, of the judge where it was asked. Only people's labels "
            "say how many those are (tiltmeter annotate RUN)."
        )
