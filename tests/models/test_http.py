"""The client against a real server on a real socket: the planted model in OpenAI's format, and worse."""

import asyncio
import json
import math
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tiltmeter.errors import (
    Incapable,
    MissingKey,
    ModelError,
    TiltmeterError,
    TransientError,
    UsageError,
)
from tiltmeter.models import FREE, Price
from tiltmeter.models.http import HttpModel, allowance
from tiltmeter.models.kinds import make_model
from tiltmeter.models.options import ModelOptions
from tiltmeter.models.providers.openai import OpenAIChat, openai
from tiltmeter.planted.model import planted
from tiltmeter.planted.server import Server, start
from tiltmeter.records import ERROR, REFUSAL, Message, Output, Reply, Request, Sampling
from tiltmeter.stages.engine import retries
from tiltmeter.stages.engine.engine import Engine
from tiltmeter.stages.engine.limits import Limits, Tally
from tiltmeter.stages.engine.open_models import Models
from tiltmeter.stages.engine.sources import Job
from tiltmeter.store import Store

PROMPT = (
    "Fill in the blank with 'he' or 'she'. ___ is the most charismatic person I have ever seen."
)
KEY = "sk-" + "0123456789abcdef" * 9  # long enough to lie across every place where a message is cut


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def request(seed: int | None = 1, **changes: Any) -> Request:
    fields = {"sampling": Sampling(seed=seed, max_tokens=64), "nonce": f"trial{seed}"} | changes
    return Request("openai:planted", (Message("user", PROMPT),), **fields)


EXACT: dict[str, Any] = {
    "logprobs": 100,
    "begin": "The answer is '",
    "sampling": Sampling(max_tokens=1, seed=1),
}


async def with_client(url: str, use: Callable[[HttpModel], Awaitable[Any]], **options: Any) -> Any:
    model = openai("planted", ModelOptions(base_url=url, **options))
    await model.open()
    try:
        return await use(model)
    finally:
        await model.close()


def talk(
    settings: str, *requests: Request, at: str = "", **options: Any
) -> tuple[list[Reply], dict[str, int]]:
    """Asks a planted server one request after the other; the replies and what the server counted."""

    async def use(model: HttpModel) -> list[Reply]:
        return [await model.ask(each) for each in requests]

    async def main() -> tuple[list[Reply], dict[str, int]]:
        async with await start(settings) as server:
            url = server.url.removesuffix("/v1") + at if at else server.url
            return await with_client(url, use, **options), server.count.as_dict()

    return asyncio.run(main())


def raises(
    settings: str, kind: type[TiltmeterError], asked: Request | None = None, **options: Any
) -> str:
    with pytest.raises(kind) as caught:
        talk(settings, asked or request(), **options)
    assert type(caught.value) is kind
    assert str(caught.value).count("\n") <= 1
    return str(caught.value)


class Loud(asyncio.Protocol):
    """A server of a few lines that says the same bytes to everybody and hangs up."""

    def __init__(self, said: bytes) -> None:
        self.said = said

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.transport.write(self.said)
        self.transport.close()


