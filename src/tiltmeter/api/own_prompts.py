"""A protocol over a table of prompts that somebody has: which column is the prompt, which the cue,
which says what two prompts have in common, and which words the prompts offer as answers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from .. import intake
from ..csv_rows import BadTable, Row, numbered_rows
from ..errors import UnknownName, UsageError
from ..protocol import EVERY

# What people call such columns, the likeliest first.
PROMPTS = ("prompt", "question", "text", "input", "instruction")
CUES = ("group", "gender", "sex", "race", "ethnicity", "cue", "age", "religion", "nationality")
ITEMS = ("item", "pair", "pair_id", "template", "template_id", "topic", "scenario", "job")
MAX_LEVELS = 12  # a column with more values is no cue
_STARTS = Path(__file__).parent / "starts" / "table"
_COLUMN = re.compile(r"[A-Za-z_]\w*")
_WORD = r"[^\W\d_][\w -]{0,30}"  # or a few, as 'not yet'
_QUOTED = re.compile(rf"(?<!\w)'({_WORD})'(?!\w)|\"({_WORD})\"|“({_WORD})”|‘({_WORD})’")


@dataclass(frozen=True)
class Reading:
    """What the columns of a table of prompts are, and the words that every prompt offers."""

    prompt: str
    cue: str
    item: str
    levels: tuple[str, ...]
    offered: tuple[str, ...]

    def __str__(self) -> str:
        levels = ", ".join(self.levels[:4]) + (", …" if len(self.levels) > 4 else "")
        words = (
            f"offered {' or '.join(self.offered)}"
            if self.offered
            else "no words that all prompts offer, so the words of an answer are counted"
        )
        return f"prompt = {self.prompt}, cue = {self.cue} ({levels}), item = {self.item}; {words}"


def read(path: Path, named: Mapping[str, str]) -> Reading:
    """Looks at a CSV file of prompts. named: columns by "prompt", "cue" and "item" where somebody
    says them ("" otherwise). UsageError says which could not be told, and what to type.
    """
    rows = _rows(path)
    columns = list(rows[0])
    for column in filter(None, named.values()):
        if column not in columns:
            raise UnknownName(f"column of {path.name}", column, columns)
    prompt = named["prompt"] or _prompt(rows, columns)
    rest = [name for name in columns if name != prompt]
    cue = named["cue"] or _cue(rows, rest, [named["item"]] if named["item"] else rest)
    if not cue:
        raise UsageError(
            f"{path.name}: no column beside '{prompt}' has two to {MAX_LEVELS} values, each of "
            "them with every value of another column, so none is seen to be the cue. "
            f"Columns: {', '.join(columns)}. A prompt may be missing, or a value may be written in "
            "two ways; else type: --cue COLUMN --item COLUMN"
        )
    levels = tuple(dict.fromkeys(row[cue] for row in rows))
    item = named["item"] or _item(rows, cue, rest)
    if not item:
        raise UsageError(
            f"{path.name}: no column says which prompts are the same but for '{cue}'. Add one, "
            "such as 'item' with the same number for the prompts of a pair, or type: --item COLUMN"
        )
    _refuse_rows(path.name, rows, (prompt, cue, item))
    for column in (prompt, cue, item):
        if not _COLUMN.fullmatch(column):
            raise UsageError(
                f"{path.name}: rename the column '{column}': letters, digits and _ alone."
            )
    return Reading(prompt, cue, item, levels, _offered([row[prompt] for row in rows], levels))


def write(name: str, table: str, reading: Reading) -> str:
    """The text of a protocol of this name over the table, commented."""
    offered, (first, *others) = reading.offered, reading.levels
    pair = len(others) == 1
    text = f"share of answers “{offered[0]}”" if offered else "words of an answer"
    between = f"{first} less {others[0]}" if pair else f"each other {reading.cue} less {first}"
    start = _STARTS / ("choice.toml" if offered else "length.toml")
    return Template(start.read_text("utf-8")).substitute(
        name=re.sub(r"\W+", "_", name).strip("_").lower() or "audit",
        table=_quoted(table),
        prompt=reading.prompt,
        cue=_quoted(reading.cue),
        item=_quoted(reading.item),
        columns=_listed((reading.prompt, reading.cue, reading.item)),
        level=_quoted(first if pair else EVERY),
        baseline=_quoted(others[0] if pair else first),
        forms="\n".join(f"{_quoted(word)} = [{_quoted(word)}]" for word in offered),
        counted=_listed(offered[:1]),
        among=_listed(offered),
        text=_quoted(text),
        gap_text=_quoted(f"{text}, {between}"),
    )


def _rows(path: Path) -> list[Row]:
    """The rows of a table of prompts. UsageError says of what is none how it becomes one."""
    try:
        text = intake.read_bytes(path).decode("utf-8-sig")
        head = text.partition("\n")[0]
        if "," not in head and (";" in head or "\t" in head):
            by = "semicolons" if ";" in head else "tabs"
            raise UsageError(f"{path.name} is parted by {by}. Save it as CSV parted by commas.")
        rows = [row for _, row in numbered_rows(text)]
    except FileNotFoundError:
        raise UsageError(f"There is no file {path}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path.name} is not UTF-8. Save it as UTF-8 (CSV UTF-8).") from None
    except OSError as error:
        raise UsageError(f"{path.name} cannot be read: {error.strerror}.") from None
    except BadTable as error:
        raise UsageError(f"{path.name}, {error}") from None
    blank = next((n for n, row in enumerate(rows, 1) if not any(map(str.strip, row.values()))), 0)
    if blank:
        raise UsageError(f"{path.name}: row {blank} after the header is empty. Remove it.")
    if len(rows) < 2 or len(rows[0]) < 3:
        raise UsageError(
            f"{path.name} needs a header, two rows or more, and a column each for the prompt, the "
            "cue and the item, parted by commas."
        )
    return rows


def _refuse_rows(name: str, rows: Sequence[Row], columns: Sequence[str]) -> None:
    """UsageError for a row without a prompt, cue or item, and for one that is there twice."""
    met: dict[tuple[str, ...], int] = {}
    for number, row in enumerate(rows, 1):
        key = tuple(row[column] for column in columns)
        if not all(map(str.strip, key)):
            raise UsageError(
                f"{name}: row {number} after the header has no "
                f"{next(name for name in columns if not row[name].strip())}. Fill it in, or remove "
                "the row."
            )
        if key in met:
            raise UsageError(
                f"{name}: rows {met[key]} and {number} after the header are the same prompt of the "
                "same cue and item. Remove one."
            )
        met[key] = number


def _named_so(columns: Sequence[str], usual: Sequence[str]) -> list[str]:
    """The columns with a usual name first, then the rest as they stand."""
    lower = {name.lower(): name for name in reversed(columns)}
    first = [lower[name] for name in usual if name in lower]
    return list(dict.fromkeys((*first, *columns)))


def _prompt(rows: Sequence[Row], columns: Sequence[str]) -> str:
    named = _named_so(columns, PROMPTS)[0]
    if named.lower() in PROMPTS:
        return named
    return max(columns, key=lambda name: sum(len(row[name]) for row in rows))


def _cue(rows: Sequence[Row], columns: Sequence[str], items: Sequence[str]) -> str:
    """The first column with few values whose every one comes with every value of one of `items`."""
    most = min(MAX_LEVELS, len(rows) // 2)
    for name in _named_so(columns, CUES):
        if 2 <= len({row[name] for row in rows}) <= most and _item(rows, name, items):
            return name
    return ""


def _item(rows: Sequence[Row], cue: str, columns: Sequence[str]) -> str:
    """The column with most values, of those whose every value comes with every level of the cue;
    one with a usual name before the others.
    """
    found = []
    levels = len({row[cue] for row in rows})
    for name in _named_so([name for name in columns if name != cue], ITEMS):
        values = {row[name] for row in rows}
        if len({(row[name], row[cue]) for row in rows}) == len(values) * levels > levels:
            found.append((name.lower() in ITEMS, len(values), name))
    return max(found, key=lambda one: one[:2])[2] if found else ""


def _offered(prompts: Sequence[str], levels: Sequence[str]) -> tuple[str, ...]:
    """The words that every prompt has in quotation marks, in the order of the first; none where
    there is only one.
    """
    found = [
        dict.fromkeys("".join(match.groups("")).lower() for match in _QUOTED.finditer(prompt))
        for prompt in prompts
    ]
    shared = [word for word in found[0] if all(word in one for one in found)]
    shared = [word for word in shared if word not in {level.lower() for level in levels}]
    return tuple(shared) if len(shared) > 1 else ()


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(map(_quoted, texts))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # a string of JSON is one of TOML
