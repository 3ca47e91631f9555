"""The verbs from Python: what the command line does, as functions and a `Run`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import registry
from ..errors import Incapable, UsageError
from ..gold import intake, sheet
from ..models import Model, table
from ..protocol import Protocol
from ..records import Estimate, Request, Sampling
from ..stages import import_ as importing
from ..stages import injection_count, protocol_snapshot
from ..stages import plan as planning
from ..stages.connect import Connect
from ..stages.engine import Models, wait_for
from ..stages.generate import generate
from ..stages.label import annotate, annotators, unjudged
from ..stages.limits import Tally
from ..stages.plan import Choices
from ..store import Store
from . import options as arguments

if TYPE_CHECKING:
    import polars as pl

    from ..analyse import compare as comparison
    from ..gold import validation
    from ..report import notebook  # they bring scipy, which a run that only asks does without

Watch = Callable[[str, int | None, Tally], None]  # (stage, how many in all or None, what happened)


class Run:
    """A run folder, read as frames."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        with Store(self.folder) as store:
            self.protocol, note = protocol_snapshot.protocol_of(store.get)
        self.notes = [f"{self.folder} {note}"] if note else []

    def _frame(self, query: str) -> pl.DataFrame:
        import polars as pl

        with Store(self.folder) as store:
            rows = list(store.rows(query))
            columns = store.columns(query)
        return pl.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None)

    @property
    def trials(self) -> pl.DataFrame:
        return self._frame("SELECT * FROM trials ORDER BY id")

    @property
    def calls(self) -> pl.DataFrame:
        return self._frame("SELECT * FROM calls ORDER BY key")

    @property
    def outputs(self) -> pl.DataFrame:
        return self._frame(
            "SELECT o.*, t.subject, t.mode, t.factors, t.sample, t.prompt FROM outputs o"
            " JOIN trials t ON t.id = o.trial ORDER BY o.trial"
        )

    @property
    def labels(self) -> pl.DataFrame:
        return self._frame("SELECT * FROM labels ORDER BY id")

    def analyse(self, variant: str = "default") -> list[Estimate]:
        """Computes the estimates of a variant from the labels, and keeps them in the run."""
        from ..analyse import estimates

        with Store(self.folder) as store:
            return estimates(store, self.protocol, variant)

    @property
    def estimates(self) -> pl.DataFrame:
        return frame(self.analyse())

    def report(self, path: Path | str | None = None, variant: str = "default") -> Path:
        """Writes the report, one HTML file that opens from disk, or Markdown where the path ends in
        .md.
        """
        return report(self.folder, path=path or self.folder / "report.html", variant=variant)

    def figures(self, variant: str = "default") -> list[notebook.Drawing]:
        """The figures of a variant, which a notebook displays."""
        from ..report import notebook

        return notebook.drawings(self.protocol, self.analyse(variant))

    def figure(self, measure: str, variant: str = "default") -> notebook.Drawing:
        """The figure of one measure, or of the "outcomes"."""
        from ..report import notebook

        return notebook.drawing(self.protocol, self.analyse(variant), measure)

    def _repr_html_(self) -> str:
        from ..report import notebook

        counts = {
            name: self._frame(f"SELECT count(*) FROM {name}").item()
            for name in ("outputs", "labels")
        }
        return notebook.summary(self.protocol, self.analyse(), counts, self.notes)


def frame(estimates: Sequence[Estimate]) -> pl.DataFrame:
    """Estimates as a polars frame; conditions, contrasts and outcomes as JSON text."""
    import polars as pl

    rows = []
    for estimate in estimates:
        row = estimate.as_dict()
        for name in ("condition", "contrast", "outcomes"):
            row[name] = None if row[name] is None else json.dumps(row[name], ensure_ascii=False)
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


def load(folder: Path | str) -> Run:
    """A run that exists."""
    return Run(folder)


