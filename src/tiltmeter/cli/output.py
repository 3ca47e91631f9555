"""The printing of estimates: the table, JSON or CSV on standard output, warnings and
thresholds on standard error. Nothing is computed here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from ..api.runs import checks
from ..api.runs.run_folder import Run
from ..display import visible
from ..protocol import Protocol
from ..stats.results import count_of
from .ending import ending_of
from .json_output import echo_json
from .options import Printing

if TYPE_CHECKING:
    from ..api import CheckResult
    from ..stages.engine.limits import Tally


def refuse_gates(protocol: Protocol | None, printing: Printing) -> None:
    """Raises UsageError, before anything is asked, for a gate without a margin or baseline, and for
    a threshold that the protocol cannot have.
    """
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
    """Prints the estimates of a run and writes its page; the exit code is 1 if calls went
    unanswered, else that of the thresholds.

    tallies: by stage.
    """
    refuse_gates(run.protocol, printing)
    ending = ending_of(run, printing)
    _emit_lines(ending.warnings)
    sys.stdout.write(ending.text)
    sys.stdout.flush()
    if printing.page is not None:
        click.echo(f"report: {printing.page}", err=True)
    failed = emit_failures(tallies or {})
    if tallies:
        _emit_lines(ending.asked)
    if failed:
        return failed
    _emit_lines(ending.checks)
    return ending.code


def emit_shard(run: Run, shard: str, tallies: Mapping[str, Tally], as_json: bool) -> int:
    """Prints the counts of a shard; estimates need the merged run. The exit code is 1 if calls went
    unanswered.
    """
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
    """Prints the stages' warnings and the number of unanswered calls; returns 1 if there are
    any.
    """
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
    """Prints the thresholds and the gate of each run; returns the exit code of all together."""
    from ..analyse.claims.thresholds import FAILED

    codes = [0]
    for result in results:
        _emit_lines(result.lines)
        codes.append(result.exit_code)
    return FAILED if FAILED in codes else max(codes)
