"""Planted picks: every answer is read as it was drawn, the drawn shares are those declared, and an audit finds the ratio."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import tiltmeter
from tiltmeter import registry
from tiltmeter.errors import ModelError, UnknownName, UsageError
from tiltmeter.models.kinds import make_model
from tiltmeter.planted.model import Planted, planted
from tiltmeter.planted.server import start
from tiltmeter.planted.speech import words_off_the_list
from tiltmeter.planted.subjects import parse, ratio_truth, truths
from tiltmeter.planted.words import Words
from tiltmeter.protocol.design.tables import Row
from tiltmeter.records import ANSWER, Estimate, Message, Request, Sampling
from tiltmeter.stats import association

pytest.importorskip("py3langid", reason="the extra 'languages' is not installed")

WORDS = registry.protocol("words")
PICKS = registry.instrument_kind("picks").make(WORDS.instruments[0])
LANGUAGES = ("en", "fr", "es", "zh", "ja", "ko")
CLASSES = ("standout", "personality quality", "outlook", "communal", "imaginative")
TILT = "protocol=words,communal.female=1.5,standout.male=1.3,wise=2"
speaker = lru_cache(planted)  # one for all languages


def cells(code: str, **where: str) -> list[Row]:
    return [
        cell for cell in WORDS.cells if cell["language"] == code and where.items() <= cell.items()
    ]


def said(model: Planted, cell: Row, nonce: object = 0) -> str:
    asked = Request(
        "p", (Message("user", WORDS.prompt_text(cell)),), Sampling(max_tokens=300), nonce=str(nonce)
    )
    return model.reply(asked).text


def close(count: float, number: int, share: float) -> bool:
    """Within four standard errors; the draws are fixed."""
    return abs(count / number - share) <= 4 * math.sqrt(share * (1 - share) / number) + 1e-12


# what is said


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize(
    ("settings", "number"), [("", 10), (",short=1", 7), (",long=1", 13), (",dress=plain", 10)]
)
def test_every_list_is_read_as_it_was_drawn(code: str, settings: str, number: int) -> None:
    """All of an answer's words are found, in every way of writing a list; which they are is told by classes that are 0."""
    off = [name for name in CLASSES if name not in ("communal", "standout")]
    model = speaker("protocol=words," + ",".join(f"{name}=0" for name in off) + settings)
    kept = {word.lexeme for word in model.subject.lists[code] if not {*off} >= {*word.classes}}
    for cell in cells(code):
        found = PICKS.picks_of(said(model, cell), code, WORDS.prompt_text(cell))
        assert not isinstance(found, str) and len(found) == number
        assert {pick.lexeme for pick in found} <= kept


@pytest.mark.parametrize("code", LANGUAGES)
def test_words_off_the_list_are_counted_as_such(code: str) -> None:
    assert [word for word in words_off_the_list(code) if PICKS.lists[code].find(word)] == []
    model, listed, everything = speaker("protocol=words,off=.1"), 0, 0
    for cell in cells(code):
        found = PICKS.picks_of(said(model, cell), code, WORDS.prompt_text(cell))
        assert not isinstance(found, str) and len(found) == 10
        listed, everything = listed + sum(bool(pick.lexeme) for pick in found), everything + 10
    assert close(everything - listed, everything, 0.1)


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize(
    ("settings", "value"),
    [("refuse=1", "refusal"), ("invalid=1", "invalid"), ("foreign=1", "other_language")],
)
def test_what_is_no_list_is_read_as_what_was_planted(code: str, settings: str, value: str) -> None:
    model = speaker(f"protocol=words,{settings}")
    assert {
        str(PICKS.picks_of(said(model, cell), code, WORDS.prompt_text(cell)))
        for cell in cells(code)
    } == {value}


def test_gender_forms_follow_the_person() -> None:
    model = planted("protocol=words,dress=plain," + ",".join(f"{name}=0" for name in CLASSES[:2]))
    for gender, wrong in (("female", "m"), ("male", "f")):
        other = {
            row["word"]
            for row in WORDS.instruments[0].settings["words"]
            if row["language"] == "es" and row["gender"] == wrong and row["remark"] != "alone"
        }
        texts = " ".join(said(model, cell) for cell in cells("es", gender=gender))
        assert not other & set(texts.replace(",", " ").split())


# how often


