"""Labels by people alone: annotators label, and the label of their majority counts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar

from ..protocol import InstrumentSpec
from ..records import Answered, Steps
from . import Instrument, Settings


class People(Instrument):
    """settings: values = {value: its meaning}. Its labels come from people (gold/majority.py)."""

    kind = "people"
    version = "1"
    summary = "nobody but people: what most of them say"
    needs: ClassVar[tuple[str, ...]] = ("values",)
    settings_schema: ClassVar[Settings] = {
        "values": {
            "type": "object",
            "minProperties": 2,
            "additionalProperties": {"type": "string"},
            "description": "The values that people choose between, and what each means.",
        },
    }

    @classmethod
    def values(cls, spec: InstrumentSpec) -> Mapping[str, Collection[str]]:
        """Returns {attribute: the values listed in the setting `values`}."""
        return {spec.attribute: list(spec.settings["values"])}

    def reads(self, exact: bool) -> bool:
        """Returns False: people label, on the page that `annotate` opens."""
        return False

    def steps(self, item: Answered) -> Steps:
        """Raises NotImplementedError; never called, as people label."""
        raise NotImplementedError
