"""tiltmeter show PROTOCOL"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from .. import registry
from ..errors import UsageError
from ..protocol import Protocol, crosstab, histogram, prompt_pairs
from ..protocol.tables import Row
from ..protocol.thin_design import thin_design
from ..stages import plan

BAR = 50  # characters of the longest bar


@click.command()
@click.argument("protocol")
@click.option(
    "--prompts",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="How many prompts to print.",
)
@click.option("--words", metavar="COLUMN", help="How many words the texts of a column have.")
@click.option(
    "--by", metavar="COLUMN[,COLUMN]", help="How many items there are of each level, with %."
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "md", "latex", "csv"]),
    default="text",
    show_default=True,
    help="How --by is written.",
)
@click.option(
    "--figure",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A file for --by or --words as a figure: .svg, .png or .pdf.",
)
def command(
    protocol: str,
    prompts: int,
    words: str | None,
    by: str | None,
    format_: str,
    figure: Path | None,
) -> None:
    """What a protocol measures, cites and departs from; with --by, of what items it is made."""
    declared = registry.protocol(protocol)
    if words:
        _print_words(declared, words, figure)
        return
    if by:
        _print_composition(declared, by.split(","), format_, figure)
        return
    if figure or format_ != "text":
        raise UsageError(
            "--format is of --by, --figure of --by and --words. Type for instance: --by language"
        )
    click.echo(f"{declared.name} {declared.version} · {declared.title}\n\n{declared.question}\n")
    if declared.citation:
        click.echo(f"From: {declared.citation}\n")
    default_cells = plan.cells(declared, plan.Choices(("-",)))
    _print_design(declared, default_cells)
    _print_measures(declared)
    _print_prompts(declared, default_cells[:prompts])
    _print_limits(declared)
    click.echo(f"\nData {declared.digest}")


def _print_design(declared: Protocol, default_cells: Sequence[Row]) -> None:
    """How many prompts and items, how answers are obtained, and the prompts by two factors."""
    more = (
        f" ({len(declared.cells)} with all that --where can ask)"
        if len(declared.cells) > len(default_cells)
        else ""
    )
    click.echo(
        f"Design: {len(default_cells)} prompts{more}, {len(declared.items())} items "
        f"({declared.item}), factors {', '.join(declared.factors)}"
    )
    for name, mode in declared.modes.items():
        how = (
            "read from probabilities"
            if mode.logprobs
            else f"{mode.samples} drawn a prompt, temperature {mode.temperature:g}"
        )
        begins = dict.fromkeys(declared.answer_start(mode, cell) for cell in declared.cells)
        begun = " or ".join(repr(text) for text in begins if text)
        click.echo(f"  mode {name}: {how}" + (f", answer begun as {begun}" if begun else ""))
    _print_crosstab(declared)


def _print_measures(declared: Protocol) -> None:
    click.echo("\nMeasures:")
    for measure in declared.measures:
        click.echo(f"  {measure.name}: {measure.text or registry.measure(measure.kind).summary}")


def _print_prompts(declared: Protocol, cells: Sequence[Row]) -> None:
    """What stands before every prompt, and some of the prompts."""
    if declared.system:
        click.echo(f"\nSystem prompt: {declared.system}")
    for role, text, _ in declared.turns:
        click.echo(f"  before the prompt, {role}: {text}")
    click.echo("\nPrompts, for instance:")
    for cell in cells:
        click.echo(f"  {declared.prompt_text(cell)}")


def _print_limits(declared: Protocol) -> None:
    """What to know before it is relied on."""
    differences = prompt_pairs.prompt_differences(declared)
    _print_list("Held against each other", list(map(prompt_pairs.sentence, differences)))
    _print_list("Before you rely on it", [*thin_design(declared), *declared.notes])
    _print_list("Departs from the paper", declared.departures)
    variants = declared.variants.items()
    _print_list("Variants", [f"{name}: {one.text}" for name, one in variants if one.text])
    _print_list("Limits", declared.limits)


def _print_composition(
    declared: Protocol, by: list[str], format_: str, figure: Path | None
) -> None:
    """Items by one column or two, as a table and as a figure."""
    from rich.console import Console

    from ..report import composition, cross_table_formats, notebook, terminal

    if len(by) > 2:
        raise UsageError("--by takes one column or two, with a comma between them.")
    table = composition.table(declared, by)
    if format_ == "text":
        terminal.print_one(cross_table_formats.terminal_table(table), Console())
    else:
        click.echo(cross_table_formats.FORMATS[format_](table), nl=False)
    if figure:
        drawn = notebook.standalone("composition", composition.figure(declared, by))
        click.echo(drawn.save(figure))


def _print_words(declared: Protocol, column: str, figure: Path | None) -> None:
    """A histogram of the number of words of each item's text, in characters and as a figure."""
    found = histogram.word_counts(declared, column)
    click.echo(f"Words of {column}: {len(found.counts)} texts, {found.summary}")
    for first, last, number in found.bins:
        bar = "█" * round(number * BAR / max(count for _, _, count in found.bins))
        click.echo(f"{first:>5} to {last:<5} {number:>5}  {bar}".rstrip())
    if figure:
        from ..api.tables import word_histogram

        click.echo(word_histogram(declared, column).save(figure))


def _print_list(title: str, lines: Sequence[str]) -> None:
    if lines:
        click.echo(f"\n{title}:")
        for line in lines:
            click.echo(f"  - {line}")


def _print_crosstab(declared: Protocol) -> None:
    table = crosstab(declared)
    if table:
        widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
        click.echo("")
        for row in table:
            click.echo(
                "  "
                + "  ".join(
                    cell.ljust(width) for cell, width in zip(row, widths, strict=True)
                ).rstrip()
            )
