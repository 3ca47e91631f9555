"""`python -m tiltmeter.protocols.word_lists`: candidates, ratings, lists of nouns (README.md)."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from shutil import copyfile

from ...errors import TiltmeterError, UsageError
from ...row_files import Row, read_rows
from ...store import Store
from ...store.queries import labels, outputs
from . import reading

HOME = Path(__file__).parent
NEEDED = ("language", "article", "noun", "gloss", "grammatical_gender")
ITEMS = "words.csv"  # as given, with the grammatical gender that raters do not see


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tiltmeter.protocols.word_lists")
    verbs = parser.add_subparsers(dest="verb", required=True)
    verb = verbs.add_parser("collect", help="nouns out of the replies of a run of candidates")
    verb.add_argument("run", type=Path)
    verb.add_argument("--out", type=Path, required=True)
    verb = verbs.add_parser("start", help="a folder in which words are rated")
    verb.add_argument("words", type=Path)
    verb.add_argument("--out", type=Path, required=True)
    verb = verbs.add_parser("keep", help="a words.csv of those that enough raters keep")
    verb.add_argument("run", type=Path)
    verb.add_argument("--out", type=Path, required=True)
    verb.add_argument("--least", type=int, default=3, help="raters who must agree; 3")
    verb.add_argument("--raters", choices=("people", "judges"), default="people")
    options = parser.parse_args(arguments)
    try:
        return int(_VERBS[options.verb](options))
    except TiltmeterError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code


def collect(options: argparse.Namespace) -> int:
    """Writes the nouns that models proposed, one row each, for people to look up and rate."""
    replies: dict[tuple[str, str], list[str]] = {}
    with Store(options.run) as store:
        for one in outputs.answers(store):
            key = (one.levels["language"], one.levels["grammatical_gender"])
            replies.setdefault(key, []).append(one.text)
    found = [
        candidate for key, texts in replies.items() for candidate in reading.candidates(*key, texts)
    ]
    if not found:
        raise UsageError(f"No reply of {options.run} has a line such as: die Wache = guard")
    names = ("word", *NEEDED, "times")
    rows = [
        {
            "word": f"{one.language}:{one.noun.casefold()}",
            **{name: getattr(one, name) for name in NEEDED},
            "times": str(one.times),
        }
        for one in found
    ]
    _write(options.out, names, rows)
    print(f"{options.out}: {len(rows)} nouns. Look each up in a dictionary, then:")
    print(f"python -m tiltmeter.protocols.word_lists start {options.out} --out rating")
    return 0


def start(options: argparse.Namespace) -> int:
    """Writes a folder with a protocol, its words without their gender, and the words' texts as
    answers, so that raters can use the usual commands.
    """
    rows = _read_words(options.words)
    options.out.mkdir(parents=True, exist_ok=True)
    for name in ("protocol.toml", ITEMS):
        if (options.out / name).exists():
            raise UsageError(f"{options.out / name} exists already. Name another folder.")
    copyfile(HOME / "ratings.toml", options.out / "protocol.toml")
    copyfile(options.words, options.out / ITEMS)
    columns = ("word", "language", "noun", "gloss")
    _write(
        options.out / "items.csv", columns, [{name: row[name] for name in columns} for row in rows]
    )
    from ... import registry

    protocol = registry.protocol(str(options.out / "protocol.toml"))
    with (options.out / "answers.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        for cell in protocol.cells:
            told = {
                "prompt": protocol.prompt_text(cell),
                "text": f"{cell['noun']} ({cell['gloss']})",
            }
            file.write(json.dumps(told, ensure_ascii=False) + "\n")
    print(f"{len(rows)} words. Type:")
    print(
        f"tiltmeter run {options.out}/protocol.toml --model file:{options.out}/answers.jsonl "
        f"--judge A --judge B --judge C --out {options.out}/run"
    )
    print(f"tiltmeter annotate {options.out}/run --attribute stereotype --annotator NAME")
    print(f"python -m tiltmeter.protocols.word_lists keep {options.out}/run --out words.csv")
    return 0


def keep(options: argparse.Namespace) -> int:
    """Writes the words whose stereotype, according to enough raters, opposes their gender."""
    rows = _read_words(options.run.parent / ITEMS)
    with Store(options.run) as store:
        words = {answer.id: answer.levels["word"] for answer in outputs.answers(store)}
        said = [
            (words[output], annotator, attribute, value)
            for annotator, attribute in labels.annotator_attributes(store)
            for output, value in labels.values(store, annotator, attribute).items()
            if output in words
        ]
    rated = reading.rate_words(rows, said, options.raters)
    raters = {rater for one in rated for rater in one.votes}
    if len(raters) < options.least:
        raise UsageError(
            f"{len(raters)} {options.raters} rated the words, but {options.least} must agree. "
            f"Type: tiltmeter annotate {options.run} --attribute stereotype --annotator NAME, or "
            "--raters judges"
        )
    kept = [one for one in rated if one.opposite >= options.least]
    _write(options.out, reading.COLUMNS, reading.list_rows(kept))
    print(
        f"{options.out}: {len(kept)} of {len(rows)} words, of which {options.least} or more of "
        f"{len(raters)} {options.raters} name the opposite stereotype"
    )
    for lacks, what in (
        ([one for one in kept if not one.category], "no category on which a majority agrees"),
        ([one for one in kept if not one.row.get("chinese")], "no Chinese word, which is needed"),
    ):
        if lacks:
            print(f"{len(lacks)} have {what}: {', '.join(lack.row['word'] for lack in lacks[:5])}")
    print(f"How far raters agree: tiltmeter validate {options.run}")
    return 0


def _read_words(path: Path) -> list[Row]:
    """Reads the rows of a list to be rated, each with a `word`."""
    rows = [row for _, row in read_rows(path, needs=NEEDED)]
    for number, row in enumerate(rows, 2):
        if row["grammatical_gender"] not in reading.OPPOSITE:
            raise UsageError(
                f"{path.name}, line {number}: grammatical_gender must be feminine or masculine, "
                f"not '{row['grammatical_gender']}'."
            )
        row["word"] = row.get("word") or f"{row['language']}:{row['noun'].casefold()}"
    return rows


def _write(path: Path, names: Sequence[str], rows: Sequence[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(names), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


_VERBS = {"collect": collect, "start": start, "keep": keep}

if __name__ == "__main__":
    sys.exit(main())
