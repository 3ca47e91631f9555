"""Figures: functions over estimates that any protocol uses, one file a drawing.

forest    a point with its interval, by group and stratum, on a linear or logarithmic axis, with a
          declared band
dots      one for each item, in a strip for each level of a factor
dumbbell  levels of a factor joined in each row
panels    the same, a panel a model (small multiples)
stacked   the share of every outcome, no-answers included
heat      rows × columns × value with n
histogram how many texts of a design have how many words
timeline  headline numbers over the runs of a history; of two runs as arrows

A measure names its drawing (`figure` in the protocol file); without a name it has a forest plot if
it is a headline or a contrast. Colours are after Okabe and Ito (2008), Color Universal Design;
templates/style.css says how.
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
    panels,
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
    """The figures of one variant: each measure's, then every outcome."""
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


def draw(figure: Figure, narrow: bool = False) -> str:
    """A figure as an SVG element, in the wide or the narrow layout."""
    if isinstance(figure, Plot) and figure.panels and not narrow:
        return panels.draw(figure)
    if isinstance(figure, Plot):
        return dumbbell.draw(figure, narrow) if figure.joined else forest.draw(figure, narrow)
    if isinstance(figure, Dots):
        return dots.draw(figure, narrow)
    if isinstance(figure, Stacked):
        return stacked.draw(figure, narrow)
    if isinstance(figure, Heat):
        return heat_drawing.draw(figure, narrow)
    if isinstance(figure, Histogram):
        return histogram.draw(figure, narrow)
    if isinstance(figure, timeline.Timeline):
        return timeline.draw(figure, narrow)
    if isinstance(figure, timeline.Arrows):
        return timeline.draw_arrows(figure, narrow)
    raise TypeError(f"no drawing for {type(figure).__name__}")
