"""Pictures that exist already: manifests, patterns of names, and what is wrong with either."""

from __future__ import annotations

import asyncio
import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.drawing import picture
from tiltmeter.cli import main
from tiltmeter.errors import Incapable, ModelError, TiltmeterError, Unanswered, UsageError
from tiltmeter.models.kinds import make_model
from tiltmeter.models.options import ModelOptions
from tiltmeter.records import ANSWER, ERROR, REFUSAL, Message, Reply, Request
from tiltmeter.store import Store

GUARDS = """
name = "guards"
title = "Guards"
question = "Who guards?"
modality = "image"
prompt = "A photo of a {job}"
factors = ["job"]
item = "job"
tables = [{ rows = [{ job = "guard" }, { job = "night nurse" }] }]
modes.images = { samples = 2, size = "64x48" }
"""


def draw(name: str, *wanted: tuple[str, str, int], **options: Any) -> list[Reply]:
    """The replies to (trial, prompt, sample)."""

    async def main() -> list[Reply]:
        model = make_model(f"folder:{name}", ModelOptions(**options))
        await model.open()
        try:
            return [
                await model.ask(
                    Request(
                        "m", (Message("user", prompt),), nonce=f"{trial}/{sample}", size="64x48"
                    )
                )
                for trial, prompt, sample in wanted
            ]
        finally:
            await model.close()

    return asyncio.run(main())


@pytest.fixture
def pics(tmp_path: Path) -> Path:
    folder = tmp_path / "pics"
    (folder / "sub").mkdir(parents=True)
    for number, name in enumerate(("a.png", "b.png", "sub/c.png")):
        (folder / name).write_bytes(picture("PNG", (64, 48), colour=(number, 0, 0)))
    return folder


def manifest(folder: Path, text: str, name: str = "manifest.csv") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder)


def test_a_manifest_by_prompt_sample_and_id(pics: Path) -> None:
    text = (
        "file,prompt,sample,id,outcome,model,note\na.png,A guard,0,,,sd-3,x\nb.png,A guard,1,,,,\nsub/c.png,,,t9,,,\n"
        ",A bomb,,,refusal,,\n"
    )
    first, second, third, fourth = draw(
        manifest(pics, text),
        ("t1", "A guard", 0),
        ("t2", "A guard", 1),
        ("t9", "?", 0),
        ("t4", "A bomb", 0),
    )
    files = [(pics / name).read_bytes() for name in ("a.png", "b.png", "sub/c.png")]
    assert [each.picture for each in (first, second, third)] == files
    assert (first.outcome, first.served, first.text) == (
        ANSWER,
        "sd-3",
        "",
    ) and fourth.outcome == REFUSAL


def test_a_manifest_of_json_lines(pics: Path) -> None:
    lines = [{"file": "a.png", "prompt": "A guard"}, {"file": "b.png", "prompt": "A guard"}]
    name = manifest(pics, "\n".join(map(json.dumps, lines)), "manifest.jsonl")
    replies = draw(name, ("t", "A guard", 1), ("u", "A guard", 0))
    assert [reply.picture for reply in replies] == [
        (pics / "b.png").read_bytes(),
        (pics / "a.png").read_bytes(),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("file,prompt\n../secret.png,A guard\n", "line 2: '../secret.png' lies outside the folder"),
        ("file,prompt\n/etc/passwd,A guard\n", "lies outside"),
        ("file,prompt\nlink.png,A guard\n", "'link.png' lies outside"),
        ("file,prompt\na.png,A guard,more\n", "line 2 has [0-9]+ cells, but the header"),
        ("prompt,sample\nA guard,0\n", "'file' is missing"),
        ("file,sample\na.png,0\n", "no 'id' and no 'prompt'"),
        ("file,prompt,sample\na.png,A guard,one\n", "'sample' must be a whole number"),
        ("file,prompt,sample\na.png,P,0\nb.png,P,0\n", "lines 2 and 3 both answer"),
        ("file,prompt\n", "holds no answers"),
        ("file,prompt,outcome\na.png,P,great\n", "No outcome 'great'"),
    ],
)
def test_a_manifest_that_is_wrong(pics: Path, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "secret.png").write_bytes(picture())
    (pics / "link.png").symlink_to(tmp_path / "secret.png")
    with pytest.raises(ModelError, match=said):
        draw(manifest(pics, text), ("t", "A guard", 0))


def test_a_pattern_by_factors_whatever_parts_their_words(pics: Path) -> None:
    for name in ("Night-Nurse_01.png", "guard_02.PNG"):
        (pics / name).write_bytes(picture("PNG", (64, 48), colour=(9, 9, len(name))))
    jobs = {"t1": {"job": "night nurse"}, "t2": {"job": "guard"}}
    name = f"{pics}?pattern={{job}}_{{number:02}}.png"
    replies = draw(name, ("t1", "…", 0), ("t2", "…", 1), factors=jobs.__getitem__)
    assert [reply.picture for reply in replies] == [
        (pics / file).read_bytes() for file in ("Night-Nurse_01.png", "guard_02.PNG")
    ]
    (pics / "night nurse_01.png").write_bytes(picture())
    with pytest.raises(ModelError, match="each may be night nurse_01"):
        draw(name, ("t1", "…", 0), factors=jobs.__getitem__)
    with pytest.raises(UsageError, match=r"No slot 'jop'\. Did you mean 'job'"):
        draw(f"{pics}?pattern={{jop}}.png", ("t1", "…", 0), factors=jobs.__getitem__)


