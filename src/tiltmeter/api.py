"""The verbs from Python: what the command line does, as functions and a `Run`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import __version__, gold, importing, injection, planning, registry, sheet
from .engine import Models, wait_for
from .errors import Incapable, UsageError
from .generating import generate
from .labelling import annotate, annotators, unjudged
from .limits import Limits, Tally
from .models import Model, table
from .planning import Choices
from .protocol import Protocol
from .reach import Connect
from .records import Estimate, Request, Sampling
from .store import Store

if TYPE_CHECKING:
    import polars as pl

    from . import comparison, validation  # they bring scipy, which a run that only asks does without

Watch = Callable[[str, int | None, Tally], None]  # (stage, how many in all or None, what happened)


class Run:
    """A run folder, read as frames."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        with Store(self.folder) as store:
            self._frozen = store.get("frozen", {})
            source = store.get("source", "")
        self.protocol = registry.protocol(source)
        self.notes: list[str] = []
        if self.protocol.digest != self._frozen.get("digest"):
            self.notes.append(
                f"{self.folder} was made with another design of {self.protocol.name} (data {self._frozen.get('digest')}, "
                f"now {self.protocol.digest}): its answers stand, its measures are those of tiltmeter {__version__}."
            )

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
        return self._frame("SELECT o.*, t.subject, t.mode, t.factors, t.sample, t.prompt FROM outputs o"
                           " JOIN trials t ON t.id = o.trial ORDER BY o.trial")  # fmt: skip

    @property
    def labels(self) -> pl.DataFrame:
        return self._frame("SELECT * FROM labels ORDER BY id")

    def analyse(self, variant: str = "default") -> list[Estimate]:
        """Computes the estimates of a variant from the labels, and keeps them in the run."""
        from .analyse import estimates

        with Store(self.folder) as store:
            return estimates(store, self.protocol, variant)

    @property
    def estimates(self) -> pl.DataFrame:
        return frame(self.analyse())

    def report(self, path: Path | str | None = None, variant: str = "default") -> Path:
        """Writes the report, one HTML file that opens from disk, or Markdown where the path ends in .md."""
        from .report import content, html, markdown

        target = Path(path) if path else self.folder / "report.html"
        with Store(self.folder) as store:
            built = content.build(store, self.protocol, self.analyse(variant))
        if target.suffix == ".md":
            target.write_text(markdown.markdown(built), encoding="utf-8")
        else:
            html.write_html(built, target)
        return target


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


def plan(protocol: str, model: str | Sequence[str], *, judge: str | Sequence[str] = (), icc: float | None = None,
         detect: float | None = None, **options: Any) -> dict[str, Any]:  # fmt: skip
    """What a run would do, as plain values; nothing is asked.

    detect: a difference in shares (0.05 for 5 points) for which the items and the samples needed are worked out.
    """
    from . import cost, design

    declared = registry.protocol(protocol)
    choices = _choices(model, options)
    connect = _made(Connect, options)
    _refuse_rest(options)
    judges = (judge,) if isinstance(judge, str) else tuple(judge)
    names = list(dict.fromkeys((*choices.subjects, *judges)))
    connect.check(names)
    counted = planning.count(declared, choices)
    lines = cost.lines(declared, choices, annotators(declared, judges), connect.expected_price)
    rows = design.detectable(declared, choices, design.ICC if icc is None else icc, detect)
    return {
        "protocol": declared.name, "version": declared.version, "subjects": counted,
        "trials": sum(number for modes in counted.values() for name, number in modes.items() if not declared.modes[name].aside),
        "aside": sum(number for modes in counted.values() for name, number in modes.items() if declared.modes[name].aside),
        "calls": [line.as_dict() for line in lines], "totals": cost.totals(lines), "rule": cost.RULE,
        "prompts": planning.tally(declared, choices), "others": planning.others(declared, choices),
        "models": [connect.known(name) for name in names], "waiting": unjudged(declared, judges),
        "misfits": _misfits(declared, counted, judges),
        "icc": design.ICC if icc is None else icc, "wanted": detect, "design": [row.as_dict() for row in rows],
    }  # fmt: skip


