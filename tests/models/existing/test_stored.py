"""Answers that exist already: files of answers, and other runs."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tiltmeter import registry
from tiltmeter.errors import (
    Incapable,
    ModelError,
    StoreError,
    TiltmeterError,
    Unanswered,
    UnknownName,
    UsageError,
)
from tiltmeter.models.existing.answers import Answers, WantedTrial
from tiltmeter.models.existing.readers import read_lines
from tiltmeter.models.existing.stored import answer_file, replay
from tiltmeter.models.kinds import make_model
from tiltmeter.records import REFUSAL, Message, Reply, Request, Sampling
from tiltmeter.stages.engine import engine
from tiltmeter.stages.engine.engine import Engine
from tiltmeter.stages.engine.limits import Limits, Tally
from tiltmeter.stages.engine.open_models import Models
from tiltmeter.stages.planning import plan
from tiltmeter.stages.planning.plan import Choices
from tiltmeter.stages.steps import generate
from tiltmeter.store import Store


def write(path: Path, *lines: object) -> Path:
    path.write_text(
        "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines),
        "utf-8",
    )
    return path


def ask(name: str, *requests: Request) -> list[Reply]:
    async def main() -> list[Reply]:
        model = make_model(name)
        await model.open()
        try:
            return [await model.ask(request) for request in requests]
        finally:
            await model.close()

    return asyncio.run(main())


def request(prompt: str, sample: int = 0, trial: str = "t", **changes: Any) -> Request:
    return Request("file:x", (Message("user", prompt),), nonce=f"{trial}/{sample}", **changes)


def roles(store: Store, models: Sequence[str], **choices: Any) -> Tally:
    """Runs the audit `roles` on a few words, to its outputs."""
    protocol = registry.protocol("roles")
    chosen = Choices(subjects=tuple(models), languages=("en",), limit=3, **choices)

    async def main() -> Tally:
        async with Models(make_model) as made:
            return await generate.generate(store, protocol, chosen, made, Limits())

    return asyncio.run(main())


def texts(store: Store, subject: str) -> list[tuple[Any, ...]]:
    """(prompt, sample, text) of a subject's answers."""
    query = (
        "SELECT t.prompt, t.sample, o.outcome, o.text FROM outputs o JOIN trials t ON t.id = o.trial"
        " WHERE t.subject = ? ORDER BY 1, 2"
    )
    return list(store.rows(query, (subject,)))


# files of answers


def test_by_id_then_by_prompt_and_sample(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.jsonl",
        {"id": "t1", "text": "by id"},
        {"prompt": "P", "sample": 1, "text": "one"},
        {"prompt": "P", "sample": 0, "text": "zero", "note": "other fields are ignored"},
        "",
        {"prompt": "Q", "text": "first"},
        {"prompt": "Q", "text": "second"},
        {"prompt": "R", "outcome": "refusal", "model": "m-1"},
    )
    asked = [
        request("P", 0, "t1"),
        request("P", 0),
        request("P", 1),
        request("Q", 1),
        request("Q", 0),
        request("R"),
    ]
    replies = ask(f"file:{path}", *asked)
    assert [reply.text for reply in replies] == ["by id", "zero", "one", "second", "first", ""]
    assert replies[-1].outcome == REFUSAL and replies[-1].served == "m-1"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "holds no answers"),
        (b"\n \n", "holds no answers"),
        (b'{"prompt": "P", "text": "a"}\n{"prompt": "P", "te', "line 2 is not JSON"),
        (b'["P", "a"]', "line 1 is not a JSON object"),
        (b'{"prompt": "P"}', "line 1: 'text' is missing"),
        (b'{"prompt": "P", "text": 3}', "line 1: 'text' must be text"),
        (b'{"prompt": null, "text": "a"}', "line 1: 'prompt' is missing"),
        (b'{"text": "a"}', "line 1: no 'id' and no 'prompt'"),
        (b'{"prompt": "P", "text": "a", "sample": "0"}', "line 1: 'sample' must be a whole number"),
        (
            b'{"prompt": "P", "text": "a", "sample": true}',
            "line 1: 'sample' must be a whole number",
        ),
        (b'{"prompt": "P", "text": "a", "outcome": "refused"}', "Did you mean 'refusal'?"),
        (
            b'{"id": "x", "text": "a"}\n{"id": "y", "text": "a"}\n{"id": "x", "text": "a"}',
            "lines 1 and 3 both answer id 'x'",
        ),
        (
            b'{"prompt": "P", "sample": 4, "text": "a"}\n{"prompt": "P", "sample": 4, "text": "b"}',
            "lines 1 and 2 both answer sample 4",
        ),
        (
            b'{"prompt": "P", "sample": 0, "text": "a"}\n{"prompt": "P", "text": "b"}',
            "line 2: 'sample' is missing, but line 1",
        ),
        (
            b'{"prompt": "P", "text": "a"}\n{"prompt": "P", "sample": 0, "text": "b"}',
            "line 1: 'sample' is missing, but line 2",
        ),
    ],
)
def test_a_file_that_is_wrong_names_the_place(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    with pytest.raises(ModelError) as caught:
        ask(f"file:{path}")
    assert (
        said in str(caught.value)
        and "a.jsonl" in str(caught.value)
        and "\n" not in str(caught.value)
    )


def test_lines_in_utf_16_and_in_a_code_page_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    line = '{"prompt": "P", "text": "café"}'
    for encoding in ("utf-16", "cp1252"):
        path.write_bytes(line.encode(encoding))
        assert [reply.text for reply in ask(f"file:{path}", request("P"))] == ["café"]


def test_a_byte_order_mark_and_windows_line_ends_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        b'\xef\xbb\xbf{"prompt": "P", "text": "a"}\r\n{"prompt": "Q", "text": "b\xe2\x80\xa8c"}\r\n'
    )
    assert [reply.text for reply in ask(f"file:{path}", request("P"), request("Q"))] == [
        "a",
        "b\u2028c",
    ]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no file"):
        ask(f"file:{tmp_path / 'none.jsonl'}")
    with pytest.raises(UsageError, match="cannot be read"):
        ask(f"file:{tmp_path}")
    with pytest.raises(UsageError, match="--model file:"):
        answer_file("")
    with pytest.raises(UsageError, match="--model replay:"):
        replay("")


