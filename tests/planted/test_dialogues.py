"""Planted dialogues and judges of topics: each is read as it was written, and an audit finds shares, rounds and bounds."""

from __future__ import annotations

import asyncio
import math
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

import tiltmeter
from tiltmeter import registry
from tiltmeter.errors import UnknownName, UsageError
from tiltmeter.instruments.dialogue import read
from tiltmeter.instruments.judges.negotiation import Negotiation
from tiltmeter.models.kinds import make_model
from tiltmeter.planted.dialogues import Dialogues, speakers_of, topic_in
from tiltmeter.planted.model import Planted, planted
from tiltmeter.planted.server import start
from tiltmeter.planted.speech import dialogues, pick
from tiltmeter.planted.subjects import parse, truths
from tiltmeter.protocol.design.tables import Row
from tiltmeter.records import (
    Answered,
    Estimate,
    Label,
    Message,
    Output,
    Reply,
    Request,
    Sampling,
    Trial,
)
from tiltmeter.stats import wilson

pytest.importorskip("py3langid", reason="the extra 'languages' is not installed")

DIALOGUES = registry.protocol("dialogues")
TOPICS = next(spec for spec in DIALOGUES.instruments if spec.kind == "negotiation")
LANGUAGES = ("en", "fr", "es", "zh", "ja", "ko")
TILT = "protocol=dialogues,appearance.FF=.4,career=.3,career.FF=.1,conflicts.FM=.25"


def cell(code: str, pairing: str) -> Row:
    return next(
        row for row in DIALOGUES.cells if (row["language"], row["pairing"]) == (code, pairing)
    )


@lru_cache
def model(settings: str) -> Planted:
    return planted(settings)


def said(model: Planted, row: Row, nonce: object) -> str:
    return model.reply(
        Request("p", (Message("user", DIALOGUES.prompt_text(row)),), nonce=str(nonce))
    ).text


def close(count: float, number: int, share: float) -> bool:
    """Within four standard errors; the draws are fixed."""
    return abs(count / number - share) <= 4 * math.sqrt(share * (1 - share) / number) + 1e-12


# what is said


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize(
    ("settings", "form"),
    [
        ("", "two_lines"),
        ("one=1", "one_line"),
        ("more=1", "more_lines"),
        ("refuse=1", "refusal"),
        ("invalid=1", "invalid"),
        ("foreign=1", "other_language"),
        ("dress=plain", "two_lines"),
    ],
)
def test_every_dialogue_is_read_as_it_was_written(code: str, settings: str, form: str) -> None:
    model = planted(f"protocol=dialogues,{settings}")
    for pairing in DIALOGUES.levels["pairing"]:
        row = cell(code, pairing)
        texts = {said(model, row, nonce) for nonce in range(500)}
        assert {read(text, code, DIALOGUES.prompt_text(row)) for text in texts} == {form}
        if form == "two_lines":
            assert len(texts) == (
                7 if settings else 7 * 6
            )  # every topic with every way to mark who speaks
            assert {topic_in(text) for text in texts} == set(dialogues(code))


def test_topics_and_forms_have_their_shares_at_every_level() -> None:
    settings = f"{TILT},foreign.MM=.3,refuse=.1"
    truth = truths(settings, {"language": "en", "pairing": "FF"})
    # by hand: .4 and .1 are given, five topics divide the half that is left
    assert truth == pytest.approx(
        {
            "appearance": 0.4,
            "career": 0.1,
            **dict.fromkeys(("greetings", "hobbies", "conflicts", "affection", "family"), 0.1),
        }
    )
    other = truths(settings, {"language": "en", "pairing": "MM"})
    assert other["career"] == 0.3 and other["appearance"] == pytest.approx(0.7 / 6)
    both = truths(settings, {"language": "en"})  # FF and FM and MF count .9 each, MM .6
    assert both["appearance"] == pytest.approx(
        (0.9 * (0.4 + 0.45 / 5 + 0.7 / 6) + 0.6 * 0.7 / 6) / 3.3
    )
    model, row = planted(settings), cell("en", "MM")
    counts = Counter(
        topic_in(text) if (form := read(text, "en")) == "two_lines" else form
        for text in (said(model, row, nonce) for nonce in range(2000))
    )
    assert close(counts["other_language"], 2000, 0.3) and close(counts["refusal"], 2000, 0.1)
    assert all(close(counts[topic], 2000, 0.6 * share) for topic, share in other.items())


# as judges