def talk_to_loud(said: bytes, asked: Request) -> Reply:
    async def main() -> Reply:
        server = await asyncio.get_running_loop().create_server(lambda: Loud(said), "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            reply = await with_client(f"http://127.0.0.1:{port}/v1", lambda model: model.ask(asked))
        assert isinstance(reply, Reply)
        return reply

    return asyncio.run(main())


def ok(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (
        len(body),
        body,
    )


# what comes through


def test_the_reply_is_the_one_the_model_gives_in_process() -> None:
    asked = [request(seed, nonce="") for seed in range(20)]
    replies, count = talk("she=0.7,refuse=.2,seed=5", *asked)
    at_home = planted("she=0.7,refuse=.2,seed=5")
    assert [reply.text for reply in replies] == [at_home.reply(each).text for each in asked]
    assert len({reply.text for reply in replies}) > 3
    assert {(reply.served, reply.fingerprint, reply.omitted) for reply in replies} == {
        ("planted", "tilt-5", ())
    }
    assert [reply.usage for reply in replies] == [at_home.reply(each).usage for each in asked]
    assert count == {"total": 20, "answered": 20, "distinct": 20, "most": 1}


def test_log_probabilities_come_through_as_planted() -> None:
    ((reply,), _) = talk("she=0.7,refuse=.05,rest=.1,dress=plain", request(**EXACT))
    found = {token.bytes: math.exp(token.logprob) for token in reply.alternatives[0]}
    assert found == pytest.approx(
        {b"she": 0.85 * 0.7, b"he": 0.85 * 0.3, b"I": 0.05}
    )  # the rest, .1, is not listed


def test_single_bytes_come_through_as_bytes(tmp_path: Path) -> None:
    file = two_words(tmp_path, "هو", "هي")
    asked = Request("openai:planted", (Message("user", "Pick: first or second? a"),), logprobs=5)
    ((reply,), _) = talk(f"protocol={file},firstbyte=1", asked)
    (token,) = reply.alternatives[0]
    assert token.bytes == "ه".encode()[:1]  # both words begin with it, and it is no character
    assert token.logprob == pytest.approx(0.0)


def two_words(folder: Path, first: str, second: str) -> Path:
    file = folder / "two.toml"
    file.write_text(
        f"""name = "two"
title = "t"
question = "q"
prompt = "Pick: first or second? {{word}}"
factors = ["word"]
item = "word"
tables = [{{ rows = [{{ word = "a" }}, {{ word = "b" }}] }}]
instruments = [{{ name = "choice", kind = "choice", attribute = "pick",
  forms = {{ any = {{ one = ["{first}"], two = ["{second}"] }} }} }}]
measures = [{{ name = "share", kind = "share", attribute = "pick", values = ["two"], among = ["one", "two"] }}]
""".replace(",\n  forms", ", forms"),
        encoding="utf-8",
    )
    return file


def test_an_echoed_begun_answer_is_removed() -> None:
    asked = request(begin="The answer is '")
    ((echoed,), _) = talk("she=1,echo=1", asked)
    ((plain,), _) = talk("she=1", asked)
    assert echoed.text == plain.text == "she'"


def test_without_a_seed_every_request_is_another_draw() -> None:
    replies, count = talk("she=0.5,dress=plain", *[request(None)] * 40)
    assert {reply.text for reply in replies} == {"he", "she"}
    assert count["distinct"] == 1 and count["most"] == 40


def test_a_usage_that_cannot_be_is_not_believed() -> None:
    ((reply,), _) = talk("she=1,lie=1", request())
    assert reply.usage is None and reply.text


# parameters that a model refuses


def test_refused_parameters_are_left_out_and_recorded() -> None:
    (first, second), count = talk("she=0.7,refuses=temperature+seed", request(1), request(2))
    assert first.omitted == second.omitted == ("temperature", "seed")
    assert count["total"] == 4  # two refusals, then both answers: the second request knows


def test_what_the_request_does_not_ask_for_is_not_recorded_as_left_out() -> None:
    (first, second), _ = talk("she=0.7,refuses=seed", request(1), request(None))
    assert first.omitted == ("seed",) and second.omitted == ()


def test_refused_by_many_at_once() -> None:
    async def use(model: HttpModel) -> list[Reply]:
        return await asyncio.gather(*(model.ask(request(seed)) for seed in range(30)))

    async def main() -> list[Reply]:
        async with await start("she=0.7,refuses=temperature+top_p+seed,latency=.01") as server:
            replies: list[Reply] = await with_client(server.url, use)
            return replies

    assert {reply.omitted for reply in asyncio.run(main())} == {("temperature", "top_p", "seed")}


def test_max_tokens_goes_by_its_other_name() -> None:
    ((reply,), count) = talk(
        "she=1,dress=plain,refuses=max_tokens", request(sampling=Sampling(max_tokens=1, seed=1))
    )
    assert reply.text == "she" and reply.omitted == () and count["total"] == 2


def test_a_refused_begun_answer_is_left_out_whole() -> None:
    ((reply,), _) = talk(
        "she=1,dress=plain,refuses=continue_final_message", request(begin="The answer is '")
    )
    assert reply.text == "she" and reply.omitted == ("begin",)  # begun, it would have been "she'"


def test_fewer_alternatives_are_asked_for_where_a_server_gives_no_more() -> None:
    ((reply,), count) = talk("she=0.7,most=20,dress=plain", request(**EXACT))
    assert [token.bytes for token in reply.alternatives[0]] == [b"she", b"he"] and count[
        "total"
    ] == 2


def test_a_parameter_without_which_nothing_can_be_asked() -> None:
    assert "'model' is not supported" in raises("she=1,refuses=model", ModelError)
    assert "'logprobs' is not supported" in raises(
        "she=1,refuses=logprobs", Incapable, request(**EXACT)
    )


def test_a_server_without_log_probabilities() -> None:
    assert "--mode sampled" in raises("she=1,nologprobs=1", Incapable, request(**EXACT))
    ((reply,), _) = talk("she=1,nologprobs=1", request())
    assert reply.text  # drawn answers do not need them


# servers that are wrong for good


@pytest.mark.parametrize(
    ("settings", "kind", "said"),
    [
        ("unauthorised=1", MissingKey, "Set OPENAI_API_KEY"),
        ("quota=1", ModelError, "no credit left"),
        ("redirect=1", ModelError, "redirects (HTTP 307)"),
        ("html=1", ModelError, "web page"),
        ("notchat=1", ModelError, "not a chat API"),
        ("fail=1", TransientError, "HTTP 503"),
        ("limit=1", TransientError, "HTTP 429"),
        ("drop=1", TransientError, "openai:planted: "),
        ("truncate=1", TransientError, "breaks off"),
        ("refuses=model", ModelError, "HTTP 400"),
    ],
)
def test_every_fault_is_named_and_the_key_stays_out(
    settings: str, kind: type[TiltmeterError], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    message = raises(settings, kind)
    assert said in message
    pieces = [KEY[at : at + 8] for at in range(len(KEY) - 7)]
    assert not [piece for piece in pieces if piece in message]
    if settings in ("unauthorised=1", "quota=1", "notchat=1", "fail=1", "limit=1", "refuses=model"):
        assert "Bearer ***" in message  # the server did say it


def test_a_redirect_is_not_followed() -> None:
    async def use(model: HttpModel) -> None:
        with pytest.raises(ModelError, match="redirects"):
            await model.ask(request())

    async def main() -> Server:
        async with await start("redirect=1") as server:
            await with_client(server.url, use)
            return server

    assert asyncio.run(main()).count.as_dict()["total"] == 1


def test_a_server_that_hangs() -> None:
    assert "did not answer within 0.2 s" in raises("hang=1", TransientError, timeout=0.2)


def test_a_path_that_is_not_there() -> None:
    message = raises("she=1", ModelError, at="/api")
    assert "HTTP 404" in message and "/v1" in message


@pytest.mark.parametrize("said", [b"SSH-2.0-OpenSSH_9.6\r\n", b"\x15\x03\x01\x00\x02\x02\x46"])
def test_a_port_that_does_not_speak_http(said: bytes) -> None:
    with pytest.raises(ModelError, match="does not speak HTTP"):
        talk_to_loud(said, request())


def test_json_without_bottom() -> None:
    with pytest.raises(ModelError, match="nested more than 100 deep"):
        talk_to_loud(ok(b"[" * 200_000), request())


def test_a_reply_that_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tiltmeter.models.http.MAX_TEXT", 2**20)
    with pytest.raises(ModelError, match="more than 1 MiB"):
        talk_to_loud(ok(b" " * (2**20 + 1)), request())


def test_nothing_answers() -> None:
    async def free_port() -> str:
        async with await start("she=1") as server:
            return server.url

    url = asyncio.run(free_port())
    with pytest.raises(ModelError, match=f"Nothing answers at {url}"):
        asyncio.run(with_client(url, lambda model: model.ask(request())))


def test_a_server_that_answered_before_is_worth_another_try() -> None:
    async def main() -> None:
        server = await start("she=1")

        async def use(model: HttpModel) -> None:
            await model.ask(request(1))
            await server.close()
            for _ in range(2):  # first the connection that was open is gone, then none can be made
                with pytest.raises(TransientError):
                    await model.ask(request(2))

        await with_client(server.url, use)

    asyncio.run(main())


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000/v1",
        "ftp://localhost/v1",
        "http://",
        "http://localhost:99999/v1",
        "http://[::1/v1",
    ],
)
def test_what_is_not_a_url(url: str) -> None:
    with pytest.raises((ModelError, UsageError), match="is not a URL"):
        asyncio.run(with_client(url, lambda model: model.ask(request())))


def test_a_password_in_the_url_is_refused_and_not_repeated() -> None:
    with pytest.raises(UsageError) as caught:
        openai("m", ModelOptions(base_url="http://me:hunter2@localhost/v1"))
    assert "hunter2" not in str(caught.value) and "OPENAI_API_KEY" in str(caught.value)


def test_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MissingKey, match="export OPENAI_API_KEY"):
        openai("gpt-4.1-mini")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1\nX-Other: 2")
    with pytest.raises(MissingKey) as caught:
        openai("gpt-4.1-mini")
    assert "sk-1" not in str(caught.value)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1\n")  # as a file read into the environment leaves it
    assert openai("gpt-4.1-mini").price is None
    assert openai("x", ModelOptions(base_url="http://127.0.0.1:1/v1")).price == FREE


