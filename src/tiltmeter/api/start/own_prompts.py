"""A protocol over the user's table of prompts: detects the columns of the prompt, the cue and the
item (which prompts belong together), and the words that prompts offer as answers.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from ...errors import UnknownName, UsageError
from ...languages import letters
from ...languages.quotes import base, facts
from ...protocol import EVERY
from ...row_files import Row, is_delimited, names_of, read_rows
from .offered import begun_answer, find_offered, language_of_prompts

# What people call such columns, the likeliest first.
PROMPTS = ("prompt", "question", "text", "input", "instruction")
CUES = ("group", "gender", "sex", "race", "ethnicity", "cue", "age", "religion", "nationality")
ITEMS = ("item", "pair", "pair_id", "template", "template_id", "topic", "scenario", "job")
MAX_LEVELS = 12  # a column with more values is no cue
_STARTS = Path(__file__).parents[1] / "starts" / "table"
_COLUMN = re.compile(rf"[^\W\d]{letters.NAME}|[^\W\d]")
_CODE = re.compile(r"[a-z]{2,3}(?:-\w+)*")
_EXACT = """
[modes.exact]  # the probabilities of the words offered are read, once, where the model gives them
logprobs = 100
max_tokens = 1
begin = $begin  # the model goes on from here
"""
_TOKENS = re.compile(r"\w+|[^\w\s]")
LANGUAGE = "language"  # the column of it
LENGTH = "length"  # what --measure can name


@dataclass(frozen=True)
class PromptColumns:
    """The columns of a table of prompts, and the words that every prompt offers (() if the length
    of answers is measured).

    rows: rows to write to a new file, with an item column added if the table has none; () if a
    protocol can read the table itself. language: the prompts' code, "" if unknown. tabled: True if
    a column holds the language.
    """

    prompt: str
    cue: str
    item: str
    levels: tuple[str, ...]
    offered: tuple[str, ...]
    rows: tuple[Row, ...] = ()
    language: str = ""
    tabled: bool = False
    added: bool = False  # the column for the item

    @property
    def measured(self) -> str:
        """The thing that is measured, as the beginning of a question."""
        if not self.offered:
            return "How many words does an answer have"
        words = [f"‘{word}’" for word in self.offered]
        return f"Which of {', '.join(words[:-1])} and {words[-1]} is answered"

    def __str__(self) -> str:
        levels = ", ".join(self.levels[:4]) + (", …" if len(self.levels) > 4 else "")
        words = f"; offered {' or '.join(self.offered)}" if self.offered else ""
        item = self.item
        if self.added:
            number = len({row[item] for row in self.rows})
            item += f" (added: {number}, each of prompts that are alike but for words of the cue)"
        spoken = f"; language {facts(self.language).name}" if self.language else ""
        return f"prompt = {self.prompt}, cue = {self.cue} ({levels}), item = {item}{words}{spoken}"


@dataclass(frozen=True)
class TableNames:
    """The user's description of a table: its columns ("" to detect them), the sheet of a
    spreadsheet, the words offered as answers, and the measured thing ("" or LENGTH).
    """

    prompt: str = ""
    cue: str = ""
    item: str = ""
    sheet: str = ""
    options: tuple[str, ...] = ()
    measure: str = ""


def read(path: Path, named: TableNames) -> PromptColumns:
    """Reads a table of prompts. Raises UsageError with the unclear column and what to type."""
    rows = _rows(path, named.sheet)
    columns = list(rows[0])
    for column in filter(None, (named.prompt, named.cue, named.item)):
        if column not in columns:
            raise UnknownName(f"column of {path.name}", column, columns)
    prompt = named.prompt or _prompt(rows, columns)
    rest = [name for name in columns if name != prompt]
    cue = named.cue or _cue(rows, rest, [named.item] if named.item else rest)
    item = named.item or (_item(rows, cue, rest) if cue else "")
    completed: tuple[Row, ...] = ()
    if not item:
        cue, completed = _with_items(rows, prompt, [cue] if cue else _few_valued(rows, rest))
        item = next(reversed(completed[0])) if completed else ""
    _refuse_untold(path.name, prompt, cue, item, columns)
    rows = completed or rows
    levels = tuple(dict.fromkeys(row[cue] for row in rows))
    _refuse_rows(path.name, rows, (prompt, cue, item))
    named_so = {prompt: "prompt", cue: "cue", item: "item"}
    renamed = {old: new for old, new in named_so.items() if not _COLUMN.fullmatch(old)}
    if renamed:  # a name with a blank can stand in no slot
        rows = [{renamed.get(name, name): cell for name, cell in row.items()} for row in rows]
        prompt, cue, item = (renamed.get(name, name) for name in (prompt, cue, item))
    prompts = [row[prompt] for row in rows]
    language, tabled = _language(rows, prompts)
    offered = named.options
    if not offered and named.measure != LENGTH:
        offered = find_offered(prompts, levels, language)
        if not offered:
            raise UsageError(
                f"{path.name}: no words in quotation marks are in all prompts, so it is not known "
                "which answers to count. Type the words that an answer chooses between: --options "
                "A,B; or, to compare how long answers are: --measure length"
            )
    written = tuple(rows) if completed or renamed or not is_delimited(path) else ()
    return PromptColumns(
        prompt, cue, item, levels, offered, written, language, tabled, added=bool(completed)
    )


def _language(rows: Sequence[Row], prompts: Sequence[str]) -> tuple[str, bool]:
    """Returns (the prompts' language, True if a column has it, with one code in all rows)."""
    codes = {row.get(LANGUAGE, "") for row in rows}
    if len(codes) == 1 and _CODE.fullmatch(code := next(iter(codes))):
        return code, True
    return ("" if len(codes) > 1 else language_of_prompts(prompts)), False


def write(name: str, table: str, reading: PromptColumns) -> str:
    """Writes the text of a protocol over the table, with comments."""
    offered, (first, *others) = reading.offered, reading.levels
    is_pair = len(others) == 1
    text = f"share of answers “{offered[0]}”" if offered else "words of an answer"
    between = f"{first} less {others[0]}" if is_pair else f"each other {reading.cue} less {first}"
    start = _STARTS / ("choice.toml" if offered else "length.toml")
    begin = begun_answer(reading.language) if offered else ""
    code = reading.language
    spoken = (LANGUAGE,) if code else ()
    added = f"\nadd = {{ language = {_quote(code)} }}" if code and not reading.tabled else ""
    return Template(start.read_text("utf-8")).substitute(
        name=re.sub(r"\W+", "_", name).strip("_").lower() or "audit",
        table=_quote(table) + added,
        question=_quote(f"{reading.measured}, and does that change when only the cue changes?"),
        prompt=reading.prompt,
        cue=_quote(reading.cue),
        item=_quote(reading.item),
        factors=_quote_all((reading.cue, reading.item, *spoken)),
        columns=_quote_all((reading.prompt, reading.cue, reading.item, *spoken)),
        level=_quote(first if is_pair else EVERY),
        baseline=_quote(others[0] if is_pair else first),
        code=code or "und",
        # a column in another language has no English plural
        first="" if base(code) in ("", "en") else '\nfirst = { measure = "gap", item = "item" }',
        exact=Template(_EXACT).substitute(begin=_quote(begin)) if begin else "",
        forms="\n".join(f"{_quote(word)} = [{_quote(word)}]" for word in offered),
        counted=_quote_all(offered[:1]),
        among=_quote_all(offered),
        text=_quote(text),
        gap_text=_quote(f"{text}, {between}"),
    )


def _rows(path: Path, sheet: str) -> Sequence[Row]:
    """Returns the rows of a table of prompts. Raises UsageError if it is too small."""
    rows = [row for _, row in read_rows(path, sheet=sheet)]
    if len(rows) < 2 or len(rows[0]) < 2:
        raise UsageError(
            f"{path.name} needs a header, two rows or more, and columns for the prompt, the cue "
            "and, if prompts differ in more than words of the cue, the item."
        )
    return rows


def _refuse_untold(name: str, prompt: str, cue: str, item: str, columns: Sequence[str]) -> None:
    """Raises UsageError, with the options to type, if the cue or the item is "" (not detected)."""
    perhaps = "A prompt may be missing, or a value may be written in two ways; otherwise"
    if not cue:
        raise UsageError(
            f"{name}: none of the columns besides '{prompt}' looks like the cue. A cue has two to "
            f"{MAX_LEVELS} values, and either all of them for each item, or prompts that differ "
            f"only in the cue's words. Columns: {names_of(columns)}. {perhaps} type: --cue COLUMN "
            "--item COLUMN"
        )
    if not item:
        raise UsageError(
            f"{name}: none of the columns tells which prompts differ only in '{cue}', and the "
            f"texts differ in more than the cue's words. {perhaps} add a column, such as 'item' "
            "with the same number for the prompts of a pair, or type: --item COLUMN"
        )


def _refuse_rows(name: str, rows: Sequence[Row], columns: Sequence[str]) -> None:
    """Raises UsageError if a row lacks its prompt, cue or item, or occurs twice."""
    met: dict[tuple[str, ...], int] = {}
    for number, row in enumerate(rows, 1):
        key = tuple(row[column] for column in columns)
        if not all(map(str.strip, key)):
            raise UsageError(
                f"{name}: row {number} after the header has an empty cell in the column "
                f"{next(name for name in columns if not row[name].strip())}. Fill it in, or remove "
                "the row."
            )
        if key in met:
            raise UsageError(
                f"{name}: rows {met[key]} and {number} after the header have the same prompt, cue "
                "and item. Remove one of the rows."
            )
        met[key] = number


def _named_so(columns: Sequence[str], usual: Sequence[str]) -> list[str]:
    """Returns all columns: first the columns with a usual name, then the others in order."""
    lower = {name.lower(): name for name in reversed(columns)}
    first = [lower[name] for name in usual if name in lower]
    return list(dict.fromkeys((*first, *columns)))


def _prompt(rows: Sequence[Row], columns: Sequence[str]) -> str:
    column = _named_so(columns, PROMPTS)[0]
    if column.lower() in PROMPTS:
        return column
    return max(columns, key=lambda name: sum(len(row[name]) for row in rows))


def _cue(rows: Sequence[Row], columns: Sequence[str], items: Sequence[str]) -> str:
    """Returns the first column with few values, which all occur with every value of an item."""
    few = _few_valued(rows, columns)
    return next((name for name in few if _item(rows, name, items)), "")


def _few_valued(rows: Sequence[Row], columns: Sequence[str]) -> list[str]:
    """Returns the columns that may be the cue, likeliest first: a usual name of a cue, then no
    usual name of an item, then fewest values.
    """
    most = min(MAX_LEVELS, len(rows) // 2)
    by_name = _named_so(columns, CUES)
    values = {name: len({row[name] for row in rows}) for name in by_name}
    few = [name for name in by_name if 2 <= values[name] <= most]
    return sorted(
        few, key=lambda n: (0,) if n.lower() in CUES else (1, n.lower() in ITEMS, values[n])
    )


def _item(rows: Sequence[Row], cue: str, columns: Sequence[str]) -> str:
    """Returns the column whose values all occur with every level of the cue, usual names first."""
    matches = []
    levels = len({row[cue] for row in rows})
    for name in _named_so([name for name in columns if name != cue], ITEMS):
        values = {row[name] for row in rows}
        if len({(row[name], row[cue]) for row in rows}) == len(values) * levels > levels:
            matches.append((name.lower() in ITEMS, len(values), name))
    return max(matches, key=lambda one: one[:2])[2] if matches else ""


def _with_items(
    rows: Sequence[Row], prompt: str, cues: Sequence[str]
) -> tuple[str, tuple[Row, ...]]:
    """Returns the first cue whose values share the same prompts except for words of the cue, and
    the rows with an item column added. If no cue does: the only cue or "", and no rows.
    """
    column = next(name for name in (*ITEMS, "same_prompts") if name not in rows[0])
    for cue in cues:
        if items := _items(rows, prompt, cue):
            return cue, tuple({**row, column: item} for row, item in zip(rows, items, strict=True))
    return (cues[0] if len(cues) == 1 else ""), ()


def _items(rows: Sequence[Row], prompt: str, cue: str) -> list[str]:
    """Returns the topic of each prompt: its words without the words that only some values of the
    cue have, and without those that every prompt has. Returns [] unless the words of each value
    occur equally often with every topic, so that pairs are never guessed.
    """
    words = [_TOKENS.findall(row[prompt]) for row in rows]
    levels: dict[str, set[str]] = defaultdict(set)
    for row, row_words in zip(rows, words, strict=True):
        for word in row_words:
            levels[word].add(row[cue])
    all_levels = {row[cue] for row in rows}
    unmatched = [
        tuple(word for word in row_words if levels[word] == all_levels) for row_words in words
    ]
    counts: dict[tuple[str, ...], Counter[tuple[str, ...]]] = defaultdict(Counter)
    for row, row_words, item in zip(rows, words, unmatched, strict=True):
        counts[item][row[cue], *(word for word in row_words if levels[word] != all_levels)] += 1
    if len(counts) < 2 or any(one != counts[unmatched[0]] for one in counts.values()):
        return []
    everywhere = set.intersection(*map(set, counts))
    names = {item: " ".join(word for word in item if word not in everywhere) for item in counts}
    if "" in names.values() or len(set(names.values())) < len(names):
        names = {item: str(number) for number, item in enumerate(counts, 1)}
    return [names[item] for item in unmatched]


def _quote_all(texts: Iterable[str]) -> str:
    return ", ".join(map(_quote, texts))


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # a string of JSON is one of TOML
