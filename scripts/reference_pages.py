"""Writes the pages of docs/reference that are made from records: options, keys and measures.

`python scripts/reference_pages.py` writes them; tests/test_docs.py holds each against what it would
write.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from tiltmeter.cli import VERBS, group
from tiltmeter.protocol.built_in_measures import KINDS
from tiltmeter.protocol.reading.schema import shape
from tiltmeter.registry import instrument_kinds

DOCS = Path(__file__).parents[1] / "docs" / "reference"
OPTIONS = """# Options

`python scripts/reference_pages.py` writes this page from the same records as `tiltmeter VERB
--help`. What a verb does, with examples: [the command line](cli.md). Most options of `run` are
keywords of `tiltmeter.run` in Python too; those that may stand in a folder's `tiltmeter.toml` are
[listed there](cli.md#defaults-of-a-folder).
"""
KEYS = """# Keys of a protocol's file

`python scripts/reference_pages.py` writes this page from the records by which a file is checked;
`tiltmeter init --schema FILE` writes the same for an editor. How the parts play together:
[adding a protocol](adding-a-protocol.md).
"""
MEASURES = """# Kinds of measures

`python scripts/reference_pages.py` writes this page from the records of the kinds; `tiltmeter ls`
lists them too. Why these and not others: [statistics](../explanation/statistics.md). To add one:
[adding a measure](adding-a-measure.md).

"""
TABLES = {
    "table": "A table: `[[tables]]`",
    "mode": "A mode: `[modes.NAME]`",
    "instrument": "An instrument: `[[instruments]]`",
    "measure": "A measure: `[[measures]]`",
    "variant": "A variant: `[variants.NAME]`",
}
Row = tuple[str, str]  # flags, meaning


def options() -> str:
    """The page of options: a section per set of verbs that share some, then each verb's own."""
    sections: dict[tuple[str, ...], list[Row]] = {}
    for row, verbs in _collected_options().items():
        sections.setdefault(tuple(verbs), []).append(row)
    shared = sorted(
        (verbs for verbs in sections if len(verbs) > 1), key=lambda v: -len(sections[v])
    )
    own = [(verb,) for verb in VERBS if (verb,) in sections]
    return "\n".join(
        [
            OPTIONS,
            *(
                f"## {', '.join(verbs)}\n\n{_table(('option', 'meaning'), sections[verbs])}"
                for verbs in (*shared, *own)
            ),
        ]
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table without blanks around its bars, which no reader sees and `wc` counts."""
    lines = (head, ["---"] * len(head), *rows)
    return "".join(f"|{'|'.join(cell.strip() for cell in line)}|\n" for line in lines)


def _collected_options() -> dict[Row, list[str]]:
    """Each option once, with the verbs that take it, in the order of their help."""
    verbs = defaultdict(list)
    for verb in VERBS:
        command = group.get_command(click.Context(group), verb)
        assert command is not None
        for option in command.params:
            if isinstance(option, click.Option):
                verbs[_flags(option), _meaning(option)].append(verb)
    return dict(verbs)


def _flags(option: click.Option) -> str:
    """The flags of an option, and the form of its value if it has one of its own."""
    flags = [*option.opts, *option.secondary_opts]
    form = option.metavar or (
        "|".join(option.type.choices) if isinstance(option.type, click.Choice) else ""
    )
    value = f" {form}".replace("|", "\\|") if form else ""
    return ", ".join([f"`{flags[0]}{value}`", *(f"`{flag}`" for flag in flags[1:])])


def _meaning(option: click.Option) -> str:
    """The help of an option, its default, and whether a verb needs it."""
    text = re.sub(r"\s*\[default: (.+)\]$", r" Default: \1.", option.help or "").replace("|", "\\|")
    if option.show_default:
        default = option.default
        text += f" Default: {default:g}." if isinstance(default, float) else f" Default: {default}."
    if option.multiple and "repeat" not in text.lower() and "once for each" not in text:
        text += " Repeat for several."
    return f"{_with_links(text)} Needed." if option.required else _with_links(text)


def keys() -> str:
    """The page of keys: the file's own, those of each table in it, the settings of instruments."""
    whole: Any = shape()
    parts = [KEYS, f"## The protocol\n\n{_table_of_keys(whole, whole)}"]
    for name, title in TABLES.items():
        parts.append(f"## {title}\n\n{_table_of_keys(whole['$defs'][name], whole)}")
    parts.append("## Settings of instruments\n\n" + _instruments())
    return "\n".join(parts)


def _table_of_keys(part: Any, whole: Any) -> str:
    return _table(("key", "otherwise", "meaning"), _rows_of_keys(part, whole, ""))


def _rows_of_keys(part: Any, whole: Any, before: str) -> Iterator[tuple[str, str, str]]:
    """Yields a row per key, and behind a key that is a table itself those of its keys."""
    for key, about in part["properties"].items():
        otherwise = "needed" if key in part.get("required", ()) else _default(about)
        text = str(about.get("description", "")).replace("|", "\\|")
        yield f"`{before}{key}`", otherwise, _with_links(text)
        inner = _inner(about, whole)
        if inner is not None:
            yield from _rows_of_keys(inner, whole, f"{before}{key}.")


def _inner(about: Any, whole: Any) -> Any:
    """The keys of a table that has no section of its own, of one or of each in a list."""
    for found in (about, about.get("items"), about.get("additionalProperties")):
        if isinstance(found, dict):
            name = str(found.get("$ref", "")).rpartition("/")[2]
            if name and name not in TABLES:
                return whole["$defs"][name]
            if "properties" in found:
                return found
    return None


def _default(about: Any) -> str:
    default = about.get("default")
    if default is None:
        return ""
    return f"`{json.dumps(default, ensure_ascii=False)}`".replace("|", "\\|")


def _instruments() -> str:
    """Two tables: kinds with their settings, and settings that several kinds have."""
    kinds = instrument_kinds()
    users = Counter(
        (key, _described(part)) for kind in kinds for key, part in kind.settings.items()
    )
    shared = {setting: count for setting, count in users.items() if count > 2}
    rows = []
    for kind in kinds:
        settings = [(key, _described(part)) for key, part in kind.settings.items()]
        texts = (f"`{k}`" if (k, text) in shared else f"`{k}`: {text}" for k, text in settings)
        rows.append((f"`{kind.name}`", kind.summary, "; ".join(texts)))
    several = [(f"`{key}`", text) for key, text in shared]
    return (
        _table(("kind", "what it does", "settings"), rows)
        + "\n"
        + _table(("setting of several kinds", "meaning"), several)
    )


def _described(part: Any) -> str:
    text = str(part.get("description", "")).rstrip(".").replace("|", "\\|")
    return _with_links(text[:1].lower() + text[1:])


def measures() -> str:
    """The page of kinds of measures."""
    rows = [(f"`{name}`", kind.summary, kind.interval, kind.test) for name, kind in KINDS.items()]
    return MEASURES + _table(("kind", "what it computes", "interval", "test"), rows)


def _with_links(text: str) -> str:
    return re.sub(r"\bdocs/([\w-]+/([\w-]+)\.md)", r"[\2](../\1)", text)


PAGES: dict[str, Callable[[], str]] = {
    "options.md": options,
    "protocol-keys.md": keys,
    "measures.md": measures,
}

if __name__ == "__main__":
    for name, made in PAGES.items():
        (DOCS / name).write_text(made(), encoding="utf-8", newline="\n")
