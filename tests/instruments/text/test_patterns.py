"""Patterns that are compiled late: nothing is compiled for their text, and each of them compiles."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from tiltmeter import languages
from tiltmeter.languages.patterns import _Lazy, lazy

ROOMS = Path(languages.__file__).parents[1]


def test_a_pattern_is_compiled_when_it_is_first_used(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    compile_ = re.compile
    monkeypatch.setattr(re, "compile", lambda *given: asked.append(given) or compile_(*given))
    pattern = lazy("b+", re.IGNORECASE)
    assert pattern.pattern == "b+" and not asked
    assert [pattern.sub("c", "aBBb"), pattern.sub("c", "ab")] == ["ac", "ac"]
    assert pattern.search("aa") is None
    assert asked == [("b+", re.IGNORECASE)] * 2  # once for each of sub and search


def test_every_late_pattern_of_the_package_compiles() -> None:
    files = [path for path in ROOMS.rglob("*.py") if "import lazy" in path.read_text("utf-8")]
    names = (
        ".".join(("tiltmeter", *path.relative_to(ROOMS).with_suffix("").parts)) for path in files
    )
    late = [
        value
        for name in names
        for value in vars(import_module(name)).values()
        if isinstance(value, _Lazy)
    ]
    assert len(late) > 50
    for pattern in late:
        assert pattern.flags >= 0
