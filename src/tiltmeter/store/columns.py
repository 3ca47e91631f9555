"""Many rows of a run read column by column, so that each text that rows share is built only once.

A row of a view costs a look-up per short text; here SQLite returns integers, which are turned into
texts a column at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import repeat
from typing import TYPE_CHECKING, Any, TypeAlias

from ..records import canonical
from .packing import FIRST, join_request, unpack
from .views import DATE, REQUEST, SAMPLING, SQUEEZED, TEXT, WORD, AskedColumn

if TYPE_CHECKING:
    from . import Store

Values: TypeAlias = Sequence[Any]
PIECE_ROWS = 10_000  # that are read at a time
_PIECE_IDS = 1 << 60  # integers of ids, a sixteenth of all
_MOST_TEXTS = 20_000  # that are kept from one piece for the next
_PROMPT, _SEED, _NONCE = "\x00prompt", 0x7E57AB1E7E57AB1E, "\x00nonce"  # of a request's pattern


class Unpacker:
    """A converter of the integers and bytes of stored columns to values."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._words = store.words()
        self._texts: dict[int | None, Any] = {None: None}
        self._by_kind: Mapping[str, Callable[..., Iterable[Any]]] = {
            WORD: self._word,
            DATE: list,
            TEXT: self._text,
            SQUEEZED: self._squeezed,
            REQUEST: self._request,
            SAMPLING: self._sampling,
        }

    def column(self, kind: str, parts: Sequence[Values]) -> list[Any]:
        """Returns a column's values, one per row. parts: its stored columns (views.py)."""
        return list(self._by_kind[kind](*parts)) if kind else list(parts[0])

    def rows(
        self, columns: Sequence[AskedColumn], piece: Sequence[Values]
    ) -> Iterator[tuple[Any, ...]]:
        """Yields each row as a tuple, one value per column. piece: stored columns, row by row."""
        stored = iter(zip(*piece, strict=True)) if piece else repeat(())
        values = [self.column(kind, [next(stored) for _ in parts]) for kind, parts in columns]
        return zip(*values, strict=True)

    def _word(self, numbers: Values) -> Iterable[Any]:
        if not self._words.keys() >= set(numbers):  # written since
            self._words = self._store.words()
        return map(self._words.get, numbers)

    def _text(self, numbers: Values) -> Iterable[Any]:
        texts, wanted = self._texts, set(numbers)
        missing = [number for number in wanted if number not in texts]
        if missing:
            if len(texts) > _MOST_TEXTS:
                texts.clear()
                texts[None], missing = None, [number for number in wanted if number is not None]
            texts.update(self._store.texts(missing))
        return map(texts.get, numbers)

    def _squeezed(self, packed: Values, bases: Values) -> Iterable[Any]:
        if bytes not in set(map(type, packed)):
            return packed
        return map(unpack, packed, self._text(bases))

    def _sampling(self, numbers: Values, seeds: Values) -> Iterator[Any]:
        for text, seed in zip(self._word(numbers), seeds, strict=True):
            is_open = isinstance(text, str) and text.endswith(",")
            yield f"{text}{'null' if seed is None else seed}]" if is_open else text

    def _request(
        self,
        shapes: Values,
        contexts: Values,
        prompts: Values,
        pictures: Values,
        seeds: Values,
        abouts: Values,
        turns: Values,
    ) -> Iterator[str]:
        rows = zip(
            *(self._word(shapes), self._text(contexts), self._text(prompts), pictures, seeds),
            *(abouts, self._word(turns)),
            strict=True,
        )
        quote = lru_cache(PIECE_ROWS)(canonical)
        for shape, context, prompt, shown, seed, about, turn in rows:
            nonce = turn if about is None else f"{about}/{turn}"
            if not shape:
                yield prompt
            elif context or shown:
                yield join_request(shape, context, prompt, shown, seed, nonce)
            else:
                one, two, three, four = _pattern(shape)
                number = "null" if seed is None else seed
                yield f"{one}{quote(prompt)}{two}{number}{three}{canonical(nonce)}{four}"


@lru_cache(maxsize=1000)
def _pattern(shape: str) -> tuple[str, str, str, str]:
    """Returns the constant texts around prompt, seed and nonce in the requests of a shape."""
    text = join_request(shape, "", _PROMPT, "", _SEED, _NONCE)
    one, rest = text.split(canonical(_PROMPT))
    two, rest = rest.split(str(_SEED))
    three, four = rest.split(canonical(_NONCE))
    return one, two, three, four


def read(
    store: Store, columns: Mapping[str, AskedColumn], source: str
) -> Iterator[dict[str, list[Any]]]:
    """Yields the rows of a query in pieces, at least one, each as {column: values}; dates stay in
    milliseconds, as stored. source: SQL from FROM on.
    """
    unpacker = Unpacker(store)
    columns_sql = ", ".join(part for column in columns.values() for part in column.parts)
    for piece in store.pieces(f"SELECT {columns_sql} {source}", (), PIECE_ROWS):
        stored = iter(zip(*piece, strict=True)) if piece else repeat(())
        yield {
            name: unpacker.column(kind, [next(stored) for _ in parts])
            for name, (kind, parts) in columns.items()
        }


def integer_columns(
    store: Store, columns: Sequence[str], source: str, values: Sequence[str] = ()
) -> Iterator[Sequence[str]]:
    """Yields pieces of a query's result, by id, each with a text per column: integers with commas
    between them (separate rows take SQLite twice as long). source: SQL from FROM on, which ends in
    two parameters, the bounds of the id; values: the values of all earlier parameters.
    """
    query = f"SELECT {', '.join(f'group_concat({column})' for column in columns)} {source}"
    for first in range(FIRST, -FIRST, _PIECE_IDS):
        piece: Sequence[str] = store.first(query, (*values, first, first + _PIECE_IDS - 1))
        if piece[0] is not None:
            yield piece
