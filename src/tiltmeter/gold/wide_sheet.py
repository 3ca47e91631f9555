"""Reads a sheet as people write it: a row per picture (or text), a column per person."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..errors import UsageError
from ..row_files import Row, names_of
from ..row_files.picture_names import COLUMNS, by_spelling, column_for, fold, spelling
from ..store import Store
from ..store.queries import outputs

IDS = ("output", "trial", "id")  # columns that name an output by its id
_OTHER = (*IDS, *COLUMNS["file"], "attribute", "value", "annotator", "weight", "drawn", "values")
_ABOUT = ("prompt", "answer", "item", "group", "condition", "cue")  # columns about the output
SHOWN = 3  # names or cells in a message


class WideSheet(NamedTuple):
    """The rows of a sheet, one per output and person, with columns as in a long sheet; columns: the
    columns of people; unread: {column that is no person's: some of its cells}.
    """

    rows: list[tuple[str, Row]]
    columns: tuple[str, ...]
    unread: Mapping[str, str]


def is_wide(rows: Sequence[tuple[int, Row]]) -> bool:
    """True if no row has text in a column `value`."""
    return not any((row.get("value") or "").strip() for _, row in rows)


def read_wide(
    store: Store,
    path: Path,
    rows: Sequence[tuple[int, Row]],
    attribute: str,
    values: Callable[[str], Collection[str]],
) -> WideSheet:
    """Reads a sheet with a column per person, which is a column most of whose cells that are not
    empty are values of the attribute. Rows in which no person says anything are left out if they
    name no output.

    values: returns an attribute's values. Raises UsageError if no column is a person's, or if a
    row names no output of the run.
    """
    header = list(rows[0][1]) if rows else []
    key = next((name for name in header if fold(name) in IDS), "") or column_for("file", header)
    known = {fold(value) for value in values(attribute)}
    cells = {
        name: [text for _, row in rows if (text := row[name].strip())]
        for name in header
        if fold(name) not in (*_OTHER, *_ABOUT)
    }
    people = tuple(
        name
        for name, texts in cells.items()
        if key and texts and 2 * sum(fold(text) in known for text in texts) >= len(texts)
    )
    if not people:
        listed = ", ".join(values(attribute))
        raise UsageError(
            f"{path.name} has no value in any row. Its columns: {names_of(header)}. Fill in a "
            "column 'value', or a column per person beside one called output or picture. The "
            f"values of {attribute} are: {listed}."
        )
    lines = list(_lines(path.name, rows, key, people, _outputs_by_name(store)))
    unread = {
        name: ", ".join(f"'{text[:30]}'" for text in texts[:SHOWN])
        for name, texts in cells.items()
        if texts and name not in people
    }
    return WideSheet(lines, people, unread)


def _lines(
    file: str,
    rows: Sequence[tuple[int, Row]],
    key: str,
    people: Sequence[str],
    outputs_of: Mapping[str, str],
) -> Iterator[tuple[str, Row]]:
    """Yields (place, row of a long sheet) per output and person; UsageError for unknown outputs."""
    missing: list[str] = []
    for number, row in rows:
        output = outputs_of.get(spelling(row[key]), "")
        if not output and any(row[name].strip() for name in people):
            missing.append(row[key].strip() or f"(line {number}: empty)")
        about = {name: row.get(name, "") for name in ("attribute", "weight")} | {"output": output}
        for name in people if output else ():
            place = f"{file}, line {number}, column {name}"
            yield place, about | {"value": row[name], "annotator": name}
    if missing:
        raise UsageError(
            f"{file}: {len(missing)} of the names in column {key} are no output of this run, or "
            f"of several: {', '.join(missing[:SHOWN])}{', …' * (len(missing) > SHOWN)}. Name the "
            "picture's file, or the output's id as: tiltmeter export RUN"
        )


def _outputs_by_name(store: Store) -> dict[str, str]:
    """Returns {name: output}: an output's id, the file that it is of if its trial has such a
    column, and its stored picture; none that several outputs have.
    """
    ids: dict[str, str] = {}
    named: dict[str, list[str]] = {}
    for answer in outputs.answers(store):
        ids[spelling(answer.id)] = answer.id
        files = [answer.levels[name] for name in COLUMNS["file"] if name in answer.levels]
        for name in (*files, answer.blob and store.blob_path(answer.blob)):
            if name:
                named.setdefault(name, []).append(answer.id)
    single = {name: where[0] for name, where in named.items() if len(where) == 1}
    return {key: single[name] for key, name in by_spelling(single).items()} | ids
