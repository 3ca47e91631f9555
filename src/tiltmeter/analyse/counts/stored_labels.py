"""The current labels of a run as integers, read from its file once for all that counts them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from ...store import Store
from ...store.database import State
from ...store.queries import label_sets

PIECE = 10_000  # outputs whose labels are read at a time
MOST_KEPT = 1_000_000  # labels that stay in memory for the next reader
NAMES = ("annotator", "attribute", "value")
_SETS = {"n": pl.Int64, **dict.fromkeys(NAMES, pl.String), "weight": pl.Float64}


class StoredLabels(NamedTuple):
    """The labels of a run. texts: its distinct words, sorted; pieces: frames with a row per label:
    the trial's integer (`n`), the index in texts of each of NAMES, and the weight, sorted.
    """

    texts: pl.Series
    pieces: Iterable[pl.DataFrame]

    def by_annotator(self) -> dict[str, pl.DataFrame]:
        """Returns each annotator's labels: n, attribute, value (as indices) and weight."""
        parts: dict[int, list[pl.DataFrame]] = {}
        for piece in self.pieces:
            for (annotator,), rows in piece.partition_by("annotator", as_dict=True).items():
                parts.setdefault(annotator, []).append(rows.drop("annotator"))
        return {self.texts[index]: pl.concat(rows) for index, rows in parts.items()}

    def indices(self, words: Iterable[str]) -> list[int]:
        """Returns the indices in texts of those of the words that the run has."""
        places = ((bisect_left(self.texts, word), word) for word in words)
        return [at for at, word in places if at < len(self.texts) and self.texts[at] == word]


# Of this process, by a run's file and what of it is read: the file's state and its labels then.
_KEPT: dict[tuple[Path, str], tuple[State, StoredLabels]] = {}


def stored_labels(store: Store) -> StoredLabels:
    """Returns the labels of a run, which are in memory if they were read since the run changed."""
    cached = _KEPT.get((store.path, store.part))
    if cached and cached[0] == store.state():
        return cached[1]
    texts = {number: str(text) for number, text in store.words().items() if number is not None}
    ordered = sorted(texts, key=texts.__getitem__)
    places: list[int | None] = [None] * (max(texts, default=0) + 1)
    for place, number in enumerate(ordered):
        places[number] = place
    words = pl.Series([texts[number] for number in ordered], dtype=pl.String)
    return StoredLabels(words, _read(store, words, pl.Series(places, dtype=pl.Int32)))


def _read(store: Store, texts: pl.Series, places: pl.Series) -> Iterator[pl.DataFrame]:
    """Yields the labels of a run in pieces, at least one, which may be empty; keeps them in memory
    if they are few. places: the index in texts of the word with each integer of the database.
    """
    state, kept, labels = store.state(), list[pl.DataFrame](), 0
    integers = pl.col(NAMES).str.json_decode(pl.List(pl.Int64))
    for rows in (label_sets.by_output(store), label_sets.weighted(store)):
        for read in _lists(rows):
            piece = by_columns(_SETS, read).with_columns(integers).explode(NAMES)
            piece = piece.with_columns(places.gather(piece[name]).alias(name) for name in NAMES)
            piece = piece.sort("n", *NAMES, "weight")
            yield piece
            labels += len(piece)
            if labels <= MOST_KEPT:
                kept.append(piece)
    if labels <= MOST_KEPT:
        _keep(store, state, StoredLabels(texts, kept))


def _lists(rows: Iterator[label_sets.OutputLabels]) -> Iterator[list[label_sets.OutputLabels]]:
    """Yields the rows in lists of PIECE, the last of which is shorter and may be empty."""
    while len(read := list(islice(rows, PIECE))) == PIECE:
        yield read
    yield read


def _keep(store: Store, state: State, labels: StoredLabels) -> None:
    """Keeps the labels of a run, and forgets the runs before as far as all are too many."""
    _KEPT.pop((store.path, store.part), None)
    _KEPT[store.path, store.part] = state, labels
    sizes = {key: sum(map(len, one.pieces)) for key, (_, one) in _KEPT.items()}
    for key in list(sizes)[:-1]:
        if sum(sizes.values()) > MOST_KEPT:
            del _KEPT[key], sizes[key]


def by_columns(schema: Mapping[str, Any], rows: Sequence[Sequence[Any]]) -> pl.DataFrame:
    """Builds a frame from rows; passes them as columns, which polars reads much faster."""
    columns = zip(*rows, strict=True) if rows else ((),) * len(schema)
    return pl.DataFrame(dict(zip(schema, columns, strict=True)), schema)
