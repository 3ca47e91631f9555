"""docs/wording.md holds the sentences of first screens, and what readers did not understand is gone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tiltmeter import registry
from tiltmeter.analyse import headlines
from tiltmeter.report import screen

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "wording.md").read_text("utf-8")
PRINTED = [
    path
    for path in (ROOT / "src").rglob("*")
    if path.suffix in (".py", ".j2", ".js", ".toml") and "examples" not in path.parts
]
# what first readers stumbled over, as it was printed
OLD = (
    "is on none of the options counted",
    "Whatever that part would have been",
    "averages over prompts that differ more",
    "To mind",
    "to mind:",
    "would be found with",
    "all clusters alike",
    "differences that are not 0 cannot",
    "A second judge asks the subject nothing",
)


@pytest.mark.parametrize("old", OLD)
def test_no_old_sentence_is_left(old: str) -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    assert not [path.name for path in (*PRINTED, *pages) if old in path.read_text("utf-8")]


def test_every_sentence_of_a_first_screen_stands_in_the_docs() -> None:
    templates = {headlines.SHARE, headlines.DIFFERENCE, headlines.RATIO, headlines.OTHER}
    templates |= {*headlines.DEFAULTS.values(), screen.CAUTION}
    for name in registry.PROTOCOLS:
        for measure in registry.protocol(name).measures:
            templates |= {str(text) for text in measure.sentence.values()}
    told = set(re.findall(r"^- (.+)$", PAGE.partition("## Sentences of first screens")[2], re.M))
    assert told == templates
