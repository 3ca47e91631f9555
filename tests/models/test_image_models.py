"""Every dialect of pictures, the whole client against a local server that speaks the documented format (studios.py)."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

from tests.models.studios import (
    KEY,
    PNG,
    BflStudio,
    FalStudio,
    GeminiStudio,
    IdeogramStudio,
    OpenAIStudio,
    ReplicateStudio,
    Studio,
)
from tiltmeter.errors import (
    Incapable,
    MissingKey,
    ModelError,
    TransientError,
    Unanswered,
    UsageError,
)
from tiltmeter.models import Queued
from tiltmeter.models.http import fetching, queue
from tiltmeter.models.http.addresses import public
from tiltmeter.models.kinds import make_model
from tiltmeter.models.options import ModelOptions
from tiltmeter.records import ANSWER, ERROR, REFUSAL, Message, Reply, Request, Sampling

NAMES = {
    "openai": "gpt-image-2",
    "gemini": "gemini-3.1-flash-image",
    "bfl": "flux-2-pro",
    "replicate": "owner/name",
    "ideogram": "ideogram-4-5",
    "fal": "fal-ai/flux/dev",
}
STUDIOS: dict[str, type[Studio]] = {
    "openai": OpenAIStudio,
    "gemini": GeminiStudio,
    "bfl": BflStudio,
    "replicate": ReplicateStudio,
    "ideogram": IdeogramStudio,
    "fal": FalStudio,
}
KEYS = {
    "openai": "OPENAI_API_KEY",
    "gemini": "GEMINI_API_KEY",
    "bfl": "BFL_API_KEY",
    "replicate": "REPLICATE_API_TOKEN",
    "ideogram": "IDEOGRAM_API_KEY",
    "fal": "FAL_KEY",
}
QUEUES = ("bfl", "replicate", "ideogram", "fal")


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS.values():
        monkeypatch.setenv(name, KEY)
    monkeypatch.setattr(queue, "FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(fetching, "FIRST_WAIT_SECONDS", 0.01)


def request(size: str = "1024x1024", **changes: Any) -> Request:
    fields: dict[str, Any] = {"sampling": Sampling(seed=7)} | changes
    return Request("m", (Message("user", "A photo of a guard"),), size=size, **fields)


async def asked(model: Any, wanted: Request) -> Reply:
    """What the engine does with a model."""
    model.check(wanted)
    if not isinstance(model, Queued):
        reply: Reply = await model.ask(wanted)
        return reply
    remote = await model.submit(wanted)
    return remote if isinstance(remote, Reply) else await model.fetch(wanted, remote)


def draw(
    kind: str,
    does: str = "",
    wanted: Request | None = None,
    *,
    name: str = "",
    studio: Studio | None = None,
    use: Callable[[Any, Request], Awaitable[Any]] = asked,
    **options: Any,
) -> Any:
    """The reply of a model whose server is a studio."""

    async def main() -> Any:
        async with studio or STUDIOS[kind](does) as server:
            model = make_model(
                f"{kind}:{name or NAMES[kind]}", ModelOptions(base_url=server.url, **options)
            )
            await model.open()
            try:
                return await use(model, wanted or request())
            finally:
                await model.close()

    return asyncio.run(main())


def no_key_in(studio: Studio) -> bool:
    """Whether nothing that was asked of the pictures' own port carried the key."""
    fetched = [headers for _, path, headers in studio.seen if path.startswith("/picture")]
    assert fetched
    return not any(KEY in value for headers in fetched for value in headers.values())


# what all have in common


@pytest.mark.parametrize("kind", STUDIOS)
def test_a_picture_comes_and_the_key_goes_to_nobody_else(kind: str) -> None:
    studio = STUDIOS[kind]("picture" if kind == "openai" else "")
    reply = draw(kind, studio=studio)
    assert (reply.outcome, reply.picture) == (ANSWER, PNG)
    assert len(studio.submitted) == 1
    assert kind == "gemini" or no_key_in(studio)
    assert "A photo of a guard" in str(studio.submitted[0])
    assert len(reply.raw) < 2500 and KEY not in reply.raw  # the picture itself is not stored twice


@pytest.mark.parametrize("kind", STUDIOS)
def test_a_wrong_key_stops_the_run_and_is_not_repeated(kind: str) -> None:
    with pytest.raises(MissingKey) as caught:
        draw(kind, studio=STUDIOS[kind](key="another"))
    said = str(caught.value)
    assert f"Set {KEYS[kind]}" in said
    assert not [at for at in range(len(KEY) - 7) if KEY[at : at + 8] in said]


