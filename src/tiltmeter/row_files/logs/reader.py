"""Reads a file of prompts or traces as conversations, each with its line number."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

from ...errors import UsageError
from ...system import intake
from .. import are_objects, is_spreadsheet, rows_of_content, table_text
from ..cells import BadTable
from .envelopes import records_of
from .messages import SYSTEM, TOOL, USER, Turn, answer, turns
from .shapes import BATCH_RESULTS, SHAPES, Exchange, of_calls, place, who

PROMPTS = (
    "prompt",
    "question",
    "query",
    "input",
    "instruction",
    "user_input",
    "message",
    "text",
    "conversation",
)
ANSWERS = ("answer", "response", "output", "completion", "reply")
_NOT_PROMPTS = re.compile(rf".*_(?:gen|output|answer|response)$|^(?:{'|'.join(ANSWERS)})$")
_PLAIN_NAME = re.compile(r"[A-Za-z_][\w.-]{0,29}")
_PARQUET = b"PAR1"
_MOST_RECORDS = 200_000
_CUT = object()  # in place of the record of an incomplete last line
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


@dataclass(frozen=True, slots=True)
class Logged:
    """A conversation from a log, up to its last question.

    line: the line in the file, or the number of the record; answer: the logged reply to that
    question, "" if unknown; user, session: "" if the log has none; span: the id of the record if
    its line has several, else "".
    """

    turns: tuple[Turn, ...]
    line: int
    answer: str = ""
    user: str = ""
    session: str = ""
    span: str = ""

    @property
    def system(self) -> str:
        """The system prompt, or ""."""
        return "\n".join(turn.text for turn in self.turns if turn.role == SYSTEM)

    @property
    def spoken(self) -> tuple[Turn, ...]:
        """The turns without the system prompt."""
        return tuple(turn for turn in self.turns if turn.role != SYSTEM)


@dataclass(frozen=True, slots=True)
class Log:
    """The conversations of a file. shape: the kind of log; left_out: number of records without a
    question, such as the spans of a tool; cut: True if an incomplete last line was left out.
    """

    rows: tuple[Logged, ...]
    shape: str
    left_out: int = 0
    cut: bool = False


def read_log(path: Path, prompt: str = "", spans: str = "root") -> Log:
    """Reads a file of prompts. prompt: the prompt's column, if several qualify; spans: "root" for
    the outermost record of each trace, "llm" for the model calls. UsageError never shows a value.
    """
    try:
        content = intake.read_content(path)
    except FileNotFoundError:
        raise UsageError(f"There is no file {path}.") from None
    except OSError as error:
        raise UsageError(f"{path.name} cannot be read: {error.strerror}.") from None
    try:
        numbered = list(_records(content, path.suffix.lower()))
        cut = bool(numbered) and numbered[-1][1] is _CUT
    except BadTable as error:
        raise UsageError(f"{path.name}, {error}") from None
    numbered = numbered[:-1] if cut else numbered
    if not numbered:
        raise UsageError(f"{path.name} has no prompts. Put one prompt on each line or row.")
    if len(numbered) > _MOST_RECORDS:
        raise UsageError(f"{path.name} has more than {_MOST_RECORDS:,} records. Sample some.")
    for line, record in numbered:
        if not isinstance(record, Mapping):
            raise UsageError(f"{path.name}, record {line} is not an object with a prompt.")
    shape = _shape(numbered)
    if shape:
        log = _read_shape(path.name, shape, _spans(numbered, spans))
    else:
        log = _read_columns(path.name, numbered, prompt)
    return replace(log, cut=cut)


def _records(content: bytes, ending: str) -> Iterator[tuple[int, Any]]:
    """Yields (line, record) of a file's content. ending: of the file's name."""
    if content[:4] == _PARQUET:
        yield from enumerate(_parquet(content), 1)
        return
    if is_spreadsheet(content):
        yield from rows_of_content(content)
        return
    text = intake.plain_lines(table_text(content)).strip("\ufeff")
    if "\0" in text:
        raise BadTable("it is not a text: it has bytes of value 0.")
    if ending == ".txt":
        lines = enumerate(text.split("\n"), 1)
        yield from ((number, {"prompt": line}) for number, line in lines if line.strip())
    elif text.lstrip()[:1] in ("[", "{"):
        yield from _json(text)
    else:
        yield from rows_of_content(content, short_rows=True)


def _json(text: str) -> Iterator[tuple[int, Any]]:
    if text.lstrip()[:1] == "[" or not (are_objects(text) and "\n" in text.strip()):
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            document = None
        if document is not None:
            yield from enumerate(records_of(document), 1)
            return
    lines = [pair for pair in enumerate(text.split("\n"), 1) if pair[1].strip()]
    for number, line in lines:
        try:
            parsed = json.loads(line)
        except ValueError as error:
            if (number, line) == lines[-1] != lines[0] and _is_incomplete(line):
                yield number, _CUT
                return
            place = (
                f" at character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else ""
            )
            raise BadTable(f"line {number} is not JSON{place}. Mend or delete that line.") from None
        except RecursionError:
            raise BadTable(f"line {number} is JSON that is nested too deep.") from None
        yield from ((number, one) for one in records_of(parsed))


def _is_incomplete(line: str) -> bool:
    """True if a line of JSON ends too early, as in the export of a log that is being written."""
    rest = _STRING.sub("", line)
    closed = sum(map(rest.count, "]}"))
    return line.lstrip()[:1] in ("[", "{") and ('"' in rest or sum(map(rest.count, "[{")) > closed)


def _parquet(content: bytes) -> Iterator[Mapping[str, Any]]:
    import polars as pl

    try:
        yield from pl.read_parquet(BytesIO(content)).iter_rows(named=True)
    # the message may quote the file
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError):
        raise BadTable("it cannot be read as a Parquet file.") from None


def _shape(numbered: Sequence[tuple[int, Mapping[str, Any]]]) -> str:
    """Returns the name of the first log format that fits a record; "" for plain columns."""
    for _, record in numbered[:50]:
        for name, read in SHAPES.items():
            if _try(read, record) is not None:
                return name
    return ""


def _try(read: Any, record: Mapping[str, Any]) -> Exchange | None:
    try:
        exchange: Exchange | None = read(record)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return None
    return exchange


def _exchange(record: Mapping[str, Any]) -> Exchange | None:
    """Returns the conversation of a record, by the first log format that fits it, or None."""
    return next((one for read in SHAPES.values() if (one := _try(read, record))), None)


def answers_of(document: Any) -> list[dict[str, Any]] | None:
    """Returns {prompt, text} per answer of a log, where the prompt is its last question; {id, text}
    for results of a batch. None if the document is not a log.
    """
    records = [one for one in records_of(document) if isinstance(one, Mapping)]
    exchanges = [
        (one, exchange) for one in records if "text" not in one and (exchange := _exchange(one))
    ]
    rows: list[dict[str, Any]] = []
    for record, exchange in exchanges:
        if exchange.answer and exchange.turns:
            rows.append({"prompt": exchange.turns[-1].text, "text": exchange.answer})
        elif exchange.answer and "custom_id" in record:
            rows.append({"id": str(record["custom_id"]), "text": exchange.answer})
    return rows if exchanges else None


def _spans(
    numbered: Sequence[tuple[int, Mapping[str, Any]]], spans: str
) -> list[tuple[int, Mapping[str, Any]]]:
    """Keeps the records of model calls, or the outermost ones that contain messages."""
    if spans == "llm":
        calls = [(line, record) for line, record in numbered if of_calls(record)]
        return calls or list(numbered)
    readable = {
        place(record)[0]
        for _, record in numbered
        if place(record)[0] and (exchange := _exchange(record)) and exchange.turns
    }
    above = {place(record)[0]: place(record)[1] for _, record in numbered}

    def is_outermost(record: Mapping[str, Any]) -> bool:
        parent, steps = place(record)[1], 0
        while parent and steps < 100:
            if parent in readable:
                return False
            parent, steps = above.get(parent, ""), steps + 1
        return True

    return [(line, record) for line, record in numbered if is_outermost(record)]


def _read_shape(name: str, shape: str, numbered: Sequence[tuple[int, Mapping[str, Any]]]) -> Log:
    if shape == BATCH_RESULTS:
        raise UsageError(
            f"{name} holds the results of a batch, without its prompts. Give the file of requests "
            "that was submitted."
        )
    rows, left_out = [], 0
    for line, record in numbered:
        exchange = _exchange(record)
        asked = list(exchange.turns) if exchange else []
        while asked and asked[-1].role in (SYSTEM, TOOL) and len(asked) > 1:
            asked.pop()
        if exchange is None or not asked or asked[-1].role != USER:
            left_out += 1
            continue
        rows.append(Logged(tuple(asked), line, exchange.answer, *who(record), place(record)[0]))
    if not rows:
        raise UsageError(
            f"{name} looks like a log of {shape}, but none of its records contains a prompt."
        )
    rows_of_line = Counter(row.line for row in rows)
    rows = [row if rows_of_line[row.line] > 1 else replace(row, span="") for row in rows]
    return Log(tuple(rows), shape, left_out)


def _read_columns(name: str, numbered: Sequence[tuple[int, Mapping[str, Any]]], prompt: str) -> Log:
    columns = list(dict.fromkeys(column for _, record in numbered for column in record))
    column = prompt or _prompt_column(name, columns, numbered)
    if column not in columns:
        raise UsageError(
            f"{name} has no column '{column}' for --prompt. Its columns: {_columns(columns)}"
        )
    answer_column = next((one for one in columns if one.lower() in ANSWERS and one != column), "")
    rows = []
    for line, record in numbered:
        asked = turns(record.get(column))
        if asked and asked[-1].role == USER:
            rows.append(
                Logged(tuple(asked), line, answer(record.get(answer_column) or ""), *who(record))
            )
    if not rows:
        raise UsageError(f"{name} has no text in its column of prompts.")
    return Log(tuple(rows), "plain", len(numbered) - len(rows))


def _prompt_column(
    name: str, columns: Sequence[str], numbered: Sequence[tuple[int, Mapping[str, Any]]]
) -> str:
    """Returns the only column that can be the prompt. UsageError if there are several or none."""
    likely = [column for column in columns if column.strip().lower() in PROMPTS]
    if not likely:
        likely = [
            column
            for column in columns
            if not _NOT_PROMPTS.match(column.strip().lower())
            and not _is_index(column, numbered)
            and _has_sentences(column, numbered)
        ]
    if len(likely) == 1:
        return likely[0]
    listing = _columns(likely or columns)
    if not likely:
        raise UsageError(f"Which column of {name} has the prompts? Type --prompt COLUMN: {listing}")
    raise UsageError(f"Several columns of {name} can be the prompt: {listing}. Type: --prompt NAME")


def _has_sentences(column: str, numbered: Sequence[tuple[int, Mapping[str, Any]]]) -> bool:
    texts = (record.get(column) for _, record in numbered[:50])
    return any(isinstance(text, str) and " " in text.strip() for text in texts)


def _is_index(column: str, numbered: Sequence[tuple[int, Mapping[str, Any]]]) -> bool:
    """True if a column has no name and counts from 0, as pandas writes its index."""
    if column.strip() and not column.lower().startswith("unnamed"):
        return False
    return all(str(record.get(column)) == str(n) for n, (_, record) in enumerate(numbered))


def _columns(columns: Sequence[str]) -> str:
    """Lists columns for a message; shows only the number of a name that may be a value."""
    names = (
        f"'{column}'" if _PLAIN_NAME.fullmatch(column) else f"column {number}"
        for number, column in enumerate(columns, 1)
    )
    return ", ".join(names)
