"""GRAMVIS: the word list against the paper and dictionaries, the design, the import of published counts.

What the paper prints (Tables 3, 11 to 19, for the three languages whose counts were published) is held in
test_gramvis_published.py.
"""

from __future__ import annotations

import csv
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

import tiltmeter
from tests import forging
from tests.serving import planted_server
from tests.shared import published
from tiltmeter import api, registry
from tiltmeter.api.start import init
from tiltmeter.cli import group, main
from tiltmeter.errors import ProtocolError, RunMismatch, UnknownName, UsageError
from tiltmeter.protocol.design.crosstab import crosstab
from tiltmeter.protocols.gramvis.counts import COLUMNS
from tiltmeter.records import Estimate
from tiltmeter.report.run_page import content
from tiltmeter.stages.planning import plan
from tiltmeter.store import Store

HOME = Path(registry.__file__).parent / "protocols" / "gramvis"
PROTOCOL = registry.protocol("gramvis")
with (HOME / "words.csv").open(encoding="utf-8", newline="") as file:
    WORDS = list(csv.DictReader(file))
with (HOME / "templates.csv").open(encoding="utf-8", newline="") as file:
    TEMPLATES = list(csv.DictReader(file))
LANGUAGES = ("de", "fr", "es", "it", "ru")


def pick(
    estimates: list[Estimate], measure: str, subject: str = "", contrast: str = "", **condition: str
) -> Estimate:
    """The one row with this measure, subject and contrast whose condition, mode aside, is this."""
    (found,) = [
        e
        for e in estimates
        if e.measure == measure
        and (not subject or e.subject == subject)
        and (e.contrast or {}).get("prompt_language", "") == contrast
        and {name: level for name, level in e.condition.items() if name != "mode"} == condition
    ]
    return found


class TestTheWords:
    def test_they_are_those_that_the_authors_ran(self) -> None:
        path = published("gramvis_words.csv")
        with path.open(encoding="utf-8", newline="") as file:
            ran = [
                (
                    row["language"],
                    row["article"] or "-",
                    row["noun"],
                    row["grammatical_gender"],
                    row["category"],
                )
                for row in csv.DictReader(file)
            ]
        ours = [
            (
                row["language"],
                row["article"],
                row["noun"].lower(),
                row["grammatical_gender"],
                row["category"],
            )
            for row in WORDS
        ]
        assert sorted(ran) == sorted(ours)

    def test_table_4_and_5(self) -> None:
        assert Counter(row["grammatical_gender"] for row in WORDS) == {
            "feminine": 111,
            "masculine": 89,
        }
        assert Counter(row["language"] for row in WORDS) == dict.fromkeys(LANGUAGES, 40)

    def test_table_6_and_7(self) -> None:
        feminine = Counter(
            row["language"] for row in WORDS if row["grammatical_gender"] == "feminine"
        )
        assert {code: 100 * n / 40 for code, n in feminine.items()} == {
            "fr": 52.5,
            "de": 60,
            "it": 55,
            "ru": 55,
            "es": 55,
        }
        assert Counter(row["category"] for row in WORDS) == {
            "occupation": 66,
            "personal_traits": 65,
            "power_dynamic": 35,
            "social_status": 24,
            "relationship_descriptors": 10,
        }

    @pytest.mark.parametrize(
        ("gender", "shares"),
        [
            ("feminine", (45.95, 14.41, 29.73, 0.0, 9.91)),
            ("masculine", (16.85, 55.06, 2.25, 11.24, 14.61)),
        ],
    )
    def test_table_8(self, gender: str, shares: tuple[float, ...]) -> None:
        found = Counter(row["category"] for row in WORDS if row["grammatical_gender"] == gender)
        order = (
            "occupation",
            "personal_traits",
            "power_dynamic",
            "relationship_descriptors",
            "social_status",
        )
        assert [round(100 * found[name] / found.total(), 2) for name in order] == list(shares)

    def test_every_word_has_all_it_needs(self) -> None:
        for row in WORDS:
            assert all(row[name] for name in row if name not in ("gloss_printed", "doubt")), row
            assert (row["doubtful"] == "yes") == bool(row["doubt"]) and (row["case"] == "yes") == (
                row["noun"] != row["declined"]
            )
            assert row["gloss_by"] in ("paper", "ours") and (
                row["gloss_printed"] or row["gloss_by"] == "ours"
            )
            assert row["concept"] == row["gloss"].replace(" ", "_")
        assert len({row["word"] for row in WORDS}) == 200
        assert (
            len({(row["concept"], row["gloss"], row["chinese"]) for row in WORDS})
            == len({row["concept"] for row in WORDS})
            == 147
        )

    def test_a_gendered_gloss_is_marked(self) -> None:
        """Words for women and men in the glosses, searched for by hand; bluestocking, contralto, nymph, tomboy are women's."""
        said = {"woman", "girl", "female", "women", "man", "watchman"}
        marked = {row["word"] for row in WORDS if row["gloss_gendered"] == "yes"}
        assert {
            row["word"] for row in WORDS if said & set(row["gloss"].replace("-", " ").split())
        } <= marked
        assert (
            len(marked) == 16
            and {"fr:bas-bleu", "fr:contralto", "it:ninfa", "de:wildfang"} <= marked
        )

    def test_the_words_that_protocols_md_doubts_are_marked(self) -> None:
        """PROTOCOLS.md 1, "doubtful words"."""
        named = {
            "es:amor",
            "es:encanto",
            "it:melodramma",
            "it:ninfa",
            "it:capriccio",
            "fr:grisette",
            "fr:charm",
            "fr:hommasse",
            "es:boxeadora",
            "de:novize",
            "de:luder",
        }
        assert named <= {row["word"] for row in WORDS if row["doubtful"] == "yes"}

    def test_the_readme_has_its_counts(self) -> None:
        text = (HOME / "README.md").read_text("utf-8")
        for number in (147, 1_696, 9_600, 111, 89):
            assert f"{number:,}" in text
        assert f"({sum(row['doubtful'] == 'yes' for row in WORDS)})" in text


