"""Values of options that have a form of their own: what is typed, and what it becomes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:  # a first look at --help waits for nothing
    from ..models import Price


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


class LabelType(click.ParamType[tuple[str, str]]):
    """NAME=MODEL, as a pair."""

    name = "NAME=MODEL"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """(short name, model); a usage error where either is empty."""
        name, _, model = value.partition("=")
        if not name or not model:
            self.fail(f"{value} is not NAME=MODEL. Type: --label A=openai:gpt-4o")
        return name, model


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
