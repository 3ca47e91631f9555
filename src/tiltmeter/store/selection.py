"""Some of the outputs that are looked at, as a condition of SQL over the tables in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from .rows import Value


@dataclass(frozen=True)
class Selection:
    """Some of the outputs. levels: of factors, mode, subject, outcome; labels: (attribute, value)
    that the output's own label has, value None for outputs without one; outcome: beside a level of
    the outcome; split: an attribute on which annotators disagree; searches: what each of these
    found.
    """

    levels: Mapping[str, str] = field(default_factory=dict)
    labels: Sequence[tuple[str, str | None]] = ()
    outcome: str = ""
    split: str = ""
    searches: Sequence[str] = ()

    def condition(self, column: Callable[[str], str]) -> tuple[str, list[Value]]:
        """As SQL over output c, with the values of its marks. column: of a factor's name."""
        parts: list[tuple[str, tuple[Value, ...]]] = [("1", ())]
        for name, level in self.levels.items():
            parts.append((f"{column(name)} = ?", (level,)))
        of = "SELECT 1 FROM label l WHERE l.n = c.n AND l.attribute = ?"
        for attribute, value in self.labels:
            if value is None:
                parts.append((f"NOT EXISTS ({of})", (attribute,)))
            else:
                parts.append((f"EXISTS ({of} AND l.value = ? AND l.own)", (attribute, value)))
        if self.outcome:
            parts.append(("c.outcome = ?", (self.outcome,)))
        if self.split:
            parts.append((f"EXISTS ({of} AND l.split)", (self.split,)))
        for text in self.searches:
            parts.append(("c.n IN (SELECT n FROM hit WHERE text = ?)", (text,)))
        return " AND ".join(text for text, _ in parts), [v for _, values in parts for v in values]