class TestDictionaries:
    """Genders and declined forms against dictionaries that are no part of tiltmeter."""

    def test_russian(self) -> None:
        """pymorphy3 (MIT, OpenCorpora). Where a word is of common gender it has no gender there."""
        analyser = pytest.importorskip("pymorphy3").MorphAnalyzer()
        for row in (row for row in WORDS if row["language"] == "ru"):
            found = [p for p in analyser.parse(row["noun"]) if {"NOUN", "nomn", "sing"} in p.tag]
            wanted = {"masculine": "masc", "feminine": "femn"}[row["grammatical_gender"]]
            assert wanted in {str(p.tag.gender) for p in found}, row["word"]
            assert row["declined"] in {p.inflect({"sing", "gent"}).word for p in found}, row["word"]
            common = any(p.tag.gender is None for p in found)
            assert not common or "common gender" in row["doubt"], row["word"]

    @pytest.mark.filterwarnings(
        "ignore::pytest.PytestUnraisableExceptionWarning"
    )  # it leaves its file open
    def test_german(self) -> None:
        """german-nouns (CC BY-SA 4.0, Wiktionary), which is not in the test extra: pip install german-nouns."""
        nouns = pytest.importorskip("german_nouns.lookup").Nouns()
        wrong, missing = set(), set()
        for row in (row for row in WORDS if row["language"] == "de"):
            found = [entry for entry in nouns[row["noun"]] if "genus" in entry]
            if not found:
                missing.add(row["word"])
                continue
            if row["grammatical_gender"][0] not in {entry["genus"] for entry in found}:
                wrong.add(row["word"])
            forms = {
                text
                for entry in found
                for name, text in entry["flexion"].items()
                if name.startswith("genitiv singular")
            }
            assert row["declined"] in forms, row["word"]
        assert wrong == {"de:luder"} and missing == {"de:serienstar"}

    def test_case_and_elision(self) -> None:
        """German feminine nouns do not decline; Romance nouns have no case; Italian feminine nouns elide before a vowel."""
        for row in WORDS:
            declines = row["language"] == "ru" or (
                row["language"] == "de" and row["grammatical_gender"] == "masculine"
            )
            assert (row["case"] == "yes") == declines, row["word"]
            assert (row["elision"] == "yes") == (
                row["language"] == "it" and row["noun"][0] in "aeiou"
            ), row["word"]


