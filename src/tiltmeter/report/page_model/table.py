"""Tables of text, declared as lists of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from .figures import Pairs

T = TypeVar("T")  # what a table has a row for


@dataclass(frozen=True, slots=True)
class Column:
    """A column. kind: text | number | mark; brief: True if terminals show it; hint: a gloss."""

    name: str
    kind: str = "text"
    brief: bool = False
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of text, ready to print. about: the values that all rows share; notes: (letter,
    text); links: per row, the query of its outputs; or ().
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
    """A column, and a function that reads the column's text from a row."""

    column: Column
    read: Callable[[T], str]


def words(name: str, read: Callable[[T], str], brief: bool = True) -> Field[T]:
    """Returns a column of words. brief: True if terminals show it."""
    return Field(Column(name, "text", brief), read)


def number(name: str, read: Callable[[T], str], brief: bool = True) -> Field[T]:
    """Returns a column of numbers. brief: True if terminals show it."""
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
    """Makes a table with a column per field and a row per element of `rows`."""
    fields = list(fields)
    cells = tuple(tuple(field.read(row) for field in fields) for row in rows)
    columns = tuple(field.column for field in fields)
    return Table(id, title, about, columns, cells, notes, folded=folded)
