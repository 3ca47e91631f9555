"""A run in a notebook: its figures and a short summary. Foreign text is escaped and made visible.

A figure is a separate picture (a data URL), so that its styles and the notebook's do not mix.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from ...analyse.claims.verdicts import Verdict
from ...analyse.words.first_sentence.situations import first_sentence
from ...display.document import Block, Document
from ...errors import UnknownName
from ...protocol import Protocol
from ...protocol.design.tables import SEVERAL
from ...records import Estimate
from .. import figures
from ..figures import files, of_tables
from ..figures.svg import without_links
from ..page_model import audits, sanitize
from ..page_model.figures import Figure
from ..tables.cross_tables import CrossTable

OUTCOMES = "outcomes"  # names the figure of every outcome, which is of no measure
# whatever the width of the cell
_ALONE = "svg { background: var(--paper); } svg.wide { display: block !important; }"


@dataclass(frozen=True, slots=True)
class Drawing:
    """One figure. text: a description for people who cannot see it; svg: the file's content."""

    measure: str
    title: str
    text: str
    svg: str

    def __repr__(self) -> str:
        return f"<Drawing {self.measure}: {self.title}>"

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        data = base64.b64encode(self.svg.encode("utf-8", "backslashreplace")).decode()
        return (
            f'<figure style="margin: 0"><figcaption><b>{escape(self.title)}</b></figcaption>'
            f'<img alt="{escape(self.text)}" style="width: 100%; max-width: 58rem" '
            f'src="data:image/svg+xml;base64,{data}">'
            "</figure>"
        )

    def save(self, path: Path | str) -> Path:
        """Writes the figure in the format of the path's ending: .svg; or .png or .pdf, by an
        installed browser (Chromium, Chrome, Edge). Raises UsageError for other endings or without a
        browser.
        """
        return files.write(self.svg, Path(path))


class Drawings(list[Drawing]):
    """Several figures, shown in a notebook one below the other."""

    def _repr_html_(self) -> str:
        return "".join(one._repr_html_() for one in self)


def drawings(
    protocol: Protocol, estimates: Sequence[Estimate], measure: str | None = None
) -> Drawings:
    """Draws all figures of a variant, or of one measure. Raises UnknownName without any."""
    all_drawings = list(_drawings(_audit(protocol, estimates)))
    chosen = Drawings(one for one in all_drawings if measure in (None, one.measure))
    if not chosen:
        raise UnknownName(
            "figure", measure or "", dict.fromkeys(one.measure for one in all_drawings)
        )
    return chosen


def drawing(protocol: Protocol, estimates: Sequence[Estimate], measure: str) -> Drawing:
    """Draws the first figure of a measure, or of "outcomes". Raises UnknownName without any."""
    return drawings(protocol, estimates, measure)[0]


def summary(
    protocol: Protocol,
    verdicts: Sequence[Verdict],
    counts: Mapping[str, int],
    notes: Sequence[str],
) -> str:
    """Writes a run in a few lines of HTML: its question, its size, its verdicts."""
    sentence = first_sentence([verdict.facts for verdict in verdicts]).text if verdicts else ""
    number = ", ".join(f"{number:,} {name}" for name, number in counts.items())
    blocks = [
        Block(lines=[sentence], strong=True),
        Block(lines=[protocol.question, number, *notes]),
        Block(heading="Verdicts", lines=[verdict.sentence for verdict in verdicts]),
    ]
    return Document(protocol.title, blocks).html()


def _audit(protocol: Protocol, estimates: Sequence[Estimate]) -> audits.Audit:
    return audits.audit(
        protocol, estimates, audits.number_signatures(estimate.signature for estimate in estimates)
    )


def _drawings(audit: audits.Audit) -> Iterator[Drawing]:
    figures_of = [
        (spec.name, figure)
        for spec in audit.protocol.measures
        if audit.of(spec.name)
        for name in spec.figure.split(SEVERAL)
        for figure in figures.BUILDS[name](audit, spec, "figure")
    ]
    figures_of += [(OUTCOMES, figure) for figure in figures.stacked.outcomes(audit, "figure")]
    for measure, figure in figures_of:
        yield standalone(measure, figure)


def table_drawings(
    protocol: Protocol, estimates: Sequence[Estimate], tables: Sequence[CrossTable]
) -> list[Drawing]:
    """Draws tables of rows × columns; a drawing's name is the table's title up to the colon."""
    read = _audit(protocol, estimates)
    return [
        standalone(audits.slug(table.title.partition(":")[0]), of_tables.figure(read, table))
        for table in tables
    ]


def standalone(measure: str, figure: Figure) -> Drawing:
    """Returns a figure as an SVG file that includes the styles of the report's page."""
    sheet = Path(figures.__file__).parents[1] / "templates" / "style.css"
    style = escape(f"{sheet.read_text('utf-8')}\n{_ALONE}", quote=False)
    visible = sanitize.all_visible(figure)
    svg = re.sub(
        r"^(<svg[^>]*>)",
        lambda head: f"{head[1]}<style>{style}</style>",
        without_links(figures.draw(visible)),
        count=1,
    )
    return Drawing(measure, visible.title, visible.text, svg)
