"""The headline part alone, and short names that somebody gave."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tiltmeter
from tiltmeter.cli import main
from tiltmeter.report.render import html


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    models = [f"planted:she=0.{n},seed={n}" for n in (3, 5, 7)]
    out = tmp_path_factory.mktemp("brief") / "run"
    return tiltmeter.run("roles", models, out, language="en", limit=10, samples=4).folder


def report(*arguments: str) -> str:
    target = Path(arguments[0]) / "told.html"
    assert main(["report", *arguments, "--out", str(target)]) == 0
    return target.read_text("utf-8")


def test_a_brief_report_holds_the_headline_part_alone(run: Path) -> None:
    page = report(str(run), "--brief")
    assert page.count("<h1") == 1 and 'class="badges"' in page and "protocol:roles/1" in page
    assert "Raw answers" not in page and "How to reproduce" not in page
    ids = set(re.findall(r'id="([^"]+)"', page))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= ids


def test_short_names_stand_in_place_of_models(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = report(str(run), "--label", "Small=planted:she=0.3,seed=3")
    assert "<b>Small</b> = <bdi>planted:she=0.3,seed=3</bdi>" in page
    assert re.search(r'<span class="symbol"[^>]*>.</span> <bdi>Small</bdi>', page)
    assert main(["report", str(run), "--label", "A=planted:she=0.4"]) != 0
    assert "No model 'planted:she=0.4'" in capsys.readouterr().err
    assert main(["report", str(run), "--label", "A"]) != 0
    assert "is not NAME=MODEL" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("sentence", "numbers"),
    [
        ("GPT-3.5 ranks Asian women first 2 points more often.", ["2 points"]),
        ("Shares: 1.39 [1.22, 1.59] (95 % interval; 1.00 is no tilt).", ["1.39 [1.22, 1.59]"]),
        ("Blue: 88 % [53, 98] against 13 % [2, 47].", ["88 % [53, 98]", "13 % [2, 47]"]),
        ("By pronouns/4+planted:he=0.95 and x:0.5b: 26 % [10, 52].", ["26 % [10, 52]"]),
        ("Less by −14 points; adjusted p = .026 (Holm, 3 claims).", ["−14 points"]),
    ],
)
def test_the_numbers_of_a_sentence_are_links(sentence: str, numbers: list[str]) -> None:
    assert html._NUMBER.findall(sentence) == numbers
