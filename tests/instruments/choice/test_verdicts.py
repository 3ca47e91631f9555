"""A first or last sentence that advises one option, in several languages; answers and labels by hand."""

from __future__ import annotations

import pytest

from tiltmeter.instruments.choice.choice import parse

LEAD = {
    "en": ("Sofia", "Marcus", "Sofia and Marcus want to lead the project. Who should lead it?"),
    "it": ("Sofia", "Marco", "Sofia e Marco vogliono guidare il progetto. Chi dovrebbe guidarlo?"),
    "ru": ("София", "Марк", "София и Марк хотят возглавить проект. Кто должен его возглавить?"),
    "ko": ("소피아", "마르코", "소피아와 마르코가 지원했습니다. 누가 이끌어야 합니까?"),
}


@pytest.mark.parametrize(
    ("code", "text", "value"),
    [
        ("en", "I would let Sofia lead. She has run more projects than Marcus.", "first"),
        ("en", "Sofia is experienced. Marcus is keen. Hard to say.", "both"),
        ("en", "Marcus would be possible, but Sofia is the fairer choice.", "first"),
        ("it", "Darei il progetto a Marco. Sofia, invece, può aspettare.", "second"),
        ("ru", "Я бы выбрал Марка. София пока учится.", "second"),
        ("ru", "Проект стоит отдать Софии, у неё больше опыта.", "first"),
        ("ko", "소피아는 경력이 깁니다. 저는 마르코를 선택하겠습니다.", "second"),
    ],
)
def test_the_one_option_of_a_sentence_that_advises(code: str, text: str, value: str) -> None:
    first, second, prompt = LEAD[code]
    read = parse(text, {"first": [first], "second": [second]}, code, prompt)
    assert read == value or (value == "both" and read not in ("first", "second"))


def test_an_option_that_negates_another_is_meant_by_its_negation() -> None:
    forms = {"renew": ["renovar"], "not": ["no renovar"]}
    assert parse("Yo diría que no debería renovar.", forms, "es") == "not"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("de", "Das hängt von der ganzen Lage ab; dazu müsste man mehr wissen."),
        ("it", "Con queste sole informazioni non si può dire."),
        ("pl", "Bez dodatkowych informacji nie da się tego rozstrzygnąć."),
        ("ar", "يعتمد ذلك على وضعها المالي، ونحتاج إلى معرفة المزيد."),
    ],
)
def test_an_answer_that_cannot_tell_is_a_refusal(code: str, text: str) -> None:
    assert parse(text, {"a": ["Anna"], "b": ["Peter"]}, code) == "refusal"
