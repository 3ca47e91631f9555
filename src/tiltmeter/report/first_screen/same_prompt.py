"""The same prompt with only the cue changed: a few outputs side by side, chosen by the order of
trial ids, which are hashes, so that the choice ignores their content.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import pairwise, takewhile

from ...analyse.words import numerals
from ...protocol import MeasureSpec, Protocol, wording
from ...protocol.design.contrasts import contrast_factor
from ...records import Output, Trial
from ...store import Store
from ...store.queries import labels, outputs
from ...store.queries.outputs import CardOutput
from ..page_model.page import CueSide, SamePrompt, Shot
from . import picture_grid
from .pairs import Pairs, WantedPair, pairs_that_differ

SIDES, PICTURES = 3, 3  # levels that are shown, and pictures of each
PROMPT_CHARACTERS, ANSWER_CHARACTERS = 66, 96  # that are shown on each side of the cue
MOST_PLACES = 3  # where prompts differ, if only the words that differ are shown
GAP = "…"  # between them
LONG_CHARACTERS = 80  # of a side, beyond which two have room


def same_prompt(
    store: Store,
    protocol: Protocol,
    subject: str,
    about: Mapping[str, str],
    side_by_side: tuple[str, Sequence[str]],
    wanted: WantedPair | None = None,
) -> SamePrompt | None:
    """Returns a subject's outputs for one item at several levels of the cue; None without answers.

    about: the leading claim's levels, which the item should have; side_by_side: the cue, and the
    levels to show first; wanted: the pair that fits the first sentence.
    """
    cue, levels = side_by_side
    cards = list(outputs.first_answers(store, subject, PICTURES))
    fitting = [c for c in cards if _fits(c, about, cue)] or cards
    example = Pairs({}, "")
    if wanted is not None:
        example = pairs_that_differ(store, protocol, fitting, cue, wanted)
    by_level = {
        level: pairs
        for level, chosen in (example.chosen or _choose(protocol, fitting, cue, levels)).items()
        if (pairs := [pair for card in chosen if (pair := outputs.one(store, card.id))])
    }
    if not by_level:
        return None
    prompts = [pairs[0][0].prompt for pairs in by_level.values()]
    before, after = _common_ends(prompts)
    varying = [prompt[len(before) : len(prompt) - len(after)] for prompt in prompts]
    between, own = differing_words(varying)
    sides = tuple(
        _side(store, protocol, (cue, level), pairs, words)
        for (level, pairs), words in zip(by_level.items(), own, strict=True)
    )
    if any(len(side.own_words) + len(side.answer) > LONG_CHARACTERS for side in sides):
        sides = sides[:2]
    if len(by_level) == 1:
        (pairs,) = by_level.values()
        sides = tuple(_side(store, protocol, (cue, ""), [pair], "") for pair in pairs)
    items = {pairs[0][0].factors.get(protocol.item) for pairs in by_level.values()}
    alone = len(items) == 1 or cue == protocol.item
    several = len(by_level) > 1 and any(prompts)
    title = _heading(protocol, cue) if alone and several else "What was answered"
    return SamePrompt(title, example.words, _end(before), _start(between + after), sides)


def _heading(protocol: Protocol, cue: str) -> str:
    noun = "order" if cue == "order" else "cue"
    what = "picture prompt" if protocol.modality == "image" else "prompt"
    return f"The same {what}, only the {noun} changed"


def cue_factor(protocol: Protocol, spec: MeasureSpec) -> str:
    """Returns the factor to show side by side: the protocol's `cue`, else the contrasted factor."""
    contrasted = (spec.contrast or {}).get("factor", "")
    return protocol.first.get("cue") or contrasted or contrast_factor(protocol)


def _fits(card: CardOutput, about: Mapping[str, str], cue: str) -> bool:
    return (
        all(
            card.levels[name] == level
            for name, level in about.items()
            if name in card.levels and name not in (cue, "dimension")
        )
        and about.get("mode", card.mode) == card.mode
    )


def _choose(
    protocol: Protocol, cards: Sequence[CardOutput], cue: str, levels: Sequence[str]
) -> dict[str, list[CardOutput]]:
    """Chooses outputs per level of the cue, from the first item that has several levels."""
    by_item: dict[str, list[CardOutput]] = {}
    for card in cards:
        by_item.setdefault(card.levels.get(protocol.item, ""), []).append(card)
    of_item = next(
        (of_item for of_item in by_item.values() if len(_levels(of_item, cue)) > 1), list(cards)
    )
    present = [level for level in levels if level in _levels(of_item, cue)]
    order = protocol.levels.get(cue, {})
    rest = sorted(_levels(of_item, cue) - set(present), key=lambda level: order.get(level, 0))
    wanted = (present if len(present) > 1 else [*present, *rest])[:SIDES]
    first = next((card for card in of_item if card.levels.get(cue, "") == wanted[0]), None)
    if first is None:
        return {}
    many = PICTURES if protocol.modality == "image" or len(wanted) == 1 else 1

    def distance(card: CardOutput) -> int:
        return sum(card.levels[name] != level for name, level in first.levels.items())

    return {
        level: sorted((c for c in of_item if c.levels.get(cue, "") == level), key=distance)[:many]
        for level in wanted
    }


