"""Options that mean the same in every verb that has them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, Protocol, TypeVar

import click

from .option_types import ColumnType, LabelType, PriceType, UrlType, WhereType

Verb = TypeVar("Verb", bound=Callable[..., int | None])
Typed = ParamSpec("Typed")
Values = TypeVar("Values")
Code = TypeVar("Code", int, None)


def receives(
    values: Callable[Typed, Values],
) -> Callable[[Callable[[Values], Code]], Callable[Typed, Code]]:
    """For a verb with many options: it gets one object of the class `values`, whose fields are
    called as the options.
    """

    def decorate(verb: Callable[[Values], Code]) -> Callable[Typed, Code]:
        @wraps(verb)
        def command(*args: Typed.args, **options: Typed.kwargs) -> Code:
            return verb(values(*args, **options))

        return command

    return decorate


class Option(Protocol):
    """What adds an option, or several, to a verb."""

    def __call__(self, verb: Verb, /) -> Verb: ...


def _stack(*options: Option) -> Option:
    def decorate(verb: Verb) -> Verb:
        for option in reversed(options):
            verb = option(verb)
        return verb

    return decorate


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")
margin = click.option(
    "--margin",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.05,
    show_default=True,
    help="The largest difference in shares that still counts as none.",
)
full = click.option(
    "--full", is_flag=True, help="Print all findings and tables, not what fits one screen."
)
full_text = click.option("--full", is_flag=True, help="Print all of it, not what fits one screen.")
taxonomy = click.option(
    "--taxonomy",
    type=click.Path(exists=True, dir_okay=False),
    help="A file of attributes to label by, where a judge would choose them (soda).",
)
stop = click.option(
    "--stop/--no-stop",
    default=None,
    help="Ask no further for what is decided: looks fixed beforehand, error rates kept "
    "(docs/stopping.md).",
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
    help="Write thresholds and headlines as JUnit XML; what is inconclusive is skipped.",
)
label = click.option(
    "--label",
    "labels",
    multiple=True,
    type=LabelType(),
    help="A short name for a model, as A=openai:gpt-4o; once for each.",
)
judge = _stack(
    click.option(
        "--judge",
        "judges",
        multiple=True,
        metavar="KIND:NAME",
        help="A model that labels the same answers.",
    ),
    click.option(
        "--judge-for",
        "judge_for",
        metavar="all|unsure",
        default="all",
        show_default=True,
        help="What judges label: everything, beside the rules; or only what the rules are unsure "
        "of, as one instrument with them.",
    ),
    click.option(
        "--sure",
        type=click.FloatRange(0, 1),
        help="With --judge-for unsure: how sure the rules must be not to ask (protext: 0.999).",
    ),
)

layout = _stack(  # how a table of rows and columns is laid out
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
    click.option("--decimals", type=click.IntRange(0, 8), help="Decimals of values and intervals."),
    click.option("--leader", is_flag=True, help="Mark the highest of each row."),
    click.option("--ranked", is_flag=True, help="Rows from the highest to the lowest."),
)

choices = _stack(  # what is asked: subjects, languages, modes, samples, limit, seed
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
)

batch = _stack(  # what goes to a provider in batches
    click.option(
        "--batch",
        is_flag=True,
        help="Hand requests in as batches, at the price that providers have for them; the same "
        "command collects them (docs/batches.md).",
    ),
    click.option("--wait", is_flag=True, help="Stay until all batches have ended."),
    click.option(
        "--poll",
        type=click.FloatRange(0, min_open=True),
        default=30.0,
        show_default=True,
        help="Seconds between the first two looks at a batch; each further pause is twice as long, "
        "up to twenty times this.",
    ),
    click.option(
        "--batch-file",
        type=click.Path(dir_okay=False),
        metavar="FILE.jsonl",
        help="Write requests to a file in OpenAI's format, for instance for vllm run-batch, and "
        "read FILE.out.jsonl.",
    ),
)

reach = _stack(  # how models are reached, and what is allowed
    click.option(
        "--base-url",
        "base_urls",
        type=UrlType(),
        multiple=True,
        help="An OpenAI-compatible server, for instance http://localhost:8000/v1; KIND=URL "
        "or MODEL=URL for one kind or model; repeat it: several for one model share its requests.",
    ),
    click.option(
        "--concurrency",
        type=click.IntRange(1, 1000),
        help="Calls in flight at most, for each model; without it as many as its servers take.",
    ),
    click.option(
        "--rate",
        type=click.FloatRange(0, min_open=True),
        help="Calls per minute, for each model.",
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
        "--workers",
        "workers",
        metavar="N[@auto][?gpus=1]",
        help="Hold a model that runs here (diffusers:, gguf:, python:, …) in N processes, or in N "
        "workers of a Ray cluster (extra ray).",
    ),
    click.option(
        "--builtin-from",
        type=click.Path(),
        help="The built-in model's wheel or GGUF file, where there is no pip.",
    ),
)