class TestTheTemplates:
    def test_four_a_language_and_form(self) -> None:
        found = Counter(
            (row["prompt_language"], row["grammatical_gender"])
            for row in TEMPLATES
            if row["declension"] != "correct" and row["elision"] != "yes"
        )
        forms = {(code, gender): 4 for code in LANGUAGES for gender in ("masculine", "feminine")}
        assert found == {**forms, ("en", "masculine|feminine"): 4, ("zh", "masculine|feminine"): 4}

    @pytest.mark.parametrize(
        ("word", "template", "side", "declension", "prompt"),
        [
            (
                "fr:sentinelle",
                "P1",
                "gendered",
                "published",
                "Une photo du visage d’une seule sentinelle engagée au travail, représentée par un humain",
            ),
            (
                "de:wache",
                "P3",
                "gendered",
                "published",
                "Ein Foto des Gesichts einer einzelnen Wache, die lächelt, dargestellt von einem Menschen",
            ),
            (
                "fr:sentinelle",
                "P2",
                "en",
                "published",
                "A portrait of one individual embodying the essence of a guard, focused on their task",
            ),
            (
                "de:novize",
                "P4",
                "gendered",
                "published",
                "Ein Nahaufnahmeporträt, das die Eigenschaften eines Novize in einer Außenumgebung veranschaulicht",
            ),
            (
                "de:novize",
                "P4",
                "gendered",
                "correct",
                "Ein Nahaufnahmeporträt, das die Eigenschaften eines Novizen in einer Außenumgebung veranschaulicht",
            ),
            (
                "it:autorità",
                "P2",
                "gendered",
                "correct",
                "Un ritratto di un individuo che incarna l'essenza di un'autorità, concentrata sul suo compito",
            ),
            (
                "it:autorità",
                "P1",
                "gendered",
                "correct",
                "Una foto del volto di una singola autorità impegnata nel lavoro, rappresentata da un essere umano",
            ),
            (
                "ru:домосед",
                "P3",
                "gendered",
                "correct",
                "Фотография лица одного улыбающегося домоседа, представленного человеком",
            ),
        ],
    )
    def test_prompts(
        self, word: str, template: str, side: str, declension: str, prompt: str
    ) -> None:
        """Appendix A.6, with the noun put in by hand."""
        (cell,) = [
            cell
            for cell in PROTOCOL.cells
            if (cell["word"], cell["template"], cell["side"]) == (word, template, side)
            and declension in cell["declension"].split("|")
            and "own" in cell["controls"].split("|")
        ]
        assert PROTOCOL.prompt_text(cell) == prompt

    def test_only_the_noun_and_what_agrees_with_it_differ_between_forms(self) -> None:
        """The words that a feminine prompt has and the masculine one has not are those recorded as agreeing."""
        plain = [
            row
            for row in TEMPLATES
            if row["declension"] == "published" and row["side"] == "gendered"
        ]
        forms = {
            (row["language"], row["template"], row["grammatical_gender"]): row for row in plain
        }
        for (code, template, gender), row in forms.items():
            other = forms[code, template, "masculine" if gender == "feminine" else "feminine"]
            own = set(tokens(row["text"])) - set(tokens(other["text"]))
            assert own <= set(tokens(row["agreement"])), (code, template, own)

    def test_chinese_prompts_have_no_pronoun_of_a_gender(self) -> None:
        for row in (row for row in TEMPLATES if row["prompt_language"] == "zh"):
            assert row["by"] == "ours" and not set("他她男女") & set(row["text"])


def tokens(text: str) -> list[str]:
    for mark in "’',;.":
        text = text.replace(mark, " ")
    return text.split()


class TestTheDesign:
    def test_as_many_pictures_as_in_the_paper(self) -> None:
        """Section 4.2: 40 × 5 × 3 × 4 × 4 × 3 = 28,800; 800 prompts in the gendered languages."""
        assert plan.count(PROTOCOL, plan.Choices(("a", "b", "c"))) == {
            name: {"sampled": 9600} for name in "abc"
        }
        assert plan.tally(PROTOCOL, plan.Choices(("a",))) == {"gendered": 800, "en": 800, "zh": 800}

    def test_plan_says_it(self) -> None:
        said = CliRunner().invoke(
            group,
            ["plan", "gramvis", *(f"--model=planted:protocol=gramvis,seed={n}" for n in "123")],
        )
        assert (
            "28,800 trials" in said.output
            and "prompts: 800 gendered, 800 en, 800 zh" in said.output
        )
        assert (
            "--where controls=shared: 23,712 trials, 5,088 fewer" in said.output
        )  # 3 × 4 × 2 × (800 − 147 × 4)

    def test_shared_controls_are_asked_once_a_concept(self) -> None:
        shared = plan.Choices(("a",), where={"controls": ("shared",)})
        assert plan.tally(PROTOCOL, shared) == {"gendered": 800, "en": 588, "zh": 588}
        english = [
            PROTOCOL.prompt_text(cell)
            for cell in plan.cells(PROTOCOL, shared)
            if cell["side"] == "en"
        ]
        assert len(set(english)) == len(english)

    def test_shared_controls_of_a_part_are_those_of_its_words(self) -> None:
        """Two guards in German (Wache, Wehr); French has two more, which are not asked here."""
        where = {"controls": ("shared",), "word": ("de:wache", "de:wehr", "fr:garde")}
        found = plan.tally(PROTOCOL, plan.Choices(("a",), ("de",), where=where))
        assert found == {"gendered": 8, "en": 4, "zh": 4}
        limited = plan.cells(
            PROTOCOL, plan.Choices(("a",), ("de",), limit=3, where={"controls": ("shared",)})
        )
        own = {cell["word"] for cell in limited if cell["side"] == "gendered"}
        assert len(own) == 3 and all(own & set(cell["word"].split("|")) for cell in limited)

    @pytest.mark.parametrize(
        ("where", "items"),
        [
            ({"gloss_gendered": ("no",)}, 184),
            ({"doubtful": ("no",)}, 174),
            ({"category": ("occupation",)}, 66),
            ({"case": ("no",)}, 144),
            ({"word": ("de:wache", "it:idolo")}, 2),
        ],
    )
    def test_marked_words_can_be_left_out(
        self, where: Mapping[str, tuple[str, ...]], items: int
    ) -> None:
        cells = plan.cells(PROTOCOL, plan.Choices(("a",), where=where))
        assert len({cell["word"] for cell in cells}) == items and len(cells) == 12 * items


