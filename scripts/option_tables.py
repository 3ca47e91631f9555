"""Adds to docs/reference/cli.md the rows of options that its tables do not have yet.

A row's text is that of the same option under another verb, or is made from its help; edit it where
there is more to say. Prints the options added, and the rows whose option is gone: exit code 1 for
these, which somebody takes out by hand.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from tiltmeter.cli import VERBS, group

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "cli.md"
HEADER = "| option | meaning |\n|---|---|\n"
ROW = re.compile(r"^\| `(-[^\n]*)$", re.MULTILINE)
Known = Mapping[tuple[str, str | None], str]  # {(flag, help): row}
FLAG = re.compile(r"`(--?[\w-]+)`")


def options_of(verb: str) -> dict[str, click.Option]:
    """The options of a verb, by their first flag, in the order of its help."""
    command = group.get_command(click.Context(group), verb)  # type: ignore[attr-defined]
    assert command is not None
    return {each.opts[0]: each for each in command.params if isinstance(each, click.Option)}


def rows_of(text: str) -> dict[str, str]:
    """The rows of a text's tables of options, by each flag in their first cell."""
    rows = [match[0] for match in ROW.finditer(text)]
    return {flag: row for row in rows for flag in FLAG.findall(row.partition(" | ")[0])}


def row_of(option: click.Option) -> str:
    """A row made from an option's help."""
    flags = ", ".join(f"`{flag}`" for flag in option.opts)
    meaning = re.sub(r"\.?  \[default: (.+)\]$", r"; \1", option.help or "")
    meaning = meaning.rstrip(".").replace("|", "\\|")
    default = f"; {option.default:g}" if isinstance(option.default, float) else ""
    if option.show_default and not default:
        default = f"; {option.default}"
    needed = ". Needed" if option.required else ""
    return f"| {flags} | {meaning[:1].lower()}{meaning[1:]}{default}{needed} |"


def with_rows(section: str, options: Mapping[str, click.Option], known: Known) -> str:
    """The section of a verb with a row for each of its options. known: rows of other verbs."""
    rows, before = rows_of(section), ""
    for flag, option in options.items():
        if flag not in rows:
            row = rows[flag] = known.get((flag, option.help)) or row_of(option)
            print(f"{section.partition(chr(10))[0]}: {row}")
            place = f"{before}\n" if before else HEADER
            if place not in section:
                section = f"{section.rstrip()}\n\n{HEADER}\n"
            section = section.replace(place, f"{place}{row}\n", 1)
        before = rows[flag]
    return section


def with_all_rows(text: str) -> tuple[str, list[str]]:
    """The page with a row for each option of each verb, and the rows whose option is gone."""
    known: dict[tuple[str, str | None], str] = {}
    gone = []
    for verb in VERBS:
        options, rows = options_of(verb), rows_of(section_of(text, verb))
        flags = {flag for option in options.values() for flag in option.opts}
        gone += [f"{verb}: {row}" for flag, row in rows.items() if flag not in flags]
        for flag in options.keys() & rows.keys():
            known.setdefault((flag, options[flag].help), rows[flag])
    for verb in VERBS:
        section = section_of(text, verb)
        text = text.replace(section, with_rows(section, options_of(verb), known))
    return text, gone


def section_of(text: str, verb: str) -> str:
    """The section of a verb up to its first heading."""
    match = re.search(rf"^## tiltmeter {verb}$.*?(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
    if match is None:
        sys.exit(
            f"docs/reference/cli.md has no section '## tiltmeter {verb}'. Write it, then "
            "run this again."
        )
    return match[0]


def main() -> int:
    """Rewrites the page; returns the exit code."""
    text, gone = with_all_rows(PAGE.read_text("utf-8"))
    PAGE.write_text(text, "utf-8")
    for row in gone:
        print(f"gone: {row}", file=sys.stderr)
    return 1 if gone else 0


if __name__ == "__main__":
    sys.exit(main())
