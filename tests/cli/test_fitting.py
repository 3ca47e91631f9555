"""Lines for a terminal, broken by hand."""

from __future__ import annotations

from tiltmeter.cli.fitting import fitted


def test_lines_break_between_words() -> None:
    assert fitted("  - one two-three four", 14) == "  - one\n    two-three\n    four"
    assert fitted("short", 14) == "short"
