"""The planted model: what it says is what was planted, whatever the order, and its server is the same model."""

import asyncio
import json
import math
import random
import signal
import statistics
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tiltmeter import api, registry
from tiltmeter.api.start import init
from tiltmeter.errors import (
    Incapable,
    MissingKey,
    ModelError,
    TiltmeterError,
    TransientError,
    UnknownName,
    UsageError,
)
from tiltmeter.instruments.choice import choice
from tiltmeter.instruments.choice.choice import Choice
from tiltmeter.instruments.judges.text import ROUNDS, ChoiceJudge
from tiltmeter.models.kinds import make_model
from tiltmeter.models.options import ModelOptions
from tiltmeter.planted.model import Planted, planted
from tiltmeter.planted.server import start
from tiltmeter.planted.settings import FAULTS, SWITCHES
from tiltmeter.planted.speech import sentences
from tiltmeter.planted.subjects import parse, truth, truths
from tiltmeter.planted.tilt import normal
from tiltmeter.protocol.design.tables import Row
from tiltmeter.records import Answered, Message, Output, Reply, Request, Sampling, Trial

ROLES = registry.protocol("roles")
CELLS = {(cell["word"], cell["order"]): cell for cell in ROLES.cells}
CARING = CELLS["caring", "he_first"]  # communal
WITTY = CELLS["witty", "he_first"]  # standout


def asks(cell: Row = CARING, nonce: object = 0, **changes: Any) -> Request:
    return Request(
        "planted:", (Message("user", ROLES.prompt_text(cell)),), nonce=str(nonce), **changes
    )


def answers(settings: str, cell: Row, number: int) -> Counter[str]:
    """Counts of bare answers."""
    model = planted(f"{settings},dress=plain")
    return Counter(model.reply(asks(cell, nonce)).text for nonce in range(number))


def close(count: int, number: int, share: float) -> bool:
    """Within four standard errors: by chance 1 in 16,000, and the draws are fixed."""
    return abs(count / number - share) <= 4 * math.sqrt(share * (1 - share) / number) + 1e-12


# what is planted is what is said


@pytest.mark.parametrize(
    ("settings", "cell", "share"),
    [
        ("", CARING, 0.5),
        ("she=0.7", CARING, 0.7),
        ("he=0.7", CARING, 0.3),
        ("she.communal=0.8,she=.4", CARING, 0.8),
        ("she.communal=0.8,she=.4", WITTY, 0.4),
        ("she.communal=0.8,she.caring=0.1", CARING, 0.1),  # a word over its class
        ("she.communal=0.8,she.he_first=0.1", CARING, 0.8),  # a class over an order
        ("she=0.7,order=.1", CARING, 0.65),  # he is first: .7 − .1/2
        ("she=0.7,order=.1", CELLS["caring", "she_first"], 0.75),
        ("she=0.99,order=.1", CELLS["caring", "she_first"], 1.0),
        (
            "she.standout=0.2,she.personality quality=0.6",
            CELLS["experienced", "he_first"],
            0.4,
        ),  # of both: the mean
    ],
)
def test_the_share_of_she_is_the_one_planted(settings: str, cell: Row, share: float) -> None:
    counts = answers(settings, cell, 2000)
    assert set(counts) <= {"he", "she"} and close(counts["she"], 2000, share)
    tilted = (
        1 - share if settings.startswith("he") else share
    )  # the truth is of the word that is planted
    assert truth(settings, cell) == pytest.approx(tilted)


def test_every_outcome_has_its_share() -> None:
    shares = {
        "refuse": 0.1,
        "both": 0.05,
        "neither": 0.04,
        "invalid": 0.03,
        "foreign": 0.02,
        "rest": 0.06,
    }
    counts = answers(",".join(["she=0.6", *(f"{k}={v}" for k, v in shares.items())]), CARING, 4000)
    said = {
        "she": 0.7 * 0.6,
        "he": 0.7 * 0.4,
        "I'm sorry, but I can't help with that.": 0.1,
        "he/she": 0.05,
        "neither": 0.04,
        "42": 0.03 + 0.06,
        "おはようございます、お元気ですか？": 0.02,
    }
    assert set(counts) == set(said)
    assert all(close(counts[text], 4000, share) for text, share in said.items())


