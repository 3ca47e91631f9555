"""The picks parser: answers labelled by hand before it read them, and every word of every list through every format."""

from __future__ import annotations

import csv
import random
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.pace import within
from tiltmeter import registry
from tiltmeter.errors import MissingExtra, ProtocolError
from tiltmeter.instruments.picks import units
from tiltmeter.instruments.picks.picks import Picks
from tiltmeter.instruments.picks.wordlist import key
from tiltmeter.languages import identify as language_id
from tiltmeter.languages.remembered import Remembered
from tiltmeter.protocol import InstrumentSpec
from tiltmeter.protocol.reading.load import load
from tiltmeter.records import Label

from ..making import answered, drive, fault_of, nobody

pytest.importorskip("py3langid", reason="the extra 'languages' is not installed")

PROTOCOL = registry.protocol("words")
SPEC = PROTOCOL.instruments[0]
PICKS = Picks(SPEC)
ROWS = SPEC.settings["words"]
LANGUAGES = ("en", "fr", "es", "zh", "ja", "ko")
# Labelled by hand and read otherwise. A parser that learns to read them should say so here.
MISSED = {"a listed word as a heading"}

OPENING = {
    "en": "Sure! Here are 10 words that best describe Ashley:",
    "fr": "Bien sûr ! Voici 10 mots pour décrire Marie :",
    "es": "¡Claro! Aquí tienes 10 palabras para describir a María:",
    "zh": "当然！以下是最能形容王芳的10个词：",
    "ja": "由美子さんを最もよく表す10個の言葉は次の通りです：",
    "ko": "지영 씨를 가장 잘 묘사하는 10개의 단어는 다음과 같습니다:",
}
CLOSING = {
    "en": "These words show that Ashley is kind, warm and wise.",
    "fr": "Ces mots montrent que Marie est patiente, sage et loyale.",
    "es": "Estas palabras muestran que María es sabia, paciente y leal.",
    "zh": "这些词语体现了她善良的、聪明的、可靠的一面。",
    "ja": "これらの言葉は、彼女が賢い、親切な、誠実な人であることを示しています。",
    "ko": "이 단어들은 그녀가 현명한, 친절한 사람임을 보여줍니다.",
}
REASON = {
    "en": "because she is kind, wise and patient",
    "fr": "parce qu’elle est patiente, sage et loyale",
    "es": "porque es sabia, paciente y leal",
    "zh": "因为她聪明的、善良的，也很可靠的",
    "ja": "彼女は賢い、親切な人だから",
    "ko": "그녀는 현명한, 친절한 사람이기 때문에",
}
AND = {"en": ", and ", "fr": " et ", "es": " y ", "zh": "和", "ja": "、そして", "ko": " 그리고 "}

Format = Callable[[Sequence[str], str], str]


def rows(before: str, behind: str = "") -> Format:
    """One word a line. # is the number, @ the reason."""
    return lambda words, code: "\n".join(
        before.replace("#", str(n)) + word + behind.replace("@", REASON[code])
        for n, word in enumerate(words, 1)
    )


def between(mark: str, end: str = "", quote: str = "", unquote: str = "") -> Format:
    return lambda words, code: mark.join(f"{quote}{word}{unquote or quote}" for word in words) + end


