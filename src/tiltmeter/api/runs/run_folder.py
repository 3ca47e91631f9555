"""An existing run, read as frames, estimates, figures and a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from ...errors import RunError
from ...protocol import Protocol
from ...records import Estimate
from ...stages.steps import protocol_snapshot
from ...store import Store
from ...store.queries import tables as stored
from ...store.queries import trials
from ..options.table_options import TableOptions
from . import cached_results, checks, earlier_rules, gating, tables

if TYPE_CHECKING:  # import numpy and scipy, which a run that only asks must not pay for
    from ...analyse.claims.verdicts import Verdict
    from ...report.render import notebook
    from ...report.tables.cross_tables import CrossTable
    from .frames import Frame


class Run:
    """A run folder, read as frames.

    protocol: the audited protocol, re-read from its file if the design is unchanged.
    notes:    warnings about that file; usually empty.
    """

    folder: Path
    protocol: Protocol
    notes: list[str]

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        with Store(self.folder) as store:
            self.protocol, note = protocol_snapshot.protocol_of(store)
        self.notes = [f"{self.folder} {note}"] if note else []

    def __repr__(self) -> str:
        about = f"{self.protocol.name} {self.protocol.version}"
        try:
            counts = self.counts()
        except RunError as error:
            return f"<Run {self.folder}: {about}, {error}>"
        numbers = ", ".join(f"{number:,} {name}" for name, number in counts.items())
        return f"<Run {self.folder}: {about}, {numbers}>"

    def _frame(self, name: str) -> Frame:
        from .frames import table_frame

        with Store(self.folder) as store:
            return table_frame(store, name)

    def counts(self) -> dict[str, int]:
        """Returns the numbers of outputs and labels in the run."""
        with Store(self.folder) as store:
            return {name: stored.size(store, name) for name in ("outputs", "labels")}

    @property
    def trials(self) -> Frame:
        """Reads one row per trial: id, subject, mode, factors (a struct), sample, prompt, …"""
        return self._frame("trials")

    @property
    def calls(self) -> Frame:
        """Reads one row per answered request to a subject or a judge."""
        return self._frame("calls")

    @property
    def outputs(self) -> Frame:
        """Reads one row per output, with its trial's subject, mode, factors, sample and prompt."""
        return self._frame("outputs")

    @property
    def labels(self) -> Frame:
        """Reads one row per label; `current` is False if another label replaced it."""
        return self._frame("labels")

    def analyse(self, variant: str = "default") -> list[Estimate]:
        """Returns the estimates of a variant, computed from the labels unless they are cached."""
        from ...gold import majority

        majority.refresh(self.folder, self.protocol)
        with Store(self.folder) as store:
            return cached_results.estimates(store, self.protocol, variant)

    def verdicts(
        self, variant: str = "default", *, estimates: Sequence[Estimate] | None = None
    ) -> list[Verdict]:
        """Computes the verdict on each headline claim of a variant, in the order of the protocol.

        estimates: the result of `analyse`, to avoid computing it again.
        """
        from ...analyse.claims import verdicts
        from ...analyse.claims.background import read_background

        rows = self.analyse(variant) if estimates is None else estimates
        with Store(self.folder) as store:
            background = read_background(store, self.protocol, rows)
        return verdicts.verdicts(self.protocol, rows, background)

    @property
    def estimates(self) -> Frame:
        """Returns the estimates of the default variant as a frame, one row each."""
        return frame(self.analyse())

    def warnings(
        self,
        variant: str = "default",
        estimates: Sequence[Estimate] | None = None,
        *,
        cautions: bool = True,
    ) -> list[str]:
        """Returns the warnings about the estimates, one per text: another model behind the same
        name, texts that instruct the judges, labels that do not apply, options that cannot be
        read from the probabilities; then the cautions of the report, each with its claims and code.

        estimates: the result of `analyse`, to avoid computing it again; cautions: False to leave
        those of the report out.
        """
        rows = self.analyse(variant) if estimates is None else estimates
        with Store(self.folder) as store:
            texts = [*self.notes, *checks.warnings(store, self.protocol, rows)]
        judged = self.verdicts(variant, estimates=rows) if cautions else ()
        return [*texts, *checks.cautions(judged, texts)]

    def check(
        self,
        *thresholds: str,
        variant: str = "default",
        estimates: Sequence[Estimate] | None = None,
        fail_on: Sequence[str] = (),
        margin: str | None = None,
        baseline: Path | str | None = None,
        worse_by: str | None = None,
    ) -> checks.CheckResult:
        """Checks the estimates against thresholds such as `"gap > 0.1"` (the protocol's own and the
        given ones), and the headline claims against a gate.

        fail_on: "tilt", "margin", "worse" or several; margin: the sizes that would matter, such as
        "5" (points) or "5,length=10%"; baseline, worse_by: an earlier run, and how much worse a
        claim may be. A gate also writes this run's own baseline into the folder. estimates: as in
        `warnings`. Raises UsageError, before computing anything, for a threshold that does not fit
        the protocol.
        """
        bounds = checks.thresholds(self.protocol, thresholds)
        gates = gating.gate_of(self.protocol, fail_on, margin, baseline, worse_by)
        if not bounds and gates is None:
            return checks.check_all((), (), ())
        rows = self.analyse(variant) if estimates is None else estimates
        verdicts = self.verdicts(variant, estimates=rows)
        held_gate = (
            None if gates is None else gating.hold(self.folder, self.protocol, gates, verdicts)
        )
        result = checks.check_all(bounds, rows, verdicts, held_gate)
        if variant != "default":
            return result
        typed = " ".join(
            ("--fail-on", *(gates.gate.fail_on if gates else ()), "--margin", margin or "")
        )
        return replace(result, changed=tuple(self.changes(verdicts, result.answers(typed))))

    def changes(
        self, verdicts: Sequence[Verdict] | None = None, answers: Mapping[str, int] | None = None
    ) -> list[str]:
        """Returns one line per headline claim whose verdict differs from that of earlier rules on
        the same labels; stores the present verdicts.

        verdicts: of the default variant, to avoid computing them again; answers: {gate: exit code},
        to get also a line per gate whose answer has changed.
        """
        current = self.verdicts() if verdicts is None else verdicts
        return earlier_rules.changes(self.folder, current, answers)

    def report(
        self,
        path: Path | str | None = None,
        variant: str = "default",
        *,
        labels: Mapping[str, str] | None = None,
        brief: bool = False,
    ) -> Path:
        """Writes the report as one HTML file that opens from disk, or as Markdown if the path ends
        in .md; by default to RUN/report.html. Returns the path.

        labels: {short name: model}; brief: True for a single printed page.
        """
        target = path or self.folder / "report.html"
        return report(self.folder, path=target, variant=variant, labels=labels, brief=brief)

    def tables(
        self,
        *measures: str,
        variant: str = "default",
        labels: Mapping[str, str] | None = None,
        **options: Unpack[TableOptions],
    ) -> list[CrossTable]:
        """Lays out the estimates of some measures as a table of rows × columns; without a measure,
        makes the tables that the variant declares (a paper's own). labels: {short name: model}.
        """
        from ...analyse.words.short_model_names import with_names

        rows = with_names(self.analyse(variant), labels)
        return tables.tables(self.protocol, rows, measures, variant, options)

    def quotes(
        self,
        attribute: str,
        *,
        number: int = 2,
        by: Sequence[str] = (),
        labels: Mapping[str, str] | None = None,
    ) -> CrossTable:
        """Quotes `number` answers per value of an attribute and level of the factors in `by`, in
        the order of their ids, which are hashes. labels: {short name: model}.
        """
        from ...analyse.words.short_model_names import given_names
        from ...report.tables import quotes

        with Store(self.folder) as store:
            named = given_names(labels or {}, trials.subjects(store))
            return quotes.quotes(store, self.protocol, attribute, number=number, by=by, named=named)

    def save_figures(
        self,
        target: Path | str,
        *measures: str,
        variant: str = "default",
        format: str | None = None,
        words: str | None = None,
        labels: Mapping[str, str] | None = None,
        **options: Unpack[TableOptions],
    ) -> list[Path]:
        """Writes figures to a file that ends in .svg, .png or .pdf, or into a folder: all figures
        and the variant's tables, or only figures of the given measures; with `rows` or `columns`,
        or a table's name, that table as a figure. format: of files in a folder, svg by default;
        words: a column of the design, to draw only a histogram of the word counts of its texts;
        labels: {short name: model}.
        """
        from ...analyse.words.short_model_names import with_names

        if words:
            drawings = [tables.word_histogram(self.protocol, words)]
        else:
            estimates = with_names(self.analyse(variant), labels)
            drawings = tables.drawings(self.protocol, estimates, measures, variant, options)
        return tables.save_figures(drawings, Path(target), f".{format or 'svg'}")

    def figures(self, variant: str = "default") -> notebook.Drawings:
        """Returns the figures of a variant, for a notebook to display."""
        from ...report.render import notebook

        return notebook.drawings(self.protocol, self.analyse(variant))

    def figure(self, measure: str, variant: str = "default") -> notebook.Drawing:
        """Returns the figure of one measure, or of the outcomes ("outcomes")."""
        from ...report.render import notebook

        return notebook.drawing(self.protocol, self.analyse(variant), measure)

    def _repr_html_(self) -> str:
        from ...report.render import notebook

        return notebook.summary(self.protocol, self.verdicts(), self.counts(), self.notes)


