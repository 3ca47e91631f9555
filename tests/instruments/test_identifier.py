"""The language identifier says what the library says of the languages that it is asked about."""

from __future__ import annotations

import pytest

from tiltmeter.languages import identify as language_id

langid = pytest.importorskip("py3langid.langid", reason="the extra 'languages' is not installed")
TEXTS = ("Good morning, how are you today?", "Bonjour, ça va ?", "¿Qué tal?", "Доброе утро", "")


@pytest.mark.parametrize("code", ["", "pl", "tlh"])  # the last is none that the model knows
def test_scores_are_the_librarys(code: str) -> None:
    """By the whole model, of its 140 languages those that are asked for."""
    wanted = {*language_id._lists().others, code}
    rank = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE).rank
    for text in TEXTS:
        expected = [(name, score) for name, score in rank(text) if name in wanted]
        found = language_id._identifier(code)(text)
        assert [name for name, _ in found] == [name for name, _ in expected]
        assert [score for _, score in found] == pytest.approx([x for _, x in expected], abs=1e-3)