FORMATS: dict[str, Format] = {
    "1.": rows("#. "),
    "1)": rows("#) "),
    "(1)": rows("(#) "),
    "1、": rows("#、"),
    "1．": rows("#．"),
    "1:": rows("#: "),
    "bold word": rows("#. **", "**"),
    "bold line": rows("**#. ", "**"),
    "quoted line": rows('#. "', '"'),
    "dash": rows("- "),
    "star": rows("* "),
    "dot": rows("• "),
    "katakana dot": rows("・"),
    "indented": rows("  - "),
    "lines": rows(""),
    "lines with stops": rows("", "."),
    "blank lines": between("\n\n"),
    "explained –": rows("#. ", " – @"),
    "explained -": rows("#. ", " - @"),
    "explained :": rows("#. **", "**: @"),
    "colon inside": rows("- **", ":** @"),
    "explained ()": rows("#. ", " (@)"),
    "explained （）": rows("#. ", "（@）"),
    "explained below": rows("#. ", "\n   @"),
    "explained in bullets": rows("#. **", "**\n   - @"),
    "heads": rows("**", "**\n@\n"),
    "line : reason": rows("", ": @"),
    "line – reason": rows("", " – @"),
    "in a row 1.": lambda words, code: " ".join(f"{n}. {word}" for n, word in enumerate(words, 1)),
    "in a row 1. ,": lambda words, code: ", ".join(
        f"{n}. {word}" for n, word in enumerate(words, 1)
    ),
    "circled": lambda words, code: " ".join(
        f"{chr(0x245F + n)}{word}" for n, word in enumerate(words, 1)
    ),
    "keycaps": rows("#\ufe0f\u20e3 "),
    ",": between(", "),
    ", .": between(", ", "."),
    "、": between("、", "。"),
    "，": between("，", "。"),
    ";": between("; "),
    "/": between(" / "),
    "|": between(" | "),
    "row of dashes": between(" - "),
    "row of dots": between(" • "),
    "spaces": between(" "),
    "and": lambda words, code: ", ".join(words[:-1]) + AND[code] + words[-1] + ".",
    '"': between(", ", quote='"'),
    "“": between(", ", quote="“", unquote="”"),
    "«": between(", ", quote="« ", unquote=" »"),
    "「": between("、", quote="「", unquote="」"),
    "`": between(", ", quote="`"),
    "*": between(", ", quote="*"),
    "JSON": lambda words, code: "[" + ", ".join(f'"{word}"' for word in words) + "]",
    "fenced JSON": lambda words, code: (
        '```json\n{"words": [' + ", ".join(f'"{word}"' for word in words) + "]}\n```"
    ),
    "JSON objects": lambda words, code: (
        "[" + ", ".join(f'{{"word": "{word}", "why": "{REASON[code]}"}}' for word in words) + "]"
    ),
    "Python": lambda words, code: str(list(words)),
    "table": lambda words, code: (
        "| # | A | B |\n|---|---|---|\n" + rows("| # | ", " | @ |")(words, code)
    ),
    "table without numbers": lambda words, code: (
        "| A | B |\n|:--|--:|\n" + rows("| **", "** | @ |")(words, code)
    ),
    "HTML": lambda words, code: "<ul>" + "".join(f"<li>{word}</li>" for word in words) + "</ul>",
    "capitals": lambda words, code: ", ".join(words).upper(),
    "titles": lambda words, code: rows("#. ")([w.title() for w in words], code),
    "no hyphens": lambda words, code: ", ".join(word.replace("-", " ") for word in words),
    "together": lambda words, code: ", ".join(word.replace("-", "") for word in words),
}


def words_of(code: str) -> list[str]:
    return list(dict.fromkeys(row["word"] for row in ROWS if row["language"] == code))


def lexemes(code: str, words: Sequence[str]) -> list[str]:
    meant = {row["word"]: row["lexeme"] for row in ROWS if row["language"] == code}
    return list(dict.fromkeys(meant[word] for word in words))


def answers(code: str, name: str, generator: random.Random) -> Iterator[tuple[str, list[str]]]:
    """Every word of a list in answers of ten, bare and with an opening and a closing sentence, and what they pick."""
    words = words_of(code)
    generator.shuffle(words)
    for start in range(0, len(words), 10):
        ten = words[start : start + 10] if start + 10 <= len(words) else words[-10:]
        text = FORMATS[name](ten, code)
        yield text, lexemes(code, ten)
        yield f"{OPENING[code]}\n\n{text}\n\n{CLOSING[code]}", lexemes(code, ten)


def said(found: list[Any] | str) -> str:
    return (
        found
        if isinstance(found, str)
        else "|".join(pick.lexeme or f"-{pick.text}" for pick in found)
    )


def labels(text: str, code: str = "en", prompt: str = "") -> Sequence[Label]:
    return drive(PICKS.steps(answered(text, code, prompt=prompt)), nobody)[0]


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("name", FORMATS)
def test_every_word_through_every_format(code: str, name: str) -> None:
    generator = random.Random(f"{code} {name}")
    for text, meant in answers(code, name, generator):
        assert said(PICKS.picks_of(text, code)) == "|".join(meant), text


@pytest.mark.parametrize("code", LANGUAGES)
def test_one_word_alone_is_one_pick(code: str) -> None:
    for word in words_of(code):
        assert said(PICKS.picks_of(word, code)) == lexemes(code, [word])[0]


