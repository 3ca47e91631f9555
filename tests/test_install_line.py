"""The command that installs an extra, by where tiltmeter was installed from (PEP 610)."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path

import pytest

from tiltmeter import errors


class Installed:
    """A distribution with such a direct_url.json."""

    def __init__(self, url: str) -> None:
        self.url = url

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return json.dumps({"url": self.url, "dir_info": {}}) if self.url else None


def test_an_extra_is_installed_from_where_tiltmeter_came_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = tmp_path / "a clone"
    clone.mkdir()
    (clone / "pyproject.toml").write_text("", "utf-8")

    def line(url: str) -> str:
        monkeypatch.setattr(metadata, "distribution", lambda _: Installed(url))
        return errors.install_line("builtin")

    assert line("") == "pip install '.[builtin]'"  # these tests run in a clone
    monkeypatch.setattr(errors, "__file__", str(tmp_path / "site" / "tiltmeter" / "errors.py"))
    monkeypatch.chdir(tmp_path)
    assert line(clone.as_uri()) == f"pip install '{clone}[builtin]'"
    assert line("") == line("https://example.org/tiltmeter.git") == line("file:///gone")
    assert line("") == "pip install 'tiltmeter[builtin]'"
    monkeypatch.chdir(clone)
    assert line(clone.as_uri()) == "pip install '.[builtin]'"
