"""tiltmeter audit PROMPTS --swap gender,race --model M --out DIR"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Unpack, cast

import click

from ..api.options import forms
from ..api.options.records import ChoiceOptions
from ..api.start.traffic.wishes import INSERTS, MAX_TOKENS, SPANS, UNITS, Wishes
from ..errors import TiltmeterError, UsageError
from .options import (
    Printing,
    as_json,
    batch,
    gathers,
    judge,
    prints,
    reach,
    results,
    single,
)

if TYPE_CHECKING:
    from ..api import Run
    from ..api.options.records import RunOptions
    from ..api.start.traffic.prepare import Prepared
    from ..stages.engine.limits import Tally

SHOWN = 12  # pairs that are printed before anything is sent


@dataclass(frozen=True, slots=True)
class Sending:
    """The consent to send pairs. dry_run: send nothing; yes: do not ask; private: keep no text."""

    dry_run: bool = False
    yes: bool = False
    private: bool = False


def _words_by_list(texts: Sequence[str]) -> dict[str, list[str]]:
    lists = {}
    for text in texts:
        name, _, words = text.partition("=")
        listed = [word.strip() for word in words.split(",") if word.strip()]
        if not name.strip() or not listed:
            raise UsageError(
                "--list needs NAME=WORD,WORD. Type for instance: --list warm=kind,caring"
            )
        lists[name.strip()] = listed
    return lists


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
    "--tools",
    default="",
    metavar="NAME,…",
    callback=lambda context, parameter, typed: forms.names(typed) if typed else (),
    help="Tools of the system: compare how often an answer calls each of them first.",
)
@click.option(
    "--pair-seed",
    type=int,
    default=0,
    show_default=True,
    help="Chooses the matched sets that names come from.",
)
@click.option("--dry-run", is_flag=True, help="Stop when the pairs are written; nothing is sent.")
@click.option(
    "--private",
    is_flag=True,
    help="Print and keep numbers and keyed hashes alone; needs --yes.",
)
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
@results
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
    from .output import emit_results, refuse_gates

    refuse_gates(None, printing)
    wishes = replace(wishes, judged=bool(judges), answers=options.get("samples"))
    asked = _Asked(prompts, models, judges, wishes, sending, printing)
    if sending.private:
        return _ask_privately(asked, out, options)
    prepared = _prepare(asked, out)
    _show(asked, prepared, out)
    if sending.dry_run and asked.models:
        asked.tell(_call_words(asked, prepared, options))
    if sending.dry_run or not _may_send(asked, prepared, options):
        asked.tell("Nothing was sent.")
        return 0
    run, tallies = _ask(asked, prepared, out, options)
    asked.tell_of_the_log(run, prepared)
    return emit_results(run, replace(printing, page=out / "report.html"), tallies)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The options of an audit, as typed."""

    prompts: Path
    models: tuple[str, ...]
    judges: tuple[str, ...]
    wishes: Wishes
    sending: Sending
    printing: Printing

    def tell(self, line: str) -> None:
        """Prints a line; on standard error if standard output is for JSON."""
        click.echo(line, err=self.printing.as_json)

    def tell_of_the_log(self, run: Run, prepared: Prepared) -> None:
        """Prints a comparison of today's answers with the answers in the log."""
        from ..api.start.traffic.then_and_now import sentences

        for line in sentences(run, prepared.decisions, prepared.then):
            self.tell(line)


def _prepare(asked: _Asked, folder: Path) -> Prepared:
    from ..api.start.traffic.prepare import prepare

    return prepare(asked.prompts, folder, asked.wishes, lambda line: click.echo(line, err=True))


def _ask(
    asked: _Asked, prepared: Prepared, folder: Path, options: RunOptions
) -> tuple[Run, dict[str, Tally]]:
    from .. import api, registry
    from ..stages.steps import pilot_words
    from .output import refuse_gates
    from .progress import progress_line

    refuse_gates(registry.protocol(prepared.protocol), asked.printing)
    typed: RunOptions = {**options, "margin": asked.printing.margin}
    with progress_line() as (progress, tallies):

        def watch(stage: str, total: int | None, tally: Tally) -> None:
            tally.lines = tuple(line for line in tally.lines if not pilot_words.quotes(line))
            progress(stage, total, tally)

        run = api.run(
            prepared.protocol,
            asked.models,
            folder,
            judge=asked.judges,
            watch=watch,
            **typed,
        )
    return run, tallies


