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
        ('limit = "many"', "tiltmeter.toml: 'many' has the wrong type for the key limit"),
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
        "errors": "1",
        "skipped": "1",
    }
    failed = suite.find(".//failure/..")
    assert failed is not None and failed.get("name", "").startswith("share_she > 0.6 ")
    analyse = ["analyse", "run", "--fail-if=share_she > 0.9", "--junit", "results.xml"]
    for more, code, unsure in (([], 4, "1"), (["--allow", "not-enough"], 0, "0")):
        assert main([*analyse, *more]) == code
        assert ElementTree.parse("results.xml").getroot()[0].get("errors") == unsure
    headline = suite.findall("testcase")[-1]
    assert headline.get("classname") == "headlines" and headline[0].tag == "skipped"


KEY = "sk-planted-0123456789abcdef"


def test_a_log_says_what_was_done_and_holds_no_key(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first address holds a name, a password and a parameter, and is refused."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    lost = f"--model openai:m --base-url http://me:{KEY[:12]}@127.0.0.1:9/v1?api-key=abcdefgh"
    few = "--language en --limit 1 --samples 1 --patience 0 --out run".split()
    assert main(["--log", "a.log", "-v", "run", "roles", *lost.split(), *few]) == 2
    assert main(["--log", "a.log", "run", "roles", "--model", "planted", *few[:-1], "own"]) == 0
    text = Path("a.log").read_text("utf-8")
    shown = capsys.readouterr().err
    for secret in (KEY, KEY[:12], "abcdefgh"):
        assert secret not in text
    assert "typed: tiltmeter" in text and "http://***@127.0.0.1:9/v1?api-key=***'" in text
    assert "error: " in text and text.count("exit code 0") == 1 and "exit code 2" in shown
    assert text.count("DEBUG planted, subject ") == 2  # two orders of the options
    assert "Fill in" not in text  # a prompt
    assert Path("a.log").stat().st_mode & 0o077 == 0


def test_no_key_of_the_environment_reaches_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    from tiltmeter.cli import command_log as log

    monkeypatch.setenv("MY_SECRET", KEY)
    log.start("b.log", False, ["run", "--judge-token", "abc", f"cmd:bot --key={KEY}"], "")
    log.LOG.info("a server said %s\nand more", KEY)
    log.stop(0)
    text = Path("b.log").read_text("utf-8")
    assert KEY not in text and "abc" not in text and "a server said *** and more" in text


def test_a_log_that_cannot_be_written_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--log", "nowhere/a.log", "show", "roles"]) == 2
    assert "--log nowhere/a.log cannot be written" in capsys.readouterr().err
    if os.path.exists("/dev/full"):  # noqa: PTH110
        assert main(["--log", "/dev/full", "show", "roles"]) == 0
        assert capsys.readouterr().err.count("the log ends here") == 1
