"""The words of a measure read in a sentence, or `show` says on which line they do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tiltmeter import registry
from tiltmeter.cli import main

START = Path(registry.__file__).parent / "api" / "starts" / "text.toml"
TEXT = 'text = "share of applications accepted"'  # on line 68


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("share accepted.", "Leave the '.' at its end out"),
        ("share accepted. It is a share", "more than one sentence"),
        ("Share accepted", "Write 'share accept…'"),
        ("share  accepted", "Write one line"),
        ("share of those accepted" * 10, "230 characters are cut at 170"),
        ("Asian men ranked first (Table 2. Of all)", ""),
    ],
)
def test_what_does_not_read_is_named_with_its_line(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audit = tmp_path / "audit.toml"
    audit.write_text(START.read_text("utf-8").replace(TEXT, f'text = "{text}"'), "utf-8")
    assert main(["show", str(audit)]) == 0
    place = "audit.toml, line 68, measures 'accepted', text: "
    (line,) = [
        line for line in capsys.readouterr().out.splitlines() if "accepted', text" in line
    ] or [""]
    assert (place in line and said in line) if said else not line


def test_every_text_that_ships_reads() -> None:
    assert not any(registry.protocol(name).notes for name in registry.PROTOCOLS)
