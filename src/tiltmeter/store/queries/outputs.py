"""The outputs of subjects, with the trials that asked for them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ...records import ANSWER, HUMAN, Output, Trial
from .. import Store
from ..columns import integer_columns
from ..packing import id_number
from ..rows import OUTPUTS, TRIAL_COLUMNS, levels, trial_of
from ..views import number_of
from .trials import cells_asked


class OutputAnswer(NamedTuple):
    """An output that is an answer, with its trial's condition."""

    id: str
    subject: str
    mode: str
    levels: Mapping[str, str]
    prompt: str
    text: str
    blob: str


class PicturedOutput(NamedTuple):
    """An output with the prompt as rewritten by the server ("" if it was not)."""

    subject: str
    levels: Mapping[str, str]
    id: str
    outcome: str
    text: str
    blob: str
    revised: str


class AlikeOutputs(NamedTuple):
    """The outputs of a subject in one mode that share a value; ids: in the order of the outputs."""

    subject: str
    mode: str
    value: str
    ids: Sequence[str]


class CardOutput(NamedTuple):
    """The facts of an output except its text."""

    id: str
    subject: str
    mode: str
    levels: Mapping[str, str]
    sample: int
    outcome: str
    blob: str


class ShownOutput(NamedTuple):
    """An output as a page shows it."""

    id: str
    blob: str
    text: str


_CARDS = """
SELECT t.subject, t.mode, t.factors, t.id, t.sample, o.outcome, o.blob
FROM outputs o JOIN trials t ON t.n = o.n WHERE o.outcome = ? AND t.subject = ?
ORDER BY o.n
"""
_ANSWERS = """
SELECT t.id, t.subject, t.mode, t.factors, t.prompt, o.text, o.blob
FROM outputs o JOIN trials t ON t.n = o.n WHERE o.outcome = ? ORDER BY t.n
"""
_PICTURED = """
SELECT t.subject, t.mode, t.factors, o.trial, o.outcome, o.text, o.blob, coalesce(c.revised, '')
FROM outputs o JOIN trials t ON t.n = o.n LEFT JOIN calls c ON c.n = o.c ORDER BY o.n
"""
# columns beside max() are those of the row that has it: sqlite.org/lang_select.html
_BY_LABEL = f"""
SELECT subject, mode, value, json_group_array(output) FROM (
  SELECT o.trial AS output, t.subject, t.mode, coalesce(l.value, ?3) AS value, max(l.weight)
  FROM outputs o JOIN trials t ON t.n = o.n LEFT JOIN labels l
    ON l.n = o.n AND l.annotator_0 = {number_of("?1")} AND l.attribute_0 = {number_of("?2")}
    AND l.current
  GROUP BY o.n)
GROUP BY 1, 2, 3
"""
_BY_OUTCOME = """
SELECT t.subject, t.mode, o.outcome, json_group_array(o.trial)
FROM outputs o JOIN trials t ON t.n = o.n GROUP BY 1, 2, 3
"""
_WITH_CONTENT = """
SELECT 1 FROM outputs o JOIN trials t ON t.n = o.n
WHERE o.text || o.blob || o.call || t.prompt != '' LIMIT 1
"""
_ONE = f"""
SELECT {", ".join(f"t.{name}" for name in TRIAL_COLUMNS.split(", "))},
  {OUTPUTS}
FROM outputs o JOIN trials t ON t.n = o.n WHERE o.n = ?
"""
# prompts are looked through once each, whatever asked them how often
_CONTAINING = r"""
WITH known AS MATERIALIZED (
  SELECT prompt_0 AS p FROM trials GROUP BY prompt_0 HAVING min(prompt) LIKE ?1 ESCAPE '\')
SELECT n FROM outputs WHERE text LIKE ?1 ESCAPE '\'
UNION SELECT o.n FROM outputs o JOIN trials t ON t.n = o.n WHERE t.prompt_0 IN known
UNION SELECT o.n FROM outputs o JOIN calls c ON c.n = o.c WHERE c.revised LIKE ?1 ESCAPE '\'
"""


def number(store: Store) -> int:
    """Counts the outputs."""
    return int(store.first("SELECT count(*) FROM outputs")[0])


def cut_by_mode(store: Store) -> dict[tuple[str, str], tuple[int, int]]:
    """Returns (subject, mode) → (number of cut answers, number of all answers)."""
    query = (
        "SELECT t.subject, t.mode, sum(o.ended = 'cut'), count(*) FROM outputs o"
        " JOIN trials t ON t.n = o.n WHERE o.outcome IN ('answer', 'cut') GROUP BY 1, 2"
    )
    return {(subject, mode): (cut, number) for subject, mode, cut, number in store.rows(query)}


def ids(store: Store) -> set[str]:
    """Returns the ids of all outputs."""
    return {row[0] for row in store.rows("SELECT trial FROM outputs")}


def modes(store: Store) -> dict[str, str]:
    """Returns output → the mode of its trial."""
    query = "SELECT o.trial, t.mode FROM outputs o JOIN trials t ON t.n = o.n"
    return dict(store.rows(query))


def texts(store: Store) -> Iterator[tuple[str, str]]:
    """Yields (id, text) of every output, by id."""
    return store.rows("SELECT trial, text FROM outputs ORDER BY n")


def one(store: Store, output: str) -> tuple[Trial, Output] | None:
    """Returns an output with its trial, or None if there is no such output."""
    row = store.first(_ONE, (id_number(output),))
    return None if row is None else (trial_of(row[:8]), Output(row[0], *row[8:]))


