"""Rules, and a judge for what they left unread (`--judge MODEL --judge-for unread`).

The judge is blind to the cue: it is shown the answer alone, with the values that it may have, and
not what was asked. It labels whole answers only; one that was cut stays so. Any instrument can that
gives an answer one label of a closed list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...protocol import InstrumentSpec
from ...records import CUT, INVALID, Answered, Label, Steps
from .. import Instrument, SecondJudge
from ..choice.forms import forms_of
from ..choice.mentions import Forms
from ..outcomes import told_to_judges
from ..wording import Json
from .cascade import NO_ANSWER, Cascade
from .prompt import SAMPLING
from .text import ROUNDS, closed_list, question, word_of, wording

NOT_SHOWN = "(What was asked is not shown. Label the answer by itself.)"
CHECK = "_check"  # ends the attribute of these
CHECKED = 50  # answers that rules read, which the judge labels too: how often do they agree?


class BlindJudge(SecondJudge):
    """A judge of single answers by a closed list of values, shown the answer alone."""

    kind = "blind_judge"
    version = "1"
    summary = "a model that labels an answer by a closed list, without what was asked"

    def __init__(self, spec: InstrumentSpec, judge: str, values: Sequence[str]) -> None:
        self._values = tuple(values)
        super().__init__(spec, judge)

    def wording(self) -> Mapping[str, Json]:
        """Its prompts, values, rounds and sampling."""
        told: Mapping[str, Json] = {
            "not_shown": NOT_SHOWN,
            "values": list(self._values),
            "meanings": told_to_judges(self.settings),
        }
        return {**wording(), **told, "rounds": ROUNDS, "sampling": SAMPLING}

    def _forms(self, item: Answered) -> Forms:
        """The values, with the words that count as each if the instrument declares them."""
        if "forms" in self.settings:
            return forms_of(self.settings["forms"], item.trial, self.name, item.cell)[1]
        return {value: (value,) for value in self._values}

    def steps(self, item: Answered) -> Steps:
        """Asks the judge for the value of the answer; returns one label."""
        listed = closed_list(self._forms(item), self.settings)
        blind = replace(item, trial=item.trial._replace(prompt=NOT_SHOWN), told="")
        asked = question(blind, listed)
        return [self.label(item, (yield from word_of(self, item, asked, listed.words)))]


class Unread(Cascade):
    """Labels by an instrument, and by its judge if that left a whole answer unread. check: the same
    judge, whose labels of what was read are counted in no measure.
    """

    kind = "unread"
    summary = "rules, and a blind judge for what they left unread"

    def __init__(self, first: Instrument, judge: BlindJudge, check: BlindJudge) -> None:
        super().__init__(first, judge)
        self.check = check

    def steps(self, item: Answered) -> Steps:
        """Labels by the rules; asks the judge about what is whole and unread. The rules' own label
        stays if its reply cannot be used.
        """
        labels: Sequence[Label] = yield from self.first.steps(item)
        unread = any(label.value == INVALID for label in labels) and item.output.ended != CUT
        if unread and not item.exact:
            said = yield from self.asked.steps(item)
            if not any(label.value in NO_ANSWER for label in said):
                labels = self.first.settle(item, labels, said)
        return [label._replace(annotator=self.annotator) for label in labels]


def blind_cascade(
    first: Instrument, spec: InstrumentSpec, judge: str, values: Sequence[str]
) -> Unread:
    """An instrument with its blind judge."""
    aside = replace(spec, attribute=f"{spec.attribute}{CHECK}")
    return Unread(first, BlindJudge(spec, judge, values), BlindJudge(aside, judge, values))


def can_ask(instrument: Instrument, values: Mapping[str, Sequence[str]]) -> bool:
    """True if a judge can label what an instrument leaves unread: one label of a closed list."""
    listed = values.get(instrument.attribute)
    return (
        bool(listed)
        and instrument.attributes == (instrument.attribute,)
        and instrument.answers in ("choice", "prose")
    )
