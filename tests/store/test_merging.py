"""Rows and pictures of one run into another."""

from __future__ import annotations

from pathlib import Path

import pytest

from tiltmeter.errors import RunMismatch
from tiltmeter.records import Label, LabelCall, Output, Reply, Request, Sampling, Trial
from tiltmeter.store import Store, blobs
from tiltmeter.store.merging import merge_rows

TRIAL = Trial("t1", "planted:x", "sampled", {"word": "nurse"}, 0, "?", "", Sampling())
CALL = Request("bfl:flux", (), Sampling(), nonce="t1/0")


def made(folder: Path) -> Store:
    store = Store(folder, create=True, writing=True)
    list(store.iter_unanswered([TRIAL]))
    return store


def merged(target: Store, source: Store) -> int:
    return merge_rows(target, source, lambda: None, ("injection",))


def labels(store: Store) -> list[tuple[str, str, int]]:
    return list(store.rows("SELECT annotator, value, current FROM labels ORDER BY id"))


def test_a_picture_is_linked_once(tmp_path: Path) -> None:
    with made(tmp_path / "a") as source, made(tmp_path / "all") as target:
        name = source.put_blob(b"picture", ".png")
        assert (merged(target, source), merged(target, source)) == (1, 0)
        assert target.blob(name) == b"picture"
        paths = [blobs.place_of(store.folder, name) for store in (source, target)]
        assert paths[0].samefile(paths[1])


def test_labels_that_went_on_replace_and_those_that_differ_are_refused(tmp_path: Path) -> None:
    with made(tmp_path / "a") as source, made(tmp_path / "all") as target:
        source.write([], [Output("t1", "answer", "she", "")], [Label("t1", "j", "g", "she")])
        source.write([], [], [Label("t1", "human:anna", "g", "she")])
        merged(target, source)
        source.supersede([Label("t1", "human:anna", "g", "he")])
        merged(target, source)
        wanted = [("j", "she", 1), ("human:anna", "she", 0), ("human:anna", "he", 1)]
        assert labels(target) == wanted
        target.supersede([Label("t1", "human:anna", "g", "she")])  # only here, and later
        merged(target, source)
        assert len(labels(target)) == 4
        source.supersede([Label("t1", "human:anna", "g", "both")])
        with pytest.raises(RunMismatch, match="label of t1 by human:anna"):
            merged(target, source)
        assert len(labels(target)) == 4


def test_a_reply_takes_the_place_of_its_receipt(tmp_path: Path) -> None:
    with made(tmp_path / "a") as source, made(tmp_path / "all") as target:
        target.write_remote_id(CALL, "task-1")
        source.write([(CALL, Reply("a picture", remote="task-1"))], (), ())
        merged(target, source)
        reply = target.reply(CALL.key)
        assert reply is not None and reply.text == "a picture" and not target.remote_id(CALL.key)


def test_two_receipts_of_one_request_are_named(tmp_path: Path) -> None:
    with made(tmp_path / "a") as source, made(tmp_path / "all") as target:
        for store, task in ((source, "task-1"), (target, "task-2")):
            store.write_remote_id(CALL, task)
        with pytest.raises(RunMismatch, match=f"call {CALL.key[:12]}"):
            merged(target, source)


def test_a_question_that_both_paid_for_keeps_both_replies_and_what_rests_on_each(
    tmp_path: Path,
) -> None:
    question = Request("openai:j", (), Sampling(0.0), purpose="j", nonce="/1")
    with made(tmp_path / "a") as source, made(tmp_path / "all") as target:
        for store, output, said in ((source, "t1", "she"), (target, "t2", "he")):
            calls = [LabelCall(output, "j", 1, question.key)]
            store.write([(question, Reply(said))], (), [Label(output, "j", "g", said)], calls)
        for _ in range(2):
            merged(target, source)
            rested = "SELECT output, text FROM label_calls JOIN calls ON key = call ORDER BY output"
            assert list(target.rows(rested)) == [("t1", "she"), ("t2", "he")]
            assert next(target.rows("SELECT count(*) FROM calls"))[0] == 2
