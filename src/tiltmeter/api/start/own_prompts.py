"""Reads the user's table of prompts: detects the columns of the prompt, the cues, the item (which
prompts belong together) and languages, the names that stand for the cue, and the words that prompts
offer as answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from ...errors import UnknownName, UsageError
from ...languages.quotes import facts
from ...row_files import Row, is_delimited, lost_letters, names_of, read_rows, short_name
from .columns import (
    MAX_LEVELS,
    NAME_OF_COLUMN,
    add_items,
    few_valued,
    find_cue,
    find_item,
    find_prompt,
    fold_spellings,
)
from .offered import language_of_prompts
from .spoken import LANGUAGE, find_languages, offered_words
from .words_of_cue import NAME, caution, names_in_prompts, word_column

LENGTH = "length"  # what --measure can name


@dataclass(frozen=True)
class PromptColumns:
    """The columns of a table of prompts.

    cues: {column of a cue: its levels}. offered: {language ("" if unknown): the words that every
    prompt offers, () if the length of answers is measured}. rows: rows to write to a new file, if a
    protocol cannot read the table itself. tabled: True if a column holds the language. words: the
    column of names that stand for the cue; "" if there is none. added: columns that rows have more
    than the table. left_out: the table's columns that the audit does not use. cautions: sentences.
    """

    prompt: str
    cues: Mapping[str, tuple[str, ...]]
    item: str
    offered: Mapping[str, tuple[str, ...]]
    rows: tuple[Row, ...] = ()
    tabled: bool = False
    words: str = ""
    added: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()

    @property
    def options(self) -> tuple[str, ...]:
        """The words offered in the first language: the labels of answers in all."""
        return next(iter(self.offered.values()))

    @property
    def language(self) -> str:
        """The code of the first language."""
        return next(iter(self.offered))

    @property
    def measured(self) -> str:
        """The thing that is measured, as the beginning of a question."""
        if not self.options:
            return "How many words does an answer have"
        words = [f"‘{word}’" for word in self.options]
        return f"Which of {', '.join(words[:-1])} and {words[-1]} is answered"

    def __str__(self) -> str:
        cues = ", ".join(
            f"cue = {cue} ({', '.join(levels[:4])}{', …' if len(levels) > 4 else ''})"
            for cue, levels in self.cues.items()
        )
        item = self.item
        if item in self.added:
            number = len({row[item] for row in self.rows})
            item += f" (added: {number}, each of prompts that are alike but for words of the cue)"
        parts = [f"prompt = {self.prompt}, {cues}, item = {item}"]
        several = len(self.offered) > 1
        for code, words in self.offered.items():
            language = facts(code).name if code else ""
            inside = f" in {language}" * several
            parts += [f"offered {' or '.join(words)}{inside}"] * bool(words)
            parts += [f"language {language}"] * bool(code and not several)
        return "; ".join(parts)

    def notes(self) -> Iterator[str]:
        """Yields sentences: on names, words with one meaning in several languages, columns that are
        left out, and cautions.
        """
        if self.words:
            source = "found in the prompts" if self.words in self.added else "of the table"
            yield (
                f"Names are a sample (cue_words), by the column {self.words} {source}: what some "
                "of them show is no tilt of their group. Ten per group are advised."
            )
        for number, option in enumerate(self.options if len(self.offered) > 1 else ()):
            others = list(self.offered.items())[1:]
            same = " and ".join(f"{words[number]} ({facts(code).name})" for code, words in others)
            yield f"The same answer: {option} and {same}."
        if self.left_out:
            more = f"; if one is a cue too: --cue {','.join(self.cues)},COLUMN"
            yield f"Columns left out: {', '.join(map(short_name, self.left_out))}{more}"
        yield from self.cautions


@dataclass(frozen=True)
class TableNames:
    """The user's description of a table: its columns ("" to detect them), the sheet of a
    spreadsheet, the words offered as answers (`A,B` or `LANGUAGE:A,B`), and the measured thing (""
    or LENGTH). cue: one column, or several with commas. unpaired: True to accept items of which
    none has two levels of the cue.
    """

    prompt: str = ""
    cue: str = ""
    item: str = ""
    sheet: str = ""
    options: tuple[str, ...] = ()
    measure: str = ""
    unpaired: bool = False


class _Columns(NamedTuple):
    """The detected columns, with the rows to read. languages: {value of `spoken`: code}; spoken and
    words: "" if there are none; added: columns that rows have more than the table.
    """

    rows: list[Row]
    prompt: str
    cues: list[str]
    item: str
    spoken: str
    languages: Mapping[str, str]
    words: str = ""
    added: tuple[str, ...] = ()

    @property
    def used(self) -> tuple[str, ...]:
        """The columns of the table that the audit uses."""
        return (self.prompt, *self.cues, self.item, self.spoken, self.words)


def read(path: Path, named: TableNames) -> PromptColumns:
    """Reads a table of prompts. Raises UsageError with the unclear column and what to type."""
    table = _rows(path, named.sheet)
    named = replace(named, prompt=named.prompt or find_prompt(table, list(table[0])))
    folded, spellings = fold_spellings(table, [name for name in table[0] if name != named.prompt])
    columns = _with_words(_columns(path.name, folded, named))
    left_out = tuple(name for name in table[0] if name not in columns.used)
    _, prompt, cues, item, spoken, _, words, added = columns
    parts = [item, spoken] if spoken else [item]
    cautions = [spellings, lost_letters(cell for row in table for cell in row.values())]
    cautions.append(_without_partners(path.name, columns, named.unpaired))
    cautions += [] if words else [caution(columns.rows, prompt, parts, cues[0])]
    rows, (prompt, item, words, *cues) = _renamed(columns)
    prompts: dict[str, list[str]] = {}
    single = "" if spoken else language_of_prompts([row[prompt] for row in rows])
    for row in rows:
        prompts.setdefault(row[LANGUAGE] if spoken else single, []).append(row[prompt])
    levels = {cue: tuple(dict.fromkeys(row[cue] for row in rows)) for cue in cues}
    offered: dict[str, tuple[str, ...]] = dict.fromkeys(prompts, ())
    if named.measure != LENGTH:
        offered = offered_words(path.name, prompts, levels[cues[0]], named.options)
    is_as_before = rows == table and is_delimited(path)
    return PromptColumns(
        prompt=prompt,
        cues=levels,
        item=item,
        offered=offered,
        rows=() if is_as_before else tuple(rows),
        tabled=bool(spoken),
        words=words,
        added=added,
        left_out=left_out,
        cautions=tuple(filter(None, cautions)),
    )


def _columns(name: str, rows: list[Row], named: TableNames) -> _Columns:
    """Detects the columns of the prompt, the cues, the item and the language."""
    columns = list(rows[0])
    cues = [named.cue] if named.cue in columns else _split(named.cue)
    for column in filter(None, (named.prompt, *cues, named.item)):
        if column not in columns:
            raise UnknownName(f"column of {name}", column, columns)
    prompt = named.prompt
    rest = [column for column in columns if column not in (prompt, named.item, *cues)]
    spoken, languages = find_languages(rows, prompt, rest)
    rest = [column for column in columns if column not in (prompt, spoken)]
    cues = cues or list(filter(None, [find_cue(rows, rest, [named.item] if named.item else rest)]))
    item = named.item or (find_item(rows, cues[0], rest) if cues else "")
    added: tuple[str, ...] = ()
    if not item:
        cue, completed = add_items(rows, prompt, cues[:1] or few_valued(rows, rest))
        cues = cues or list(filter(None, [cue]))
        rows = list(completed) or rows
        item = next(reversed(rows[0])) if completed else ""
        added = (item,)
    _refuse_untold(name, prompt, cues[0] if cues else "", item, columns)
    _refuse_rows(name, rows, (prompt, *cues, item))
    return _Columns(rows, prompt, cues, item, spoken, languages, added=added)


def _with_words(columns: _Columns) -> _Columns:
    """Adds the column of the words that stand for the cue: of the table, or from the prompts."""
    rows, prompt, cues, item, spoken = columns[:5]
    others = [name for name in rows[0] if name not in columns.used]
    if words := word_column(rows, prompt, cues, others):
        return columns._replace(words=words)
    names = names_in_prompts(rows, prompt, [item, spoken] if spoken else [item], cues)
    if not names:
        return columns
    words = NAME if NAME not in rows[0] else f"{NAME}_in_prompt"
    rows = [{**row, words: name} for row, name in zip(rows, names, strict=True)]
    return columns._replace(rows=rows, words=words, added=(*columns.added, words))


def _renamed(columns: _Columns) -> tuple[list[Row], list[str]]:
    """Returns the rows with columns that a slot can name, and the code of each language; and the
    names of the prompt, the item, the words and the cues.
    """
    kinds = {columns.prompt: "prompt", columns.item: "item", columns.words: NAME}
    kinds |= {cue: f"cue_{n}" if n > 1 else "cue" for n, cue in enumerate(columns.cues, 1)}
    names = {name: kind for name, kind in kinds.items() if not NAME_OF_COLUMN.fullmatch(name)}
    rows, spoken = columns.rows, columns.spoken
    if spoken:
        codes = columns.languages
        rows = [{**row, LANGUAGE: codes[row[spoken].strip().casefold()]} for row in rows]
    rows = [{names.get(name, name): cell for name, cell in row.items()} for row in rows]
    used = (columns.prompt, columns.item, columns.words, *columns.cues)
    return rows, [names.get(name, name) if name else "" for name in used]


def _split(names: str) -> list[str]:
    """Splits the names of columns at commas."""
    return list(filter(None, map(str.strip, names.split(","))))


def _rows(path: Path, sheet: str) -> list[Row]:
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


def _without_partners(name: str, columns: _Columns, is_accepted: bool) -> str:
    """Returns a caution on items without all levels of the first cue; "" if all have them. Raises
    UsageError if no item has two levels, unless that is accepted.
    """
    item, cue = columns.item, columns.cues[0]
    levels: dict[str, set[str]] = {}
    for row in columns.rows:
        levels.setdefault(row[item], set()).add(row[cue])
    all_levels = " and ".join(dict.fromkeys(row[cue] for row in columns.rows))
    several = "both" if len({row[cue] for row in columns.rows}) == 2 else "two of"
    no_pairs = f"{name}: no value of '{item}' has prompts for {several} {all_levels}."
    most = max(map(len, levels.values()))
    lacking = [value for value, of in levels.items() if len(of) < most]
    if most < 2 and not is_accepted:
        raise UsageError(
            f"{no_pairs} Both sides would be asked different things, and what differs may be the "
            f"prompts' subject, not '{cue}'. Give each {item} a prompt for {all_levels}. Or, if "
            "pairs are there under two words (such as Elektrikerin and Elektriker), add a column, "
            "such as 'pair', with the same number for the prompts of a pair, and type: --item pair."
            " To go on without pairs, type also: --unpaired"
        )
    if most < 2:
        return f"{no_pairs} What differs may be the prompts' subject, not '{cue}'."
    if not lacking:
        return ""
    return (
        f"{len(levels) - len(lacking)} of {len(levels)} values of {item} have prompts for "
        f"{all_levels}; the others have not ({names_of(lacking)}), and a part of what "
        "differs may be their subject. Complete or remove them."
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