@pytest.mark.parametrize("kind", STUDIOS)
def test_without_a_key_at_the_providers_own_address(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (*KEYS.values(), "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(MissingKey, match=f"export {KEYS[kind]}"):
        make_model(f"{kind}:{NAMES[kind]}")


@pytest.mark.parametrize(
    ("kind", "does", "said"),
    [
        ("openai", "refuse", "safety system"),
        ("openai", "policy", "safety system"),
        ("openai", "refusal inside", "safety system"),
        ("gemini", "IMAGE_SAFETY", ""),
        ("gemini", "PROHIBITED_CONTENT", ""),
        ("gemini", "IMAGE_PROHIBITED_CONTENT", ""),
        ("gemini", "blocked", ""),
        ("bfl", "Request Moderated", "Request Moderated"),
        ("bfl", "Content Moderated", "Safety"),
        ("replicate", "nsfw", "NSFW"),
        ("replicate", "E005", "flagged as sensitive"),
        ("replicate", "held", "no picture came"),
        ("ideogram", "refuse", "safety checks"),
        ("ideogram", "unsafe", "held back"),
        ("fal", "policy", "content_policy_violation"),
        ("fal", "nsfw", "held back"),
    ],
)
def test_what_a_policy_holds_back_is_a_refusal(kind: str, does: str, said: str) -> None:
    reply = draw(kind, does)
    assert reply.outcome == REFUSAL and said in reply.text and reply.picture == b""


@pytest.mark.parametrize(
    ("kind", "does", "said"),
    [
        ("openai", "none", "no picture came"),
        ("openai", "base64", "is not base64"),
        ("gemini", "text", "I would rather describe it."),
        ("gemini", "NO_IMAGE", "no picture came (NO_IMAGE)"),
        ("gemini", "IMAGE_OTHER", "no picture came"),
        ("bfl", "Error", "Error"),
        ("bfl", "empty", "Ready"),
        ("bfl", "lost", "no longer knows this work"),
        ("replicate", "cuda", "CUDA out of memory"),
        ("replicate", "canceled", "canceled"),
        ("replicate", "empty", "no picture came"),
        ("replicate", "lost", "no longer knows this work"),
        ("ideogram", "failed", "out of capacity"),
        ("fal", "invalid", "too long"),
    ],
)
def test_work_that_failed_is_an_outcome(kind: str, does: str, said: str) -> None:
    reply = draw(kind, does)
    assert reply.outcome == ERROR and said in reply.text


@pytest.mark.parametrize(
    ("kind", "does", "error", "said"),
    [
        ("openai", "quota", ModelError, "no credit left"),
        ("openai", "billing", ModelError, "no credit left"),
        ("openai", "fast", TransientError, "HTTP 429"),
        ("openai", "inside", TransientError, "no GPU is left"),
        ("openai", "html", ModelError, "web page"),
        ("openai", "size", ModelError, "Invalid size"),
        ("bfl", "credit", ModelError, "no credit left"),
        ("bfl", "fast", TransientError, "24"),
        ("bfl", "receipt", ModelError, "polling_url"),
        ("bfl", "html", ModelError, "web page"),
        ("replicate", "credit", ModelError, "no credit left"),
        ("replicate", "fast", TransientError, "throttled"),
        ("ideogram", "fast", TransientError, "Too many"),
    ],
)
def test_what_may_pass_and_what_will_not(
    kind: str, does: str, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said) as caught:
        draw(kind, does)
    assert type(caught.value) is error


# pictures that are linked to


@pytest.mark.parametrize("kind", ["openai", *QUEUES])
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("gone", "answers HTTP 403; it has expired"),
        ("cut", "payload"),
        ("loop", "redirects more than"),
    ],
)
def test_a_picture_that_cannot_be_fetched_is_an_outcome_and_paid_once(
    kind: str, fault: str, said: str
) -> None:
    studio = STUDIOS[kind](f"picture/{fault}")
    if fault == "cut" and kind != "openai":  # work that waits may be looked at again later
        with pytest.raises(TransientError):
            draw(kind, studio=studio)
    else:
        reply = draw(kind, studio=studio)
        assert (
            reply.outcome == ERROR
            and "the picture was drawn and" in reply.text
            and said in reply.text
        )
    assert len(studio.submitted) == 1
    assert studio.fetches == {"gone": 1, "cut": 4, "loop": 4}[fault] * (
        2 if kind != "openai" and fault != "cut" else 1
    )


