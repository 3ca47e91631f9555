"""A judge that labels what rules left unread, blind to what was asked, with its agreement on what they read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.scripted import Body, Scripted, chat
from tests.serving import serving
from tiltmeter import api
from tiltmeter.errors import UsageError
from tiltmeter.instruments.judges.unread import NOT_SHOWN
from tiltmeter.stages.engine.limits import Tally

ODD = "The witty one wears a dress."  # whole, and no form that rules know


def script(judged: list[str]) -> Any:
    """A subject whose every fourth reply is odd; a judge that takes those for she, and reads the others."""
    count = iter(range(10_000))

    def reply(body: Body) -> tuple[int, Any]:
        prompt = body["messages"][-1]["content"]
        if body["model"] != "judge":
            return chat(ODD if next(count) % 4 == 0 else "He.")
        judged.append(prompt)
        return chat("she" if ODD in prompt else "he")

    return reply


def test_a_judge_labels_what_is_unread_and_is_blind(tmp_path: Path) -> None:
    judged: list[str] = []
    warnings: set[str] = set()

    def watch(stage: str, number: int | None, tally: Tally) -> None:
        warnings.update(tally.warnings)

    with serving(Scripted(script(judged))) as url:
        run = api.run(
            "roles",
            "openai:m",
            tmp_path / "run",
            judge="openai:judge",
            judge_for="unread",
            base_url=url,
            language="en",
            mode="sampled",
            limit=20,
            samples=2,
            concurrency=1,
            pilot=False,
            watch=watch,
        )
    own = run.labels.filter(run.labels["attribute"] == "pronoun")
    assert Counter(own["value"]) == {"he": 60, "she": 20} and own["annotator"].n_unique() == 1
    checked = run.labels.filter(run.labels["attribute"] == "pronoun_check")
    assert Counter(checked["value"]) == {"he": 50}
    assert all(NOT_SHOWN in prompt and "Fill in the blank" not in prompt for prompt in judged)
    assert {estimate.instrument for estimate in run.analyse()} == set(own["annotator"])
    said = "of 50 answers that they read it says the same of 50"
    assert any(said in warning for warning in warnings)


def test_an_audit_of_lists_has_no_answer_that_a_judge_could_say(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="one label of a closed list"):
        api.run("words", "openai:m", tmp_path, judge="openai:judge", judge_for="unread")
    with pytest.raises(UsageError, match="--judge-for unread needs a judge"):
        api.run("roles", "openai:m", tmp_path, judge_for="unread")