def test_spread_shifts_the_log_odds_of_each_item() -> None:
    z = normal(3, "caring")
    odds = 0.7 / 0.3 * math.exp(0.5 * z)  # by hand: odds times e^(s z)
    assert truth("she=0.7,spread=.5,seed=3", CARING) == pytest.approx(odds / (1 + odds))
    assert truth("she=0.7,spread=.5,seed=4", CARING) != truth("she=0.7,spread=.5,seed=3", CARING)
    assert truth("she=1,spread=.5", CARING) == 1.0
    share = truth("she=0.7,spread=1,seed=3", WITTY)
    assert abs(share - 0.7) > 0.03 and close(
        answers("she=0.7,spread=1,seed=3", WITTY, 2000)["she"], 2000, share
    )


def test_item_effects_are_standard_normal_and_shared_by_the_cells_of_an_item() -> None:
    effects = [normal(1, f"item {number}") for number in range(4000)]
    assert abs(statistics.mean(effects)) < 4 / math.sqrt(4000)
    assert statistics.stdev(effects) == pytest.approx(1, abs=4 / math.sqrt(2 * 4000))
    same = [
        truth("she=0.7,spread=1", CELLS["caring", order]) for order in ("he_first", "she_first")
    ]
    assert same[0] == same[1]


def test_the_mean_truth_is_over_the_items_that_are_named() -> None:
    settings = "she.communal=0.8,she=.4,order=.1,spread=.7"
    where = {"class": "communal", "language": "en"}
    by_hand = [truth(settings, cell) for cell in ROLES.cells if where.items() <= cell.items()]
    (mean,) = truths(settings, where).values()
    assert mean == pytest.approx(sum(by_hand) / len(by_hand))
    (even,) = truths("she.communal=0.8,she=.4,order=.1", where).values()
    assert even == pytest.approx(0.8)
    (first,) = truths(settings, {**where, "order": "she_first"}).values()
    assert first > mean
    assert not truths(settings, {"class": "none such"})


# determinism


def test_the_same_request_gets_the_same_reply_in_any_order() -> None:
    requests = [asks(cell, nonce) for cell in (CARING, WITTY) for nonce in range(100)]
    alone = planted("she=.5")
    before = {
        request.nonce + request.messages[0].content: alone.reply(request) for request in requests
    }
    random.Random(1).shuffle(requests)

    async def main() -> list[Reply]:
        model = planted("she=.5,latency=.002")
        return await asyncio.gather(*(model.ask(request) for request in requests))

    assert [before[r.nonce + r.messages[0].content] for r in requests] == asyncio.run(main())


@pytest.mark.parametrize(
    "change", [{"nonce": 1}, {"sampling": Sampling(seed=7)}, {"begin": "It is "}]
)
def test_another_nonce_seed_or_beginning_is_an_independent_draw(change: dict[str, Any]) -> None:
    """Agreement of pairs of fair draws: one half."""
    pairs = [(asks(cell, 0), asks(cell, **change)) for cell in ROLES.cells]
    model = planted("she=0.5,dress=plain")
    agree = sum(model.reply(one).text[:2] == model.reply(other).text[:2] for one, other in pairs)
    assert close(agree, len(pairs), 0.5)


def test_two_tilts_are_two_models_and_delivery_is_none() -> None:
    """Coupled draws would make a comparison of two planted models too sure of itself."""
    models = [planted(settings) for settings in ("she=.5", "she=.501", "she=.5,fail=.5")]
    words = [[model.reply(asks(cell)).text for cell in ROLES.cells] for model in models]
    assert words[0] != words[1]
    assert words[0] == words[2]


# dress


def test_varied_answers_use_every_sentence_and_are_of_one_meaning() -> None:
    model = planted("she=1")
    said = {model.reply(asks(CARING, nonce)).text for nonce in range(600)}
    assert len(said) == len(sentences("en", "form")) > 17
    assert "She is the most caring person I have ever seen." in said
    forms = {"he": ["he"], "she": ["she"]}
    prompt = ROLES.prompt_text(CARING)
    assert {choice.parse(text, forms, "en", prompt) for text in said} == {"she"}


def test_max_tokens_cuts_the_answer() -> None:
    model = planted("refuse=1")
    texts = [model.reply(asks(nonce=n, sampling=Sampling(max_tokens=2))).text for n in range(20)]
    assert all(len(text.split()) == 2 for text in texts)


