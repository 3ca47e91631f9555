"""The page of a history, or of a comparison, as one HTML file or as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..page_model.document import Document, Example
from . import html, markdown


def write_page(page: Document, path: Path | str) -> None:
    """Writes the page as one HTML file that opens from disk and loads nothing; as Markdown if the
    path ends in .md.
    """
    target = Path(path)
    if target.suffix.lower() == ".md":
        html.write_whole(target, as_markdown(page))
        return
    text = html.template("runs.html.j2").render(
        page=page, alone=None, brief=True, **html.shared_parts()
    )
    html.write_whole(target, text)


def as_markdown(page: Document) -> str:
    """The same words and numbers in Markdown, without the figure."""
    return "\n".join(_lines(page)) + "\n"


def _lines(page: Document) -> Iterator[str]:
    escape = markdown.escape
    yield f"# {escape(page.title)}\n"
    yield f"**{escape(page.headline)}** {escape(' '.join(page.lede))}\n"
    if page.pills:
        yield f"{escape(' · '.join(f'{pill.symbol} {pill.text}' for pill in page.pills))}\n"
    yield f"{escape(page.question)}\n"
    if page.example is not None:
        yield from _example(page.example)
    for table in page.tables:
        if table.rows:
            yield from markdown.table_lines(table)
    if page.cautions:
        yield "### Cautions\n"
        yield from (f"- {escape(line)}" for line in page.cautions)


def _example(example: Example) -> Iterator[str]:
    escape = markdown.escape
    yield f"### One prompt in both runs\n\n> {escape(example.prompt)}\n"
    yield from (
        f"- {escape(run)} ({escape(value)}): {escape(answer)}"
        for run, answer, value in example.answers
    )
    yield f"\n{escape(example.count)}\n"
