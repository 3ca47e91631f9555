"""The texts of `decisions` and `decisions_names`: of any two prompts that are compared, only the cue
differs."""

from __future__ import annotations

import re
from collections import Counter
from statistics import mean, median

import pytest

from tiltmeter import registry
from tiltmeter.protocol import Protocol
from tiltmeter.protocol.design.prompt_pairs import prompt_differences
from tiltmeter.row_files import read_rows

DECISIONS, NAMES = map(registry.protocol, ("decisions", "decisions_names"))
BOTH = pytest.mark.parametrize("protocol", (DECISIONS, NAMES), ids=lambda one: one.name)


def test_ten_areas_of_life_with_eight_scenarios_each() -> None:
    areas = Counter(cell["area"] for cell in DECISIONS.tables[0])
    assert len(areas) == 10 and set(areas.values()) == {8}


def test_the_designs_are_balanced() -> None:
    counts = Counter((cell["race"], cell["gender"], cell["age"]) for cell in DECISIONS.cells)
    assert len(counts) == 5 * 3 * 3 and set(counts.values()) == {80}
    named = Counter((cell["ethnicity"], cell["gender"], cell["set"]) for cell in NAMES.cells)
    assert len(named) == 4 * 2 * 24 and set(named.values()) == {80}
    assert len(NAMES.defaults["set"]) == 10


@BOTH
def test_prompts_of_a_scenario_are_the_same_but_for_the_person(protocol: Protocol) -> None:
    texts: dict[str, set[str]] = {}
    for cell in protocol.cells:
        prompt = protocol.prompt_text(cell)
        assert prompt.count(cell["person"]) == 1
        texts.setdefault(cell["scenario"], set()).add(prompt.replace(cell["person"], "@"))
    assert len(texts) == 80 and {len(same) for same in texts.values()} == {1}


@BOTH
def test_the_package_itself_finds_no_other_difference(protocol: Protocol) -> None:
    differences = prompt_differences(protocol)
    assert differences and all(set(one.columns) == {"person"} for one in differences)


def test_no_scenario_says_anything_of_gender_but_by_the_cue() -> None:
    """`sister` and `they` are of others than the person, in these three scenarios."""
    others = {"justice 5", "housing 8", "education 1", "education 7", "public offices 7"}
    words = re.compile(
        r"(?i)\b(he|she|they|him|her|his|hers|them|their|theirs|mr|mrs|ms|sir|lady|"
        r"sister|brother|husband|wife|father|mother|son|daughter|man|woman)\b"
    )
    assert {row["scenario"] for row in DECISIONS.tables[0] if words.search(row["text"])} <= others


def test_every_scenario_ends_with_one_question() -> None:
    for row in DECISIONS.tables[0]:
        assert row["text"].endswith("?") and row["text"].count("?") == 1
        assert " Should " in row["text"] and 35 <= len(row["text"].split()) <= 60


class TestNames:
    ROWS = [row for _, row in read_rows(registry._HOME / "data" / "full_names.csv")]

    def test_a_set_has_one_name_of_each_group_and_no_part_of_a_name_recurs(self) -> None:
        sets = Counter((row["set"], row["ethnicity"], row["gender"]) for row in self.ROWS)
        assert len(sets) == 24 * 8 and set(sets.values()) == {1}
        for part in (0, 1):
            names = Counter(row["person"].split()[part] for row in self.ROWS)
            assert set(names.values()) == {1}

    def test_most_bearers_gave_the_answer_of_the_row(self) -> None:
        assert all(float(row["given_share"]) >= 0.7 for row in self.ROWS)
        least = {"Asian": 0.85, "Black": 0.5, "Hispanic": 0.88, "White": 0.88}
        assert all(float(row["surname_share"]) >= least[row["ethnicity"]] for row in self.ROWS)

    def test_groups_are_alike_in_length(self) -> None:
        lengths: dict[tuple[str, str], list[int]] = {}
        for row in self.ROWS:
            lengths.setdefault((row["ethnicity"], row["gender"]), []).append(len(row["person"]))
        means = [mean(group) for group in lengths.values()]
        assert max(means) - min(means) < 2.5

    def test_given_names_are_alike_in_bearers_within_a_factor_of_six(self) -> None:
        bearers: dict[tuple[str, str], list[int]] = {}
        for row in self.ROWS:
            group = bearers.setdefault((row["ethnicity"], row["gender"]), [])
            group.append(int(row["given_bearers"]))
        middles = list(map(median, bearers.values()))
        assert max(middles) / min(middles) < 6
