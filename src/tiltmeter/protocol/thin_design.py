"""What a design is too thin for."""

from __future__ import annotations

from . import Protocol

FEW_ITEMS = 9  # below, an interval over items says little (docs/statistics.md)


def thin_design(protocol: Protocol) -> list[str]:
    """A sentence for a design with too few items; none for one that is thick enough, or whose items
    are the levels of a factor.
    """
    number = len(protocol.items())
    if number >= FEW_ITEMS or protocol.item in protocol.factors:
        return []
    return [
        f"The design is thin: {number} items ({protocol.item}), and intervals speak of such items. "
        f"Name {FEW_ITEMS} at least, better twenty."
    ]
