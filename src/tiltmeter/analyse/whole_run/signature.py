"""The one line next to a number: two papers that cite the same line measured the same.

Computed from frozen inputs (the protocol's digest, the plan, the annotator's hash), never from the
state of an object.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...protocol import Protocol
from ...records import __version__, content_id

# of the rules by which rows are tested and verdicts made; 2: cue words are a sample
RULES = 2


def short(
    protocol: Protocol,
    subject: str,
    annotator: str,
    stratum: Mapping[str, str],
    n: int,
    variant: str,
    frozen: Mapping[str, Any],
) -> str:
    """Returns `protocol:1|data:…|subject:…|by:…|mode:…|lang:…|n:…|var:…|seed:…|rules:…|tm:…`; the
    order of the fields never changes.
    """
    parts = {
        "protocol": f"{protocol.name}/{protocol.version}",
        "data": str(frozen.get("digest", protocol.digest))[:8],
        "subject": subject,
        "by": annotator,
        **stratum,
        "n": n,
        "var": variant,
        "seed": frozen.get("seed", 0),
    }
    for name in ("begin", "temperature", "max_tokens", "reasoning"):
        if frozen.get(name) is not None:
            parts[name] = frozen[name]
    if frozen.get("system") is not None:
        parts["system"] = content_id(frozen["system"])[:8]
    if frozen.get("hidden_prompt"):
        parts["hidden"] = content_id(frozen["hidden_prompt"])[:8]
    parts["rules"] = RULES
    parts["tm"] = __version__
    return "|".join(f"{name}:{str(value).replace('|', '/')}" for name, value in parts.items())


def long(
    protocol: Protocol,
    subjects: list[dict[str, Any]],
    annotators: list[str],
    frozen: Mapping[str, Any],
    endpoints: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Returns everything that a number of this run depends on, as plain values.

    subjects: per subject, facts from its calls (served model, fingerprint, dates, parameters that
    the endpoint refused).
    """
    return {
        "tiltmeter": __version__,
        "rules": RULES,
        "protocol": {
            "name": protocol.name,
            "version": protocol.version,
            "digest": frozen.get("digest", protocol.digest),
        },
        "modes": {
            name: {
                "samples": mode.samples,
                "begin": mode.begin,
                "logprobs": mode.logprobs,
                **mode.sampling._asdict(),
            }
            for name, mode in protocol.modes.items()
        },
        "chosen": {
            name: value
            for name, value in frozen.items()
            if name not in ("protocol", "version", "digest")
        },
        "subjects": subjects,
        "annotators": annotators,
        **({"endpoints": dict(endpoints)} if endpoints else {}),
    }
