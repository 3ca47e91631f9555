"""The texts of a data file: questions shown to judges, and words that rules match."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from string import Formatter

from ..records import Json as Json

DATA = Path(__file__).with_name("data")


class Form:
    """A text with slots, split at its open slots: ten times as fast to fill as by `str.format`."""

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
        """Returns the text with its open slots filled. KeyError if a slot's value is missing."""
        pieces = self._pieces.copy()
        for place, slot in self._open:
            pieces[place] = slots[slot]
        return "".join(pieces)


class Texts:
    """The table of a TOML file. Methods raise KeyError or TypeError if an entry does not fit."""

    def __init__(self, table: Mapping[str, Json]) -> None:
        self.table = table  # all of it, for the hash of an annotator

    def text(self, name: str) -> str:
        """Returns one text unchanged."""
        text = self.table[name]
        if not isinstance(text, str):
            raise TypeError(f"{name} is not a text")
        return text

    def fill(self, name: str, **slots: str | int) -> str:
        """Returns one text with its slots filled, without surrounding line breaks."""
        return self.text(name).strip().format(**slots)

    def partly_fill(self, name: str, **slots: str) -> Form:
        """Fills some slots of a text; returns a Form in which the others are open."""
        return Form(self.text(name).strip(), slots)

    def words(self, name: str) -> tuple[str, ...]:
        """Returns an entry that is a list of texts."""
        words = self.table[name]
        if isinstance(words, str) or not isinstance(words, Sequence):
            raise TypeError(f"{name} is not a list of texts")
        return tuple(str(word) for word in words)

    def number(self, name: str) -> float:
        """Returns an entry that is a number."""
        number = self.table[name]
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise TypeError(f"{name} is not a number")
        return number

    def section(self, name: str) -> Texts:
        """Returns an entry that is a table."""
        part = self.table[name]
        if not isinstance(part, Mapping):
            raise TypeError(f"{name} is not a table")
        return Texts(part)

    def strings(self) -> dict[str, str]:
        """Returns {name: text} of all entries that are texts."""
        return {name: text for name, text in self.table.items() if isinstance(text, str)}


@lru_cache
def texts(name: str) -> Texts:
    """Reads a file of texts in `data/`, by its name without .toml."""
    return texts_of(DATA / f"{name}.toml")


@lru_cache
def texts_of(path: Path) -> Texts:
    """Reads the texts of a TOML file."""
    return Texts(tomllib.loads(path.read_text("utf-8")))