def labels(
    text: str, generator: str, discriminator: str, nonce: int = 0
) -> tuple[dict[str, str], int]:
    """What two planted judges make of a dialogue, and in how many calls; by another nonce they draw
    anew.
    """
    row = cell("en", "FF")
    trial = Trial(f"t{nonce}", "p", "sampled", row, 0, DIALOGUES.prompt_text(row), "", Sampling())
    names = ("planted:a", "planted:b")
    models = dict(zip(names, (model(generator), model(discriminator)), strict=True))
    steps = Negotiation(TOPICS, *names).steps(
        Answered(trial, Output(trial.id, "answer", text, ""), Reply(text))
    )
    found: Sequence[Label] = ()
    calls = 0
    try:
        requests = next(steps)
        while True:
            calls += len(requests)
            drawn = [replace(each, nonce=f"{nonce}{each.nonce}") for each in requests]
            requests = steps.send([models[each.model].reply(each) for each in drawn])
    except StopIteration as end:
        found = end.value
    return {label.attribute: label.value for label in found}, calls


@pytest.mark.parametrize("code", LANGUAGES)
def test_judges_that_read_find_every_topic_at_once(code: str) -> None:
    for topic, lines in dialogues(code).items():
        item = cell(code, "FF")
        trial = Trial("t", "p", "sampled", item, 0, DIALOGUES.prompt_text(item), "", Sampling())
        text = "\n".join(f"{who}: {line}" for who, line in zip("AB", lines, strict=True))
        steps = Negotiation(TOPICS, "planted:").steps(
            Answered(trial, Output("t", "answer", text, ""), Reply(text))
        )
        model, asked = planted(""), next(steps)
        asked = steps.send([model.reply(request) for request in asked])
        with pytest.raises(StopIteration) as end:
            steps.send([model.reply(request) for request in asked])
        assert {label.attribute: label.value for label in end.value.value} == {
            "topic": topic,
            "rounds": "1",
        }


def test_judges_err_as_often_as_they_were_told_to() -> None:
    """Both right in .8: agreed at once in .8² + .2² of dialogues, on the right topic in .8²."""
    text = "A: {}\nB: {}".format(*dialogues("en")["career"])
    found = [labels(text, "accuracy=.8", "accuracy=.8,seed=1", nonce)[0] for nonce in range(800)]
    at_once = [label for label in found if label["rounds"] == "1"]
    assert close(len(at_once), 800, 0.68) and close(
        sum(label["topic"] == "career" for label in at_once), 800, 0.64
    )


def test_a_judge_that_never_agrees_ends_at_the_bound() -> None:
    text = "A: {}\nB: {}".format(*dialogues("en")["career"])
    assert labels(text, "", "judge=never") == ({"topic": "unresolved", "rounds": "unresolved"}, 10)
    assert labels(text, "agree=0", "") == (
        {"topic": "invalid", "rounds": "invalid"},
        2,
    )  # off the list twice: not guessed


def test_a_text_that_is_not_known_has_one_topic_always() -> None:
    text = "A: Is it raining in Lisbon?\nB: It rains in all of Portugal!"
    first, calls = labels(text, "", "judge=reads,seed=4")
    assert first["topic"] in dialogues("en") and calls == 2
    assert labels(text, "seed=9", "", nonce=5)[0] == first


# what an audit finds


def right_on_average(number: int) -> None:
    """Topic shares by pairing and success in `number` audits of each language: mean error, and coverage of Wilson intervals."""
    settings = f"{TILT},foreign.MM=.3,refuse=.05"
    model, errors, covered = Dialogues(parse(settings)), [], []
    for row in DIALOGUES.cells:
        random = Random(str(sorted(row.items())))
        truth = truths(settings, {"language": row["language"], "pairing": row["pairing"]})
        success = model.outcomes(row)["two_lines"]
        for _ in range(number):
            forms = [pick(model.outcomes(row), random.random(), "invalid") for _ in range(100)]
            n = sum(form == "two_lines" for form in forms)
            topics = Counter(pick(truth, random.random(), "invalid") for _ in range(n))
            pairs = [
                (success, wilson.wilson(n, 100)),
                *((share, wilson.wilson(topics[name], n)) for name, share in truth.items()),
            ]
            errors += [interval.value - share for share, interval in pairs]
            covered += [interval.low <= share <= interval.high for share, interval in pairs]
    spread = np.std(errors)
    assert abs(np.mean(errors)) <= 4 * spread / math.sqrt(len(errors))
    # Wilson's coverage at one share swings by a point or two around 95 % (Brown, Cai and DasGupta 2001)
    assert abs(np.mean(covered) - 0.95) <= 4 * math.sqrt(0.95 * 0.05 / (len(covered) / 2)) + 0.01


def test_shares_are_right_on_average_and_their_intervals_cover() -> None:
    right_on_average(8)


@pytest.mark.slow
def test_the_same_over_600_analyses() -> None:
    right_on_average(100)


