"""Options that mean the same in every verb that has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")
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


class PriceType(click.ParamType[Any]):
    """MODEL=IN/OUT, US dollars for a million tokens; MODEL=IN/OUT/PICTURE with those for one
    picture.
    """

    name = "MODEL=IN/OUT[/PICTURE]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from ..models import Price

        model, _, prices = str(value).rpartition("=")
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


class UrlType(click.ParamType[Any]):
    """URL, KIND=URL or MODEL=URL; as a pair of (kind or model or "", URL)."""

    name = "[KIND=]URL"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        whom, equals, url = str(value).partition("=")
        if equals and "//" not in whom:
            return whom, url
        return "", str(value)


class WhereType(click.ParamType[Any]):
    """FACTOR=LEVEL[,LEVEL…], as a pair of the factor and its levels."""

    name = "FACTOR=LEVEL[,LEVEL]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        factor, _, levels = str(value).partition("=")
        kept = tuple(filter(None, (level.strip() for level in levels.split(","))))
        if not factor.strip() or not kept:
            self.fail("give for instance prompt=P1,P2 (prompt=* for all)")
        return factor.strip(), kept


def _stack(*options: Callable[[F], F]) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


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
            "or MODEL=URL for "
            "one kind or model; repeat for several.",
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
            "--timeout",
            type=click.FloatRange(0, min_open=True),
            default=120.0,
            show_default=True,
            help="Seconds that one call may take.",
        ),
        click.option(
            "--builtin-from",
            type=click.Path(),
            help="The built-in model's wheel or GGUF file, where there is no pip.",
        ),
    )(function)


def split(options: dict[str, Any]) -> dict[str, Any]:
    """Click's values as the API's: tuples that were not given leave the default."""
    options = {name: value for name, value in options.items() if value is not None}
    if "prices" in options:
        options["prices"] = dict(options["prices"])
    if "base_urls" in options:
        urls = dict(options["base_urls"])
        options |= {"base_url": urls.pop("", ""), "base_urls": urls}
    if "where" in options:
        options["where"] = dict(options["where"])
    if "declension" in options:  # a factor of the design that has a name of its own
        options.setdefault("where", {})["declension"] = tuple(options.pop("declension").split(","))
    return options
