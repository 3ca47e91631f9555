"""Labels by the protocol's instruments as scores, and its headline claims, clustered by item and
adjusted, as metrics.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState

import tiltmeter
from tiltmeter.instruments import Instrument
from tiltmeter.protocol import Protocol
from tiltmeter.records import (
    ANSWER,
    ERROR,
    REFUSAL,
    Answered,
    Label,
    Output,
    Reply,
    Sampling,
    Trial,
    content_id,
)
from tiltmeter.stages.steps.label import annotators

_NUMBERS = ("value", "low", "high", "p_adjusted", "n")


@metric(scores="unreduced")
def claims(protocol: str, options: Mapping[str, Any]) -> Metric:
    """The headline claims of the answers, as `tiltmeter run` would make them: `NAME`, `NAME.low`,
    `NAME.high`, `NAME.p_adjusted`, `NAME.n`. Draws of one item are one cluster, never independent.

    options: those of `tiltmeter.run` that chose the prompts.
    """

    def of_scores(scores: list[SampleScore]) -> Mapping[str, float]:
        rows = [score.score.metadata["answer"] for score in scores if score.score.metadata]
        if not rows:
            return {}
        model = rows[0]["model"]
        draws = 1 + max(row["sample"] for row in rows)
        with tempfile.TemporaryDirectory() as folder:
            run = tiltmeter.run(
                protocol, {model: rows}, Path(folder) / "run", samples=draws, **options
            )
            told = [verdict.as_dict() for verdict in run.verdicts()]
        return {
            name if number == "value" else f"{name}.{number}": float(claim[number])
            for claim in told
            for name in [_name(claim)]
            for number in _NUMBERS
            if claim[number] is not None
        }

    return of_scores


def _name(claim: Mapping[str, Any]) -> str:
    """A claim by its measure and what tells it from others of it."""
    named = {**claim["condition"], **(claim["contrast"] or {})}
    levels = ", ".join(level for name, level in named.items() if name != "mode")
    return f"{claim['measure']} ({levels})" if levels else claim["measure"]


def labels(protocol: str, options: Mapping[str, Any]) -> Scorer:
    """Scores each answer with its labels; `claims` are its metrics. options: as there."""

    @scorer(name="labels", metrics=[claims(protocol, options)])
    def by_instruments() -> Scorer:
        declared = tiltmeter.load_protocol(protocol)
        instruments = annotators(declared)

        async def score(state: TaskState, target: Target) -> Score:
            trial, output = _trial(declared, state), _output(state.output)
            found = [one for made in instruments for one in _labels(made, trial, output)]
            by_attribute: dict[str, list[str]] = {}
            for label in found:
                by_attribute.setdefault(label.attribute, []).append(label.value)
            values = {name: ", ".join(said) for name, said in by_attribute.items()}
            answer = {
                **trial.factors,
                "sample": trial.sample,
                "text": output.text,
                "outcome": output.outcome,
                "model": str(state.model),
            }
            return Score(
                value=values if len(values) > 1 else next(iter(values.values()), ""),
                answer="; ".join(values.values()),
                metadata={"answer": answer, "annotators": [one.annotator for one in instruments]},
            )

        return score

    return by_instruments()


def _trial(protocol: Protocol, state: TaskState) -> Trial:
    names = (*protocol.factors, protocol.item)
    factors = {name: str(state.metadata[name]) for name in names}
    return Trial(
        id=content_id(state.sample_id, state.epoch),
        subject=str(state.model),
        mode=str(state.metadata["mode"]),
        factors=factors,
        sample=state.epoch - 1,
        prompt=state.user_prompt.text,
        begin="",
        sampling=Sampling(),
    )


def _output(output: ModelOutput) -> Output:
    if output.error or not output.choices:
        return Output("", ERROR, output.error or "", "")
    refused = output.stop_reason == "content_filter"
    return Output("", REFUSAL if refused else ANSWER, output.completion, "")


def _labels(instrument: Instrument, trial: Trial, output: Output) -> Sequence[Label]:
    if not instrument.can_label(trial):
        return []
    if output.outcome != ANSWER:
        return [
            Label(trial.id, instrument.annotator, attribute, output.outcome)
            for attribute in instrument.attributes
        ]
    steps = instrument.steps(Answered(trial, output._replace(trial=trial.id), Reply(output.text)))
    try:
        next(steps)
    except StopIteration as end:
        found: Sequence[Label] = end.value
        return found
    raise RuntimeError(f"{instrument.name} asks a model, which this task has none for.")
