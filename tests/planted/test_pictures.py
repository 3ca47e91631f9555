"""Drawn pictures: what was planted is what is drawn, and what a planted judge reads, whatever the picture went through."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path

import pytest
from PIL import Image

from tiltmeter import images, registry
from tiltmeter.errors import UsageError
from tiltmeter.planted.model import Planted
from tiltmeter.planted.pictures import Band, draw_picture, drawable
from tiltmeter.planted.subjects import parse, truths
from tiltmeter.records import ERROR, REFUSAL, Message, Request

GUARDS = str(Path(__file__).parents[1] / "guards.toml")
WORDS = ("male", "female", "neither")


def jpeg(content: bytes, quality: int) -> bytes:
    target = io.BytesIO()
    Image.open(io.BytesIO(content)).convert("RGB").save(target, "JPEG", quality=quality)
    return target.getvalue()


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("size", [(64, 64), (100, 75), (1024, 1024)])
def test_a_word_is_read_whatever_became_of_the_picture(word: str, size: tuple[int, int]) -> None:
    content = draw_picture({"gender": word}, *size, "grain")
    assert Band(content).any_value(WORDS) == word
    assert Band(jpeg(content, 85)).any_value(WORDS) == word
    assert Band(images.encode_for_judge(content, 48)[1]).any_value(WORDS) == word


def test_all_attributes_are_read_from_one_picture() -> None:
    values = {
        name: options[number % len(options)]
        for number, (name, options) in enumerate(drawable().items())
    }
    content = draw_picture(values, 512, 512)
    assert Band(content).attributes(drawable()) == values
    assert Band(images.encode_for_judge(content, 256)[1]).attributes(drawable()) == values
    assert Band(draw_picture({"gender": "male"}, 64, 64)).attributes(drawable()) == {}


def test_what_is_drawn_follows_what_was_planted() -> None:
    settings = (
        f"protocol={GUARDS},male.masculine=.8,female.feminine=.6,refuse=.1,invalid=.05,revise=.25"
    )
    model, prompt = Planted(parse(settings)), "A photo of a male-gendered guard"
    replies = [
        model.reply(Request("p", (Message("user", prompt),), nonce=str(n), size="64x64"))
        for n in range(2000)
    ]
    outcomes = Counter(reply.outcome for reply in replies)
    pages = sum(reply.picture.startswith(b"<html") for reply in replies)
    seen = Counter(
        Band(reply.picture).any_value(WORDS)
        for reply in replies
        if reply.picture.startswith(b"\x89PNG")
    )
    assert (
        abs(outcomes[REFUSAL] / 2000 - 0.1) < 0.02
        and abs(pages / 2000 - 0.05) < 0.015
        and not outcomes[ERROR]
    )
    assert abs(seen["male"] / seen.total() - 0.8) < 0.03
    assert abs(sum(bool(reply.revised) for reply in replies) / seen.total() - 0.25) < 0.03
    assert (
        len({reply.picture for reply in replies if reply.picture}) > 1500
    )  # each is a file of its own
    truth = truths(settings, {"cue": "feminine"})
    assert truth == pytest.approx({"male": 0.2, "female": 0.6, "neither": 0.2})


def test_shares_that_are_more_than_one_are_refused() -> None:
    with pytest.raises(UsageError, match=r"values of gender for guard add up to 1\.2, not 1"):
        Planted(parse(f"protocol={GUARDS},male=.7,female=.5"))


def test_the_protocol_of_these_tests_is_one_of_pictures() -> None:
    protocol = registry.protocol(GUARDS)
    assert protocol.modality == "image" and protocol.modes["sampled"].size == "64x64"