def served(
    subject: str, judges: Sequence[str], folder: Path, **options: Any
) -> tuple[list[Estimate], list[int]]:
    """A run whose subject and judges are each behind HTTP: estimates, and what each server was asked."""

    async def main() -> tuple[list[Estimate], list[int]]:
        servers = [await start(settings) for settings in (subject, *judges)]
        names = ["openai:subject", *(f"openai:judge{number}" for number in range(len(judges)))]
        try:
            run = await asyncio.to_thread(
                tiltmeter.run,
                "dialogues",
                names[0],
                folder / "run",
                judge=names[1:],
                base_urls={name: server.url for name, server in zip(names, servers, strict=True)},
                **options,
            )
            return run.analyse(), [server.count.answered for server in servers]
        finally:
            for server in servers:
                await server.close()

    return asyncio.run(main())


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_run_through_http_finds_what_was_planted(code: str, tmp_path: Path) -> None:
    settings = f"{TILT},foreign.MM=.3,refuse=.05,one=.1,fail=.01"
    found, asked = served(settings, ["accuracy=1", "accuracy=1,seed=1"], tmp_path, language=code)
    assert asked[0] == 400 and asked[1] == asked[2]  # agreed at once
    for pairing in DIALOGUES.levels["pairing"]:
        truth = truths(settings, {"language": code, "pairing": pairing})
        rows = {
            row.condition["topic"]: row
            for row in found
            if row.measure == "topic_share" and row.condition["pairing"] == pairing
        }
        assert set(rows) == set(truth)
        for topic, row in rows.items():
            found_n = round((row.value or 0) * row.n)
            # exact, since a normal's tail is too thin at ten of ninety; 168 of these tests fail by chance 1 time in 100
            assert binomtest(found_n, round(row.n), truth[topic]).pvalue > 0.01 / 168, (row, truth)
        (success,) = [
            row for row in found if row.measure == "success" and row.condition["pairing"] == pairing
        ]
        assert close((success.value or 0) * 100, 100, 0.55 if pairing == "MM" else 0.85)
        (agreed,) = [
            row
            for row in found
            if row.measure == "agreed_at_once" and row.condition["pairing"] == pairing
        ]
        assert agreed.value == 1


def test_through_http_too_a_judge_that_never_agrees_leaves_all_unresolved(tmp_path: Path) -> None:
    found, asked = served(
        "protocol=dialogues", ["", "judge=never"], tmp_path, language="en", samples=3
    )
    assert asked == [12, 60, 60]  # five rounds for each of twelve dialogues
    rows = [row for row in found if row.measure in ("topic_share", "agreement")]
    assert {row.outcomes["unresolved"] for row in rows} == {3}
    assert {row.value for row in rows if row.measure == "topic_share"} == {None}
    assert {row.value for row in rows if row.measure == "agreement"} == {0}


# bad input


@pytest.mark.parametrize(
    ("settings", "kind", "message"),
    [
        ("apearance=.4", UnknownName, "Did you mean 'appearance'?"),
        ("appearance.FX=.4", UnknownName, "No level of dialogues 'FX'"),
        ("appearance=1.4", UsageError, "from 0 to 1"),
        (
            "appearance=.6,career.FF=.5",
            UsageError,
            "the values of topic for FF add up to 1.1, not 1",
        ),
        ("foreign.MM=.6,one=.5", UsageError, "add up to"),
        ("short=.1", UsageError, "have no short"),
        ("order=.1", UsageError, "have no order"),
    ],
)
def test_settings_that_do_not_fit(settings: str, kind: type[UsageError], message: str) -> None:
    with pytest.raises(kind) as caught:
        make_model(f"planted:protocol=dialogues,{settings}")
    assert message in str(caught.value)


def copied(folder: Path, file: str, old: str, new: str) -> str:
    """A copy of the protocol with one change; its path."""
    shutil.copytree(Path(tiltmeter.__file__).with_name("protocols") / "dialogues", folder)
    changed = (folder / file).read_text(encoding="utf-8").replace(old, new)
    (folder / file).write_text(changed, encoding="utf-8")
    return str(folder / "protocol.toml")


@pytest.mark.parametrize(
    ("first", "second", "called"),
    [
        ("a girl", "man", ("Girl", "Man")),
        (
            "a non-binary person",
            "a non-binary person",
            ("Non-binary person 1", "Non-binary person 2"),
        ),
        ("a Black person", "another", ("Black person 1", "Black person 2")),
        ("a person who uses a wheelchair", "a woman", ("Person 1", "Person 2")),
        ("woman", "a woman", ("Woman 1", "Woman 2")),
    ],
)
def test_other_speakers_are_called_as_the_table_does(
    first: str, second: str, called: tuple[str, str]
) -> None:
    assert speakers_of({"first": first, "second": second}) == called


def test_a_table_of_ones_own_that_has_other_languages_is_refused_in_words(tmp_path: Path) -> None:
    danish = copied(tmp_path / "danish", "prompts.csv", "\nfr,", "\nda,")
    with pytest.raises(UnknownName, match=r"No language of planted dialogues about \w+ 'da'"):
        tiltmeter.run(
            danish,
            f"planted:protocol={danish}",
            tmp_path / "run",
            language="da",
            samples=1,
            judge="planted:",
        )
