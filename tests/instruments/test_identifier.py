"""The language identifier from the cache says what the library says, and a cache that is not right is made anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tiltmeter.instruments.text.identifier import ARRAYS, ranking

langid = pytest.importorskip("py3langid.langid", reason="the extra 'languages' is not installed")
TEXTS = (
    "Good morning, how are you today?",
    "Bonjour, ça va ?",
    "¿Qué tal estás hoy?",
    "Доброе утро",
    "ok",
    "",
)
LANGUAGES = ("en", "fr", "es", "ru", "tlh")  # the last is none that the model knows


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TILTMETER_CACHE", str(tmp_path / "cache"))


def as_the_library_says() -> list[list[tuple[str, Any]]]:
    """By the whole model, as the library loads it; of its 140 languages those that are asked for."""
    rank = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE).rank
    return [
        [(name, pytest.approx(score, abs=1e-3)) for name, score in rank(text) if name in LANGUAGES]
        for text in TEXTS
    ]


def test_scores_are_the_librarys_from_the_cache_when_it_is_made_read_damaged_and_impossible(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def scores() -> list[list[tuple[str, float]]]:
        rank = ranking(LANGUAGES)
        return [list(rank(text)) for text in TEXTS]

    expected = as_the_library_says()
    assert scores() == expected
    (folder,) = (tmp_path / "cache").iterdir()
    assert folder.name.startswith("py3langid-")
    made = {name: (folder / f"{name}.npy").stat().st_mtime_ns for name in ARRAYS}
    assert scores() == expected
    assert {
        name: (folder / f"{name}.npy").stat().st_mtime_ns for name in ARRAYS
    } == made  # it was read

    whole = (folder / "ptc.npy").read_bytes()
    (folder / "ptc.npy").write_bytes(whole[:1000] + bytes(len(whole) - 1000))  # as long as before
    assert scores() == expected and (folder / "ptc.npy").read_bytes() == whole
    (folder / "nextmove.npy").unlink()
    assert scores() == expected and (folder / "nextmove.npy").exists()
    assert [found.name for found in (tmp_path / "cache").iterdir()] == [
        folder.name
    ]  # nothing that was begun is left

    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("TILTMETER_CACHE", str(tmp_path / "file"))
    assert scores() == expected