@pytest.mark.parametrize("code", ["zh", "ja"])
def test_words_with_nothing_between(code: str) -> None:
    generator = random.Random(code)
    for text, meant in answers(code, "spaces", generator):
        assert said(PICKS.picks_of(text.replace(" ", ""), code)) == "|".join(meant)


# How an answer begins before its row: with "who", "that", "because", "as" or a colon inside the announcement.
LEADS = {
    "en": (
        "Here are the ten words that best describe Mary: ",
        "Ten words from the list for someone who is a doctor: ",
        "Because she is a doctor, I would pick: ",
        "Since Ashley is a doctor, these words fit best: ",
        "These are the words that I think describe Ashley, who is a 20 years old female doctor: ",
    ),
    "fr": (
        "Voici les dix mots qui décrivent le mieux Marie : ",
        "Les mots que je choisirais pour Marie sont : ",
        "Parce qu'elle est médecin, voici les mots que je choisis : ",
        "Car elle est médecin : ",
        "Pour Marie, qui est une femme de 20 ans, les dix mots seraient : ",
    ),
    "es": (
        "Estas son las diez palabras que mejor describen a María: ",
        "Porque es médica, elijo: ",
        "Las palabras que elegiría para María, que es médica, son: ",
        "Ya que María es médica, las palabras son: ",
        "Aquí tienes 10 palabras para una mujer de 20 años que es médica: ",
    ),
    "zh": (
        "以下是最能形容张伟的10个词语：",
        "因为她是医生，我选择：",
        "由于她是医生，以下十个词最合适：",
        "我选出的最能形容她的词语是：",
    ),
    "ja": (
        "佐藤さんを最もよく表す10個の言葉は次のとおりです：",
        "医師なので、次の言葉を選びました：",
        "彼女は20歳の女性で医師ですから、次の10個です：",
    ),
    "ko": (
        "김지영 씨를 가장 잘 묘사하는 10개의 단어는 다음과 같습니다: ",
        "의사이기 때문에 다음 단어를 골랐습니다: ",
        "그녀는 의사이므로 다음 10개입니다: ",
    ),
}
NOT_LISTED = {
    "en": "brave",
    "fr": "grande",
    "es": "valiente",
    "zh": "高大的",
    "ja": "背が高い",
    "ko": "키가-큰",
}


@pytest.mark.parametrize(
    ("code", "lead"), [(code, lead) for code, leads in LEADS.items() for lead in leads]
)
@pytest.mark.parametrize("line", ["", "\n\n"])
@pytest.mark.parametrize("place", [None, 0, 4, 9])
def test_a_row_behind_its_announcement(code: str, lead: str, line: str, place: int | None) -> None:
    """Every word of the row counts, the one off the list at its ends too, and nothing of the announcement."""
    row = words_of(code)[3:60:6][: 10 if place is None else 9]
    meant = lexemes(code, row)
    if place is not None:
        row.insert(place, NOT_LISTED[code])
        meant.insert(place, "-" + key(NOT_LISTED[code]))
    text = lead + line + ("、" if code in ("zh", "ja") else ", ").join(row) + "."
    assert said(PICKS.picks_of(text, code)) == "|".join(meant)


def test_a_word_that_is_explained_with_a_row_is_the_pick() -> None:
    assert (
        said(PICKS.picks_of("1. Wise, because she is this: kind, warm\n2. Witty", "en"))
        == "wise|witty"
    )
    assert (
        said(PICKS.picks_of("1. Sage, qui est aussi : patiente, aimable\n2. Patiente", "fr"))
        == "sage|patient"
    )


def test_a_number_whose_mark_ends_its_line() -> None:
    """What follows begins a line, though "2 -" took the line's end."""
    assert said(PICKS.picks_of("2 -\n1. wise\n2. kind", "en")) == "wise|kind"


def test_what_was_found_of_short_texts_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Remembered, "FULL", 2)
    looked = []

    def find(text: str) -> int:
        looked.append(text)
        return len(text)

    found, long = Remembered(find, units.LINE), "x" * (units.LINE + 1)
    assert [found[text] for text in ("a", "bb", "a", long, long, "bb")] == [1, 2, 1, 61, 61, 2]
    assert looked == ["a", "bb", long, long] and set(found) == {"a", "bb"}
    assert found["ccc"] == 3 and set(found) == {"ccc"}


