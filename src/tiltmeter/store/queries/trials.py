"""The planned trials: their levels of the design, how many per cell, and those without output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ...records import Sampling
from .. import Store
from ..columns import Unpacker, read
from ..rows import field_path, levels
from ..views import AskedColumn, public_columns


class TrialPart(NamedTuple):
    """Trials with equal subject, mode, begun answer and sampling. samples: number per prompt."""

    subject: str
    mode: str
    trials: int
    answered: int
    samples: int
    begin: str
    temperature: float | None
    top_p: float | None
    max_tokens: int | None


class Extent(NamedTuple):
    """The cells of a subject and mode. samples: the largest number of samples of any cell."""

    subject: str
    mode: str
    cells: Sequence[Mapping[str, str]]
    samples: int


_PARTS = f"""
SELECT t.subject, t.mode, count(*), count(o.trial), count(DISTINCT t.sample), t.begin,
  json_extract(t.sampling, '{field_path(Sampling, "temperature")}'),
  json_extract(t.sampling, '{field_path(Sampling, "top_p")}'),
  json_extract(t.sampling, '{field_path(Sampling, "max_tokens")}')
FROM trials t LEFT JOIN outputs o ON t.n = o.n
GROUP BY t.subject, t.mode, t.begin, 7, 8, 9 ORDER BY t.subject, t.mode
"""


def parts(store: Store) -> list[TrialPart]:
    """Lists the groups of trials with equal settings, by subject and mode."""
    return [TrialPart(*row) for row in store.remembered_rows(_PARTS)]


def cells_asked(store: Store) -> Sequence[tuple[str, str, str]]:
    """Returns (subject, mode, factors as JSON) of each cell of the design that was asked."""
    return store.remembered_rows("SELECT DISTINCT subject, mode, factors FROM trials")


def iter_designs(store: Store, columns: Sequence[str]) -> Iterator[tuple[int, ...]]:
    """Yields (integer of the id, integer of each of these columns) per trial, sorted by id."""
    parts = ", ".join(f"{name}_0" for name in columns)
    return store.rows(f"SELECT n, {parts} FROM trials ORDER BY n")


def iter_numbered(store: Store) -> Iterator[tuple[int, str, str, str]]:
    """Yields every trial as (integer of its id, subject, mode, factors as JSON), by id."""
    columns = public_columns("trials", "t")
    chosen = {
        "n": AskedColumn("", ("n",)),
        **{name: columns[name] for name in ("subject", "mode", "factors")},
    }
    for piece in read(store, chosen, "FROM trials t ORDER BY t.n"):
        yield from zip(*piece.values(), strict=True)


def design_texts(
    store: Store, columns: Sequence[str], rows: Sequence[Sequence[int]]
) -> list[tuple[str, ...]]:
    """Returns the texts behind the integers of some columns of trials, one tuple per row."""
    columns_of_view, unpacker = public_columns("trials", "t"), Unpacker(store)
    stored = zip(*rows, strict=True) if rows else ((),) * len(columns)
    texts = [
        unpacker.column(columns_of_view[name].kind, [numbers])
        for name, numbers in zip(columns, stored, strict=True)
    ]
    return list(zip(*texts, strict=True))


def levels_asked(store: Store) -> list[Mapping[str, str]]:
    """Lists {factor: level} of each cell of the design that was asked."""
    return [levels(text) for text in dict.fromkeys(row[2] for row in cells_asked(store))]


def prompts_asked(store: Store) -> Iterator[tuple[Mapping[str, str], str]]:
    """Yields ({factor: level}, prompt) of each cell of the design that was asked."""
    for factors, prompt in store.rows("SELECT factors, min(prompt) FROM trials GROUP BY 1"):
        yield levels(factors), prompt


def cells_outside(store: Store, modes: Sequence[str]) -> list[Mapping[str, str]]:
    """Lists {factor: level} of each cell of the design that has a trial outside these modes, in the
    order of the trials.
    """
    marks = ",".join("?" * len(modes))
    query = f"SELECT factors FROM trials WHERE mode NOT IN ({marks}) GROUP BY 1 ORDER BY min(id)"
    return [levels(row[0]) for row in store.rows(query, modes)]


def extents(store: Store) -> Iterator[Extent]:
    """Yields the cells and the number of samples by subject and mode."""
    cells: dict[tuple[str, str], list[Mapping[str, str]]] = {}
    for subject, mode, factors in cells_asked(store):
        cells.setdefault((subject, mode), []).append(levels(factors))
    query = "SELECT subject, mode, max(sample) + 1 FROM trials GROUP BY 1, 2"
    for subject, mode, samples in store.rows(query):
        yield Extent(subject, mode, cells[subject, mode], samples)


def open_trials(store: Store) -> int:
    """Counts the planned trials that have no output."""
    query = "SELECT (SELECT count(*) FROM trials) - (SELECT count(*) FROM outputs)"
    return max(0, int(store.first(query)[0]))


def subjects(store: Store) -> list[str]:
    """Lists the models that trials are planned for, by name."""
    return _words_of(store, "subject_0")


def modes(store: Store) -> list[str]:
    """Lists the modes of a run's trials."""
    return _words_of(store, "mode_0")


def _words_of(store: Store, column: str) -> list[str]:
    query = f"SELECT text FROM words WHERE n IN (SELECT DISTINCT {column} FROM trials) ORDER BY 1"
    return [row[0] for row in store.rows(query)]
