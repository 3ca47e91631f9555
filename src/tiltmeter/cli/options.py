"""Options that several commands share, made from records (api/options/records.py), and printing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TypedDict

import click

from ..api.options import forms
from ..api.options.audit_options import AuditOptions
from ..api.options.option import Option, Record, records
from ..api.options.records import (
    AskOptions,
    BatchOptions,
    ChoiceOptions,
    JudgeOptions,
    PlanOptions,
    RunOptions,
)
from ..api.options.table_options import TableOptions

Verb = Callable[..., "int | None"]
Add = Callable[[Verb], Verb]  # adds an option, or several, to a verb
REACH = (  # first in --help
    *("base_urls", "concurrency", "rate", "max_cost"),
    *("prices", "columns", "timeout", "patience", "durable", "workers"),
)
PATHS = {
    "any": click.Path(),
    "file": click.Path(dir_okay=False),
    "existing file": click.Path(exists=True, dir_okay=False),
}


class ParsedType(click.ParamType[object]):
    """A click type for values with a syntax of their own."""

    def __init__(self, parse: Callable[[str], object]) -> None:
        self.parse, self.name = parse, parse.__name__

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> object:
        """Parses the typed text; if it is invalid, fails with a message that says what to type."""
        try:
            return self.parse(value)
        except ValueError as error:
            self.fail(str(error))


def shared(options: type, *first: str, taken: type | None = None) -> Add:
    """Adds all options of a TypedDict to a command. first: the fields that come first in --help;
    taken: a TypedDict of the options that the command uses; it accepts and ignores the others.
    """
    by_name = records(options)
    effective = by_name if taken is None else records(taken)
    order = dict.fromkeys((*first, *by_name))
    return _stack(*(_option(by_name[name], name in effective) for name in order))


def single(options: type, name: str, effective: bool = True) -> Add:
    """Adds one option of a TypedDict to a command; if not `effective`, the command ignores it."""
    return _option(records(options)[name], effective)


def _stack(*options: Add) -> Add:
    def decorate(verb: Verb) -> Verb:
        for option in reversed(options):
            option(verb)  # click notes it on the verb
        return verb

    return decorate


def _option(record: Record, effective: bool) -> Add:
    option = record.option
    value = forms.names if option.commas else option.value
    attributes: dict[str, object] = {"is_flag": True} if record.kind is bool else {}
    if option.default is not None:
        attributes |= {"default": option.default, "show_default": True}
    elif "/" in record.flags[0]:
        attributes["default"] = None  # neither of the two flags
    if value is not None:
        attributes["callback"] = lambda context, parameter, typed: value(typed)
    add: Callable[..., Add] = click.option
    return add(
        *record.flags,
        record.name,
        type=_type(record.kind, option),
        multiple=record.multiple,
        required=option.required,
        metavar=option.metavar,
        help=option.help,
        expose_value=effective,
        **attributes,
    )


def _type(kind: type, option: Option) -> object:
    """Returns the click type that checks the typed value."""
    if option.parse is not None:
        return ParsedType(option.parse)
    if option.path:
        return PATHS[option.path]
    low = option.least if option.above is None else option.above
    if low is None and option.most is None:
        return kind
    span: Callable[..., object] = click.IntRange if kind is int else click.FloatRange
    return span(low, option.most, min_open=option.above is not None)


class GateOptions(TypedDict):
    """The options of a gate."""

    fail_on: tuple[str, ...]
    margin: str | None
    baseline: Path | None
    worse_by: str | None


@dataclass(frozen=True, slots=True)
class Printing:
    """The options for printing results. page: path of the HTML report, None for none; full: True
    for all findings and tables, not only those that fit one screen; labels: (short name, model);
    fail_if: thresholds besides the protocol's own; fail_on, margin, baseline, worse_by: the gate
    over all headline claims; allow: results that do not count as failed.
    """

    variant: str = "default"
    as_json: bool = False
    as_csv: bool = False
    page: Path | None = None
    full: bool = False
    junit: str | None = None
    labels: tuple[tuple[str, str], ...] = ()
    fail_if: tuple[str, ...] = ()
    fail_on: tuple[str, ...] = ()
    margin: str | None = None
    baseline: Path | None = None
    worse_by: str | None = None
    allow: tuple[str, ...] = ()

    @property
    def gate(self) -> GateOptions:
        """Returns the options of the gate as keyword arguments."""
        return {
            "fail_on": self.fail_on,
            "margin": self.margin,
            "baseline": self.baseline,
            "worse_by": self.worse_by,
        }

    @property
    def gated(self) -> bool:
        """True if a gate is set."""
        return any(self.gate.values())


def gathers(name: str, values: type) -> Add:
    """Gathers the options named like a dataclass's fields into one argument of the command."""
    names = {field.name for field in fields(values)}

    def decorate(verb: Verb) -> Verb:
        @wraps(verb)
        def command(**typed: object) -> int | None:
            gathered = {key: typed.pop(key) for key in names & typed.keys()}
            return verb(**typed, **{name: values(**gathered)})

        return command

    return decorate


