"""Tables of text, declared as lists of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from .figures import Pairs

T = TypeVar("T")  # what a table has a row for


@dataclass(frozen=True, slots=True)
class Column:
    """kind: text | number | mark. `brief` columns are those that a terminal has room for."""

    name: str
    kind: str = "text"
    brief: bool = False
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Cells are text, ready to print. `about` says what all rows share; `notes` are (letter,
    text); `links` has for each row the query of its outputs, or is ().
    """

    id: str
    title: str
    about: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: Pairs = ()
    marks: Pairs = ()
    folded: bool = False
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Field(Generic[T]):
    """A column, and its cell of a row."""

    column: Column
    read: Callable[[T], str]


def words(name: str, read: Callable[[T], str], brief: bool = True) -> Field[T]:
    """Returns a column of words. brief: a terminal has room for it."""
    return Field(Column(name, "text", brief), read)


def number(name: str, read: Callable[[T], str], brief: bool = True) -> Field[T]:
    """Returns a column of numbers. brief: a terminal has room for it."""
    return Field(Column(name, "number", brief), read)


def table_of(
    id: str,
    title: str,
    about: str,
    rows: Iterable[T],
    fields: Iterable[Field[T]],
    notes: Pairs = (),
    folded: bool = False,
) -> Table:
    """Returns a table with a column for each field and a row for each of `rows`."""
    fields = list(fields)
    cells = tuple(tuple(field.read(row) for field in fields) for row in rows)
    columns = tuple(field.column for field in fields)
    return Table(id, title, about, columns, cells, notes, folded=folded)
