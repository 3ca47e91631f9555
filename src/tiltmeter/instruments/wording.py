"""The texts of a data file: what a judge is shown, and the words that rules look for."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from string import Formatter

from ..records import Json as Json

DATA = Path(__file__).with_name("data")


class Form:
    """A text with slots, cut at those that are open: to fill it takes a tenth of `str.format`."""

    def __init__(self, text: str, filled: Mapping[str, str]) -> None:
        self._pieces, self._open = [""], list[tuple[int, str]]()  # where an open slot stands
        for literal, slot, _, _ in Formatter().parse(text):
            self._pieces[-1] += literal
            if slot is not None and slot in filled:
                self._pieces[-1] += filled[slot]
            elif slot is not None:
                self._open.append((len(self._pieces), slot))
                self._pieces += ["", ""]

    def fill(self, **slots: str) -> str:
        """The text with its open slots filled. KeyError where one is missing."""
        pieces = self._pieces.copy()
        for place, slot in self._open:
            pieces[place] = slots[slot]
        return "".join(pieces)


class Texts:
    """A table of texts, from a TOML file. Raises KeyError or TypeError where the file lacks one."""

    def __init__(self, table: Mapping[str, Json]) -> None:
        self.table = table  # all of it, for the hash of an annotator

    def text(self, name: str) -> str:
        """One text, as it stands in the file."""
        text = self.table[name]
        if not isinstance(text, str):
            raise TypeError(f"{name} is no text")
        return text

    def fill(self, name: str, **slots: str | int) -> str:
        """One text with its slots filled, without the line breaks around it."""
        return self.text(name).strip().format(**slots)

    def partly_fill(self, name: str, **slots: str) -> Form:
        """One text with some of its slots filled, for many that differ in the rest."""
        return Form(self.text(name).strip(), slots)

    def words(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        words = self.table[name]
        if isinstance(words, str) or not isinstance(words, Sequence):
            raise TypeError(f"{name} is no list of texts")
        return tuple(str(word) for word in words)

    def number(self, name: str) -> float:
        """One number."""
        number = self.table[name]
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise TypeError(f"{name} is no number")
        return number

    def section(self, name: str) -> Texts:
        """A table inside it."""
        part = self.table[name]
        if not isinstance(part, Mapping):
            raise TypeError(f"{name} is no table")
        return Texts(part)

    def strings(self) -> dict[str, str]:
        """{name: text} of a table that has texts alone, as they stand in the file."""
        return {name: text for name, text in self.table.items() if isinstance(text, str)}


@lru_cache
def texts(name: str) -> Texts:
    """The texts of a file in `data/`, by its name without .toml."""
    return texts_of(DATA / f"{name}.toml")


@lru_cache
def texts_of(path: Path) -> Texts:
    """The texts of a TOML file."""
    return Texts(tomllib.loads(path.read_text("utf-8")))
