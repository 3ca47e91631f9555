"""tiltmeter show PROTOCOL"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..display.screen import Part, as_text, of_text, part
from ..errors import UsageError
from ..report.tables.cross_table_formats import FORMATS
from .computed import computed_once
from .fitting import echo_parts
from .options import full_text as full

if TYPE_CHECKING:  # cached output must not pay for these imports
    from ..protocol import Protocol
    from ..protocol.design.tables import Row

FILE = ".toml"  # ends a protocol that is named by its path
BAR = 50  # characters of the longest bar


@click.command()
@click.argument("protocol")
@full
@click.option(
    "--prompts",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="How many prompts to print.",
)
@click.option(
    "--words", metavar="COLUMN", help="A histogram of the words in the texts of a column."
)
@click.option("--by", metavar="COLUMN[,COLUMN]", help="Count the items of each level, with %.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", *FORMATS]),
    default="text",
    show_default=True,
    help="The format of --by.",
)
@click.option(
    "--figure",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A file for --by or --words as a figure: .svg, .png or .pdf.",
)
def command(
    protocol: str,
    full: bool,
    prompts: int,
    words: str | None,
    by: str | None,
    format_: str,
    figure: Path | None,
) -> None:
    """Show a protocol: its measures, sources and departures. With --by: a table of its items."""
    from .. import registry

    if words:
        _print_words(_load(protocol), words, figure)
        return
    if by:
        _print_composition(_load(protocol), by.split(","), format_, figure)
        return
    if figure or format_ != "text":
        raise UsageError(
            "--format needs --by, and --figure needs --by or --words. Type for instance: "
            "--by language"
        )
    if protocol.endswith(FILE) or registry.is_sourced(protocol):  # their files may change
        echo_parts(_description(protocol, prompts), full)
        return
    options = ("show", protocol, str(prompts))
    text = computed_once(options, lambda: as_text(_description(protocol, prompts)))
    echo_parts(of_text(text), full)


def _load(name: str) -> Protocol:
    from .. import registry

    return registry.protocol(name)


def _description(name: str, prompts: int) -> list[Part]:
    """Describes a protocol in the parts that the command prints without further options."""
    from .. import registry
    from ..protocol.source.copies import MissingCopy
    from ..stages.planning import plan

    release = registry.source(name)
    data = _data(release.lines() if release else ())
    try:
        declared = _load(name)
    except MissingCopy as error:
        return [
            part((f"{name} · {error.source.title}",), ()),
            data,
            part(("", str(error)), ()),
        ]
    default_cells = plan.cells(declared, plan.Choices(("-",)))
    head = (f"{declared.name} {declared.version} · {declared.title}", "", declared.question, "")
    cited = (f"From: {declared.citation}", "") if declared.citation else ()
    table, design = list(_crosstab(declared)), list(_design(declared, default_cells))
    measures = [f"  {name}: {text}" for name, text in _measures(declared)]
    names = ", ".join(name for name, _ in _measures(declared))
    prompt_lines = list(_prompts(declared, _in_pairs(declared, default_cells, prompts)))
    return [
        part(head, (*head[:1], *head[2:3])),
        part(cited, cited[:1], worth=2),
        part(design, design[:1], "modes" if design[1:] else "", 3),
        part(table, (), "items by factor" if table else "", 1),
        part(["", "Measures:", *measures], (f"Measures: {names}",), "measures", 4),
        data,
        part(
            prompt_lines, (f"Prompts, for instance: {prompt_lines[-1].strip()}",), "more prompts", 5
        ),
        *_limits(declared),
        part(("", f"Data {declared.digest}"), (f"Data {declared.digest}",)),
    ]


def _design(declared: Protocol, default_cells: Sequence[Row]) -> Iterator[str]:
    """Yields the numbers of prompts and items, and the modes."""
    from ..protocol.design import cue_words

    more = (
        f" ({len(declared.cells)} with all that --where can ask)"
        if len(declared.cells) > len(default_cells)
        else ""
    )
    yield (
        f"Design: {len(default_cells)} prompts{more}, {declared.counted_items}, "
        f"factors {', '.join(declared.factors)}"
    )
    yield from cue_words.sentences(declared)
    for name, mode in declared.modes.items():
        how = (
            "read from probabilities"
            if mode.logprobs
            else f"{mode.samples} drawn per prompt, temperature {mode.temperature:g}"
        )
        begins = dict.fromkeys(declared.answer_start(mode, cell) for cell in declared.cells)
        begun = " or ".join(repr(text) for text in begins if text)
        yield f"  mode {name}: {how}" + (f", answer begun as {begun}" if begun else "")


def _measures(declared: Protocol) -> Iterator[tuple[str, str]]:
    """Yields the name and description of each measure."""
    from ..protocol.measures import measure_kind

    for measure in declared.measures:
        yield measure.name, measure.text or measure_kind(measure.kind).summary


def _in_pairs(declared: Protocol, cells: Sequence[Row], most: int) -> list[Row]:
    """Returns the first cells, each with the next that differs in little but the cue."""
    from ..protocol.design.contrasts import contrast_factor

    factor, left = contrast_factor(declared), list(cells)
    chosen: list[Row] = []
    others = [name for name in (*declared.factors, declared.item) if name != factor]
    while left and len(chosen) < most:
        cell = left.pop(0)
        chosen.append(cell)
        partners = [
            (sum(cell[name] != other[name] for name in others), at)
            for at, other in enumerate(left)
            if factor
            and other[factor] != cell[factor]
            and other[declared.item] == cell[declared.item]
        ]
        if partners:
            chosen.append(left.pop(min(partners)[1]))
    return chosen[:most]


def _prompts(declared: Protocol, cells: Sequence[Row]) -> Iterator[str]:
    """Yields the system prompt and the turns before a prompt, and some of the prompts."""
    if declared.system:
        yield f"\nSystem prompt: {declared.system}"
    for role, text, _ in declared.turns:
        yield f"  before the prompt, {role}: {text}"
    yield "\nPrompts, for instance:"
    for cell in cells:
        yield f"  {declared.prompt_text(cell)}"


def _limits(declared: Protocol) -> Iterator[Part]:
    """Yields the limits and departures of a protocol."""
    from ..protocol.design import prompt_pairs
    from ..protocol.design.thin_design import lost_letters, thin_design

    differences = prompt_pairs.prompt_differences(declared)
    yield _list("Held against each other", list(map(prompt_pairs.sentence, differences)), 2)
    yield _list(
        "Before you rely on it",
        [*thin_design(declared), *lost_letters(declared), *declared.notes],
        6,
    )
    yield _list("Departs from the paper", declared.departures, 1)
    variants = declared.variants.items()
    yield _list(
        "Variants", [f"{name}: {measure.text}" for name, measure in variants if measure.text], 1
    )
    yield _list("Limits", declared.limits, 3)


def _print_composition(
    declared: Protocol, by: list[str], format_: str, figure: Path | None
) -> None:
    """Prints a table of the items by one or two columns; writes a figure if a path is given."""
    from rich.console import Console

    from ..report.render import notebook, terminal
    from ..report.tables import composition, cross_table_formats

    if len(by) > 2:
        raise UsageError("--by takes one or two columns, such as --by language,group.")
    table = composition.table(declared, by)
    if format_ == "text":
        terminal.print_one(cross_table_formats.terminal_table(table), Console())
    else:
        click.echo(FORMATS[format_](table), nl=False)
    if figure:
        drawing = notebook.standalone("composition", composition.figure(declared, by))
        click.echo(drawing.save(figure))


def _print_words(declared: Protocol, column: str, figure: Path | None) -> None:
    """Prints a histogram of the number of words per text; writes a figure if a path is given."""
    from ..protocol import histogram

    lengths = histogram.word_counts(declared, column)
    click.echo(f"Words of {column}: {len(lengths.counts)} texts, {lengths.summary}")
    for first, last, number in lengths.bins:
        bar = "█" * round(number * BAR / max(count for _, _, count in lengths.bins))
        click.echo(f"{first:>5} to {last:<5} {number:>5}  {bar}".rstrip())
    if figure:
        from ..api.runs.tables import word_histogram

        click.echo(word_histogram(declared, column).save(figure))


def _list(title: str, lines: Sequence[str], worth: int, brief: Sequence[str] = ()) -> Part:
    if not lines:
        return part(())
    block = ("", f"{title}:", *(f"  - {line}" for line in lines))
    return part(block, brief, f"{title[0].lower()}{title[1:]}: {len(lines)}", worth)


def _data(lines: Sequence[str]) -> Part:
    """Lists the sources of a protocol's published data; in its brief form, only the name."""
    brief = (f"Published data: {lines[0].partition(':')[0]} (--full says where)",) if lines else ()
    return _list("Published data", lines, 1, brief)


def _crosstab(declared: Protocol) -> Iterator[str]:
    from ..protocol.design.crosstab import crosstab

    table = crosstab(declared)
    if table:
        widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
        yield ""
        for row in table:
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            yield "  " + "  ".join(cells).rstrip()