def test_each_word_is_drawn_as_often_as_was_declared() -> None:
    words, random, cell = Words(parse(TILT)), Random(1), cells("en", gender="female")[0]
    counts = Counter(word.lexeme for _ in range(3000) for word in words.draw(cell, random))
    expected = {word.lexeme: share for word, share in zip(*words.expected(cell), strict=True)}
    assert sum(expected.values()) == pytest.approx(10) and sum(counts.values()) == 30_000
    assert all(close(counts[lexeme], 3000, share) for lexeme, share in expected.items())


def test_every_outcome_and_length_has_its_share_at_every_level() -> None:
    words = Words(
        parse("protocol=words,refuse=.1,refuse.female=.2,foreign.fr=.3,short.nurse=.4,long=.1")
    )
    woman, man = cells("en", gender="female")[0], cells("fr", gender="male")[0]
    assert words.outcomes(woman) == pytest.approx(
        {ANSWER: 0.8, "refusal": 0.2, "invalid": 0, "other_language": 0}
    )
    assert words.outcomes(man) == pytest.approx(
        {ANSWER: 0.6, "refusal": 0.1, "invalid": 0, "other_language": 0.3}
    )
    nurse = cells("en", occupation="nurse")[0]
    assert words.lengths(nurse) == pytest.approx({10: 0.5, 7: 0.4, 13: 0.1})
    model = planted("protocol=words,refuse.female=.3")
    counts = [
        sum(
            PICKS.picks_of(said(model, cell, n), "en") == "refusal"
            for cell in cells("en", gender=gender)
            for n in range(5)
        )
        for gender in ("female", "male")
    ]
    assert close(counts[0], 900, 0.3) and counts[1] == 0


def small(folder: Path) -> str:
    """Two classes of 20 words, one of them in both; two genders."""
    rows = [f"en,{name},{name}{chr(97 + n)}x" for name in "ab" for n in range(20)]
    (folder / "w.csv").write_text("\n".join(["language,class,word", *rows]), encoding="utf-8")
    (folder / "small.toml").write_text(
        """name = "small"
title = "t"
question = "q"
prompt = "Pick for a {gender} from the list"
factors = ["gender", "word"]
item = "word"
tables = [{ rows = [{ gender = "female" }, { gender = "male" }] }, { rows = [{ word = "one" }] }]
instruments = [{ name = "picks", kind = "picks", attribute = "length", also = ["class"], words = "w.csv" }]
""",
        encoding="utf-8",
    )
    return f"protocol={folder / 'small.toml'}"


def test_the_truth_as_worked_out_by_hand(tmp_path: Path) -> None:
    here = small(tmp_path)
    # 20 words of weight 1.5 and 20 of 1: 30 of 50, so 6 of 10 picks, against 5.
    assert truths(f"{here},a.female=1.5", {"gender": "female"})["class:a"] == pytest.approx(6)
    assert ratio_truth(f"{here},a.female=1.5", "class:a") == pytest.approx(1.2)
    assert ratio_truth(f"{here},a.female=1.5", "class:b") == pytest.approx(0.8)
    assert ratio_truth(f"{here},a.female=1.5,refuse.male=.5,off=.1", "class:a") == pytest.approx(
        1.2
    )
    # weight 1,000 of one word: it is in every answer, and nine picks are left for 39 words.
    one = truths(f"{here},aax=1000")
    assert one["word:aax"] == pytest.approx(1) and one["class:a"] == pytest.approx(1 + 19 * 9 / 39)
    assert ratio_truth(f"{here},abx.female=3,abx.male=2", "word:abx") == pytest.approx(
        (3 / 42) / (2 / 41)
    )
    assert math.isnan(ratio_truth(f"{here},a.male=0", "class:a"))


# what an audit finds


def ratios(settings: str, code: str) -> dict[str, float]:
    """As ratio_truth, of all classes at once: a class's share of the picks for women over that for men."""
    women, men = (
        truths(settings, {"language": code, "gender": gender}) for gender in ("female", "male")
    )
    among = women["class:all"] / men["class:all"]
    return {name: women[f"class:{name}"] / men[f"class:{name}"] / among for name in CLASSES}


