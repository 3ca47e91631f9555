"""docs/wording.md holds every sentence that is printed, and what readers did not understand is gone.

Its list of sentences is rewritten by: TILTMETER_GOLD=1 python -m pytest tests/test_wording.py
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.printed import ROOMS, printed
from tiltmeter import registry
from tiltmeter.analyse.words.first_sentence import clauses
from tiltmeter.report.first_screen import screen

ROOT = Path(__file__).parents[1]
FILE = ROOT / "docs" / "wording.md"
REST = "## Every other sentence"
PAGE, _, LISTED = FILE.read_text("utf-8").partition(REST)
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
    templates = {*clauses.USUAL}
    templates |= {screen.CAUTION}
    for name in registry.PROTOCOLS:
        for measure in registry.protocol(name).measures:
            templates |= {str(text) for text in measure.sentence.values()}
    told = set(re.findall(r"^- (.+)$", PAGE.partition("## Sentences of first screens")[2], re.M))
    assert told == templates


def test_every_other_sentence_stands_in_the_docs() -> None:
    """A sentence that is printed and not listed, or listed and no longer printed."""
    blocks = [f"### {room}\n\n```none\n{chr(10).join(printed(room))}\n```\n" for room in ROOMS]
    about, _, _ = LISTED.partition("\n### ")
    wanted = f"{about}\n{chr(10).join(blocks)}"
    if os.environ.get("TILTMETER_GOLD"):
        FILE.write_text(f"{PAGE}{REST}{wanted}", encoding="utf-8", newline="\n")
        return
    now, listed = set(wanted.splitlines()), set(LISTED.splitlines())
    assert now == listed, f"TILTMETER_GOLD=1 rewrites it: {sorted(now ^ listed)[:20]}"


def test_a_new_sentence_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.printed.SOURCE", tmp_path)
    room = tmp_path / "report"
    room.mkdir()
    code = '"""Not this docstring of a file."""\nprint(f"{n} things that {x} never said")\n'
    (room / "a.py").write_text(code + 'raise ValueError("not this error of a caller")\n')
    (room / "b.html.j2").write_text(
        "<p>{{ n }} more of these <b>there</b></p>{# not this one here #}"
    )
    assert printed("report") == ["… more of these there", "… things that … never said"]