def plan(
    protocol: str | Protocol,
    model: str | Sequence[str],
    *,
    judge: str | Sequence[str] = (),
    icc: float | None = None,
    detect: float | None = None,
    **options: Any,
) -> dict[str, Any]:
    """What a run would do, as plain values; nothing is asked.

    detect: a difference in shares (0.05 for 5 points) for which the items and the samples needed
    are worked out.
    """
    from ..protocol import prompt_pairs
    from ..stages import cost, power

    declared = registry.protocol(protocol)
    choices = arguments.choices(model, options)
    connect = arguments.made(Connect, options)
    arguments.refuse_rest(options)
    judges = (judge,) if isinstance(judge, str) else tuple(judge)
    names = list(dict.fromkeys((*choices.subjects, *judges)))
    connect.check(names)
    counted = planning.count(declared, choices)
    lines = cost.lines(declared, choices, annotators(declared, judges), connect.expected_price)
    rows = power.detectable(declared, choices, power.ICC if icc is None else icc, detect)
    return {
        "protocol": declared.name,
        "version": declared.version,
        "subjects": counted,
        "trials": sum(
            number
            for modes in counted.values()
            for name, number in modes.items()
            if not declared.modes[name].aside
        ),
        "aside": sum(
            number
            for modes in counted.values()
            for name, number in modes.items()
            if declared.modes[name].aside
        ),
        "calls": [line.as_dict() for line in lines],
        "totals": cost.totals(lines),
        "rule": cost.RULE,
        "prompts": planning.tally(declared, choices),
        "others": planning.others(declared, choices),
        "models": [connect.known(name) for name in names],
        "waiting": unjudged(declared, judges),
        "misfits": _misfits(declared, counted, judges),
        "matched": [row.as_dict() for row in prompt_pairs.matched(declared)],
        "icc": power.ICC if icc is None else icc,
        "wanted": detect,
        "design": [row.as_dict() for row in rows],
    }


def _misfits(
    declared: Protocol, counted: Mapping[str, Mapping[str, int]], judges: Sequence[str]
) -> list[str]:
    """What a run would say of a model that draws and is asked for text, or the reverse."""
    asked = {
        (subject, declared.modes[mode].size) for subject, modes in counted.items() for mode in modes
    }
    found = []
    for name, size in sorted(asked | {(judge, "") for judge in judges}):
        model = Model()
        model.name, model.makes = name, table.makes(name)
        try:
            model.check(Request(name, (), Sampling(), size=size))
        except Incapable as error:
            found.append(str(error))
    return list(dict.fromkeys(found))


def trials(
    protocol: str | Protocol, model: str | Sequence[str], **options: Any
) -> Iterator[dict[str, str]]:
    """The trials of a plan, each as a row: id, subject, mode, sample, prompt, then its factors and
    its item.
    """
    declared = registry.protocol(protocol)
    choices = arguments.choices(model, options)
    arguments.connect(options)
    for trial in planning.trials(declared, choices):
        row = {
            "id": trial.id,
            "subject": trial.subject,
            "mode": trial.mode,
            "sample": str(trial.sample),
            "prompt": trial.prompt,
        }
        yield row | {name: level for name, level in trial.factors.items() if name not in row}


def run(
    protocol: str | Protocol,
    model: str | Sequence[str],
    out: Path | str,
    *,
    judge: str | Sequence[str] = (),
    watch: Watch | None = None,
    taxonomy: Path | str | None = None,
    **options: Any,
) -> Run:
    """Runs an audit to its labels, or goes on with it. Options are the fields of Choices, Limits
    and Connect.

    taxonomy: a file of attributes to label by, where the protocol would have a judge choose them.
    """
    declared = registry.protocol(protocol)
    choices = arguments.choices(model, options)
    asking = arguments.asking(judge, taxonomy, options)
    planning.check(declared, choices)
    asking.connect.check((*choices.subjects, *asking.judges))
    annotators(
        declared, asking.judges, asking.given
    )  # what they refuse is said before anything is asked
    total = sum(sum(modes.values()) for modes in planning.count(declared, choices).values())
    with Store(out, create=True, writing=True) as store:
        store.freeze(choices.frozen(declared))
        for key, value in protocol_snapshot.record(protocol, declared).items():
            store.put(key, value)
        wait_for(_stages(store, declared, choices, asking, watch, total))
    return Run(out)


def label(
    folder: Path | str,
    *,
    judge: str | Sequence[str] = (),
    watch: Watch | None = None,
    taxonomy: Path | str | None = None,
    **options: Any,
) -> Run:
    """Labels what is not labelled yet, with the protocol's instruments and the judges named;
    taxonomy as in `run`.
    """
    found = Run(folder)
    asking = arguments.asking(judge, taxonomy, options)
    asking.connect.check(asking.judges or ("openai",))
    with Store(folder, writing=True) as store:
        wait_for(_stages(store, found.protocol, None, asking, watch))
    return found


