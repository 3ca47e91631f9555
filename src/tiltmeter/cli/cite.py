"""tiltmeter cite RUN"""

from __future__ import annotations

from typing import Literal

import click


@click.command()
@click.argument("run", type=click.Path(file_okay=False))
@click.option(
    "--format",
    "format_",
    type=click.Choice(["sentence", "bibtex", "cff"]),
    default="sentence",
    show_default=True,
    help="A sentence, an entry of BibTeX, or a CITATION.cff.",
)
@click.option("--author", "authors", multiple=True, help="Who made the audit; repeat for several.")
def command(
    run: str, format_: Literal["sentence", "bibtex", "cff"], authors: tuple[str, ...]
) -> None:
    """Cite a run: a sentence, BibTeX or CITATION.cff. Each holds the signatures of its numbers."""
    from ..api.handover import deposits

    click.echo(deposits.cite(run, format_, authors))