def open_run(folder: Path | str) -> Run:
    """Opens an existing run. Raises RunError if the folder does not hold a run."""
    return Run(folder)


def frame(estimates: Sequence[Estimate]) -> Frame:
    """Makes a polars frame of estimates: conditions and contrasts are structs, outcomes are lists
    of labels with counts, and the last columns are the factors.
    """
    from .frames import estimates_frame

    return estimates_frame(estimates)


def report(
    *folders: Path | str,
    path: Path | str,
    variant: str = "default",
    labels: Mapping[str, str] | None = None,
    brief: bool = False,
) -> Path:
    """Writes the report of one or several runs: an HTML file that opens from disk, or Markdown if
    the path ends in .md. Returns the path.

    labels: {short name: model} in place of automatic names; UsageError for a model that no run has.
    brief: True for a page that fits one sheet.
    """
    from ...analyse.words.short_model_names import given_names
    from ...report.render import pages
    from ...report.several_runs import multi_run

    pages.check_ending(path)
    with ExitStack() as stack:
        runs = [
            multi_run.Analysed(
                stack.enter_context(Store(run.folder)), run.protocol, run.analyse(variant)
            )
            for run in map(Run, folders)
        ]
        known = (row.subject for run in runs for row in run.estimates)
        page = multi_run.report(runs, given_names(labels or {}, known))
    pages.write_page(page, path, brief)
    return Path(path)
