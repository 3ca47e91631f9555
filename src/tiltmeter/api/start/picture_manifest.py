"""The table in a folder of pictures (or texts) that says which prompt and group each file is of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ...errors import UsageError
from ...row_files import Row, names_of, read_rows
from ...row_files.picture_names import by_spelling, column_for, spelling
from ...stats.results import count_of

NAMES = ("manifest.csv", "manifest.tsv", "manifest.jsonl", "manifest.xlsx")
MOST_GROUPS = 12  # levels of a column that is taken for groups although it is not called so
LEAST_FILES = 2  # of each of these levels
_OTHER = (
    "id",
    "prompt",
    "sample",
    "text",
    "outcome",
    "model",
    "mode",
    "seed",
    "ended",
)  # no groups


class ManifestRow(NamedTuple):
    """The item, prompt and group of a file; prompt or group is "" if the table has none."""

    item: str
    prompt: str
    group: str


class Manifest(NamedTuple):
    """A folder's table. rows: {path of a file: its row}; groups: the column of groups, or ""."""

    path: Path
    rows: Mapping[str, ManifestRow]
    groups: str
    unused: tuple[str, ...]


def manifest_of(folder: Path, files: Sequence[str]) -> Manifest | None:
    """Reads the manifest of a folder, or else the first table in it with columns for the files and
    their prompts (or items); None if the folder has neither. files: paths below the folder.

    Raises UsageError if a manifest lacks such a column, or if its rows do not fit the files.
    """
    named = [path for name in NAMES if (path := folder / name).is_file()]
    others = [path for path in sorted(folder.iterdir()) if path.suffix in (".csv", ".tsv")]
    for path in named or others:
        rows = list(read_rows(path, short_rows=True))
        columns = list(rows[0][1]) if rows else []
        file = column_for("file", columns)
        item = column_for("item", columns) or column_for("prompt", columns)
        if file and item:
            return _manifest(path, rows, columns, files)
        if named:
            raise UsageError(
                f"{path} needs a column file and a column prompt (or item). Its columns: "
                f"{names_of(columns)}."
            )
    return None


def _manifest(
    path: Path, rows: Sequence[tuple[int, Row]], columns: Sequence[str], files: Sequence[str]
) -> Manifest:
    known = by_spelling(files)
    file, prompt = column_for("file", columns), column_for("prompt", columns)
    item = column_for("item", columns) or prompt
    row_of: dict[str, Row] = {}
    missing: list[str] = []
    for line, row in rows:
        name = known.get(spelling(row[file]), "")
        if not row[file].strip():
            continue  # an answer without a picture
        if not row[item].strip():
            raise UsageError(f"{path}, line {line}: the column {item} is empty. Fill it in.")
        if name in row_of:
            raise UsageError(f"{path}, line {line}: {name} has a row above. Remove one of them.")
        if name:
            row_of[name] = row
        else:
            missing.append(row[file])
    _refuse(path, missing, "not in the folder", "Add them, or remove their rows.")
    left = [name for name in files if name not in row_of]
    _refuse(path, left, "without a row", "Add rows, or put these files elsewhere.")
    groups, unused = _groups(columns, (file, item, prompt), list(row_of.values()))
    if groups and not all(row[groups].strip() for row in row_of.values()):
        raise UsageError(f"{path}: the column {groups} has empty cells. Fill them in.")
    cells = {
        name: ManifestRow(
            row[item].strip(), row.get(prompt, "").strip(), row.get(groups, "").strip()
        )
        for name, row in row_of.items()
    }
    return Manifest(path, {name: cells[name] for name in files}, groups, unused)


def _refuse(path: Path, names: Sequence[str], what: str, advice: str) -> None:
    if names:
        more = ", …" if len(names) > 3 else ""
        raise UsageError(
            f"{path}: {count_of(len(names), 'file')} {what}: {', '.join(names[:3])}{more}. {advice}"
        )


def _groups(
    columns: Sequence[str], taken: Sequence[str], rows: Sequence[Row]
) -> tuple[str, tuple[str, ...]]:
    """Returns the column of groups, and the columns not used. Without a column called group, it is
    the only other column with a few levels of several files each, if there is one.
    """
    other = [name for name in columns if name not in taken and name.casefold() not in _OTHER]
    group = column_for("group", other)
    if not group:
        few = [name for name in other if _is_few([row[name] for row in rows])]
        group = few[0] if len(few) == 1 else ""
    return group, tuple(name for name in other if name != group)


def _is_few(cells: Sequence[str]) -> bool:
    counts = [cells.count(level) for level in set(cells)]
    return 1 < len(counts) <= MOST_GROUPS and min(counts) >= LEAST_FILES and all(cells)
