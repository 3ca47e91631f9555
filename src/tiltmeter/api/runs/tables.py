"""Tables of rows × columns and figure files of a run, as papers print them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import UsageError
from ...protocol import Protocol
from ...protocol.paper_tables import TableLayout
from ...protocol.source.filled import filled
from ...records import Estimate
from ...system.writing import file_stem
from ..options.table_options import TableOptions

if TYPE_CHECKING:  # import numpy and scipy, which a run that only asks must not pay for
    from ...report.render.notebook import Drawing
    from ...report.tables.cross_tables import CrossTable

SUFFIXES = (".svg", ".png", ".pdf")
OF_CELLS = ("show", "percent", "decimals")  # options of tables alone


def layout_of(measures: Sequence[str], options: TableOptions) -> TableLayout:
    """Makes the layout of a table from the options."""
    return filled(TableLayout, options, measures=tuple(measures))


def tables(
    protocol: Protocol,
    estimates: Sequence[Estimate],
    measures: Sequence[str],
    variant: str,
    options: TableOptions,
) -> list[CrossTable]:
    """Makes a table of the given measures. Without a measure: the tables that the variant declares;
    with the name of a declared table ("Figure 6"): only this table; if none is declared, tables of
    the headlines. Raises UsageError if there is nothing to show.
    """
    from ...report.tables import cross_tables

    present = {estimate.measure for estimate in estimates}
    is_table_name = len(measures) == 1 and measures[0] not in present
    show = tuple(options.get("show") or ())
    name = measures[0] if is_table_name else ""
    declared = list(cross_tables.declared(protocol, estimates, variant, name, show))
    if measures and not (is_table_name and declared):
        return cross_tables.cross_tables(protocol, estimates, layout_of(measures, options))
    if any(value for option, value in options.items() if option != "show" or not declared):
        raise UsageError("Name the measure of the table: tiltmeter table RUN MEASURE")
    declared = declared or _headlines(protocol, estimates)
    if not declared:
        keys = [name for name, other in protocol.variants.items() if other.tables]
        hint = f", or one of a paper: --variant {keys[0]}" if keys and variant not in keys else ""
        raise UsageError(f"Name a measure: tiltmeter table RUN MEASURE{hint}")
    return declared


def _headlines(protocol: Protocol, estimates: Sequence[Estimate]) -> list[CrossTable]:
    """Makes one table per headline measure that has estimates."""
    from ...report.tables import cross_tables

    measures = {estimate.measure for estimate in estimates}
    return [
        cross_tables.cross_table(protocol, estimates, layout_of((spec.name,), {}))
        for spec in protocol.measures
        if spec.headline and spec.name in measures
    ]


def drawings(
    protocol: Protocol,
    estimates: Sequence[Estimate],
    measures: Sequence[str],
    variant: str,
    options: TableOptions,
) -> list[Drawing]:
    """Draws the figures of the given measures; or a table, if the options lay out a table or name a
    declared table; without a measure, all figures and tables.
    """
    from ...report.render import notebook

    typed, plain = layout_of(measures, options), layout_of(measures, {})
    ignored = [name for name in OF_CELLS if getattr(typed, name) != getattr(plain, name)]
    if ignored:
        raise UsageError(
            f"--{ignored[0]} is about the text of cells, which a figure has none of. Leave it out, "
            "or type: tiltmeter table RUN MEASURE"
        )
    present = {estimate.measure for estimate in estimates} | {notebook.OUTCOMES}
    if any(options.values()) or not present.issuperset(measures):
        tables_drawn = tables(protocol, estimates, measures, variant, options)
        return notebook.table_drawings(protocol, estimates, tables_drawn)
    if measures:
        return [
            drawing for name in measures for drawing in notebook.drawings(protocol, estimates, name)
        ]
    declared = protocol.variants[variant].tables
    tables_drawn = tables(protocol, estimates, (), variant, options) if declared else []
    return [
        *notebook.table_drawings(protocol, estimates, tables_drawn),
        *notebook.drawings(protocol, estimates),
    ]


def word_histogram(protocol: Protocol, column: str) -> Drawing:
    """Draws a histogram of the number of words in the texts of a column of the design."""
    from ...protocol import histogram
    from ...report.figures import histogram as drawn
    from ...report.render import notebook

    counts = histogram.word_counts(protocol, column)
    return notebook.standalone("words", drawn.histogram(counts, column))


def save_figures(drawings: Sequence[Drawing], target: Path, suffix: str = "") -> list[Path]:
    """Writes figures to a file (further figures with -2, … before its ending) or, if the target has
    no ending, into a folder, named after their measures. Returns the paths.
    """
    if target.suffix and target.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{target.name}: give the file one of the endings {', '.join(SUFFIXES)}")
    counts: dict[str, int] = {}
    paths = []
    for drawing in drawings:
        stem = target.stem if target.suffix else file_stem(drawing.measure)
        number = counts[stem] = counts.get(stem, 0) + 1
        name = f"{stem}{f'-{number}' if number > 1 else ''}{target.suffix or suffix or '.svg'}"
        path = (target.parent if target.suffix else target) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        paths.append(drawing.save(path))
    return paths
