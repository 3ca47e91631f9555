"""The options that are named parameters in Python instead of members of `**options`."""

from collections.abc import Sequence
from typing import Annotated, TypedDict

from .option import Option


class AuditOptions(TypedDict, total=False):
    """The options that are named parameters in Python."""

    models: Annotated[
        Sequence[str],
        Option(
            flags=("--model", "-m"),
            required=True,
            metavar="KIND:NAME",
            in_folder=True,
            help="The subject, for instance builtin or openai:gpt-4.1-mini; repeat for several.",
        ),
    ]
    judges: Annotated[
        Sequence[str],
        Option(
            flags=("--judge",),
            metavar="KIND:NAME",
            in_folder=True,
            help="A model that labels the same answers.",
        ),
    ]
    taxonomy: Annotated[
        str | None,
        Option(
            path="existing file",
            help="A file of attributes to label by, where a judge would choose them (soda).",
        ),
    ]
    variant: Annotated[
        str,
        Option(
            default="default",
            in_folder=True,
            help="How measures are computed: default, or as published.",
        ),
    ]
