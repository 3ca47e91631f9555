"""tiltmeter explore RUN [RUN …]"""

from __future__ import annotations

import webbrowser
from urllib.parse import quote

import click

from .options import label, pages


@click.command()
@click.argument("run", nargs=-1, required=True, type=click.Path(file_okay=False))
@pages
@click.option(
    "--static", type=click.Path(), help="Write the pages into this folder in place of serving them."
)
@click.option(
    "--query", default="", help="Open the outputs of a number: its query, as a report has it."
)
@click.option(
    "--annotator",
    default="",
    help="Your name, to correct labels while you look (r in an opened output); no gold.",
)
@label
def command(
    run: tuple[str, ...],
    port: int,
    no_browser: bool,
    static: str | None,
    query: str,
    annotator: str,
    labels: tuple[tuple[str, str], ...],
) -> None:
    """Look at the outputs of runs, with their labels beside them. On this machine, or as files.

    \b
    tiltmeter explore run
    tiltmeter explore run --static pages
    """
    from ..analyse.claims.output_query import OutputQuery

    more = f"&query={quote(OutputQuery.parse(query).text(), safe='')}" if query else ""
    if static is not None:
        from ..explore.static import write

        click.echo(f"pages: {write(run, static, dict(labels))}")
        return
    from ..explore import server

    def ready(address: str) -> None:
        address += more
        click.echo(f"{address}\nFor you alone: the token in it opens the runs. Ctrl-C ends it.")
        if not no_browser:
            webbrowser.open(address)

    server.serve(server.Explorer(run, annotator, dict(labels)), port, ready)
