"""The protocol over both versions of somebody's prompts, as a file that they can change."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from string import Template

from .decisions import BETWEEN, Decision
from .wishes import Wishes

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


SAMPLES = 3  # prompts are scarce: more answers of each


def rows(decisions: Sequence[Decision]) -> list[dict[str, str]]:
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
    columns = list(table[0])
    several = len({(row["item"], row["prompt"]) for row in table}) > len(
        {row["item"] for row in table}
    )
    factors = ["swap", "group", *(["prompt"] if several else []), "language"]
    questions = list(dict.fromkeys(row["swap"] for row in table))
    parts = [
        Template((_STARTS / "audit.toml").read_text("utf-8")).substitute(
            name="traffic",
            question=_quote(
                "Does the system answer the same prompts differently when only "
                f"{' or '.join(wishes.swaps)} changes?"
            ),
            factors=_quote_all(factors),
            table=_quote(file),
            columns=_quote_all(columns),
            system='system = "{system}"\n' if any(row["system"] for row in table) else "",
            turns="".join(
                f'\n[[turns]]\nrole = "{"user" if number % 2 else "assistant"}"\n'
                f'text = "{{turn_{number}}}"\n'
                for number in range(1, sum(name.startswith("turn_") for name in columns) + 1)
            ),
            samples=SAMPLES,
            max_tokens=wishes.max_tokens,
            mask=_quote_all(wishes.swaps),
        )
    ]
    if wishes.lists:
        lists = "\n".join(
            f"{_quote(name)} = [{_quote_all(words)}]" for name, words in wishes.lists.items()
        )
        part = (_STARTS / "lists.toml").read_text("utf-8")
        parts.append(Template(part).substitute(lists=lists, mask=_quote_all(wishes.swaps)))
    measures = (_STARTS / "measures.toml").read_text("utf-8")
    listed = (_STARTS / "listed.toml").read_text("utf-8")
    for question in questions:
        swap = question.partition(" ")[0]
        if swap not in _CONTRASTS:
            continue
        level, baseline = _CONTRASTS[swap]
        name = "_".join(question.replace("(", "").replace(")", "").split())
        filled = {
            "swap": name,
            "question": _quote(question),
            "level": _quote(level),
            "baseline": _quote(baseline),
            "about": _SUBJECTS[swap],
            "versus": "without it" if swap == "disability" else "{baseline}",
        }
        parts.append(Template(measures).substitute(filled))
        for number, (listing, _) in enumerate(wishes.lists.items(), 1):
            own = {"list": _quote(listing), "number": number, "listing": listing}
            parts.append(Template(listed).substitute(filled | own))
    return "\n".join(parts)


def _quote_all(texts: Iterable[str]) -> str:
    return ", ".join(map(_quote, texts))


def _quote(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)  # a string of JSON is one of TOML
