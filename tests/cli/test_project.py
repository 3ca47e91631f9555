"""Defaults of a folder, variables of a file, and JUnit XML."""

from __future__ import annotations

import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tiltmeter.cli import main


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def defaults(text: str) -> None:
    Path("tiltmeter.toml").write_text(text, "utf-8")


def test_defaults_of_a_folder_hold_where_nothing_is_typed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    defaults('model = "planted:she=0.7"\nlanguage = "en"\nlimit = 4\nsamples = 2\n')
    assert main(["-v", "plan", "roles"]) == 0
    shown = capsys.readouterr()
    assert "roles 1: 16 trials" in shown.out and "tiltmeter.toml: models" in shown.err
    assert main(["plan", "roles", "--samples", "3"]) == 0
    assert "roles 1: 24 trials" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("modell = 3", "tiltmeter.toml: No key 'modell'. Did you mean 'model'"),
        ('base_url = "http://evil"', "No key 'base_url'"),
        ('model = "cmd:rm -r x"', "which executes code. Name it on the command line"),
        ('judge = ["python:bot.py:answer"]', "which executes code"),
        ('limit = "many"', "tiltmeter.toml, limit: 'many' is no value for it"),
        ("limit = ", "cannot be read as TOML"),
    ],
)
def test_what_it_may_not_say_is_refused(
    text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    defaults(text)
    assert main(["plan", "roles", "--model", "planted"]) == 2
    assert said in capsys.readouterr().err


def test_variables_of_a_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILTMETER_SET", "before")
    monkeypatch.setenv("TILTMETER_NEW", "")
    monkeypatch.delenv("TILTMETER_NEW")
    Path(".env").write_text("# keys\nexport TILTMETER_NEW='a b'\nTILTMETER_SET=after\n", "utf-8")
    assert main(["--env-file", ".env", "show", "roles"]) == 0
    assert (os.environ.pop("TILTMETER_NEW"), os.environ["TILTMETER_SET"]) == ("a b", "before")
    Path(".env").write_text("a line\n", "utf-8")
    assert main(["--env-file", ".env", "show", "roles"]) == 2
    assert ".env, line 1: write NAME=VALUE" in capsys.readouterr().err


def test_junit_has_a_case_for_each_threshold_and_headline() -> None:
    arguments = "run roles --model planted:she=0.9 --language en --limit 12 --out run".split()
    bounds = [f"--fail-if=share_she > {bound}" for bound in ("0.6", "0.98", "0.9")]
    assert main([*arguments, *bounds, "--junit", "results.xml"]) == 3
    suite = ElementTree.parse("results.xml").getroot()[0]
    assert suite.attrib == {
        "name": "tiltmeter roles",
        "tests": "4",
        "failures": "1",
        "skipped": "1",
    }
    failed = suite.find(".//failure/..")
    assert failed is not None and failed.get("name", "").startswith("share_she > 0.6 ")
    headline = suite.findall("testcase")[-1]
    assert headline.get("classname") == "headlines" and "she" in str(headline[0].text)