@pytest.mark.parametrize("kind", ["openai", *QUEUES])
@pytest.mark.parametrize("fault", ["redirect", "busy"])
def test_a_picture_that_comes_at_the_second_try(kind: str, fault: str) -> None:
    studio = STUDIOS[kind](f"picture/{fault}")
    assert draw(kind, studio=studio).picture == PNG and no_key_in(studio)


@pytest.mark.parametrize("kind", QUEUES)
def test_for_an_address_that_expired_another_is_asked_for_once(kind: str) -> None:
    studio = STUDIOS[kind]("picture/once")
    assert draw(kind, studio=studio).picture == PNG
    assert (len(studio.submitted), studio.fetches) == (1, 2)


@pytest.mark.parametrize("fault", ["html", "broken"])
def test_what_is_no_picture_comes_through_for_the_engine_to_judge(fault: str) -> None:
    assert draw("openai", f"picture/{fault}").picture in (b"<html>Please sign in</html>", PNG[:70])


def test_a_picture_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    from tiltmeter.models.http import connection

    monkeypatch.setattr(connection, "MAX_REPLY_BYTES", 2000)
    monkeypatch.setattr("tests.models.studios.PNG", bytes(3000))
    reply = draw("openai", "picture")
    assert reply.outcome == ERROR and "too large" in reply.text


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:{port}/picture",  # the base URL is 127.0.0.1: another name is another host
        "http://[::1]:{port}/picture",
        "http://[::ffff:127.0.0.1]:{port}/picture",
        "http://0.0.0.0:{port}/picture",
        "http://127.0.0.2:{port}/picture",
        "http://169.254.169.254/latest/meta-data",
        "http://10.1.2.3/x.png",
    ],
)
def test_a_private_address_in_a_reply_is_not_asked(url: str) -> None:
    class Sly(OpenAIStudio):
        def picture_url(self) -> str:
            return url.replace("{port}", self.elsewhere.rpartition(":")[2])

    studio = Sly("url")
    with pytest.raises(ModelError, match="is no public address, so it was not opened") as told:
        draw("openai", studio=studio)
    assert studio.fetches == 0 and told.value.possibly_paid  # no other server draws it again


@pytest.mark.parametrize(
    "url",
    [
        "http://2130706433:{port}/picture",
        "http://127.1:{port}/picture",
        "http://0x7f000001:{port}/x",
    ],
)
def test_an_address_in_disguise_is_not_asked(url: str) -> None:
    class Sly(OpenAIStudio):
        def picture_url(self) -> str:
            return url.replace("{port}", self.elsewhere.rpartition(":")[2])

    studio = Sly("url")
    with suppress(ModelError):
        assert draw("openai", studio=studio).outcome == ERROR
    assert studio.fetches == 0


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://127.0.0.1/x",
        "http://me:secret@127.0.0.1/",
        "//x",
        "http://[::1",
        "",
    ],
)
def test_an_address_of_another_kind_is_an_outcome(url: str) -> None:
    class Sly(ReplicateStudio):
        def picture_url(self) -> str:
            return url

    reply = draw("replicate", studio=Sly())
    assert reply.outcome == ERROR and "cannot be fetched" in reply.text


def test_a_redirect_to_a_private_address_is_not_followed() -> None:
    studio = OpenAIStudio("picture/private")
    with pytest.raises(ModelError, match="no public address"):
        draw("openai", studio=studio)
    assert studio.fetches == 1


