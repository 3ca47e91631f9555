"""Pictures end to end: a planted model behind HTTP draws them, three planted judges behind HTTP vote, the tilt is found."""

from __future__ import annotations

import json
import threading
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

import tiltmeter
from tests.serving import planted_server
from tiltmeter import images
from tiltmeter.cli import group
from tiltmeter.errors import TiltmeterError
from tiltmeter.planted.subjects import truths
from tiltmeter.store import blobs

GUARDS = str(Path(__file__).parents[1] / "guards.toml")
SETTINGS = (
    f"protocol={GUARDS},male.masculine=.8,female.feminine=.6,refuse=.05,invalid=.05,revise=.2"
)
JUDGES = ("openai:a", "openai:b", "openai:c")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tiltmeter.Run:
    folder = tmp_path_factory.mktemp("pictures")
    with planted_server(SETTINGS) as url:
        return tiltmeter.run(
            GUARDS, "openai:planted", folder, judge=JUDGES, samples=40, base_url=url
        )


def test_every_picture_is_stored_and_voted_on_by_each_judge(run: tiltmeter.Run) -> None:
    outputs, labels = run.outputs, run.labels
    answers = outputs.filter(outputs["outcome"] == "answer")
    assert len(outputs) == 480 and 0 < len(outputs) - len(answers) < 90
    assert set(outputs["outcome"]) == {"answer", "refusal", "error"}
    assert {*blobs.names(run.folder)} >= set(answers["blob"])
    votes = labels.filter(labels["attribute"] == "gender_vote")
    assert len(votes) == 3 * len(answers) and set(votes["position"]) == {0, 1, 2}
    assert len(labels.filter(labels["attribute"] == "gender")) == 480


def test_the_planted_tilt_is_found(run: tiltmeter.Run) -> None:
    estimates = {(e.measure, e.condition.get("cue", "")): e for e in run.analyse()}
    for cue in ("masculine", "feminine"):
        truth = truths(SETTINGS, {"cue": cue})
        share = estimates["share_male", cue]
        assert share.value == pytest.approx(
            truth["male"] / (truth["male"] + truth["female"]), abs=0.1
        )  # 2.5 SE of n = 160
    effect = estimates["effect", ""]
    assert (
        effect.value == pytest.approx(0.8 / 0.9 - 0.2 / 0.8, abs=0.12)
        and effect.low is not None
        and effect.low > 0.4
    )


def test_what_the_provider_said_is_kept(run: tiltmeter.Run) -> None:
    calls = run.calls.filter(run.calls["purpose"] == "subject")
    revised = Counter(bool(text) for text in calls["revised"])
    assert 0.1 < revised[True] / revised.total() < 0.3
    assert set(calls["outcome"]) == {"answer", "refusal", "error"} and len(calls) == 480


def test_the_report_shows_the_pictures_with_their_votes(run: tiltmeter.Run) -> None:
    page = run.report().read_text("utf-8")
    assert (
        page.count('<img src="data:image/jpeg;base64,') > 30
        and "votes: " in page
        and "no picture" in page
    )
    assert "img-src data:;" in page and "prompt rewritten: A picture: " in page


def test_a_second_panel_asks_for_no_picture(run: tiltmeter.Run) -> None:
    before = len(run.calls)
    with planted_server(f"protocol={GUARDS},accuracy=.9") as url:
        again = tiltmeter.label(run.folder, judge=("openai:d",), base_url=url)
    after = again.calls
    answers = again.outputs.filter(again.outputs["outcome"] == "answer")
    judged = after.filter(after["model"] == "openai:d")
    assert len(after) - before == len(judged) == len(answers) and "subject" not in set(
        judged["purpose"]
    )


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("she=.7", "writes texts, but was asked for a picture"),
        (f"protocol={GUARDS},html=1", "web page"),
        (f"protocol={GUARDS},quota=1", "no credit left"),
        (f"protocol={GUARDS},unauthorised=1", "refuses the key"),
    ],
)
def test_a_server_that_cannot_draw_is_said_so(tmp_path: Path, settings: str, said: str) -> None:
    with planted_server(settings) as url, pytest.raises(TiltmeterError, match=said):
        tiltmeter.run(GUARDS, "openai:planted", tmp_path, samples=1, base_url=url)


def test_from_the_command_line_with_a_plan_that_agrees(tmp_path: Path) -> None:
    judges = [part for name in JUDGES for part in ("--judge", name)]
    options = [GUARDS, "--model", "openai:planted", *judges, "--samples", "2"]
    planned = json.loads(CliRunner().invoke(group, ["plan", *options, "--json"]).output)
    with planted_server(f"protocol={GUARDS}") as url:
        done = CliRunner().invoke(
            group, ["run", *options, "--base-url", url, "--out", str(tmp_path / "r"), "--json"]
        )
    assert done.exit_code == 0, done.output
    assert (
        len(tiltmeter.open_run(tmp_path / "r").calls) == planned["totals"]["calls"] == 24 + 3 * 24
    )


def test_the_panel_is_held_against_itself(run: tiltmeter.Run) -> None:
    found = {
        one.coefficient: one
        for one in tiltmeter.validate(run.folder).agreements
        if "openai:a+" in one.attribute
    }
    assert {"Gwet's AC1", "Krippendorff's α"} <= set(found)
    pairs = [name for name in found if name.startswith("Cohen's κ of judge")]
    assert len(pairs) == 3 and all(
        found[name].found.value == 1 for name in pairs
    )  # the planted judges do not err


def test_a_picture_is_prepared_once_for_all_judges_and_off_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading and encoding take a quarter of a second for a photo, in which the loop goes on."""
    prepared: list[str] = []
    encode = images.encode_for_judge

    def encoded(content: bytes, longest: int) -> tuple[str, bytes]:
        prepared.append(threading.current_thread().name)
        return encode(content, longest)

    monkeypatch.setattr(images, "encode_for_judge", encoded)
    with planted_server(SETTINGS) as url:
        run = tiltmeter.run(
            GUARDS, "openai:planted", tmp_path / "run", judge=JUDGES, samples=1, base_url=url
        )
    answers = run.outputs.filter(run.outputs["outcome"] == "answer")
    assert len(prepared) == len(set(answers["blob"])) > 5
    assert {name.partition("_")[0] for name in prepared} == {"pictures"}
