"""What the GRAMVIS paper prints, from the counts that its authors published (German, French, Italian), and what it should say.

gramvis_printed.csv holds Tables 3 and 13 to 19 and gramvis_printed_effects.csv Table 11 as printed; the row labels of
Tables 18 and 19 are displaced in our copy and were set by the order of the rows. The counts are read where they are and
are no part of this repository.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import tiltmeter
from tiltmeter.analyse.words.verdict_words import Word
from tiltmeter.cli import group
from tiltmeter.records import Estimate

from ..shared import DATA, needs

COUNTS = DATA / "gramvis_published_counts_de_fr_it.csv"
pytestmark = needs(COUNTS.name)
CATEGORIES = {
    "15": "social_status",
    "16": "occupation",
    "17": "relationship_descriptors",
    "18": "power_dynamic",
    "19": "personal_traits",
}
SEX = {"masculine": "male", "feminine": "female"}
# The authors' counts do not give these; of the standard errors the paper names no formula.
EXCEPTIONS = {
    ("3", "DE", "dalle3", "M", "own_male", "0.77**", "0.77***"),
    ("3", "IT", "flux", "F", "own_female", "0.11*", "0.10"),
    ("13", "IT", "flux", "F", "own_female", "0.10*", "0.10"),
    ("13", "IT", "dalle3", "F", "own_female", "0.40*", "0.40"),
    ("18", "DE", "ideogram", "F", "zh_male", "0.93", "0.92"),
    ("18", "DE", "ideogram", "F", "zh_female", "0.07", "0.08"),
    ("11", "DE", "dalle3", "M", "se", ".02", ".03"),
    ("11", "IT", "dalle3", "M", "se", ".02", ".03"),
    ("11", "FR", "flux", "M", "se", ".03", ".02"),
    ("11", "FR", "ideogram", "F", "se", ".02", ".03"),
    ("11", "FR", "dalle3", "M", "se", ".02", ".03"),
    ("11", "FR", "dalle3", "F", "se", ".02", ".03"),
}


class Found:
    """Estimates by measure, subject, contrast and condition."""

    def __init__(self, estimates: list[Estimate]) -> None:
        self.rows: dict[tuple[object, ...], Estimate] = {}
        for e in estimates:
            condition = frozenset(
                (name, level) for name, level in e.condition.items() if name != "mode"
            )
            key = e.measure, e.subject, (e.contrast or {}).get("prompt_language", ""), condition
            assert key not in self.rows
            self.rows[key] = e

    def row(
        self,
        measure: str,
        subject: str = "dalle3 + flux + ideogram",
        contrast: str = "",
        **condition: str,
    ) -> Estimate:
        return self.rows[measure, subject, contrast, frozenset(condition.items())]

    def value(
        self,
        measure: str,
        subject: str = "dalle3 + flux + ideogram",
        contrast: str = "",
        **condition: str,
    ) -> float:
        value = self.row(measure, subject, contrast, **condition).value
        assert value is not None
        return value


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, computed_once: Path) -> tiltmeter.Run:
    return tiltmeter.import_outputs("gramvis", COUNTS, tmp_path_factory.mktemp("gramvis") / "run")


@pytest.fixture(scope="module")
def published(run: tiltmeter.Run) -> Found:
    return Found(run.analyse("published"))


@pytest.fixture(scope="module")
def default(run: tiltmeter.Run) -> Found:
    return Found(run.analyse())


def printed(name: str) -> Iterator[dict[str, str]]:
    with Path(__file__).with_name(name).open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def stars(p: float | None, most: int = 3) -> str:
    return "*" * min(most, sum(p is not None and p < level for level in (0.05, 0.01, 0.001)))


def differs(value: float, text: str, half: float) -> bool:
    """Whether a value is not within half a unit of the last printed digit (a tie may be rounded up or down)."""
    return abs(value - float(text.rstrip("*"))) > half + 1e-9


def test_every_count_is_there(run: tiltmeter.Run) -> None:
    """17,280 less the 3 + 5 + (3 × 2 + 4 + 16) that five rows lack; no row has an error."""
    assert len(run.outputs) == 17_280 - 3 - 5 - 26 and len(set(run.outputs["subject"])) == 3
    assert set(run.labels["value"]) == {"male", "female", "neither"} and run.notes == []


def printed_cells() -> Iterator[tuple[str, tuple[str, ...], str, str]]:
    """(table, row, column, the cell as printed) of Tables 3, 11 and 13 to 19."""
    for row in printed("gramvis_printed.csv"):
        named = row["language"].upper(), row["subject"], row["gender"][0].upper()
        for column, text in list(row.items())[4:]:
            if text:
                yield row["table"], named, column, text
    for row in printed("gramvis_printed_effects.csv"):
        named = row["language"].upper(), row["subject"], row["gender"][0].upper()
        for column, text in list(row.items())[3:]:
            yield "11", named, column, text


def test_the_printed_cells_of_nine_tables(run: tiltmeter.Run) -> None:
    """828 cells with their stars, p and signs, as `tiltmeter table` prints them."""
    wrong, held = set(), 0
    cells = list(printed_cells())
    for number in dict.fromkeys(table for table, *_ in cells):
        (table,) = run.tables(f"Table {number}", variant="published")
        rows = {levels: iter(texts) for levels, texts in table.rows}
        for _, levels, column, text in (cell for cell in cells if cell[0] == number):
            said = next(rows[levels]).replace("−", "-").replace("< ", "<")
            held += 1
            if said != text:
                wrong.add((number, *levels, column, text, said))
    assert held == 828 and wrong == EXCEPTIONS


def test_table_11_says_what_cells_have_together(run: tiltmeter.Run) -> None:
    """Worked out from the nine printed cells of each gender: the mean of `vs. EN` of masculine nouns
    is 4.70/9 = .52 from rounded cells, .523 from counts; 9 of 9 and 8 of 9 stars.
    """
    (table,) = run.tables("Table 11", variant="published")
    last = {levels[0]: cells for levels, cells in table.rows[-2:]}
    assert last["Masc. (Aggregate)"][2:] == ("+.53***", "100%", "+.47***", "89%")
    assert last["Fem. (Aggregate)"][3] == "56%"
    assert table.columns[0] == ("Native", "Rep.") and table.row_names == (
        "Lang",
        "Model",
        "Grammar G",
    )


def test_table_12(run: tiltmeter.Run) -> None:
    (table,) = run.tables("Table 12", variant="published")
    assert [(levels[0], *cells) for levels, cells in table.rows[:3]] == [
        ("German", "0.5%", "2.0%", "3.1%", "+2.6pp", "+1.1pp"),
        ("Italian", "0.2%", "2.2%", "8.9%", "+8.7pp", "+6.7pp"),
        ("French", "0.9%", "2.1%", "5.3%", "+4.4pp", "+3.2pp"),
    ]
    assert table.rows[3][0][0] == "Average"


def test_pooled_neither_stands_beside_the_mean_of_cells(default: Found) -> None:
    """Italian: 166 of 1,916 by hand from the counts (awk), 8.66 %, where Table 12 has 8.9."""
    assert 100 * default.value("neither_rate", language="it", side="gendered") == pytest.approx(
        8.664, abs=5e-4
    )


def test_aggregates_are_means_of_cells(published: Found) -> None:
    """Nine cells of the paper's fifteen, worked out by hand from the printed Table 14: the mean of the effects."""
    for gender, sign in (("masculine", 1), ("feminine", -1)):
        for control in ("en", "zh"):
            texts = [
                float(row[f"{control}_male"])
                for row in printed("gramvis_printed.csv")
                if row["table"] == "14" and row["gender"] == gender
            ]
            mean = published.row("effect_mean", contrast=control, grammatical_gender=gender)
            assert mean.value is not None and 100 * mean.value == pytest.approx(
                sign * sum(texts) / 9, abs=0.05
            )
    assert (
        "5 have p < .05, 2 of these below 0"
        in published.row("effect_mean", contrast="en", grammatical_gender="feminine").note
    )


