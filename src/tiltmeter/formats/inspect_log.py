"""A run as a log of Inspect (`.eval`): one sample per sampled answer to a prompt, with every label
as a score, and the headline claims as metrics.

Written without Inspect, as version 2 of its format has it (inspect_ai.log of 0.3.285): a zip of
JSON, whose entries may be deflated.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..protocol import Protocol
from ..records import ERROR, REFUSAL, Json, __version__, content_id
from ..store.queries.trials import TrialPart
from .samples import AttributeLabels, Sample
from .tracked import levels_of

VERSION = 2
_INPUT_CHARACTERS = 500  # of a prompt in the list of samples
_METRICS = ("value", "low", "high", "p_adjusted")


@dataclass(frozen=True, slots=True)
class InspectLog:
    """The log of one model in one mode.

    subject: the model's name, without folders; part: the model's trials in the mode; begun, ended:
    ISO 8601; claims: the model's verdicts in the mode, as JSON.
    """

    protocol: Protocol
    subject: str
    part: TrialPart
    begun: str
    ended: str
    claims: Sequence[Mapping[str, Json]]

    @property
    def model(self) -> str:
        """The model's name as Inspect writes it, `KIND/NAME`."""
        return self.subject.replace(":", "/", 1)


def write_log(path: Path, log: InspectLog, samples: Iterable[Sample]) -> int:
    """Writes a log and returns how many samples it has."""
    spec, summaries = _spec(log), list[Json]()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        _write(archive, "_journal/start.json", {"version": VERSION, "eval": spec, "plan": _PLAN})
        for sample in samples:
            row = _sample(log, sample)
            _write(archive, f"samples/{row['id']}_epoch_{row['epoch']}.json", row)
            summaries.append(_summary(row, sample))
        _write(archive, "summaries.json", summaries)
        _write(archive, "header.json", _header(log, spec, len(summaries)))
    return len(summaries)


def _write(archive: zipfile.ZipFile, name: str, value: Json) -> None:
    archive.writestr(name, json.dumps(value, ensure_ascii=False))


_PLAN: Mapping[str, Json] = {"name": "plan", "steps": [], "config": {}}


def _spec(log: InspectLog) -> dict[str, Json]:
    protocol, part = log.protocol, log.part
    config = {"temperature": part.temperature, "top_p": part.top_p, "max_tokens": part.max_tokens}
    return {
        "eval_id": content_id(protocol.digest, log.subject, part.mode, log.ended)[:22],
        "run_id": content_id(protocol.digest, log.ended)[:22],
        "created": log.begun,
        "task": f"tiltmeter/{protocol.name}",
        "task_id": content_id(protocol.digest)[:22],
        "task_version": protocol.version,
        "task_args": {"mode": part.mode},
        "dataset": {"name": protocol.name, "samples": -(-part.trials // part.samples)},
        "model": log.model,
        "model_generate_config": {name: one for name, one in config.items() if one is not None},
        "config": {"epochs": part.samples},
        "packages": {"tiltmeter": __version__},
        "metadata": {
            "title": protocol.title,
            "data": protocol.digest,
            "citation": protocol.citation,
            "signatures": sorted({str(claim["signature"]) for claim in log.claims}),
        },
    }


def _header(log: InspectLog, spec: Mapping[str, Json], samples: int) -> dict[str, Json]:
    return {
        "version": VERSION,
        "status": "success",
        "eval": spec,
        "plan": _PLAN,
        "results": {
            "total_samples": samples,
            "completed_samples": samples,
            "scores": [_claim(claim) for claim in log.claims],
        },
        "stats": {"started_at": log.begun, "completed_at": log.ended},
        "metadata": spec["metadata"],
    }


def _claim(claim: Mapping[str, Json]) -> dict[str, Json]:
    """Returns a verdict as a score: numbers as metrics, everything else as metadata."""
    levels = levels_of(claim)
    numbers = ((name, claim[name]) for name in _METRICS)
    return {
        "name": " ".join([str(claim["measure"]), *([f"({', '.join(levels)})"] if levels else [])]),
        "scorer": claim["instrument"],
        "metrics": {
            name: {"name": name, "value": value} for name, value in numbers if value is not None
        },
        "metadata": {name: value for name, value in claim.items() if name not in _METRICS},
    }


def _sample(log: InspectLog, sample: Sample) -> dict[str, Json]:
    trial, output = sample.trial, sample.output
    asked: list[Json] = [{"role": role, "content": text} for role, text in sample.messages]
    is_error = output.outcome == ERROR
    reply: Json = {"role": "assistant", "content": output.text, "model": log.model}
    stop = "content_filter" if output.outcome == REFUSAL else "stop"
    choices: list[Json] = [] if is_error else [{"message": reply, "stop_reason": stop}]
    usage: dict[str, Json] = {"usage": sample.tokens} if sample.tokens else {}
    error = {"message": output.text, "traceback": "", "traceback_ansi": ""}
    return {
        "id": sample.cell,
        "epoch": trial.sample + 1,
        "input": asked,
        "target": "",
        "messages": [*asked] if is_error else [*asked, reply],
        "output": {"model": log.model, "choices": choices, **usage},
        "scores": dict(map(_score, sample.labels)),
        "metadata": {**trial.factors, "mode": trial.mode, "trial": trial.id, "begin": trial.begin},
        **({"error": error} if is_error else {}),
    }


def _score(labels: AttributeLabels) -> tuple[str, dict[str, Json]]:
    """Returns (name, score) of an annotator's attribute: a value, a ranked list, or shares."""
    values: list[Json] = [value for value, _ in labels.values]
    value: Json = labels.probabilities or (values if labels.ranked else values[0])
    answer = ", ".join(value for value, _ in labels.values)
    about = {"annotator": labels.annotator, "attribute": labels.attribute}
    weights = {} if labels.probabilities else {"weights": [one for _, one in labels.values]}
    score: dict[str, Json] = {"value": value, "answer": answer, "metadata": {**about, **weights}}
    return f"{labels.attribute} ({labels.annotator})", score


def _summary(row: Mapping[str, Json], sample: Sample) -> dict[str, Json]:
    """Returns the entry of one sample in the list of samples."""
    names = ("id", "epoch", "target", "metadata", "scores")
    failed = {"error": sample.output.text} if "error" in row else {}
    return {
        **{name: row[name] for name in names},
        **failed,
        "input": sample.messages[-1][1][:_INPUT_CHARACTERS],
        "completed": True,
        "message_count": len(sample.messages) + ("error" not in row),
    }
