"""Results of one model in the format of Every Eval Ever, version 0.3.0: one JSON of its estimates
and JSON lines of its labels.

Source: every_eval_ever 0.3.0, schemas/eval.schema.json and instance_level_eval.schema.json; arXiv
2606.14516. Every value of its `details` is a string. The format asks if a lower score is better and
if an answer is correct. Neither fits a tilt or a label: so the description states which score means
no tilt, and an answer counts as correct if a label could be read from it.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from ..analyse.words import reading
from ..protocol import MeasureSpec, Protocol
from ..protocol.measures import measure_kind
from ..records import ANSWER, OUTCOMES, VOTE, Estimate, Json, __version__
from ..report.page_model.sanitize import ascii_escapes
from ..store.queries.trials import TrialPart
from .samples import AttributeLabels, Sample

SCHEMA_VERSION = "0.3.0"
OPEN = "to be filled in"
_UNSAFE = re.compile(r"[^\w.-]")
_DETAILS = (
    *("instrument", "variant", "unit", "condition", "contrast", "n", "clusters", "test", "p"),
    *("p_adjusted", "family", "family_size", "adjustment", "detectable", "null_low", "null_high"),
    *("outcomes", "correction", "note", "signature"),
)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The facts that all results of one model share.

    subject: the model's name, without folders; created: Unix seconds of this export, different for
    each model of a run; ended: when the run ended, ISO 8601 or ""; parts: the model's trials by
    mode; judges: {annotator: models that it asked}.
    """

    protocol: Protocol
    subject: str
    created: int
    ended: str
    parts: Sequence[TrialPart]
    judges: Mapping[str, Sequence[str]]

    @property
    def model_id(self) -> str:
        """Returns `OWNER/NAME` as on the Hugging Face Hub if named so, else `KIND/NAME`."""
        return _model_id(self.subject)

    @property
    def id(self) -> str:
        """The evaluation's id, `PROTOCOL/MODEL/SECONDS`."""
        return f"tiltmeter-{self.protocol.name}/{self.model_id}/{self.created}"

    @property
    def stem(self) -> str:
        """The path of the model's JSON and JSON-lines files in the data store, without suffix."""
        owner, _, name = self.model_id.partition("/")
        number = UUID(bytes=hashlib.sha256(self.id.encode()).digest()[:16], version=4)
        return f"data/tiltmeter-{self.protocol.name}/{owner}/{name.replace('/', '_')}/{number}"


def _model_id(name: str) -> str:
    kind, _, rest = name.partition(":")
    parts = [_UNSAFE.sub("-", part).strip("-.") or "-" for part in (rest or kind).split("/")]
    return "/".join(parts if len(parts) == 2 else (kind, *parts))


def aggregate(
    evaluation: Evaluation, rows: Iterable[Estimate], instances: Mapping[str, Json]
) -> dict[str, Json]:
    """Returns the JSON of estimates that have a value. instances: of `describe_instances`."""
    protocol = evaluation.protocol
    details: dict[str, Json] = {"detailed_evaluation_results": instances} if instances else {}
    if evaluation.ended:
        details["evaluation_timestamp"] = evaluation.ended
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": evaluation.id,
        "retrieved_timestamp": str(evaluation.created),
        "source_metadata": {
            "source_name": protocol.title,
            "source_type": "evaluation_run",
            "source_organization_name": OPEN,
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "tiltmeter", "version": __version__},
        "model_info": _model_info(evaluation.subject),
        "evaluation_results": [_result(evaluation, row) for row in rows if _is_number(row.value)],
        **details,
    }


def _model_info(name: str) -> dict[str, Json]:
    return {
        "name": name,
        "id": _model_id(name),
        "inference_platform": name.partition(":")[0],
        "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
    }


def _is_number(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _result(evaluation: Evaluation, row: Estimate) -> dict[str, Json]:
    protocol = evaluation.protocol
    levels = ", ".join([*row.condition.values(), reading.contrast_label(row)]).strip(", ")
    return {
        "evaluation_result_id": _result_id(row),
        "evaluation_name": f"{protocol.name}: {row.measure} ({levels})",
        "source_data": {
            "dataset_name": f"{protocol.name}/{protocol.version}",
            "source_type": "other",
            "additional_details": {"data": protocol.digest, "citation": protocol.citation},
        },
        "metric_config": _metric(evaluation, row),
        "score_details": _score(protocol, row),
        "generation_config": _generation(evaluation.parts, row),
    }


def _result_id(row: Estimate) -> str:
    about = (row.measure, row.instrument, row.condition, row.contrast, row.variant)
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:32]