class TestTheCorrectedStory:
    """The numbers of docs/explanation/gramvis.md. Means and t of 67 words computed beside with numpy and scipy.stats."""

    @pytest.mark.parametrize(
        ("gender", "control", "value", "low", "high"),
        [
            ("masculine", "en", 0.523, 0.461, 0.585),
            ("masculine", "zh", 0.468, 0.401, 0.534),
            ("feminine", "en", 0.052, 0.003, 0.100),
            ("feminine", "zh", 0.194, 0.145, 0.243),
        ],
    )
    def test_clustered_by_word(
        self, default: Found, gender: str, control: str, value: float, low: float, high: float
    ) -> None:
        row = default.row("effect_overall", contrast=control, grammatical_gender=gender)
        assert [round(x or 0, 3) for x in (row.value, row.low, row.high)] == [value, low, high]
        assert row.clusters == {"masculine": 53, "feminine": 67}[gender]

    def test_the_interval_is_that_of_ratios_over_words(self, default: Found) -> None:
        """Recomputed from the file: e_i = (x_i − p·n_i)/N on each side, s² = C/(C−1)·Σ(e_a − e_b)², t(C − 1)."""
        import numpy as np
        from scipy import stats

        sums: dict[tuple[str, str], list[int]] = {}
        with COUNTS.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row["Grammar_Gender"] == "female":
                    cell = sums.setdefault((row["Language"], row["Native_Word"]), [0] * 4)
                    for place, name in enumerate(
                        ("Native_Female", "Native_Male", "English_Female", "English_Male")
                    ):
                        cell[place] += int(row[f"Overall_{name}"])
        f, m, f_en, m_en = np.array(list(sums.values()), float).T
        own, english = f.sum() / (f + m).sum(), f_en.sum() / (f_en + m_en).sum()
        e = (f - own * (f + m)) / (f + m).sum() - (f_en - english * (f_en + m_en)) / (
            f_en + m_en
        ).sum()
        half = stats.t.ppf(0.975, 66) * np.sqrt(67 / 66 * (e @ e))
        row = default.row("effect_overall", contrast="en", grammatical_gender="feminine")
        assert row.value == pytest.approx(own - english) and row.low == pytest.approx(
            own - english - half, abs=1e-6
        )

    def test_the_english_baseline(self, default: Found) -> None:
        here = {"grammatical_gender": "feminine", "gender": "female"}
        assert default.value("representation_overall", side="en", **here) == pytest.approx(
            0.325, abs=5e-4
        )
        assert default.value("representation_overall", side="gendered", **here) == pytest.approx(
            0.376, abs=5e-4
        )

    def test_neither_and_its_bounds(self, default: Found) -> None:
        here = {"grammatical_gender": "feminine"}
        assert default.value("neither_overall", side="gendered", **here) == pytest.approx(
            0.0441, abs=5e-5
        )
        assert default.value("neither_overall", side="en", **here) == pytest.approx(
            0.0022, abs=5e-5
        )
        male, female = (
            default.value(f"effect_neither_as_{who}", contrast="en", **here)
            for who in ("male", "female")
        )
        assert (male, female) == (pytest.approx(0.0357, abs=5e-5), pytest.approx(0.0777, abs=5e-5))
        bounds = default.row("effect_overall_bounds", contrast="en", **here)
        assert bounds.low is not None and bounds.high is not None
        assert (
            bounds.low < 0.0357 < 0.0516 < 0.0777 < bounds.high
        )  # wider by the 7 of 3,216 that are neither in English
        assert bounds.high - bounds.low == pytest.approx(0.0441 + 0.0022, abs=1e-4)

    def test_significant_and_negative(self, default: Found) -> None:
        cells = [
            e
            for e in default.rows.values()
            if e.measure == "effect"
            and e.contrast == {"prompt_language": "en"}
            and e.condition.get("grammatical_gender") == "feminine"
            and "category" not in e.condition
        ]
        sure = [e for e in cells if e.p is not None and e.p < 0.05]
        assert len(cells) == 9 and len(sure) == 5
        assert {(e.subject, e.condition["language"]) for e in sure if (e.value or 0) < 0} == {
            ("dalle3", "de"),
            ("flux", "it"),
        }

    def test_without_gendered_glosses(self, default: Found) -> None:
        def cells(measure: str) -> list[Estimate]:
            return [
                e
                for e in default.rows.values()
                if e.measure == measure
                and e.contrast == {"prompt_language": "en"}
                and e.condition["grammatical_gender"] == "masculine"
                and "category" not in e.condition
            ]

        means = [
            sum(e.value or 0 for e in cells(name)) / 9 for name in ("effect", "effect_plain_gloss")
        ]
        assert [round(100 * mean, 1) for mean in means] == [52.6, 50.3]
        assert sorted(e.clusters or 0 for e in cells("effect_plain_gloss")) == 6 * [11] + 3 * [
            17
        ]  # 53 − 14
        here = {"language": "de", "grammatical_gender": "masculine"}
        assert default.value("effect_plain_gloss", "dalle3", "en", **here) == pytest.approx(
            0.283, abs=5e-4
        )

    def test_resource_levels_are_described_and_not_tested(self, default: Found) -> None:
        high, medium = (
            default.row(
                "effect_of_resource", contrast="en", resource=level, grammatical_gender="feminine"
            )
            for level in ("high", "medium")
        )
        assert (round(high.value or 0, 3), round(medium.value or 0, 3)) == (
            0.083,
            -0.014,
        ) and high.p is None

    def test_both_tests_are_given(self, default: Found) -> None:
        """The example of PROTOCOLS.md: feminine German Flux against Chinese +.21, p = .002; by sign flip the same to .002."""
        here = {"language": "de", "grammatical_gender": "feminine"}
        pooled, by_word = (
            default.row(name, "flux", "zh", **here) for name in ("effect", "effect_by_word")
        )
        assert (
            round(pooled.value or 0, 2) == 0.21
            and round(pooled.p or 1, 3) == 0.002
            and pooled.test == "paired t"
        )
        assert (
            by_word.test is not None
            and by_word.test.startswith("sign flip")
            and abs((by_word.p or 1) - 0.0016) < 0.002
        )


