"""A page that shows each pair of prompts with the differences marked. It loads no other file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from html import escape
from pathlib import Path

from .decisions import BETWEEN, PromptDecision

_STYLE = """body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%;margin:0 0 2rem}
td,th{border-top:1px solid #bbb;padding:.5rem;text-align:left;vertical-align:top}
td,th{white-space:pre-wrap;width:45%}
th:first-child,td:first-child{width:10%;white-space:normal}mark{background:#ffe08a;color:#1b1b1b}h2{margin-top:2rem}"""
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")


def write_page(path: Path, decisions: Sequence[PromptDecision], lines: Sequence[str]) -> None:
    """Writes the page: counts, pairs with marked differences, unused prompts with the reasons."""
    parts = [
        "<!doctype html><html lang='en'><meta charset='utf-8'><title>Pairs of prompts</title>",
        f"<style>{_STYLE}</style><h1>Pairs of prompts</h1>",
        f"<p>{'<br>'.join(map(escape, lines))}</p>",
        "<p>To change a decision, edit <code>cues.csv</code> beside this page and type the same "
        "command again.</p>",
    ]
    for question in dict.fromkeys(decision.question for decision in decisions if decision.asked):
        rows = [
            decision for decision in decisions if decision.asked and decision.question == question
        ]
        parts.append(f"<h2>{escape(question)}: {len(rows):,} asked</h2><table>")
        parts.append("<tr><th>line</th><th>first</th><th>second</th></tr>")
        parts += [_row(decision) for decision in rows]
        parts.append("</table>")
    aside = [decision for decision in decisions if not decision.asked and decision.reason]
    if aside:
        parts.append(f"<h2>Set aside: {len(aside):,}</h2><table>")
        parts += [
            f"<tr><td>{escape(one.place)}</td><td>{escape(one.swap)}</td><td>{escape(one.reason)}</td></tr>"
            for one in aside
        ]
        parts.append("</table>")
    path.touch(mode=0o600)
    path.write_text("\n".join(parts) + "\n", encoding="utf-8", newline="\n")


def _row(one: PromptDecision) -> str:
    first, second = marked(*one.texts)
    a, b = map(escape, one.groups)
    cells = escape(one.place), f"<b>{a}</b>\n{first}", f"<b>{b}</b>\n{second}"
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def marked(first: str, second: str) -> tuple[str, str]:
    """Returns both texts as HTML, with their differences marked."""
    a, b = (
        _TOKEN.findall(text.replace(BETWEEN, "\n⁂\n").strip("\n⁂ ")) for text in (first, second)
    )
    sides: tuple[list[str], list[str]] = ([], [])
    for kind, a1, a2, b1, b2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        for side, tokens in zip(sides, (a[a1:a2], b[b1:b2]), strict=True):
            text = escape("".join(tokens))
            side.append(f"<mark>{text}</mark>" if kind != "equal" and text else text)
    return "".join(sides[0]), "".join(sides[1])


def changes(one: PromptDecision, most: int = 6) -> str:
    """Writes the differences of a pair in one line for a terminal, such as “he → she”."""
    a, b = (_TOKEN.findall(text) for text in one.texts)
    texts = []
    for kind, a1, a2, b1, b2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if kind != "equal":
            texts.append(f"{''.join(a[a1:a2]).strip() or '∅'} → {''.join(b[b1:b2]).strip() or '∅'}")
    summary = ", ".join(dict.fromkeys(texts[:most]))
    return summary + (", …" if len(texts) > most else "")