def test_log_probabilities_are_not_in_a_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", {"prompt": "P", "text": "a"})
    with pytest.raises(Incapable, match="--mode sampled"):
        ask(f"file:{path}", request("P", logprobs=5))


def test_gaps_stay_open_are_counted_and_can_be_filled(tmp_path: Path) -> None:
    """3 words × 2 orders × 2 samples = 12 trials, of which one prompt's second answer is missing at first."""
    protocol = registry.protocol("roles")
    prompts = [
        protocol.prompt_text(cell)
        for cell in plan.cells(protocol, Choices(subjects=("x",), languages=("en",), limit=3))
    ]
    lines: list[object] = [
        {"prompt": prompt, "text": f"{number}"} for prompt in prompts for number in range(2)
    ]
    path = write(tmp_path / "a.jsonl", *lines[:-1])
    name = f"file:{path}"
    with Store(tmp_path / "run", create=True, writing=True) as store:
        first = roles(store, [name], samples=2)
        assert (first.done, first.failed, first.retries) == (11, 1, 0)
        assert (
            "1 of " in first.last_failure
            and f"sample 1 of '{prompts[-1][:40]}" in first.last_failure
        )
        assert "Add the missing lines" in first.last_failure
        write(path, *lines)
        second = roles(store, [name], samples=2)
        assert (second.done, second.failed) == (1, 0)
        assert texts(store, name) == sorted(
            (prompt, n, "answer", f"{n}") for prompt in prompts for n in range(2)
        )
        assert store.spent() == 0.0


def test_an_export_of_outputs_is_a_file_of_answers(tmp_path: Path) -> None:
    with Store(tmp_path / "run", create=True, writing=True) as store:
        roles(store, ["planted:she=.6,refuse=.2"], samples=3)
        exported = store.rows(
            "SELECT o.trial, o.outcome, o.text, o.call, o.blob, o.ended, o.thought, t.subject, t.mode, t.factors, t.sample, t.prompt FROM outputs o"
            " JOIN trials t ON t.id = o.trial ORDER BY o.trial"
        )
        names = [
            "trial",
            "outcome",
            "text",
            "call",
            "blob",
            "ended",
            "thought",
            "subject",
            "mode",
            "factors",
            "sample",
            "prompt",
        ]
        path = write(
            tmp_path / "outputs.jsonl", *(dict(zip(names, row, strict=True)) for row in exported)
        )
        before = texts(store, "planted:she=.6,refuse=.2")
    with Store(tmp_path / "again", create=True, writing=True) as store:
        assert roles(store, [f"file:{path}"], samples=3).failed == 0
        assert texts(store, f"file:{path}") == before