async def _stages(
    store: Store,
    protocol: Protocol,
    choices: Choices | None,
    asking: arguments.Asking,
    watch: Watch | None,
    total: int | None = None,
) -> None:
    def told(stage: str, number: int | None) -> Callable[[Tally], None]:
        return lambda tally: watch(stage, number, tally) if watch else None

    limits = asking.limits
    async with Models(lambda name: asking.connect.model(name, limits.concurrency, store)) as models:
        if choices is not None:
            tally = await generate(store, protocol, choices, models, limits, told("run", total))
            store.put("last_run", {"failed": tally.failed, "last_failure": tally.last_failure})
        if asking.given:  # stands until another one is given
            store.put("given", asking.given)
        await annotate(
            store, protocol, asking.judges, models, limits, told("label", None), store.get("given")
        )
    injection_count.keep(store)


def report(*folders: Path | str, path: Path | str, variant: str = "default") -> Path:
    """Writes the report of one run, or one of several: an HTML file that opens from disk, Markdown
    where it ends in .md.
    """
    from ..report import html, markdown, multi_run

    target, found = Path(path), [Run(folder) for folder in folders]
    with ExitStack() as stack:
        runs = [
            multi_run.Analysed(
                stack.enter_context(Store(run.folder)), run.protocol, run.analyse(variant)
            )
            for run in found
        ]
        made = multi_run.report(runs)
    if target.suffix == ".md":
        target.write_text(markdown.markdown(made), encoding="utf-8")
    else:
        html.write_html(made, target)
    return target


def import_(protocol: str | Protocol, path: Path | str, out: Path | str) -> Run:
    """Makes a run of outputs, labels or counts that exist already, or adds them to one."""
    declared = registry.protocol(protocol)
    rows = importing.read(declared, path)
    with Store(out, create=True, writing=True) as store:
        told = protocol_snapshot.record(protocol, declared)
        added = importing.write(store, declared, told["source"], Path(path), rows)
        store.put("definition", told["definition"])
    found = Run(out)
    if added.unlisted:
        shown = ", ".join(added.unlisted[:5]) + (", …" if added.unlisted[5:] else "")
        found.notes.append(
            f"{declared.name} does not list {len(added.unlisted)} items, whose marks are "
            f"unknown: {shown}"
        )
    return found


def import_gold(folder: Path | str, path: Path | str) -> intake.Added:
    """Adds what people said of outputs to a run: a CSV or JSON-lines file with output, value and,
    where they are not as usual, attribute, annotator and weight.
    """
    found = Run(folder)
    with Store(folder, writing=True) as store:
        return intake.take_in(store, found.protocol, path)


def validate(folder: Path | str) -> validation.Validation:
    """Every annotator of a run against the gold that people gave, and how far annotators agree."""
    from ..gold import validation

    found = Run(folder)
    with Store(folder) as store:
        return validation.validate(store, found.protocol)


def compare(*folders: Path | str, margin: float | None = None) -> comparison.Comparison:
    """Runs of one protocol against the first of them, paired by item.

    margin: the largest difference in shares that still counts as none, named before looking; .05
    where none is named.
    """
    from ..analyse import compare as comparison

    found = [Run(folder) for folder in folders]
    if not found:
        raise UsageError("Name the runs to compare. Type: tiltmeter compare RUN RUN")
    with ExitStack() as stack:
        stores = [stack.enter_context(Store(run.folder)) for run in found]
        return comparison.compare(
            stores, [run.protocol for run in found], comparison.MARGIN if margin is None else margin
        )


def sample(
    folder: Path | str, number: int, path: Path | str, *, attribute: str = "", seed: int = 0
) -> sheet.Sheet:
    """Writes a sheet of outputs for people to annotate, and keeps in the run how they were
    picked.
    """
    found = Run(folder)
    with Store(folder, writing=True) as store:
        made = sheet.draw(store, found.protocol, number, attribute, seed)
    sheet.write_sheet(made, path)
    return made


def export(folder: Path | str, target: Path | str, format: str = "parquet") -> list[Path]:
    """Writes trials, outputs, labels, calls and estimates as tables into a folder."""
    writers = {"parquet": "write_parquet", "csv": "write_csv", "jsonl": "write_ndjson"}
    if format not in writers:
        raise UsageError(f"There is no format '{format}'. There is: {', '.join(writers)}.")
    found, target = Run(folder), Path(target)
    target.mkdir(parents=True, exist_ok=True)
    written = []
    for name in ("trials", "outputs", "labels", "calls", "estimates"):
        path = target / f"{name}.{format}"
        getattr(getattr(found, name), writers[format])(path)
        written.append(path)
    return written
