"""tiltmeter audit PROMPTS --swap gender,race --model M --out DIR"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from ..api.options import forms
from ..api.options.records import ChoiceOptions
from ..api.start.traffic.wishes import INSERTS, MAX_TOKENS, SPANS, UNITS, Wishes
from ..errors import UsageError
from .options import (
    Printing,
    as_json,
    batch,
    fail_if,
    full,
    gathers,
    judge,
    junit,
    label,
    prints,
    reach,
    single,
)

if TYPE_CHECKING:
    from ..api.options.records import RunOptions
    from ..api.start.traffic.prepare import Prepared

SHOWN = 12  # pairs that are printed before anything is asked


@dataclass(frozen=True, slots=True)
class Sending:
    """The consent to send pairs. dry_run: False stops before; yes: True without a question."""

    dry_run: bool = False
    yes: bool = False


def _words_by_list(texts: Sequence[str]) -> dict[str, list[str]]:
    found = {}
    for text in texts:
        name, _, words = text.partition("=")
        listed = [word.strip() for word in words.split(",") if word.strip()]
        if not name.strip() or not listed:
            raise UsageError("A list is written NAME=WORD,WORD, as in --list warm=kind,caring")
        found[name.strip()] = listed
    return found


@click.command()
@click.argument("prompts", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--swap",
    "swaps",
    default="gender",
    show_default=True,
    metavar="CUE,…",
    callback=lambda context, parameter, typed: forms.names(typed),
    help="Cues to exchange: gender, race, age, religion, disability, orientation.",
)
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    metavar="KIND:NAME",
    help="What is asked; repeat for several. Not needed with --dry-run.",
)
@single(ChoiceOptions, "samples")
@single(ChoiceOptions, "temperature")
@single(ChoiceOptions, "system")
@single(ChoiceOptions, "limit")
@single(ChoiceOptions, "seed")
@click.option(
    "--max-tokens",
    type=click.IntRange(1),
    default=MAX_TOKENS,
    show_default=True,
    help="The longest answer.",
)
@click.option(
    "--unit",
    type=click.Choice(UNITS),
    default=UNITS[0],
    show_default=True,
    help="One item: a prompt with its near-copies, or all prompts of a user or session.",
)
@click.option(
    "--insert",
    type=click.Choice(INSERTS),
    help="Ask prompts without a cue too, with a name below them or in the system prompt.",
)
@click.option(
    "--prompt",
    default="",
    metavar="COLUMN",
    help="The column of the prompts, if two could be it.",
)
@click.option(
    "--spans",
    type=click.Choice(SPANS),
    default=SPANS[0],
    show_default=True,
    help="Of traces: the outermost record, or each call of a model.",
)
@click.option(
    "--redact",
    is_flag=True,
    help="Replace e-mail addresses, phone, card and account numbers before anything is sent.",
)
@click.option(
    "--list",
    "lists",
    multiple=True,
    metavar="NAME=WORD,…",
    callback=lambda context, parameter, typed: _words_by_list(typed),
    help="Words to count in answers. Repeat for each list.",
)
@click.option(
    "--pair-seed",
    type=int,
    default=0,
    show_default=True,
    help="Chooses the matched sets that names come from.",
)
@click.option("--dry-run", is_flag=True, help="Stop when the pairs are written; nothing is sent.")
@click.option("--yes", is_flag=True, help="Do not ask whether the pairs are right.")
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="The run's folder; again = resume.",
)
@judge
@reach
@batch
@label
@fail_if
@junit
@full
@as_json
@prints
@gathers("wishes", Wishes)
@gathers("sending", Sending)
def command(
    prompts: Path,
    models: tuple[str, ...],
    out: Path,
    wishes: Wishes,
    sending: Sending,
    printing: Printing,
    judges: tuple[str, ...],
    **options: Unpack[RunOptions],
) -> int:
    """Ask prompts of yours with only a cue changed; compare answers.

    \b
    tiltmeter audit prompts.jsonl --swap gender,race --dry-run --out out
    tiltmeter audit prompts.jsonl --swap gender,race --model python:bot.py:answer --yes --out out
    """
    from .. import api, registry
    from ..api.start.traffic.prepare import prepare
    from .output import emit_results, refuse_gates
    from .progress import progress_line

    refuse_gates(None, printing)
    made = prepare(prompts, out, wishes)
    _show(made, out)
    if sending.dry_run or not _may_send(models, judges, made, sending.yes):
        click.echo("Nothing was sent.")
        return 0
    refuse_gates(registry.protocol(made.protocol), printing)
    with progress_line() as (watch, tallies):
        margin = printing.margin
        run = api.run(
            made.protocol, models, out, judge=judges, watch=watch, margin=margin, **options
        )
    return emit_results(run, replace(printing, page=out / "report.html"), tallies)


def _show(made: Prepared, out: Path) -> None:
    """Prints what was found, and the first pairs."""
    from ..api.start.traffic.pairs_page import changes
    from ..api.start.traffic.prepare import CUES, PAIRS

    for line in made.lines:
        click.echo(line)
    for one in made.asked[:SHOWN]:
        click.echo(f"  line {one.line}, {one.question}: {changes(one)}")
    if len(made.asked) > SHOWN:
        click.echo(f"  … and {len(made.asked) - SHOWN:,} more")
    click.echo(f"Look: {out / PAIRS}    Change: {out / CUES}")


def _may_send(models: tuple[str, ...], judges: tuple[str, ...], made: Prepared, yes: bool) -> bool:
    """Asks whether to send the pairs, and to whom. UsageError if nobody is there to say so."""
    if not models:
        raise UsageError("Name what is asked: --model KIND:NAME, or --dry-run to see the pairs.")
    whom = ", ".join((*models, *(f"{judge} (judge, with the answers)" for judge in judges)))
    click.echo(f"Sends {2 * len(made.asked):,} prompts to {whom}.")
    if yes:
        return True
    if not sys.stdin.isatty():
        raise UsageError("Nothing was sent. Look at the pairs, then add --yes.")
    return click.confirm("Are the pairs right?")
