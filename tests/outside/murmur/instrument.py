"""`voice`: a text that ends in an exclamation mark is loud, any other quiet."""

from collections.abc import Mapping, Sequence

from tiltmeter.instruments import Parser
from tiltmeter.protocol import InstrumentSpec
from tiltmeter.records import Answered, Label


class Voice(Parser):
    kind, version, summary = "voice", "1", "whether a text is loud"

    @classmethod
    def values(cls, spec: InstrumentSpec) -> Mapping[str, Sequence[str]]:
        return {spec.attribute: ("loud", "quiet")}

    @classmethod
    def examples(cls, spec: InstrumentSpec, value: str, language: str) -> Sequence[str]:
        return ["Hear this!"] if value == "loud" else ["So it is."]

    def read(self, item: Answered) -> Sequence[Label]:
        return [self.label(item, "loud" if item.output.text.endswith("!") else "quiet")]
