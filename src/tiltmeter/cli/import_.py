"""tiltmeter import PROTOCOL PATH --out RUN, and tiltmeter import gold RUN FILE"""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import UsageError
from .options import Printing, as_json, variant


@click.command()
@click.argument("what", metavar="PROTOCOL|gold")
@click.argument("path", type=click.Path())
@click.argument("file", required=False, type=click.Path(dir_okay=False))
@click.option(
    "--out",
    type=click.Path(file_okay=False),
    help="The run's folder; an existing one is extended.",
)
@variant
@as_json
def command(
    what: str, path: str, file: str | None, out: str | None, variant: str, as_json: bool
) -> int:
    """Make a run from existing outputs; add people's labels. PATH holds outputs, labels or counts
    of a protocol, or your copy of a published release; `import gold RUN FILE` adds people's labels
    of outputs. If a protocol's texts do not ship: check your copy, for `run` (no --out).
    """
    from .. import api, registry
    from .output import emit_results

    if what == "gold":
        if not file:
            raise UsageError("Name the file of labels. Type: tiltmeter import gold RUN FILE")
        return _gold(path, file)
    if not (file or out) and registry.is_sourced(what):
        note = api.use_copy(what, path)
        remark = f"can be read ({note})" if note else "is the release"
        click.echo(f"{path} {remark}. Type: tiltmeter run {what} --model MODEL --out RUN")
        return 0
    if file or not out:
        raise UsageError(f"Name one file and --out. Type: tiltmeter import {what} {path} --out RUN")
    run = api.import_outputs(what, path, out)
    return emit_results(run, Printing(variant, as_json, page=Path(out) / "report.html"))


def _gold(run: str, file: str) -> int:
    from .. import api
    from .output import emit_warnings

    added = api.import_gold(run, file)
    people = ", ".join(name.partition(":")[2] for name in added.annotators)
    more = f"; {added.replaced} replace earlier answers, which are kept" if added.replaced else ""
    more += f"; {added.ambiguous} called ambiguous, kept as skips" if added.ambiguous else ""
    more += f"; {added.known} were stored before" if added.known else ""
    more += f"; {added.blank} without a value" if added.blank else ""
    new = f"{added.labels} gold labels of {people}" if added.labels else f"Nothing new of {people}"
    click.echo(f"{new}{more}")
    emit_warnings(added.warnings)
    return 0
