"""A run as something to cite: a sentence, BibTeX, and a CITATION.cff of its folder."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from ..report.page_model.page import Content
from .crate import OPEN

_SPECIAL = str.maketrans(
    {char: f"\\{char}" for char in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}"}
)


def sentence(content: Content, authors: Sequence[str] = ()) -> str:
    """Writes the run in one sentence, with the signatures of its headline numbers."""
    marks = list(dict.fromkeys(one.signature for one in content.every_finding if one.signature))
    suffix = f" ({'; '.join(marks)})" if marks else ""
    by = f"{', '.join(authors)}: " if authors else ""
    return (
        f"{by}{_models(content)}: {content.title}, protocol {content.protocol}, measured on "
        f"{content.date or 'an unknown date'} with tiltmeter {content.version}{suffix}."
    )


def bibtex(content: Content, authors: Sequence[str] = ()) -> str:
    """Writes the run as a BibTeX entry @misc; cites the protocol's paper, if any, in a note."""
    fields = {
        "author": " and ".join(authors),
        "title": f"{content.title}: {_models(content)}",
        "year": content.date[:4],
        "howpublished": f"Audit with tiltmeter {content.version}, protocol {content.protocol}",
        "note": "; ".join(signature.text for signature in content.signatures),
        "annote": content.citation,
    }
    key = re.sub(r"\W+", "-", f"{content.protocol} {content.date}").strip("-")
    lines = [f"  {name} = {{{text.translate(_SPECIAL)}}}," for name, text in fields.items() if text]
    return "\n".join([f"@misc{{tiltmeter-{key},", *lines, "}"]) + "\n"


def cff(content: Content, authors: Sequence[str] = ()) -> str:
    """Writes a CITATION.cff 1.2.0, with a gap for authors unless they are given. Its strings are
    JSON, so valid YAML.
    """
    lines = {
        "cff-version": "1.2.0",
        "type": "dataset",
        "message": "Cite the run with its signatures, and the paper behind the protocol.",
        "title": f"{content.title}: {_models(content)}",
        "version": content.protocol,
        "date-released": content.date,
        "abstract": sentence(content),
    }
    text = [
        f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in lines.items() if value
    ]
    names = [f"  - name: {json.dumps(name, ensure_ascii=False)}" for name in authors or (OPEN,)]
    marks = [
        f"  - type: other\n    value: {json.dumps(signature.text, ensure_ascii=False)}\n"
        '    description: "signature of numbers of this run"'
        for signature in content.signatures
    ]
    return (
        "\n".join([*text, "authors:", *names, *(["identifiers:", *marks] if marks else [])]) + "\n"
    )


def _models(content: Content) -> str:
    return ", ".join(subject.name for subject in content.subjects if subject.role == "subject")
