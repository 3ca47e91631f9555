"""tiltmeter language check pt | new sw | learn RUN"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from .options import as_json


@click.command()
@click.argument("action", type=click.Choice(["check", "new", "learn"]))
@click.argument("what")
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    help="new: the folder that languages lie in; learn: the folder of one language.",
)
@click.option(
    "--most", type=click.IntRange(1), default=20, show_default=True, help="learn: shapes shown."
)
@click.option(
    "--label",
    "meanings",
    multiple=True,
    metavar="NUMBER=MEANING",
    help="learn: the meaning of a shape: form (its option is chosen), both, neither or refusal.",
)
@as_json
def command(
    action: str,
    what: str,
    into: Path | None,
    most: int,
    meanings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Try a language's pack, start one, learn from unread answers. WHAT: for check a code such as
    pt or a folder such as my-audit/languages/sw, for new a code, for learn a run. check ends with
    exit code 1 if less than nine in ten sentences are read or any is read wrongly.
    """
    if action == "check":
        _check(what, as_json)
    elif action == "new":
        _start(what, into or Path("languages"))
    else:
        _learn(what, most, _labelled(meanings, into), into, as_json)


def _check(language: str, as_json: bool) -> None:
    from ..api.check.language_check import check

    rates = check(language)
    if as_json:
        _emit([{**asdict(each), "passes": each.passes} for each in rates])
    else:
        click.echo(f"{'':10}{'sentences':>10}{'read':>7}{'lost':>6}{'wrong':>7}")
        for each in rates:
            counts = f"{each.sentences:>10}{each.read:>7}{each.lost:>6}{each.wrong:>7}"
            click.echo(f"{each.instrument:10}{counts}")
        for each in rates:
            if each.first_lost:
                click.echo(f"\n{each.instrument}, not read: {each.first_lost}")
                click.echo(f"Add it, or a shorter form of it, to {each.file}.")
    if not all(each.passes for each in rates):
        raise SystemExit(1)


def _start(language: str, into: Path) -> None:
    from ..api.check.language_start import start

    for path in start(language, into):
        click.echo(path)
    click.echo("Replace the English in them, then type:")
    click.echo(f"tiltmeter language check {into / language}")


def _labelled(meanings: Sequence[str], into: Path | None) -> dict[int, str]:
    """Parses NUMBER=MEANING as {shape's number: meaning}. UsageError if malformed or no --into."""
    from ..errors import UsageError

    labelled = {}
    for meaning in meanings:
        number, _, label = meaning.partition("=")
        if not number.isdecimal() or into is None:
            raise UsageError("--label needs a folder: --label 1=form --into my-audit/languages/de")
        labelled[int(number)] = label
    return labelled


def _learn(
    run: str, most: int, labelled: Mapping[int, str], into: Path | None, as_json: bool
) -> None:
    from ..api.check.unread_answers import add_shapes, unread_shapes

    shapes = unread_shapes(run, most)
    if into is not None and labelled:
        for path in add_shapes(into, shapes, labelled):
            click.echo(path)
    elif as_json:
        _emit([shape._asdict() for shape in shapes])
    else:
        for number, shape in enumerate(shapes, 1):
            click.echo(f"{number:3} {shape.number:6}  {shape.text}")
        click.echo("To add one: --label 1=form --into …" if shapes else "No answer is unread.")


def _emit(rows: Sequence[Mapping[str, object]]) -> None:
    click.echo(json.dumps(rows, ensure_ascii=False, indent=2))
