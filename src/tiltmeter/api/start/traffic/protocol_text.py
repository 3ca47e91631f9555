"""The protocol over both versions of the user's prompts, as a file that the user can edit."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from string import Template

from .decisions import BETWEEN, MIRRORED_QUESTION, PromptDecision
from .wishes import SAMPLES, Wishes

_STARTS = Path(__file__).parents[2] / "starts" / "traffic"
_CONTRASTS = {  # question → (level, baseline): the first is held against the second
    "gender": ("woman", "man"),
    "race": ("*", "white"),
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
    """Returns the rows of the table of prompts: one per version of each prompt to ask."""
    asked = [decision for decision in decisions if decision.asked]
    most_turns = max((one.texts[0].count(BETWEEN) for one in asked), default=1)
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
            for number in range(1, most_turns):
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
        parts.append(_fill("lists", lists=lists, mask=mask))
    if wishes.tools:
        parts.append(_fill("tools"))
    if wishes.judged:
        parts.append(_fill("preference", mask=mask))
    groups: dict[str, set[str]] = {}
    for row in table:
        groups.setdefault(row["swap"], set()).add(row["group"])
    for question, pairs in groups.items():
        parts += _measures(wishes, question, pairs)
    return "\n".join(parts)


def _first(wishes: Wishes, table: Sequence[Mapping[str, str]]) -> str:
    """Writes the first screen's setting: the measure of its figure, and the noun for an item."""
    question = table[0]["swap"]
    directed = question.partition(" ")[0] in _CONTRASTS and not question.endswith(MIRRORED_QUESTION)
    if not directed and wishes.answers == 1:
        return ""
    measure = f"{'refusal' if directed else 'similarity'}_{_name(question)}"
    return f"first = {{ measure = {_quote(measure)}, item = {_quote(wishes.unit)} }}\n"


def _name(question: str) -> str:
    return "_".join(question.replace("(", "").replace(")", "").split())


def _head(wishes: Wishes, table: Sequence[Mapping[str, str]], file: str, mask: str) -> str:
    columns = list(table[0])
    prompts = {(row["item"], row["prompt"]) for row in table}
    has_several = len(prompts) > len({row["item"] for row in table})
    turns = sum(name.startswith("turn_") for name in columns)
    return _fill(
        "audit",
        name="traffic",
        question=_quote(
            "Does the system answer the same prompts differently when only "
            f"{' or '.join(wishes.swaps)} changes?"
        ),
        factors=_quote_all(["swap", "group", *(["prompt"] if has_several else []), "language"]),
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
        first=_first(wishes, table),
    )


def _measures(wishes: Wishes, question: str, groups: Collection[str]) -> Iterator[str]:
    """Yields a question's measures; for mirrored groups, only measures without a direction."""
    swap = question.partition(" ")[0]
    filled = {
        "swap": _name(question),
        "question": _quote(question),
        "cue": question.replace(" (", ", ").removesuffix(")"),
    }
    yield from _with_direction(wishes, question, swap, filled, groups)
    if wishes.answers != 1:
        yield _fill("undirected", **filled)
    if wishes.tools:
        yield _fill("any_tool", **filled)


def _with_direction(
    wishes: Wishes, question: str, swap: str, filled: dict[str, str], groups: Collection[str]
) -> Iterator[str]:
    if swap not in _CONTRASTS or question.endswith(MIRRORED_QUESTION):
        return
    level, baseline = _CONTRASTS[swap]
    if level == "*" and len(groups) == 2:  # two groups alone: a claim between them
        level = next(group for group in groups if group != baseline)
    about, against = _SUBJECTS[swap], "others" if level == "*" else level
    filled |= {"level": _quote(level), "baseline": _quote(baseline), "about": about}
    filled["versus"] = f"{against} against {baseline}"
    yield _fill("measures", **filled, turned=_turned(about))
    for number, listing in enumerate(wishes.lists, 1):
        yield _fill("listed", **filled, list=_quote(listing), number=number, listing=listing)
    for number, tool in enumerate(wishes.tools, 1):
        yield _fill("tool", **filled, tool=_quote(tool), number=number, named=tool)
    if wishes.judged:
        yield _fill("preferred", **filled)


def _turned(about: str) -> str:
    """Returns the words about a version, about the other one."""
    if "{level}" not in about:
        return about.replace("name a", "leave out the")
    return about.format(level="{baseline}", baseline="{level}")


def _fill(part: str, /, **slots: str | int) -> str:
    return Template((_STARTS / f"{part}.toml").read_text("utf-8")).substitute(slots)


def _quote_all(texts: Iterable[str]) -> str:
    return ", ".join(map(_quote, texts))


def _quote(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)  # a string of JSON is one of TOML