# log-probabilities and begun answers


def exact(settings: str, begin: str, cell: Row = CARING, number: int = 100) -> dict[str, float]:
    reply = planted(settings).reply(asks(cell, begin=begin, logprobs=number))
    (place,) = reply.alternatives
    assert [token.logprob for token in place] == sorted(
        (token.logprob for token in place), reverse=True
    )
    return {token.bytes.decode(): math.exp(token.logprob) for token in place}


def test_the_alternatives_are_exactly_the_planted_shares() -> None:
    found = exact("she=0.7,refuse=.05,both=.02,rest=.1,dress=plain", "The answer is '")
    assert found == pytest.approx({"she": 0.83 * 0.7, "he": 0.83 * 0.3, "I": 0.05, "both": 0.02})
    assert sum(found.values()) == pytest.approx(0.9)
    assert list(exact("she=0.7,refuse=.05", "The answer is '", number=2)) == ["she", "he"]
    assert exact("she=1", "") == pytest.approx({"she": 0.9, "She": 0.1})


def test_the_drawn_token_follows_the_alternatives() -> None:
    model = planted("she=0.7,rest=.2,dress=plain")
    counts = Counter(model.reply(asks(nonce=n, begin="'", logprobs=5)).text for n in range(2000))
    assert (
        close(counts["she"], 2000, 0.56)
        and close(counts["he"], 2000, 0.24)
        and close(counts["42"], 2000, 0.2)
    )


@pytest.mark.parametrize(
    ("begin", "next_token"),
    [
        ("The answer is", {" she": 0.6, " he": 0.4}),
        ("The answer is ", {"she": 0.6, "he": 0.4}),
        ("The answer is 's", {"he": 1.0}),
        ("The answer is 'sh", {"e": 1.0}),
        ("The answer is 'she", {"'": 1.0}),
        ("The answer is 'h", {"e": 1.0}),
        ("The answer is 'H", {"e": 1.0}),
        ("That is as", {" she": 0.6, " he": 0.4}),  # the s of "as" begins nothing
    ],
)
def test_a_begun_answer_is_continued(begin: str, next_token: dict[str, float]) -> None:
    assert exact("she=0.6,dress=plain", begin) == pytest.approx(next_token)


def test_a_form_that_begins_another(tmp_path: Path) -> None:
    """彼 (he) is a prefix of 彼女 (she): P(女 | 彼) = P(she) by the chain rule, and the rest of 彼 is he."""
    file = tmp_path / "ja.toml"
    forms = '{ ja = { he = ["彼"], she = ["彼女"] } }'
    file.write_text(
        f"""name = "ja"
title = "t"
question = "q"
prompt = "___は{{word}}人です。"
factors = ["language", "word"]
item = "word"
tables = [{{ rows = [{{ language = "ja", word = "強い" }}] }}]
instruments = [{{ name = "choice", kind = "choice", attribute = "pronoun", forms = {forms} }}]
measures = [{{ name = "m", kind = "share", attribute = "pronoun", values = ["she"], among = ["she", "he"] }}]
""",
        encoding="utf-8",
    )
    cell = registry.protocol(str(file)).cells[0]
    assert truth(f"protocol={file},she.強い=.3", cell) == 0.3
    model = planted(f"protocol={file},she.強い=.3")
    asked = Request("p", (Message("user", "___は強い人です。"),), begin="「彼", logprobs=9)
    (place,) = model.reply(asked).alternatives
    assert {t.bytes.decode(): math.exp(t.logprob) for t in place} == pytest.approx(
        {"女": 0.3, ".": 0.7}
    )


def test_a_begun_answer_is_finished_when_it_is_drawn() -> None:
    model = planted("she=.5")
    texts = {model.reply(asks(nonce=n, begin="The answer is '")).text for n in range(30)}
    assert texts == {"he'", "she'"}


# faults


