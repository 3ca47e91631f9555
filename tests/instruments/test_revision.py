"""Which rewritten prompts name a gender; sentences written for this test, in the languages of GRAMVIS's prompts."""

from __future__ import annotations

import pytest

from tiltmeter.instruments.revision import Revision, named_gender
from tiltmeter.protocol import InstrumentSpec
from tiltmeter.records import ANSWER, Answered, Label, Output, Reply, Sampling, Trial


@pytest.mark.parametrize(
    ("text", "gender"),
    [
        ("A female guard in uniform, she looks tired", "female"),
        ("A guard in HIS sixties", "male"),
        ("A man and a woman at work", "both"),
        ("A human guard, engaged at work; humankind, a manager, the mention of a helmet", "none"),
        ("Une femme en uniforme", "female"),
        ("Un individu masculin", "male"),
        ("Une sentinelle engagée au travail", "none"),
        ("Una mujer joven", "female"),
        ("Un hombre mayor", "male"),
        ("Eine junge Frau", "female"),
        ("Ein junger Mann", "male"),
        ("Ein älterer Mann mit Bart", "male"),
        ("Ein Mensch bei der Arbeit", "none"),
        ("Una donna al lavoro", "female"),
        ("Un uomo al lavoro", "male"),
        ("Портрет женщины", "female"),
        ("Лицо мужчины", "male"),
        ("Портрет человека", "none"),
        ("一位女性警卫", "female"),
        ("他正在工作", "male"),
        ("其他人都不在", "none"),
    ],
)
def test_words_that_name_a_gender(text: str, gender: str) -> None:
    assert named_gender(text) == gender


def labelled(revised: str) -> dict[str, str]:
    instrument = Revision(InstrumentSpec("revision", "revision", "prompt_text"))
    trial = Trial("t1", "s", "sampled", {}, 0, "a guard", "", Sampling())
    steps = instrument.steps(
        Answered(trial, Output("t1", ANSWER, "", "c", "p.png"), Reply("", revised=revised))
    )
    with pytest.raises(StopIteration) as end:
        next(steps)
    found: list[Label] = list(end.value.value)
    return {label.attribute: label.value for label in found}


def test_what_was_not_rewritten_names_nothing() -> None:
    assert labelled("") == labelled(" a guard ") == {"prompt_text": "as_asked"}
    assert labelled("a woman") == {"prompt_text": "rewritten", "prompt_text_gender": "female"}
