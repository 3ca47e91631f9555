"""Writes the files of a new language, for the user to fill in."""

from __future__ import annotations

from pathlib import Path

from ...errors import UsageError
from ...languages import pack, quotes


def start(code: str, into: Path) -> list[Path]:
    """Writes a language's four files into a new folder named by its code: English templates with
    the words of the Unicode CLDR for "and" and "or". Raises UsageError if the folder exists.
    """
    if code != quotes.base(code) or not code.isalpha():
        raise UsageError(f"'{code}' is not the code of a language. Write for instance: sw")
    folder = into / code
    if folder.exists():
        raise UsageError(f"{folder} is there already. Change its files, or name another folder.")
    facts = quotes.facts(code)
    folder.mkdir(parents=True)
    words = {"{name}": facts.name, "{both}": facts.both or "and", "{either}": facts.either or "or"}
    paths = []
    for name, text in pack.blank_files().items():
        paths.append(folder / name)
        for slot, word in words.items():
            text = text.replace(slot, word)
        paths[-1].write_text(text, encoding="utf-8", newline="\n")
    return paths
