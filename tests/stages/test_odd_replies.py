"""Odd replies among good ones, over a real socket: each is an outcome, and all other trials are answered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tiltmeter.errors import ModelError
from tiltmeter.models import Price
from tiltmeter.models.options import ModelOptions
from tiltmeter.models.providers.openai import openai
from tiltmeter.records import ERROR, Message, Output, Request, Sampling
from tiltmeter.stages.engine import caller, retries
from tiltmeter.stages.engine.engine import Engine
from tiltmeter.stages.engine.limits import Limits, Tally
from tiltmeter.stages.engine.open_models import Models
from tiltmeter.stages.engine.sources import Job
from tiltmeter.store import Store
from tiltmeter.store.packing import id_number, number_text

GOOD = {"choices": [{"message": {"content": "she"}}], "usage": {"prompt_tokens": 5}}
PRICE = Price(1.0, 1.0)
TRIALS = 12


def http(body: bytes, status: str = "200 OK", length: int | None = None) -> bytes:
    size = len(body) if length is None else length
    return b"HTTP/1.1 %b\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%b" % (
        status.encode(),
        size,
        body,
    )


def chat(**changes: object) -> bytes:
    return http(json.dumps({**GOOD, **changes}).encode())


def message(value: object) -> bytes:
    return chat(choices=[{"message": value}])


ODD: dict[str, bytes] = {
    "choices empty": chat(choices=[]),
    "choices null": chat(choices=None),
    "choices missing": http(b"{}"),
    "choices of text": chat(choices=["she"]),
    "no message": chat(choices=[{}]),
    "message null": message(None),
    "null": http(b"null"),
    "404": http(b'{"error": {"message": "no such model"}}', "404 Not Found"),
    "418": http(b"I'm a teapot", "418 I'm a teapot"),
    "a redirect": http(b"", "302 Found"),
    "a web page": http(b"<html>Sign in</html>"),
    "above the limit": http(b'{"a": "' + b"x" * 3000 + b'"}'),
    "nested 100,000 deep": http(b'{"choices":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    "nested 500 deep": http(b'{"choices":' + b"[" * 500 + b"]" * 500 + b"}"),
    "model nested 500 deep": http(
        b'{"choices":[{"message":{"content":"she"}}],"model":' + b"[" * 500 + b"]" * 500 + b"}"
    ),
    "no UTF-8": http(b'{"choices": "\xff"}'),
    "an integer of 5,000 digits": http(b'{"choices": ' + b"7" * 5000 + b"}"),
}
FINE: dict[str, tuple[bytes, str]] = {
    "null content": (message({"content": None}), ""),
    "a lone surrogate": (
        http(b'{"choices":[{"message":{"content":"a\\ud83d"}}],"model":"m\\ud83d"}'),
        "a\ufffd",
    ),
    "usage of text": (chat(usage={"prompt_tokens": "5"}), "she"),
}


class Scripted(asyncio.Protocol):
    """Answers "she", and the request of one prompt with the bytes it was given."""

    def __init__(self, odd: bytes, seen: list[str]) -> None:
        self.odd, self.seen, self.came = odd, seen, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.came += data
        head, _, body = self.came.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0] or 0)
        if len(body) < length or not head:
            return
        prompt = json.loads(body)["messages"][0]["content"]
        self.seen.append(prompt)
        odd = "odd" in prompt and not ("once" in prompt and self.seen.count(prompt) > 1)
        self.transport.write(self.odd if odd else http(json.dumps(GOOD).encode()))
        self.transport.close()


def job(prompt: str) -> Job:
    request = Request(
        "openai:m", (Message("user", prompt),), Sampling(max_tokens=100), nonce=prompt
    )
    (reply,) = yield [request]
    return [Output(prompt, reply.outcome, reply.text, request.key)]


def drive(
    store: Store, prompts: list[str], odd: bytes, seen: list[str] | None = None, **limits: float
) -> Tally:
    """What a run of these prompts tallies, one after the other unless `concurrency` says more."""

    async def main() -> Tally:
        seen_ = [] if seen is None else seen
        server = await asyncio.get_running_loop().create_server(
            lambda: Scripted(odd, seen_), "127.0.0.1", 0
        )
        async with server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
            options = ModelOptions(base_url=url, timeout=0.5, price=PRICE)
            async with Models(lambda name: openai("m", options)) as models:
                allowed = Limits(**{"concurrency": 1, "patience": 0.0, **limits})  # type: ignore[arg-type]
                return await Engine(store, models, allowed).drive(map(job, prompts))

    return asyncio.run(main())


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(retries, "FIRST_WAIT_S", 0.001)
    with Store(tmp_path / "run", create=True, writing=True) as made:
        yield made


def outcomes(store: Store) -> dict[str, str]:
    return dict(store.rows("SELECT trial, outcome FROM outputs"))


def good(number: int = TRIALS) -> list[str]:
    return [f"good {n}" for n in range(number)]


@pytest.mark.parametrize("name", ODD)
def test_an_odd_reply_among_good_ones_is_an_outcome(
    store: Store, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "above the limit":
        monkeypatch.setattr("tiltmeter.models.http.MAX_TEXT", 2000)
    prompts = [*good(), "odd"]
    prompts.insert(3, prompts.pop())
    tally = drive(store, prompts, ODD[name])
    assert outcomes(store) == {**dict.fromkeys(good(), "answer"), "odd": ERROR}
    assert (tally.done, tally.failed) == (TRIALS + 1, 0)
    raw, cost = store.first("SELECT raw, cost FROM calls WHERE outcome='error'")
    assert raw == ODD[name].partition(b"\r\n\r\n")[2].decode("utf-8", "replace")[: len(raw)]
    asked = Request("openai:m", (Message("user", "odd"),), Sampling(max_tokens=100), nonce="odd")
    assert cost == PRICE.worst(asked)


@pytest.mark.parametrize("name", FINE)
def test_a_strange_reply_that_can_be_read_is_an_answer(store: Store, name: str) -> None:
    body, text = FINE[name]
    drive(store, ["good", "odd"], body)
    assert outcomes(store) == {"good": "answer", "odd": "answer"}
    assert store.first("SELECT text FROM outputs WHERE trial='odd'")[0] == text


def test_a_reply_that_is_cut_is_asked_for_again(store: Store) -> None:
    whole = json.dumps(GOOD).encode()
    for number, cut in enumerate((http(whole[:20]), http(whole[:20], length=len(whole)))):
        tally = drive(store, ["good", f"odd once {number}"], cut)
        # no trial was planned: of its id the run holds the integer alone
        short = number_text(id_number(f"odd once {number}"))
        assert outcomes(store)[short] == "answer" and tally.retries == 1


@pytest.mark.parametrize("name", ["choices empty", "404", "a web page"])
def test_before_a_first_good_reply_it_stops_the_run(store: Store, name: str) -> None:
    with pytest.raises(ModelError):
        drive(store, ["odd", *good()], ODD[name])
    assert outcomes(store) == {}
    drive(store, good(1), ODD[name])
    drive(store, ["odd", *good()], ODD[name])  # that it has answered is known from the store
    assert outcomes(store)["odd"] == ERROR


def test_several_in_a_row_stop_the_run(store: Store) -> None:
    odd = [f"odd {n}" for n in range(20)]
    with pytest.raises(ModelError, match="5 replies in a row"):
        drive(store, [*good(3), *odd], ODD["choices empty"])
    assert list(outcomes(store).values()).count(ERROR) == caller.ODD_IN_A_ROW
    mixed = [
        prompt
        for pair in zip(odd[5:], [f"fine {n}" for n in range(15)], strict=True)
        for prompt in pair
    ]
    drive(store, mixed, ODD["choices empty"])  # with good ones between there is no end to it
    assert list(outcomes(store).values()).count(ERROR) == 20


class TestPossiblyPaid:
    """What was sent and not answered counts at its worst case."""

    worst = PRICE.worst(Request("openai:m", (Message("user", "odd"),), Sampling(max_tokens=100)))

    def test_a_reply_that_never_comes_is_counted_and_the_cap_holds(self, store: Store) -> None:
        seen: list[str] = []
        cap = 20 * self.worst
        with pytest.raises(ModelError, match=r"may have been charged"):
            try:
                drive(store, [f"odd {n}" for n in range(50)], b"", seen, max_cost=cap)
            except caller.TiltmeterError as error:
                raise ModelError(str(error)) from None
        assert 0 < len(seen) <= 20

    def test_it_is_kept_and_shown(self, store: Store) -> None:
        tally = drive(store, ["good", "odd once"], http(b"{"))
        assert tally.possibly_paid == pytest.approx(PRICE.worst(next(job("odd once"))[0]))
        assert drive(store, [], b"").possibly_paid == tally.possibly_paid

    def test_a_refused_call_costs_nothing(self, store: Store) -> None:
        tally = drive(store, ["good", "odd once"], http(b"{}", "429 Too Many Requests"))
        assert (tally.retries, tally.possibly_paid) == (1, 0.0)


def test_the_key_is_cut_from_the_bytes_as_they_arrive(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-" + "0123456789abcdef" * 4
    monkeypatch.setenv("OPENAI_API_KEY", key)
    said = {
        "choices": [{"message": {"content": f"you are {key}"}}],
        "model": key,
        "system_fingerprint": key,
    }
    drive(store, ["good", "odd"], http(json.dumps(said).encode()))
    everything = "".join(
        str(row) for table in ("calls", "outputs") for row in store.rows(f"SELECT * FROM {table}")
    )
    assert key not in everything and "you are ***" in everything


def test_an_error_steers_no_terminal(store: Store) -> None:
    said = {"error": {"message": "\x1b]0;owned\x07 and \x1b[2J\u009b31m no"}}
    with pytest.raises(ModelError) as caught:
        drive(store, ["odd"], http(json.dumps(said).encode(), "418 no"))
    assert not any(ord(letter) < 32 or 127 <= ord(letter) < 160 for letter in str(caught.value))
    page = http(b"<html>\x1b[2J</html>", "418 no")
    with pytest.raises(ModelError) as caught:
        drive(store, ["odd"], page)
    assert "\x1b" not in str(caught.value)
