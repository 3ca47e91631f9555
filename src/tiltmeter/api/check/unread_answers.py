"""The answers of a run that no rule reads, grouped by wording, and the meanings people give."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from ...errors import UsageError
from ...languages.letters import fold
from ...languages.pack import COLUMNS
from ...protocol import Protocol
from ...records import BOTH, INVALID, NEITHER, REFUSAL
from ...store import Store
from ...store.queries import labels
from ..runs.run_folder import open_run

LABELS = ("form", "other", BOTH, NEITHER, REFUSAL)  # meanings; other: that option is rejected
LONGEST = 300  # characters of an answer that is a shape of its own
_WORD = re.compile(r"\w+")


class AnswerShape(NamedTuple):
    """Unread answers that differ only in the option, and in words that not all prompts share. text:
    with {form} and {other} for the options, and … for such words; number: the number of answers
    with this shape; example: the first such answer.
    """

    text: str
    number: int
    example: str


def unread_shapes(folder: Path | str, most: int = 20) -> list[AnswerShape]:
    """Returns the most frequent shapes among a run's answers that its choice instrument labels
    `invalid`, as does every other annotator of the attribute now. Raises UsageError if the run
    has no such instrument.
    """
    run = open_run(folder)
    attributes = [spec.attribute for spec in run.protocol.instruments if spec.kind == "choice"]
    if not attributes:
        raise UsageError(f"{folder} has no answers that choose between options. Name another run.")
    with Store(Path(folder)) as store:
        unread = [
            {output for output, value in labels.values(store, *pair).items() if value == INVALID}
            for pair in labels.annotator_attributes(store)
            if pair[1] in attributes
        ]
        unread_by_all = set.intersection(*unread) if unread else set()
        asked = [
            (output.text, trial.prompt)
            for trial, output in store.iter_outputs()
            if output.trial in unread_by_all
        ]
    prompts = {prompt: {*_WORD.findall(fold(prompt))} for _, prompt in asked}
    in_all = set.intersection(*prompts.values()) if prompts else set()
    texts = (_without(text, prompts[prompt] - in_all) for text, prompt in asked)
    return shapes_of(texts, forms_of(run.protocol), most)


def _without(text: str, words: Collection[str]) -> str:
    """Replaces runs of words by …: names, which would make a shape of each person's answers."""
    masked = _WORD.sub(lambda match: "…" if fold(match[0]) in words else match[0], text)
    return re.sub(r"…(?: …)+", "…", masked)


def forms_of(protocol: Protocol) -> list[str]:
    """Returns the forms of all options, longest first."""
    declared = [spec.settings["forms"] for spec in protocol.instruments if spec.kind == "choice"]
    words = (
        form
        for forms in declared
        for options in forms.values()
        for written in options.values()
        for form in written
    )
    return sorted(set(words), key=len, reverse=True)


def shapes_of(texts: Iterable[str], forms: Sequence[str], most: int) -> list[AnswerShape]:
    """Counts the most frequent shapes of texts: the first option named is {form}, the next {other}.

    By hand: "I say yes", "i say no" and "Hm" have the shapes "i say {form}" (2) and "hm" (1).
    """
    counts, examples = Counter[str](), dict[str, str]()
    pattern = re.compile(
        rf"(?<!\w)(?:{'|'.join(re.escape(fold(form)) for form in forms)})(?!\w)"
        if forms
        else "(?!)"
    )
    for text in texts:
        shape = _shape(" ".join(fold(text).split()).replace("...", "…")[:LONGEST], pattern)
        counts[shape] += 1
        examples.setdefault(shape, text)
    return [
        AnswerShape(shape, number, examples[shape]) for shape, number in counts.most_common(most)
    ]


def _shape(text: str, forms: re.Pattern[str]) -> str:
    slots: dict[str, str] = {}

    def slot(match: re.Match[str]) -> str:
        return slots.setdefault(match[0], "{other}" if slots else "{form}")

    return forms.sub(slot, text.replace("{", "(").replace("}", ")"))


def add_shapes(
    folder: Path, shapes: Sequence[AnswerShape], meanings: Mapping[int, str]
) -> list[Path]:
    """Adds shapes to the files of a language (`my-audit/languages/de`): refusals to refusals.txt,
    others to answers.csv. meanings: {a shape's number, from 1: one of LABELS}. Returns the files.
    """
    for number, label in meanings.items():
        if label not in LABELS or not 0 < number <= len(shapes):
            raise UsageError(
                f"--label {number}={label}: write the number of a shape, 1 to {len(shapes)}, and "
                f"one of {', '.join(LABELS)}."
            )
    for number, label in meanings.items():
        if label in ("form", "other") and "{form}" not in shapes[number - 1].text:
            raise UsageError(f"--label {number}={label}: shape {number} does not name an option.")
    folder.mkdir(parents=True, exist_ok=True)
    chosen = [(shapes[number - 1].text, label) for number, label in meanings.items()]
    frames = [
        ("choice", "learnt", text, label, "frame") for text, label in chosen if label != REFUSAL
    ]
    refused = [f"[{_plain(text)}]" for text, label in chosen if label == REFUSAL]
    written = []
    if frames:
        written.append(_append(folder / "answers.csv", _rows(frames), _rows([COLUMNS])))
    if refused:
        written.append(_append(folder / "refusals.txt", "\n".join(refused) + "\n", ""))
    return written


def _plain(text: str) -> str:
    return re.sub(r"[\[\]|*,;:]", " ", text).strip(" .!。")


def _rows(rows: Sequence[Sequence[str]]) -> str:
    file = StringIO()
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue()


def _append(path: Path, text: str, head: str) -> Path:
    old_text = path.read_text("utf-8") if path.is_file() else head
    path.write_text(old_text + text, encoding="utf-8", newline="\n")
    return path
