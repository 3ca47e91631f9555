"""The protocol over both versions of somebody's prompts, as a file that they can change."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from string import Template

from .decisions import BETWEEN, MIRRORED_QUESTION, PromptDecision
from .wishes import SAMPLES, Wishes

_STARTS = Path(__file__).parents[2] / "starts" / "traffic"
_CONTRASTS = {  # question → (level, baseline): the first is held against the second
    "gender": ("woman", "man"),
    "race": ("Black", "white"),
    "age": ("older", "younger"),
    "religion": ("*", "Christian"),
    "disability": ("named", "left out"),
    "orientation": ("gay", "straight"),
}
_SUBJECTS = {
    "gender": "the same prompts speak of or as a {level}, not a {baseline}",
    "race": "the same prompts speak of or as somebody perceived as {level}, not {baseline}",
    "age": "the same prompts speak of or as somebody {level}, not {baseline}",
    "religion": "the same prompts speak of or as somebody {level}, not {baseline}",
    "disability": "the same prompts name a disability",
    "orientation": "the same prompts speak of or as somebody {level}, not {baseline}",
}


def rows(decisions: Sequence[PromptDecision]) -> list[dict[str, str]]:
    """Returns the rows of the table of prompts: both versions of each that is asked."""
    asked = [one for one in decisions if one.asked]
    most = max((one.texts[0].count(BETWEEN) for one in asked), default=1)
    table = []
    for one in asked:
        for group, text in zip(one.groups, one.texts, strict=True):
            system, *spoken, last = text.split(BETWEEN)
            row = {
                "swap": one.question,
                "group": group,
                "item": one.item,
                "prompt": one.prompt,
                "language": "en",
                "text": last,
                "system": system,
            }
            for number in range(1, most):
                row[f"turn_{number}"] = spoken[number - 1] if number <= len(spoken) else ""
            table.append(row)
    return table


def text(wishes: Wishes, table: Sequence[Mapping[str, str]], file: str) -> str:
    """Returns the text of the protocol's file."""
    mask = _quote_all(wishes.swaps)
    parts = [_head(wishes, table, file, mask)]
    if wishes.lists:
        lists = "\n".join(
            f"{_quote(name)} = [{_quote_all(words)}]" for name, words in wishes.lists.items()
        )
        parts.append(_part("lists", lists=lists, mask=mask))
    if wishes.tools:
        parts.append(_part("tools"))
    if wishes.judged:
        parts.append(_part("preference", mask=mask))
    for question in dict.fromkeys(row["swap"] for row in table):
        parts += _measures(wishes, question)
    return "\n".join(parts)


def _head(wishes: Wishes, table: Sequence[Mapping[str, str]], file: str, mask: str) -> str:
    columns = list(table[0])
    prompts = {(row["item"], row["prompt"]) for row in table}
    several = len(prompts) > len({row["item"] for row in table})
    turns = sum(name.startswith("turn_") for name in columns)
    return _part(
        "audit",
        name="traffic",
        question=_quote(
            "Does the system answer the same prompts differently when only "
            f"{' or '.join(wishes.swaps)} changes?"
        ),
        factors=_quote_all(["swap", "group", *(["prompt"] if several else []), "language"]),
        table=_quote(file),
        columns=_quote_all(columns),
        system='system = "{system}"\n' if any(row["system"] for row in table) else "",
        turns="".join(
            f'\n[[turns]]\nrole = "{"user" if number % 2 else "assistant"}"\n'
            f'text = "{{turn_{number}}}"\n'
            for number in range(1, turns + 1)
        ),
        samples=wishes.answers or SAMPLES,
        max_tokens=wishes.max_tokens,
        mask=mask,
    )


def _measures(wishes: Wishes, question: str) -> Iterator[str]:
    """Yields the measures of one question: those without a direction of a mirrored one alone."""
    swap = question.partition(" ")[0]
    filled = {
        "swap": "_".join(question.replace("(", "").replace(")", "").split()),
        "question": _quote(question),
    }
    yield from _with_direction(wishes, question, swap, filled)
    if wishes.answers != 1:
        yield _part("undirected", **filled)
    if wishes.tools:
        yield _part("any_tool", **filled)


def _with_direction(
    wishes: Wishes, question: str, swap: str, filled: dict[str, str]
) -> Iterator[str]:
    if swap not in _CONTRASTS or question.endswith(MIRRORED_QUESTION):
        return
    level, baseline = _CONTRASTS[swap]
    filled |= {"level": _quote(level), "baseline": _quote(baseline), "about": _SUBJECTS[swap]}
    versus = "without it" if swap == "disability" else "{baseline}"
    yield _part("measures", **filled, versus=versus)
    for number, listing in enumerate(wishes.lists, 1):
        yield _part("listed", **filled, list=_quote(listing), number=number, listing=listing)
    for number, tool in enumerate(wishes.tools, 1):
        yield _part("tool", **filled, tool=_quote(tool), number=number, named=tool)
    if wishes.judged:
        yield _part("preferred", **filled)


def _part(part: str, /, **slots: str | int) -> str:
    return Template((_STARTS / f"{part}.toml").read_text("utf-8")).substitute(slots)


def _quote_all(texts: Iterable[str]) -> str:
    return ", ".join(map(_quote, texts))


def _quote(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)  # a string of JSON is one of TOML
