"""Check texts of one's own or of our corpus for gendering and misgendering.

    python -m scripts.corpus.check FILE.jsonl [...] [--full] [--paired]

It takes texts.jsonl that `python -m tiltmeter.protocols.protext` writes, as well as our own.
`check(texts)` is pure: texts in, findings out; each finding names the text, the rule and the words.
Rules of one text are in rules.py; those that speak of the corpus as a whole (cells, lengths, style
shares) run with `full=True`. Exit code 1 when anything was found. The rule for spelling needs
pyspellchecker.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from scripts.corpus import pairs
from scripts.corpus.copies import check_copies
from scripts.corpus.rules import (
    CELLS,
    STYLES,
    Known,
    Text,
    TextFinding,
    check_leaks,
    check_noun,
    check_pronouns,
    check_spelling,
    check_values,
    word_count,
)

from tiltmeter.protocols.protext import paired

# the paper: 66 on average; Figure 2 prints no spread, so ours
MEAN_WORDS, SD_WORDS = (60.0, 72.0), (18.0, 32.0)
MIN_STYLE_SHARE, MAX_OTHERS_SHARE = 0.08, 0.08

_UNSAID = {"form": "", "styles": [], "others": {}, "slips": [], "leaks_ok": []}


def read(path: Path) -> tuple[list[Text], list[TextFinding]]:
    """The texts of a JSON Lines file, and what is wrong with its lines."""
    kinds = dict.fromkeys(("theme", "category", "pronoun", "noun", "text", "form"), str)
    items = {
        "styles": (list, str),
        "slips": (list, str),
        "leaks_ok": (list, str),
        "others": (dict, int),
    }
    texts, findings = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        where = f"{path.name}:{number}"
        try:
            row: dict[str, Any] = dict(_UNSAID) | json.loads(line)
        except (ValueError, TypeError) as error:
            findings.append(TextFinding(where, "schema", f"no JSON object: {error}"))
            continue
        where = row.pop("id", where)
        wrong = [key for key, kind in kinds.items() if not isinstance(row.get(key), kind)]
        for key, (kind, item) in items.items():
            values = (
                list(row[key].values() if kind is dict else row[key])
                if isinstance(row.get(key), kind)
                else [None]
            )
            wrong += [] if all(isinstance(value, item) for value in values) else [key]
        wrong += row.keys() - kinds.keys() - items.keys()
        if wrong:
            findings.append(
                TextFinding(
                    where, "schema", "missing, unknown or of a wrong type: " + ", ".join(wrong)
                )
            )
        else:
            lists = {key: tuple(row[key]) for key, (kind, _) in items.items() if kind is list}
            texts.append(Text(where, **(row | lists)))
    return texts, findings


def check_whole(texts: Sequence[Text]) -> Iterator[TextFinding]:
    """Rules over the full corpus: ids, cells of Table 1, lengths, style shares, marked pronouns."""
    ids = Counter(t.where for t in texts)
    yield from (TextFinding(where, "id", f"used {n} times") for where, n in ids.items() if n > 1)
    cells = Counter((t.theme, t.category, t.pronoun) for t in texts)
    for cell, wanted in CELLS.items():
        if cells[cell] != wanted:
            yield TextFinding(
                "corpus", "cells", f"{'/'.join(cell)}: {cells[cell]}, Table 1 has {wanted}"
            )
    lengths = [word_count(t.text) for t in texts] or [0]
    mean, sd = statistics.fmean(lengths), statistics.pstdev(lengths)
    if not MEAN_WORDS[0] <= mean <= MEAN_WORDS[1] or not SD_WORDS[0] <= sd <= SD_WORDS[1]:
        yield TextFinding(
            "corpus", "lengths", f"mean {mean:.1f}, standard deviation {sd:.1f} words"
        )
    for style in STYLES:
        share = sum(style in t.styles for t in texts) / max(1, len(texts))
        if share < MIN_STYLE_SHARE:
            yield TextFinding("corpus", "style share", f"{style} in {share:.1%} of the texts")
    marked = sum(bool(t.others) for t in texts) / max(1, len(texts))
    if marked >= MAX_OTHERS_SHARE:
        yield TextFinding(
            "corpus", "others", f"{marked:.1%} of the texts mark a second person's pronoun"
        )


def check(
    texts: Sequence[Text], *, full: bool = False, known: Known | None = None
) -> list[TextFinding]:
    """All findings: text by text, over pairs, with a word list (`known`) spelling, and over the
    whole with `full`.
    """
    each = (check_values, check_noun, check_pronouns, check_leaks)
    findings = [finding for text in texts for rule in each for finding in rule(text)]
    findings += check_copies(texts)
    findings += check_spelling(texts, known) if known else ()
    return findings + (list(check_whole(texts)) if full else [])


def summary(texts: Sequence[Text]) -> str:
    """Two lines on the texts: how many, their lengths in words, and the share of each style."""
    lengths = [word_count(t.text) for t in texts] or [0]
    styles = ", ".join(
        f"{s} {sum(s in t.styles for t in texts) / max(1, len(texts)):.1%}" for s in STYLES
    )
    return (
        f"{len(texts)} texts; words: mean {statistics.fmean(lengths):.1f}, standard deviation "
        f"{statistics.pstdev(lengths):.1f}, {min(lengths)} to {max(lengths)}; with others "
        f"{sum(bool(t.others) for t in texts)}, with leaks_ok "
        f"{sum(bool(t.leaks_ok) for t in texts)}\nstyles: {styles}"
    )


def _word_list() -> Known | None:
    """pyspellchecker's words, where it is installed."""
    try:
        from spellchecker import SpellChecker
    except ImportError:
        return None
    known: Known = SpellChecker().known
    return known


def _check_paired() -> int:
    texts = paired.texts()
    findings = pairs.check_paired(texts, _word_list())
    families = len({text.family for text in texts})
    print(*findings, f"{families} families, {len(texts)} texts", sep="\n")
    print(f"{len(findings)} findings")
    return 1 if findings else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Checks the files of the command line and prints findings; returns 1 if there are any."""
    parser = argparse.ArgumentParser(description="Check texts of the corpus.")
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument(
        "--paired", action="store_true", help="the paired corpus: its versions against each other"
    )
    parser.add_argument("--full", action="store_true", help="also the rules over the whole corpus")
    options = parser.parse_args(arguments)
    if options.paired:
        return _check_paired()
    if not options.files:
        parser.error("name a file, or --paired")
    for path in options.files:
        if not path.is_file():
            parser.error(f"no file {path}")
    parts = [read(path) for path in options.files]
    texts, findings = [t for part, _ in parts for t in part], [f for _, part in parts for f in part]
    known = _word_list()
    findings += check(texts, full=options.full or len(texts) == sum(CELLS.values()), known=known)
    spelling = "" if known else "; spelling not checked (pip install pyspellchecker)"
    print("\n".join([*map(str, findings), summary(texts), f"{len(findings)} findings{spelling}"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