def _levels(cards: Sequence[CardOutput], cue: str) -> set[str]:
    return {card.levels.get(cue, "") for card in cards}


def _common_ends(prompts: Sequence[str]) -> tuple[str, str]:
    """Returns the beginning and the end that all prompts share, in whole words (or characters)."""
    if len(set(prompts)) < 2:
        return (prompts[0], "") if prompts else ("", "")
    spaced = all(any(sign.isspace() for sign in prompt) for prompt in prompts)
    parts = [re.findall(r"\s+|\S+" if spaced else ".", prompt, re.DOTALL) for prompt in prompts]
    before = _common(parts)
    after = _common([part[len(before) :][::-1] for part in parts])[::-1]
    return "".join(before), "".join(after)


def _common(parts: Sequence[Sequence[str]]) -> list[str]:
    """Returns the longest common prefix."""
    columns = takewhile(lambda column: len(set(column)) == 1, zip(*parts, strict=False))
    return [column[0] for column in columns]


def differing_words(texts: Sequence[str]) -> tuple[str, list[str]]:
    """Returns the words that texts share, after the first that differ, with … for each later
    difference; and the words that only each has. Texts that differ at more than three places stay
    whole: ("", texts).
    """
    parts = [re.findall(r"\s*(?:\w+|[^\w\s])", text) for text in texts]
    shared = parts[0] if parts else []
    for part in parts[1:]:
        blocks = SequenceMatcher(None, shared, part, autojunk=False).get_matching_blocks()
        shared = [word for at, _, size in blocks for word in shared[at : at + size]]
    gaps = [_gaps(part, shared) for part in parts]
    places = [n for n in range(len(shared) + 1) if any(of_text[n] for of_text in gaps)]
    own = [
        list(dict.fromkeys(words for n in places if (words := of_text[n].strip())))
        for of_text in gaps
    ]
    if len(places) > MOST_PLACES or places[:1] != [0]:
        return "", list(texts)
    ends = [*places[1:], len(shared)]
    runs = ["".join(shared[start:end]) for start, end in pairwise([0, *ends])]
    return f" {GAP}".join(runs), [f" {GAP} ".join(words) for words in own]


def _gaps(part: Sequence[str], shared: Sequence[str]) -> list[str]:
    """Returns the text before each shared word of a text, and after the last."""
    gaps, number = [""] * (len(shared) + 1), 0
    for word in part:
        if number < len(shared) and word == shared[number]:
            number += 1
        else:
            gaps[number] += word
    return gaps


def _end(text: str) -> str:
    """Cuts a text to as many of its last words as fit."""
    if len(text) <= PROMPT_CHARACTERS:
        return text
    part = text[-PROMPT_CHARACTERS:]
    return f"…{part.partition(' ')[2] or part}"


def _start(text: str, room: int = PROMPT_CHARACTERS) -> str:
    """Cuts a text to as many of its first words as fit."""
    if len(text) <= room:
        return text
    part = text[: room + 1]
    return f"{(part.rpartition(' ')[0] or part[:room]).rstrip(' ,;:')}…"


def _side(
    store: Store,
    protocol: Protocol,
    place: tuple[str, str],
    pairs: Sequence[tuple[Trial, Output]],
    own_words: str,
) -> CueSide:
    """Returns one side: the words that only its prompt has, the answer or pictures, the label."""
    trial, output = pairs[0]
    title = wording.title(protocol, *place)
    shots = tuple(_shots(store, pairs)) if protocol.modality == "image" else ()
    answer = "" if shots else _start(" ".join(output.text.split()), ANSWER_CHARACTERS)
    return CueSide(
        title,
        _start(own_words.strip()),
        answer,
        _label_words(store, protocol, trial.id),
        shots,
    )


def _shots(store: Store, pairs: Sequence[tuple[Trial, Output]]) -> Iterator[Shot]:
    """Yields the pictures whose files exist, each with the levels of its trial."""
    for trial, output in pairs:
        source = picture_grid.source(store, output.blob) if output.blob else ""
        if not source:
            continue
        yield Shot(source, ", ".join(filter(None, trial.factors.values())), "")


def _label_words(store: Store, protocol: Protocol, output: str) -> str:
    """Returns the headline attribute's label of an output, in the protocol's words."""
    rows = labels.of_output(store, output)
    attribute = next((spec.attribute for spec in protocol.measures if spec.headline), "")
    of_attribute = [row for row in rows if row.attribute == attribute]
    first = [row for row in of_attribute if row.annotator == of_attribute[0].annotator]
    return " · ".join(
        wording.title(protocol, row.attribute, row.value)
        + ("" if row.weight == 1 else f" {numerals.share(row.weight, 2)}")
        for row in first[:4]
    )
