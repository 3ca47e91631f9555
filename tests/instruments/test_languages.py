"""Fifteen languages: answers written before the rules, letters that are not merged, packs that read their own sentences."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest

from tiltmeter.api.check.language_check import check
from tiltmeter.errors import ProtocolError
from tiltmeter.instruments.choice.choice import parse
from tiltmeter.languages import letters, pack, quotes, refusals
from tiltmeter.languages.identify import language_of
from tiltmeter.languages.phrases import language
from tiltmeter.planted import speech

from .reading_languages import HERE, count

TOPICS = {"greetings", "appearance", "hobbies", "career", "conflicts", "affection", "family"}
# Ten common words of each language that differ in a mark, a case or one letter, by hand.
NEIGHBOURS = {
    "en": "man men woman women boy boys he she her here",
    "de": "Mutter Mütter Vater Väter schon schön fordern fördern Bruder Brüder",
    "fr": "ou où a à la là du dû sur sûr",
    "es": "niño niña el él si sí tu tú papa papá",
    "it": "e è la là si sì di dì ragazzo ragazza",
    "pt": "avó avô menino menina e é pôr por sábia sabia",
    "nl": "een één man maan vrouw vrouwen voor vóór jongen jong",
    "pl": "chłopiec chłopczyk ona ono on oń kat kąt laska łaska",
    "ru": "мальчик девочка он она все всё мука рука дом дым",
    "tr": "kız kiz sınıf sinif açı acı oğlan olan kar kâr",
    "ar": "ولد والد بنت بيت رجل رجال هو هي طالب طالبة",
    "hi": "लड़का लड़की पिता पीता माता माताएँ दिन दीन कुल कूल",
    "zh": "他 她 它 男 女 男人 女人 买 卖 人",
    "ja": "彼 彼女 男性 女性 父 母 祖父 祖母 息子 娘",
    "ko": "남자 여자 그 그녀 아들 딸 형 누나 밤 반",
}


@pytest.mark.parametrize("half", ["looked", "kept", "later", "varied", "held", "last"])
def test_answers_that_were_written_before_the_rules(half: str) -> None:
    """Of 795 answers half was kept unread until the rules were done. The 300 of `later` were written against the first rules:
    those read 88 % of the choices, 8 % wrongly, and 13 % of the refusals; what they showed is mended. The 1,590 of `varied` and
    `held` are 106 other shapes in each language, parted by shape: the rules before read 73 % of the choices of `held` (1 % wrongly)
    and 39 % of its refusals; mended by `varied` alone 84 % (1 %) and 97 %. The 210 of `last` were written
    after that, to be unlike all others: 80 % of the choices were read, none wrongly, and 8 % of the refusals."""
    for (kind, code), cell in count(half).items():
        assert cell["read"] >= 0.75 * cell.total(), (kind, code, cell)
        assert cell["wrong"] == 0, (kind, code, cell)
    whole = sum(count(half).values(), start=type(cell)())
    assert whole["read"] >= 0.96 * whole.total()


@pytest.mark.parametrize("half", ["looked", "kept"])
def test_ordinary_answers_of_one_more_set_are_read(half: str) -> None:
    """At the first look 91 % of the choices of `looked` were read and 83 % of those of `kept` (3 of 210 wrongly), of picks 100 and
    97 %, of dialogues 100 and 80, of refusals 83 and 81 (4 of 120 wrongly); mended by `looked` alone `kept` stood at 84, 98, 80
    and 81 %. Both are mended now."""
    for (kind, code), cell in count(f"ordinary_{half}").items():
        assert cell["read"] >= 0.95 * cell.total(), (kind, code, cell)
        assert cell["wrong"] == 0, (kind, code, cell)


def test_a_third_set_of_answers_is_read_and_none_wrongly() -> None:
    """Written when the sets before were read: at the first look 79 % of 165 choices and 62 % of 60 answers in prose, none
    wrongly; the shapes with odd numbers were looked at and mended."""
    table = count("after")
    assert not any(cell["wrong"] for cell in table.values())
    choices = [cell for (kind, _), cell in table.items() if kind == "choice"]
    assert sum(cell["read"] for cell in choices) >= 0.95 * sum(cell.total() for cell in choices)
    assert all(cell["read"] >= 0.8 * cell.total() for cell in choices)


def test_a_pack_of_indonesian_from_the_docs_alone_reads_ordinary_answers() -> None:
    """It was written after the 62 answers of ordinary/id.txt, and read 58 of them at the first try."""
    assert all(rates.passes for rates in check(str(HERE / "packs" / "id")))
    whole = sum(count("ordinary_indonesian").values(), start=Counter[str]())
    assert whole["read"] >= 0.9 * whole.total() and whole["wrong"] == 0


def test_a_sixteenth_language_is_read_by_a_pack_written_from_the_docs_alone() -> None:
    """106 Swedish answers were there before the pack (packs/sv), which read 93 % of them at the first try, and 98 % when the
    labels of dialogues were looked for in a protocol's own packs too."""
    assert all(rates.passes for rates in check(str(HERE / "packs" / "sv")))
    for cell in count("swedish").values():
        assert cell["read"] >= 0.95 * cell.total() and cell["wrong"] == 0


