"""Short names of models, in every verb that prints a model's name."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import tiltmeter
from tiltmeter.cli import group
from tiltmeter.explore.selection.index import open_indices

ONE, TWO = "planted:she=0.7", "planted:she=0.4"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("labels") / "run"
    tiltmeter.run("roles", [ONE, TWO], folder, language="en", limit=9, samples=1)
    return folder


@pytest.mark.parametrize(
    "verb",
    ["analyse", "analyse --full", "compare", "table share_she", "quote pronoun --by model"],
)
def test_a_model_goes_by_its_label(folder: Path, verb: str) -> None:
    name, *rest = verb.split()
    typed = [name, str(folder), *rest, "--label", f"Seven={ONE}", "--label", f"Four={TWO}"]
    result = CliRunner().invoke(group, typed)
    assert result.exit_code == 0 and "Seven" in result.stdout and "Four" in result.stdout
    if "--full" in rest:  # which has whole names in its tables
        return
    told = [line for line in result.stdout.splitlines() if "subject:" not in line]
    assert sum(ONE in line for line in told) <= 1  # where a legend says which model it is


def test_the_explorer_and_figures_take_labels_too(folder: Path, tmp_path: Path) -> None:
    (index,) = open_indices([folder], {"Seven": ONE})
    assert index.title("subject", ONE) == "Seven" and index.title("subject", TWO) == TWO
    assert index.title("subject", f"{ONE} (run)") == "Seven (run)"
    index.close()
    run = tiltmeter.open_run(folder)
    (path, *_) = run.save_figures(tmp_path / "one.svg", "share_she", labels={"Seven": ONE})
    assert "Seven" in path.read_text("utf-8")


@pytest.mark.parametrize(
    ("label", "why"),
    [("Seven", "is not NAME=MODEL"), ("Seven=planted:she=0.9", "No model 'planted:she=0.9'")],
)
def test_what_is_no_label_is_refused(folder: Path, label: str, why: str) -> None:
    result = CliRunner().invoke(group, ["table", str(folder), "share_she", "--label", label])
    assert result.exit_code and why in (result.stderr + str(result.exception))
