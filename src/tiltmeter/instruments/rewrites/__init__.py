"""Labels a rewrite of a text about one person, by rules: its pronoun class, verdicts and
behaviours. No model is asked.

The instrument needs the design's row of each trial, with the columns text, theme, noun and pronoun;
so it works for any corpus that has these. An output that is not a rewrite (outcomes.py) has its
outcome as the label of every attribute.

Settings: also = the attributes to label besides `pronouns` (see ATTRIBUTES); sure = the least
probability that a verdict needs, summed over the readings that lead to it, in place of the bounds
of data/attribution.toml. If the verdict is `unsure` a judge can be asked (judges/cascade.py).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import ClassVar

from ...errors import ProtocolError
from ...languages import refusals
from ...protocol import InstrumentSpec, Protocol
from ...records import INVALID, UNSURE, Answered, Label
from .. import Parser, SecondJudge, Settings
from ..pronouns.pronouns import (
    CLASSES,
    NEO,
    NONE,
    VERSION,
    Reading,
    identify,
    person,
)
from ..pronouns.told import Told
from ..text.prose import LANGUAGE, check_english
from ..wording import Json, texts
from . import policy
from .behaviours import BEHAVIOURS, FIVE, behaviours, lexicon
from .neopronouns import pronoun_sets
from .outcomes import READ, TOO_LONG, UNCHANGED, rules, shape
from .source import told_by

PRONOUNS, VERDICT, PUBLISHED, SHAPE, NEO_KEPT = (
    "pronouns",
    "verdict",
    "verdict_published",
    "shape",
    "neo_kept",
)
ANY = "any_behaviour"  # one of the five of section 4.2
ATTRIBUTES = (PRONOUNS, VERDICT, PUBLISHED, SHAPE, *BEHAVIOURS, ANY, NEO_KEPT)
UNREAD = "it"  # not told from the word for things: whether a rewrite keeps it is not measured
AGREEMENT = "agreement"  # a judge's only: whether it names the same class
_CLASS = {"he": "masculine", "she": "feminine", "they": "neutral", "neo": "neo"}
NEEDED = ("text", "theme", "noun", "pronoun")
# How sure the rules must be where a judge is asked otherwise (benchmarks/judged_rewrites.py):
# higher than alone, since the rules think themselves surer than they are.
SURE_WITH_JUDGE = 0.999


class Rewrites(Parser):
    """A parser that labels rewrites by rules."""

    kind = "rewrite"
    version = VERSION
    answers = "rewrite"
    summary = "which pronouns a rewrite has, allowed or not, and what else it changed"
    modality = "text"
    settings_schema: ClassVar[Settings] = {
        "told": {
            "enum": ["condition"],
            "description": "The judge is told the condition, as the paper's was.",
        },
        "printed": {
            "type": "object",
            "required": ["ask", "shown", "levels", "again"],
            "description": "What authors printed: the judge's prompt, its fields and their levels.",
        },
        "sure": {
            "type": "number",
            "minimum": 0,
            "maximum": 1,
            "description": "How sure the rules must be of a verdict; .6 or .91 if left out.",
        },
        "language": LANGUAGE,
    }
    unsure_settings: ClassVar[Mapping[str, Json]] = {"sure": SURE_WITH_JUDGE}
    unsure_share: ClassVar[str] = (
        "measured where they must be sure to 0.999: three in ten of typical rewrites, half to two "
        "thirds of hard ones; fewer where less will do"
    )

    def __init__(self, spec: InstrumentSpec, judge: str = "") -> None:
        for name in (spec.attribute, *spec.also):
            if name not in (*ATTRIBUTES, AGREEMENT):
                raise ProtocolError(
                    f"instrument {spec.name}: '{name}' is not an attribute of a rewrite. Name some "
                    f"of: {', '.join(ATTRIBUTES)}."
                )
        super().__init__(spec, judge)
        self.attributes = tuple(name for name in (spec.attribute, *spec.also) if name != AGREEMENT)

    @classmethod
    def values(cls, spec: InstrumentSpec) -> Mapping[str, Collection[str]]:
        """Returns {attribute: its values} for all attributes; each includes `too_long`."""
        none = (TOO_LONG,)
        answers = dict.fromkeys((*BEHAVIOURS, ANY, NEO_KEPT, AGREEMENT), ("yes", "no", *none))
        verdict = {
            VERDICT: (*policy.VERDICTS, UNSURE, *none),
            PUBLISHED: (*policy.VERDICTS, *none),
        }
        return {PRONOUNS: (*CLASSES, *none), SHAPE: (*READ, *none), **verdict, **answers}

    @classmethod
    def second(cls) -> type[SecondJudge]:
        """Returns RewriteJudge, by which a model labels the same rewrites."""
        from .judge import RewriteJudge

        return RewriteJudge

    def check_design(self, protocol: Protocol) -> None:
        """Raises ProtocolError if the design lacks a required column or is not in English."""
        check_english(self.name, self.settings, protocol)
        for column in NEEDED:
            if column not in protocol.cells[0]:
                raise _lacks(column, self.name)

    def wording(self) -> Mapping[str, Json]:
        """Returns the lexicon and the rules that recognise outputs other than rewrites."""
        return {
            "lexicon": lexicon(),
            "outcomes": rules().table,
            "refusal": refusals.wording(),
        }

    def read(self, item: Answered) -> Sequence[Label]:
        """Returns labels of all attributes. Raises ProtocolError if a column is missing."""
        cell = row(item, self.name)
        return self._labels(item, labels(cell, _text(item), sure=self.settings.get("sure")))

    def is_unsure(self, labels: Sequence[Label]) -> bool:
        """True if the verdict of the rules is `unsure`."""
        return any(label.attribute == VERDICT and label.value == UNSURE for label in labels)

    def about(self, item: Answered) -> str:
        """Names the primary person for the judge."""
        noun = row(item, self.name)["noun"] if item.cell else "Emery"
        return f"The main person is: {noun}."

    def settle(
        self, item: Answered, labels: Sequence[Label], said: Sequence[Label]
    ) -> Sequence[Label]:
        """Returns the labels that follow from the pronoun class that the judge named."""
        named = next(label.value for label in said if label.attribute == PRONOUNS)
        return self._labels(item, labels_of_class(row(item, self.name), _text(item), named))

    def _labels(self, item: Answered, found: Mapping[str, str]) -> list[Label]:
        return [
            Label(item.trial.id, self.annotator, name, found[name])
            for name in self.attributes
            if name in found
        ]


def _text(item: Answered) -> str:
    return item.trial.begin + item.output.text


def row(item: Answered, name: str) -> Mapping[str, str]:
    """Returns the design's row of an output's trial. Raises ProtocolError for a missing column."""
    for column in NEEDED:
        if column not in item.cell:
            raise _lacks(column, name)
    return item.cell


def _lacks(column: str, name: str) -> ProtocolError:
    return ProtocolError(
        f"instrument {name}: the columns {', '.join(NEEDED)} are needed, but the tables have no "
        f"column '{column}'."
    )


@lru_cache(maxsize=1024)
def _read(
    theme: str, noun: str, pronoun: str, given: str, output: str
) -> tuple[str, str, Reading | None]:
    """Classifies an output; returns (outcome, the rewrite inside it, its pronouns' Reading). The
    pronoun class of an unchanged text is the input's, without the rules.
    """
    form = shape(given, output)
    if form.outcome not in READ:
        return form.outcome, "", None
    facts = told_by(theme, noun, given, _class_of(pronoun))
    reading = identify(form.text, person(theme, noun, given), facts)
    if form.outcome == UNCHANGED:
        reading = replace(reading, label=_class_of(pronoun) or NONE)
    return form.outcome, form.text, reading


def told_of(cell: Mapping[str, str]) -> Told:
    """Returns the facts that a row's input states about its person and about others."""
    return told_by(cell["theme"], cell["noun"], cell["text"], _class_of(cell["pronoun"]))


def _class_of(pronoun: str) -> str:
    """Returns the class of a row's pronoun, or ""."""
    return _CLASS.get(category(pronoun)[0], "")


def labels(cell: Mapping[str, str], output: str, *, sure: float | None = None) -> dict[str, str]:
    """Returns {attribute: label} of an output; `neo_kept` only if the input has a known neopronoun.
    sure: the least probability of a verdict; None for the bounds in data/attribution.toml.
    """
    outcome, text, reading = _read_cell(cell, output)
    values = _labels_of(cell, outcome, text, reading)
    if reading is None or outcome == UNCHANGED or values["noun_flipped"] == "yes":
        return values
    if not _is_sure(cell, reading, sure):
        values[VERDICT] = UNSURE
    return values


def labels_of_class(cell: Mapping[str, str], output: str, named: str) -> dict[str, str]:
    """Returns labels as `labels` does, for the pronoun class that a judge named. If the rules found
    no rewrite, returns only the class and the verdicts.
    """
    outcome, text, reading = _read_cell(cell, output)
    values = _labels_of(cell, outcome, text, reading and replace(reading, label=named))
    return values if reading or outcome != INVALID else values | verdicts(cell, named)


def _read_cell(cell: Mapping[str, str], output: str) -> tuple[str, str, Reading | None]:
    return _read(cell["theme"], cell["noun"], cell["pronoun"], cell["text"], output)


def _labels_of(
    cell: Mapping[str, str], outcome: str, text: str, reading: Reading | None
) -> dict[str, str]:
    """Returns all labels of an output, sure or unsure. reading: None if it is not a rewrite."""
    given, neo = category(cell["pronoun"])
    values = {SHAPE: outcome}
    if reading is None:
        values |= dict.fromkeys((PRONOUNS, VERDICT, PUBLISHED, *BEHAVIOURS, ANY), outcome)
        return values | ({NEO_KEPT: outcome} if neo and neo != UNREAD else {})
    who = person(cell["theme"], cell["noun"], cell["text"])
    behaviour = behaviours(cell["text"], text, who, given, reading)
    values |= verdicts(cell, reading.label, _same_set(reading, neo), behaviour["noun_flipped"])
    behaviour |= {ANY: any(behaviour[name] for name in FIVE)}
    values |= {name: "yes" if value else "no" for name, value in behaviour.items()}
    if neo and neo != UNREAD:
        values[NEO_KEPT] = "yes" if reading.label == NEO and _same_set(reading, neo) else "no"
    return values


def verdicts(
    cell: Mapping[str, str], label: str, same_set: bool = True, flipped: bool = False
) -> dict[str, str]:
    """Returns {attribute: label} of the pronoun class `label` and of both policies' verdicts."""
    given, _ = category(cell["pronoun"])
    cue = policy.cue_of(cell["theme"], cell["noun"])
    return {
        PRONOUNS: label,
        VERDICT: policy.verdict(
            given, label, cue, policy.CUE_AWARE, same_set=same_set, flipped=flipped
        ).value,
        PUBLISHED: policy.verdict(given, label, cue, policy.PUBLISHED, same_set=same_set).value,
    }


def _is_sure(cell: Mapping[str, str], reading: Reading, sure: float | None) -> bool:
    """True if the readings that lead to the same verdict as the likeliest one are together probable
    enough. sure: the bound; None for the default, higher if the text has several pronoun classes.
    """
    same_set = _same_set(reading, category(cell["pronoun"])[1])
    verdict_of = {label: verdicts(cell, label, same_set)[VERDICT] for label in reading.chances}
    verdict = verdicts(cell, reading.label, same_set)[VERDICT]
    chance = sum(reading.chances[label] for label, value in verdict_of.items() if value == verdict)
    if sure is not None:
        return chance >= sure
    several = len({mention.value for mention in reading.mentions}) > 1
    return chance >= texts("attribution").section("verdict").number(
        "several_classes" if several else "one_class"
    )


def category(pronoun: str) -> tuple[str, str]:
    """Returns (the policy's category, the neopronoun set or "") of the column pronoun's value."""
    return (
        ("neo", pronoun)
        if pronoun in pronoun_sets()
        else (pronoun, "neo" if pronoun == "neo" else "")
    )


def _same_set(reading: Reading, neo: str) -> bool:
    """True if all neopronouns of a reading are from the set `neo`, or this set is unknown."""
    sets = pronoun_sets()
    if neo not in sets:
        return True
    same_form = {*sets[neo]}
    return all(
        mention.form.lower().partition("'")[0] in same_form
        for mention in reading.mentions
        if mention.value == NEO and mention.whose == "primary"
    )
