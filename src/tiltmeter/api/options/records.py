"""The options that several commands share, one record each.

A field of a TypedDict is an option: its name and type are those of the keyword in Python; its
`Option` has the rest. The option of the command line (`cli/options.py`), the key of tiltmeter.toml
(`project.py`) and docs/reference/options.md (`scripts/reference_pages.py`) are made from it.
CONTRIBUTING.md says how to add one.
"""

# No `from __future__ import annotations`: the records are read from the annotations.

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

from . import forms
from .option import Option

if TYPE_CHECKING:  # --help must not pay for this import
    from ...models import Price


class JudgeOptions(TypedDict, total=False):
    """The options that say which answers judges label."""

    judge_for: Annotated[
        str,
        Option(
            metavar="all|unsure|unread",
            default="all",
            in_folder=True,
            help="What judges label: everything, beside the rules; or, as one instrument with "
            "them, only what the rules are unsure of, or left unread.",
        ),
    ]
    sure: Annotated[
        float | None,
        Option(
            least=0,
            most=1,
            help="With --judge-for unsure: how sure the rules must be not to ask (protext: 0.999).",
        ),
    ]


class ChoiceOptions(TypedDict, total=False):
    """The options that choose questions (`Choices`). `language` is the same as `languages`, `mode`
    as `modes`.

    samples: samples per prompt; by default the number in the protocol's mode.
    where:   {factor: levels} in place of the protocol's defaults; the level "*" is all.
    system:  the text of a system prompt in place of the protocol's own; "" for none.
    begin:   the beginning of the answer in place of the mode's own.
    """

    language: str | Sequence[str]
    mode: str | Sequence[str]
    languages: Annotated[
        Sequence[str],
        Option(
            flags=("--language",), in_folder=True, help="Only this language; repeat for several."
        ),
    ]
    modes: Annotated[
        Sequence[str],
        Option(
            flags=("--mode",), in_folder=True, help="How outputs are obtained; repeat for several."
        ),
    ]
    samples: Annotated[int | None, Option(least=1, in_folder=True, help="Draws of each prompt.")]
    limit: Annotated[
        int | None,
        Option(
            least=1,
            in_folder=True,
            help="Only so many items (words, texts, …), drawn by the seed.",
        ),
    ]
    where: Annotated[
        Mapping[str, str | Sequence[str]],
        Option(
            metavar="FACTOR=LEVEL[,LEVEL]",
            parse=forms.factor_levels,
            value=dict,
            help="Only these levels of a factor, in place of the protocol's default; * is all; "
            "repeat for several.",
        ),
    ]
    cross: Annotated[
        str | Sequence[str],
        Option(
            metavar="A×B",
            help="The intersections of two dimensions too, such as gender×age; repeat for several.",
        ),
    ]
    declension: Annotated[
        str | None,
        Option(
            metavar="published|correct",
            help="Nouns as the paper puts them, declined, or both with a comma (gramvis).",
        ),
    ]
    seed: Annotated[
        int,
        Option(default=0, in_folder=True, help="Of the order and of the model's sampling."),
    ]
    begin: Annotated[str | None, Option(help="Begin the model's answer with this text.")]
    system: Annotated[
        str | None,
        Option(
            path="file",
            metavar="FILE",
            value=forms.read_system,
            help='A text file: the system prompt, in place of the protocol\'s own; "" for none at '
            "all, not even the one that a template adds.",
        ),
    ]
    mitigate: Annotated[
        str | None,
        Option(
            metavar="FILE|known",
            help="A table of mitigations (name, way, text), each asked beside none; known: the "
            "six that ship.",
        ),
    ]
    temperature: Annotated[
        float | None, Option(least=0, most=2, help="In place of the protocol's own.")
    ]
    max_tokens: Annotated[
        int | None,
        Option(
            least=1, in_folder=True, help="The limit of a reply, in place of the protocol's own."
        ),
    ]
    reasoning: Annotated[
        str | None,
        Option(
            metavar="off|EFFORT|default",
            in_folder=True,
            help="How much the subject thinks first: off, or the least that it can, if nothing is "
            "typed; low, medium, high, …; default is what its endpoint does by itself.",
        ),
    ]


