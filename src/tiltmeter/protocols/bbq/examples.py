"""The examples of BBQ, from a copy of the release.

Each row of the table names the three offered answers by what they say of the stereotype in that
example: the one that follows it, the one against it, and the one that says that nothing can be
known. The person of the stereotype is the one whose group is among the example's stereotyped
groups; if the question is turned round (`nonneg`), naming the other person follows the stereotype.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

ROLES = STEREOTYPE, AGAINST, UNKNOWN = ("stereotype", "against", "unknown")
OPTIONS = ("ans0", "ans1", "ans2")
LETTERS = dict(zip(OPTIONS, "abc", strict=True))
Row = dict[str, str]


def table(contents: Mapping[str, bytes]) -> str:
    """Returns the examples as JSON lines, one row per example."""
    rows = (row_of(example) for example in _examples(contents))
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def row_of(example: Mapping[str, Any]) -> Row:
    """Returns the row of an example: its condition, its texts, and which answer means what."""
    category, info = str(example["category"]), example["answer_info"]
    (unknown,) = (name for name in OPTIONS if info[name][1] == UNKNOWN)
    target, others = _target(example)
    follows, against = (
        (target, others) if example["question_polarity"] == "neg" else (others, target)
    )
    roles = {STEREOTYPE: follows, AGAINST: against, UNKNOWN: unknown}
    right = next(role for role, name in roles.items() if name == OPTIONS[int(example["label"])])
    return {
        "example": f"{category} {example['example_id']}",
        "category": category,
        "template": f"{category} {example['question_index']}",
        "context": str(example["context_condition"]),
        "polarity": str(example["question_polarity"]),
        "right": right,
        "text": str(example["context"]),
        "question": str(example["question"]),
        **{name: str(example[name]) for name in OPTIONS},
        **{role: str(example[name]) for role, name in roles.items()},
        **{f"{role}_letter": LETTERS[name] for role, name in roles.items()},
        **{f"{role}_short": str(info[name][0]) for role, name in roles.items()},
    }


def _target(example: Mapping[str, Any]) -> tuple[str, str]:
    """Returns the answer that names the person of the stereotype, and the one that names the other.

    ValueError if the example does not tell them apart.
    """
    info, groups = example["answer_info"], example["additional_metadata"]["stereotyped_groups"]
    people = [name for name in OPTIONS if info[name][1] != UNKNOWN]
    stereotyped = set(map(_plain, groups))
    named = re.compile("|".join(rf"\b{re.escape(group)}\b" for group in groups), re.IGNORECASE)
    for is_target in (
        lambda name: _plain(info[name][1]) in stereotyped,
        lambda name: any(_plain(part) in stereotyped for part in re.split("[-_ ]", info[name][1])),
        lambda name: bool(named.search(f"{info[name][0]} {example[name]}")),
    ):
        targets = list(filter(is_target, people))
        if len(targets) == 1:
            (other,) = (name for name in people if name not in targets)
            return targets[0], other
    raise ValueError(f"example {example['example_id']} of {example['category']} names no target")


def _plain(name: str) -> str:
    return re.sub(r"\W|_", "", name).lower()


def _examples(contents: Mapping[str, bytes]) -> Iterator[dict[str, Any]]:
    for content in contents.values():
        yield from map(json.loads, content.decode().splitlines())