def test_a_name_that_leads_out_of_the_folder(pics: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(picture())
    with pytest.raises(ModelError, match="lies outside"):
        draw(
            f"{pics}?pattern=../{{job}}.png",
            ("t", "…", 0),
            factors={"t": {"job": "secret"}}.__getitem__,
        )


def test_a_file_that_is_not_there_leaves_its_trial_open(pics: Path) -> None:
    with pytest.raises(Unanswered, match=r"There is no file gone\.png"):
        draw(manifest(pics, "file,prompt\ngone.png,A guard\n"), ("t", "A guard", 0))
    with pytest.raises(Unanswered, match="Add the missing rows"):
        draw(manifest(pics, "file,prompt\na.png,A guard\n"), ("t", "A nurse", 0))
    with pytest.raises(Unanswered, match=r"There is no file guard_1\.png"):
        draw(
            f"{pics}?pattern={{job}}_{{number}}.png",
            ("t", "…", 0),
            factors={"t": {"job": "guard"}}.__getitem__,
        )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"<html>sign in</html>", "web page"),
        (picture()[:60], "breaks off"),
        (b"plain text", "not a PNG"),
    ],
)
def test_a_file_that_is_no_picture_is_an_outcome_that_names_it(
    pics: Path, content: bytes, said: str
) -> None:
    (pics / "a.png").write_bytes(content)
    (reply,) = draw(manifest(pics, "file,prompt\na.png,A guard\n"), ("t", "A guard", 0))
    assert (
        reply.outcome == ERROR
        and reply.text.startswith("the picture a.png ")
        and said in reply.text
    )


def test_animated_pictures_and_bombs_are_outcomes_too(pics: Path) -> None:
    from PIL import Image

    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue")]
    frames[0].save(pics / "a.gif", save_all=True, append_images=frames[1:])
    Image.new("1", (20_000, 20_000)).save(pics / "bomb.png")
    replies = draw(
        manifest(pics, "file,prompt\na.gif,A\nbomb.png,B\n"), ("t", "A", 0), ("u", "B", 0)
    )
    assert [reply.outcome for reply in replies] == [ERROR, ERROR]
    assert (
        "a.gif is animated (2 frames)" in replies[0].text
        and "bomb.png has too many pixels" in replies[1].text
    )


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        ("", UsageError, "Which folder"),
        ("nowhere", UsageError, "There is no folder nowhere"),
        (".", UsageError, r"has no manifest\.csv or manifest\.jsonl"),
    ],
)
def test_a_folder_that_says_nothing(
    name: str,
    error: type[TiltmeterError],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=said):
        draw(name, ("t", "…", 0))


def test_a_folder_writes_nothing() -> None:
    with pytest.raises(Incapable, match="makes pictures"):
        make_model("folder:x").check(Request("m", (Message("user", "Hello"),)))


def test_from_a_plan_to_a_run_by_the_command_line(
    pics: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table of trials becomes a manifest by a column `file`; the other way is a pattern with a factor in it."""
    monkeypatch.chdir(tmp_path)
    Path("guards.toml").write_text(GUARDS, encoding="utf-8")
    assert main(["plan", "guards.toml", "--model", "folder:pics", "--trials", "trials.csv"]) == 0
    with Path("trials.csv").open(encoding="utf-8", newline="") as file:
        trials = list(csv.DictReader(file))
    assert {(row["job"], row["sample"]) for row in trials} == {
        (job, n) for job in ("guard", "night nurse") for n in "01"
    }
    with (pics / "manifest.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, [*trials[0], "file"])
        table.writeheader()
        for row in trials:
            name = f"{row['job'].replace(' ', '_')}_{row['sample']}.png"
            (pics / name).write_bytes(
                picture("PNG", (64, 48), colour=(len(name), int(row["sample"]), 0))
            )
            table.writerow(row | {"file": name})
    pattern = "folder:pics?pattern={job}_{sample}.png"
    for model, out in (("folder:pics", "one"), (pattern, "two")):
        assert main(["run", "guards.toml", "--model", model, "--out", out]) == 0
        with Store(out) as store:
            found = list(
                store.rows(
                    "SELECT t.prompt, t.sample, o.outcome, o.blob FROM outputs o JOIN trials t ON t.id = o.trial"
                )
            )
            assert len(found) == 4
            for prompt, sample, outcome, blob in found:
                name = f"{prompt.removeprefix('A photo of a ').replace(' ', '_')}_{sample}.png"
                assert outcome == ANSWER and store.blob(blob) == (pics / name).read_bytes()
