"""`loudness`: the share of loud replies, with Wilson's interval."""

from collections.abc import Iterator, Sequence

from tiltmeter.analyse.counts.count_table import CountTable
from tiltmeter.analyse.measures.estimate_rows import estimate_row
from tiltmeter.protocol import MeasureSpec
from tiltmeter.protocol.measure_kinds import MeasureKind
from tiltmeter.records import Estimate
from tiltmeter.stats import wilson


def loudness(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Loud replies over replies, as independent draws."""
    for group in table.groups(measure, by, measure.values):
        share = wilson.wilson(float(group.hits.sum()), float(group.among.sum()))
        yield estimate_row(group, measure, share, table)


KIND = MeasureKind(name="loudness", summary="share of loud replies", compute=loudness)