def _misfits(declared: Protocol, counted: Mapping[str, Mapping[str, int]], judges: Sequence[str]) -> list[str]:
    """What a run would say of a model that draws and is asked for text, or the reverse."""
    asked = {(subject, declared.modes[mode].size) for subject, modes in counted.items() for mode in modes}
    found = []
    for name, size in sorted(asked | {(judge, "") for judge in judges}):
        model = Model()
        model.name, model.makes = name, table.makes(name)
        try:
            model.check(Request(name, (), Sampling(), size=size))
        except Incapable as error:
            found.append(str(error))
    return list(dict.fromkeys(found))


def trials(protocol: str, model: str | Sequence[str], **options: Any) -> Iterator[dict[str, str]]:
    """The trials of a plan, each as a row: id, subject, mode, sample, prompt, then its factors and its item."""
    declared = registry.protocol(protocol)
    choices = _choices(model, options)
    connect(options)
    for trial in planning.trials(declared, choices):
        row = {"id": trial.id, "subject": trial.subject, "mode": trial.mode, "sample": str(trial.sample),
               "prompt": trial.prompt}  # fmt: skip
        yield row | {name: level for name, level in trial.factors.items() if name not in row}


def run(protocol: str, model: str | Sequence[str], out: Path | str, *, judge: str | Sequence[str] = (),
        watch: Watch | None = None, taxonomy: Path | str | None = None, **options: Any) -> Run:  # fmt: skip
    """Runs an audit to its labels, or goes on with it. Options are the fields of Choices, Limits and Connect.

    taxonomy: a file of attributes to label by, where the protocol would have a judge choose them.
    """
    declared = registry.protocol(protocol)
    choices = _choices(model, options)
    limits = _made(Limits, options)
    connect = _made(Connect, options)
    _refuse_rest(options)
    planning.check(declared, choices)
    judges = (judge,) if isinstance(judge, str) else tuple(judge)
    connect.check((*choices.subjects, *judges))
    given = _given(taxonomy)
    annotators(declared, judges, given)  # what they refuse is said before anything is asked
    total = sum(sum(modes.values()) for modes in planning.count(declared, choices).values())
    with Store(out, create=True, writing=True) as store:
        store.freeze(choices.frozen(declared))
        store.put("source", str(Path(protocol).resolve()) if protocol.endswith(".toml") else protocol)
        wait_for(_stages(store, declared, choices, judges, limits, connect, watch, total, given))
    return Run(out)


def label(folder: Path | str, *, judge: str | Sequence[str] = (), watch: Watch | None = None,
          taxonomy: Path | str | None = None, **options: Any) -> Run:  # fmt: skip
    """Labels what is not labelled yet, with the protocol's instruments and the judges named; taxonomy as in `run`."""
    found = Run(folder)
    limits, connect = _made(Limits, options), _made(Connect, options)
    _refuse_rest(options)
    judges = (judge,) if isinstance(judge, str) else tuple(judge)
    connect.check(judges or ("openai",))
    with Store(folder, writing=True) as store:
        wait_for(_stages(store, found.protocol, None, judges, limits, connect, watch, None, _given(taxonomy)))
    return found


async def _stages(store: Store, protocol: Protocol, choices: Choices | None, judges: Sequence[str], limits: Limits,
                  connect: Connect, watch: Watch | None, total: int | None, given: dict[str, str]) -> None:  # fmt: skip
    def told(stage: str, number: int | None) -> Callable[[Tally], None]:
        return lambda tally: watch(stage, number, tally) if watch else None

    async with Models(lambda name: connect.model(name, limits.concurrency, store)) as models:
        if choices is not None:
            tally = await generate(store, protocol, choices, models, limits, told("run", total))
            store.put("last_run", {"failed": tally.failed, "last_failure": tally.last_failure})
        if given:  # stands until another one is given
            store.put("given", given)
        await annotate(store, protocol, judges, models, limits, told("label", None), store.get("given"))
    injection.keep(store)


