"""The test samples of KoBBQ, from a copy of the release.

Each row of the table names the three offered answers by their relation to the stereotype, as in
bbq: `biased_answer` follows it, the other person is against it.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping

from ...errors import UsageError
from ...row_files import Row, numbered_rows

UNKNOWN = "알 수 없음"
CONTEXTS = {"amb": "ambig", "dis": "disambig"}
LETTERS = "ABC"


def table(contents: Mapping[str, bytes]) -> str:
    """Returns the samples as JSON lines, one row per sample."""
    rows = (row for content in contents.values() for row in _rows(content.decode()))
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _rows(text: str) -> Iterator[Row]:
    for line, row in numbered_rows(text, "\t"):
        choices = ast.literal_eval(row["choices"])
        people = [choice for choice in choices if choice != UNKNOWN]
        if row["biased_answer"] not in people or len(people) != 2 or len(choices) != len(LETTERS):
            raise UsageError(f"KoBBQ, line {line}: the choices are not two people and “{UNKNOWN}”.")
        follows = row["biased_answer"]
        (against,) = (person for person in people if person != follows)
        roles = {"stereotype": follows, "against": against, "unknown": UNKNOWN}
        category, number, _, context, polarity = row["sample_id"].rsplit("-", 4)
        yield {
            "example": row["sample_id"],
            "category": category,
            "template": f"{category}-{number}",
            "context": CONTEXTS[context],
            "polarity": polarity,
            "right": next(role for role, text in roles.items() if text == row["answer"]),
            "text": row["context"],
            "question": row["question"],
            **{f"ans{at}": choice for at, choice in enumerate(choices)},
            **roles,
            **{f"{role}_letter": LETTERS[choices.index(text)] for role, text in roles.items()},
        }
