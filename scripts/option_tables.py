"""Writes docs/reference/options.md from the options of all verbs."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import click

from tiltmeter.cli import VERBS, group

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "options.md"
HEAD = """# Options

`python scripts/option_tables.py` writes this page from the same records as `tiltmeter VERB --help`.
What a verb does, with examples: [the command line](cli.md). Most options of `run` are keywords of
`tiltmeter.run` in Python too; those that may stand in a folder's `tiltmeter.toml` are
[listed there](cli.md#defaults-of-a-folder).

## Of several verbs

| option | of | meaning |
|---|---|---|
"""
Row = tuple[str, str]  # flags, meaning


def rows() -> dict[Row, list[str]]:
    """Collects each option once, with the verbs that take it, in the order of their help."""
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
    text = re.sub(r"\bdocs/([\w-]+/([\w-]+)\.md)", r"[\2](../\1)", text)
    return f"{text} Needed." if option.required else text


def page() -> str:
    """The whole page: options that verbs share, then each verb's own."""
    collected = rows()
    shared = "".join(
        f"| {flags} | {', '.join(f'`{verb}`' for verb in verbs)} | {meaning} |\n"
        for (flags, meaning), verbs in collected.items()
        if len(verbs) > 1
    )
    own = [
        f"## {verb}\n\n| option | meaning |\n|---|---|\n" + "".join(lines)
        for verb in VERBS
        if (lines := _own(collected, verb))
    ]
    return "\n".join([HEAD + shared, *own])


def _own(collected: dict[Row, list[str]], verb: str) -> list[str]:
    return [
        f"| {flags} | {meaning} |\n"
        for (flags, meaning), verbs in collected.items()
        if verbs == [verb]
    ]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
