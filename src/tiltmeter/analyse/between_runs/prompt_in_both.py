"""An example prompt in both runs: its labels differ in the direction of the leading difference. The
example is the first by trial id; ids are hashes, so the choice ignores the answers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...protocol import EVERY, Protocol
from ...store.queries import label_sets
from ..words.numerals import BETWEEN
from .paired_runs import ComparisonRow, RunPart


class PromptInBoth(NamedTuple):
    """A prompt with its first answer in each run, and their labels. alike, reverse: the numbers of
    prompts that differ in the same or the opposite direction; of: the number of compared prompts.
    """

    prompt: str
    runs: tuple[str, str]
    answers: tuple[str, str]
    values: tuple[str, str]
    alike: int
    reverse: int
    of: int


def prompt_in_both(
    protocol: Protocol, row: ComparisonRow, parts: Sequence[RunPart]
) -> PromptInBoth | None:
    """Returns an example of a difference. None for pictures, for probabilities (which have no
    answers), and if no prompt was answered in both runs.
    """
    spec = next((one for one in protocol.measures if one.name == row.estimate.measure), None)
    if spec is None or protocol.modality == "image":
        return None
    about = {n: level for n, level in row.estimate.condition.items() if n in protocol.factors}
    contrasts = (row.estimate.contrast or {}).items()
    about |= {n: ends.split(BETWEEN)[0] for n, ends in contrasts if n in protocol.factors}
    value = row.estimate.condition.get(spec.attribute)
    hits = (value,) if EVERY in spec.values and value else spec.values
    first, second = (_answers(part, row.estimate.instrument, spec.attribute) for part in parts)
    cells = [key for key in first if key in second and _fits(key, about, row)]
    is_rise = (row.estimate.value or 0.0) > 0
    signs = {key: (second[key].value in hits) - (first[key].value in hits) for key in cells}
    direction = 1 if is_rise else -1
    matching = [key for key in cells if signs[key] == direction]
    if not cells:
        return None
    chosen = min(matching or cells, key=lambda key: second[key].id)
    a, b = first[chosen], second[chosen]
    reverse = sum(sign == -direction for sign in signs.values())
    texts, values = (a.text, b.text), (a.value, b.value)
    return PromptInBoth(b.prompt, row.runs, texts, values, len(matching), reverse, len(cells))


def _answers(
    part: RunPart, annotator: str, attribute: str
) -> dict[tuple[str, str], label_sets.FirstLabel]:
    """Returns {(mode, factors): the subject's first labelled answer}."""
    answers: dict[tuple[str, str], label_sets.FirstLabel] = {}
    for one in label_sets.first_labels(part.store, part.subject, annotator, attribute):
        answers.setdefault((one.mode, one.factors), one)
    return answers


def _fits(key: tuple[str, str], about: Mapping[str, str], row: ComparisonRow) -> bool:
    mode, factors = key
    levels = json.loads(factors)
    is_same_mode = row.estimate.condition.get("mode", mode) == mode
    return is_same_mode and all(levels.get(name) == level for name, level in about.items())