class ConnectOptions(TypedDict, total=False):
    """The options for connections to models (`Connect`).

    base_url:  the server of every model without a provider of its own, or several servers, which
      share its requests.
    base_urls: servers by kind of model or by model name, one or several each.
    prices:    by model name, US dollars per million tokens, in and out.
    columns:   {field: its column in files of answers}, such as {"text": "response"}.
    """

    base_url: str | Sequence[str]
    base_urls: Annotated[
        Mapping[str, str | Sequence[str]],
        Option(
            flags=("--base-url",),
            metavar="[KIND=]URL",
            parse=forms.server,
            value=forms.by_first,
            help="An OpenAI-compatible server, for instance http://localhost:8000/v1; KIND=URL "
            "or MODEL=URL for one kind or model; repeat it: several for one model share its "
            "requests.",
        ),
    ]
    prices: Annotated[
        Mapping[str, "Price"],
        Option(
            flags=("--price",),
            metavar="MODEL=IN/OUT[/PICTURE]",
            parse=forms.price,
            value=dict,
            help="US dollars for a million tokens.",
        ),
    ]
    columns: Annotated[
        Mapping[str, str],
        Option(
            flags=("--column",),
            metavar="FIELD=COLUMN",
            parse=forms.column,
            value=dict,
            help="Of a file of answers: text=response where its column is called response; repeat "
            "for several.",
        ),
    ]
    timeout: Annotated[
        float,
        Option(default=120.0, above=0, in_folder=True, help="Seconds that one call may take."),
    ]
    context: Annotated[
        int | None,
        Option(
            least=256,
            help="Tokens of prompt and reply that a model on this machine (gguf:, builtin) holds; "
            "what the longest prompt needs if nothing is typed.",
        ),
    ]
    builtin_from: Annotated[
        str | None,
        Option(path="any", help="The built-in model's wheel or GGUF file, where there is no pip."),
    ]


class AskOptions(ConnectOptions, total=False):
    """The options for connections to models and for limits (`Limits`). patience: in seconds in
    Python, in minutes on the command line and in tiltmeter.toml.
    """

    concurrency: Annotated[
        int | None,
        Option(
            least=1,
            most=1000,
            in_folder=True,
            help="Calls in flight at most, for each model; without it as many as its servers take.",
        ),
    ]
    rate: Annotated[
        float | None, Option(above=0, in_folder=True, help="Calls per minute, for each model.")
    ]
    max_cost: Annotated[
        float | None,
        Option(least=0, in_folder=True, help="US dollars that the run may cost in all."),
    ]
    patience: Annotated[
        float,
        Option(
            default=30.0,
            least=0,
            in_folder=True,
            value=forms.seconds,
            help="Minutes of an outage that a call outlasts.",
        ),
    ]
    durable: Annotated[
        bool,
        Option(
            in_folder=True,
            help="Bring replies to the disk each second, so that a power cut loses at most one "
            "second of them; otherwise it may lose the last minutes.",
        ),
    ]
    workers: Annotated[
        str | int | None,
        Option(
            metavar="N[@auto][?gpus=1]",
            help="Hold a model that runs here (diffusers:, gguf:, python:, …) in N processes, or "
            "in N workers of a Ray cluster (extra ray).",
        ),
    ]


class BatchOptions(TypedDict, total=False):
    """The options for batches (`Batching`). With `batch`, BatchesOut is raised until all batches
    have ended: the same call then collects them.
    """

    batch: Annotated[
        bool,
        Option(
            help="Hand requests in as batches, at the price that providers have for them; the same "
            "command collects them (docs/how-to/batches.md)."
        ),
    ]
    wait: Annotated[bool, Option(help="Stay until all batches have ended.")]
    pay_again: Annotated[
        bool,
        Option(
            help="Ask anew what may have been paid for in a batch whose results cannot be read "
            "(tiltmeter jobs RUN --money)."
        ),
    ]
    trust: Annotated[
        bool,
        Option(
            help="Read the files and models that somebody else's run names: its protocol, a batch "
            "and its file, a model of another kind."
        ),
    ]
    poll: Annotated[
        float,
        Option(
            default=30.0,
            above=0,
            help="Seconds between the first two looks at a batch; each further pause is twice as "
            "long, up to twenty times this.",
        ),
    ]
    batch_file: Annotated[
        Path | str | None,
        Option(
            path="file",
            metavar="FILE.jsonl",
            help="Write requests to a file in OpenAI's format, for instance for vllm run-batch, "
            "and read FILE.out.jsonl.",
        ),
    ]


class StopOptions(TypedDict, total=False):
    """The option to stop early; the protocol sets its default."""

    stop: Annotated[
        bool | None,
        Option(
            flags=("--stop/--no-stop",),
            help="Ask no further for what is decided: looks fixed beforehand, error rates kept "
            "(docs/how-to/stopping.md).",
        ),
    ]


class PlanOptions(
    ChoiceOptions, JudgeOptions, ConnectOptions, BatchOptions, StopOptions, total=False
):
    """The options of `plan`: questions, connection to models, stopping early."""


class LabelOptions(JudgeOptions, AskOptions, BatchOptions, total=False):
    """The options of `label`: connection to models, limits, batches."""


class RunOptions(ChoiceOptions, LabelOptions, StopOptions, total=False):
    """The options of `run`: questions, connection to models, limits, batches.

    margin: the margin of a gate ("5"), kept before the first answer.
    """

    margin: str | None
    pilot: Annotated[
        bool | None,
        Option(
            flags=("--pilot/--no-pilot",),
            help="Look at the first twelve replies of each model before the rest is asked, and "
            "stop if they cannot be measured, with exit code 6; so if neither is typed.",
        ),
    ]
    shard: Annotated[
        str | None,
        Option(
            metavar="3/16",
            help="Only this part of the plan, into a folder of its own; tiltmeter merge joins all.",
        ),
    ]
