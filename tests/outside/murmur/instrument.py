"""`voice`: a text that ends in an exclamation mark is loud, any other quiet."""

from collections.abc import Mapping

from tiltmeter.instruments import Instrument
from tiltmeter.protocol import InstrumentSpec
from tiltmeter.records import Answered, Steps


class Voice(Instrument):
    """Whether a text is loud."""

    kind, version = "voice", "1"

    @classmethod
    def values(cls, spec: InstrumentSpec) -> Mapping[str, tuple[str, ...]]:
        return {spec.attribute: ("loud", "quiet")}

    def example(self, value: str, language: str) -> str:
        return "Hear this!" if value == "loud" else "So it is."

    def steps(self, item: Answered) -> Steps:
        yield from ()
        return [self.label(item, "loud" if item.output.text.endswith("!") else "quiet")]