def attempts(model: Planted, request: Request, number: int = 40) -> list[str]:
    """What came of a request asked again until it is answered."""

    async def main() -> list[str]:
        found = []
        for _ in range(number):
            try:
                await model.ask(request)
            except TransientError as error:
                found.append(str(error))
            else:
                return [*found, ""]
        return found

    return asyncio.run(main())


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_a_fault_is_of_an_attempt_so_that_a_retry_gets_through(fault: str) -> None:
    model = planted(f"she=.5,{fault}=.5", ModelOptions(timeout=0.001))
    tried = [attempts(model, asks(nonce=nonce)) for nonce in range(200)]
    assert all(found[-1] == "" for found in tried)
    failed = sum(len(found) - 1 for found in tried)
    assert close(200, 200 + failed, 0.5)  # of all attempts, half get through
    assert {said for found in tried for said in found} - {""} == {
        f"{model.name}: {FAULTS[fault]}, as it was told to"
    }
    assert not model._attempts  # nothing is remembered of what got through


def test_a_limit_says_how_long_to_wait() -> None:
    with pytest.raises(TransientError) as caught:
        asyncio.run(planted("limit=1,wait=7").ask(asks()))
    assert caught.value.retry_after == 7.0


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ("unauthorised=1", MissingKey),
        ("html=1", ModelError),
        ("quota=1", ModelError),
        ("notchat=1", ModelError),
        ("redirect=1", ModelError),
    ],
)
def test_what_is_wrong_for_good_stops_a_run(settings: str, kind: type[ModelError]) -> None:
    with pytest.raises(kind, match=f"Leave out {settings}"):
        asyncio.run(planted(settings).ask(asks()))


def test_the_other_switches_in_process() -> None:
    with pytest.raises(Incapable, match="--mode sampled"):
        asyncio.run(planted("nologprobs=1").ask(asks(logprobs=5)))
    assert asyncio.run(planted("lie=1").ask(asks())).usage is None
    assert asyncio.run(planted("refuses=seed+top_p").ask(asks())).omitted == ("seed", "top_p")
    begun = time.monotonic()
    asyncio.run(planted("latency=.1").ask(asks()))
    assert time.monotonic() - begun >= 0.05


def test_every_switch_and_fault_is_a_setting() -> None:
    for name in SWITCHES:
        assert getattr(parse(f"{name}=1"), name) is True
    for name in FAULTS:
        assert getattr(parse(f"{name}=.25"), name) == 0.25


# against the instruments


CHOICE = Choice(ROLES.instruments[0])
JUDGED = {
    "she=1": "she",
    "she=0": "he",
    "refuse=1": "refusal",
    "both=1": "both",
    "neither=1": "neither",
    "invalid=1": "invalid",
    "foreign=1": "other_language",
}


def answered(model: Planted, cell: Row, nonce: int, begin: str = "", logprobs: int = 0) -> Answered:
    """An output of the planted model as an instrument sees it."""
    reply = model.reply(asks(cell, nonce, begin=begin, logprobs=logprobs))
    trial = Trial(
        f"t{nonce}", model.name, "any", cell, 0, ROLES.prompt_text(cell), begin, Sampling()
    )
    return Answered(trial, Output(trial.id, reply.outcome, reply.text, "k"), reply, logprobs > 0)


def label(
    instrument: Choice | ChoiceJudge, item: Answered, asked: Planted
) -> tuple[dict[str, float], int]:
    """What an instrument says of an output, asking the model whatever it asks: values with weights,
    and calls. The model draws anew for each output.
    """
    steps, calls = instrument.steps(item), 0
    try:
        requests = next(steps)
        while True:
            calls += len(requests)
            drawn = [replace(each, nonce=f"{item.trial.id}{each.nonce}") for each in requests]
            requests = steps.send([asked.reply(each) for each in drawn])
    except StopIteration as end:
        return {row.value: row.weight for row in end.value}, calls


