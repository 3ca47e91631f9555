"""An instrument combined with a judge: rules label the outputs of which they are sure, and the
judge is asked about the rest (`--judge MODEL --judge-for unsure`).

An instrument can be used if it names a judge class (`second`), marks unsure outputs
(`unsure_settings`, `is_unsure`) and merges a judge's labels into its own (`settle`). Both together
are one annotator, so rates, tables, gold and corrections concern the combination. The calls are the
judge's own: if the judge labels everything in a later run, only the remaining calls are paid for.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...protocol import Protocol
from ...records import INVALID, UNRESOLVED, Answered, Steps, Trial, content_id
from .. import Instrument, SecondJudge

NO_ANSWER = (INVALID, UNRESOLVED)  # what a judge's label is that said nothing usable


class Cascade(Instrument):
    """An instrument that labels by rules, and by a judge if the rules are unsure.

    check: the same judge for a sample of the outputs that the rules labelled, to count how often
    they agree; or None."""

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
        """True if the rules cannot label an answer that was cut off."""
        return self.first.needs_end

    def check_design(self, protocol: Protocol) -> None:
        """Checks the design by the rules' own `check_design`."""
        self.first.check_design(protocol)

    def reads(self, exact: bool) -> bool:
        """True if the rules label outputs of this mode."""
        return self.first.reads(exact)

    def can_label(self, trial: Trial) -> bool:
        """True if both the rules and the judge can label the output now."""
        return self.first.can_label(trial) and self.asked.can_label(trial)

    def calls(self, trial: Trial, exact: bool) -> Mapping[str, tuple[int, int]]:
        """Returns the rules' calls, plus the calls of a judge that is asked about every output."""
        asked = self.asked.calls(trial, exact) if self.asked.reads(exact) else {}
        return {**self.first.calls(trial, exact), **asked}

    def different_answers(self, trial: Trial) -> int | None:
        """Returns the number of distinct answers that the judge can be asked about, or None."""
        return self.asked.different_answers(trial)

    def steps(self, item: Answered) -> Steps:
        """Labels by the rules, and asks the judge if the rules are unsure. If the judge's reply is
        unusable, the labels of the rules stay.
        """
        labels = yield from self.first.steps(item)
        if self.asked.reads(item.exact) and self.first.is_unsure(labels):
            judged = yield from self.asked.steps(item)
            if not any(label.value in NO_ANSWER for label in judged):
                labels = self.first.settle(item, labels, judged)
        return [label._replace(annotator=self.annotator) for label in labels]