def _metric(evaluation: Evaluation, row: Estimate) -> dict[str, Json]:
    spec = _spec(evaluation.protocol, row)
    null = reading.null_of(spec) if spec else None
    text = (spec.text or spec.kind) if spec else row.measure
    about = f"{text}. " + ("" if null is None else f"{null:g} is no tilt. ")
    low, high = _bounds(spec, row)
    judges = evaluation.judges.get(row.instrument, ())
    scoring: dict[str, Json] = {
        "judges": [{"model_info": _model_info(name)} for name in judges],
        "input_prompt": f"that of tiltmeter's instrument {row.instrument}",
    }
    return {
        "evaluation_description": f"{about}Neither direction is better.",
        "metric_id": f"tiltmeter.{evaluation.protocol.name}.{row.measure}",
        "metric_name": row.measure,
        "metric_kind": spec.kind if spec else row.measure,
        "metric_unit": row.unit,
        "lower_is_better": False,
        "score_type": "continuous",
        "min_score": low,
        "max_score": high,
        **({"llm_scoring": scoring} if judges else {}),
    }


def _spec(protocol: Protocol, row: Estimate) -> MeasureSpec | None:
    return next((spec for spec in protocol.measures if spec.name == row.measure), None)


def _bounds(spec: MeasureSpec | None, row: Estimate) -> tuple[float | str, float | str]:
    kind = measure_kind(spec.kind) if spec else None
    low, high = (kind.low, kind.high) if kind else (-math.inf, math.inf)
    is_inside = row.value is not None and low <= row.value <= high
    return (
        low if is_inside and math.isfinite(low) else "-Infinity",
        high if is_inside and math.isfinite(high) else "Infinity",
    )


def _score(protocol: Protocol, row: Estimate) -> dict[str, Json]:
    spec = _spec(protocol, row)
    null = reading.null_of(spec) if spec else None
    details = {name: _text(getattr(row, name)) for name in _DETAILS} | {"null": _text(null)}
    uncertainty: dict[str, Json] = {"num_samples": int(row.n)}
    if row.low is not None and row.high is not None and _is_number(row.low + row.high):
        uncertainty["confidence_interval"] = {
            "lower": row.low,
            "upper": row.high,
            "confidence_level": row.confidence or 0.95,
            "method": row.interval_method or "",
        }
    return {
        "score": row.value,
        "details": {name: text for name, text in details.items() if text},
        "uncertainty": uncertainty,
    }


def _text(value: Json) -> str:
    """Returns a value of `details` as text: "" for None, JSON for all but text."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def _generation(parts: Sequence[TrialPart], row: Estimate) -> dict[str, Json]:
    part = next((one for one in parts if one.mode == row.condition.get("mode", one.mode)), None)
    if part is None:
        return {}
    settings: dict[str, Json] = {"temperature": part.temperature, "top_p": part.top_p}
    if part.max_tokens:
        settings["max_tokens"] = part.max_tokens
    details = {"mode": part.mode, "samples": str(part.samples), "begin": part.begin}
    return {"generation_args": settings, "additional_details": details}


def instances(evaluation: Evaluation, samples: Iterable[Sample], texts: bool) -> Iterator[str]:
    """Yields a line of JSON per label. texts: True if the lines hold the answers too."""
    for sample in samples:
        for labels in sample.labels:
            for value, weight in labels.values:
                row = _instance(evaluation, sample, labels, (value, weight), texts)
                yield ascii_escapes(json.dumps(row, ensure_ascii=False)) + "\n"


def _instance(
    evaluation: Evaluation,
    sample: Sample,
    labels: AttributeLabels,
    label: tuple[str, float],
    texts: bool,
) -> dict[str, Json]:
    trial, output = sample.trial, sample.output
    value, weight = label
    sent = "\n\n".join(f"{role}: {text}" for role, text in sample.messages)
    about = {"mode": trial.mode, "sample": str(trial.sample), "annotator": labels.annotator}
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": evaluation.id,
        "model_id": evaluation.model_id,
        "evaluation_name": f"{evaluation.protocol.name}: {labels.attribute}",
        "sample_id": trial.id,
        "sample_hash": hashlib.sha256(trial.prompt.encode()).hexdigest(),
        "interaction_type": "single_turn",
        "input": {
            "raw": trial.prompt,
            "formatted": sent if len(sample.messages) > 1 else None,
            "reference": [],
        },
        "output": {"raw": [output.text] if texts else []},
        "answer_attribution": [
            {
                "turn_idx": 0,
                "source": "output.raw",
                "extracted_value": value,
                "extraction_method": labels.annotator,
                "is_terminal": not labels.attribute.endswith(VOTE),
            }
        ],
        "evaluation": {"score": weight, "is_correct": value not in OUTCOMES},
        "token_usage": sample.tokens,
        "error": None if output.outcome == ANSWER else output.outcome,
        "metadata": {**trial.factors, **about},
    }


def describe_instances(evaluation: Evaluation, sha256: str, rows: int) -> dict[str, Json]:
    """Describes the file of labels for the JSON; empty if that file has no row."""
    if not rows:
        return {}
    return {
        "format": "jsonl",
        "file_path": f"{evaluation.stem}_samples.jsonl",
        "hash_algorithm": "sha256",
        "checksum": sha256,
        "total_rows": rows,
    }
