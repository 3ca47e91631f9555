"""The per-item differences of a run's claims, and a file that keeps them without any texts."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import UsageError
from ...protocol import MeasureSpec, Protocol
from ...protocol.thresholds import RATIOS
from ...records import __version__, digest
from ...store import Store
from ...store.queries import label_sets
from ...system import intake
from ...system.writing import write_whole

if TYPE_CHECKING:
    from ...analyse.claims.verdicts import Verdict
    from ...analyse.claims.worse import Differences, Earlier

FILE = "baseline.json"
_SCHEMA = 1


def item_differences(
    store: Store, protocol: Protocol, claims: Sequence[Verdict]
) -> list[tuple[Verdict, Differences]]:
    """Returns the claims that compare a level with a baseline, each with its per-item differences.

    The key of an item is a hash of its prompts, so that runs with the same prompts share keys.
    """
    specs = {spec.name: spec for spec in protocol.measures}
    compared = []
    for claim in claims:
        spec = specs.get(claim.measure)
        if spec is not None and spec.contrast and claim.contrast and "baseline" in spec.contrast:
            compared.append((claim, _differences(store, protocol, spec, claim)))
    return compared


def _differences(
    store: Store, protocol: Protocol, spec: MeasureSpec, claim: Verdict
) -> Differences:
    from ...analyse.words.numerals import BETWEEN

    assert claim.contrast is not None
    factor, levels = next(iter(claim.contrast.items()))
    level, _, baseline = levels.partition(BETWEEN)
    sums: dict[str, dict[str, list[float]]] = {}
    prompts: dict[str, set[str]] = {}
    for factors, prompt, value, weight in label_sets.with_prompts(
        store, claim.subject, claim.query.annotator, spec.attribute
    ):
        side = factors.get(factor, "")
        if side not in (level, baseline) or not _is_within(factors, spec, claim):
            continue
        hit = _hit(spec, value)
        if hit is None:
            continue
        item = factors[protocol.item]
        prompts.setdefault(item, set()).add(prompt)
        pair = sums.setdefault(item, {}).setdefault(side, [0.0, 0.0])
        pair[0] += weight * hit
        pair[1] += weight
    differences = {}
    for item, sides in sums.items():
        if len(sides) == 2:
            a, b = (sides[side][0] / sides[side][1] for side in (level, baseline))
            key = digest("\n".join(sorted(prompts[item])))[:16]
            if spec.unit not in RATIOS:
                differences[key] = a - b
            elif a > 0 and b > 0:
                differences[key] = math.log(a / b)
    return differences


def _is_within(factors: Mapping[str, str], spec: MeasureSpec, claim: Verdict) -> bool:
    return all(factors.get(name) in levels for name, levels in spec.where.items()) and all(
        factors.get(name, level) == level for name, level in claim.condition.items()
    )


def _hit(spec: MeasureSpec, value: str) -> float | None:
    """Converts a label to a number: 1 or 0 for shares, else its value; None if not counted."""
    if spec.unit in RATIOS or spec.unit != "share":
        try:
            return float(value)
        except ValueError:
            return None
    if spec.among and value not in spec.among:
        return None
    return float(value in spec.values)


def keep(path: Path, name: str, claims: Sequence[tuple[Verdict, Differences]]) -> None:
    """Writes a baseline file, which holds only hashes and numbers."""
    from ...analyse.claims.worse import claim_key

    content = {
        "schema": _SCHEMA,
        "tiltmeter": __version__,
        "protocol": name,
        "claims": {
            claim_key(claim): {item: round(value, 6) for item, value in sorted(items.items())}
            for claim, items in claims
        },
    }
    write_whole(path, json.dumps(content, indent=1) + "\n")


def read(path: Path) -> Earlier:
    """Reads a baseline from its file or a run's folder. Raises UsageError if it is malformed."""
    from ...analyse.claims.worse import Earlier

    file = path / FILE if path.is_dir() else path
    try:
        data = json.loads(intake.read_text(file))
        claims = {
            str(key): {str(item): float(value) for item, value in items.items()}
            for key, items in data["claims"].items()
        }
    except FileNotFoundError:
        raise UsageError(
            f"There is no {file}. A run with a gate writes this file: name the folder of "
            "that run, or the file."
        ) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise UsageError(f"{file} is not a baseline. Name {FILE} of an earlier run.") from None
    return Earlier(path.name or str(path), claims)
