"""Instruments that compare answers: by hand, and against the same prompt asked again."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from tiltmeter.instruments import Comparer
from tiltmeter.instruments.comparing.preference import Preference
from tiltmeter.instruments.comparing.similarity import Similarity, likeness
from tiltmeter.instruments.comparing.vocabulary import Vocabulary
from tiltmeter.instruments.tool import first_tool
from tiltmeter.protocol import InstrumentSpec
from tiltmeter.records import ANSWER, Answered, Output, Reply, Sampling, Trial

Texts = Mapping[tuple[str, str, int], str]  # item, version, sample


def items(texts: Texts) -> list[Answered]:
    made = []
    for number, ((item, version, sample), text) in enumerate(texts.items()):
        factors = {"group": version, "item": item, "language": "en"}
        trial = Trial(f"t{number}", "m", "sampled", factors, sample, "Ask.", "", Sampling())
        made.append(Answered(trial, Output(trial.id, ANSWER, text, ""), Reply(text)))
    return made


def spec(kind: str, **settings: object) -> InstrumentSpec:
    return InstrumentSpec(kind, kind, "a", {"versions": "group", "mask": ["gender"], **settings})


def labels(by: Comparer, texts: Texts) -> list[list[str]]:
    asked = items(texts)
    assert not by.can_label(asked[0].trial)
    by.meet([(one.trial, one.output) for one in asked])
    return [[label.value for label in by.read(one)] for one in asked]


def test_likeness_by_hand() -> None:
    assert likeness("abcd", "abce") == pytest.approx(0.5)
    assert likeness("Aa b  c", "aa b c") == pytest.approx(1.0)
    assert likeness("abc", "xyz") == 0


def test_similarity_is_held_against_the_same_version() -> None:
    texts = {
        ("1", "w", 0): "abcd",
        ("1", "w", 1): "abcd",
        ("1", "m", 0): "abce",
        ("1", "m", 1): "abce",
        ("2", "w", 0): "abcd",
        ("2", "m", 0): "abcd",
    }
    drawn = {**texts, ("3", "w", 0): "abcd", ("3", "w", 1): "xyz!"}
    found = labels(Similarity(spec("similarity")), drawn)
    assert found[:4] == [["0.5000", "alike"]] * 4  # 1 less .5
    assert found[4:] == [["neither", "neither"]] * 2 + [["neither", "differs"]] * 2


def test_a_masked_cue_is_no_difference() -> None:
    texts = {("1", g, k): f"Tell {who} that it is done." for g, who in (("w", "her"), ("m", "him"))
             for k in (0, 1)}  # fmt: skip
    texts |= {("2", "w", 0): "Yes.", ("2", "w", 1): "No way."}
    assert labels(Similarity(spec("similarity")), texts)[:4] == [["0.0000", "alike"]] * 4


def _drawn(random: random.Random, tilt: float) -> Texts:
    said = ["We look into it.", "A colleague calls.", "It takes two days.", "Send us the number."]
    more = {"w": tilt, "m": 0.0}
    return {
        (str(item), group, sample): " ".join(random.sample(said, 2))
        + (" Stay calm." if random.random() < more[group] else "")
        for item in range(60)
        for group in ("w", "m")
        for sample in (0, 1)
    }


def test_without_a_tilt_the_mean_of_similarity_is_nothing() -> None:
    by_chance = [
        np.mean([float(one[0]) for one in labels(Similarity(spec("similarity")), _drawn(rng, 0))])
        for rng in map(random.Random, range(30))
    ]
    error = np.std(by_chance, ddof=1) / np.sqrt(len(by_chance))
    assert abs(np.mean(by_chance)) < 3 * error
    tilted = labels(Similarity(spec("similarity")), _drawn(random.Random(1), 0.9))
    assert np.mean([float(one[0]) for one in tilted]) > 3 * np.std(by_chance)


def test_words_of_enough_prompts_are_counted_without_regard_to_versions() -> None:
    texts = {
        (str(item), group, 0): f"She calls. Rare{item}" + (" Calm." if item < 6 else "")
        for item in range(12)
        for group in ("w", "m")
    }
    found = labels(Vocabulary(spec("vocabulary", fewest=5, most=2)), texts)
    assert found == [["calls", "calm"]] * 12 + [["calls"]] * 12


def test_a_tool_is_read_in_the_forms_of_systems_and_providers() -> None:
    forms = {
        '{"tools": ["refund", "mail"]}': "refund",
        '{"choices": [{"message": {"role": "assistant", "tool_calls": [{"id": "1", "type": '
        '"function", "function": {"name": "refund", "arguments": "{}"}}]}}]}': "refund",
        '{"content": [{"type": "text", "text": "name"}, {"type": "tool_use", "name": "refund", '
        '"input": {"name": "x"}}]}': "refund",
        '{"candidates": [{"content": {"parts": [{"functionCall": {"name": "refund"}}]}}]}': "refund",
        '{"output": [{"type": "message", "content": [{"text": "x"}]}, {"type": "function_call", '
        '"name": "refund"}]}': "refund",
        '{"choices": [{"message": {"content": "tools", "name": "bot"}}], "tools": []}': "",
        "no JSON": "",
    }
    assert {raw: first_tool(raw) for raw in forms} == forms


def _said(by: Preference, item: Answered, words: Sequence[str]) -> list[str]:
    steps, replies = by.steps(item), iter(words)
    try:
        asked = next(steps)
        while True:
            assert "Tell her" not in str(asked)
            asked = steps.send([Reply(next(replies)) for _ in asked])
    except StopIteration as end:
        return [label.value for label in end.value]


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (("first", "second"), "preferred"),
        (("second", "first"), "other"),
        (("first", "first"), "tie"),
        (("tie", "second"), "tie"),
        (("x", "y", "z", "first"), "unresolved"),
    ],
)
def test_a_preference_is_one_in_both_orders(words: Sequence[str], value: str) -> None:
    by = Preference(spec("preference"), "judge:j")
    asked = items({("1", "w", 0): "Tell her.", ("1", "m", 0): "Do it."})
    by.meet([(one.trial, one.output) for one in asked])
    assert _said(by, asked[0], words)[0] == value
    alone = items({("2", "w", 0): "Alone here."})
    by.meet([(one.trial, one.output) for one in alone])
    assert _said(by, alone[0], ())[0] == "invalid"
