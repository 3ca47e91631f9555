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
# PROTOCOLS.md 1: "Table 3 prints IT FLUX F as .11 where the data give .1046; stars of three cells".
EXCEPTIONS = {
    ("3", "it", "flux", "feminine", "own_female", "0.11"),
    ("3", "de", "dalle3", "masculine", "stars", "**"),
    ("3", "it", "flux", "feminine", "stars", "*"),
    ("13", "it", "flux", "feminine", "stars", "*"),
    ("13", "it", "dalle3", "feminine", "stars", "*"),
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
def run(tmp_path_factory: pytest.TempPathFactory) -> tiltmeter.Run:
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


def test_tables_3_13_and_15_to_19(published: Found) -> None:
    wrong, held = set(), 0
    for row in (row for row in printed("gramvis_printed.csv") if row["table"] != "14"):
        table, code, subject, gender = (
            row[name] for name in ("table", "language", "subject", "gender")
        )
        here = {"language": code, "grammatical_gender": gender}
        if table in CATEGORIES:
            here["category"] = CATEGORIES[table]
        for side, language in (("en", "en"), ("zh", "zh"), ("own", code)):
            for sex in ("male", "female"):
                text = row[f"{side}_{sex}"]
                held += 1
                if table in CATEGORIES:
                    male = published.value(
                        "representation_by_category", subject, prompt_language=language, **here
                    )
                    value = male if sex == "male" else 1 - male
                else:
                    name = "representation" if table == "3" else "representation_with_neither"
                    value = published.value(
                        name, subject, prompt_language=language, gender=sex, **here
                    )
                if differs(value, text, 0.005):
                    wrong.add((table, code, subject, gender, f"{side}_{sex}", text.rstrip("*")))
        effect = published.row(
            "effect_with_neither" if table == "13" else "effect", subject, "en", **here
        )
        text = row[f"own_{SEX[gender]}"]
        said, most = text[len(text.rstrip("*")) :], 2 if table in CATEGORIES else 3
        assert effect.value is not None
        if said != (stars(effect.p, most) if effect.value > 0 else ""):
            wrong.add((table, code, subject, gender, "stars", said))
    assert wrong == EXCEPTIONS and held == 648


def test_table_14(published: Found) -> None:
    rows = [row for row in printed("gramvis_printed.csv") if row["table"] == "14"]
    assert len(rows) == 18
    for row in rows:
        for control in ("en", "zh"):
            effect = 100 * published.value(
                "effect",
                row["subject"],
                control,
                language=row["language"],
                grammatical_gender=row["gender"],
            )
            male = effect if row["gender"] == "masculine" else -effect
            assert not differs(male, row[f"{control}_male"], 0.05) and not differs(
                -male, row[f"{control}_female"], 0.05
            ), row


def test_table_11(published: Found) -> None:
    rows = list(printed("gramvis_printed_effects.csv"))
    assert len(rows) == 18
    for row in rows:
        here = {"language": row["language"], "grammatical_gender": row["gender"]}
        share = published.value(
            "representation",
            row["subject"],
            prompt_language=row["language"],
            gender=SEX[row["gender"]],
            **here,
        )
        assert not differs(share, row["representation"], 0.005), row
        for control in ("en", "zh"):
            effect, text, p = (
                published.row("effect", row["subject"], control, **here),
                row[f"{control}_effect"],
                row[f"{control}_p"],
            )
            assert effect.value is not None and effect.p is not None and effect.test == "paired t"
            assert (
                not differs(effect.value, text, 0.005)
                and stars(effect.p) == text[len(text.rstrip("*")) :]
            ), row
            assert effect.p < 0.001 if p == "<.001" else not differs(effect.p, p, 0.0005), row


@pytest.mark.parametrize(
    ("code", "english", "chinese", "gendered", "over_en", "over_zh"),
    [
        ("de", 0.5, 2.0, 3.1, 2.6, 1.1),
        ("it", 0.2, 2.2, 8.9, 8.7, 6.7),
        ("fr", 0.9, 2.1, 5.3, 4.4, 3.2),
    ],
)
def test_table_12(
    published: Found,
    code: str,
    english: float,
    chinese: float,
    gendered: float,
    over_en: float,
    over_zh: float,
) -> None:
    en, zh, own = (
        100 * published.value("neither_mean", language=code, side=side)
        for side in ("en", "zh", "gendered")
    )
    assert (round(en, 1), round(zh, 1), round(own, 1)) == (english, chinese, gendered)
    assert (round(own - en, 1), round(own - zh, 1)) == (over_en, over_zh)


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
    """The numbers of docs/gramvis.md. Means and t of 67 words computed beside with numpy and scipy.stats."""

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
    """INFERENCE: Holm over 9 claims, the one overall, and one for each gender; dalle3 in German: English masculine +.42,
    feminine −.28, p = .18.
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
    assert "masculine, en +.42" in caution and "feminine, en −.28" in caution