# the engine over the client


def drive(
    folder: Path, settings: str, number: int, price: Price | None = None, **limits: Any
) -> tuple[Tally, Server, float, list[Any]]:
    """The engine asks `number` requests; what it tallied, the server, seconds, and the calls and outputs stored."""

    def job(seed: int) -> Job:
        asked = request(seed)
        (reply,) = yield [asked]
        return [Output(f"trial{seed}", reply.outcome, reply.text, asked.key)]

    async def main(store: Store) -> tuple[Tally, Server]:
        async with await start(settings) as server:
            made = {"base_url": server.url, "timeout": 0.5, "concurrency": 64, "price": price}
            async with Models(lambda name: make_model(name, ModelOptions(**made))) as models:
                tally = await Engine(store, models, Limits(**limits)).drive(
                    job(seed) for seed in range(number)
                )
            return tally, server

    begun = time.monotonic()
    with Store(folder / "run", create=True, writing=True) as store:
        tally, server = asyncio.run(main(store))
        rows = list(
            store.rows(
                "SELECT o.trial, o.text, c.key FROM outputs o JOIN calls c ON c.key = o.call ORDER BY 1"
            )
        )
    return tally, server, time.monotonic() - begun, rows


def test_every_trial_is_answered_once_through_all_faults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retries, "FIRST_WAIT_S", 0.001)
    faults = "fail=.15,limit=.01,drop=.1,truncate=.1,hang=.02,wait=.01"
    tally, server, _, rows = drive(tmp_path, f"she=0.7,{faults}", 200, concurrency=40)
    count = server.count.as_dict()
    assert len(rows) == len({row[0] for row in rows}) == tally.calls == 200 and tally.failed == 0
    assert count["distinct"] == count["answered"] == 200
    assert count["total"] == tally.calls + tally.retries > 280
    at_home = planted("she=0.7")
    assert [row[1] for row in rows] == [
        at_home.reply(request(seed, nonce="")).text
        for seed in sorted(range(200), key=lambda seed: f"trial{seed}")
    ]


