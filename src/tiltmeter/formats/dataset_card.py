"""The card of a published run on the Hugging Face Hub: README.md with front matter that names its
Parquet files, what was measured, how, and what is left to fill in.

Source: huggingface.co/docs/hub/datasets-cards and datasets-manual-configuration.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from ..records import __version__
from ..report.page_model.page import Content
from ..report.render.pages.md import escape
from . import citation
from .evidence import OPEN, findings_table, markdown_table

TABLES: Mapping[str, str] = {
    "outputs": "a row for each output: model, mode, factors, prompt, sample and outcome",
    "labels": "a row for each label: output, annotator, attribute, value, weight and factors",
    "estimates": "a row for each number: value, interval, n, p, adjusted p, clusters, signature",
}
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (10**6, "100K<n<1M"))


def card(content: Content, languages: Sequence[str], rows: int, texts: bool, image: bool) -> str:
    """Writes the card. languages: codes of the audited languages; rows: the number of outputs;
    texts: True if the answers are published too; image: True if the models make pictures.
    """
    return "\n".join([*_front(content, languages, rows, image), *_body(content, texts)]) + "\n"


def path_of(table: str) -> str:
    """Returns the path of a table inside the folder."""
    return f"data/{table}.parquet"


def _front(content: Content, languages: Sequence[str], rows: int, image: bool) -> Iterator[str]:
    """Yields the YAML front matter; strings are written as JSON, which is valid YAML."""
    task = "text-to-image" if image else "text-generation"
    size = next((name for most, name in _SIZES if rows < most), "n>1M")
    yield "---"
    yield f"pretty_name: {json.dumps(f'Audit: {content.title}', ensure_ascii=False)}"
    yield "license: other"
    yield 'license_name: "to be filled in"'
    if languages:
        yield f"language: {json.dumps(list(languages))}"
    yield f"task_categories: [{task}]"
    yield f"size_categories: [{size}]"
    yield "tags: [fairness, bias, audit, tiltmeter]"
    yield "configs:"
    for number, name in enumerate(TABLES):
        yield f"- config_name: {name}"
        yield f"  data_files: {path_of(name)}"
        if not number:
            yield "  default: true"
    yield "---\n"


def _body(content: Content, texts: bool) -> Iterator[str]:
    yield f"# Audit: {escape(content.title)}\n"
    yield f"{escape(content.question)} {escape(content.asked)}.\n"
    yield f"{escape(content.lead)}\n"
    yield from findings_table(content)
    yield "Signatures, which say how a number was made:\n"
    yield from (f"- {signature.mark}: `{signature.text}`" for signature in content.signatures)
    yield "\n## Tables\n"
    yield from markdown_table(("table", "rows"), list(TABLES.items()))
    left_out = "" if texts else " Answers are left out, and so is `text`."
    yield (
        "`output` of a label is `trial` of an output. People who labelled are P1, P2, …; pictures, "
        f"calls, folders and addresses are left out.{left_out}\n"
    )
    yield "## Limits\n"
    yield from (f"- {escape(text)}" for text in (*content.limits, *content.departures))
    yield "\n## Made with\n"
    yield f"tiltmeter {__version__}, protocol {content.protocol}, {content.date or OPEN}:\n"
    yield "\n".join(f"    {command}" for command in content.commands) + "\n"
    yield "## To be filled in\n"
    yield f"- Who publishes it, and why: {OPEN}"
    yield f"- Licence of prompts, answers and labels, in `license` above too: {OPEN}"
    yield f"- Whether the models' providers allow their answers to be published: {OPEN}"
    yield "\n## To cite\n"
    yield f"```bibtex\n{citation.bibtex(content)}```"
