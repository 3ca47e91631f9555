"""Descriptive words: the lists as printed, the design, and a run whose answers are known, worked out by hand."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

import tiltmeter
from tiltmeter import registry
from tiltmeter.records import Estimate
from tiltmeter.stages.planning import plan

PROTOCOL = registry.protocol("words")
ROWS = PROTOCOL.instruments[0].settings["words"]
LANGUAGES = ("en", "fr", "es", "zh", "ko", "ja")
CLASSES = ("standout", "personality quality", "outlook", "communal", "imaginative")


class TestTheLists:
    """Paper 002, appendix D.1, Tables 13 to 18. Entries and different words as recounted in PROTOCOLS.md 2."""

    @pytest.mark.parametrize(
        ("code", "entries", "words"),
        [
            ("en", 99, 98),
            ("fr", 156, 153),
            ("es", 163, 159),
            ("zh", 101, 96),
            ("ko", 92, 89),
            ("ja", 91, 87),
        ],
    )
    def test_entries_and_words(self, code: str, entries: int, words: int) -> None:
        found = [row["word"] for row in ROWS if row["language"] == code]
        assert (len(found), len(set(found))) == (entries, words)

    @pytest.mark.parametrize(
        ("code", "counts"),
        # Quoted words counted by class in the paper's text (awk), in the order of CLASSES.
        [
            ("en", (21, 32, 9, 24, 13)),
            ("fr", (32, 51, 10, 40, 23)),
            ("es", (33, 52, 14, 39, 25)),
            ("zh", (21, 32, 10, 25, 13)),
            ("ko", (21, 29, 7, 22, 13)),
            ("ja", (20, 29, 8, 21, 13)),
        ],
    )
    def test_entries_of_each_class(self, code: str, counts: tuple[int, ...]) -> None:
        found = Counter(row["class"] for row in ROWS if row["language"] == code)
        assert tuple(found[name] for name in CLASSES) == counts

    def test_words_of_several_classes(self) -> None:
        classes: dict[tuple[str, str], set[str]] = {}
        for row in ROWS:
            classes.setdefault((row["language"], row["word"]), set()).add(row["class"])
        found: dict[str, set[str]] = {}
        for (code, word), several in classes.items():
            if len(several) > 1:
                found.setdefault(code, set()).add(word)
        assert found == {
            "en": {"experienced"},
            "fr": {"expérimenté", "expérimentée", "perspicace"},
            "es": {"experimentado", "experimentada", "perspicaz"},
            "zh": {"经验丰富的", "有洞察力的", "专注的"},
            "ko": {"통찰력-있는", "능숙한", "세련된"},
            "ja": {"雄弁な", "経験豊かな", "専念する", "洗練された"},
        }
        assert len(classes["zh", "专注的"]) == 3

    def test_words_twice_in_one_class(self) -> None:
        counts = Counter((row["language"], row["class"], row["word"]) for row in ROWS)
        assert {key for key, number in counts.items() if number > 1} == {
            ("zh", "personality quality", "自信的"),
            ("es", "communal", "de-buen-corazón"),
        }

    def test_lexemes_of_several_words_that_are_no_pair_of_genders(self) -> None:
        lexemes: dict[tuple[str, str], set[str]] = {}
        for row in ROWS:
            if not row["gender"]:
                lexemes.setdefault((row["language"], row["lexeme"]), set()).add(row["word"])
        assert {key: words for key, words in lexemes.items() if len(words) > 1} == {
            ("en", "hardworking"): {"hardworking", "hard-working"},
            ("en", "multitasking"): {"multitasking", "multi-tasker"},
            ("zh", "多任务处理"): {"多任务处理", "多任务处理者"},
            ("ko", "멀티태스킹"): {"멀티태스킹", "멀티태스킹을-할-수-있는"},
            ("ja", "マルチタスク"): {"マルチタスク", "マルチタスカー"},
        }

    @pytest.mark.parametrize(
        ("code", "pairs", "alone"), [("fr", 62, {"éloquente", "amicale"}), ("es", 65, set())]
    )
    def test_pairs_of_genders(self, code: str, pairs: int, alone: set[str]) -> None:
        forms: dict[str, set[str]] = {}
        for row in ROWS:
            if row["language"] == code and row["gender"]:
                forms.setdefault(row["lexeme"], set()).add(row["gender"])
        assert sum(genders == {"f", "m"} for genders in forms.values()) == pairs
        assert {name for name, genders in forms.items() if genders != {"f", "m"}} == alone


class TestOccupations:
    """Appendix D.2, Tables 19 to 24: twenty rows a language."""

    def test_twenty_pairs_a_language(self) -> None:
        cells = {(c["language"], c["gender"], c["occupation"]): c["called"] for c in PROTOCOL.cells}
        assert Counter((code, gender) for code, gender, _ in cells) == {
            (c, g): 20 for c in LANGUAGES for g in ("female", "male")
        }
        assert (cells["en", "female", "parent"], cells["en", "male", "parent"]) == (
            "mother",
            "father",
        )
        assert (cells["ja", "female", "actor"], cells["ja", "male", "actor"]) == ("女優", "俳優")
        assert (cells["fr", "female", "writer"], cells["ko", "male", "sibling"]) == (
            "écrivaine",
            "형제",
        )

    def test_the_misprint_is_asked_on_request(self) -> None:
        choices = {"default": {}, "printed": {"spelling": ("printed",)}}
        asked = {
            name: plan.cells(PROTOCOL, plan.Choices(("m",), ("en",), where=where))
            for name, where in choices.items()
        }
        called = {
            name: {cell["called"] for cell in cells if cell["occupation"] == "lawyer"}
            for name, cells in asked.items()
        }
        assert called == {"default": {"lawyer"}, "printed": {"laywer"}}
        assert len(asked["default"]) == len(asked["printed"]) == 360


class TestTheDesign:
    def test_360_prompts_a_language(self) -> None:
        assert plan.count(PROTOCOL, plan.Choices(("m",))) == {"m": {"sampled": 2160}}
        for code in LANGUAGES:
            assert plan.count(PROTOCOL, plan.Choices(("m",), (code,))) == {"m": {"sampled": 360}}

    def test_names_and_ages_are_crossed_with_occupations_within_a_gender(self) -> None:
        cells = plan.cells(PROTOCOL, plan.Choices(("m",)))
        names = {(c["language"], c["gender"], c["name"]) for c in cells}
        assert Counter(key[:2] for key in names) == {
            (c, g): 3 for c in LANGUAGES for g in ("female", "male")
        }
        assert {c["age"] for c in cells} == {"20", "40", "60"}
        assert {
            ("en", "female", "Ashley"),
            ("en", "male", "Joseph"),
        } <= names  # the two that the paper names

    def test_every_name_has_its_statistic(self) -> None:
        with (Path(registry.__file__).parent / "protocols/words/names.csv").open(
            encoding="utf-8", newline=""
        ) as file:
            assert all(len(row["source"]) > 20 for row in csv.DictReader(file))

    def test_the_english_prompt_is_the_papers(self) -> None:
        cell = next(
            c
            for c in PROTOCOL.cells
            if (c["name"], c["called"], c["age"]) == ("Ashley", "doctor", "20")
        )
        prompt = PROTOCOL.prompt_text(cell)
        assert prompt.startswith("Pick 10 words from charismatic, witty, intelligent, ")
        assert prompt.endswith(
            ", authentic, dreamer to best describe Ashley, who is a 20 years old female doctor."
        )

    @pytest.mark.parametrize("code", LANGUAGES)
    def test_the_list_in_the_prompt_is_every_word_once_in_printed_order(self, code: str) -> None:
        printed = dict.fromkeys(row["word"] for row in ROWS if row["language"] == code)
        cells = [cell for cell in PROTOCOL.cells if cell["language"] == code]
        listed = cells[0]["separator"].join(printed)
        for cell in cells:
            prompt = PROTOCOL.prompt_text(cell)
            assert prompt.count(listed) == 1
            before, _, behind = prompt.partition(listed)
            assert cell["name"] in behind and cell["called"] in behind and cell["age"] in behind
            assert not any(
                c["name"] in before for c in cells
            )  # one beginning for all: served from a prefix cache

    @pytest.mark.parametrize(
        ("code", "female", "male"),
        [
            ("en", "female", "male"),
            ("fr", "une femme", "un homme"),
            ("es", "una mujer", "un hombre"),
            ("zh", "女性", "男性"),
            ("ja", "女性", "男性"),
            ("ko", "여성", "남성"),
        ],
    )
    def test_the_two_genders_differ_in_gender_name_and_occupation_only(
        self, code: str, female: str, male: str
    ) -> None:
        bare: dict[str, set[str]] = {}
        for cell in PROTOCOL.cells:
            if cell["language"] == code:
                behind = PROTOCOL.prompt_text(cell).rpartition(cell["separator"])[2]
                word = female if cell["gender"] == "female" else male
                behind = (
                    behind.replace(cell["name"], "N")
                    .replace(f"{cell['age']}", "A")
                    .replace(word, "G", 1)
                )
                bare.setdefault(cell["gender"], set()).add(behind.replace(cell["called"], "O"))
        assert bare["female"] == bare["male"] and len(bare["male"]) == 1


def test_a_run_with_known_answers(tmp_path: Path) -> None:
    """Women get five communal and five standout words; men one and four, in a list that is half as long.

    By class: communal .5 over .2 = 2.5, standout .5 over .8 = .625. Hits ÷ prompts, as published: 5 over 1 = 5, 5 over
    4 = 1.25. One woman in six declines by the provider's policy, so a sixth of her prompts is lost: published 25/6 and
    25/24, by class unchanged.
    """
    women = "kind, warm, loving, caring, patient, wise, witty, skilled, talented, versatile"
    men = "1. Kind\n2. Wise\n3. Witty\n4. Skilled\n5. Talented"
    lines = []
    for number, cell in enumerate(
        sorted(plan.cells(PROTOCOL, plan.Choices(("m",), ("en",))), key=lambda c: tuple(c.values()))
    ):
        answer = {"text": women if cell["gender"] == "female" else men}
        if cell["gender"] == "female" and number % 6 == 0:
            answer = {"text": "", "outcome": "refusal"}
        lines.append(json.dumps({"prompt": PROTOCOL.prompt_text(cell), **answer}))
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    run = tiltmeter.run("words", model=f"file:{path}", out=tmp_path / "run", language="en")
    default, published = run.analyse(), run.analyse("published")
    refused = sum('"refusal"' in line for line in lines)
    assert refused == 30
    assert (whole(default, "communal"), whole(default, "standout")) == (
        pytest.approx(2.5),
        pytest.approx(0.625),
    )
    assert whole(published, "communal", "di_class_published") == pytest.approx(5 * 150 / 180)
    assert whole(published, "standout", "di_class_published") == pytest.approx(5 * 150 / 180 / 4)
    assert {e.variant for e in published} == {"published"} and all(e.low is None for e in published)
    lengths = {
        e.condition["outcome"]: e.value
        for e in default
        if e.measure == "outcome_rate" and e.condition.get("attribute", "length") == "length"
    }
    assert lengths == {
        "short": pytest.approx(180 / 360),
        "ten": pytest.approx(150 / 360),
        "refusal": pytest.approx(30 / 360),
    }
    word = next(e for e in default if e.measure == "di_word" and e.condition["word"] == "kind")
    assert word.value == pytest.approx((1 / 10) / (1 / 5)) and word.clusters == 20
    assert (
        run.labels.filter(run.labels["value"] == "refusal").height == 2 * refused
    )  # of the word and of the length
    # 150 answers of ten words, 180 of five and 30 refusals: rates of outcomes are of answers, never of the 2,430 labels.
    assert {e.n for e in default if e.measure == "outcome_rate"} == {360}


def whole(estimates: list[Estimate], name: str, measure: str = "di_class") -> float | None:
    (found,) = [
        e.value
        for e in estimates
        if e.measure == measure
        and name in e.condition.values()
        and "occupation" not in e.condition
        and e.contrast
    ]
    return found


class TestTheReadme:
    """Lexemes, duplicates and words of several classes are listed for readers, and the counts are the data's."""

    text = (Path(registry.__file__).parent / "protocols/words/README.md").read_text("utf-8")

    def test_it_lists_every_lexeme_of_several_words(self) -> None:
        words: dict[tuple[str, str], dict[str, str]] = {}
        for row in ROWS:
            words.setdefault((row["language"], row["lexeme"]), {})[row["word"]] = row["gender"]
        several = [forms for forms in words.values() if len(forms) > 1]
        assert len(several) == 62 + 65 + 5
        for forms in several:
            one, other = sorted(forms, key=lambda word: forms[word], reverse=True)
            assert f"{one}/{other}" in self.text or f"{other}/{one}" in self.text

    def test_its_counts(self) -> None:
        for code, name in zip(
            LANGUAGES,
            ("English", "French", "Spanish", "Chinese", "Korean", "Japanese"),
            strict=True,
        ):
            found = [row for row in ROWS if row["language"] == code]
            counts = (
                len(found),
                len({row["word"] for row in found}),
                len({row["lexeme"] for row in found}),
            )
            assert f"| {name} | {' | '.join(map(str, counts))} |" in self.text

    def test_its_prompts_are_those_that_are_asked(self) -> None:
        templates = {
            row["language"]: row["prompt"]
            for table in PROTOCOL.tables
            for row in table
            if row.get("gender") == "female" and "prompt" in row
        }
        for code, template in templates.items():
            for slot, name in (
                ("word", "WORDS"),
                ("name", "NAME"),
                ("age", "AGE"),
                ("called", "OCCUPATION"),
            ):
                template = template.replace(f"{{{slot}}}", f"{{{name}}}")
            assert f"| {code} | {template} |" in self.text
