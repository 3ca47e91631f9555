"""A folder of pictures with a table of their prompts: what is an item, what is a group, what is a sample."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from PIL import Image

import tiltmeter
from tiltmeter import registry
from tiltmeter.api.start.own_outputs import describe, start
from tiltmeter.cli import main
from tiltmeter.errors import UsageError
from tiltmeter.explore.annotation import annotating

QUESTION, VALUES = "Who is seen?", ["woman", "man", "unclear"]
JOBS = [f"job{n}" for n in range(10)]


@pytest.fixture
def pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """60 pictures side by side: three of each of ten jobs in two groups."""
    monkeypatch.chdir(tmp_path)
    folder = Path("pics")
    folder.mkdir()
    for number in range(60):
        Image.new("RGB", (4, 4), (number, 9, 9)).save(folder / f"IMG_{number:04}.png")
    return folder


def manifest(folder: Path, header: str, cells: str) -> None:
    """A row a picture; cells may hold {file}, {job}, {adjective}, {number}."""
    with (folder / "manifest.csv").open("w", encoding="utf-8", newline="") as file:
        file.write(header + "\n")
        for number in range(60):
            adjective = "gentle" if number // 3 % 2 else "assertive"
            slots = {"file": f"IMG_{number:04}.png", "job": JOBS[number // 6], "number": number}
            file.write(cells.format(**slots, adjective=adjective) + "\n")


def label(out: Path, value: dict[str, str]) -> None:
    run = tiltmeter.open_run(out)
    with Path("g.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["output", "value", "annotator"])
        for trial, factors in run.outputs.select("trial", "factors").rows():
            table.writerow([trial, value[factors["file"]], "ann"])
    tiltmeter.import_gold(out, Path("g.csv"))


def test_pictures_of_one_prompt_are_one_item(pictures: Path, tmp_path: Path) -> None:
    """A job's six pictures are all alike, so there are 10 things to know and not 60: by items the
    interval of the share is 2.4 times as wide as by files, sqrt(6) = 2.4 (Wilson's is a little less).
    """
    value = {f"IMG_{n:04}.png": "woman" if n // 6 % 2 else "man" for n in range(60)}
    start(pictures, tmp_path / "files", QUESTION, VALUES)
    manifest(pictures, "file,prompt", '{file},"A photo of a {job}"')
    start(pictures, tmp_path / "prompts", QUESTION, VALUES)
    widths = []
    for out, items in (("files", 60), ("prompts", 10)):
        label(tmp_path / out, value)
        run = tiltmeter.open_run(tmp_path / out)
        assert len(run.protocol.items()) == items
        row = next(row for row in run.analyse() if row.measure == "share")
        assert row.value == 0.5 and row.n == 60
        assert row.low is not None and row.high is not None
        widths.append(row.high - row.low)
    assert 2 < widths[1] / widths[0] < 2.6


@pytest.mark.parametrize(
    ("header", "cells", "item"),
    [
        ("file,prompt,adjective", '{file},"A {adjective} {job}, smiling",{adjective}', "prompt"),
        ("Picture,Prompt,Condition,sample", "./{file},A {adjective} {job},{adjective},1", "prompt"),
        ("image,item,cue,note", "{file},{job},{adjective},note {number}", "item"),
        ("filename,prompt,item,group", "{file},A {adjective} {job},{job},{adjective}", "item"),
    ],
)
def test_columns_have_several_names(
    pictures: Path, header: str, cells: str, item: str, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest(pictures, header, cells)
    protocol = start(pictures, Path("out"), QUESTION, VALUES).protocol
    assert protocol.item == item and len(protocol.items()) == {"prompt": 20, "item": 10}[item]
    assert list(protocol.levels["group"]) == ["assertive", "gentle"]
    line = describe(pictures, protocol)
    assert line == (
        f"60 pictures of {len(protocol.items())} {item}s in the groups assertive and gentle, by "
        "the manifest of pics."
    )
    assert main(["init", "who.toml", "--from", "pics", "--options", "woman,man"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "costs nothing" in lines[1] and lines[2].startswith("  tiltmeter show who.toml")
    assert main(lines[4].split()[1:]) == 0  # the planted run of the advice
    assert tiltmeter.open_run("tried").counts()["outputs"] == 60 * 5


def test_without_a_manifest_it_is_said_that_pictures_are_independent(
    pictures: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    protocol = start(pictures, Path("out"), QUESTION, VALUES).protocol
    assert describe(pictures, protocol) == (
        "60 pictures. They count as independent: if several are of one prompt, the intervals are "
        "too narrow. To name their prompts: pics/manifest.csv with the columns file,prompt."
    )
    assert main(["report", "out"]) == 0
    assert "Pictures count as independent" in Path("out/report.html").read_text("utf-8")
    manifest(pictures, "file,prompt", "{file},A {job}")
    assert "older than the manifest" in describe(pictures, protocol)
    Path("pics-labelled").symlink_to("out")
    capsys.readouterr()
    assert main(["annotate", "pics", "--progress"]) == 0
    assert "Nobody has begun" in capsys.readouterr().out
    monkeypatch.setattr(annotating, "serve", lambda *_: None)
    assert main(["annotate", "pics", "--annotator", "ann"]) == 0
    assert capsys.readouterr().out.startswith("60 pictures. They count as independent")
    other = ["--question", "Skin tone?", "--values", "dark,light"]  # it was ignored without a word
    assert main(["annotate", "pics", "--annotator", "ann", *other]) == 2
    said = capsys.readouterr().err
    assert f"pics-labelled asks “{QUESTION}” (" in said and "add --out with a new name" in said
    same = ["--question", QUESTION, "--values", ",".join(VALUES)]
    assert main(["annotate", "pics", "--annotator", "ann", *same]) == 0
    (pictures / "._IMG_0000.png").write_bytes(b"a companion file of macOS")
    assert len(start(pictures, Path("again"), QUESTION, VALUES).protocol.levels["file"]) == 60


@pytest.mark.parametrize(
    ("header", "cells", "said"),
    [
        ("file,words", "{file},x", "needs a column file and a column prompt"),
        ("file,prompt", "x{file},A {job}", "60 files not in the folder: xIMG_0000.png"),
        ("file,prompt", "IMG_0000.png,A {job}", "line 3: IMG_0000.png has a row above"),
        ("file,prompt", "{file},", "line 2: the column prompt is empty"),
        ("file,prompt,group", "{file},A {job},", "the column group has empty cells"),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(
    pictures: Path, header: str, cells: str, said: str
) -> None:
    manifest(pictures, header, cells)
    with pytest.raises(UsageError, match=said):
        start(pictures, Path("out"), QUESTION, VALUES)
    (pictures / "more.png").write_bytes((pictures / "IMG_0000.png").read_bytes())
    manifest(pictures, "file,prompt", "{file},A {job}")
    with pytest.raises(UsageError, match=r"1 file without a row: more\.png"):
        start(pictures, Path("out"), QUESTION, VALUES)


def test_a_protocol_that_cannot_be_used_is_not_left_behind(
    pictures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest(pictures, "file,item,group", "{file},{job},{adjective}")

    def refuse(path: str) -> None:
        raise UsageError(f"{path} is not a protocol")

    monkeypatch.setattr(registry, "protocol", refuse)
    assert main(["init", "who.toml", "--from", "pics", "--options", "woman,man"]) == 2
    assert not Path("who.toml").exists() and not Path("who-pictures.csv").exists()
