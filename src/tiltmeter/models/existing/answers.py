"""Matches existing answers with trials: by the trial's id, by prompt and sample number, or by the
factors of the trial.

Prompts are compared as people see them: in Unicode's composed form (NFC), without blanks at their
ends. Lines of one prompt, or of one combination of factors, that have no `sample` are numbered in
their order. Which columns are factors is known at the first look-up of a trial.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from ...errors import ModelError, UnknownName
from ...records import ANSWER, CUT, ERROR, FILTER, REFUSAL, Json, Reply
from ...row_files import names_of
from ..endings import ended_by

OUTCOMES = (ANSWER, REFUSAL, CUT, ERROR)
# Columns that mean something; `ended` is in a table of outputs of ours.
OWN = (
    *("id", "prompt", "sample", "text", "file", "outcome", "model"),
    *("finish_reason", "ended", "thought"),
)
SHOWN_CHARACTERS = 60  # of a prompt in a message
SHOWN_BEFORE = 20  # characters before the place in which two prompts differ
COMPARED = 2_000  # prompts among which the nearest is looked for
COMPARED_CHARACTERS = 200  # of each

Key = tuple[tuple[str, str], ...]  # what a line answers: its prompt, or factors with their levels


class AnswerLine(NamedTuple):
    """An answer of a file. number: its line, from 1; columns: all other columns, as text."""

    number: int
    id: str
    prompt: str | None
    sample: int | None
    reply: Reply
    columns: Mapping[str, str]


class WantedTrial(NamedTuple):
    """A trial whose answer is wanted. factors: returns {factor: level} of the trial."""

    trial: str
    prompt: str
    sample: int
    factors: Callable[[], Mapping[str, str]]


class Answers:
    """The answers of a file, looked up by trial."""

    def __init__(self, path: Path, lines: Iterable[AnswerLine]) -> None:
        self._path = path
        self._ids: dict[str, AnswerLine] = {}
        self._found: dict[tuple[Key, int], AnswerLine] = {}
        self._first: dict[Key, AnswerLine] = {}  # of what the same key numbers
        self._next: dict[Key, int] = {}
        self._by_factors: list[AnswerLine] = []
        self._factors: tuple[str, ...] = ()  # columns that are factors, once they are known
        self._takers: dict[int, Key] = {}  # number of a line → the factors of the trial it answered
        for line in lines:
            self._take(line)
        if not self._ids and not self._found and not self._by_factors:
            raise ModelError(
                f'{path} holds no answers. A line looks like: {{"prompt": "…", "text": "…"}}'
            )

    def _take(self, line: AnswerLine) -> None:
        if line.id:
            self._refuse_second(self._ids.setdefault(line.id, line), line, f"id '{line.id}'")
        if line.prompt is not None:
            self._add((("prompt", fold_prompt(line.prompt)),), line)
        elif not line.id:
            self._by_factors.append(line)

    def _add(self, key: Key, line: AnswerLine) -> None:
        same = "prompt" if key[0][0] == "prompt" else "factors"
        first = self._first.setdefault(key, line)
        if (first.sample is None) != (line.sample is None):
            without, having = (first, line) if first.sample is None else (line, first)
            raise ModelError(
                f"{self._path}, line {without.number}: 'sample' is missing, but line "
                f"{having.number} of the same {same} has it. Number all lines of a {same} from 0, "
                "or none of them."
            )
        sample = line.sample
        if sample is None:
            sample = self._next.get(key, 0)
            self._next[key] = sample + 1
        first_line = self._found.setdefault((key, sample), line)
        self._refuse_second(first_line, line, f"sample {sample} of the same {same}")

    def _refuse_second(self, first_line: AnswerLine, line: AnswerLine, what: str) -> None:
        if first_line is not line:
            raise ModelError(
                f"{self._path}: lines {first_line.number} and {line.number} both answer {what}. "
                "Remove one of these lines."
            )

    def find(self, wanted: WantedTrial) -> AnswerLine | None:
        """Returns the answer to a trial, or None."""
        line = self._ids.get(wanted.trial)
        line = line or self._found.get(((("prompt", fold_prompt(wanted.prompt)),), wanted.sample))
        if line is None and self._by_factors:
            line = self._of_factors(wanted)
        return line

    def _of_factors(self, wanted: WantedTrial) -> AnswerLine | None:
        levels = {name: fold_prompt(level) for name, level in wanted.factors().items()}
        if not levels:
            return None
        if not self._factors:
            self._index(levels)
        line = self._found.get(
            (tuple((name, levels[name]) for name in self._factors), wanted.sample)
        )
        if line is not None:
            taker = tuple(levels.items())
            before = self._takers.setdefault(line.number, taker)
            if before != taker:
                apart = [name for name, level in taker if dict(before).get(name) != level]
                raise ModelError(
                    f"{self._path}, line {line.number} would answer trials that differ in "
                    f"{', '.join(apart)}. Add a column {apart[0]}."
                )
        return line

    def _index(self, levels: Mapping[str, str]) -> None:
        """Indexes the lines that have neither an id nor a prompt by their factors."""
        columns = dict.fromkeys(name for line in self._by_factors for name in line.columns)
        self._factors = tuple(name for name in columns if name in levels)
        first = self._by_factors[0]
        if not self._factors:
            raise ModelError(
                f"{self._path}, line {first.number}: no 'id', no 'prompt', and no column that is a "
                f"factor of the audit ({', '.join(levels)}). Its columns: "
                f"{', '.join(columns)}. Type for instance: --column prompt={next(iter(columns))}"
            )
        for line in self._by_factors:
            key = tuple((name, fold_prompt(line.columns.get(name, ""))) for name in self._factors)
            self._add(key, line)

    @property
    def lines(self) -> list[AnswerLine]:
        """Every line, once, in the order of the file."""
        every = (*self._ids.values(), *self._found.values(), *self._by_factors)
        return sorted({line.number: line for line in every}.values(), key=lambda line: line.number)

    def nearest(self, prompt: str) -> AnswerLine | None:
        """Returns the line whose prompt is most similar to `prompt`; None if none is similar."""
        prompts = {
            line.prompt[:COMPARED_CHARACTERS]: line
            for line in self.lines[:COMPARED]
            if line.prompt is not None
        }
        matches = difflib.get_close_matches(prompt[:COMPARED_CHARACTERS], prompts, 1, 0.6)
        return prompts[matches[0]] if matches else None


def fold_prompt(text: str) -> str:
    """Normalises a text for comparison: Unicode NFC, LF as line ends, no blanks at the ends."""
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n")).strip()


def shorten_prompt(text: str, beside: str = "") -> str:
    """Returns the beginning of a prompt, in quotation marks, for messages; or the place in which it
    first differs from another prompt that stands beside it.
    """
    line, other = (" ".join(prompt.split()) for prompt in (text, beside))
    pairs = enumerate(zip(line, other, strict=False))
    same = next((at for at, (a, b) in pairs if a != b), min(len(line), len(other)))
    start = same - SHOWN_BEFORE if other and same + SHOWN_BEFORE > SHOWN_CHARACTERS else 0
    rest = line[start:]
    shown = f"{rest[:SHOWN_CHARACTERS]}…" if len(rest) > SHOWN_CHARACTERS else rest
    return f"'{'…' * bool(start)}{shown}'"


def line(data: Mapping[str, Json], number: int, where: str, what: str = "text") -> AnswerLine:
    """Parses one answer of a file, with `id`, with `prompt` and perhaps `sample`, or with factors.
    what: the field of the answer; where: the line, named by the ModelError that it raises.
    """
    outcome, sample = data.get("outcome", ANSWER), data.get("sample")
    if outcome not in OUTCOMES:
        raise ModelError(f"{where}: {UnknownName('outcome', str(outcome), OUTCOMES)}")
    trial = _text(data.get("id", ""), "id", where)
    prompt = _text(data["prompt"], "prompt", where) if "prompt" in data else None
    columns = {
        name: str(value)
        for name, value in data.items()
        if name not in OWN and isinstance(value, (str, int, float))
    }
    reason = data.get("finish_reason") or data.get("ended")
    text = data.get(what, "" if outcome != ANSWER else None)
    if text is None and reason:  # as of a model that only thought; a table leaves empty cells out
        text = ""
    if text is None and what not in data:
        raise ModelError(f"{where}: {_missing(what, data)}")
    if not trial and prompt is None and not columns:
        raise ModelError(f"{where}: no 'id' and no 'prompt' to match a trial by. Add one.")
    if sample is not None and (
        not isinstance(sample, int) or isinstance(sample, bool) or sample < 0
    ):
        raise ModelError(f"{where}: 'sample' must be a whole number from 0.")
    answer = _text(text, what, where)
    ended, thought = ended_by(str(reason or "")), str(data.get("thought", ""))
    if outcome == ANSWER and ended in (FILTER, REFUSAL):
        outcome = REFUSAL
    reply = Reply(
        answer,
        str(outcome),
        served=str(data.get("model", "")),
        usage=(0, 0),
        ended=ended,
        thought=int(thought) if thought.isdecimal() else None,
    )
    return AnswerLine(number, trial, prompt, sample, reply, columns)


_OTHERS = {
    "text": ("response", "answer", "output", "completion", "reply", "generation", "content"),
    "prompt": ("question", "input", "query", "instruction"),
}


def _missing(what: str, data: Mapping[str, Json]) -> str:
    """Returns a message that a column is missing, with the option to type if another is like it or
    is not a field of ours.
    """
    folded = {name.casefold(): name for name in data}
    columns = [folded[name] for name in (what, *_OTHERS.get(what, ())) if name in folded]
    if columns:
        return f"'{what}' is missing. Type: --column {what}={columns[0]}"
    others = [name for name in data if name.casefold() not in OWN]
    if not others or what != "text":
        return f"'{what}' is missing."
    columns_are = f"The columns are: {names_of(list(data))}."
    return f"'{what}' is missing. {columns_are} Type for instance: --column {what}={others[-1]}"


def _text(value: Json, name: str, where: str) -> str:
    if not isinstance(value, str):
        raise ModelError(f"{where}: '{name}' {'is missing' if value is None else 'must be text'}.")
    return value
