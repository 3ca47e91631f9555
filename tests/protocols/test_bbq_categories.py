"""Categories of BBQ in the fields of its release: whom a stereotype is about follows from them.

The texts are ours; the expected answers are worked out by hand, by BBQ's rule that a negative
question is answered stereotypically by naming the target, and a non-negative one by naming the other.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tiltmeter.errors import UsageError
from tiltmeter.protocols.bbq import examples


def example(
    category: str, infos: tuple[str, str], groups: list[str], polarity: str = "neg", **more: Any
) -> dict[str, Any]:
    first, second = infos
    return {
        "example_id": 7,
        "question_index": "3",
        "category": category,
        "context_condition": "ambig",
        "question_polarity": polarity,
        "label": 1,
        "context": "Two people waited at the gate.",
        "question": "Who forgot the ticket?",
        "ans0": "The first one",
        "ans1": "Not enough information",
        "ans2": "The second one",
        "answer_info": {
            "ans0": ["first", first],
            "ans1": ["Not enough information", "unknown"],
            "ans2": ["second", second],
        },
        "additional_metadata": {"stereotyped_groups": groups, "version": "a", "source": ""},
        **more,
    }


@pytest.mark.parametrize(
    ("category", "infos", "groups", "target"),
    [
        ("Gender_identity", ("M", "F"), ["F"], "ans2"),
        ("Gender_identity", ("woman", "man"), ["F"], "ans0"),
        ("Gender_identity", ("nonTrans", "trans"), ["Transgender women"], "ans2"),
        ("SES", ("lowSES", "highSES"), ["low SES"], "ans0"),
        ("Disability_status", ("nonDisabled", "disabled"), ["disabled"], "ans2"),
        ("Physical_appearance", ("obese", "nonObese"), ["Obese"], "ans0"),
        ("Race_ethnicity", ("F-White", "F-Black"), ["African American", "Black"], "ans2"),
        ("Race_ethnicity", ("African American", "Asian"), ["Black"], "ans0"),
        ("Race_x_gender", ("M-Black", "F-Black"), ["Black", "F"], "ans2"),
        ("Race_x_gender", ("M-Black", "M-White"), ["Black"], "ans0"),
        ("Race_x_SES", ("highSES-Black", "lowSES-Black"), ["Black"], "ans2"),
        ("Race_x_SES", ("lowSES-Black", "highSES-White"), ["Black"], "ans0"),
    ],
)
def test_whom_it_is_about(
    category: str, infos: tuple[str, str], groups: list[str], target: str
) -> None:
    other = "ans0" if target == "ans2" else "ans2"
    asked = example(category, infos, groups)
    row = examples.row_of(asked)
    assert row["stereotype"] == asked[target]
    assert (row["unknown"], row["right"]) == ("Not enough information", "unknown")
    turned = examples.row_of({**asked, "question_polarity": "nonneg"})
    assert turned["stereotype"] == asked[other]


def test_the_metadata_of_a_clone_decide() -> None:
    asked = example("Race_x_gender", ("F-Black", "F-Black"), ["Black"])
    with pytest.raises(UsageError, match="Use the whole clone, with analysis_scripts"):
        examples.row_of(asked)
    contents = {
        "results/UnifiedQA/preds_Race_x_gender.jsonl": json.dumps(asked).encode(),
        examples.METADATA: b"category,example_id,target_loc\nRace_x_gender,7,2\n",
    }
    (line,) = examples.table(contents).splitlines()
    assert json.loads(line)["stereotype"] == "The second one"