def answers(store: Store) -> Iterator[OutputAnswer]:
    """Yields every output that is an answer (not a refusal or error), by id."""
    for key, subject, mode, factors, *rest in store.rows(_ANSWERS, (ANSWER,)):
        yield OutputAnswer(key, subject, mode, levels(factors), *rest)


def have_pictures(store: Store) -> bool:
    """True if some output has a file in `blobs/`."""
    return store.first("SELECT 1 FROM outputs WHERE blob != '' LIMIT 1") is not None


def have_content(store: Store) -> bool:
    """True if an output has more than labels: a text, a picture, a prompt, a call."""
    return store.first(_WITH_CONTENT) is not None


def iter_pictured(store: Store) -> Iterator[PicturedOutput]:
    """Yields every output of a run of pictures, by id."""
    return map(_pictured, store.rows(_PICTURED))


def first_pictured(store: Store, most: int) -> Iterator[PicturedOutput]:
    """Yields the first `most` outputs of pictures per subject, mode and cell, by id."""
    return map(_pictured, _first_rows(store.rows(_PICTURED), len(cells_asked(store)), most))


def _pictured(row: Any) -> PicturedOutput:
    subject, _, factors, *rest = row
    return PicturedOutput(subject, levels(factors), *rest)


def by_label(
    store: Store, annotator: str, attribute: str, unlabelled: str
) -> Iterator[AlikeOutputs]:
    """Groups outputs by an annotator's value of an attribute, the likeliest if there are several.
    unlabelled: the value for outputs without a label.
    """
    return _alike(store.rows(_BY_LABEL, (annotator, attribute, unlabelled)))


def by_outcome(store: Store) -> Iterator[AlikeOutputs]:
    """Groups the outputs by outcome."""
    return _alike(store.rows(_BY_OUTCOME))


def _alike(rows: Iterator[Any]) -> Iterator[AlikeOutputs]:
    for subject, mode, value, ids in rows:
        yield AlikeOutputs(subject, mode, value, sorted(json.loads(ids)))


def first_answers(store: Store, subject: str, most: int) -> Iterator[CardOutput]:
    """Yields a subject's first `most` answers per mode and cell, by id, without texts."""
    cells = sum(name == subject for name, *_ in cells_asked(store))
    for _, mode, factors, key, *rest in _first_rows(
        store.rows(_CARDS, (ANSWER, subject)), cells, most
    ):
        yield CardOutput(key, subject, mode, levels(factors), *rest)


def _first_rows(rows: Iterator[Any], cells: int, most: int) -> Iterator[Any]:
    """Yields at most `most` rows per cell; rows begin with the cell (subject, mode, factors)."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for row in rows:
        cell = row[:3]
        counts[cell] += 1
        if counts[cell] <= most:
            yield row
            cells -= counts[cell] == most
            if not cells:  # long before the last output: ids are hashes
                return


def iter_cells(store: Store) -> Iterator[Sequence[str]]:
    """Yields outputs, by id, as six columns of integers: trial, sample, four for `cell_texts`."""
    columns = ("o.n", "t.sample", "t.subject_0", "t.mode_0", "t.factors_0", "o.outcome_0")
    source = "FROM outputs o JOIN trials t ON t.n = o.n WHERE o.n BETWEEN ? AND ?"
    return integer_columns(store, columns, source)


def cell_texts(
    store: Store, cells: Sequence[Sequence[int]]
) -> Iterator[tuple[str, str, Mapping[str, str], str]]:
    """Yields (subject, mode, levels, outcome) of cells, each given as four integers."""
    words = store.words()
    factors = dict(store.texts(sorted({cell[2] for cell in cells})))
    for subject, mode, text, outcome in cells:
        yield str(words[subject]), str(words[mode]), levels(factors[text]), str(words[outcome])


def shown(store: Store, numbers: Sequence[int], characters: int) -> dict[int, ShownOutput]:
    """Returns {trial's integer: its output, with the beginning of the text} for some trials."""
    query = (
        "SELECT n, trial, blob, substr(text, 1, ?) FROM outputs"
        " WHERE n IN (SELECT value FROM json_each(?))"
    )
    rows = store.rows(query, (characters, json.dumps(numbers)))
    return {number: ShownOutput(*row) for number, *row in rows}


def sample_blobs(
    store: Store, attribute: str, of: Mapping[str, str], most: int
) -> list[tuple[str, str]]:
    """Lists (value, picture) of at most `most` outputs per value that machines gave an attribute,
    by output id. of: levels of factors that the outputs must have, and their subject.
    """
    wanted = {name: level for name, level in of.items() if name != "subject"}
    sql = "".join(
        f" AND json_extract(t.factors, ?{3 + 2 * n}) = ?{4 + 2 * n}" for n in range(len(wanted))
    )
    query = (
        "SELECT value, blob FROM (SELECT l.value, o.blob, row_number() OVER"
        " (PARTITION BY l.value ORDER BY l.n) AS place FROM labels l"
        " JOIN outputs o ON o.n = l.n JOIN trials t ON t.n = l.n"
        f" WHERE l.current AND l.attribute = ?1 AND ?2 IN ('', t.subject) AND o.blob <> ''{sql}"
        f" AND l.annotator NOT GLOB '{HUMAN}*') WHERE place <= {most:d} ORDER BY value, place"
    )
    paths = [part for name, level in wanted.items() for part in (f'$."{name}"', level)]
    return list(store.rows(query, (attribute, of.get("subject", ""), *paths)))


def containing(store: Store, text: str) -> Iterator[int]:
    """Yields the integers of trials whose output or prompts contain a text (any ASCII case)."""
    pattern = "".join(f"\\{sign}" if sign in "\\%_" else sign for sign in text)
    for (number,) in store.rows(_CONTAINING, (f"%{pattern}%",)):
        yield number
