"""The output of `--json`: one object, with the version of its schema."""

from __future__ import annotations

import json
from collections.abc import Mapping

import click

SCHEMA = 1


def json_text(values: Mapping[str, object], indent: int | None = None) -> str:
    """Writes a command's results as JSON. Raises ValueError for NaN and infinite numbers."""
    document = {"schema": SCHEMA, **values}
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=indent)


def echo_json(values: Mapping[str, object], indent: int | None = None) -> None:
    """Prints a command's results as JSON on standard output."""
    click.echo(json_text(values, indent))
