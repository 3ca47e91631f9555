"""tiltmeter annotate RUN --annotator NAME"""

from __future__ import annotations

import webbrowser
from dataclasses import dataclass, replace
from pathlib import Path

import click

from ..errors import UsageError
from ..stats.results import count_of
from .options import gathers, pages


@dataclass(frozen=True, kw_only=True)
class AnnotateValues:
    """The options of `annotate`."""

    run: str
    annotator: str
    question: str
    values: str
    out: str | None
    number: int | None
    attribute: str
    seed: int | None
    adjudicate: bool
    taxonomy: bool
    port: int
    no_browser: bool
    progress: bool
    among: str

    def purpose(self) -> str:
        """Returns the purpose: label, adjudicate or review. UsageError if options conflict."""
        if self.adjudicate and self.taxonomy:
            raise UsageError("Give --adjudicate or --taxonomy, not both.")
        if not (self.adjudicate or self.taxonomy):
            return "label"
        if self.number is not None or self.seed is not None or self.among:
            raise UsageError(
                "--sample, --seed and --among do nothing here, because people decide or review the "
                "outputs that were labelled before. Leave these options out."
            )
        return "adjudicate" if self.adjudicate else "review"


@click.command()
@click.argument("run", type=click.Path(file_okay=False))
@click.option("--annotator", default="", help="Who annotates: a name, kept with every answer.")
@click.option(
    "--among",
    default="",
    metavar="A,B,…",
    help="Divide the sample among these people: a fifth is shown to all, the rest to one each.",
)
@click.option(
    "--sample",
    "number",
    type=click.IntRange(1),
    help="Outputs to draw if there is no sample yet; 100.",
)
@click.option(
    "--attribute",
    default="",
    help="The attribute to annotate, '*' for all with a closed list; by default that of the run's "
    "sample, or the headline measure's.",
)
@click.option("--seed", type=int, help="Of the sample; 0.")
@click.option("--adjudicate", is_flag=True, help="Decide on the outputs on which people disagree.")
@click.option(
    "--taxonomy",
    is_flag=True,
    help="Review the attributes that a model found: are their values appropriate?",
)
@click.option(
    "--question", default="", help="For a folder of pictures or texts: the question to people."
)
@click.option(
    "--values",
    default="",
    metavar="A,B,…",
    help="For a folder: the possible answers, the counted one first.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False),
    help="For a folder: the run that is made from it; FOLDER-labelled.",
)
@pages
@click.option("--progress", is_flag=True, help="Print everybody's progress, and end.")
@gathers("typed", AnnotateValues)
def command(typed: AnnotateValues) -> None:
    """Label outputs by hand in the browser; settle disagreement. A sample of them, one key per
    answer, without seeing the judges' labels. A folder of pictures or texts becomes a run first.

    \b
    tiltmeter annotate run --annotator ann
    tiltmeter annotate pictures --question "Who leads?" --values woman,man,unclear --annotator ann
    tiltmeter annotate run --progress
    """
    if typed.progress:
        _progress(typed)
        return
    purpose = typed.purpose()
    typed = _with_run(typed)
    from ..api.options import forms
    from ..explore.annotation import annotating

    def ready(address: str, desk: annotating.Desk) -> None:
        click.echo(
            f"{address}\n{count_of(len(desk.order), 'item')} for {typed.annotator} to answer "
            f"({desk.task.attribute}). For you alone: the token in it opens the run. "
            "Ctrl-C ends it."
        )
        if not typed.no_browser:
            webbrowser.open(address)

    among = tuple(forms.names(typed.among)) if typed.among else ()
    task = annotating.DeskTask(
        typed.annotator, typed.attribute, typed.number, typed.seed, purpose, among
    )
    annotating.serve(typed.run, task, typed.port, ready)


def _with_run(typed: AnnotateValues) -> AnnotateValues:
    """Makes a run from a folder of pictures or texts, unless the folder is a run or has one; prints
    how its files were read.
    """
    folder = Path(typed.run)
    if _is_run(folder) or not folder.is_dir():
        return typed
    run_folder = _run_of(typed)
    from ..api import Run
    from ..api.options import forms
    from ..api.start import own_outputs

    values = forms.names(typed.values) if typed.values else []
    if _is_run(run_folder):
        own_outputs.refuse_other(Run(run_folder), typed.question, values)
    else:
        own_outputs.start(folder, run_folder, typed.question, values)
    click.echo(own_outputs.describe(folder, Run(run_folder).protocol))
    return replace(typed, run=str(run_folder))


def _is_run(folder: Path) -> bool:
    return (folder / "run.sqlite").is_file()


def _run_of(typed: AnnotateValues) -> Path:
    """Returns the run that is made of a folder of pictures or texts."""
    return Path(typed.out or f"{Path(typed.run)}-labelled")


def _progress(typed: AnnotateValues) -> None:
    from ..api import Run
    from ..gold import people, review
    from ..report.page_model.sanitize import visible
    from ..store import Store

    run = typed.run
    if not _is_run(Path(run)) and _is_run(_run_of(typed)):
        run = str(_run_of(typed))
    declared = Run(run).protocol
    with Store(run) as store:
        progress = [*people.progress(store), *review.progress(store, declared)]
        split = people.disagreements(store)
    for person in progress:
        skips = "".join(
            f", {number} skipped ({reason})" for reason, number in person.skipped.items()
        )
        notes = f", {person.notes} with a note" if person.notes else ""
        name = visible(person.annotator.partition(":")[2])
        click.echo(f"{name}: {person.labelled} of {person.of} {person.attribute}{skips}{notes}")
    for attribute, outputs in split.items():
        click.echo(
            f"People disagree on {attribute} in {count_of(len(outputs), 'output')}. Type: "
            f"tiltmeter annotate {run} --adjudicate --annotator NAME"
        )
    if not progress:
        click.echo(f"Nobody has begun. Type: tiltmeter annotate {run} --annotator NAME")
