"""The subjects that a planted model can play, and the true numbers that audits should estimate."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from .. import registry
from ..errors import UnknownName, UsageError
from ..protocol import Protocol
from ..protocol.design.tables import SEVERAL
from .answers import PlantedAnswers
from .choices import PlantedChoices
from .dialogues import Dialogues
from .pictures import Pictures
from .prose import PlantedProse
from .rankings import PlantedRankings
from .settings import (
    DEFAULTS,
    FORMS,
    OUTCOMES,
    TOGETHER,
    Settings,
    number_of,
    plain_settings,
    read_pairs,
)
from .words import Words

# Texts that any instrument reads as prose come last: what else is read of an answer decides.
SUBJECTS = (PlantedRankings, Pictures, Words, Dialogues, PlantedChoices, PlantedProse)


def subject_of(protocol: Protocol) -> type[PlantedAnswers]:
    """Returns the subject class that fits a protocol, or PlantedChoices if no class fits."""
    return next((subject for subject in SUBJECTS if subject.fits(protocol)), PlantedChoices)


def spoken_by(settings: Settings) -> PlantedAnswers:
    """Makes the subject for the settings' protocol."""
    return subject_of(registry.protocol(settings.protocol))(settings)


def parse(text: str) -> Settings:
    """Parses settings from a model's name, with or without `planted:`. Raises UsageError with the
    nearest name.
    """
    text = text.removeprefix("planted:")
    pairs = read_pairs(text, "planted")
    settings = plain_settings(pairs, text)
    if not pairs:
        return settings
    protocol = registry.protocol(settings.protocol)
    subject = subject_of(protocol)
    names, levels = subject.names(protocol), _levels(protocol)
    planted: dict[str, dict[str, float]] = {}
    for key, number in pairs.items():
        name, dot, level = key.partition(".")
        outcome = name in (*OUTCOMES, *FORMS)
        if not outcome and name not in names:
            raise UnknownName("setting of planted", name, [*names, *DEFAULTS])
        for one in (level,) if level in levels else level.split(TOGETHER):
            if dot and one not in levels:
                raise UnknownName(f"level of {protocol.name}", one, levels)
        highest = 1.0 if outcome else subject.highest(name)
        planted.setdefault(name, {})[level] = number_of("planted", key, number, highest=highest)
    if not subject.alone:
        return replace(settings, planted=planted)
    named = [name for name in planted if name in names]
    if len(named) > 1:
        raise UsageError(
            f"planted: {' and '.join(named)} were each given a share. Give only one of these "
            "shares; the other values divide the rest."
        )
    value = named[0] if named else ""
    tilted = planted.pop(value, {})
    return replace(
        settings, value=value, share=tilted.pop("", None), levels=tilted, planted=planted
    )


def _levels(protocol: Protocol) -> dict[str, str]:
    """Returns {level: its factor}; if two factors have the level, the later one."""
    return {
        level: name
        for name in protocol.factors
        for cell in protocol.cells
        for level in cell[name].split(SEVERAL)
    }


# what an audit should find


@lru_cache(maxsize=16)
def _spoken_by_name(settings: str) -> PlantedAnswers:
    return spoken_by(parse(settings))


def truth(settings: str, cell: Mapping[str, str]) -> float:
    """Computes the exact share of the tilted value among chosen values in one cell:
    logistic(logit(p) + spread·z) ± order/2, in [0, 1].

    p is the planted share of the cell, z the item's standard normal number. By hand: she=.7,
    order=.1 gives .75 if she is offered first and .65 if he is.
    """
    (share,) = _spoken_by_name(settings).truth(cell).values()
    return share


def truths(settings: str, where: Mapping[str, str] | None = None) -> dict[str, float]:
    """Computes means of the planted numbers over the cells that match `where` ({factor: level}).
    For choices, texts, pictures and dialogues: the share per value, by its setting's name; for
    rankings: the share of first ranks per group and position; for picks: the expected number per
    prompt of `word:LEXEME`, `class:NAME`, `class:all` and `word:all`. {} if no cell matches.

    With spread, a mean differs from the given p: the mean of logistic(logit(p) + s·z) lies nearer
    to one half, and the items are a finite sample. An estimate over the fixed items should find
    this mean. Cells of dialogues count by their share of dialogues in the prompt's language.
    """
    subject = _spoken_by_name(settings)
    sums: dict[str, float] = {}
    total = 0.0
    for cell in subject.protocol.cells:
        if all(cell.get(name) == value for name, value in (where or {}).items()):
            weight = subject.weight(cell)
            total += weight
            for name, value in subject.truth(cell).items() if weight else ():
                sums[name] = sums.get(name, 0.0) + weight * value
    return {name: value / total for name, value in sums.items()}


def ratio_truth(settings: str, name: str, where: Mapping[str, str] | None = None) -> float:
    """Computes the true disparate impact of a class (`class:communal`) or word (`word:wise`), which
    `di_class` and `di_word` should estimate: its share of the picks for women over its share for
    men. NaN if the share for men is 0.

    By hand: two classes of 50 words, `a.female=1.5`: of 10 picks, 6 are of class a for women and 5
    for men: 1.2.
    """
    sides = ({**(where or {}), "gender": gender} for gender in ("female", "male"))
    a, b = (truths(settings, side) for side in sides)
    among = f"{name.partition(':')[0]}:all"
    below = b.get(name, 0.0) / b[among] if b.get(among) else 0.0
    return a.get(name, 0.0) / a[among] / below if below and a.get(among) else math.nan
