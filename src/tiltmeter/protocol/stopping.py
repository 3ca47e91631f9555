"""The `stop` of a protocol: rules for runs that end early (docs/how-to/stopping.md)."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from ..errors import ProtocolError
from .names import refuse_unknown
from .source.source_lines import SourceLocation

if TYPE_CHECKING:
    from . import MeasureSpec, Protocol

LOOKS = (0.125, 0.25, 0.5, 1.0)  # of all rounds, by default


def check_stop(protocol: Protocol, place: SourceLocation) -> None:
    """Raises ProtocolError for looks that do not rise to 1, weights that do not sum to 1, a wrong
    number of futility bounds (one per look but the last), and unknown measures.
    """
    keys = protocol.stop
    if keys is None:
        return
    looks = keys.get("looks", LOOKS)
    if looks[-1] != 1 or any(a >= b for a, b in pairwise(looks)):
        raise ProtocolError(
            f"{place.at('looks')}: each look must be later than the one before, and the last is "
            "1, the whole run. Write for instance: looks = [0.25, 0.5, 1]"
        )
    if "looks" in keys or "weights" in keys:
        weights = keys.get("weights")
        if weights is not None and (
            len(weights) != len(looks) or not math.isclose(sum(weights), 1, abs_tol=1e-9)
        ):
            raise ProtocolError(
                f"{place.at('weights')}: {len(looks)} weights (one per look) with the sum 1 are "
                f"needed, but these {len(weights)} weights sum to {sum(weights):g}."
            )
    futility = keys.get("futility")
    if futility is not None and len(futility) != len(looks) - 1:
        raise ProtocolError(
            f"{place.at('futility')}: {len(looks) - 1} bounds are needed, one for each look but "
            f"the last; got {len(futility)}. Write 0 for a look that gives nothing up."
        )
    measures = [spec.name for spec in protocol.measures]
    for number, name in enumerate(keys.get("measures", ())):
        refuse_unknown("measure", name, measures, place.at("measures", number))


def stopping_measures(protocol: Protocol) -> list[MeasureSpec]:
    """Returns the measures whose claims stop a run: those named by `stop`, else the headlines."""
    names = (protocol.stop or {}).get("measures", ())
    specs = protocol.measures
    return [spec for spec in specs if (spec.name in names if names else spec.headline)]
