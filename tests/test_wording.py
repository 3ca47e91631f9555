"""sentences/ holds every sentence that is printed, so that a change of words is seen in review; and what
readers did not understand is gone.

The lists are rewritten by: TILTMETER_GOLD=1 python -m pytest tests/test_wording.py
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.printed import ROOMS, printed
from tiltmeter import registry
from tiltmeter.analyse.words.first_sentence import clauses
from tiltmeter.report.first_screen import screen

ROOT = Path(__file__).parents[1]
SENTENCES = Path(__file__).parent / "sentences"
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
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    assert not [path.name for path in (*PRINTED, *pages) if old in path.read_text("utf-8")]


def first_screens() -> list[str]:
    """The templates of first screens: those that measures share, and each measure's own."""
    templates = {screen.CAUTION, clauses.SHARE, clauses.SIDES, clauses.MEANS, clauses.DIFFERENCE}
    templates |= {clauses.RATIO, clauses.RATIO_BELOW, clauses.OTHER, clauses.UNNAMED}
    for name in registry.PROTOCOLS:
        for measure in registry.protocol(name).measures:
            templates |= {str(text) for text in measure.sentence.values()}
    return sorted(templates)


@pytest.mark.parametrize("name", ["first_screens", *ROOMS])
def test_every_printed_sentence_is_listed(name: str) -> None:
    """A sentence that is printed and not listed, or listed and no longer printed."""
    file = SENTENCES / f"{name}.txt"
    wanted = first_screens() if name == "first_screens" else printed(name)
    if os.environ.get("TILTMETER_GOLD"):
        file.write_text("\n".join(wanted) + "\n", encoding="utf-8", newline="\n")
    listed = file.read_text("utf-8").splitlines()
    assert listed == wanted, f"TILTMETER_GOLD=1 rewrites it: {sorted({*listed} ^ {*wanted})[:20]}"


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
