"""The marks of reasoning of each family, closed, cut off, and opened in the prompt; and texts that have none."""

from __future__ import annotations

import pytest

from tiltmeter.instruments.text.thought import without_thought

# (opening, closing) as the models' templates and formats have them
FAMILIES = {
    "deepseek": ("<think>\n", "\n</think>\n\n"),
    "thinking": ("<thinking>", "</thinking>"),
    "reasoning": ("<reasoning>", "</reasoning>"),
    "magistral": ("[THINK]", "[/THINK]"),
    "kimi": ("◁think▷", "◁/think▷"),
    "seed": ("<seed:think>", "</seed:think>"),
    "cohere": ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    "granite": ("Here is my thought process: ", "Here is my response: "),
    "gpt-oss": (
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
    ),
    "gpt-oss without its tokens": ("analysis", "assistantfinal"),
}
OPENED_IN_THE_PROMPT = ("deepseek", "thinking", "reasoning", "magistral", "kimi", "seed", "cohere")


@pytest.mark.parametrize("family", FAMILIES)
def test_a_closed_thought_is_cut(family: str) -> None:
    opened, closed = FAMILIES[family]
    text = f"{opened}He or she? The word\nis 'he'.{closed}She"
    assert without_thought(text).strip() == "She"


@pytest.mark.parametrize("family", FAMILIES)
def test_a_thought_that_is_cut_off_leaves_nothing(family: str) -> None:
    assert without_thought(f"{FAMILIES[family][0]}He or she? The word").strip() == ""


@pytest.mark.parametrize("family", OPENED_IN_THE_PROMPT)
def test_a_thought_that_the_prompt_opened_is_cut(family: str) -> None:
    assert without_thought(f"He or she?{FAMILIES[family][1]}She").strip() == "She"


def test_what_stands_around_an_answer_goes_too() -> None:
    text = "<|START_THINKING|>he?<|END_THINKING|><|START_RESPONSE|>She<|END_RESPONSE|>"
    assert without_thought(text).strip() == "She"


@pytest.mark.parametrize(
    "text",
    [
        "I think she is the best.",
        "Here is my response: she.",
        "The reasoning is simple: he.",
        "In the final analysis, she.",
        "[think about it] she",
        "a < b, and thinking > doing",
    ],
)
def test_a_text_without_marks_stays(text: str) -> None:
    assert without_thought(text) == text