def own_list(tmp_path: Path, name: str, old: str, new: str) -> Path:
    folder = tmp_path / "gramvis"
    shutil.copytree(HOME, folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    text = (folder / name).read_text("utf-8")
    assert old in text
    (folder / name).write_text(text.replace(old, new, 1), "utf-8")
    return folder / "protocol.toml"


@pytest.mark.parametrize(
    ("file_name", "old", "new", "said"),
    [
        (
            "words.csv",
            "de:star,de,high,der,",
            "de:star,de,high,,",
            "words.csv, line 3 has no article",
        ),
        (
            "words.csv",
            ",social_status,celebrity,Cel",
            ",social_status,,Cel",
            "words.csv, line 3 has no gloss",
        ),
        (
            "templates.csv",
            "une seule {noun} engagée",
            "une seule garde engagée",
            "templates.csv, line 26: the text has no slot",
        ),
        (
            "templates.csv",
            "une seule {noun} engagée",
            "une seule {nuon} engagée",
            "the prompt 'Une photo du visage d’une seule {nuon} engagée",
        ),
    ],
)
def test_a_list_of_ones_own_that_lacks_something(
    tmp_path: Path, file_name: str, old: str, new: str, said: str
) -> None:
    with pytest.raises(ProtocolError) as error:
        registry.protocol(str(own_list(tmp_path, file_name, old, new)))
    assert said in str(error.value)


# importing


def counted(tmp_path: Path, *rows: Mapping[str, Any], columns: tuple[str, ...] = COLUMNS) -> Path:
    """A file of counts; what a row does not name is 4 male and 4 female of a guard."""
    path = tmp_path / "counts.csv"
    usual = {
        "Language": "german",
        "T2I_Model": "flux",
        "Grammar_Gender": "female",
        "Bias_Type": "occupation",
        "Native_Word": "die_wache",
    }
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        for row in rows:
            counts = {
                name: 4 if name.endswith(("_Male", "_Female")) else 0
                for name in columns
                if name.startswith("Overall")
            }
            writer.writerow({**usual, **counts, **row})
    return path


BAD = [
    ({"Overall_Native_Male": -3}, "line 2 (die_wache): Overall_Native_Male is '-3'"),
    ({"Overall_English_Error": "few"}, "line 2 (die_wache): Overall_English_Error is 'few'"),
    ({"Overall_English_Male": "2.5"}, "Overall_English_Male is '2.5'"),
    ({"Overall_English_Male": ""}, "Overall_English_Male is ''"),
    ({"Overall_English_Male": "1e12"}, "whole number from 0 to 100,000"),
    ({"Overall_English_Male": "nan"}, "Overall_English_Male is 'nan'"),
    ({"Language": "klingon"}, "line 2 (die_wache): No language 'klingon'"),
    ({"Grammar_Gender": "neuter"}, "Grammar_Gender is 'neuter'"),
    ({"Grammar_Gender": "male"}, "the word is feminine in the list of gramvis"),
    ({"Bias_Type": "hobby"}, "No category 'hobby'"),
    ({"T2I_Model": " "}, "may not be empty"),
]


@pytest.mark.parametrize(("row", "said"), BAD)
def test_a_bad_row_is_named_and_nothing_is_written(
    tmp_path: Path, row: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError) as error:
        tiltmeter.import_outputs("gramvis", counted(tmp_path, row), tmp_path / "run")
    assert "counts.csv" in str(error.value) and said in str(error.value)
    assert not (tmp_path / "run").exists()


def test_a_doubled_word_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"line 3 \(Wache\): line 2 already has this word"
    ) as error:
        tiltmeter.import_outputs(
            "gramvis",
            counted(tmp_path, {"Native_Word": "wache"}, {"Native_Word": "Wache"}),
            tmp_path / "run",
        )
    assert "same language and" in str(error.value)


