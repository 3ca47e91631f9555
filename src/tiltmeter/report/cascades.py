"""How many outputs rules labelled, and how many the judge that was asked where they were unsure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..records import Json
from ..store import Store
from ..store.queries import calls, labels, settings


class Shares(NamedTuple):
    """One annotator. sure: how sure the rules had to be not to ask, None where that is no number;
    answers: that it labelled; asked: of these, the judge about.
    """

    annotator: str
    judge: str
    sure: float | None
    answers: int
    asked: int

    @property
    def sentence(self) -> str:
        """Who labelled how many, in words."""
        return (
            f"{self.answers - self.asked:,} labelled by rules, {self.asked:,} by the judge "
            f"{self.judge}, where they were unsure"
        )

    def as_dict(self) -> dict[str, Json]:
        """Plain values for the JSON output."""
        return {
            "annotator": self.annotator,
            "judge": self.judge,
            "sure": self.sure,
            "by_rules": self.answers - self.asked,
            "by_judge": self.asked,
        }

    @property
    def options(self) -> Iterator[str]:
        """What was typed beside the judge."""
        yield "--judge-for unsure"
        if self.sure is not None:
            yield f"--sure {self.sure:g}"


def shares(store: Store) -> list[Shares]:
    """Every annotator of a run that is rules and a judge together."""
    asked = {(one.annotator, one.model): one.outputs for one in calls.by_annotator(store)}
    return [
        Shares(
            name,
            kept.judge,
            kept.sure,
            labels.answers(store, name),
            asked.get((name, kept.judge), 0),
        )
        for name, kept in settings.cascades(store).items()
    ]