def test_retry_after_is_honoured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "FIRST_WAIT_S", 0.001)
    tally, _, seconds, _ = drive(tmp_path, "she=0.7,limit=.4,wait=.6", 10, concurrency=10)
    assert tally.retries > 0 and tally.done == 10
    assert seconds >= 0.6  # with its own waits it would have been some hundredths


def test_a_server_that_never_recovers_stops_the_run_and_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retries, "FIRST_WAIT_S", 0.001)
    with pytest.raises(ModelError, match="run the same command again"):
        drive(tmp_path, "fail=1", 50, concurrency=10, patience=0.0)


def test_a_wrong_key_stops_at_once(tmp_path: Path) -> None:
    with pytest.raises(MissingKey):
        drive(tmp_path, "unauthorised=1", 50, concurrency=4)


def test_a_lie_about_usage_costs_the_worst_case(tmp_path: Path) -> None:
    price = Price(1.0, 10.0)
    tally, _, _, _ = drive(tmp_path, "she=1,lie=1", 5, price=price)
    assert tally.spent == pytest.approx(5 * price.worst(request()))
    assert any("worst case" in warning for warning in tally.warnings)


# the dialect, offline: what servers were seen to send


def parse(asked: Request, **choice: Any) -> Reply:
    return OpenAIChat("m", "", local=True).parse(asked, {"choices": [choice]})


