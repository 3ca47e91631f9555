"""The findings of recomputing a run or a folder: a list of contradictions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ...records import Json
from ...stats.results import count_of


@dataclass(slots=True)
class Contradiction:
    """A kind of contradiction. what: describes one case; number: of cases; examples: of all."""

    what: str
    number: int = 0
    examples: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.what}: {count_of(self.number, 'case')}, such as {self.examples[0]}"


@dataclass(slots=True)
class Findings:
    """The results of a check. checked: {kind of row: number}; notes: reasons why something could
    not be recomputed; unchecked: parts that only an earlier version can recompute, so that nothing
    is confirmed; plans: the plans drawn again, as options with numbers of trials; digest: of
    the run's rows, "" without a run; beside: digest of the design, costs, looks and sheets; signer:
    the manifest's signer, "" if it is not signed.
    """

    checked: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    plans: list[str] = field(default_factory=list)
    digest: str = ""
    beside: str = ""
    signer: str = ""
    _kinds: dict[str, Contradiction] = field(default_factory=dict)

    @property
    def contradictions(self) -> list[Contradiction]:
        """Lists the contradictions, in the order of the checks."""
        return list(self._kinds.values())

    @property
    def holds(self) -> bool:
        """True if everything was checked and no contradiction was found."""
        return not self._kinds and not self.unchecked

    @property
    def verdict(self) -> str:
        """Returns "contradicted", "not fully checked" or "confirmed"."""
        if self._kinds:
            return "contradicted"
        return "not fully checked" if self.unchecked else "confirmed"

    def count(self, what: str, number: int = 1) -> None:
        """Adds to the number of checked rows of a kind."""
        self.checked[what] = self.checked.get(what, 0) + number

    def add(self, what: str, example: str, number: int = 1) -> None:
        """Adds a case of a contradiction, or several with one example."""
        kind = self._kinds.setdefault(what, Contradiction(what))
        kind.number += number
        kind.examples.append(example)

    def note(self, said: str) -> None:
        """Adds a note, unless it was added before."""
        if said not in self.notes:
            self.notes.append(said)

    def lines(self) -> Iterator[str]:
        """Yields a line per contradiction."""
        return map(str, self.contradictions)

    def as_dict(self) -> dict[str, Json]:
        """Returns plain values, for --json."""
        rows: list[Json] = [
            {
                "what": contradiction.what,
                "number": contradiction.number,
                "examples": [*contradiction.examples],
            }
            for contradiction in self.contradictions
        ]
        return {
            "holds": self.holds,
            "verdict": self.verdict,
            "unchecked": [*self.unchecked],
            "contradictions": rows,
            "checked": {**self.checked},
            "notes": [*self.notes],
            "plans": [*self.plans],
            "digest": self.digest,
            "beside": self.beside,
            "signer": self.signer,
        }


def first_difference(before: Iterable[object], now: Iterable[object]) -> str:
    """Describes the first difference between two sequences of values."""
    for old, new in zip(before, now, strict=False):
        if old != new:
            return f"{_short(old)}, and {_short(new)} follows"
    return "more or fewer values"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