def test_a_name_that_changes_its_address_after_a_look_gains_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first look-up gives a public address, and every later one the loopback."""
    import socket

    looked: list[str] = []
    real = socket.getaddrinfo

    def rebinding(host: Any, port: Any, *more: Any, **named: Any) -> Any:
        if host != "pictures.example":
            return real(host, port, *more, **named)
        looked.append(host)
        return real("192.0.2.1" if len(looked) == 1 else "127.0.0.1", port, *more, **named)

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)

    class Sly(OpenAIStudio):
        def picture_url(self) -> str:
            return f"http://pictures.example:{self.elsewhere.rpartition(':')[2]}/picture"

    studio = Sly("url")
    socket.getaddrinfo("pictures.example", 80)  # somebody's check before
    with pytest.raises(ModelError, match=r"pictures\.example, which is no public address"):
        draw("openai", studio=studio)
    assert len(looked) == 2 and studio.fetches == 0


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("8.8.8.8", True),
        ("2606:4700::1111", True),
        ("127.0.0.1", False),
        ("10.0.0.1", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("::1", False),
        ("::", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::a00:1", False),
        ("64:ff9b::808:808", True),
        ("2002:7f00:1::", False),
    ],
)
def test_which_addresses_are_public(address: str, found: bool) -> None:
    assert public(address) is found


# each by itself


def test_openai_leaves_out_what_its_own_models_refuse() -> None:
    studio = OpenAIStudio()
    reply = draw("openai", studio=studio)
    assert studio.submitted == [
        {"model": "gpt-image-2", "prompt": "A photo of a guard", "n": 1, "size": "1024x1024"}
    ]
    assert reply.omitted == ("response_format", "seed") and reply.usage == (11, 272)


def test_a_server_that_links_and_rewrites() -> None:
    studio = OpenAIStudio("url")
    reply = draw("openai", studio=studio, name="sd-xl?quality=low")
    assert (
        studio.submitted[0]
        | {"quality": "low", "seed": 7, "response_format": "b64_json", "model": "sd-xl"}
        == studio.submitted[0]
    )
    assert reply.revised == "A friendly guard at a gate, in watercolour" and reply.omitted == ()
    assert draw("openai", "data").picture == PNG


def test_a_server_of_ones_own_may_guard_its_pictures_with_the_same_key() -> None:
    class Guarded(OpenAIStudio):
        def picture_url(self) -> str:
            return f"{self.root}/picture"

    studio = Guarded("url")
    assert draw("openai", studio=studio).picture == PNG
    assert studio.seen[-1][2]["Authorization"] == f"Bearer {KEY}"


def test_gemini_sends_a_ratio_and_takes_the_last_picture() -> None:
    studio = GeminiStudio("thought")
    reply = draw("gemini", studio=studio, wanted=request("1536x1024"))
    assert studio.submitted[0]["generationConfig"] == {
        "temperature": 1.0,
        "topP": 1.0,
        "seed": 7,
        "responseModalities": ["IMAGE"],
        "imageConfig": {"aspectRatio": "3:2"},
    }
    assert (reply.text, reply.served, reply.usage) == (
        "Here it is.",
        "gemini-3.1-flash-image",
        (9, 1290),
    )
    studio = GeminiStudio()
    draw("gemini", studio=studio, wanted=request("2048x2048"))
    assert studio.submitted[0]["generationConfig"]["imageConfig"] == {
        "aspectRatio": "1:1",
        "imageSize": "2K",
    }
    assert draw("gemini", "noconfig").omitted == ("size",)


def test_bfl_has_no_prompt_rewritten_and_says_where_that_cannot_be() -> None:
    studio = BflStudio(polls=3)
    reply = draw("bfl", studio=studio, name="flux-2-pro?safety_tolerance=2")
    assert studio.submitted == [
        {
            "prompt": "A photo of a guard",
            "width": 1024,
            "height": 1024,
            "seed": 7,
            "safety_tolerance": 2,
        }
    ]
    assert reply.omitted == ("prompt_upsampling",) and reply.revised == ""
    assert studio.looks == {"task1": 4}
    studio = BflStudio()
    draw("bfl", studio=studio, name="flux-2-flex")
    assert studio.submitted[0]["prompt_upsampling"] is False
    assert draw("bfl", "revised").revised == "A guard, cinematic light"
    built = queue_body("bfl", "flux-pro-1.1-ultra", "1024x768")
    assert built["aspect_ratio"] == "4:3" and "width" not in built


def queue_body(kind: str, name: str, size: str) -> Any:
    model = make_model(f"{kind}:{name}", ModelOptions(base_url="http://127.0.0.1:1"))
    return model._dialect.build(request(size), frozenset()).body


def test_at_most_as_much_work_as_the_provider_takes() -> None:
    for kind, most in (("bfl", 24), ("ideogram", 10), ("replicate", 200)):
        assert make_model(f"{kind}:{NAMES[kind]}", ModelOptions(concurrency=200)).parallel == most


def test_a_cluster_that_does_not_know_the_work_at_once() -> None:
    assert draw("bfl", "slip").picture == PNG


def test_replicate_by_model_and_by_version() -> None:
    studio = ReplicateStudio()
    reply = draw("replicate", studio=studio, name="owner/name?go_fast=true")
    assert studio.submitted == [
        (
            "/v1/models/owner/name/predictions",
            {
                "input": {
                    "prompt": "A photo of a guard",
                    "aspect_ratio": "1:1",
                    "seed": 7,
                    "go_fast": True,
                }
            },
        )
    ]
    assert reply.omitted == ("width", "height") and reply.served == "o/n:hidden"
    studio = ReplicateStudio("one")
    draw("replicate", studio=studio, name="owner/name:0a1b")
    path, body = studio.submitted[0]
    assert path == "/v1/predictions" and body["version"] == "0a1b"
    with pytest.raises(UsageError, match="does not name a model"):
        make_model("replicate:flux")


def test_ideogram_has_no_prompt_rewritten() -> None:
    studio = IdeogramStudio()
    draw("ideogram", studio=studio)
    assert studio.submitted == [
        {
            "prompt": "A photo of a guard",
            "size": "1024x1024",
            "seed": 7,
            "num_images": 1,
            "magic_prompt": "off",
        }
    ]


# work that waits


def test_work_that_never_ends_stays_open_and_is_not_handed_in_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By a clock on which a look takes two minutes: five times --timeout has passed after the sixth."""
    clock = itertools.count(0.0, 120.0)
    monkeypatch.setattr(queue, "time", SimpleNamespace(monotonic=clock.__next__))
    studio = BflStudio("never")
    with pytest.raises(Unanswered, match=r"within 600 s.*to wait longer"):
        draw("bfl", studio=studio, timeout=120)
    assert len(studio.submitted) == 1 and studio.looks["task1"] == 6