@pytest.mark.parametrize("code", NEIGHBOURS)
def test_two_words_are_never_one(code: str) -> None:
    words = NEIGHBOURS[code].split()
    assert len(words) == 10
    known = language(code)
    for one, other in combinations(words, 2):
        assert letters.key(one) != letters.key(other)
        assert known.canonical(one) != known.canonical(other)
        forms = {"one": [one], "other": [other]}
        assert parse(one, forms, code) == "one"
        assert parse(f"**{other}**.", forms, code) == "other"
        assert parse(other, {"one": [one], "none of these": ["qqq"]}, code) != "one"


def test_letters_with_marks_are_letters() -> None:
    assert language("hi").canonical("लड़का और लड़की।").split() == ["लड़का", "और", "लड़की", "."]
    assert letters.fold("İyi") == "iyi"
    assert letters.fold("ILIK", turkish=True) == letters.fold("ılık", turkish=True)
    assert letters.fold("مـقـبـول") == letters.fold("مَقبُول") == "مقبول"
    assert language("ar").canonical("هل؟ نعم، لا؛ كفى").split() == [
        "هل",
        "?",
        "نعم",
        ",",
        "لا",
        ".",
        "كفى",
    ]


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("they", "they"),
        ("They are the most witty person I have ever seen.", "they"),
        ("The answer is 'they'.", "they"),
        ("he", "he"),
        ("they or he", "both"),
    ],
)
def test_a_declared_option_is_no_word_for_neither(text: str, label: str) -> None:
    forms = {"he": ["he"], "she": ["she"], "they": ["they"]}
    assert parse(text, forms, "en") == label
    assert parse("彼ら", {"he": ["彼"], "they": ["彼ら"]}, "ja") == "they"


@pytest.mark.parametrize("code", pack.shipped())
def test_a_pack_reads_its_own_sentences(code: str) -> None:
    assert [rates for rates in check(code) if not rates.passes or rates.wrong] == []
    known = pack.pack(code)
    assert known.words["written_by"] and "checked_by" in known.words
    assert quotes.facts(code).name and refusals.wording(code)


def test_functions_words_are_not_read_in_passing() -> None:
    forms = {"yes": ["sí"], "no": ["no"]}
    assert parse("No hay ninguna razón para dudar de su experiencia.", forms, "es") == "invalid"
    assert parse("Sí, debería recibir la beca.", forms, "es") == "yes"
    forms = {"he": ["er"], "she": ["sie"]}
    assert parse("Peter sagt, er komme morgen nicht nach Hause zurück.", forms, "de") == "invalid"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("答えは「いいえ」です。", "no"),
        ("答えはいいえです。", "no"),
        ("はい、そうです。", "yes"),
        ("答えははいです。", "yes"),
    ],
)
def test_an_option_is_not_found_across_the_beginning_of_another(text: str, label: str) -> None:
    """は before いいえ is no はい, where words are written without spaces."""
    assert parse(text, {"yes": ["はい"], "no": ["いいえ"]}, "ja") == label


@pytest.mark.parametrize("code", pack.shipped())
def test_a_planted_model_is_read_as_it_means(code: str) -> None:
    """All its sentences, with yes and no and with pronouns; what is lost is lost, never another option."""
    known = pack.pack(code)
    assert {row.shape for row in known.answers if row.instrument == "dialogue"} >= TOPICS
    for names in (("yes", "no"), ("she", "he")):
        words = [known.list_of(name)[:1] for name in names]
        forms = {name: list(word) for name, word in zip(names, words, strict=True)}
        if not all(words):
            continue
        meant = speech.Known(code, {name: word[0] for name, word in forms.items()}, {}, "")
        said = [(name, text) for name in (*names, "refusal") for text in speech.ways(meant, name)]
        labels = [(name, parse(text, forms, code)) for name, text in said]
        assert sum(name == label for name, label in labels) >= 0.8 * len(labels)
        assert not [pair for pair in labels if set(pair) == {*names}]


def test_a_pack_that_cannot_be_read_is_refused_by_name() -> None:
    with pytest.raises(ProtocolError, match=r"languages/xx/refusals.txt: 'No' has no"):
        pack.overlays({"xx": {"refusals.txt": "No"}})
    with pytest.raises(ProtocolError, match=r"languages/xx/answers.csv, line 2"):
        head = ",".join(pack.COLUMNS)
        pack.overlays({"xx": {"answers.csv": f"{head}\nchoice,value,a,form,both"}})
    with pytest.raises(ProtocolError, match=r"languages/xx/language.toml"):
        pack.overlays({"xx": {"language.toml": "reject = "}})


def test_a_protocols_own_words_lie_over_the_pack() -> None:
    own = pack.overlays({"de": {"language.toml": '"+reject" = ["keineswegs"]\njoin = ["und"]'}})
    known = pack.pack(own["de"])
    assert "keineswegs" in known.list_of("reject") and "nicht" in known.list_of("reject")
    assert known.list_of("join") == ("und",)
    forms = {"a": ["angenommen"], "b": ["abgelehnt"]}
    assert parse("Es wird keineswegs angenommen.", forms, own["de"]) == "b"


def test_a_language_without_a_pack_and_one_that_nobody_checked_are_named_in_the_limits() -> None:
    (swahili,) = pack.limits_of(["sw"])
    assert swahili.startswith("Swahili has no pack of words")
    assert pack.limits_of(["sw"], own=["sw"]) == []
    (german,) = pack.limits_of(["de-AT"])
    assert "No native speaker has checked the words by which German answers are read" in german
    assert pack.limits_of(["en", "zh", "ja"]) == []


def test_a_text_without_clues_has_no_language() -> None:
    assert language_of("ok") == ""
