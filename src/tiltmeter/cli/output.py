"""What a verb that leaves estimates prints: the table, JSON or CSV on standard output, warnings and
thresholds on standard error. Nothing is worked out here.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console

from ..api import CheckResult, Run, checks
from ..api.junit import write_junit
from ..protocol import Protocol
from ..report.sanitize import visible
from ..stages.limits import Tally
from ..store import Store


@dataclass(frozen=True, slots=True)
class Printing:
    """How results are printed. page: where the HTML report goes, None for no report; full: all
    findings and tables, not what fits one screen.
    """

    variant: str = "default"
    as_json: bool = False
    as_csv: bool = False
    page: Path | None = None
    full: bool = False
    junit: str | None = None


def refuse_thresholds(protocol: Protocol, texts: Sequence[str]) -> None:
    """UsageError for a threshold that the protocol cannot have, before anything is asked."""
    checks.parse_thresholds(protocol, texts)


def emit_results(
    run: Run,
    printing: Printing,
    tallies: Mapping[str, Tally] | None = None,
    fail_if: Sequence[str] = (),
) -> int:
    """Prints the estimates of a run and writes its page; the exit code is 1 where calls went
    unanswered, else that of the thresholds.

    tallies: what happened in each stage; fail_if: thresholds beside the protocol's own.
    """
    from ..report import (
        content,
        cross_table_formats,
        cross_tables,
        data,
        html,
        terminal,
        terminal_screen,
    )
    from ..report.model import alone

    refuse_thresholds(run.protocol, fail_if)
    estimates = run.analyse(printing.variant)
    with Store(run.folder) as store:
        built = content.build(store, run.protocol, estimates)
    emit_warnings(run.warnings(estimates=estimates))
    if printing.page is not None:
        html.write_html(alone(built), printing.page)
    if printing.as_json:
        found = run.verdicts(estimates=estimates)
        click.echo(data.as_json(built.run_info, estimates, found, run.protocol))
    elif printing.as_csv:
        click.echo(data.as_csv(estimates), nl=False)
    elif printing.variant == "default" and not printing.full:
        terminal_screen.print_screen(built, Console(), shlex.quote(str(run.folder)))
    else:
        papers = cross_tables.declared(run.protocol, estimates, printing.variant)
        tables = [cross_table_formats.terminal_table(table) for table in papers]
        terminal.print_table(built, Console(), tables)
    if printing.page is not None:
        click.echo(f"report: {printing.page}", err=True)
    checked = run.check(*fail_if, estimates=estimates)
    if printing.junit is not None:
        write_junit(printing.junit, run.protocol.name, checked, run.verdicts(estimates=estimates))
    return emit_failures(tallies or {}) or emit_checks(checked)


def emit_warnings(warnings: Sequence[str]) -> None:
    """Prints each on standard error."""
    for warning in warnings:
        click.echo(f"warning: {visible(warning)}", err=True)


def emit_failures(tallies: Mapping[str, Tally]) -> int:
    """Prints what the stages warned of and how many calls went unanswered; 1 where some did."""
    for tally in tallies.values():
        emit_warnings(sorted(tally.warnings))
    failed = [tally for tally in tallies.values() if tally.failed]
    for tally in failed:
        click.echo(
            f"{tally.failed} calls went unanswered (last: {visible(tally.last_failure)}). The same "
            "command asks them again.",
            err=True,
        )
    return 1 if failed else 0


def emit_checks(verdict: CheckResult) -> int:
    """Prints what the estimates show of each threshold; the exit code of all together."""
    for sentence in verdict.sentences:
        click.echo(sentence, err=True)
    return verdict.exit_code