@pytest.mark.parametrize("kind", QUEUES)
def test_what_is_stored_of_work_is_enough_to_go_on(kind: str) -> None:
    """Another process, which knows the id and nothing else, fetches what the first handed in."""
    studio = STUDIOS[kind]()

    async def two(model: Any, wanted: Request) -> Reply:
        remote = await model.submit(wanted)
        other = make_model(f"{kind}:{NAMES[kind]}", ModelOptions(base_url=model.connection.base))
        await other.open()
        try:
            reply: Reply = await other.fetch(wanted, remote)
            return reply
        finally:
            await other.close()

    reply = draw(kind, studio=studio, use=two)
    assert reply.picture == PNG and len(studio.submitted) == 1
    assert reply.omitted == {"bfl": ("prompt_upsampling",), "replicate": ("width", "height")}.get(
        kind, ()
    )


def test_the_key_is_not_sent_to_where_a_receipt_points() -> None:
    studio = BflStudio("theft")
    with pytest.raises(ModelError, match=r"10\.0\.0\.7, which is somebody else's host"):
        draw("bfl", studio=studio)


def test_a_provider_may_send_one_to_another_host_of_its_own() -> None:
    model = make_model("bfl:flux-2-pro")
    assert model._address("https://api.eu1.bfl.ai/v1/get_result?id=1")
    for url in (
        "http://api.eu1.bfl.ai/v1/x",
        "https://evilbfl.ai/x",
        "https://api.bfl.ai.example/x",
        "https://127.0.0.1/x",
    ):
        with pytest.raises(ModelError, match="somebody else's host"):
            model._address(url)


def test_a_signed_address_that_leads_inside_is_not_asked() -> None:
    with pytest.raises(ModelError, match=r"169\.254\.169\.254, which is no public address"):
        draw("bfl", "private")


# who draws and who writes


@pytest.mark.parametrize("kind", QUEUES)
def test_a_model_that_draws_is_not_asked_for_text(kind: str) -> None:
    with pytest.raises(Incapable, match="makes pictures, but text is asked for"):
        draw(kind, wanted=Request("m", (Message("user", "Hello"),)))


@pytest.mark.parametrize("kind", ["openai", "gemini"])
def test_what_the_table_knows_of_a_model_is_said_before_it_is_asked(kind: str) -> None:
    with pytest.raises(Incapable, match="--model openai:gpt-image-2"):
        draw(kind, modality="text")
    with pytest.raises(
        Incapable, match=r"Name a model that writes, for instance openai:gpt-4\.1-mini"
    ):
        draw(kind, modality="image", wanted=Request("m", (Message("user", "Hello"),)))


def test_models_that_only_write() -> None:
    for name in ("anthropic:claude-haiku-4-5", "file:answers.jsonl"):
        with pytest.raises(Incapable, match="writes text, but pictures are asked for"):
            make_model(name, ModelOptions(base_url="http://127.0.0.1:1")).check(request())


@pytest.mark.parametrize("name", ["bfl:flux-2-pro?x", "openai:gpt-image-2?a=1&b"])
def test_settings_that_cannot_be_read(name: str) -> None:
    with pytest.raises(UsageError, match="is not a list of settings"):
        make_model(name, ModelOptions(base_url="http://127.0.0.1:1"))