def import_(protocol: str, path: Path | str, out: Path | str) -> Run:
    """Makes a run of outputs, labels or counts that exist already, or adds them to one."""
    declared = registry.protocol(protocol)
    rows = importing.read(declared, path)
    with Store(out, create=True, writing=True) as store:
        source = str(Path(protocol).resolve()) if protocol.endswith(".toml") else protocol
        added = importing.write(store, declared, source, Path(path), rows)
    found = Run(out)
    if added.unlisted:
        shown = ", ".join(added.unlisted[:5]) + (", …" if added.unlisted[5:] else "")
        found.notes.append(
            f"{declared.name} does not list {len(added.unlisted)} items, whose marks are unknown: {shown}"
        )
    return found


def import_gold(folder: Path | str, path: Path | str) -> gold.Added:
    """Adds what people said of outputs to a run: a CSV or JSON-lines file with output, value and, where they are not as
    usual, attribute, annotator and weight.
    """
    found = Run(folder)
    with Store(folder, writing=True) as store:
        return gold.take_in(store, found.protocol, path)


def validate(folder: Path | str) -> validation.Validation:
    """Every annotator of a run against the gold that people gave, and how far annotators agree."""
    from . import validation

    found = Run(folder)
    with Store(folder) as store:
        return validation.validate(store, found.protocol)


def compare(*folders: Path | str, margin: float | None = None) -> comparison.Comparison:
    """Runs of one protocol against the first of them, paired by item.

    margin: the largest difference in shares that still counts as none, named before looking; .05 where none is named.
    """
    from . import comparison

    found = [Run(folder) for folder in folders]
    if not found:
        raise UsageError("Name the runs to compare. Type: tiltmeter compare RUN RUN")
    with ExitStack() as stack:
        stores = [stack.enter_context(Store(run.folder)) for run in found]
        return comparison.compare(
            stores, [run.protocol for run in found], comparison.MARGIN if margin is None else margin
        )


def sample(folder: Path | str, number: int, path: Path | str, *, attribute: str = "", seed: int = 0) -> sheet.Sheet:
    """Writes a sheet of outputs for people to annotate, and keeps in the run how they were picked."""
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


def connect(options: dict[str, Any]) -> Connect:
    """How models are reached, from the options of a verb that asks them; those of a run are of no use to it."""
    made: Connect = _made(Connect, options)
    _made(Limits, options)
    _refuse_rest(options)
    return made


def _given(taxonomy: Path | str | None) -> dict[str, str]:
    """The material that a person gives, by kind."""
    if taxonomy is None:
        return {}
    try:
        return {"taxonomy": Path(taxonomy).read_text(encoding="utf-8")}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The taxonomy {taxonomy} cannot be read: {error}.") from None


def _choices(model: str | Sequence[str], options: dict[str, Any]) -> Choices:
    subjects = (model,) if isinstance(model, str) else tuple(dict.fromkeys(model))
    named = {"language": "languages", "mode": "modes"}
    for short, plural in named.items():
        if short in options:
            value = options.pop(short)
            options[plural] = (value,) if isinstance(value, str) else tuple(value)
    made: Choices = _made(Choices, options, subjects=subjects)
    return made


def _made(kind: type[Any], options: dict[str, Any], **fixed: Any) -> Any:
    """Takes out of `options` what the dataclass has fields for."""
    names = {f.name for f in fields(kind)} - set(fixed)
    return kind(**fixed, **{name: options.pop(name) for name in list(options) if name in names})


def _refuse_rest(options: Mapping[str, Any]) -> None:
    if options:
        known = [f.name for kind in (Choices, Limits, Connect) for f in fields(kind)]
        from .errors import UnknownName

        raise UnknownName("option", next(iter(options)), known)
