"""An instrument and a judge as one: rules label the outputs they are sure of, and the judge is
asked about the rest (`--judge MODEL --judge-for unsure`).

Any instrument can be the first that names a judge class (`second`), marks unsure outputs
(`unsure_settings`, `is_unsure`) and merges a judge's labels into its own (`settle`). Both together
are one annotator, so rates, tables, gold and corrections are of the two together. The calls are the
judge's own: a run in which it then labels everything pays only for the rest.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...protocol import Protocol
from ...records import INVALID, UNRESOLVED, Answered, Steps, Trial, content_id
from .. import Instrument, SecondJudge

NO_ANSWER = (INVALID, UNRESOLVED)  # what a judge's label is that said nothing usable


class Cascade(Instrument):
    """Labels by an instrument, and by its judge where that is unsure.

    check: the same judge about some of what the rules read, if their agreement is counted.
    """

    kind = "cascade"
    version = "1"
    summary = "rules, and a judge where they are unsure"
    check: SecondJudge | None = None

    def __init__(self, first: Instrument, judge: SecondJudge) -> None:
        self.first, self.asked = first, judge
        self.name, self.attribute, self.settings = first.name, first.attribute, first.settings
        self.judge, self.attributes = judge.judge, first.attributes
        mark = content_id(self.kind, self.version, first.annotator, judge.annotator)[:8]
        self.annotator = f"{first.name}/{first.version}+{judge.judge}@{mark}"

    @property
    def needs_end(self) -> bool:
        """True if the rules cannot label a cut answer."""
        return self.first.needs_end

    def check_design(self, protocol: Protocol) -> None:
        """Checks the design as the rules do."""
        self.first.check_design(protocol)

    def reads(self, exact: bool) -> bool:
        """True if the rules label outputs of this mode."""
        return self.first.reads(exact)

    def can_label(self, trial: Trial) -> bool:
        """True if both the rules and the judge can label the output now."""
        return self.first.can_label(trial) and self.asked.can_label(trial)

    def calls(self, trial: Trial, exact: bool) -> Mapping[str, tuple[int, int]]:
        """Returns the calls of the rules, plus the judge's as if asked about every output."""
        asked = self.asked.calls(trial, exact) if self.asked.reads(exact) else {}
        return {**self.first.calls(trial, exact), **asked}

    def different_answers(self, trial: Trial) -> int | None:
        """Returns how many different answers the judge can see, or None."""
        return self.asked.different_answers(trial)

    def steps(self, item: Answered) -> Steps:
        """Labels by the rules, and asks the judge if they are unsure. The rules' own labels stay if
        the judge's reply is unusable.
        """
        labels = yield from self.first.steps(item)
        if self.asked.reads(item.exact) and self.first.is_unsure(labels):
            said = yield from self.asked.steps(item)
            if not any(label.value in NO_ANSWER for label in said):
                labels = self.first.settle(item, labels, said)
        return [label._replace(annotator=self.annotator) for label in labels]
