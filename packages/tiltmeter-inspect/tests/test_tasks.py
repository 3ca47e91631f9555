"""Protocols as tasks of Inspect: the same answers give the same labels and numbers as a run does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tiltmeter

REASON = "not installed: pip install ./packages/tiltmeter-inspect"
inspect_ai = pytest.importorskip("inspect_ai", reason=REASON)
tiltmeter_inspect = pytest.importorskip("tiltmeter_inspect", reason=REASON)
SMALL = {"limit": 6, "samples": 2}


def stand_in(run: tiltmeter.Run) -> Callable[..., Any]:
    """Answers each prompt with what the run has for it, draw by draw."""
    from inspect_ai.model import ModelOutput, ModelUsage

    answers: dict[str, list[str]] = defaultdict(list)
    for prompt, text in run.outputs.select("prompt", "text").iter_rows():
        answers[prompt].append(text)

    def answer(messages: list[Any], *rest: Any) -> ModelOutput:
        output = ModelOutput.from_content("mockllm", answers[messages[-1].text].pop())
        return output.model_copy(update={"usage": ModelUsage()})

    return answer


@pytest.mark.parametrize(
    ("name", "options"),
    [("roles", {"language": "en"}), ("decisions", {}), ("words", {"language": "en"})],
)
def test_the_same_answers_are_the_same_numbers(
    name: str, options: dict[str, str], tmp_path: Path
) -> None:
    options = {**SMALL, **options}
    run = tiltmeter.run(name, "planted", tmp_path / "run", **options)
    model = inspect_ai.model.get_model("mockllm/model", custom_outputs=stand_in(run))
    task = tiltmeter_inspect.protocol_task(name, **options)
    (log,) = inspect_ai.eval(task, model=model, log_dir=str(tmp_path), display="none")
    assert log.status == "success", log.error
    assert len(log.samples) == len(run.outputs)
    (scored,) = log.results.scores
    told = {name: one.value for name, one in scored.metrics.items()}
    verdicts = [one.as_dict() for one in run.verdicts()]
    limits = sorted(one["low"] for one in verdicts if one["low"] is not None)
    assert limits and sorted(v for k, v in told.items() if k.endswith(".low")) == limits
    adjusted = sorted(one["p_adjusted"] for one in verdicts if one["p_adjusted"] is not None)
    assert sorted(v for k, v in told.items() if k.endswith(".p_adjusted")) == adjusted
    again = tiltmeter.run(name, f"file:{log.location}", tmp_path / "again", **options)
    assert counts(again) == counts(run)
    values = [one.scores["labels"].value for one in log.samples]
    if name == "roles":
        assert {v: values.count(v) for v in values} == {row[1]: n for row, n in counts(run).items()}


def counts(run: tiltmeter.Run) -> dict[tuple[str, str], int]:
    """(attribute, value) → how many labels."""
    rows = run.labels.group_by("attribute", "value").len().iter_rows()
    return {(attribute, value): number for attribute, value, number in rows}


def test_tasks_are_found_by_name() -> None:
    from inspect_ai._util.registry import registry_lookup

    for name in tiltmeter_inspect.NAMES:
        assert registry_lookup("task", f"tiltmeter/{name}") is not None