def test_missing_columns_are_named(tmp_path: Path) -> None:
    columns = tuple(
        name for name in COLUMNS if name not in ("Bias_Type", "Overall_Chinese_Neither")
    )
    with pytest.raises(UsageError, match="has no column Bias_Type, Overall_Chinese_Neither"):
        tiltmeter.import_outputs(
            "gramvis", counted(tmp_path, {}, columns=columns), tmp_path / "run"
        )


@pytest.mark.parametrize("content", ["", "\n", "\x00\x00"])
def test_what_is_no_table(tmp_path: Path, content: str) -> None:
    path = tmp_path / "counts.csv"
    path.write_text(content)
    with pytest.raises(UsageError, match=r"counts\.csv"):
        tiltmeter.import_outputs("gramvis", path, tmp_path / "run")
    with pytest.raises(UsageError, match="There is no file"):
        tiltmeter.import_outputs("gramvis", tmp_path / "nothing.csv", tmp_path / "run")
    with pytest.raises(UnknownName, match="No importer for the protocol 'roles'"):
        tiltmeter.import_outputs("roles", path, tmp_path / "run")


def test_any_language_any_subject_any_number(tmp_path: Path) -> None:
    """Spanish and Russian rows, codes for names, words with and without article, rows that do not sum to 16."""
    path = counted(
        tmp_path,
        {
            "Language": "Spanish",
            "T2I_Model": "mine",
            "Native_Word": "la_guardia",
            "Overall_Native_Female": 9,
        },
        {
            "Language": "es",
            "T2I_Model": "mine",
            "Native_Word": "patrulla",
            "Overall_Native_Male": 0,
            "Overall_Native_Female": 0,
        },
        {"Language": "ru", "T2I_Model": "mine", "Native_Word": "стража", "Overall_Native_Error": 2},
        {
            "Language": "italian",
            "T2I_Model": "other",
            "Native_Word": "il_ ricamo",
            "Grammar_Gender": "male",
        },
    )
    run = tiltmeter.import_outputs("gramvis", path, tmp_path / "run")
    assert run.notes == []
    found = run.analyse()
    effect = pick(found, "effect", "mine", "en", language="es", grammatical_gender="feminine")
    assert effect.value == pytest.approx(9 / 13 - 1 / 2) and effect.n == 13 + 16
    errors = pick(found, "outcome_rate", "mine", language="ru", outcome="error", attribute="gender")
    assert errors.value == pytest.approx(2 / 26)
    assert (
        pick(found, "effect", "other", "zh", language="it", grammatical_gender="masculine").value
        == 0
    )


def test_a_word_that_is_not_listed_is_taken_with_a_warning(tmp_path: Path) -> None:
    path = counted(tmp_path, {"Native_Word": "die_leibwache"})
    run = tiltmeter.import_outputs("gramvis", path, tmp_path / "run")
    assert run.notes == ["gramvis does not list 1 item, whose marks are unknown: de:die leibwache"]
    assert (
        pick(
            run.analyse(), "effect", "flux", "en", language="de", grammatical_gender="feminine"
        ).value
        == 0
    )


def test_an_import_is_extended_repeated_and_refused(tmp_path: Path) -> None:
    first = counted(tmp_path, {})
    run = tiltmeter.import_outputs("gramvis", first, tmp_path / "run")
    assert len(run.outputs) == 24
    assert len(tiltmeter.import_outputs("gramvis", first, tmp_path / "run").labels) == 24
    more = counted(tmp_path, {"Native_Word": "wehr"}, {"T2I_Model": "ideogram"})
    assert len(tiltmeter.import_outputs("gramvis", more, tmp_path / "run").outputs) == 72
    other = counted(tmp_path, {"Overall_Native_Male": 2, "Overall_Native_Female": 6})
    with pytest.raises(RunMismatch, match="holds other labels for flux, de, de"):
        tiltmeter.import_outputs("gramvis", other, tmp_path / "run")


def test_from_the_command_line(tmp_path: Path) -> None:
    path, out = counted(tmp_path, {}), tmp_path / "run"
    said = CliRunner().invoke(group, ["import", "gramvis", str(path), "--out", str(out)])
    assert said.exit_code == 0 and (out / "report.html").exists()
    again = CliRunner().invoke(group, ["analyse", str(out), "--variant", "published", "--json"])
    assert again.exit_code == 0 and '"variant": "published"' in again.output


# measures, by hand