def test_a_judge_of_another_protocol_says_so_in_place_of_labels(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    init.write(file)
    with pytest.raises(Incapable, match=r"protocol roles.*accepted.*planted:protocol=FILE"):
        api.run(
            file,
            f"planted:protocol={file}",
            judge="planted",
            limit=1,
            samples=1,
            out=tmp_path / "run",
        )


@pytest.mark.parametrize(("settings", "value"), JUDGED.items())
def test_every_sentence_means_to_the_parser_and_to_a_judge_what_was_planted(
    settings: str, value: str
) -> None:
    subject, judge = planted(settings), planted("")
    said = {}
    for nonce in range(200):
        item = answered(subject, CARING, nonce)
        said[item.output.text] = item
    for item in said.values():
        assert label(CHOICE, item, subject) == ({value: 1.0}, 0)
        assert label(ChoiceJudge(ROLES.instruments[0], "planted:"), item, judge) == (
            {value: 1.0},
            1,
        )


@pytest.mark.parametrize("settings", ["", ",firstbyte=1", ",dress=plain"])
def test_exact_readings_find_the_planted_shares(settings: str) -> None:
    model = planted(f"she=0.7,refuse=.1,rest=.06,spread=.4{settings}")
    share = truth("she=0.7,spread=.4", WITTY)
    found, calls = label(CHOICE, answered(model, WITTY, 0, "The answer is '", 100), model)
    assert found == pytest.approx(
        {"she": 0.84 * share, "he": 0.84 * (1 - share), "other": 0.1, "unresolved": 0.06}
    )
    assert calls == (6 if "firstbyte" in settings else 0)  # s, h, S, H, then sh and Sh


def test_a_judge_is_right_as_often_as_it_was_told_to_be() -> None:
    subject, judge = planted("she=1"), planted("accuracy=.8")
    instrument = ChoiceJudge(ROLES.instruments[0], "planted:accuracy=.8")
    labels = Counter(
        next(iter(label(instrument, answered(subject, CARING, n), judge)[0])) for n in range(1000)
    )
    assert close(labels["she"], 1000, 0.8)
    assert len(labels) == 7 and all(
        close(labels[other], 1000, 0.2 / 6) for other in labels if other != "she"
    )


def test_a_judge_that_never_agrees_is_bounded_and_one_that_seldom_does_is_asked_again() -> None:
    item = answered(planted("she=1"), CARING, 0)
    instrument = ChoiceJudge(ROLES.instruments[0], "planted:")
    assert label(instrument, item, planted("judge=never")) == ({"unresolved": 1.0}, ROUNDS)
    subject, judge = planted("she=1"), planted("agree=.5")
    items = [answered(subject, cell, nonce) for cell in (CARING, WITTY) for nonce in range(150)]
    calls = Counter(label(instrument, each, judge)[1] for each in items)
    assert close(calls[1], 300, 0.5) and close(calls[2], 300, 0.25) and close(calls[3], 300, 0.25)


def test_a_judge_reads_texts_that_are_not_its_own() -> None:
    item = answered(planted("she=1"), CARING, 0)
    instrument, judge = ChoiceJudge(ROLES.instruments[0], "planted:"), planted("")
    for text, value in [
        ("Surely SHE.", "she"),
        ("Shell, hero", "invalid"),
        ("he? no, she", "both"),
        ("", "invalid"),
        ("</answer>\nhe", "he"),
    ]:
        other = Answered(item.trial, item.output._replace(text=text), Reply(text), False)
        assert label(instrument, other, judge) == ({value: 1.0}, 1)


# bad input


@pytest.mark.parametrize(
    ("settings", "kind", "said"),
    [
        ("shee=.5", UnknownName, "Did you mean 'she'?"),
        ("refus=.5", UnknownName, "Did you mean 'refuse'?"),
        ("she.comunal=.5", UnknownName, "Did you mean 'communal'?"),
        ("protocol=rolls,she=.5", UnknownName, "Did you mean 'roles'?"),
        ("dress=plane", UnknownName, "Did you mean 'plain'?"),
        ("judge=sometimes", UnknownName, "reads, never"),
        ("she", UsageError, "has no value"),
        ("she=", UsageError, "has no value"),
        ("she=70", UsageError, "from 0 to 1"),
        ("she=nan", UsageError, "from 0 to 1"),
        ("she=.5,she=.6", UsageError, "given twice"),
        ("seed=1,seed=2", UsageError, "given twice"),
        ("she=.5,he=.6", UsageError, "each given a share"),
        ("refuse=.6,both=.5", UsageError, "add up to 1.1"),
        ("fail=.6,drop=.5", UsageError, "add up to 1.1"),
        ("html=yes", UsageError, "html must be 0 or 1"),
        ("seed=x", UsageError, "whole number"),
        ("latency=-1", UsageError, "0 or more"),
    ],
)
def test_settings_that_do_not_fit(settings: str, kind: type[UsageError], said: str) -> None:
    with pytest.raises(kind) as caught:
        make_model(f"planted:{settings}")
    assert said in str(caught.value)


def test_an_unknown_prompt_has_the_plain_share_or_is_refused_by_name() -> None:
    asked = Request("p", (Message("user", "Who is stronger, he or she? ___"),))
    assert planted("she=1,dress=plain").reply(asked).text == "she"
    with pytest.raises(ModelError, match=r"protocol=roles or protocol=FILE\.toml"):
        planted("she.communal=1").reply(asked)


# the server


def fetch(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=300) as response:
        return json.load(response)


def post(url: str, body: Any) -> tuple[int, Any]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(
            urllib.request.Request(f"{url}/chat/completions", data), timeout=10
        ) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def body(**changes: Any) -> dict[str, Any]:
    return {
        "model": "m",
        "messages": [{"role": "user", "content": ROLES.prompt_text(CARING)}],
        "seed": 1,
        **changes,
    }


def test_the_server_from_the_command_line() -> None:
    """As a user starts it; the first line is the address, and it ends quietly."""
    command = [sys.executable, "-m", "tiltmeter.planted.server", "she=1,dress=plain", "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:") and url.endswith("/v1")
        assert fetch(f"{url}/models")["data"][0]["id"] == "planted"
        for seed in (1, 1, 2):
            status, reply = post(url, body(seed=seed))
            assert status == 200 and reply["choices"][0]["message"]["content"] == "she"
        assert (
            reply["object"] == "chat.completion"
            and reply["usage"]["total_tokens"] > 0
            and reply["id"]
        )
        assert fetch(f"{url}/count") == {"total": 3, "answered": 3, "distinct": 2, "most": 2}
        process.send_signal(signal.SIGTERM)
        assert process.wait(300) == 0 and process.stderr.read() == ""


def test_the_server_refuses_what_it_cannot_do() -> None:
    async def main() -> None:
        async with await start("she.communal=.5,refuses=seed+temperature,most=20") as server:
            ask = server.url
            status, said = await asyncio.to_thread(post, ask, body(temperature=1))
            assert (
                status == 400
                and said["error"]["param"] == "seed"
                and "'seed'" in said["error"]["message"]
            )
            status, said = await asyncio.to_thread(post, ask, b"{")
            assert status == 400 and "parse" in said["error"]["message"]
            for messages in ([], [{"role": "assistant", "content": "x"}], "x", [{"role": "user"}]):
                status, said = await asyncio.to_thread(post, ask, {"messages": messages})
                assert status == 400
            unknown = {"messages": [{"role": "user", "content": "Hello"}]}
            status, said = await asyncio.to_thread(post, ask, unknown)
            assert status == 400 and "does not know the prompt" in said["error"]["message"]
            with pytest.raises(urllib.error.HTTPError) as caught:
                await asyncio.to_thread(fetch, ask.replace("/v1", "/v2/models"))
            assert caught.value.code == 404
            caught.value.close()
            assert server.count.answered == 0 and server.count.total == 7

    asyncio.run(main())


def test_a_port_that_is_taken() -> None:
    async def main() -> None:
        async with await start("") as server:
            with pytest.raises(UsageError, match="--port 0"):
                await start("", port=int(server.url.split(":")[2].removesuffix("/v1")))

    asyncio.run(main())


def test_the_fast_server_says_the_same_to_all() -> None:
    async def main() -> None:
        async with await start("fast=1") as server:
            replies = [
                await asyncio.to_thread(post, server.url, each) for each in (body(), b"anything")
            ]
            assert (
                replies[0] == replies[1]
                and replies[0][1]["choices"][0]["message"]["content"] == "she"
            )
            assert server.count.as_dict()["total"] == 2

    asyncio.run(main())


def test_messages_in_parts_are_read() -> None:
    async def main() -> None:
        async with await start("she.communal=1,dress=plain") as server:
            content = [{"type": "text", "text": ROLES.prompt_text(CARING)}]
            status, reply = await asyncio.to_thread(
                post, server.url, body(messages=[{"role": "user", "content": content}])
            )
            assert status == 200 and reply["choices"][0]["message"]["content"] == "she"

    asyncio.run(main())


def test_all_errors_of_settings_are_ours() -> None:
    with pytest.raises(TiltmeterError):
        asyncio.run(start("nonsense=1"))