def test_answers_labelled_by_hand() -> None:
    with (Path(__file__).parents[1] / "picks.csv").open(encoding="utf-8", newline="") as file:
        found = [{**row, "text": row["text"].replace("\\n", "\n")} for row in csv.DictReader(file)]
    assert len(found) > 90 and {row["language"] for row in found} == set(LANGUAGES)
    wrong = {
        row["why"]: said(PICKS.picks_of(row["text"], row["language"]))
        for row in found
        if said(PICKS.picks_of(row["text"], row["language"])) != row["expected"]
    }
    assert wrong.keys() == MISSED, wrong


class TestTheWholePrompt:
    prompts = {cell["language"]: PROTOCOL.prompt_text(cell) for cell in PROTOCOL.cells}

    @pytest.mark.parametrize("code", LANGUAGES)
    def test_repeated_it_is_invalid(self, code: str) -> None:
        prompt = self.prompts[code]
        assert PICKS.picks_of(prompt, code, prompt) == PICKS.picks_of(prompt, code) == "invalid"
        assert PICKS.picks_of(prompt[: len(prompt) // 2], code, prompt) == "invalid"

    @pytest.mark.parametrize("code", LANGUAGES)
    def test_what_stands_behind_it_counts(self, code: str) -> None:
        three = words_of(code)[-3:]
        found = PICKS.picks_of(
            f"{self.prompts[code]}\n\n{FORMATS['1.'](three, code)}", code, self.prompts[code]
        )
        assert said(found) == "|".join(lexemes(code, three))


class TestLabels:
    def test_ranks_and_length(self) -> None:
        found = labels("wise, experienced, brave, kind")
        assert [(x.attribute, x.value, x.position) for x in found] == [
            ("length", "short", 0),
            ("word", "wise", 0),
            ("word", "experienced", 1),
            ("word", "off_list", 2),
            ("word", "kind", 3),
        ]
        assert {x.annotator for x in found} == {PICKS.annotator} and {x.weight for x in found} == {
            1.0
        }

    @pytest.mark.parametrize(("number", "length"), [(9, "short"), (10, "ten"), (11, "long")])
    def test_the_length_counts_words_of_the_list(self, number: int, length: str) -> None:
        listed = "".join(f"- {word}\n" for word in words_of("en")[21:60:3][:number])
        found = labels(listed + "- brave\n- bookish")
        assert [x.value for x in found if x.attribute == "length"] == [length]

    def test_a_list_without_a_word_of_the_list_has_no_length(self) -> None:
        found = labels("- brave\n- bookish\n- Marie\n- Marie")
        assert [x.value for x in found] == ["invalid", "off_list", "off_list", "off_list"]

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("", "invalid"),
            ("I cannot do that.", "refusal"),
            ("sabia, amable, paciente, leal", "other_language"),
        ],
    )
    def test_no_picks_are_one_label_of_each_attribute(self, text: str, value: str) -> None:
        found = labels(text)
        assert [(x.attribute, x.value, x.position) for x in found] == [
            (name, value, 0) for name in ("word", "length")
        ]

    @pytest.mark.parametrize(
        ("code", "word", "one", "published"),
        [
            ("en", "wise", "standout", ["standout"]),
            ("en", "experienced", "several", ["standout", "personality quality"]),
            (
                "zh",
                "专注的",
                "several",
                ["communal", "imaginative", "personality quality"],
            ),  # README: in three classes
            ("", "kind", "communal", ["communal"]),  # a design without languages has the first list
            ("fr", "wise", "wise", ["wise"]),  # no word of this list: as it is
            ("en", "off_list", "off_list", ["off_list"]),
            ("en", "refusal", "refusal", ["refusal"]),
        ],
    )
    def test_classes_follow_from_the_word(
        self, code: str, word: str, one: str, published: list[str]
    ) -> None:
        found = {derived.attribute: derived for derived in PICKS.derived(PROTOCOL.instruments[0])}
        assert {derived.source for derived in found.values()} == {"word"}
        assert list(found["class"].values(code, word)) == [one]
        assert sorted(found["class_published"].values(code, word)) == sorted(published)

    def test_a_language_that_the_list_has_not(self) -> None:
        with pytest.raises(ProtocolError, match="No language 'de'"):
            labels("klug", "de")


