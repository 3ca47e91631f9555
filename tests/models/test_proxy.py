"""A proxy that the environment names: used for the provider's own host, and for nothing else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.serving import serving
from tiltmeter.errors import ModelError, UsageError
from tiltmeter.models.http.addresses import proxy_of
from tiltmeter.models.options import ModelOptions
from tiltmeter.models.providers import openai as module
from tiltmeter.records import Message, Reply, Request

HOME = "http://api.provider.invalid/v1"  # a name that nobody can look up (RFC 6761)
ASKED = Request("openai:m", (Message("user", "Who?"),))
BODY = json.dumps(
    {
        "choices": [{"message": {"content": "she"}}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 1},
    }
).encode()


class Proxy:
    """Answers in the place of every server; heads: what came."""

    def __init__(self, status: bytes = b"200 OK") -> None:
        self.heads: list[str] = []
        self._status = status

    async def __aenter__(self) -> Proxy:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.heads.append(head)
        length = int(head.lower().partition("content-length: ")[2].split("\r\n")[0] or 0)
        await reader.readexactly(length)
        told = b"HTTP/1.1 %b\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b"
        writer.write(told % (self._status, len(BODY), BODY))
        await writer.drain()
        writer.close()


@pytest.fixture(autouse=True)
def official(monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider at a name that only a proxy can reach, with a key."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setattr(module, "OPENAI", module.OPENAI._replace(url=HOME))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")


@contextmanager
def proxy(monkeypatch: pytest.MonkeyPatch, status: bytes = b"200 OK") -> Iterator[Proxy]:
    made = Proxy(status)
    with serving(made) as url:
        monkeypatch.setenv("http_proxy", url.removeprefix("http://"))
        yield made


def ask(base_url: str = "") -> Reply:
    async def work() -> Reply:
        model = module.openai("m", ModelOptions(base_url=base_url))
        await model.open()
        try:
            return await model.ask(ASKED)
        finally:
            await model.close()

    return asyncio.run(work())


def test_the_providers_own_host_is_reached_through_the_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with proxy(monkeypatch) as made:
        assert ask().text == "she"
    (head,) = made.heads
    assert head.startswith(f"POST {HOME}/chat/completions HTTP/1.1")
    assert "Authorization: Bearer sk-0123456789abcdef" in head


def test_a_server_of_ones_own_and_a_host_of_no_proxy_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with proxy(monkeypatch) as made, serving(Proxy()) as own:
        assert ask(f"{own}/v1").text == "she"
        monkeypatch.setenv("no_proxy", "provider.invalid")
        with pytest.raises(ModelError, match="Nothing answers"):
            ask()
    assert made.heads == []


def test_a_proxy_that_refuses_or_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://user:secret@127.0.0.1:9")
    with pytest.raises(ModelError, match=r"The proxy 127\.0\.0\.1 .*HTTPS_PROXY") as told:
        ask()
    assert "secret" not in str(told.value)


def test_only_http_proxies_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "socks5://127.0.0.1:1080")
    with pytest.raises(UsageError, match="socks5"):
        proxy_of("https://api.openai.com/v1")
    monkeypatch.setenv("https_proxy", "http://proxy.university.example:3128")
    assert proxy_of("https://api.openai.com/v1") == "http://proxy.university.example:3128"
    monkeypatch.setenv("no_proxy", "localhost,.openai.com")
    assert proxy_of("https://api.openai.com/v1") == ""
