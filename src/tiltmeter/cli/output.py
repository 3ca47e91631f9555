"""The results of a run: its page, table, JSON or CSV; warnings and thresholds on standard error."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from ..api.runs import checks
from ..api.runs.run_folder import Run
from ..display import visible
from ..protocol import Protocol
from ..records import Estimate
from ..stats.results import count_of
from ..store import Store
from .json_output import echo_json
from .options import Printing

if TYPE_CHECKING:
    from ..analyse.claims.verdicts import Verdict
    from ..api import CheckResult
    from ..report.page_model.page import Content
    from ..stages.engine.limits import Tally


def refuse_gates(protocol: Protocol | None, printing: Printing) -> None:
    """Raises UsageError for an impossible gate or threshold, before anything is asked."""
    if printing.gated:
        from ..api.runs import gating

        gating.gate_of(protocol, **printing.gate)
    if protocol is not None:
        checks.parse_thresholds(protocol, printing.fail_if)


def emit_results(
    run: Run,
    printing: Printing,
    tallies: Mapping[str, Tally] | None = None,
) -> int:
    """Prints the estimates of a run and writes its page. Returns 1 if calls went unanswered, else
    the exit code of the thresholds and the gate.

    tallies: {stage: its tally}.
    """
    from ..analyse.words.short_model_names import given_names
    from ..report.page_model.page import alone
    from ..report.run_page import content, models_asked

    refuse_gates(run.protocol, printing)
    estimates = run.analyse(printing.variant)
    named = given_names(dict(printing.labels), (row.subject for row in estimates))
    with Store(run.folder) as store:
        has_page = printing.page is not None
        built = content.build(store, run.protocol, estimates, named, for_page=has_page)
        asked = models_asked.asked_once(store)
    if printing.page is not None:
        from ..report.render import html

        html.write_html(alone(built), printing.page)
    checked = check(run, printing, estimates)
    verdicts = run.verdicts(estimates=estimates)
    if printing.junit is not None:
        from ..api.handover.junit import write_junit

        write_junit(printing.junit, run.protocol.name, checked, verdicts)
    emit_warnings(run.warnings(estimates=estimates, cautions=False))
    if printing.variant == "default" and not checked.changed:
        emit_warnings(run.changes(verdicts))
    _print_results(run, printing, (built, estimates, verdicts), checked)
    if printing.page is not None:
        click.echo(f"report: {printing.page}", err=True)
    failed = emit_failures(tallies or {})
    if tallies:
        _emit_lines(asked)
    if failed:
        return failed
    _emit_lines(checked.lines)
    return checked.exit_code


def check(run: Run, printing: Printing, estimates: Sequence[Estimate] | None = None) -> CheckResult:
    """Checks a run against the thresholds and the gate that were typed."""
    checked = run.check(
        *printing.fail_if, variant=printing.variant, estimates=estimates, **printing.gate
    )
    return replace(checked, allow=printing.allow)


def _print_results(
    run: Run,
    printing: Printing,
    results: tuple[Content, Sequence[Estimate], Sequence[Verdict]],
    checked: CheckResult,
) -> None:
    """Prints the estimates on standard output, as JSON, CSV or readable text."""
    built, estimates, verdicts = results
    if printing.as_json or printing.as_csv:
        from ..report.render import json_csv

        if printing.as_json:
            gate = checked.gate_as_dict(printing.margin)
            click.echo(json_csv.as_json(built.run_info, estimates, verdicts, run.protocol, gate))
        else:
            click.echo(json_csv.as_csv(estimates), nl=False)
        return
    from rich.console import Console

    console = Console()
    if printing.variant == "default" and not printing.full:
        from ..report.render import terminal_screen

        terminal_screen.print_screen(built, console, shlex.quote(str(run.folder)))
    else:  # imports 30 modules for tables of judges and of papers
        from ..report.render import terminal
        from ..report.tables import cross_table_formats, cross_tables

        for name, model in printing.labels:
            click.echo(f"{visible(name)} = {visible(model)}")
        papers = cross_tables.declared(run.protocol, estimates, printing.variant)
        tables = [cross_table_formats.terminal_table(table) for table in papers]
        terminal.print_table(built, console, tables)
    sys.stdout.flush()


def emit_shard(run: Run, shard: str, tallies: Mapping[str, Tally], as_json: bool) -> int:
    """Prints the counts of a shard, which has no estimates; returns 1 if calls went unanswered."""
    counts = run.counts()
    if as_json:
        echo_json({"run": str(run.folder), "shard": shard, **counts}, indent=1)
    else:
        named = ", ".join(f"{number:,} {name}" for name, number in counts.items())
        click.echo(
            f"shard {shard}: {named}. Once all are complete: tiltmeter merge RUN RUN … --out RUN"
        )
    return emit_failures(tallies)


def _emit_lines(lines: Sequence[str]) -> None:
    """Prints lines on standard error."""
    for line in lines:
        click.echo(line, err=True)


def emit_warnings(warnings: Sequence[str]) -> None:
    """Prints warnings on standard error."""
    _emit_lines([f"warning: {visible(warning)}" for warning in warnings])


def emit_failures(tallies: Mapping[str, Tally]) -> int:
    """Prints warnings and the number of unanswered calls; returns 1 if any call is unanswered."""
    for tally in tallies.values():
        emit_warnings(sorted(tally.warnings))
    failed = [tally for tally in tallies.values() if tally.failed]
    for tally in failed:
        click.echo(
            f"{count_of(tally.failed, 'call')} went unanswered (last: "
            f"{visible(tally.last_failure)}). The same command asks them again.",
            err=True,
        )
    return 1 if failed else 0


def emit_checks(results: Iterable[CheckResult]) -> int:
    """Prints the thresholds and the gate of each run; returns the combined exit code."""
    from ..analyse.claims.thresholds import FAILED

    codes = [0]
    for result in results:
        _emit_lines(result.lines)
        codes.append(result.exit_code)
    return FAILED if FAILED in codes else max(codes)
