"""Thresholds: their form, and what rows of known intervals say of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from statsmodels.stats.multitest import multipletests

from tiltmeter import api, registry
from tiltmeter.analyse.claims.thresholds import code, judge
from tiltmeter.analyse.claims.verdicts import verdicts
from tiltmeter.api.start import init
from tiltmeter.cli import main
from tiltmeter.errors import UnknownName, UsageError
from tiltmeter.protocol import thresholds
from tiltmeter.protocol.thresholds import Threshold, parse
from tiltmeter.records import Estimate

ROLES = registry.protocol("roles")
ROW = Estimate(
    "roles",
    "m",
    "choice/1",
    "effect",
    {"mode": "sampled", "language": "en"},
    {"order": "b − a"},
    0.2,
    "share",
    0.12,
    0.28,
    0.95,
    "t",
    clusters=31,
)


def words(text: str, *rows: Estimate) -> list[str]:
    return [one.word for one in judge(parse(text), rows)]


def test_the_form() -> None:
    found = parse("| effect@language=en, class=personality quality | >= .1")
    condition = (("language", "en"), ("class", "personality quality"))
    assert found == Threshold(
        "| effect@language=en, class=personality quality | >= .1",
        "effect",
        condition,
        ">=",
        0.1,
        "distance",
    )
    assert parse("signed(effect@language=en) > .1").sides == "one"
    assert parse("effect<-1e-2").number == -0.01


@pytest.mark.parametrize(
    "text",
    [
        "effect",
        "effect > much",
        "> 0.1",
        "|effect > 1",
        "effect@language > 1",
        "effect == 1",
        "effect > 0.1 or 2",
        "effect@=en > 1",
        "effect@language= > 1",
    ],
)
def test_what_is_no_threshold_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="Type for instance"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("effect > 0.1", "shown"),
        ("effect > 0.2", "inconclusive"),
        ("effect > 0.3", "cleared"),
        ("effect < 0.3", "shown"),
        ("effect < 0.1", "cleared"),
        ("effect >= 0.12", "shown"),
        ("effect > 0.12", "inconclusive"),
        ("|effect| > 0.1", "shown"),
        ("|effect| < 0.1", "cleared"),
    ],
)
def test_an_interval_shows_clears_or_leaves_open(text: str, word: str) -> None:
    assert words(text, ROW) == [word]


def test_either_direction_counts_between_bars() -> None:
    below = replace(ROW, value=-0.2, low=-0.28, high=-0.12)
    around = replace(ROW, value=0.01, low=-0.04, high=0.06)
    assert words("effect > 0.1", below) == ["cleared"]
    assert words("|effect| > 0.1", below) == ["shown"]
    assert words("|effect| > 0.1", around) == ["cleared"]
    assert words("|effect| > 0.05", around) == ["inconclusive"]


def test_what_was_not_measured_and_what_is_not_there_are_inconclusive() -> None:
    nothing = replace(ROW, value=None, low=None, high=None, note="no outcomes")
    (one,) = judge(parse("effect > 0.1"), [nothing])
    assert one.word == "inconclusive"
    assert "not measured (no outcomes)" in one.sentence
    assert code(judge(parse("other > 0.1"), [ROW])) == 4


def test_the_corrected_row_counts_where_there_is_one() -> None:
    fixed = replace(
        ROW, measure="effect_corrected", value=0.02, low=-0.05, high=0.09, correction="ppi++"
    )
    assert words("effect > 0.1", ROW, fixed) == ["cleared"]
    refused = replace(fixed, value=None, low=None, high=None, correction="none")
    assert words("effect > 0.1", ROW, refused) == ["shown"]


def test_several_rows_are_held_to_more() -> None:
    """Ten rows: t(30) at 1 - .05/20 is 3.0298 in place of 2.0423, so [.12, .28] becomes .2 ± .1187 (tables of t)."""
    rows = [replace(ROW, condition={**ROW.condition, "class": str(n)}) for n in range(10)]
    found = judge(parse("effect > 0.1"), rows)
    assert found[0].low == pytest.approx(0.2 - 0.08 * 3.0298 / 2.0423, abs=1e-4)
    assert {one.word for one in found} == {"inconclusive"}
    assert words("effect@class=3 > 0.1", *rows) == ["shown"]


def test_the_whole_counts_unless_a_group_is_named() -> None:
    group = replace(
        ROW, condition={**ROW.condition, "class": "communal"}, value=0.5, low=0.4, high=0.6
    )
    assert words("effect > 0.35", ROW, group) == ["cleared"]
    assert words("effect@class=communal > 0.35", ROW, group) == ["shown"]
    assert words("effect > 0.35", group) == ["shown"]  # a measure that is not taken over the whole


def test_a_divergence_needs_its_test() -> None:
    row = replace(
        ROW,
        contrast=None,
        unit="share of 1 bit",
        low=None,
        high=None,
        confidence=None,
        p=0.001,
        p_adjusted=0.01,
    )
    assert words("effect > 0.1", row) == ["shown"]
    assert words("effect > 0.1", replace(row, p_adjusted=0.2)) == ["inconclusive"]
    assert words("effect > 0.3", row) == ["inconclusive"]  # no interval: never cleared


def test_codes() -> None:
    rows = {
        word: replace(judge(parse("effect > 0.1"), [ROW])[0], word=word)
        for word in ("shown", "inconclusive", "cleared")
    }
    assert code([rows["cleared"], rows["inconclusive"], rows["shown"]]) == 3
    assert code([rows["cleared"], rows["inconclusive"]]) == 4
    assert code([rows["cleared"]]) == 0


def test_names_are_checked_against_the_protocol() -> None:
    for text, near in (
        ("shar_she > 0.1", "share_she"),
        ("share_she@classs=communal > 0", "class"),
        ("share_she@class=comunal > 0", "communal"),
    ):
        with pytest.raises(UnknownName, match=f"Did you mean '{near}'"):
            thresholds.check(parse(text), ROLES)


def test_exit_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = str(tmp_path / "run")
    asked = [
        "run",
        "roles",
        "--model",
        "planted:she=0.9",
        "--language",
        "en",
        "--limit",
        "12",
        "--samples",
        "4",
        "--out",
        run,
    ]
    assert main([*asked, "--fail-if", "share_she > 0.6"]) == 3
    assert "holds for planted:she=0.9" in capsys.readouterr().err
    assert main(["analyse", run, "--fail-if", "share_she < 0.6"]) == 0
    assert main(["analyse", run, "--fail-if", "share_she > 0.9", "--json"]) == 4
    assert (
        main(["report", run, "--fail-if", "share_she < 0.6", "--fail-if", "share_she > 0.6"]) == 3
    )
    assert main(["analyse", run, "--fail-if", "share_it > 0.6"]) == 2
    assert main([*asked[:-1], str(tmp_path / "never"), "--fail-if", "nonsense"]) == 2
    assert not (tmp_path / "never").exists()  # refused before anything is asked
    assert api.open_run(run).protocol.name == "roles"


def test_a_file_declares_its_thresholds_and_what_is_adjusted_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Benjamini–Hochberg over both measures, as statsmodels has it; a bound that the planted gap of -.5 is beyond: exit 3."""
    monkeypatch.chdir(tmp_path)
    init.write(Path("audit.toml"))
    text = Path("audit.toml").read_text(encoding="utf-8")
    text = text.replace('name = "gap"', 'name = "gap"\nfamily = "all"')
    text = text.replace('name = "accepted"', 'name = "accepted"\nfamily = "all"\nnull = 0.5')
    text = text.replace("# thresholds =", "thresholds =")
    Path("audit.toml").write_text(text, encoding="utf-8")
    model = "planted:protocol=audit.toml,accepted.women=0.25,accepted.men=0.75"
    assert main(["run", "audit.toml", "--model", model, "--out", "run"]) == 3
    rows = [
        row for row in api.open_run("run").estimates.iter_rows(named=True) if row["p"] is not None
    ]
    assert {row["measure"] for row in rows} == {"gap", "accepted"}
    for family, method in (("headline claims: all", "holm"), ("all", "fdr_bh")):
        own = [row for row in rows if row["family"] == family]
        adjusted = multipletests([row["p"] for row in own], method=method)[1]
        assert [row["p_adjusted"] for row in own] == pytest.approx(list(adjusted))
        assert {row["family_size"] for row in own} == {len(own)}


def test_no_bound_off_the_null_is_shown_where_the_verdict_is_no_tilt() -> None:
    """Nine claims: raw p = .02, adjusted .18, though the interval lies above one half."""
    row = Estimate(
        *("roles", "m", "choice/2@x", "share_she", {"mode": "sampled", "language": "en"}, None),
        *(0.57, "share", 0.51, 0.63, 0.95),
        **{"test": "sign flip", "p": 0.02, "p_adjusted": 0.18, "family_size": 9},
        **{"adjustment": "holm", "family": "headline claims", "clusters": 98, "n": 900.0},
    )
    claims = verdicts(ROLES, [row])
    assert [one.word for one in claims] == ["undecided"]
    for text, word in (
        ("share_she > 0.5", "inconclusive"),
        ("share_she < 0.7", "shown"),
        ("share_she > 0.7", "cleared"),
    ):
        (found,) = judge(parse(text), [row], claims)
        assert found.word == word
    tilted = replace(row, p_adjusted=0.04)
    (found,) = judge(parse("share_she > 0.5"), [tilted], verdicts(ROLES, [tilted]))
    assert found.word == "shown"
