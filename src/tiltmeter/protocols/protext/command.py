"""A corpus of one's own for `protext`: a copy of the ProText release, or any file of that design,
as a runnable folder.

    python -m tiltmeter.protocols.protext release.csv --out my-protext [--column noun=theme_noun]
    [--prompt TEXT]
    tiltmeter run my-protext/protocol.toml --model builtin --out my-run

Without a file, the folder has the texts that are shipped: for a prompt of one's own.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ...errors import TiltmeterError, UsageError
from ...instruments.rewrites.neopronouns import pronoun_sets
from . import inference, own, shipped


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the folder that the command line asks for; returns 0, or an error's exit code."""
    options = _parser().parse_args(arguments)
    try:
        rows = _texts(options)
        path = own.write(rows, options.out, prompt=options.prompt.strip())
    except TiltmeterError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    counts = Counter(row["pronoun"] for row in rows)
    print(
        f"texts: {len(rows)} "
        f"({', '.join(f'{name} {counts[name]}' for name in own.VALUES['pronoun'] if counts[name])})"
    )
    for line in inference.warnings(rows):
        print(f"note: {line}")
    if counts["it"]:
        print(
            "note: whether a rewrite keeps it/its is not measured: the rules do not tell it from "
            "the word for things."
        )
    print(f"Type: tiltmeter run {path} --model builtin --out {path.parent / 'run'}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tiltmeter.protocols.protext", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument(
        "file",
        type=Path,
        nargs="?",
        help="the shipped texts otherwise",
    )
    parser.add_argument(
        "--texts",
        choices=shipped.VERSIONS,
        default="2",
        help="which of the shipped texts: the 640, or the 144 families",
    )
    parser.add_argument(
        "--neopronoun",
        choices=tuple(pronoun_sets()),
        help="the texts with they alone, with this in its place",
    )
    parser.add_argument("--out", type=Path, required=True, help="the folder to write")
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="OURS=THEIRS",
        help=f"ours: {', '.join(shipped.COLUMNS)}",
    )
    parser.add_argument(
        "--prompt", default="", metavar="TEXT", help="what the model is told to do with each text"
    )
    return parser


def _texts(options: argparse.Namespace) -> list[dict[str, str]]:
    """Reads the rows of the file that the command line names, else the shipped texts."""
    columns = dict(_column(part) for part in options.column)
    rows = own.load(options.file, columns) if options.file else shipped.rows(options.texts)
    return shipped.with_neopronoun(rows, options.neopronoun) if options.neopronoun else rows


def _column(part: str) -> tuple[str, str]:
    ours, equals, theirs = part.partition("=")
    if not equals:
        raise UsageError(
            f"--column {part} has no '='. Type for instance: --column noun=NAME, with a name "
            "from the file."
        )
    return ours, theirs
