"""Every sentence that a report, a page or the terminal can print, as templates: the texts of three words and more in the code
of the rooms that print and in their pages. What a slot holds is "…". Errors are in docs/reference/messages.md, options in docs/reference/cli.md.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "tiltmeter"
ROOMS = ("stats", "analyse", "stages", "report", "gold", "api", "cli", "explore")
WORDS = re.compile(r"[^\W\d_]{2,}")
LEAST_WORDS = 4
# statements of SQL, rules of styles, patterns, tags, docs of settings, types
NO_SENTENCE = re.compile(
    r"SELECT |<\w+[ >]|[{};]\s*$|\\[dwsb(]|^--|^https?:|\$\{|\(\?|\w \| \w|:not\(|^data:|\[content|^>"
)


def printed(room: str) -> list[str]:
    """The templates of a room, sorted."""
    folder = SOURCE / room
    found = {text for path in folder.rglob("*.py") for text in _of_code(path)}
    found |= {text for path in folder.rglob("*.j2") for text in _of_page(path)}
    found |= {text for path in folder.rglob("*.js") for text in _of_script(path)}
    return sorted(found)


def _of_code(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text("utf-8"))
    for node in _shown(tree):
        text = _template(node)
        if len(WORDS.findall(text)) >= LEAST_WORDS and " " in text and not NO_SENTENCE.search(text):
            yield " ".join(text.split())


def _shown(node: ast.AST) -> Iterator[ast.JoinedStr | ast.Constant]:
    """Texts that are no docstring, no error and no help of an option."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Raise) or (isinstance(child, ast.Expr) and _is_text(child.value)):
            continue
        if isinstance(child, ast.JoinedStr) or (
            isinstance(child, ast.Constant) and _is_text(child)
        ):
            yield child
            continue
        if isinstance(child, ast.Call) and _name(child) in (
            "option",
            "Option",
            "command",
            "add_parser",
        ):
            continue
        yield from _shown(child)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _name(call: ast.Call) -> str:
    return getattr(call.func, "attr", "") or getattr(call.func, "id", "")


def _template(node: ast.JoinedStr | ast.Constant) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    parts = (str(one.value) if isinstance(one, ast.Constant) else "…" for one in node.values)
    return "".join(parts)


def _of_page(path: Path) -> Iterator[str]:
    """The words of a page's template between its tags."""
    text = re.sub(r"\{#.*?#\}", "", path.read_text("utf-8"), flags=re.DOTALL)
    text = re.sub(r"\{%.*?%\}", "", re.sub(r"\{\{.*?\}\}", "…", text, flags=re.DOTALL))
    text = re.sub(r"<(style|script)\b.*?</\1>", "", text, flags=re.DOTALL)
    for part in re.split(r"<(?!/?(?:b|bdi|i|small|code|span|a)\b)[^>]*>|\n", text):
        words = " ".join(re.sub(r"<[^>]*>", "", part).split())
        if len(WORDS.findall(words)) >= LEAST_WORDS:
            yield words


def _of_script(path: Path) -> Iterator[str]:
    """The texts of a page's script."""
    code = re.sub(r"^\s*//.*$", "", path.read_text("utf-8"), flags=re.MULTILINE)
    for quoted, template in re.findall(r'"([^"\n]*)"|`([^`\n]*)`', code):
        text = quoted or re.sub(r"\$\{(?:[^{}]|\{[^{}]*\})*\}", "…", template)
        if len(WORDS.findall(text)) >= LEAST_WORDS and not NO_SENTENCE.search(text):
            yield text