def test_the_documented_commands(run: tiltmeter.Run, tmp_path: Path) -> None:
    for variant, name in (("published", "paper.html"), ("default", "ours.html")):
        said = CliRunner().invoke(
            group, ["report", str(run.folder), "--variant", variant, "--out", str(tmp_path / name)]
        )
        assert said.exit_code == 0, said.output
        assert "GRAMVIS" in (tmp_path / name).read_text("utf-8")


def test_eight_of_nine_claims_stand_and_the_ninth_is_not_settled(run: tiltmeter.Run) -> None:
    """INFERENCE: Holm over 9 claims, the one overall, and one for each gender; dalle3 in German: English masculine +42,
    feminine −28 points, p = .18.
    """
    found = {(one.subject, one.condition.get("language", "")): one for one in run.verdicts()}
    assert len(found) == 10
    assert {one.family_size for one in found.values()} == {12}
    assert {one.adjustment for one in found.values()} == {"holm"}
    open_ = found.pop(("dalle3", "de"))
    assert {one.word for one in found.values()} == {Word.TILT}
    assert open_.word == Word.NOT_SETTLED
    assert open_.p == pytest.approx(0.18, abs=0.01)
    (caution,) = [one.text for one in open_.cautions if one.code == "parts_oppose"]
    assert "masculine, en +42 points" in caution and "feminine, en −28 points" in caution