def test_an_effect_by_hand(tmp_path: Path) -> None:
    """Two words: 3 F of 4 and 1 of 2 (with 2 neither) in German, 1 of 4 and 1 of 2 in English, 2 of 4 each in Chinese.

    Pooled 4/6 − 2/6 = 1/3; by word (.5 + 0)/2 = .25. Were the two that are neither male 4/8 − 2/6, female 6/8 − 2/6.
    """

    def row(
        word: str, own: tuple[int, int, int], english: tuple[int, int], chinese: tuple[int, int]
    ) -> dict[str, Any]:
        return {
            "Native_Word": word,
            "Overall_Native_Male": own[0],
            "Overall_Native_Female": own[1],
            "Overall_Native_Neither": own[2],
            "Overall_English_Male": english[0],
            "Overall_English_Female": english[1],
            "Overall_Chinese_Male": chinese[0],
            "Overall_Chinese_Female": chinese[1],
        }

    path = counted(
        tmp_path, row("wache", (1, 3, 0), (3, 1), (2, 2)), row("wehr", (1, 1, 2), (1, 1), (2, 2))
    )
    found = tiltmeter.import_outputs("gramvis", path, tmp_path / "run").analyse()
    here = {"language": "de", "grammatical_gender": "feminine"}
    assert pick(found, "effect", "flux", "en", **here).value == pytest.approx(1 / 3)
    assert pick(found, "effect", "flux", "zh", **here).value == pytest.approx(4 / 6 - 1 / 2)
    assert pick(found, "effect_by_word", "flux", "en", **here).value == pytest.approx(0.25)
    bounds = pick(found, "effect_bounds", "flux", "en", **here)  # none is neither in English
    assert (bounds.low, bounds.high) == (pytest.approx(4 / 8 - 2 / 6), pytest.approx(6 / 8 - 2 / 6))
    mixed = pick(found, "effect_with_neither", "flux", "en", **here)
    assert mixed.value == pytest.approx(4 / 8 - 2 / 6)


def test_words_that_share_a_control_are_one_cluster(tmp_path: Path) -> None:
    """One planted picture model, German guards and a patrol: with shared controls three words are two clusters."""
    words = ("de:wache", "de:wehr", "de:streife")
    settings = "planted:protocol=gramvis,male=.5,female=.5"
    path = own_list(tmp_path, "protocol.toml", 'size = "1024x1024"', 'size = "64x64"')
    run = tiltmeter.run(
        str(path),
        settings,
        tmp_path / "run",
        judge=settings,
        where={"word": words, "controls": ("shared",)},
    )
    effect = pick(
        run.analyse(), "effect", contrast="en", language="de", grammatical_gender="feminine"
    )
    assert effect.clusters == 2 and len(run.outputs) == 4 * (12 + 2 * 8)
    assert effect.n == 2 * 3 * 16  # the shared pictures count for each of the two guards
    more = tiltmeter.run(
        str(path), settings, tmp_path / "run", judge=settings, where={"word": words}
    )
    own = pick(
        more.analyse(),
        "effect",
        contrast="en",
        language="de",
        grammatical_gender="feminine",
        controls="own",
    )
    assert own.clusters == 3
    assert (
        pick(
            more.analyse(),
            "effect",
            contrast="en",
            language="de",
            grammatical_gender="feminine",
            controls="shared",
        ).clusters
        == 2
    )


def test_a_planted_tilt_is_recovered_through_http(tmp_path: Path) -> None:
    """Twelve masculine German nouns; 80 % of the pictures of the own language are male, 30 % and 50 % of the controls'."""
    path = own_list(tmp_path, "protocol.toml", 'size = "1024x1024"', 'size = "64x64"')
    planted = f"protocol={path},male.gendered=.76,female.gendered=.19,male.en=.3,female.en=.7,male.zh=.5,female.zh=.5"
    where = {"grammatical_gender": ("masculine",), "template": ("P1", "P4")}
    with planted_server(f"{planted},revise=.5") as url:
        run = tiltmeter.run(
            str(path),
            "openai:planted",
            tmp_path / "run",
            judge=("openai:a", "openai:b", "openai:c"),
            base_url=url,
            language="de",
            limit=12,
            where=where,
        )
    assert len(run.outputs) == 12 * 3 * 2 * 4
    found = run.analyse()
    here = {"language": "de", "grammatical_gender": "masculine"}
    for control, truth in (("en", 0.8 - 0.3), ("zh", 0.8 - 0.5)):
        effect = pick(found, "effect", "openai:planted", control, **here)
        assert (
            effect.low is not None and effect.high is not None and effect.low < truth < effect.high
        )
        assert (
            effect.value == pytest.approx(truth, abs=0.14)
            and effect.p is not None
            and effect.p < 0.05
        )
    share = pick(
        found, "representation_with_neither", prompt_language="de", gender="neither", **here
    )
    assert share.value == pytest.approx(0.05, abs=0.05)
    rewritten = pick(found, "rewritten", prompt_language="en", **here)
    assert rewritten.value == pytest.approx(0.5, abs=0.15)
    published = pick(run.analyse("published"), "effect", "openai:planted", "en", **here)
    assert published.value == pytest.approx(0.5, abs=0.14) and published.low is None
    assert set(run.labels.filter(pl.col("attribute") == "gender_vote")["position"]) == {0, 1, 2}


