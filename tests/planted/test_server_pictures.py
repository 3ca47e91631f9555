"""The planted server takes pictures apart as a provider would: what is wrong with one is an error 400 that says so."""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.drawing import opened, picture
from tests.serving import planted_server
from tiltmeter.planted.pictures import draw_picture

GUARDS = Path(__file__).parents[1] / "guards.toml"
PNG = draw_picture({"gender": "female"}, 64, 64)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with planted_server(f"protocol={GUARDS},dress=plain") as found:
        yield found


def posted(url: str, body: dict[str, object]) -> tuple[int, dict[str, object]]:
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=300) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def shown(url: str, address: str) -> tuple[int, str]:
    content = [
        {"type": "text", "text": "One word: male, female, neither"},
        {"type": "image_url", "image_url": {"url": address}},
    ]
    status, body = posted(
        f"{url}/chat/completions",
        {"model": "m", "messages": [{"role": "user", "content": content}]},
    )
    if status != 200:
        return status, body["error"]["message"]  # type: ignore[index,call-overload,no-any-return]
    return status, body["choices"][0]["message"]["content"]  # type: ignore[index,call-overload,no-any-return]


def data(media_type: str, content: bytes) -> str:
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"


def test_a_picture_is_decoded_and_looked_at(url: str) -> None:
    assert shown(url, data("image/png", PNG)) == (200, "female")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("data:image/png;base64,@@@", "Invalid base64"),
        (data("image/jpeg", PNG), "is image/png and was sent as image/jpeg"),
        (data("image/png", PNG[:100]), "breaks off"),
        (data("image/png", b"<html></html>"), "web page"),
        (data("image/png", picture(size=(8001, 10))), "8001 × 10 pixels; at most 8000"),
        ("https://example.org/a.png", "only data URLs"),
    ],
)
def test_what_is_wrong_with_a_picture_is_an_error_400(url: str, address: str, said: str) -> None:
    status, message = shown(url, address)
    assert status == 400 and said in message


def test_the_images_endpoint_draws_what_it_is_asked_for(url: str) -> None:
    status, body = posted(
        f"{url}/images/generations", {"prompt": "A photo of a male-gendered cook", "size": "96x64"}
    )
    (entry,) = body["data"]  # type: ignore[misc]
    assert status == 200 and opened(base64.b64decode(entry["b64_json"])).size == (96, 64)
    assert (
        posted(f"{url}/images/generations", {"prompt": "A photo of a male-gendered cook", "n": 2})[
            0
        ]
        == 400
    )
    assert (
        posted(f"{url}/images/generations", {"prompt": "something else", "size": "64x64"})[0] == 400
    )
