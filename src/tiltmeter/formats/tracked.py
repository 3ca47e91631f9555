"""A run for experiment trackers (MLflow and others): numbers by name, settings, tags, tables."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence

from ..protocol import Protocol
from ..records import Estimate, Json, __version__

_NUMBERS = ("low", "high", "p_adjusted", "n", "detectable")
_NO_NAME = re.compile(r"[^\w.\- :/]+")  # what MLflow refuses in the name of a metric
_TAG_CHARACTERS = 5_000  # that MLflow keeps of a tag


def metrics(claims: Sequence[Mapping[str, Json]]) -> dict[str, float]:
    """Returns {name: number} per headline claim: `MEASURE/LEVEL` (its value), `….low`, `….high`,
    `….p_adjusted`, `….n`, `….detectable`; a name that is taken gets the instrument as well.
    """
    values: dict[str, float] = {}
    for claim in claims:
        name = _NO_NAME.sub("_", "/".join([str(claim["measure"]), *levels_of(claim)]))
        if name in values:
            name = _NO_NAME.sub("_", f"{name}/{claim['instrument']}")
        for number in ("value", *_NUMBERS):
            value = claim[number]
            if isinstance(value, (int, float)) and math.isfinite(value):
                values[name if number == "value" else f"{name}.{number}"] = float(value)
    return values


def levels_of(claim: Mapping[str, Json]) -> list[str]:
    """Returns the levels that distinguish a claim from others of its measure, except the mode."""
    mappings = (claim["condition"], claim["contrast"])
    pairs = (item for one in mappings if isinstance(one, Mapping) for item in one.items())
    return [str(level) for name, level in pairs if name != "mode"]


def settings(protocol: Protocol, subject: str, variant: str) -> dict[str, str]:
    """Returns the settings that a tracker logs: protocol, data, model, variant and version."""
    return {
        "protocol": f"{protocol.name}/{protocol.version}",
        "data": protocol.digest,
        "model": subject,
        "variant": variant,
        "tiltmeter": __version__,
    }


def tags(claims: Sequence[Mapping[str, Json]]) -> dict[str, str]:
    """Returns tags with the claims' signatures, verdicts and sentences."""
    values = {
        "tiltmeter.signature": sorted({str(claim["signature"]) for claim in claims}),
        "tiltmeter.verdicts": [str(claim["word"]) for claim in claims],
        "mlflow.note.content": [f"- {claim['sentence']}" for claim in claims],
    }
    return {name: "\n".join(lines)[:_TAG_CHARACTERS] for name, lines in values.items() if lines}


def table(rows: Sequence[Estimate]) -> dict[str, Json]:
    """Returns all estimates as `columns` and `data`, with mappings as JSON."""
    columns = Estimate.columns()
    cells = [[_cell(value) for value in row.as_dict().values()] for row in rows]
    return {"columns": columns, "data": cells}


def _cell(value: Json) -> Json:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, Mapping) else value