prints = gathers("printing", Printing)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")
margin = click.option(
    "--margin",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.05,
    show_default=True,
    help="The largest difference in shares that still counts as none.",
)
full = click.option(
    "--full", is_flag=True, help="Print all findings and tables, not only what fits one screen."
)
full_text = click.option(
    "--full", is_flag=True, help="Print all of it, not only what fits one screen."
)
fail_if = _stack(
    click.option(
        "--fail-if",
        "fail_if",
        multiple=True,
        metavar='"MEASURE > NUMBER"',
        help="Exit with 3 if an interval crosses it, on either side; 4 if that is not sure. "
        "Repeat for several.",
    ),
    click.option(
        "--fail-on",
        "fail_on",
        multiple=True,
        type=click.Choice(["tilt", "margin", "worse"]),
        help="A gate over all headline claims: exit with 3 if one tilts, lies beyond the margin, "
        "or is worse than the baseline; 4 if not all are sure.",
    ),
    click.option(
        "--margin",
        metavar="POINTS|MEASURE=SIZE,…",
        help="The sizes that would matter at the gate: 5, or 5,length=10%. Without --fail-on it "
        "sets --fail-on tilt.",
    ),
    click.option(
        "--baseline",
        type=click.Path(path_type=Path),
        help="With --fail-on worse: an earlier run with a gate, or its baseline.json.",
    ),
    click.option(
        "--worse-by",
        metavar="POINTS|MEASURE=SIZE,…",
        help="How much worse than the baseline is allowed: 2, or 2,length=5%.",
    ),
    click.option(
        "--allow",
        multiple=True,
        type=click.Choice(["not-enough"]),
        help="Exit with 0, and skip in JUnit, if a gate or threshold lacks data.",
    ),
)
data = click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="Your copy of the texts that a protocol asks, if they do not ship (tiltmeter show); later "
    "commands know it.",
)
page_file = click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A page to write, with a figure; Markdown if it ends in .md.",
)
pages = _stack(
    click.option(
        "--port",
        type=click.IntRange(0, 65535),
        default=0,
        show_default=True,
        help="0 takes a free one.",
    ),
    click.option("--no-browser", is_flag=True, help="Print the address and open no browser."),
)
junit = click.option(
    "--junit",
    "junit",
    type=click.Path(dir_okay=False),
    help="Write thresholds and headlines as JUnit XML: too little data is an error at a gate, and "
    "skipped without one or with --allow.",
)
label = click.option(
    "--label",
    "labels",
    multiple=True,
    type=ParsedType(forms.short_name),
    metavar="NAME=MODEL",
    help="A short name for a model, as A=openai:gpt-4o; repeat for several.",
)
results = _stack(label, fail_if, junit, full)
variant, taxonomy = single(AuditOptions, "variant"), single(AuditOptions, "taxonomy")
taxonomy_of_plan = single(AuditOptions, "taxonomy", effective=False)
stop, shard = single(RunOptions, "stop"), single(RunOptions, "shard")
pilot = single(RunOptions, "pilot")
judge = _stack(single(AuditOptions, "judges"), shared(JudgeOptions))
choices = _stack(single(AuditOptions, "models"), shared(ChoiceOptions))
batch, layout = shared(BatchOptions), shared(TableOptions)
reach = shared(AskOptions, *REACH)
reach_of_plan = shared(AskOptions, *REACH, taken=PlanOptions)
