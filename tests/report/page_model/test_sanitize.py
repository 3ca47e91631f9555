"""Nothing that a model writes may hide, reorder or overprint what is read."""

from __future__ import annotations

import json
import unicodedata

import pytest

from tiltmeter.report.page_model import sanitize


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("she\u202eeh", "she⟨U+202E⟩eh"),
        ("\u2066a\u2069", "⟨U+2066⟩a⟨U+2069⟩"),
        ("\x1b[2J", "⟨U+001B⟩[2J"),
        ("a\u200bb\ufeff", "a⟨U+200B⟩b⟨U+FEFF⟩"),
        ("\U000e0041", "⟨U+E0041⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("a\rb\r\nc", "a⟨U+000D⟩b\nc"),
        ("tab\tand\nnewline", "tab\tand\nnewline"),
        ("彼女 — «é» 👩‍🚀 نیم‌فاصله", "彼女 — «é» 👩‍🚀 نیم‌فاصله"),
    ],
)
def test_hidden_characters_are_shown_by_number(text: str, shown: str) -> None:
    assert sanitize.visible(text) == shown


def test_no_character_that_reorders_or_steers_gets_through() -> None:
    """Every bidirectional control and every other control of Unicode, as Python's own tables name them."""
    bidi = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    marks = "\u200e\u200f\u061c"
    risky = [
        chr(code)
        for code in range(0x110000)
        if unicodedata.bidirectional(chr(code)) in bidi
        or (unicodedata.category(chr(code)) == "Cc" and chr(code) not in "\t\n")
    ]
    assert len(risky) == 9 + 63
    assert [char for char in (*risky, *marks) if char in sanitize.visible(char)] == []


def test_json_stays_the_same_value() -> None:
    value = {"a": "x\u202e\x85\U000e0041 彼女", "b": [1.5, None]}
    text = sanitize.ascii_escapes(json.dumps(value, ensure_ascii=False, indent=1))
    assert json.loads(text) == value
    assert sanitize.visible(text) == text
    assert "彼女" in text
