"""tiltmeter selftest [PROTOCOL …]"""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import UsageError
from .json_output import echo_json
from .options import as_json


@click.command()
@click.argument("what", nargs=-1, metavar="[PROTOCOL]...")
@as_json
def command(what: tuple[str, ...], as_json: bool) -> int:
    """Check with planted models that a planted tilt is found. Exit code 1 if it is not."""
    from ..api.check import selftest
    from ..api.start.init import next_steps

    def print_check(check: selftest.Check) -> None:
        if not as_json:
            mark = "–      " if check.skipped else "ok     " if check.ok else "WRONG  "
            planted = f"planted {check.planted}, " if check.planted else ""
            click.echo(
                f"{mark}{check.protocol}, {check.audit}: {check.what}: {planted}"
                f"{'' if check.skipped else 'found '}{check.found}"
            )

    for file in filter(Path.is_file, map(Path, what)):
        raise UsageError(
            "selftest tries the audits that ship. To try your own with a planted tilt, type: "
            f"{next_steps(file)[2]}"
        )
    checks = selftest.selftest(what, print_check)
    wrong = sum(not check.ok for check in checks)
    if as_json:
        echo_json({"checks": [check.as_dict() for check in checks]})
    else:
        skipped = sum(check.skipped for check in checks)
        more = f", {skipped} audits left out" if skipped else ""
        click.echo(
            f"{len(checks) - skipped - wrong} of {len(checks) - skipped} found as planted{more}"
        )
    return 1 if wrong else 0
