"""A finished run in the formats of other tools. People are P1, P2, …; folders, addresses and keys
are left out.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..protocol import Protocol
from ..records import Estimate
from ..store import Store
from ..store.queries import labels, trials
from .deposits import new_folder
from .run_folder import Run

if TYPE_CHECKING:
    from ..formats.private import Hide
    from ..report.subjects import Facts


@dataclass(frozen=True, slots=True)
class _Leaving:
    """A run on its way out. models: what the calls say of each."""

    store: Store
    protocol: Protocol
    estimates: Sequence[Estimate]
    models: Sequence[Facts]
    hide: Hide

    @property
    def ended(self) -> str:
        """When its last call was answered, ISO 8601; "" where there was none."""
        return max((one.last for one in self.models), default="")

    @property
    def judges(self) -> Mapping[str, list[str]]:
        """{annotator: models that it asked}."""
        found: dict[str, list[str]] = {}
        for one in self.models:
            if one.role == "judge":
                found.setdefault(self.hide(one.purpose), []).append(self.hide(one.model))
        return found

    def of(self, subject: str) -> list[Estimate]:
        """The estimates of one model."""
        from ..report.sanitize import map_texts

        return [map_texts(row, self.hide) for row in self.estimates if row.subject == subject]


@contextmanager
def _leaving(folder: Path | str, variant: str) -> Iterator[_Leaving]:
    from ..formats.private import hider
    from ..report import subjects

    run = Run(folder)
    estimates = run.analyse(variant)
    with Store(run.folder) as store:
        hide = hider(labels.annotators(store))
        yield _Leaving(store, run.protocol, estimates, subjects.facts(store), hide)


def export_every_eval_ever(
    folder: Path | str, target: Path | str, *, texts: bool = False, variant: str = "default"
) -> list[Path]:
    """Writes the estimates and labels of a run in the format of Every Eval Ever (0.3.0) into a new
    folder, laid out as its data store is: for each model a JSON and JSON lines; returns the files.
    texts: with what was answered.
    """
    from ..formats import every_eval_ever, samples

    target = new_folder(target)
    with _leaving(folder, variant) as run:
        for place, subject in enumerate(trials.subjects(run.store)):
            evaluation = every_eval_ever.Evaluation(
                run.protocol,
                run.hide(subject),
                int(time.time()) + place,
                run.ended,
                [part for part in trials.parts(run.store) if part.subject == subject],
                run.judges,
            )
            path = target / f"{evaluation.stem}.json"
            path.parent.mkdir(parents=True)
            rows = every_eval_ever.instances(
                evaluation, samples.samples(run.store, subject, run.hide), texts
            )
            checksum, number = _write_lines(path.with_name(f"{path.stem}_samples.jsonl"), rows)
            instances = every_eval_ever.describe_instances(evaluation, checksum, number)
            written = every_eval_ever.aggregate(evaluation, run.of(subject), instances)
            path.write_text(json.dumps(written, ensure_ascii=False, indent=1) + "\n", "utf-8")
    return sorted(path for path in target.rglob("*") if path.is_file())


def _write_lines(path: Path, lines: Iterable[str]) -> tuple[str, int]:
    """Writes lines; their SHA-256 and number. No file where there is none."""
    checksum, number = hashlib.sha256(), 0
    with path.open("wb") as file:
        for line in lines:
            content = line.encode()
            file.write(content)
            checksum.update(content)
            number += 1
    if not number:
        path.unlink()
    return checksum.hexdigest(), number
