"""The words and the answers of gates that a run was given, by the version of the rules that gave
them: `judged.json` in its folder.

Every verb reads a run by the rules of this version. If they give another word than the rules of an
earlier version gave the same labels, or a gate another answer than before, that is said.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...store import Store
from ...store.queries.state import labels_mark

if TYPE_CHECKING:  # what analyses brings numpy
    from ...analyse.claims.verdicts import Verdict

FILE = "judged.json"
ANSWERS = {0: "passed", 3: "failed", 4: "inconclusive"}


class JudgedRun(NamedTuple):
    """A run as one version of the rules read it. labels: a mark of the labels that it read; words:
    {claim: verdict}; answers: {gate: exit code}.
    """

    rules: int
    date: str
    labels: str
    words: Mapping[str, str]
    answers: Mapping[str, int]


def changes(
    folder: Path, verdicts: Sequence[Verdict] | None, answers: Mapping[str, int] | None = None
) -> list[str]:
    """A line for each word that an earlier version of the rules gave the same labels, and for each
    gate that answered otherwise before; what is given now is kept.

    verdicts: of the default variant, None for those of another.
    """
    from ...analyse.whole_run.signature import RULES

    with Store(folder) as store:
        mark = labels_mark(store)
    known = read(folder)
    words = {} if verdicts is None else {_claim(one): one.word.value for one in verdicts}
    gates = dict(answers or {})
    before = [one for rules, one in sorted(known.items()) if rules != RULES and one.labels == mark]
    lines = [*_changed_words(before, words, RULES), *_changed_answers(known, gates, RULES, mark)]
    own = known.get(RULES)
    fresh = own is not None and own.labels == mark
    kept_words = words if verdicts is not None or own is None or not fresh else own.words
    kept_gates = {**(own.answers if own is not None else {}), **gates}
    if own is None or (own.labels, own.words, own.answers) != (mark, kept_words, kept_gates):
        now = JudgedRun(RULES, datetime.now(UTC).date().isoformat(), mark, kept_words, kept_gates)
        _write(folder, {**known, RULES: now})
    return lines


def read(folder: Path) -> dict[int, JudgedRun]:
    """{version of the rules: the run as it read it}; empty if nothing was kept that can be read."""
    try:
        found = json.loads((folder / FILE).read_text("utf-8"))
        return {one["rules"]: JudgedRun(**one) for one in found}
    except (OSError, ValueError, TypeError, KeyError):
        return {}


def _write(folder: Path, known: Mapping[int, JudgedRun]) -> None:
    """Writes the file; a folder that cannot be written stays as it is."""
    rows = [known[rules]._asdict() for rules in sorted(known)]
    part = folder / f".{FILE}.part"
    with suppress(OSError):
        part.write_text(f"{json.dumps(rows, indent=1, ensure_ascii=False)}\n", encoding="utf-8")
        part.replace(folder / FILE)


def _changed_words(
    before: Sequence[JudgedRun], words: Mapping[str, str], rules: int
) -> Iterator[str]:
    """Each word that is another one now, as the latest earlier rules had it."""
    earlier: dict[str, tuple[str, int]] = {}
    for one in before:
        earlier |= {claim: (word, one.rules) for claim, word in one.words.items()}
    for claim, now in words.items():
        word, version = earlier.get(claim, (now, rules))
        if word != now:
            yield f"{claim}: {word} by rules {version}, now {now} by rules {rules}."


def _changed_answers(
    known: Mapping[int, JudgedRun], gates: Mapping[str, int], rules: int, mark: str
) -> Iterator[str]:
    """Each gate that answered otherwise when it was held last."""
    for gate, code in gates.items():
        held = [one for _, one in sorted(known.items()) if gate in one.answers]
        if not held or held[-1].answers[gate] == code:
            continue
        last = held[-1]
        why = f" by rules {last.rules}" if last.rules != rules else ""
        other = " of other labels" if last.labels != mark else ""
        yield (
            f"{gate}: {ANSWERS[last.answers[gate]]}{why} on {last.date}{other}, now "
            f"{ANSWERS[code]} by rules {rules}."
        )


def _claim(verdict: Verdict) -> str:
    """The name of a claim: its measure, model, annotator without its version, and levels."""
    levels = (*verdict.condition.values(), *(verdict.contrast or {}).values())
    annotator = verdict.instrument.partition("@")[0]
    return " · ".join(filter(None, (verdict.measure, verdict.subject, annotator, *levels)))
