"""Figures: functions over estimates that any protocol uses, one file per kind of drawing.

plots     draws points with their intervals: one per line, joined in a line, or in a panel per model
          (small multiples)
forest    builds a plot by group and stratum, on a linear or logarithmic axis, maybe with a band
dumbbell  builds a plot with the levels of a factor joined in each row
dots      a dot per item, in a strip per level of a factor
stacked   the share of every outcome, non-answers included
heat      rows × columns × value with n
histogram the number of texts of a design by their number of words
timeline  headline numbers over the runs of a history; of two runs as arrows

A measure names its drawing (`figure` in the protocol file); without a name it has a forest plot if
it is a headline or a contrast. Colours are after Okabe and Ito (2008), Color Universal Design;
templates/style.css defines them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from ...protocol import MeasureSpec
from ...protocol.design.cue_words import word_measures
from ...protocol.design.tables import SEVERAL
from ..page_model.audits import Audit
from ..page_model.figures import Dots, Figure, Heat, Histogram, Plot, Stacked
from . import (
    dots,
    dumbbell,
    forest,
    heat,
    heat_drawing,
    histogram,
    plots,
    stacked,
    timeline,
)
from .first import titled

Build = Callable[[Audit, MeasureSpec, str], Iterator[Figure]]
BUILDS: dict[str, Build] = {
    "dots": dots.build,
    "dumbbell": dumbbell.build,
    "forest": forest.build,
    "heat": heat.build,
    "stacked": stacked.build,
}


OPEN = 1  # figures of a section; those that come later are folded


def figures(audit: Audit, prefix: str) -> Iterator[Figure]:
    """Yields a variant's figures: of each measure, then of all outcomes; later figures folded."""
    place = 0
    for figure in _all(audit, prefix):
        place += not figure.folded
        yield titled(audit, {}, replace(figure, folded=True) if place > OPEN else figure)


def _all(audit: Audit, prefix: str) -> Iterator[Figure]:
    for spec in audit.protocol.measures:
        if audit.of(spec.name) and (spec.figure != "forest" or spec.headline or spec.contrast):
            for name in spec.figure.split(SEVERAL):
                yield from BUILDS[name](audit, spec, prefix)
    for spec in word_measures(audit.protocol):
        if audit.of(spec.name):
            yield from forest.build(audit, spec, prefix)
    yield from stacked.outcomes(audit, prefix)


DRAWERS: dict[type[Figure], Callable[..., str]] = {
    Plot: plots.draw,
    Dots: dots.draw,
    Stacked: stacked.draw,
    Heat: heat_drawing.draw,
    Histogram: histogram.draw,
    timeline.Timeline: timeline.draw,
    timeline.Arrows: timeline.draw_arrows,
}


def draw(figure: Figure, narrow: bool = False) -> str:
    """Draws a figure as SVG, in the wide or the narrow layout."""
    return DRAWERS[type(figure)](figure, narrow)
