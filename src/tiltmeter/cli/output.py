"""How a verb that leaves estimates ends: the table or JSON on standard output, the rest said on
standard error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click
from rich.console import Console

from ..api import Run
from ..models.kinds import serves_asked
from ..protocol import Protocol
from ..protocol import thresholds as bounds
from ..protocol.thresholds import Threshold
from ..records import UNRESOLVED, Estimate
from ..stages import injection_count
from ..stages.limits import Tally
from ..store import Store, served_models


def wanted(texts: Sequence[str], protocol: Protocol) -> list[Threshold]:
    """The thresholds that a pipeline named, refused where the protocol has no such measure or
    level.
    """
    found = [bounds.parse(text) for text in texts]
    for threshold in found:
        bounds.check(threshold, protocol)
    return found


def held(named: Sequence[Threshold], protocol: Protocol, estimates: Sequence[Estimate]) -> int:
    """Says of each threshold, the protocol's own and those named, what the estimates show; the exit
    code of all together.
    """
    from ..analyse import (
        thresholds,
    )  # here, since it needs what analyses, and a first request need not wait for that

    found = (*wanted(protocol.thresholds, protocol), *named)
    outcomes = [(threshold, thresholds.judge(threshold, estimates)) for threshold in found]
    for threshold, rows in outcomes:
        if not rows:
            click.echo(f"{threshold.text}: inconclusive, nothing of it was estimated", err=True)
        for row in rows:
            click.echo(row.sentence, err=True)
    codes = [thresholds.code(rows) for _, rows in outcomes]
    return thresholds.FAILED if thresholds.FAILED in codes else max(codes, default=0)


def finish(
    run: Run,
    tallies: Mapping[str, Tally],
    variant: str,
    as_json: bool,
    page: Path | None,
    as_csv: bool = False,
    fail_if: Sequence[Threshold] = (),
) -> int:
    """Prints what was found and writes the page; the exit code is 1 where trials went unanswered,
    else that of thresholds.
    """
    from ..analyse import cautions
    from ..report import content, data, html, terminal
    from ..report.model import alone

    estimates = run.analyse(variant)
    for note in run.notes:
        click.echo(f"warning: {note}", err=True)
    with Store(run.folder) as store:
        built = content.build(store, run.protocol, estimates)
        told = (
            *served_models.warnings(store, serves_asked),
            injection_count.warning(store),
            *cautions.warnings(store, run.protocol),
        )
        for warning in filter(None, told):
            click.echo(f"warning: {warning}", err=True)
    for warning in _unread(estimates):
        click.echo(f"warning: {warning}", err=True)
    if page is not None:
        html.write_html(alone(built), page)
    if as_json:
        click.echo(data.as_json(built.run_info, estimates))
    elif as_csv:
        click.echo(data.as_csv(estimates), nl=False)
    else:
        terminal.print_table(built, Console())
    if page is not None:
        click.echo(f"report: {page}", err=True)
    return _said(tallies) or held(fail_if, run.protocol, estimates)


def _unread(estimates: Sequence[Estimate]) -> Iterator[str]:
    """Where most of the probability cannot be read: a server that lists bytes or few
    alternatives.
    """
    for row in estimates:
        unread = row.measure == "captured_mass" and row.value is not None and row.value < 0.1
        if unread and row.outcomes.get(UNRESOLVED, 0.0) > 0.5 * sum(row.outcomes.values()):
            yield (
                f"{row.subject} lists next to nothing that can be read as one of the options "
                "(pieces of characters, or too few alternatives). Type: --mode sampled"
            )


def _said(tallies: Mapping[str, Tally]) -> int:
    for tally in tallies.values():
        for warning in sorted(tally.warnings):
            click.echo(f"warning: {warning}", err=True)
    failed = [tally for tally in tallies.values() if tally.failed]
    for tally in failed:
        click.echo(
            f"{tally.failed} calls went unanswered (last: {tally.last_failure}). The same "
            "command asks them again.",
            err=True,
        )
    return 1 if failed else 0
