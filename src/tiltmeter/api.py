"""The verbs from Python: what the command line does, as functions and a `Run`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import plan as planning
from . import registry
from .engine import Limits, Models, Tally, wait_for
from .errors import RunMismatch, UsageError
from .label import annotate
from .models import Model, Price
from .plan import Choices
from .protocol import Protocol
from .records import Estimate
from .run import generate
from .store import Store

if TYPE_CHECKING:
    import polars as pl

Watch = Callable[[str, int | None, Tally], None]  # (stage, how many in all or None, what happened)


@dataclass(frozen=True, slots=True)
class Connect:
    """How models are reached. prices: by model name, US dollars for a million tokens, in and out."""

    base_url: str = ""
    timeout: float = 120.0
    prices: Mapping[str, Price] = field(default_factory=dict)
    builtin_from: str | None = None

    def model(self, name: str, concurrency: int) -> Model:
        return registry.model(name, base_url=self.base_url, timeout=self.timeout, price=self.prices.get(name),
                              builtin_from=self.builtin_from, concurrency=concurrency)  # fmt: skip


class Run:
    """A run folder, read as frames."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        with Store(self.folder) as store:
            self._frozen = store.get("frozen", {})
            source = store.get("source", "")
        self.protocol = registry.protocol(source)
        if self.protocol.digest != self._frozen.get("digest"):
            raise RunMismatch(
                f"{self.folder} was made with another version of the protocol {self.protocol.name} "
                f"(data {self._frozen.get('digest')}, now {self.protocol.digest}). Use the tiltmeter that "
                "made it, or run again into another folder."
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
        """Writes the report, one HTML file that opens from disk; returns its path."""
        from .report import content, html

        target = Path(path) if path else self.folder / "report.html"
        with Store(self.folder) as store:
            html.write_html(content.build(store, self.protocol, self.analyse(variant)), target)
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


def plan(protocol: str, model: str | Sequence[str], **options: Any) -> dict[str, Any]:
    """What a run would do, as plain values; nothing is asked."""
    declared = registry.protocol(protocol)
    choices = _choices(model, options)
    _refuse_rest(options)
    counted = planning.count(declared, choices)
    total = sum(sum(modes.values()) for modes in counted.values())
    return {"protocol": declared.name, "version": declared.version, "subjects": counted, "trials": total}


def run(protocol: str, model: str | Sequence[str], out: Path | str, *, judge: str | Sequence[str] = (),
        watch: Watch | None = None, **options: Any) -> Run:  # fmt: skip
    """Runs an audit to its labels, or goes on with it. Options are the fields of Choices, Limits and Connect."""
    declared = registry.protocol(protocol)
    choices = _choices(model, options)
    limits = _made(Limits, options)
    connect = _made(Connect, options)
    _refuse_rest(options)
    planning.check(declared, choices)
    judges = (judge,) if isinstance(judge, str) else tuple(judge)
    total = sum(sum(modes.values()) for modes in planning.count(declared, choices).values())
    with Store(out, create=True, writing=True) as store:
        store.freeze(choices.frozen(declared))
        store.put("source", str(Path(protocol).resolve()) if protocol.endswith(".toml") else protocol)
        wait_for(_stages(store, declared, choices, judges, limits, connect, watch, total))
    return Run(out)


def label(folder: Path | str, *, judge: str | Sequence[str] = (), watch: Watch | None = None, **options: Any) -> Run:
    """Labels what is not labelled yet, with the protocol's instruments and the judges named."""
    found = Run(folder)
    limits, connect = _made(Limits, options), _made(Connect, options)
    _refuse_rest(options)
    judges = (judge,) if isinstance(judge, str) else tuple(judge)
    with Store(folder, writing=True) as store:
        wait_for(_stages(store, found.protocol, None, judges, limits, connect, watch, None))
    return found


async def _stages(store: Store, protocol: Protocol, choices: Choices | None, judges: Sequence[str], limits: Limits,
                  connect: Connect, watch: Watch | None, total: int | None) -> None:  # fmt: skip
    def told(stage: str, number: int | None) -> Callable[[Tally], None]:
        return lambda tally: watch(stage, number, tally) if watch else None

    async with Models(lambda name: connect.model(name, limits.concurrency)) as models:
        if choices is not None:
            tally = await generate(store, protocol, choices, models, limits, told("run", total))
            store.put("last_run", {"failed": tally.failed, "last_failure": tally.last_failure})
        await annotate(store, protocol, judges, models, limits, told("label", None))


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