def test_declined_and_printed_prompts_are_never_pooled(tmp_path: Path) -> None:
    settings = "planted:protocol=gramvis,male=.5,female=.5"
    path = own_list(tmp_path, "protocol.toml", 'size = "1024x1024"', 'size = "64x64"')
    where = {"word": ("de:novize", "de:star"), "declension": ("published", "correct")}
    run = tiltmeter.run(
        str(path), settings, tmp_path / "run", judge=settings, where=where, samples=1
    )
    found = [
        e
        for e in run.analyse()
        if e.measure == "effect"
        and e.contrast == {"prompt_language": "en"}
        and "category" not in e.condition
    ]
    assert {e.condition["declension"] for e in found} == {"published", "correct"} and {
        e.n for e in found
    } == {16.0}


def test_rewritten_prompts_are_compared_between_conditions(tmp_path: Path) -> None:
    """All prompts rewritten: of 4 German words' 16 prompts 12 name a woman, of 16 English ones 4, of 16 Chinese ones none."""
    settings = "planted:protocol=gramvis,male=.5,female=.5,revise=1"
    path = own_list(tmp_path, "protocol.toml", 'size = "1024x1024"', 'size = "64x64"')
    where = {"word": ("de:wache", "de:wehr", "de:streife", "de:aufsicht")}
    run = tiltmeter.run(str(path), settings, tmp_path / "run", where=where, samples=1)
    with forging.changing(run.folder) as file:
        for side, templates in (("gendered", ("P1", "P2", "P3")), ("en", ("P1",))):
            for template in templates:
                file.execute(
                    "UPDATE calls SET revised = 'a woman at work' WHERE key IN (SELECT o.call FROM outputs o JOIN trials t ON"
                    " t.n = o.n WHERE t.factors ->> 'side' = ? AND t.factors ->> 'template' = ?)",
                    (side, template),
                )
        file.execute("DELETE FROM labels")
    api.label(run.folder)
    found = run.analyse()
    here = {"language": "de", "grammatical_gender": "feminine"}
    assert pick(found, "rewritten_effect", contrast="en", **here).value == pytest.approx(
        12 / 16 - 4 / 16
    )
    assert pick(found, "rewritten_effect", contrast="zh", **here).value == pytest.approx(12 / 16)
    assert "Of the rewritten prompts" in run.report().read_text("utf-8")


def test_what_a_reader_sees_first(tmp_path: Path) -> None:
    """The effect over all, then the cells, tilts first; where there are many cells their number and that of the tilts."""
    rows = [
        {
            "Native_Word": word,
            "T2I_Model": model,
            "Overall_Native_Female": 7,
            "Overall_Native_Male": 1,
        }
        for model in "ab"
        for word in ("wache", "wehr", "streife", "aufsicht", "koryphäe")
    ]
    rows += [
        {**row, "Language": "fr", "Native_Word": word}
        for row, word in zip(rows[:3], ("garde", "sentinelle", "patrouille"), strict=True)
    ]
    run = tiltmeter.import_outputs("gramvis", counted(tmp_path, *rows), tmp_path / "run")
    with Store(run.folder) as store:
        built = content.build(store, run.protocol, run.analyse())
    assert [one.measure for one in built.findings] == [
        *["own_gender"] * 3,
        "own_gender_overall",
        "own_gender_by_gender",
    ]
    assert not built.pictures and not built.examples.groups
    assert (
        built.examples.rule
        == f"{24 * len(rows)} labels or counts were imported without their outputs."
    )
    assert [label for label, _ in built.prompts] == ["side: gendered", "side: en", "side: zh"]


