"""Pictures as they are shown to models of three formats, and where none can be read."""

import base64

import pytest

from tests.drawing import noise, opened, picture
from tests.models.wire import KEY, AnthropicWire, GeminiWire
from tiltmeter.errors import Incapable, ModelError
from tiltmeter.models import PICTURE_TOKENS, Price
from tiltmeter.models.http import usage_if_possible
from tiltmeter.models.options import ModelOptions
from tiltmeter.models.providers.anthropic import AnthropicMessages, anthropic
from tiltmeter.models.providers.gemini import GeminiContent, gemini
from tiltmeter.models.providers.openai import OpenAIChat
from tiltmeter.records import Message, Request, Sampling

WEBP = picture("WEBP")
SHOWN = Request("openai:x", (Message("user", "What is it?", ("w.webp",)),))


def test_a_picture_is_a_data_url() -> None:
    body = (
        OpenAIChat("m", "", local=False, read={"w.webp": WEBP}.__getitem__)
        .build(SHOWN, frozenset())
        .body
    )
    text, shown = body["messages"][0]["content"]
    assert text == {"type": "text", "text": "What is it?"} and shown["type"] == "image_url"
    start, _, data = shown["image_url"]["url"].partition(",")
    assert start == "data:image/webp;base64" and base64.b64decode(data, validate=True) == WEBP


def test_a_model_without_a_run_folder_is_shown_none() -> None:
    with pytest.raises(Incapable, match="the folder of a run to read them from is needed"):
        OpenAIChat("m", "", local=False).build(SHOWN, frozenset())


def test_what_is_shown_is_bounded_as_the_request_says() -> None:
    large = Request("openai:x", SHOWN.messages, longest=32)
    body = (
        OpenAIChat("m", "", local=False, read={"w.webp": WEBP}.__getitem__)
        .build(large, frozenset())
        .body
    )
    data = body["messages"][0]["content"][1]["image_url"]["url"].partition(",")[2]
    assert opened(base64.b64decode(data)).size == (32, 24)
    assert large.key != SHOWN.key


def test_a_picture_is_reserved_for_and_believed() -> None:
    plain = Request("openai:x", (Message("user", "What is it?"),))
    price = Price(1e6, 0)
    assert price.worst(SHOWN) - price.worst(plain) == PICTURE_TOKENS
    assert (
        usage_if_possible(20_000, 5, SHOWN) == (20_000, 5)
        and usage_if_possible(20_000, 5, plain) is None
    )


CHATS = {
    "anthropic": (AnthropicWire, anthropic, AnthropicMessages),
    "gemini": (GeminiWire, gemini, GeminiContent),
}


@pytest.mark.parametrize("name", CHATS)
def test_pictures_are_checked_by_the_server(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{name.upper()}_API_KEY", KEY)
    made, model, _ = CHATS[name]
    wire = made()
    blobs = {"p.png": picture("PNG"), "p.jpg": picture("JPEG")}
    asked = Request(
        f"{name}:x",
        (Message("user", "Say: she", ("p.png", "p.jpg")),),
        Sampling(seed=7, max_tokens=64),
    )
    (reply,) = wire.talk(
        lambda: model("a-model", ModelOptions(base_url=wire.url, read=blobs.__getitem__)), asked
    )
    assert reply.text == "she" and wire.pictures == ["image/png", "image/jpeg"]


@pytest.mark.parametrize("name", CHATS)
@pytest.mark.parametrize(
    ("content", "said"),
    [(b"%PDF-1.7", "not a PNG, JPEG, WebP or GIF"), (noise((1500, 1500)), "Make it smaller")],
)
def test_pictures_that_no_provider_takes(name: str, content: bytes, said: str) -> None:
    dialect = CHATS[name][2]("m", "", read={"p": content}.__getitem__)
    with pytest.raises(ModelError, match=said):
        dialect.build(Request(f"{name}:x", (Message("user", "What?", ("p",)),)), frozenset())