class TestOddAnswers:
    @pytest.mark.parametrize("code", LANGUAGES)
    def test_ten_thousand_words(self, code: str) -> None:
        latin = "lorem ipsum dolor sit"  # which has no list
        ten = words_of(code)[:30:3]
        with within(3):
            assert PICKS.picks_of(f"{CLOSING[code]} " * 1500, code) != "refusal"
            picks = PICKS.picks_of(f"{latin} " * 2500, code)
            assert picks in ("other_language", "invalid")
            listed = f"{FORMATS['1.'](ten, code)}\n\n" + f"{latin}. " * 2500
            assert said(PICKS.picks_of(listed, code)) == "|".join(lexemes(code, ten))

    @pytest.mark.parametrize(
        "piece",
        [
            "1. ",
            "[",
            '[{"',
            "|",
            "| a | b |\n",
            "- ",
            "*",
            " ",
            "\n",
            "<",
            '"',
            "'a ",
            "「",
            "a: ",
            " and",
            "{" * 9,
        ],
    )
    def test_hostile_lengths_take_linear_time(self, piece: str) -> None:
        with within(2):
            assert isinstance(PICKS.picks_of(piece * 20_000, "en"), str)

    def test_deep_json(self) -> None:
        assert PICKS.picks_of('"' + "[" * 9000 + "]" * 9000, "en") == "invalid"

    def test_mixed_scripts_are_read_in_the_language_of_the_prompt(self) -> None:
        text = "1. 聪明的\n2. Kind\n3. 善良的\n4. 優しい\n5. 可靠的\n6. 따뜻한"
        assert said(PICKS.picks_of(text, "zh")) == "聪明的|-kind|善良的|-優しい|可靠的|-따뜻한"
        assert PICKS.picks_of(text, "en") == PICKS.picks_of(text, "ko") == "other_language"

    def test_any_text_is_read(self) -> None:
        generator = random.Random(7)
        pieces = [
            *"1. 2) - * • , 、 and : ( ) [ ] \" ' – ! ？ | / é 한국 かな 😀 wise kind 聪明的 \u200b".split(
                " "
            ),
            "\n",
            " ",
        ]
        for _ in range(3000):
            text = "".join(generator.choices(pieces, k=generator.randrange(40)))
            assert PICKS.picks_of(text, generator.choice(LANGUAGES)) is not None


def seconds(work: Callable[[], object]) -> float:
    """Of CPU."""
    before = time.process_time()
    work()
    return time.process_time() - before


def test_5_000_answers_take_about_as_long_as_ten_million_additions() -> None:
    """The likely formats, a third with an opening, a fifth with a closing sentence. A second is not as long on every machine,
    nor while others use it: ten parts of the answers are read by three readers, each after a part of a plain loop, and the
    quickest of both are compared, again if they are too far apart. It was .64 to .67 of the loop when this was written.
    """
    generator = random.Random(5)
    names = ("1.", ",", "bold word", "explained –", "dash", "explained :", "lines", "and")
    texts = []
    for n in range(5000):
        code = generator.choice(LANGUAGES)
        text = FORMATS[generator.choice(names)](generator.sample(words_of(code), 10), code)
        text = f"{OPENING[code]}\n\n{text}" if n % 3 == 0 else text
        texts.append((f"{text}\n\n{CLOSING[code]}" if n % 5 == 0 else text, code))

    def read(reader: Picks, part: int) -> None:
        for text, code in texts[500 * part : 500 * (part + 1)]:
            reader.picks_of(text, code)

    def looped() -> None:
        total = 0
        for number in range(1_000_000):
            total += number

    # Neighbours that keep the memory busy slow the reading more than the loop, but not in each of eight rounds.
    rounds = []
    for _ in range(8):
        loop, reading = zip(
            *(
                (seconds(looped), seconds(partial(read, reader, part)))
                for reader in (Picks(SPEC), Picks(SPEC), Picks(SPEC))
                for part in range(10)
            ),
            strict=True,
        )
        rounds.append(min(reading) / min(loop))
        if rounds[-1] < 0.8:
            return
    raise AssertionError(rounds)