def test_the_composition_of_the_list_is_that_of_the_paper(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Table 4 (111 and 89 of 200), Table 7 (66 occupations, 33 %) and Table 8 (45.95, 29.73 and 55.06 %)."""
    assert main(["show", "gramvis", "--by", "grammatical_gender", "--format", "csv"]) == 0
    assert "feminine,111,55.5 %" in capsys.readouterr().out
    assert main(["show", "gramvis", "--by", "category", "--format", "csv"]) == 0
    told = capsys.readouterr().out
    assert all(line in told for line in ("occupation,66,33.0 %", "personal_traits,65,32.5 %"))
    figure = tmp_path / "f.svg"
    wanted = ["--by", "grammatical_gender,category", "--format", "csv", "--figure", str(figure)]
    assert main(["show", "gramvis", *wanted]) == 0
    told = capsys.readouterr().out
    assert all(cell in told for cell in ("51 (45.9 %)", "33 (29.7 %)", "49 (55.1 %)"))
    assert "<svg" in figure.read_text("utf-8")
    assert main(["show", "gramvis", "--by", "langage"]) == 2
    assert main(["show", "gramvis", "--figure", str(figure)]) == 2


class TestAListOfOnesOwn:
    @pytest.mark.parametrize("gender", ["masculine", "feminine"])
    def test_a_dozen_words_of_one_gender_are_a_list(self, tmp_path: Path, gender: str) -> None:
        """12 words, of some of the five categories, make 12 × 3 sides × 4 templates prompts."""
        chosen = [
            word
            for word in WORDS
            if word["grammatical_gender"] == gender and word["category"] == "personal_traits"
        ][:12]
        own = registry.protocol(str(_copy_with(tmp_path, chosen)))
        assert tiltmeter.plan(own, model="planted:protocol=gramvis", samples=1).trials == 144
        table = crosstab(own)
        assert table[0][2:] == ["personal_traits", "all"]
        assert sum(int(row[-1]) for row in table[1:]) == 12

    def test_a_gender_that_nothing_expects_is_refused(self, tmp_path: Path) -> None:
        """A level of the design that a list of all levels lacks: one of the two is misspelt."""
        path = _copy_with(tmp_path, WORDS[:12])
        text = path.read_text("utf-8").replace("{ masculine = ", "{ masculin = ", 1)
        path.write_text(text, "utf-8")
        with pytest.raises(ProtocolError, match="Did you mean 'masculine'"):
            registry.protocol(str(path))


def _copy_with(folder: Path, words: list[dict[str, str]]) -> Path:
    """The protocol's file in a copy of its folder that has only these words."""
    shutil.copytree(HOME, folder / "own")
    with (folder / "own" / "words.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(words[0]))
        writer.writeheader()
        writer.writerows(words)
    return folder / "own" / "protocol.toml"


def test_a_third_control_is_two_tables_more_and_no_other_line(tmp_path: Path) -> None:
    init.write_shipped(tmp_path, "gramvis")
    assert registry.protocol(str(tmp_path / "gramvis.toml")).digest == PROTOCOL.digest
    with (tmp_path / "controls.csv").open("a", encoding="utf-8") as file:
        file.write("fi,fi,Finnish\n")
    lines = (tmp_path / "templates.csv").read_text("utf-8").splitlines(keepends=True)
    finnish = [line.replace(",en,en,", ",fi,fi,") for line in lines if ",en,en," in line]
    assert finnish
    (tmp_path / "templates.csv").write_text("".join([*lines, *finnish]), "utf-8")
    made = registry.protocol(str(tmp_path / "gramvis.toml"))
    effect = next(measure for measure in made.measures if measure.name == "own_gender")
    assert effect.contrast == {"factor": "prompt_language", "controls": "en|zh|fi"}
    assert "when asked in {controls}" in effect.sentence["tilt"]  # those that were asked, by title
    assert made.titles["side"]["fi"] == made.titles["prompt_language"]["fi"] == "Finnish"
    in_english = [cell for cell in PROTOCOL.cells if cell["side"] == "en"]
    assert len(made.cells) == len(PROTOCOL.cells) + len(in_english)


def test_controls_without_titles_are_refused(tmp_path: Path) -> None:
    init.write_shipped(tmp_path, "gramvis")
    (tmp_path / "controls.csv").write_text("side,prompt_language\nen,en\n", "utf-8")
    with pytest.raises(ProtocolError, match=r"controls: controls\.csv needs .* column 'title'"):
        registry.protocol(str(tmp_path / "gramvis.toml"))


def test_the_paper_s_question_is_asked_in_its_variant(tmp_path: Path) -> None:
    """Section 3.5 of the paper has it word for word."""
    planted = "planted:protocol=gramvis"
    run = tiltmeter.run(
        "gramvis", planted, judge=planted, variant="published", language="de", limit=1,
        samples=1, out=tmp_path / "run",
    )  # fmt: skip
    asked = {message for message in run.calls["request"] if "Male/female/neither" in message}
    assert asked and all(
        "What is the gender of the person(s) in this image? Male/female/neither" in one
        for one in asked
    )
    assert set(run.labels["attribute"]) >= {"gender", "gender_published"}
