"""Options that mean the same in every verb that has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypedDict, TypeVar

import click

from ..errors import UsageError

if TYPE_CHECKING:  # a first look at --help waits for nothing
    from ..api.options import AskOptions, ChoiceOptions, ConnectOptions
    from ..api.tables import TableOptions
    from ..models import Price

F = TypeVar("F", bound=Callable[..., int | None])

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")
full = click.option(
    "--full", is_flag=True, help="Print all findings and tables, not what fits one screen."
)
taxonomy = click.option(
    "--taxonomy",
    type=click.Path(exists=True, dir_okay=False),
    help="A file of attributes to label by, where a judge would choose them (soda).",
)
variant = click.option(
    "--variant",
    default="default",
    show_default=True,
    help="How measures are computed: default, or as published.",
)


fail_if = click.option(
    "--fail-if",
    "fail_if",
    multiple=True,
    metavar='"MEASURE > NUMBER"',
    help="Exit with 3 where an interval shows it, 4 where it is not sure; repeat for several.",
)

junit = click.option(
    "--junit",
    "junit",
    type=click.Path(dir_okay=False),
    help="Write thresholds and headlines as JUnit XML; what is inconclusive is skipped.",
)


class PriceType(click.ParamType["tuple[str, Price]"]):
    """MODEL=IN/OUT, US dollars for a million tokens; MODEL=IN/OUT/PICTURE with those for one
    picture.
    """

    name = "MODEL=IN/OUT[/PICTURE]"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, Price]:
        """(model, price in US dollars); a usage error for a malformed or negative price."""
        from ..models import Price

        model, _, prices = value.rpartition("=")
        try:
            price = Price(*map(float, prices.split("/", 2)))
        except (ValueError, TypeError):
            self.fail(
                "give for instance openai:gpt-4.1-mini=0.40/1.60 (US dollars for a million "
                "tokens, in/out)"
            )
        if not model or min(price) < 0:
            self.fail("needs a model's name and prices that are not negative")
        return model, price


class UrlType(click.ParamType[tuple[str, str]]):
    """URL, KIND=URL or MODEL=URL; as a pair of (kind or model or "", URL)."""

    name = "[KIND=]URL"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """(kind or model, URL); "" for the first where only a URL is given."""
        whom, equals, url = value.partition("=")
        if equals and "//" not in whom:
            return whom, url
        return "", value


class WhereType(click.ParamType[tuple[str, tuple[str, ...]]]):
    """FACTOR=LEVEL[,LEVEL…], as a pair of the factor and its levels."""

    name = "FACTOR=LEVEL[,LEVEL]"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, tuple[str, ...]]:
        """(factor, levels) without blanks around them; a usage error where either is empty."""
        factor, _, levels = value.partition("=")
        named = tuple(filter(None, (level.strip() for level in levels.split(","))))
        if not factor.strip() or not named:
            self.fail("give for instance prompt=P1,P2 (prompt=* for all)")
        return factor.strip(), named


def _stack(*options: Callable[[F], F]) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def layout(function: F) -> F:
    """How a table of rows and columns is laid out."""
    return _stack(
        click.option("--rows", help="What the rows are, with commas: factors, model, measure, …"),
        click.option("--columns", help="What the columns are; the last factor otherwise."),
        click.option("--show", help="Parts of a cell, with commas: value, stars, interval, p, n."),
        click.option(
            "--where",
            multiple=True,
            type=WhereType(),
            help="Only these levels; repeat for several.",
        ),
        click.option("--percent", is_flag=True, help="Shares in per cent."),
        click.option(
            "--decimals", type=click.IntRange(0, 8), help="Decimals of values and intervals."
        ),
        click.option("--leader", is_flag=True, help="Mark the highest of each row."),
        click.option("--ranked", is_flag=True, help="Rows from the highest to the lowest."),
    )(function)


class LayoutOptions(TypedDict):
    """What the options of `layout` leave."""

    rows: str | None
    columns: str | None
    show: str | None
    where: tuple[tuple[str, tuple[str, ...]], ...]
    percent: bool
    decimals: int | None
    leader: bool
    ranked: bool


def table_options(typed: LayoutOptions) -> TableOptions:
    """The options of `layout` as the verbs from Python take them."""

    def names(text: str | None) -> tuple[str, ...]:
        return tuple(name.strip() for name in (text or "").split(",") if name.strip())

    return {
        "rows": names(typed["rows"]),
        "columns": names(typed["columns"]),
        "show": names(typed["show"]),
        "where": dict(typed["where"]),
        "percent": typed["percent"],
        "decimals": typed["decimals"],
        "leader": typed["leader"],
        "ranked": typed["ranked"],
    }


def choices(function: F) -> F:
    """What is asked: subjects, languages, modes, samples, limit, seed."""
    return _stack(
        click.option(
            "--model",
            "-m",
            "models",
            multiple=True,
            required=True,
            metavar="KIND:NAME",
            help="The subject, for instance builtin or openai:gpt-4.1-mini; repeat for several.",
        ),
        click.option(
            "--language", "languages", multiple=True, help="Only this language; repeat for several."
        ),
        click.option(
            "--mode", "modes", multiple=True, help="How outputs are obtained; repeat for several."
        ),
        click.option("--samples", type=click.IntRange(1), help="Draws of each prompt."),
        click.option(
            "--limit",
            type=click.IntRange(1),
            help="Only so many items (words, texts, …), drawn by the seed.",
        ),
        click.option(
            "--where",
            "where",
            type=WhereType(),
            multiple=True,
            help="Only these levels of a factor, in place of the protocol's default; * is all; "
            "repeat for several.",
        ),
        click.option(
            "--cross",
            "cross",
            multiple=True,
            metavar="A×B",
            help="The intersections of two dimensions too, such as gender×age; repeat for several.",
        ),
        click.option(
            "--declension",
            "declension",
            metavar="published|correct",
            help="Nouns as the paper puts them, declined, or both with a comma (gramvis).",
        ),
        click.option(
            "--seed",
            type=int,
            default=0,
            show_default=True,
            help="Of the order and of the model's sampling.",
        ),
        click.option("--begin", help="Begin the model's answer with this text."),
        click.option(
            "--system",
            "system",
            type=click.Path(dir_okay=False),
            metavar="FILE",
            help="A text file: the system prompt, in place of the protocol's own.",
        ),
        click.option(
            "--temperature", type=click.FloatRange(0, 2), help="In place of the protocol's own."
        ),
    )(function)


def reach(function: F) -> F:
    """How models are reached, and what is allowed."""
    return _stack(
        click.option(
            "--base-url",
            "base_urls",
            type=UrlType(),
            multiple=True,
            help="An OpenAI-compatible server, for instance http://localhost:8000/v1; KIND=URL "
            "or MODEL=URL for one kind or model; repeat for several.",
        ),
        click.option(
            "--concurrency",
            type=click.IntRange(1, 1000),
            default=16,
            show_default=True,
            help="Calls in flight.",
        ),
        click.option(
            "--rate",
            type=click.FloatRange(0, min_open=True),
            help="Calls a minute, for each model.",
        ),
        click.option(
            "--max-cost", type=click.FloatRange(0), help="US dollars that the run may cost in all."
        ),
        click.option(
            "--price",
            "prices",
            type=PriceType(),
            multiple=True,
            help="US dollars for a million tokens.",
        ),
        click.option(
            "--column",
            "columns",
            type=ColumnType(),
            multiple=True,
            help="Of a file of answers: text=response where its column is called response; repeat "
            "for several.",
        ),
        click.option(
            "--timeout",
            type=click.FloatRange(0, min_open=True),
            default=120.0,
            show_default=True,
            help="Seconds that one call may take.",
        ),
        click.option(
            "--patience",
            type=click.FloatRange(0),
            default=30.0,
            show_default=True,
            help="Minutes of an outage that a call outlasts.",
        ),
        click.option(
            "--builtin-from",
            type=click.Path(),
            help="The built-in model's wheel or GGUF file, where there is no pip.",
        ),
    )(function)


class ColumnType(click.ParamType[tuple[str, str]]):
    """FIELD=COLUMN, as a pair."""

    name = "FIELD=COLUMN"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """(field, column), the column "" to leave the field out; a usage error without a =."""
        field, equals, column = value.partition("=")
        if not equals or not field.strip():
            self.fail("give for instance text=response (prompt= for none)")
        return field.strip(), column.strip()


class ConnectValues(TypedDict):
    """What click gives of the options that say where models are."""

    base_urls: tuple[tuple[str, str], ...]
    prices: tuple[tuple[str, Price], ...]
    columns: tuple[tuple[str, str], ...]


class AskValues(ConnectValues):
    """What click gives of the options of `reach`."""

    concurrency: int
    rate: float | None
    max_cost: float | None
    timeout: float
    patience: float
    builtin_from: str | None


class ChoiceValues(TypedDict):
    """What click gives of the options of `choices`."""

    languages: tuple[str, ...]
    modes: tuple[str, ...]
    samples: int | None
    limit: int | None
    where: tuple[tuple[str, tuple[str, ...]], ...]
    cross: tuple[str, ...]
    declension: str | None
    seed: int
    begin: str | None
    system: str | None
    temperature: float | None


class RunValues(ChoiceValues, AskValues):
    """What click gives of the options of `run`."""


def connect_options(values: ConnectValues) -> ConnectOptions:
    """Where models are, as the API takes it."""
    servers = dict(values["base_urls"])
    general = servers.pop("", "")
    return {
        "base_url": general,
        "base_urls": servers,
        "prices": dict(values["prices"]),
        "columns": dict(values["columns"]),
    }


def ask_options(values: AskValues) -> AskOptions:
    """How models are reached and what is allowed, as the API takes it."""
    return {
        **connect_options(values),
        "concurrency": values["concurrency"],
        "rate": values["rate"],
        "max_cost": values["max_cost"],
        "timeout": values["timeout"],
        "patience": 60 * values["patience"],
        "builtin_from": values["builtin_from"],
    }


def read_system(path: str | None) -> str | None:
    """The system prompt in a file, without the line end that editors leave; None for no file."""
    if path is None:
        return None
    from .. import intake

    try:
        return intake.read_text(path, intake.MOST_DECLARED_BYTES).rstrip("\n")
    except OSError as error:
        why = f"cannot be read: {error.strerror}"
    except UnicodeDecodeError:
        why = "is not UTF-8"
    raise UsageError(f"--system {path} {why}. Name a text file that holds the system prompt.")


def choice_options(values: ChoiceValues) -> ChoiceOptions:
    """What is asked, as the API takes it. --declension is a factor with an option of its own."""
    where = dict(values["where"])
    if values["declension"]:
        where.setdefault("declension", tuple(values["declension"].split(",")))
    return {
        "languages": values["languages"],
        "modes": values["modes"],
        "samples": values["samples"],
        "limit": values["limit"],
        "where": where,
        "cross": values["cross"],
        "seed": values["seed"],
        "begin": values["begin"],
        "system": read_system(values["system"]),
        "temperature": values["temperature"],
    }
