"""The examples of BBQ, from a copy of the release.

Each row of the table names the three offered answers by their relation to the stereotype: the
answer that follows it, the answer against it, and the answer that nothing can be known. The person
of the stereotype is the one whose group is among the example's stereotyped groups; if the question
is negated (`nonneg`), naming the other person follows the stereotype.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ...errors import UsageError
from ...row_files import numbered_rows

ROLES = STEREOTYPE, AGAINST, UNKNOWN = ("stereotype", "against", "unknown")
OPTIONS = ("ans0", "ans1", "ans2")
LETTERS = dict(zip(OPTIONS, "abc", strict=True))
METADATA = (
    "analysis_scripts/additional_metadata.csv"  # of a whole clone: which answer is the target
)
LOW = "lowses"
# names of one group in BBQ's fields
SAME = {
    **dict.fromkeys(("woman", "women", "girl", "girls", "female", "females"), "f"),
    **dict.fromkeys(("man", "men", "boy", "boys", "male", "males"), "m"),
    **dict.fromkeys(("transgender", "transgenderwomen", "transgendermen", "transwomen"), "trans"),
    **dict.fromkeys(("africanamerican", "africanamericans"), "black"),
}
_PARTS = re.compile("[-_ ]")
Row = dict[str, str]


def table(contents: Mapping[str, bytes]) -> str:
    """Returns the examples as JSON lines, one row per example."""
    index_of = _places(contents)
    rows = (
        row_of(example, index_of.get((example["category"], str(example["example_id"]))))
        for example in _examples(contents)
    )
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def row_of(example: Mapping[str, Any], place: int | None = None) -> Row:
    """Returns the row of an example: its condition, its texts, and the meaning of each answer.

    place: the index (0 to 2) of the answer with the stereotype's person, if the release says so.
    """
    category, info = str(example["category"]), example["answer_info"]
    (unknown,) = (name for name in OPTIONS if info[name][1] == UNKNOWN)
    target, others = _target(example, place)
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


def _target(example: Mapping[str, Any], place: int | None) -> tuple[str, str]:
    """Returns the answers that name the person of the stereotype, and the other person.

    place: the index of the stereotype's answer from the metadata (`target_loc`); if None, the
    example's groups decide. Raises UsageError if they fit both people alike.
    """
    info = example["answer_info"]
    people = [name for name in OPTIONS if info[name][1] != UNKNOWN]
    if place is not None and OPTIONS[place] in people:
        targets = [OPTIONS[place]]
    else:
        groups = example["additional_metadata"]["stereotyped_groups"]
        targets = _by_groups(example, people, groups)
    if len(targets) == 1 and len(people) == 2:
        (other,) = (name for name in people if name not in targets)
        return targets[0], other
    raise UsageError(
        f"BBQ, example {example['example_id']} of {example['category']}: its groups do not say "
        f"whom the stereotype is about. Use the whole clone, with {METADATA}."
    )


def _by_groups(
    example: Mapping[str, Any], people: Sequence[str], groups: Sequence[str]
) -> list[str]:
    """Returns [the answer that fits the stereotyped groups best], or [] if several do. Compares by
    the whole name, then its parts (F-Black, lowSES-White), then words of the answer, then low SES.
    """
    info, wanted = example["answer_info"], {_plain(group) for group in groups}
    named = re.compile("|".join(rf"\b{re.escape(group)}\b" for group in groups), re.IGNORECASE)
    parts = {name: [_plain(part) for part in _PARTS.split(info[name][1])] for name in people}
    ways: tuple[Callable[[str], int], ...] = (
        lambda name: _plain(info[name][1]) in wanted,
        lambda name: len(wanted.intersection(parts[name])),
        lambda name: bool(named.search(f"{info[name][0]} {example[name]}")),
        lambda name: LOW in parts[name],
    )
    for score in ways:
        most = max(map(score, people))
        targets = [name for name in people if score(name) == most]
        if len(targets) == 1:
            return targets
    return []


def _plain(name: str) -> str:
    plain = re.sub(r"\W|_", "", name).lower()
    return SAME.get(plain, plain)


def _examples(contents: Mapping[str, bytes]) -> Iterator[dict[str, Any]]:
    for name, content in contents.items():
        if name != METADATA:
            yield from map(json.loads, content.decode().splitlines())


def _places(contents: Mapping[str, bytes]) -> dict[tuple[str, str], int]:
    """Reads {(category, example): index (0 to 2) of the stereotype's answer} from the metadata."""
    if METADATA not in contents:
        return {}
    rows = (row for _, row in numbered_rows(contents[METADATA].decode()))
    return {
        (row["category"], row["example_id"]): int(float(row["target_loc"]))
        for row in rows
        if row.get("target_loc", "").strip() in ("0", "1", "2", "0.0", "1.0", "2.0")
    }
