"""One prompt in both runs, as a page shows it."""

from __future__ import annotations

from dataclasses import dataclass

from ...analyse.between_runs.prompt_in_both import PromptInBoth
from ...display import shorten

LONGEST_PROMPT, LONGEST_ANSWER = 240, 200  # characters that are shown


@dataclass(frozen=True, slots=True)
class Example:
    """A prompt, (run, answer, label) of each run, and how many prompts differ so."""

    prompt: str
    answers: tuple[tuple[str, str, str], ...]
    count: str


def example_of(found: PromptInBoth | None) -> Example | None:
    """The prompt as a page shows it; None if there is none."""
    if found is None:
        return None
    answers = tuple(
        (run, shorten(text, LONGEST_ANSWER), value)
        for run, text, value in zip(found.runs, found.answers, found.values, strict=True)
    )
    count = (
        f"{found.alike} of {found.of} prompts differ so in their first answers, {found.reverse} "
        "the other way."
    )
    return Example(shorten(found.prompt, LONGEST_PROMPT), answers, count)