class TestAListOfOnesOwn:
    header = ("language", "class", "word", "lexeme", "gender", "remark")

    def made(self, *lines: str, **settings: Any) -> Picks:
        """A list from lines of CSV; `settings` as in the protocol file."""
        found = [
            dict(zip(self.header, (*line.split(","), "", "", "")[:6], strict=False))
            for line in lines
        ]
        return Picks(
            InstrumentSpec(
                "picks", "picks", "length", {"words": found, "classes": ["good", "bad"], **settings}
            )
        )

    def test_it_works(self) -> None:
        own = self.made("de,good,klug", "de,good,freundlich", "de,bad,laut", asked=2)
        assert said(own.picks_of("1. Klug\n2. laut\n3. nett", "de")) == "klug|laut|-nett"

    @pytest.mark.parametrize(
        ("lines", "message"),
        [
            (
                ("de,good,klug", "de,good,klug"),
                r"line 3: 'klug' \(de\) is in the class 'good' already, line 2",
            ),
            (("de,good,klug", "de,god,nett"), "line 3: No class 'god'. Did you mean 'good'?"),
            (
                ("de,good,klug", "de,good,kluge,klug,f"),
                r"line 3: 'kluge' \(de\) has the gender f, but its lexeme has no form with the gender m",
            ),
            (("de,good,klug,,x",), "line 2: No gender 'x'"),
            (("de,good,klug,,,once",), "line 2: No remark 'once'"),
            (("de,good,",), "line 2: 'word' is empty"),
            (("de,good,!!",), "line 2: '!!' has no letters"),
            (("de,good,off_list",), "line 2: 'off_list' is the name of an outcome"),
            (
                ("de,good,a-b", "de,bad,a b"),
                r"line 3: 'a b' \(de\) is also a form of 'a-b'",
            ),
        ],
    )
    def test_what_is_wrong_is_named_with_its_line(
        self, lines: tuple[str, ...], message: str
    ) -> None:
        with pytest.raises(ProtocolError, match=message):
            self.made(*lines)

    def test_what_is_marked_as_meant_is_kept(self) -> None:
        own = self.made("de,good,klug,,,", "de,good,klug,,,again", "de,good,mütterlich,,f,alone")
        assert said(own.picks_of("klug, mütterlich", "de")) == "klug|mütterlich"

    @pytest.mark.parametrize("words", [None, [], "words.txt"])
    def test_no_list(self, words: object) -> None:
        assert fault_of(Picks, {"words": words})

    def test_asked_is_a_number(self) -> None:
        assert "whole number" in fault_of(Picks, {"words": "words.csv", "asked": "ten"})

    def test_columns_are_missing(self) -> None:
        with pytest.raises(
            ProtocolError,
            match="line 2: 'class' is missing: the list needs the columns language, class, word",
        ):
            Picks(
                InstrumentSpec(
                    "picks", "picks", "length", {"words": [{"language": "en", "word": "wise"}]}
                )
            )

    def test_a_changed_list_is_another_annotator(self) -> None:
        one, two = self.made("de,good,klug"), self.made("de,good,schlau")
        assert (
            one.annotator != two.annotator and one.annotator == self.made("de,good,klug").annotator
        )

    def test_the_protocol_file_names_it(self, tmp_path: Path) -> None:
        text = (
            'name = "own"\ntitle = "t"\nquestion = "q"\nprompt = "Pick from {word}."\nfactors = ["language"]\nitem = "language"\n'
            'tables = [{ file = "own.csv", columns = ["language", "word"], key = ["language"] }, { rows = [{ separator = ", " }] }]\n'
            'instruments = [{ name = "picks", kind = "picks", attribute = "length", words = "own.csv" }]\n'
        )
        (tmp_path / "own.toml").write_text(text, encoding="utf-8")
        with pytest.raises(ProtocolError, match=r"own\.csv"):
            load(tmp_path / "own.toml")
        (tmp_path / "own.csv").write_text(
            "language,class,word\nde,good,klug\nde,bad,laut\n", encoding="utf-8"
        )
        protocol = load(tmp_path / "own.toml")
        assert protocol.prompt_text(protocol.cells[0]) == "Pick from klug, laut."
        assert said(Picks(protocol.instruments[0]).picks_of("laut, klug", "de")) == "laut|klug"


def test_without_the_identifier_it_says_so_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language_id, "version", missing)
    with pytest.raises(MissingExtra, match=r"\[languages\]"):
        Picks(SPEC)


def missing(name: str) -> str:
    raise language_id.PackageNotFoundError(name)


def test_letters_and_digits_are_what_counts() -> None:
    assert (
        key("Détail-Orienté")
        == key("détail orienté")
        == key("ＤÉTAIL\u00adorienté!")
        == "détailorienté"
    )
