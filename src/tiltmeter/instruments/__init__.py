"""What turns an output into labels: a parser, a rule, a judge, a panel, a human.

An instrument is pure. It is a generator that yields requests, is sent their replies, and returns labels, at least one
for each output; a parser returns at once. The engine answers the requests, so an instrument never sees a connection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ..protocol import InstrumentSpec
from ..records import Answered, Label, Steps, Trial, content_id


class Instrument:
    """Base of all instruments. A subclass sets `kind` and `version` and writes `steps`.

    The annotator is instrument + version + a hash of its settings and of the model behind it, so a changed prompt, list
    or judge is another annotator and labels again.
    """

    kind: ClassVar[str]
    version: ClassVar[str]
    second: ClassVar[str] = ""  # the kind of instrument in which a judge labels the same outputs
    judges: ClassVar[tuple[str, ...]] = ()  # parts that judges play in it, in the order of --judge; one alone plays all
    reads_probabilities: ClassVar[bool] = False  # takes outputs that are probabilities of the next token
    example: ClassVar[str] = "An answer."  # a text that it asks its judge about, for an estimate of what that costs

    def __init__(self, spec: InstrumentSpec, judge: str = "") -> None:
        self.name, self.attribute, self.settings, self.judge = spec.name, spec.attribute, spec.settings, judge
        self.attributes: tuple[str, ...] = (
            spec.attribute,
        )  # all that it labels: what is no answer has a label of each
        mark = content_id(self.kind, self.version, self.settings, judge, self.wording())[:8]
        self.annotator = f"{self.name}/{judge or self.version}@{mark}"

    def wording(self) -> Mapping[str, Any]:
        """Prompts and lists of the instrument's own that a label depends on (part of the annotator's hash)."""
        return {}

    def calls(self, trial: Trial, exact: bool) -> Mapping[str, tuple[int, int]]:
        """Calls about the output of a trial, by model: where every reply can be used and settles it, and the most."""
        return {self.judge: (1, 1)} if self.judge and not exact else {}

    def steps(self, item: Answered) -> Steps:
        """Yields requests, is sent replies, returns labels."""
        raise NotImplementedError

    def label(self, item: Answered, value: str, position: int = 0, weight: float = 1.0, attribute: str = "") -> Label:
        return Label(item.trial.id, self.annotator, attribute or self.attribute, value, position, weight)
