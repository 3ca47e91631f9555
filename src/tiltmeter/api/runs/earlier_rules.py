"""The verdicts and gate results of a run by earlier versions of the rules: `judged.json` in its
folder.

Every command reads a run by the rules of this version. A note appears if they give another verdict
than earlier rules gave for the same labels, or if a gate's answer differs from before.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...records.typed_json import parse_as
from ...store import Store
from ...store.queries.state import labels_mark
from ...system import intake
from ...system.writing import write_whole

if TYPE_CHECKING:  # imports numpy
    from ...analyse.claims.verdicts import Verdict

FILE = "judged.json"
ANSWERS = {0: "passed", 3: "failed", 4: "inconclusive"}


class JudgedRun(NamedTuple):
    """Results by one version of the rules. words: {claim: verdict}; answers: {gate: exit code}."""

    rules: int
    date: str
    labels: str
    words: Mapping[str, str]
    answers: Mapping[str, int]


def changes(
    folder: Path, verdicts: Sequence[Verdict] | None, answers: Mapping[str, int] | None = None
) -> list[str]:
    """Lists a line per verdict that earlier rules gave differently for the same labels, and per
    gate whose answer has changed; stores the present results.

    verdicts: of the default variant, None for another variant.
    """
    from ...analyse.whole_run.signature import RULES

    with Store(folder) as store:
        mark = labels_mark(store)
    earlier = read(folder)
    words = (
        {} if verdicts is None else {_claim(verdict): verdict.word.value for verdict in verdicts}
    )
    gates = dict(answers or {})
    before = [
        judged
        for rules, judged in sorted(earlier.items())
        if rules != RULES and judged.labels == mark
    ]
    lines = [*_changed_words(before, words, RULES), *_changed_answers(earlier, gates, RULES, mark)]
    current = earlier.get(RULES)
    is_fresh = current is not None and current.labels == mark
    kept_words = words if verdicts is not None or current is None or not is_fresh else current.words
    kept_gates = {**(current.answers if current is not None else {}), **gates}
    if current is None or (current.labels, current.words, current.answers) != (
        mark,
        kept_words,
        kept_gates,
    ):
        run = JudgedRun(RULES, datetime.now(UTC).date().isoformat(), mark, kept_words, kept_gates)
        _write(folder, {**earlier, RULES: run})
    return lines


def read(folder: Path) -> dict[int, JudgedRun]:
    """Reads {version of the rules: its results}; {} if the file is missing or unreadable."""
    try:
        text = intake.read_text(folder / FILE, intake.MOST_DECLARED_BYTES)
        rows = parse_as(tuple[JudgedRun, ...], text)
    except (OSError, ValueError):
        return {}
    return {row.rules: row for row in rows}


def _write(folder: Path, known: Mapping[int, JudgedRun]) -> None:
    """Writes the file; skips it if the folder is read-only."""
    rows = [known[rules]._asdict() for rules in sorted(known)]
    with suppress(OSError):
        write_whole(folder / FILE, f"{json.dumps(rows, indent=1, ensure_ascii=False)}\n")


def _changed_words(
    before: Sequence[JudgedRun], words: Mapping[str, str], rules: int
) -> Iterator[str]:
    """Yields a line per verdict that differs from the latest verdict by earlier rules."""
    earlier: dict[str, tuple[str, int]] = {}
    for judged in before:
        earlier |= {claim: (word, judged.rules) for claim, word in judged.words.items()}
    for claim, now in words.items():
        word, version = earlier.get(claim, (now, rules))
        if word != now:
            yield f"{claim}: {word} by rules {version}, now {now} by rules {rules}."


def _changed_answers(
    known: Mapping[int, JudgedRun], gates: Mapping[str, int], rules: int, mark: str
) -> Iterator[str]:
    """Yields a line per gate whose answer differs from the latest stored one."""
    for gate, code in gates.items():
        runs = [run for _, run in sorted(known.items()) if run.answers.get(gate) in ANSWERS]
        if not runs or runs[-1].answers[gate] == code:
            continue
        last = runs[-1]
        why = f" by rules {last.rules}" if last.rules != rules else ""
        other = " of other labels" if last.labels != mark else ""
        yield (
            f"{gate}: {ANSWERS[last.answers[gate]]}{why} on {last.date}{other}, now "
            f"{ANSWERS[code]} by rules {rules}."
        )


def _claim(verdict: Verdict) -> str:
    """Names a claim by its measure, model, annotator without version, and levels."""
    levels = (*verdict.condition.values(), *(verdict.contrast or {}).values())
    annotator = verdict.instrument.partition("@")[0]
    return " · ".join(filter(None, (verdict.measure, verdict.subject, annotator, *levels)))
