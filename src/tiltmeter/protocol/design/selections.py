"""The shares of a protocol that are selection rates, and their categories, as audits of employment
tools tabulate them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ProtocolError
from ..names import refuse_unknown
from ..source.source_lines import SourceLocation

if TYPE_CHECKING:
    from .. import Protocol


def check_selections(protocol: Protocol, place: SourceLocation) -> None:
    """Refuses a selection that is not of a share, or not by its groupings or the values it
    counts.
    """
    measures = {measure.name: measure for measure in protocol.measures}
    for number, selection in enumerate(protocol.selections):
        at = place.at("selections", number)
        refuse_unknown("measure", selection["measure"], measures, at)
        measure = measures[selection["measure"]]
        if measure.kind != "share" or ("by" in selection) == ("groups" in selection):
            raise ProtocolError(
                f"{at}: a selection is of a measure of the kind share, and has either `by` or "
                "`groups`. Leave one out."
            )
        grouped = dict.fromkeys(factor for by in measure.by for factor in by)
        for factor in selection.get("by", ()):
            refuse_unknown(f"factor in `by` of {measure.name}", factor, grouped, at)
        for values in selection.get("groups", {}).values():
            for value in values:
                refuse_unknown(f"value of {measure.attribute}", value, measure.among, at)
