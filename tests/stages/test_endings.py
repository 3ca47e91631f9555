"""Why replies ended and how much was thought: from the endpoint's words to labels, on a server that is told what to say."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.scripted import USAGE, Scripted, chat
from tests.serving import serving
from tiltmeter import api
from tiltmeter.api import Run

ALL_THOUGHT = {
    "prompt_tokens": 40,
    "completion_tokens": 64,
    "completion_tokens_details": {"reasoning_tokens": 64},
}
LONG = {**USAGE, "completion_tokens": 64}
# what the server says; then: outcome, ended, thought, label
ROWS: dict[str, tuple[tuple[int, Any], tuple[str, str, int | None, str]]] = {
    "thinks and returns nothing": (
        chat(None, "length", usage=ALL_THOUGHT),
        ("cut", "cut", 64, "cut"),
    ),
    "the field reasoning": (
        chat("She", reasoning="He or she? Well …", usage={**USAGE, "completion_tokens": 20}),
        ("answer", "stop", 17, "she"),
    ),
    "the field reasoning_content": (
        chat("", "length", reasoning_content="He or she? Well …", usage=LONG),
        ("cut", "cut", 64, "cut"),
    ),
    "a thought in the text": (
        chat("<think>he?</think>She", usage={**USAGE, "completion_tokens": 21}),
        ("answer", "stop", 18, "she"),
    ),
    "a thought that was cut off": (
        chat("◁think▷ he or she, they ask", "length", usage=LONG),
        ("cut", "cut", 64, "cut"),
    ),
    "parts, as Mistral's models that think have them": (
        chat(
            [  # type: ignore[arg-type]
                {"type": "thinking", "thinking": [{"type": "text", "text": "he?"}]},
                {"type": "text", "text": "She"},
            ],
            usage={**USAGE, "completion_tokens": 12},
        ),
        ("answer", "stop", 6, "she"),
    ),
    "cut before a choice": (
        chat("This sentence is about a person who", "length", usage=LONG),
        ("answer", "cut", None, "cut"),
    ),
    "cut after a choice": (
        chat("The answer is she. I choose this since", "length", usage=LONG),
        ("answer", "cut", None, "she"),
    ),
    "whole, and no choice": (chat("A witty person, surely."), ("answer", "stop", None, "invalid")),
    "a filter": (chat("", "content_filter"), ("refusal", "filter", None, "refusal")),
    "nobody says why": (chat("She", None), ("answer", "unknown", None, "she")),
}


def ask(script: Any, folder: Path, **options: Any) -> Run:
    """A run of roles, one English word, of which all replies are the same."""
    with serving(Scripted(script)) as url:
        return api.run(
            "roles",
            "openai:m",
            folder,
            base_url=url,
            **{"language": "en", "limit": 1, "samples": 1, **options},
        )


@pytest.mark.parametrize("row", ROWS)
def test_a_reply_gives_outcome_end_thought_and_label(row: str, tmp_path: Path) -> None:
    said, expected = ROWS[row]
    run = ask(lambda body: said, tmp_path / "run")
    outputs = run.outputs.select("outcome", "ended", "thought").unique().rows()
    (label,) = run.labels["value"].unique()
    assert [(*output, label) for output in outputs] == [expected]


def test_a_list_that_was_cut_is_not_read_as_whole(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 900, "completion_tokens": 300}
    said = chat("1. calm\n2. clever\n3. br", "length", usage=usage)
    with serving(Scripted(lambda body: said)) as url:
        run = api.run(
            "words",
            "openai:m",
            tmp_path / "words",
            base_url=url,
            limit=1,
            samples=1,
            pilot=False,
        )
    picks = run.labels.filter(run.labels["annotator"].str.starts_with("picks"))
    assert set(picks["value"]) == {"cut"}


def test_a_file_that_says_why_answers_ended_gives_what_the_server_gave(tmp_path: Path) -> None:
    replies = [said for said, _ in ROWS.values() if isinstance(said[1], dict)]
    number = iter(range(10_000))
    live = ask(
        lambda body: replies[next(number) % len(replies)],
        tmp_path / "live",
        limit=6,
        concurrency=1,
    )
    file = tmp_path / "answers.csv"
    rows = live.outputs.rename({"ended": "finish_reason"}).select(
        "prompt", "sample", "text", "outcome", "finish_reason", "thought"
    )
    rows.write_csv(file)
    again = api.run("roles", f"file:{file}", tmp_path / "file", language="en", limit=6, samples=1)
    for run in (live, again):
        assert Counter(run.outputs["ended"])["cut"] >= 4
    columns = ("prompt", "text", "outcome", "ended", "thought")
    assert sorted(again.outputs.select(columns).rows(), key=repr) == sorted(
        live.outputs.select(columns).rows(), key=repr
    )
    assert Counter(again.labels["value"]) == Counter(live.labels["value"])
