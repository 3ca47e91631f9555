"""A run for other tools, without names of people, folders, addresses and keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...protocol import Protocol
from ...records import Estimate, Json
from ...store import Store
from ...store.queries import labels
from ..runs.run_folder import Run

if TYPE_CHECKING:
    from ...analyse.claims.verdicts import Verdict
    from ...formats.private import Hide
    from ...report.page_model.page import Content
    from ...report.run_page.models_asked import Facts


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A run prepared for export. models: facts from each model's calls; hide: masks names."""

    store: Store
    protocol: Protocol
    estimates: Sequence[Estimate]
    verdicts: Sequence[Verdict]
    models: Sequence[Facts]
    hide: Hide

    @property
    def ended(self) -> str:
        """The time of the run's last answered call, ISO 8601; "" if there was none."""
        return max((model.last for model in self.models), default="")

    @property
    def begun(self) -> str:
        """The time of the run's first answered call, ISO 8601; "" if there was none."""
        return min((model.first for model in self.models), default="")

    @property
    def judges(self) -> Mapping[str, list[str]]:
        """Returns {annotator: names of the models that it asked}."""
        by_model: dict[str, list[str]] = {}
        for model in self.models:
            if model.role == "judge":
                for annotator in model.labels_as:
                    by_model.setdefault(self.hide(annotator), []).append(self.hide(model.model))
        return by_model

    def every_estimate(self) -> list[Estimate]:
        """Returns the estimates of all models."""
        from ...report.page_model.sanitize import map_texts

        return [map_texts(row, self.hide) for row in self.estimates]

    def of(self, subject: str) -> list[Estimate]:
        """Returns the estimates of one model."""
        name = self.hide(subject)
        return [row for row in self.every_estimate() if row.subject == name]

    def claims(self, subject: str) -> list[dict[str, Json]]:
        """Returns the verdicts of one model, as JSON."""
        from ...report.page_model.sanitize import map_texts

        rows = [verdict.as_dict() for verdict in self.verdicts if verdict.subject == subject]
        return [map_texts(claim, self.hide) for claim in rows]

    def content(self, texts: bool) -> Content:
        """Builds the content of the run's report. texts: True to include answers and pictures."""
        from ...formats import private
        from ...report.run_page import content

        built = content.build(self.store, self.protocol, self.estimates)
        return private.hide(built, labels.annotators(self.store), texts)


@contextmanager
def outgoing(folder: Path | str, variant: str) -> Iterator[Outgoing]:
    """Opens a run for export, with the estimates and verdicts of a variant."""
    from ...formats.private import hider
    from ...report.run_page import models_asked

    run = Run(folder)
    estimates = run.analyse(variant)
    verdicts = run.verdicts(variant, estimates=estimates)
    with Store(run.folder) as store:
        hide = hider(labels.annotators(store))
        yield Outgoing(store, run.protocol, estimates, verdicts, models_asked.facts(store), hide)
