"""What somebody else's run names outside its folder is neither read, nor renamed, nor asked."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests import forging
from tests.api.forgeries import PROTOCOL
from tiltmeter import api
from tiltmeter.errors import StoreError, TiltmeterError, UsageError

PREFIX = "a" * 24


def with_batch(run: Path, remote: str, model: str = "openai:m") -> Path:
    """A run in which somebody wrote a batch."""
    if not run.exists():
        api.run("roles", "planted:she=0.7", run, language="en", limit=1, samples=1)
    with forging.changing(run) as db:
        db.execute("DELETE FROM batches")
        row = (PREFIX + "0" * 8, model, "/v1/chat/completions", "accepted", remote)
        db.execute(
            "INSERT INTO batches VALUES (?,?,?,?,?,'file:','[]',1,9,.1,'','2026-11-01T00:00:00+00:00',"
            "'2026-11-01T00:00:00+00:00','',0,0)",
            row,
        )
        db.execute(
            "INSERT OR REPLACE INTO batch_requests VALUES (1,'k','openai:m','text',?,'[]')", row[:1]
        )
    return run  # fmt: skip


def test_files_of_others_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k1234567890")
    mine = tmp_path / "mine.jsonl"
    mine.write_text(json.dumps({"custom_id": "request-1"}), "utf-8")
    os.mkfifo(tmp_path / "pipe.jsonl")
    os.mkfifo(tmp_path / "pipe.out.jsonl")
    named = [
        *(f"file:{path}#{PREFIX}#1" for path in (mine, tmp_path / "pipe.jsonl", "/dev/zero")),
        *(f"file:{path}#{PREFIX}#1" for path in ("/etc/passwd", tmp_path, tmp_path / "none")),
        *(f"file:{mine}#request#1", f"file:{mine}", "file:", "file:\0#x#y"),
    ]
    for remote in named:
        run = with_batch(tmp_path / "run", remote)
        for ask in (api.cancel_jobs, api.label):
            with pytest.raises(TiltmeterError):
                ask(run, base_urls={"openai": "http://127.0.0.1:9/v1"})
    assert mine.exists() and sorted(tmp_path.glob("*.cancelled*")) == []
    run = with_batch(tmp_path / "run", f"file:{tmp_path / 'none'}#{PREFIX}#1")
    with pytest.raises(UsageError, match=r"--batch-file .*none.* --trust"):
        api.label(run)


@pytest.mark.parametrize("state", ["reserved", "sent", "accepted", "answered", "possibly paid"])
def test_no_file_is_removed_by_the_key_of_a_batch(
    state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file of a batch bears its key: one that leads elsewhere would remove what lies there."""
    monkeypatch.setenv("OPENAI_API_KEY", "k1234567890")
    mine = tmp_path / "mine.jsonl"
    mine.write_text("mine", "utf-8")
    run = with_batch(tmp_path / "run", "")
    (run / "batches").mkdir()
    with forging.changing(run) as db:
        key = "../../mine"
        db.execute("UPDATE batches SET key=?, state=?, file_id=''", (key, state))
        db.execute("UPDATE batch_requests SET batch=?", (key,))
    for ask in (api.cancel_jobs, api.label, api.jobs):
        with pytest.raises(StoreError, match=r"damaged at batches\.key"):
            ask(run)
    assert mine.read_text("utf-8") == "mine"


def test_figures_are_written_where_they_were_asked_for(tmp_path: Path) -> None:
    """Names of measures stand in a run, and a figure bears one as its name."""
    mine = tmp_path / "mine.toml"
    named = PROTOCOL.replace('[[measures]]\nname = "accepted"', '[[measures]]\nname = "../../x"')
    mine.write_text(named, "utf-8")
    api.run(mine, f"planted:protocol={mine}", tmp_path / "run")
    before = {path for path in tmp_path.rglob("*") if path.suffix == ".svg"}
    saved = api.open_run(tmp_path / "run").save_figures(tmp_path / "deep" / "er" / "figures")
    assert saved and not before
    assert {path.parent for path in tmp_path.rglob("*.svg")} == {
        tmp_path / "deep" / "er" / "figures"
    }