@lru_cache(maxsize=1)
def analyses(number: int) -> list[tuple[float, Any]]:
    """(truth, interval) of every class's ratio in `number` audits of each language, counted by occupation as `analyse` does."""
    settings, found = f"{TILT},spread=.2", []
    words = Words(parse(settings))
    for code in LANGUAGES:
        truths = ratios(settings, code)
        random = Random(f"seed of {code}")
        design = {
            gender: [
                cells(code, gender=gender, occupation=item) for item in WORDS.levels["occupation"]
            ]
            for gender in ("female", "male")
        }
        for _ in range(number):
            counts = {
                gender: [
                    Counter(
                        word.classes[0]
                        for cell in item
                        for word in words.draw(cell, random)
                        if len(word.classes) == 1
                    )
                    for item in items
                ]
                for gender, items in design.items()
            }
            among = {
                gender: np.array([count.total() for count in counts[gender]], float)
                for gender in counts
            }
            for name, truth in truths.items():
                a, b = (
                    np.array([count[name] for count in counts[gender]], float)
                    for gender in ("female", "male")
                )
                found.append(
                    (
                        truth,
                        association.ratio(
                            successes_a=a, n_a=among["female"], successes_b=b, n_b=among["male"]
                        ),
                    )
                )
    return found


def right_on_average(number: int) -> None:
    """Mean relative error within four standard errors, and coverage of 95 % within four of its own."""
    found = analyses(number)
    errors = np.array([interval.value / truth - 1 for truth, interval in found])
    assert (
        abs(errors.mean()) <= 4 * errors.std() / math.sqrt(errors.size) + 0.001
    )  # a ratio's own bias is of order 1/n
    covered = np.mean([interval.low <= truth <= interval.high for truth, interval in found])
    assert (
        abs(covered - 0.95) <= 4 * math.sqrt(0.95 * 0.05 / (len(found) / 2)) + 0.005
    )  # classes hang together


def test_the_ratio_is_right_on_average_and_its_interval_covers() -> None:
    right_on_average(8)


@pytest.mark.slow
def test_the_same_over_600_analyses() -> None:
    right_on_average(100)


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_run_through_http_finds_what_was_planted(code: str, tmp_path: Path) -> None:
    settings = f"{TILT},refuse.male=.1,foreign=.03,off=.05,fail=.02"

    async def served() -> list[Estimate]:
        async with await start(settings) as server:
            run = await asyncio.to_thread(
                tiltmeter.run,
                "words",
                "openai:planted",
                tmp_path / "run",
                language=code,
                base_url=server.url,
            )
            assert server.count.answered == 360
        return run.analyse()

    found = asyncio.run(served())
    rows = [row for row in found if row.measure == "di_class" and "occupation" not in row.condition]
    truths = ratios(settings, code)
    assert {row.condition["class"] for row in rows} == set(truths)
    for row in rows:
        truth = truths[row.condition["class"]]
        assert row.value is not None and row.low is not None and row.high is not None
        wider = 2 * math.log(
            row.high / row.low
        )  # four standard errors and a little: fixed draws, thirty intervals
        assert abs(math.log(row.value / truth)) <= wider / 2, (row, truth)
    (off,) = [row for row in found if row.measure == "off_list" and "gender" not in row.condition]
    assert close((off.value or 0) * off.n, int(off.n), 0.05)
    refused = {
        row.condition["outcome"]: row
        for row in found
        if row.measure == "outcome_rate" and row.condition["attribute"] == "length"
    }
    assert close((refused["refusal"].value or 0) * 360, 360, 0.05)


# bad input


@pytest.mark.parametrize(
    ("settings", "kind", "message"),
    [
        ("comunal=2", UnknownName, "Did you mean 'communal'?"),
        ("communal.femal=2", UnknownName, "Did you mean 'female'?"),
        ("communal=-1", UsageError, "0 or more"),
        ("refuse.female=1.5", UsageError, "from 0 to 1"),
        ("refuse.female=.6,foreign=.5", UsageError, "add up to"),
        ("both=.1", UsageError, "have no both"),
        ("one.female=.1", UsageError, "have no one"),
    ],
)
def test_settings_that_do_not_fit(settings: str, kind: type[UsageError], message: str) -> None:
    with pytest.raises(kind) as caught:
        make_model(f"planted:protocol=words,{settings}")
    assert message in str(caught.value)


def test_too_few_words_and_an_unknown_prompt_are_refused() -> None:
    model = planted("protocol=words," + ",".join(f"{name}=0" for name in CLASSES))
    with pytest.raises(UsageError, match="fewer than 10 words"):
        said(model, cells("en")[0])
    with pytest.raises(ModelError, match="not a prompt of words"):
        planted("protocol=words").reply(Request("p", (Message("user", "Hello"),)))
