"""A command that is refused leaves nothing in a run; a run knows how much of its plan is answered."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

import tiltmeter
from tests import forging
from tiltmeter.errors import TiltmeterError, UsageError
from tiltmeter.store import Store
from tiltmeter.store.queries import settings

SMALL = {"language": "en", "limit": 2, "samples": 1}


def content(folder: Path) -> list[str]:
    """All that a run holds, as SQL."""
    db = sqlite3.connect(folder / "run.sqlite")
    lines = list(db.iterdump())
    db.close()
    return lines


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("planted:she=.7,nonsense=1", {}),
        ("openai:gpt-4.1-mini", {}),  # no key
        ("folder:pictures", {}),  # draws, and a text is asked for
        ("nokind:x", {}),
        ("planted:she=.7", {"judge": "planted:nonsense=1"}),
    ],
)
def test_what_is_refused_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, options: dict[str, str]
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(TiltmeterError):
        tiltmeter.run("roles", model, tmp_path / "new", **SMALL, **options)  # type: ignore[arg-type]
    assert not (tmp_path / "new").exists()
    tiltmeter.run("roles", "planted:she=.7", tmp_path / "run", **SMALL)  # type: ignore[arg-type]
    before = content(tmp_path / "run")
    with pytest.raises(TiltmeterError):
        tiltmeter.run(
            "roles",
            ("planted:she=.7", model),
            tmp_path / "run",
            **{**SMALL, "samples": 2},
            **options,
        )  # type: ignore[arg-type]
    assert content(tmp_path / "run") == before


def test_a_temperature_that_is_never_sent_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1234567890")
    with pytest.raises(UsageError, match="never sent a temperature"):
        tiltmeter.run("soda", "openai:gpt-image-2", tmp_path / "run", temperature=0.5, limit=1)
    assert not (tmp_path / "run").exists()


def test_the_plan_is_kept_and_grows(tmp_path: Path) -> None:
    out = tmp_path / "run"
    run = tiltmeter.run("roles", "planted:she=.7", out, **SMALL)  # type: ignore[arg-type]
    with Store(out) as store:
        first = settings.progress(store)
    assert first.answered == first.planned == len(run.outputs)
    tiltmeter.run("roles", ("planted:she=.7", "planted:she=.6"), out, **{**SMALL, "samples": 3})  # type: ignore[arg-type]
    with Store(out, writing=True) as store:
        assert settings.progress(store) == (6 * first.planned, 6 * first.planned)
        with store.transaction():  # as a run that was stopped early has it
            forging.allow_changes(store._db)
            store._db.execute("DELETE FROM outputs WHERE trial IN (SELECT id FROM trials LIMIT 5)")
            store._db.execute("DELETE FROM trials WHERE id NOT IN (SELECT trial FROM outputs)")
        assert settings.progress(store) == (6 * first.planned - 5, 6 * first.planned)
    tiltmeter.run("roles", "planted:she=.7", out, **SMALL)  # type: ignore[arg-type]
    with Store(out) as store:
        assert settings.progress(store).planned == 6 * first.planned
