"""A run anonymised for publication: people become numbers, folders and addresses are removed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ..records import ADJUDICATED, CORRECTED, HUMAN
from ..report.page_model.page import Content, Examples
from ..report.page_model.sanitize import map_texts
from ..secret_filter import environment_secrets, without

Hide = Callable[[str], str]
_NAMES = re.compile(r"(?:doi|arxiv|w3id)\.org|github\.com", re.IGNORECASE)  # of what is cited
_ADDRESS = re.compile(r"https?://[^\s,;)\]}\"']+")
_FOLDER = re.compile(
    r"(?<![\w./~])(?:~/(?:[\w.-]+/)*|/(?:[\w.-]+/)+)(?=[\w.-])|\b[A-Za-z]:(?:\\[\w.-]+)*\\"
)


def hide(content: Content, annotators: Sequence[str], texts: bool) -> Content:
    """Returns a report without people, folders and addresses; keeps answers if `texts` is set."""
    if not texts:
        screen = replace(content.screen, prompt=None)
        none = Examples("Texts are left out (--with-texts).", (), 0, 0)
        content = replace(
            content, screen=screen, examples=none, pictures=(), behind=(), behind_of={}
        )
    return map_texts(content, hider(annotators))


def hider(annotators: Sequence[str]) -> Hide:
    """Returns a function that anonymises a text: ids of people among these annotators become P1,
    P2, … (tiltmeter always prints them with `human:`), file names lose their folders, and addresses
    and keys of the environment are removed.
    """
    ids = (name.removesuffix(CORRECTED).removesuffix(ADJUDICATED) for name in annotators)
    people = sorted({name for name in ids if name.startswith(HUMAN)})
    numbers = {name: f"P{number}" for number, name in enumerate(people, 1)}
    longest_first = sorted(map(re.escape, people), key=len, reverse=True)
    names = re.compile(rf"(?:{'|'.join(longest_first)})(?!\w)") if people else None

    secrets, home = environment_secrets(), f"{Path.home()}{os.sep}"

    def hidden(text: str) -> str:
        if " " in home:
            text = text.replace(home, "~/")
        text = _ADDRESS.sub(
            lambda match: match[0] if _NAMES.search(match[0]) else "(address)",
            without(secrets, text),
        )
        text = _FOLDER.sub("", text)
        return names.sub(lambda match: numbers[match[0]], text) if names else text

    return hidden
