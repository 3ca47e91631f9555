"""Tables of rows × columns and figure files of a run, as papers have them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import UsageError
from ...protocol import Protocol
from ...protocol.paper_tables import TableLayout
from ...protocol.source.filled import filled
from ...records import Estimate
from ..options.table_options import TableOptions

if TYPE_CHECKING:  # they bring numpy and scipy, which a run that only asks does without
    from ...report.render.notebook import Drawing
    from ...report.tables.cross_tables import CrossTable

SUFFIXES = (".svg", ".png", ".pdf")


def layout_of(measures: Sequence[str], options: TableOptions) -> TableLayout:
    """The layout that the options describe."""
    return filled(TableLayout, options, measures=tuple(measures))


def tables(
    protocol: Protocol,
    estimates: Sequence[Estimate],
    measures: Sequence[str],
    variant: str,
    options: TableOptions,
) -> list[CrossTable]:
    """One table of these measures; without a measure those that the variant declares, or the one
    of a name ("Figure 6"), and where it declares none those of the headlines. UsageError where
    there is nothing to show.
    """
    from ...report.tables import cross_tables

    known = {estimate.measure for estimate in estimates}
    named = len(measures) == 1 and measures[0] not in known
    show = tuple(options.get("show") or ())
    name = measures[0] if named else ""
    found = list(cross_tables.declared(protocol, estimates, variant, name, show))
    if measures and not (named and found):
        return [cross_tables.cross_table(protocol, estimates, layout_of(measures, options))]
    if any(value for option, value in options.items() if option != "show" or not found):
        raise UsageError("Name the measure of the table: tiltmeter table RUN MEASURE")
    found = found or _headlines(protocol, estimates)
    if not found:
        has = [name for name, one in protocol.variants.items() if one.tables]
        hint = f", or one of a paper: --variant {has[0]}" if has and variant not in has else ""
        raise UsageError(f"Name a measure: tiltmeter table RUN MEASURE{hint}")
    return found


def _headlines(protocol: Protocol, estimates: Sequence[Estimate]) -> list[CrossTable]:
    """A table of each headline measure that has estimates."""
    from ...report.tables import cross_tables

    known = {estimate.measure for estimate in estimates}
    return [
        cross_tables.cross_table(protocol, estimates, layout_of((spec.name,), {}))
        for spec in protocol.measures
        if spec.headline and spec.name in known
    ]


def drawings(
    protocol: Protocol,
    estimates: Sequence[Estimate],
    measures: Sequence[str],
    variant: str,
    options: TableOptions,
) -> list[Drawing]:
    """The figures of a measure; of tables where the options lay one out, or a name is that of one
    that the variant declares; without a measure all of both.
    """
    from ...report.render import notebook

    known = {estimate.measure for estimate in estimates} | {notebook.OUTCOMES}
    if any(options.values()) or not known.issuperset(measures):
        found = tables(protocol, estimates, measures, variant, options)
        return notebook.table_drawings(protocol, estimates, found)
    if measures:
        return [one for name in measures for one in notebook.drawings(protocol, estimates, name)]
    own = protocol.variants[variant].tables
    found = tables(protocol, estimates, (), variant, options) if own else []
    return [
        *notebook.table_drawings(protocol, estimates, found),
        *notebook.drawings(protocol, estimates),
    ]


def word_histogram(protocol: Protocol, column: str) -> Drawing:
    """Draws how many texts of a column of the design have how many words."""
    from ...protocol import histogram
    from ...report.figures import histogram as drawn
    from ...report.render import notebook

    counts = histogram.word_counts(protocol, column)
    return notebook.standalone("words", drawn.histogram(counts, column))


def save_figures(drawings: Sequence[Drawing], target: Path, suffix: str = "") -> list[Path]:
    """Writes figures to a file (a second one with -2 before its ending, …), or into a folder by
    the names of their measures where the target has no ending. Returns the paths.
    """
    if target.suffix and target.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{target.name} cannot be written: name a file in {', '.join(SUFFIXES)}")
    seen: dict[str, int] = {}
    paths = []
    for drawing in drawings:
        stem = target.stem if target.suffix else drawing.measure
        number = seen[stem] = seen.get(stem, 0) + 1
        name = f"{stem}{f'-{number}' if number > 1 else ''}{target.suffix or suffix or '.svg'}"
        path = (target.parent if target.suffix else target) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        paths.append(drawing.save(path))
    return paths
