"""tiltmeter language check pt | new sw | learn RUN"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from .options import as_json


@click.group()
def command() -> None:
    """Try a language's pack, start one, or learn from the unread answers of a run."""


@command.command()
@click.argument("language")
@as_json
def check(language: str, as_json: bool) -> None:
    """Plant a pack's own sentences in each instrument and read them back. LANGUAGE: a code such as
    pt, or a folder such as my-audit/languages/sw. Exit code 1 if less than nine in ten are read or
    any is read wrongly.
    """
    from ..api.check.language_check import check as rates_of

    rates = rates_of(language)
    if as_json:
        rows = [{**asdict(each), "passes": each.passes} for each in rates]
        click.echo(json.dumps(rows, ensure_ascii=False, indent=2))
    else:
        click.echo(f"{'':10}{'sentences':>10}{'read':>7}{'lost':>6}{'wrong':>7}")
        for each in rates:
            counts = f"{each.sentences:>10}{each.read:>7}{each.lost:>6}{each.wrong:>7}"
            click.echo(f"{each.instrument:10}{counts}")
        for each in rates:
            if each.first_lost:
                click.echo(f"\n{each.instrument}, not read: {each.first_lost}")
                click.echo(f"Add it, or what tells it, to {each.file}.")
    if not all(each.passes for each in rates):
        raise SystemExit(1)


@command.command()
@click.argument("language")
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("languages"),
    show_default=True,
    help="The folder beside your protocol that languages lie in.",
)
def new(language: str, into: Path) -> None:
    """Write a folder to fill in for a language. LANGUAGE: its code, such as sw."""
    from ..api.check.language_start import start

    for path in start(language, into):
        click.echo(path)
    click.echo(
        f"Replace the English in them, then type: tiltmeter language check {into / language}"
    )


@command.command()
@click.argument("run", type=click.Path(file_okay=False))
@click.option("--most", type=click.IntRange(1), default=20, show_default=True, help="Shapes shown.")
@click.option(
    "--label",
    "meanings",
    multiple=True,
    metavar="NUMBER=MEANING",
    help="What a shape means: form (its option is chosen), both, neither or refusal.",
)
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder of the language that the labelled shapes are added to.",
)
@as_json
def learn(run: str, most: int, meanings: tuple[str, ...], into: Path | None, as_json: bool) -> None:
    """Show the most frequent shapes of answers that no rule read; add those that you label."""
    from ..api.check.unread_answers import add_shapes, unread_shapes
    from ..errors import UsageError

    shapes = unread_shapes(run, most)
    labelled = {}
    for meaning in meanings:
        number, _, label = meaning.partition("=")
        if not number.isdecimal() or into is None:
            raise UsageError("Type for instance: --label 1=form --into my-audit/languages/de")
        labelled[int(number)] = label
    if into is not None and labelled:
        for path in add_shapes(into, shapes, labelled):
            click.echo(path)
    elif as_json:
        click.echo(json.dumps([shape._asdict() for shape in shapes], ensure_ascii=False, indent=2))
    else:
        for place, shape in enumerate(shapes, 1):
            click.echo(f"{place:3} {shape.number:6}  {shape.text}")
        click.echo("No answer is unread." if not shapes else "To add one: --label 1=form --into …")
