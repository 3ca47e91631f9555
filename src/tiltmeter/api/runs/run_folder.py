"""A run that is there, read as frames, estimates, figures and a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from ...errors import RunError
from ...gold import majority
from ...protocol import Protocol
from ...records import Estimate
from ...stages.steps import protocol_snapshot
from ...store import Store
from ...store.queries import tables as stored
from ...store.queries import trials
from ..options.table_options import TableOptions
from . import cached_results, checks, earlier_rules, gating, tables

if TYPE_CHECKING:  # they bring numpy and scipy, which a run that only asks does without
    from ...analyse.claims.verdicts import Verdict
    from ...report.render import notebook
    from ...report.tables.cross_tables import CrossTable
    from .frames import Frame


class Run:
    """A run folder, read as frames.

    protocol: what was asked, as its file has it now where the design is still the same.
    notes:    what is to be said of that, such as a file that has moved; mostly empty.
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
        """Counts the outputs and labels that the run holds."""
        with Store(self.folder) as store:
            return {name: stored.size(store, name) for name in ("outputs", "labels")}

    @property
    def trials(self) -> Frame:
        """A row for each planned trial: id, subject, mode, factors (a struct), sample, prompt, …"""
        return self._frame("trials")

    @property
    def calls(self) -> Frame:
        """A row for each request that was answered, by a subject or by a judge."""
        return self._frame("calls")

    @property
    def outputs(self) -> Frame:
        """A row for each output, with its trial's subject, mode, factors, sample and prompt."""
        return self._frame("outputs")

    @property
    def labels(self) -> Frame:
        """A row for each label; `current` is 0 where another one took its place."""
        return self._frame("labels")

    def analyse(self, variant: str = "default") -> list[Estimate]:
        """The estimates of a variant from the labels: computed anew only where something that they
        depend on is new (`kept`).
        """
        majority.refresh(self.folder, self.protocol)
        with Store(self.folder) as store:
            return cached_results.estimates(store, self.protocol, variant)

    def verdicts(
        self, variant: str = "default", *, estimates: Sequence[Estimate] | None = None
    ) -> list[Verdict]:
        """Judges each headline claim of a variant, in the order of the protocol.

        estimates: those of `analyse`, where they are at hand.
        """
        from ...analyse.claims import verdicts
        from ...analyse.claims.background import read_background

        rows = self.analyse(variant) if estimates is None else estimates
        with Store(self.folder) as store:
            background = read_background(store, self.protocol, rows)
        return verdicts.verdicts(self.protocol, rows, background)

    @property
    def estimates(self) -> Frame:
        """The estimates of the default variant, a row each (`frame`)."""
        return frame(self.analyse())

    def warnings(
        self, variant: str = "default", estimates: Sequence[Estimate] | None = None
    ) -> list[str]:
        """Returns the warnings about the estimates, a sentence each: another model behind the
        same name, texts that instruct the judges, labels that do not apply, options that cannot be
        read from the probabilities.

        estimates: those of `analyse`, where they are there already.
        """
        found = self.analyse(variant) if estimates is None else estimates
        with Store(self.folder) as store:
            return [*self.notes, *checks.warnings(store, self.protocol, found)]

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
        """Checks the estimates against thresholds such as `"gap > 0.1"`, the protocol's own and
        those given here, and the headline claims against a gate.

        fail_on: "tilt", "margin", "worse" or several; margin: how much would matter, such as "5"
        (points) or "5,length=10%"; baseline, worse_by: an earlier run, and how much worse than it
        is allowed. A gate keeps a baseline of its own in the folder. estimates: as in `warnings`.
        UsageError, before anything is computed, for a threshold that the protocol cannot have.
        """
        bounds = checks.thresholds(self.protocol, thresholds)
        gates = gating.gate_of(self.protocol, fail_on, margin, baseline, worse_by)
        if not bounds and gates is None:
            return checks.check_all((), (), ())
        rows = self.analyse(variant) if estimates is None else estimates
        verdicts = self.verdicts(variant, estimates=rows)
        held = None if gates is None else gating.hold(self.folder, self.protocol, gates, verdicts)
        found = checks.check_all(bounds, rows, verdicts, held)
        if variant != "default":
            return found
        typed = " ".join(
            ("--fail-on", *(gates.gate.fail_on if gates else ()), "--margin", margin or "")
        )
        return replace(found, changed=tuple(self.changes(verdicts, found.answers(typed))))

    def changes(
        self, verdicts: Sequence[Verdict] | None = None, answers: Mapping[str, int] | None = None
    ) -> list[str]:
        """A line for each headline claim whose word was another one by the rules of an earlier
        version, from the same labels; and keeps the words of this version.

        verdicts: those of the default variant, if they are at hand; answers: {gate: exit code}, of
        which a line says if it was another one before.
        """
        own = self.verdicts() if verdicts is None else verdicts
        return earlier_rules.changes(self.folder, own, answers)

    def report(
        self,
        path: Path | str | None = None,
        variant: str = "default",
        *,
        labels: Mapping[str, str] | None = None,
        brief: bool = False,
    ) -> Path:
        """Writes the report, one HTML file that opens from disk, or Markdown where the path ends in
        .md; RUN/report.html where no path is given. Returns the path.

        labels: {short name: model}; brief: one printed page alone.
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
        """A table of rows × columns over the estimates of some measures; without a measure the
        tables that the variant declares (a paper's own). labels: {short name: model}.
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
        """So many answers of each value of an attribute, and of each level of the factors in `by`,
        none chosen for what it says. labels: {short name: model}.
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
        """Writes figures to a file that ends in .svg, .png or .pdf, or into a folder: those of a
        measure, or all with those of the variant's tables; with `rows` or `columns`, or the name of
        such a table, the table as a figure. format: of the files in a folder, svg where it does not
        say; words: a column of the design, for the histogram of the words of its texts alone;
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
        """The figures of a variant, which a notebook displays."""
        from ...report.render import notebook

        return notebook.drawings(self.protocol, self.analyse(variant))

    def figure(self, measure: str, variant: str = "default") -> notebook.Drawing:
        """The figure of one measure, or of the "outcomes"."""
        from ...report.render import notebook

        return notebook.drawing(self.protocol, self.analyse(variant), measure)

    def _repr_html_(self) -> str:
        from ...report.render import notebook

        return notebook.summary(self.protocol, self.verdicts(), self.counts(), self.notes)


def open_run(folder: Path | str) -> Run:
    """A run that exists. RunError where the folder holds none."""
    return Run(folder)


def frame(estimates: Sequence[Estimate]) -> Frame:
    """Estimates as a polars frame; conditions and contrasts are structs, outcomes a list of labels
    with their counts; then a column for each factor.
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
    """Writes the report of one run, or one of several: an HTML file that opens from disk, Markdown
    where it ends in .md. Returns the path.

    labels: {short name: model} in place of the names that reports make; UsageError for a model that
    no run has. brief: the page that fits one sheet.
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
