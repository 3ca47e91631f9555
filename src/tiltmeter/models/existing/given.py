"""Answers passed in from Python, as a list of rows or a data frame, as a model.

A row has the fields of a line of `file:` (stored.py): `prompt` or `id`, and `text`. In a run, the
model's name is `answers:` and a hash of the rows, or a given name (`model={"spring": rows}`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias, TypeGuard

from ...errors import UsageError
from ...protocol.source.keys import PandasFrame, PolarsFrame
from ...records import Json, content_id
from .. import FREE
from ..kinds import ModelKind
from ..options import DEFAULTS, TEXT, ModelOptions
from .answers import Answers, line
from .stored import AnswerFile

Rows: TypeAlias = Sequence[Mapping[str, Json]]
HASH_CHARACTERS = 8
_GIVEN: dict[str, Rows] = {}  # the tables of this process, by the full name of the model

Given: TypeAlias = "Rows | PolarsFrame | PandasFrame"


def name_answers(given: Given, name: str) -> str:
    """Registers a table of answers as a model; returns its name. Raises UsageError if malformed."""
    rows = rows_of(given)
    if not rows or not all(isinstance(row, Mapping) for row in rows):
        raise UsageError(
            'Answers are rows with a prompt and a text. Give for instance: [{"prompt": "…", '
            '"text": "…"}], or a data frame with these columns'
        )
    full = f"answers:{name or content_id(rows)[:HASH_CHARACTERS]}"
    _GIVEN[full] = rows
    return full


def is_frame(given: object) -> TypeGuard[PolarsFrame | PandasFrame]:
    """True if an object is a data frame of polars or pandas."""
    return hasattr(given, "to_dict") and hasattr(given, "columns")


def rows_of(given: Given) -> Rows:
    """Returns a list unchanged, or a data frame as a list of rows without empty cells; an empty
    answer is an empty text.
    """
    if isinstance(given, Sequence):
        return given
    rows = given.to_dicts() if hasattr(given, "to_dicts") else given.to_dict("records")
    return [
        {
            str(name): value if is_filled else ""
            for name, value in row.items()
            # NaN is what pandas has for an empty cell
            if (is_filled := value is not None and value == value) or name == "text"
        }
        for row in rows
    ]


class GivenAnswers(AnswerFile):
    """A table of answers that was given to this process, as the model `answers:NAME`."""

    def __init__(self, name: str, rows: Rows, options: ModelOptions) -> None:
        super().__init__(name, options)
        self.name, self._rows = f"answers:{name}", rows

    def read(self) -> Answers:
        """Reads the given rows. Raises ModelError if a row names no trial or is malformed."""
        where = Path("the answers given")
        lines = (line(row, n, f"{where}, row {n}") for n, row in enumerate(self._rows, 1))
        return Answers(where, lines)


def answers(name: str, options: ModelOptions = DEFAULTS) -> GivenAnswers:
    """Makes the model `answers:NAME`. Raises UsageError if this process was given no such table."""
    rows = _GIVEN.get(f"answers:{name}")
    if rows is None:
        raise UsageError(
            f"The answers '{name}' exist only in the process that they were given to. On the "
            "command line name a file of answers: --model file:answers.csv"
        )
    return GivenAnswers(name, rows, options)


KIND = ModelKind(
    "answers",
    "model=rows in Python, answers that exist already (a list of dicts, or a data frame)",
    answers,
    makes=(TEXT,),
    price=FREE,
    on_workers=False,
)