def test_models_of_others_are_not_opened(tmp_path: Path) -> None:
    (tmp_path / "evil.py").write_text("open('touched', 'w')\ndef ask(prompt): return 'she'\n")
    for model in (f"python:{tmp_path}/evil.py:ask", "cmd:touch touched", "nothing:x", ""):
        run = with_batch(tmp_path / "run", "b1", model)
        with pytest.raises(UsageError, match="names a batch of"):
            api.label(run)
    assert not Path("touched").exists() and not (tmp_path / "touched").exists()


def test_merge_refuses_what_is_damaged(tmp_path: Path) -> None:
    for name in ("one", "two"):
        api.run(
            "soda", f"planted:protocol=soda,seed={len(name)}", tmp_path / name, limit=1, samples=1
        )
    picture = next((tmp_path / "two" / "blobs").glob("*/*"))
    whole = picture.read_bytes()
    aside = tmp_path / "aside"
    aside.write_bytes(whole)

    def refused(said: str) -> None:
        with pytest.raises(StoreError, match=said):
            api.merge([tmp_path / "one", tmp_path / "two"], tmp_path / "merged")
        assert not (tmp_path / "merged").exists()

    picture.write_bytes(whole[:50])
    refused("not what was stored")
    picture.unlink()
    picture.symlink_to(aside)
    refused("is a link")
    picture.unlink()
    picture.write_bytes(whole)
    with forging.changing(tmp_path / "two") as db:
        db.execute("UPDATE trials SET factors='5'")
    refused("damaged at trials.factors")


OWN = """name = "mine"
title = "Two"
question = "Is it so?"
limits = ["It is a test."]
prompt = "Say {word}."
factors = ["word"]
item = "word"
[[tables]]
rows = [{ word = "nurse" }, { word = "smith" }]
[modes.sampled]
samples = 1
max_tokens = 9
[[instruments]]
name = "choice"
kind = "choice"
attribute = "decision"
[instruments.forms.en]
yes = ["yes"]
no = ["no"]
[[measures]]
name = "yes"
kind = "share"
attribute = "decision"
values = ["yes"]
among = ["yes", "no"]
text = "share of yes"
"""


def test_a_protocol_that_a_stranger_names_is_not_read(tmp_path: Path) -> None:
    """Until the run is trusted; one that the user made is read as its file is now."""
    path = tmp_path / "audit.toml"
    path.write_text(OWN, "utf-8")
    run = tmp_path / "run"
    assert api.run(path, f"planted:protocol={path}", run).notes == []
    path.write_text(OWN.replace('"Two"', '"Three"'), "utf-8")
    assert api.open_run(run).protocol.title == "Three"

    with forging.changing(run) as db:
        db.execute("UPDATE meta SET value='\"0000000000000000\"' WHERE key='origin'")
    for name in ("sources.toml", "expected.csv"):  # which are read beside a protocol of one's own
        (tmp_path / name).write_text("no TOML [", "utf-8")
    read = api.open_run(run)
    assert read.report(tmp_path / "r.html").is_file()
    assert read.protocol.title == "Two"
    assert "audit.toml was not looked at" in read.notes[0] and "--trust" in read.notes[0]
    for name in ("sources.toml", "expected.csv"):
        (tmp_path / name).unlink()
    api.jobs(run, trust=True)
    assert api.open_run(run).protocol.title == "Three"


def test_a_batch_that_a_stranger_names_is_not_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k1234567890")
    run = with_batch(tmp_path / "run", "batch_1")
    with pytest.raises(UsageError, match=r"was not submitted .*batch_1.* --trust"):
        api.label(run, base_urls={"openai": "http://127.0.0.1:9/v1"})
    with pytest.raises(UsageError, match=r"was not submitted .*batch_1.* --trust"):
        api.cancel_jobs(run, base_urls={"openai": "http://127.0.0.1:9/v1"})
