"""The options of a table."""

from collections.abc import Mapping, Sequence
from typing import Annotated, TypedDict

from . import forms
from .option import Option


class TableOptions(TypedDict, total=False):
    """The layout of a table (`protocol.paper_tables.TableLayout`)."""

    title: str
    rows: Annotated[
        Sequence[str],
        Option(commas=True, help="What the rows are, with commas: factors, model, measure, …"),
    ]
    columns: Annotated[
        Sequence[str],
        Option(commas=True, help="What the columns are; the last factor otherwise."),
    ]
    show: Annotated[
        Sequence[str],
        Option(
            commas=True,
            help="Parts of a cell, with commas: value, stars, interval, p, n.",
        ),
    ]
    where: Annotated[
        Mapping[str, Sequence[str]],
        Option(
            metavar="FACTOR=LEVEL[,LEVEL]",
            parse=forms.factor_levels,
            value=dict,
            help="Only these levels; repeat for several.",
        ),
    ]
    percent: Annotated[bool, Option(help="Shares in per cent.")]
    decimals: Annotated[
        int | None, Option(least=0, most=8, help="Decimals of values and intervals.")
    ]
    leader: Annotated[bool, Option(help="Mark the highest of each row.")]
    ranked: Annotated[bool, Option(help="Rows from the highest to the lowest.")]