def test_all_errors_leave_the_run_usable(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", {"prompt": "another prompt", "text": "a"})
    with Store(tmp_path / "run", create=True, writing=True) as store:
        tally = roles(store, [f"file:{path}"], samples=1)
    assert (tally.done, tally.failed) == (0, 6) and "6 of 6 trials asked" in tally.last_failure


def test_the_answers_are_indexed_once_each(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", {"id": "t", "prompt": "P", "text": "a"})
    answers = Answers(path, read_lines(path))
    wanted = [("t", "other", 0), ("other", "P", 0), ("other", "P", 1)]
    found = [answers.find(WantedTrial(*one, dict)) for one in wanted]
    assert [line and line.reply.text for line in found] == ["a", "a", None]


# replay


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A finished run of two planted subjects."""
    with Store(tmp_path / "source", create=True, writing=True) as store:
        roles(store, ["planted:she=.7", "planted:she=.2"], samples=4)
    return tmp_path / "source"


def test_a_run_is_replayed_trial_by_trial(source: Path, tmp_path: Path) -> None:
    name = f"replay:{source}#planted:she=.2"
    with Store(tmp_path / "run", create=True, writing=True) as store:
        tally = roles(store, [name], samples=4)
        assert (tally.done, tally.failed) == (24, 0)
        with Store(source) as before:
            assert (
                texts(store, name)
                == texts(before, "planted:she=.2")
                != texts(before, "planted:she=.7")
            )
        assert store.spent() == 0.0


def test_samples_that_were_not_drawn_stay_open(source: Path, tmp_path: Path) -> None:
    with Store(tmp_path / "run", create=True, writing=True) as store:
        tally = roles(store, [f"replay:{source}#planted:she=.2"], samples=5)
    assert (tally.done, tally.failed) == (24, 6) and "sample 4" in tally.last_failure


def test_another_seed_asks_other_draws(source: Path, tmp_path: Path) -> None:
    with Store(tmp_path / "run", create=True, writing=True) as store:
        tally = roles(store, [f"replay:{source}#planted:she=.2"], samples=4, seed=1)
    assert tally.done == 0 and "seed" in tally.last_failure


def test_exact_readings_are_replayed_with_their_probabilities(tmp_path: Path) -> None:
    with Store(tmp_path / "source", create=True, writing=True) as store:
        roles(store, ["planted:she=.7"], modes=("exact",))
    with Store(tmp_path / "run", create=True, writing=True) as store:
        tally = roles(store, [f"replay:{tmp_path / 'source'}"], modes=("exact",))
        kept = list(store.rows("SELECT alternatives FROM calls"))
    with Store(tmp_path / "source") as store:
        assert kept == list(store.rows("SELECT alternatives FROM calls")) and kept[0][0]
    assert (tally.done, tally.failed) == (6, 0)


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("replay:{0}", UsageError, "replay:{0}#planted:she=.2"),
        ("replay:{0}#planted:she=.22", UnknownName, "Did you mean 'planted:she=.2'?"),
        ("replay:{0}/none", StoreError, "is not a run"),
    ],
)
def test_what_cannot_be_replayed(
    source: Path, name: str, kind: type[TiltmeterError], said: str
) -> None:
    with pytest.raises(kind) as caught:
        ask(name.format(source))
    assert said.format(source) in str(caught.value)


def test_calls_that_differ_only_in_their_id_are_told_apart(tmp_path: Path) -> None:
    """A judge asks the same of two equal answers: its calls are replayed by the output that they were about."""
    asked = [
        Request("planted:", (Message("user", "Which?"),), Sampling(0.0), purpose="judge", nonce=n)
        for n in ("a/1", "b/1")
    ]
    with Store(tmp_path / "run", create=True, writing=True) as store:
        store.write([(asked[0], Reply("A")), (asked[1], Reply("B"))], [], [])
    name = f"replay:{tmp_path / 'run'}#planted:"
    assert [reply.text for reply in ask(name, *asked)] == ["A", "B"]
    with pytest.raises(Unanswered):  # neither of the two is this one's
        ask(name, Request("replay:x", (Message("user", "Which?"),), Sampling(0.0), nonce="c/1"))


def test_one_answer_does_not_stand_for_two_samples(tmp_path: Path) -> None:
    """Where no seed tells draws apart, the sample number does."""
    asked = Request("m", (Message("user", "P"),), nonce="a/0")
    with Store(tmp_path / "run", create=True, writing=True) as store:
        store.write([(asked, Reply("A", usage=(10, 5), cost=3.0))], [], [])
    name = f"replay:{tmp_path / 'run'}#m"
    (reply,) = ask(name, Request("x", (Message("user", "P"),), nonce="b/0"))
    assert (reply.text, reply.cost, reply.usage) == ("A", 0.0, None)  # it was paid for once
    with pytest.raises(Unanswered):
        ask(name, Request("x", (Message("user", "P"),), nonce="b/1"))


def test_the_engine_does_not_ask_again_where_there_is_no_answer(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", {"prompt": "P", "text": "a"})

    def job() -> engine.Job:
        yield [Request(f"file:{path}", (Message("user", "Q"),))]
        return []

    async def main(store: Store) -> Tally:
        async with Models(make_model) as models:
            return await Engine(store, models, Limits()).drive([job() for _ in range(20)])

    with Store(tmp_path / "run", create=True, writing=True) as store:
        tally = asyncio.run(main(store))
    assert (tally.failed, tally.retries, tally.calls) == (20, 0, 0)