def _ask_privately(asked: _Asked, out: Path, options: RunOptions) -> int:
    """Runs in a temporary folder; keeps and prints numbers only."""
    from ..api.handover.junit import write_junit
    from ..api.start.traffic import private
    from .output import check

    sending, printing = asked.sending, asked.printing
    if not (sending.yes or sending.dry_run):
        raise UsageError(
            "--private hides the pairs and needs --yes. To see them leave --private out."
        )
    with TemporaryDirectory(prefix="tiltmeter-") as folder:
        working = Path(folder)
        prepared = _prepare(asked, working)
        for line in prepared.lines:
            asked.tell(line)
        if sending.dry_run or not _may_send(asked, prepared, options):
            asked.tell("Nothing was sent.")
            return 0
        run, _ = _ask(asked, prepared, working, {**options, "pilot": False})
        asked.tell_of_the_log(run, prepared)
        estimates = run.analyse()
        checked = check(run, printing, estimates)
        verdicts = run.verdicts(estimates=estimates)
        private.keep(out, working, prepared.decisions, estimates)
        if printing.junit is not None:
            write_junit(printing.junit, run.protocol.name, checked, verdicts)
    for verdict in verdicts:
        click.echo(verdict.headline)
    for line in checked.lines:
        click.echo(line, err=True)
    click.echo(f"Kept: numbers and keyed hashes in {out}")
    return checked.exit_code


def _show(asked: _Asked, prepared: Prepared, out: Path) -> None:
    """Prints a summary of the pairs; without examples if --yes, as logs must hold no prompts."""
    from ..api.start.traffic.pairs_page import changes
    from ..api.start.traffic.prepare import CUES, PAIRS

    for line in prepared.lines:
        asked.tell(line)
    prompts = () if asked.sending.yes and not asked.sending.dry_run else prepared.asked[:SHOWN]
    for pair in prompts:
        asked.tell(f"  line {pair.place}, {pair.question}: {changes(pair)}")
    if len(prepared.asked) > len(prompts) > 0:
        asked.tell(f"  … and {len(prepared.asked) - SHOWN:,} more")
    asked.tell(f"Look: {out / PAIRS}    Change: {out / CUES}")


def _call_words(asked: _Asked, prepared: Prepared, options: RunOptions) -> str:
    """Says how many prompts and calls go to whom, and their price as `tiltmeter plan` has it."""
    from .. import api
    from ..api.options.records import PlanOptions

    judges = (f"{judge} (judge, with the answers)" for judge in asked.judges)
    text = f"Sends {2 * len(prepared.asked):,} prompts to {', '.join((*asked.models, *judges))}"
    known = PlanOptions.__optional_keys__
    typed = cast("PlanOptions", {name: one for name, one in options.items() if name in known})
    try:
        totals = api.plan(prepared.protocol, asked.models, judge=asked.judges, **typed).totals
    except TiltmeterError:  # the run will say the same of a model that does not exist
        return f"{text}."
    limit = f" (--limit {options['limit']} prompts)" if options.get("limit") else ""
    text += f": {totals['calls']:,} calls{limit}"
    if totals["price_unknown"]:
        return f"{text}; no price is known of {', '.join(totals['price_unknown'])}."
    cost, most = totals["cost"], totals["cost_most"]
    return f"{text}, about ${cost:,.2f}, at most ${most:,.2f}." if cost else f"{text}."


def _may_send(asked: _Asked, prepared: Prepared, options: RunOptions) -> bool:
    """Asks the user to confirm pairs and models. Raises UsageError outside a terminal."""
    if not asked.models:
        raise UsageError("Name a model: --model KIND:NAME, or --dry-run to see the pairs.")
    asked.tell(_call_words(asked, prepared, options))
    if asked.sending.yes:
        return True
    if not sys.stdin.isatty():
        raise UsageError("Nothing was sent. To send the pairs without a question, add --yes.")
    return click.confirm("Are the pairs right?")