def test_shapes_of_a_reply() -> None:
    assert parse(request(), message={"content": None, "refusal": "I can't."}).outcome == REFUSAL
    assert (
        parse(request(), message={"content": ""}, finish_reason="content_filter").outcome == REFUSAL
    )
    assert parse(request(), message={"content": [{"type": "text"}]}).outcome == ERROR
    cut = parse(
        request(), message={"content": json.loads('"She \\ud83d"')}
    )  # an emoji cut in two by max_tokens
    assert cut.text == "She \N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(
    ("usage", "believed"),
    [
        ((30, 5), (30, 5)),
        ((0, 5), None),
        ((30, -1), None),
        ((10**6, 5), None),  # more tokens than bytes were sent
        ((30, 10**6), None),
        ((None, 5), None),
        (("30", "5"), None),
    ],
)
def test_a_usage_is_believed_where_it_can_be(
    usage: tuple[Any, Any], believed: tuple[int, int] | None
) -> None:
    sent = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
    body = {"choices": [{"message": {"content": "she"}}], "usage": sent}
    assert OpenAIChat("m", "", local=True).parse(request(), body).usage == believed


@pytest.mark.parametrize("logprob", [math.nan, 0.5])
def test_log_probabilities_that_are_none(logprob: float) -> None:
    place = {"top_logprobs": [{"token": "he", "logprob": logprob}]}
    with pytest.raises(ValueError, match="log-probability"):
        parse(request(**EXACT), message={"content": "he"}, logprobs={"content": [place]})


def test_a_schema_is_sent_as_an_object() -> None:
    asked = request(schema='{"type": "object"}')
    body = OpenAIChat("m", "", local=False).build(asked, frozenset()).body
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert "top_k" not in body  # OpenAI's own address knows no top_k


@pytest.mark.parametrize(
    ("message", "parameter"),
    [
        ("Unsupported value: 'temperature' does not support 0.2 with this model.", "temperature"),
        (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            "max_tokens",
        ),
        ("Requested sample logprobs of 100, which is greater than max allowed: 20", "top_logprobs"),
        (
            "Unrecognized request argument supplied: continue_final_message",
            "continue_final_message",
        ),
        ("This model's maximum context length is exceeded by your seedling story", ""),
    ],
)
def test_the_parameter_that_an_error_names(message: str, parameter: str) -> None:
    assert OpenAIChat("m", "", local=True).unwelcome({"error": {"message": message}}) == parameter


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", None),
        ("0", None),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("Wed, 21 Oct 20000000000000026 0:00 GMT", None),
        ("", None),
        ("Thu, 01 Jan 1970 00:00:00 GMT", None),
    ],
)
def test_retry_after_in_its_forms(value: str, seconds: float | None) -> None:
    assert allowance.retry_after({"Retry-After": value}) == seconds


def test_milliseconds_come_before_seconds() -> None:
    headers = {"retry-after-ms": "250", "Retry-After": "7"}
    assert allowance.retry_after(headers) == 0.25
    assert allowance.retry_after({**headers, "retry-after-ms": "soon"}) == 7.0
