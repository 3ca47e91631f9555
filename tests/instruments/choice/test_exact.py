"""Probabilities of whole forms, worked out by hand beside each tree of tokens."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiltmeter import registry
from tiltmeter.errors import Incapable
from tiltmeter.instruments.choice.choice import Choice
from tiltmeter.instruments.choice.exact import CALLS, THRESHOLD
from tiltmeter.planted.model import planted
from tiltmeter.planted.subjects import truth
from tiltmeter.records import REFUSAL, Answered, Label, Message, Reply, Request, Token, Trial

from ..making import BEGIN, PROMPT, answered, drive, listed, nobody, spec, through

Table = Mapping[str, Mapping[Any, float]]  # begun answer (beyond the trial's own) → next tokens


def server(table: Table, begin: str = BEGIN) -> Callable[[Request], Reply]:
    """A server that knows the next tokens after some begun answers; asked for another, it fails the test."""

    def reply(request: Request) -> Reply:
        assert request.begin.startswith(begin)
        return Reply("", alternatives=(listed(table[request.begin[len(begin) :]]),))

    return reply


def read(table: Table, language: str = "en") -> tuple[dict[str, float], list[list[Request]]]:
    """The shares by value, and what was asked beyond the first call."""
    first = answered(language=language, begin=BEGIN, tokens=listed(table[""]), exact=True)
    labels, asked = drive(Choice(spec()).steps(first), server(table))
    assert len({label.value for label in labels}) == len(labels)
    shares = {label.value: label.weight for label in labels}
    assert math.isclose(sum(shares.values()), 1.0, abs_tol=1e-9)
    assert all(share > 0 for share in shares.values())
    return shares, asked


def test_one_call_is_enough_where_each_form_is_one_token() -> None:
    shares, asked = read({"": {"he": 0.5, "she": 0.3, "The": 0.15}})
    assert asked == []
    # .05 is not listed by the server, so it is not known what it is
    assert shares == pytest.approx({"he": 0.5, "she": 0.3, "other": 0.15, "unresolved": 0.05})


def test_case_blanks_and_quotes_before_a_form_do_not_matter() -> None:
    shares, asked = read(
        {
            "": {
                "he": 0.2,
                " He": 0.1,
                "HE": 0.1,
                '"she': 0.2,
                "**She": 0.1,
                "\n\nshe": 0.1,
                "(she": 0.2,
            }
        }
    )
    assert asked == []
    assert shares == pytest.approx({"he": 0.4, "she": 0.6})


def test_a_form_is_a_whole_word() -> None:
    tokens = {
        "he": 0.2,
        "her": 0.1,
        "hey": 0.1,
        "sheet": 0.1,
        "the": 0.1,
        "she.": 0.1,
        "he'": 0.1,
        "he/": 0.1,
        "he-": 0.1,
    }
    shares, _ = read({"": tokens})
    assert shares == pytest.approx({"he": 0.3, "she": 0.1, "other": 0.6})


def test_a_form_in_two_tokens_is_the_product_along_its_path() -> None:
    # she: .3 whole + .4 · .9 by s+he; other: .4 · .08 (s+ome) + .1 (I); unlisted: .4 · .02
    table: Table = {"": {"he": 0.2, "she": 0.3, "s": 0.4, "I": 0.1}, "s": {"he": 0.9, "ome": 0.08}}
    shares, asked = read(table)
    assert shares == pytest.approx({"he": 0.2, "she": 0.66, "other": 0.132, "unresolved": 0.008})
    assert [[request.begin for request in turn] for turn in asked] == [[BEGIN + "s"]]


def test_three_tokens_deep_and_several_paths_in_one_turn() -> None:
    # she: .4·.5·1 (s,h,e) + .4·.5 (s,he); he: .6·.7 (h,e); other: .6·.3 (h,i)
    table: Table = {
        "": {"s": 0.4, "h": 0.6},
        "s": {"h": 0.5, "he": 0.5},
        "h": {"e": 0.7, "i": 0.3},
        "sh": {"e": 1.0},
    }
    shares, asked = read(table)
    assert shares == pytest.approx({"he": 0.42, "she": 0.4, "other": 0.18})
    assert [[request.begin[len(BEGIN) :] for request in turn] for turn in asked] == [
        ["h", "s"],
        ["sh"],
    ]


def test_two_ways_to_the_same_text_are_asked_once() -> None:
    # 's' twice (two tokens of the same bytes) with .2 + .1, then she
    first = (*listed({"s": 0.2, "he": 0.7}), *listed({"s": 0.1}))
    item = answered(begin=BEGIN, tokens=first, exact=True)
    labels, asked = drive(Choice(spec()).steps(item), server({"s": {"he": 1.0}}))
    assert {label.value: round(label.weight, 9) for label in labels} == {"he": 0.7, "she": 0.3}
    assert len(asked) == 1 and len(asked[0]) == 1


def test_a_form_that_begins_another_is_what_is_left_of_it() -> None:
    # P(彼女) = .6 · .25 = .15 + .1 whole = .25; P(彼) = .6 · (1 − .25) = .45: は .5, が .15, and .1 that is not listed but
    # cannot be 女, which is
    table: Table = {
        "": {"彼": 0.6, "彼女": 0.1, "私": 0.3},
        "彼": {"女": 0.25, "は": 0.5, "が": 0.15},
    }
    shares, asked = read(table, "ja")
    assert shares == pytest.approx({"he": 0.45, "she": 0.25, "other": 0.3})
    assert [[request.begin for request in turn] for turn in asked] == [[BEGIN + "彼"]]


def test_what_is_not_listed_after_a_form_is_unresolved_where_the_longer_form_is_not_listed_either() -> (
    None
):
    shares, _ = read({"": {"彼": 1.0}, "彼": {"は": 0.5, "が": 0.2}}, "ja")
    assert shares == pytest.approx({"he": 0.7, "unresolved": 0.3})


def test_words_that_only_begin_with_a_form_are_other() -> None:
    # 彼ら (they) .1, 彼氏 (boyfriend) .1 are no form; 他们 as one token likewise, while 他 alone is not asked about
    shares, _ = read({"": {"彼": 1.0}, "彼": {"女": 0.3, "ら": 0.1, "氏": 0.1, "は": 0.5}}, "ja")
    assert shares == pytest.approx({"he": 0.5, "she": 0.3, "other": 0.2})
    shares, asked = read({"": {"他": 0.5, "她": 0.3, "他们": 0.2}}, "zh")
    assert shares == pytest.approx({"he": 0.5, "she": 0.3, "other": 0.2})
    assert not asked


def test_an_answer_that_ends_after_a_form_is_that_form() -> None:
    shares, _ = read({"": {"彼": 1.0}, "彼": {"女": 0.4, "": 0.6}}, "ja")
    assert shares == pytest.approx({"he": 0.6, "she": 0.4})
    shares, asked = read({"": {"": 0.4, "he": 0.6}})
    assert shares == pytest.approx({"he": 0.6, "other": 0.4})
    assert not asked


def test_characters_in_whole_byte_tokens_are_read() -> None:
    # 他 E4 BB 96, 她 E5 A5 B9, each as one token of three bytes
    shares, asked = read({"": {b"\xe4\xbb\x96": 0.6, b"\xe5\xa5\xb9": 0.4}}, "zh")
    assert shares == pytest.approx({"he": 0.6, "she": 0.4})
    assert not asked


def test_a_piece_of_a_character_is_unresolved_unless_it_begins_no_form() -> None:
    # E4 begins 他, E5 begins 她, E2 80 begins a quotation mark; F0 9F begins an emoji and D0 a Cyrillic letter
    pieces = {
        b"\xe4": 0.2,
        b"\xe5\xa5": 0.1,
        b"\xe2\x80": 0.1,
        b"\xf0\x9f": 0.25,
        b"\xd0": 0.15,
        b"\xe5\xa5\xb9": 0.2,
    }
    shares, asked = read({"": pieces}, "zh")
    assert shares == pytest.approx({"she": 0.2, "other": 0.4, "unresolved": 0.4})
    assert not asked


def test_a_piece_after_a_form_settles_it_unless_it_can_be_the_longer_form() -> None:
    # after 彼: E5 begins 女 (and nothing else that matters), E3 begins ら of 彼ら as well as は, E2 begins neither
    shares, _ = read(
        {"": {"彼": 1.0}, "彼": {b"\xe5": 0.2, b"\xe3": 0.3, b"\xe2": 0.1, "女": 0.4}}, "ja"
    )
    assert shares == pytest.approx({"he": 0.1, "she": 0.4, "unresolved": 0.5})


def test_a_server_that_writes_pieces_as_replacement_characters_gives_nothing_to_read() -> None:
    shares, asked = read({"": {"\ufffd": 0.9, "a": 0.1}}, "zh")
    assert shares == pytest.approx({"other": 0.1, "unresolved": 0.9})
    assert not asked


def test_lone_quotes_and_blanks_are_followed() -> None:
    table: Table = {
        "": {" ": 0.5, "'": 0.3, "he": 0.2},
        " ": {"she": 1.0},
        "'": {"he": 0.5, "she": 0.5},
    }
    assert read(table)[0] == pytest.approx({"he": 0.35, "she": 0.65})


def test_paths_with_little_probability_are_not_paid_for() -> None:
    assert THRESHOLD == 0.01
    shares, asked = read({"": {"he": 0.991, "s": 0.009}})
    assert not asked
    assert shares == pytest.approx({"he": 0.991, "unresolved": 0.009})
    shares, asked = read({"": {"he": 0.989, "s": 0.011}, "s": {"he": 1.0}})
    assert len(asked) == 1
    assert shares == pytest.approx({"he": 0.989, "she": 0.011})


def test_the_number_of_further_calls_is_bounded() -> None:
    """A server whose every next token is a blank, and one that offers more open paths than are paid for."""
    blank = Reply("", alternatives=(listed({" ": 0.5, "\t": 0.5}),))
    item = answered(begin=BEGIN, tokens=blank.alternatives[0], exact=True)
    labels, asked = drive(Choice(spec()).steps(item), lambda request: blank)
    assert {label.value: label.weight for label in labels} == pytest.approx({"unresolved": 1.0})
    assert sum(map(len, asked)) <= CALLS
    many = {"'" * number: 1 / 20 for number in range(1, 21)}
    item = answered(begin=BEGIN, tokens=listed(many), exact=True)
    labels, asked = drive(
        Choice(spec()).steps(item), lambda request: Reply("", alternatives=(listed({"he": 1.0}),))
    )
    assert sum(map(len, asked)) == CALLS == 12
    assert {label.value: label.weight for label in labels} == pytest.approx(
        {"he": 12 / 20, "unresolved": 8 / 20}
    )


def test_one_long_path_is_bounded() -> None:
    labels, asked = drive(
        Choice(spec()).steps(answered(begin=BEGIN, tokens=listed({" ": 1.0}), exact=True)),
        lambda request: Reply("", alternatives=(listed({" ": 1.0}),)),
    )
    assert len(asked) < CALLS
    assert [label.value for label in labels] == ["unresolved"]


def test_further_requests_are_the_trials_own_with_a_longer_beginning() -> None:
    choice = Choice(spec())
    item = answered(begin=BEGIN, tokens=listed({"s": 0.5, "he": 0.5}), exact=True)
    _, asked = drive(choice.steps(item), server({"s": {"he": 1.0}}))
    assert asked == [
        [
            Request(
                item.trial.subject,
                (Message("user", PROMPT),),
                item.trial.sampling,
                BEGIN + "s",
                2,
                purpose=choice.annotator,
                nonce="t1/73",
            ),
        ]
    ]


@pytest.mark.parametrize(
    "reply", [Reply("no", REFUSAL), Reply("x")], ids=["refused", "without log-probabilities"]
)
def test_a_further_request_that_brings_nothing_leaves_its_mass_unresolved(reply: Reply) -> None:
    item = answered(begin=BEGIN, tokens=listed({"s": 0.5, "he": 0.5}), exact=True)
    labels, _ = drive(Choice(spec()).steps(item), lambda request: reply)
    assert {label.value: label.weight for label in labels} == pytest.approx(
        {"he": 0.5, "unresolved": 0.5}
    )


def test_a_server_without_log_probabilities_is_named_with_the_way_out() -> None:
    with pytest.raises(
        Incapable, match=r"planted:she=0.7 gives no log-probabilities.*--mode sampled"
    ):
        drive(Choice(spec()).steps(answered("he", begin=BEGIN, exact=True)), nobody)


@pytest.mark.parametrize(
    "tokens",
    [
        (Token(b"he", 0.7), Token(b"she", 0.3)),
        (Token(b"he", math.nan),),
        listed({"he": 0.9, "she": 0.9}),
    ],
    ids=["probabilities", "nan", "more than 1"],
)
def test_numbers_that_are_no_log_probabilities_are_refused(tokens: tuple[Token, ...]) -> None:
    with pytest.raises(Incapable, match="cannot be natural logarithms"):
        drive(Choice(spec()).steps(answered(begin=BEGIN, tokens=tokens, exact=True)), nobody)


def test_rounding_above_one_is_forgiven_and_the_shares_still_sum_to_one() -> None:
    shares, _ = read({"": {"he": 0.505, "she": 0.505}})
    assert shares == pytest.approx({"he": 0.5, "she": 0.5})


def test_what_rounding_takes_from_one_is_no_unlisted_token() -> None:
    assert read({"": {"he": 0.599998, "she": 0.399999}})[0] == pytest.approx(
        {"he": 0.6, "she": 0.4}, abs=1e-5
    )


def test_impossible_tokens_do_no_harm() -> None:
    tokens = (*listed({"he": 1.0}), Token(b"she", -9999.0), Token(b"x", -math.inf))
    labels, _ = drive(
        Choice(spec()).steps(answered(begin=BEGIN, tokens=tokens, exact=True)), nobody
    )
    assert {label.value: label.weight for label in labels} == {"he": 1.0}


def test_options_may_be_called_anything_that_is_no_outcome() -> None:
    forms = {"en": {"open": ["open"], "piece": ["piece"], "third": ["closed"]}}
    item = answered(
        begin=BEGIN, tokens=listed({"open": 0.5, "piece": 0.3, "closed": 0.2}), exact=True
    )
    labels, _ = drive(Choice(spec(forms)).steps(item), nobody)
    assert {label.value: label.weight for label in labels} == pytest.approx(
        {"open": 0.5, "piece": 0.3, "third": 0.2}
    )
    assert drive(Choice(spec(forms)).steps(answered("closed")), nobody)[0][0].value == "third"


PIECES = ["s", "h", "e", "he", "she", " ", "'", "er", "The", "", "S", "彼", "女"]


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_the_shares_of_any_tree_sum_to_one(data: st.DataObject) -> None:
    def place() -> tuple[Token, ...]:
        tokens = data.draw(st.lists(st.sampled_from(PIECES), min_size=1, max_size=5, unique=True))
        weights = data.draw(
            st.lists(st.floats(0.01, 1), min_size=len(tokens), max_size=len(tokens))
        )
        total = sum(weights) / data.draw(st.floats(0.3, 1))
        return listed(
            {token: weight / total for token, weight in zip(tokens, weights, strict=True)}
        )

    language = data.draw(st.sampled_from(["en", "ja"]))
    item = answered(language=language, begin=BEGIN, tokens=place(), exact=True)
    labels, asked = drive(
        Choice(spec()).steps(item), lambda request: Reply("", alternatives=(place(),))
    )
    assert math.isclose(sum(label.weight for label in labels), 1.0, abs_tol=1e-9)
    assert sum(map(len, asked)) <= CALLS


def exact_trial(subject: str, path: str = "roles", **where: str) -> Answered:
    """The exact trial of one cell of a protocol, with the reply of the subject itself."""
    protocol = registry.protocol(path)
    cell = next(c for c in protocol.cells if all(c[name] == level for name, level in where.items()))
    mode = protocol.modes["exact"]
    trial = Trial(
        "t1", subject, "exact", cell, 0, protocol.prompt_text(cell), mode.begin, mode.sampling
    )
    request = Request(
        subject,
        (Message("user", trial.prompt),),
        trial.sampling,
        mode.begin,
        mode.logprobs,
        nonce="t1/0",
    )
    item = answered()
    return Answered(
        trial, item.output, through(planted(subject.partition(":")[2]))(request), exact=True
    )


def labels_of(item: Answered, forms: object) -> tuple[dict[str, float], int]:
    model = planted(item.trial.subject.partition(":")[2])
    labels, asked = drive(Choice(spec(forms)).steps(item), through(model))
    assert all(isinstance(label, Label) for label in labels)
    return {label.value: label.weight for label in labels}, sum(map(len, asked))


@pytest.mark.parametrize(
    "bytewise", ["", ",firstbyte=1"], ids=["whole tokens", "tokens of one byte"]
)
def test_a_planted_tilt_is_read_exactly(bytewise: str) -> None:
    settings = f"she=0.7,refuse=0.1,rest=0.05{bytewise}"
    forms = registry.protocol("roles").instruments[0].settings["forms"]
    shares, calls = labels_of(exact_trial(f"planted:{settings}", word="witty"), forms)
    share = truth(settings, {"word": "witty", "language": "en"})
    assert shares["she"] == pytest.approx(0.85 * share)
    assert shares["he"] == pytest.approx(0.85 * (1 - share))
    assert (calls > 0) == bool(bytewise)


ZH_JA = """
name = "fill"
title = "Fill"
question = "Which?"
prompt = "{prompt}"
factors = ["language"]
item = "language"
tables = [{ rows = [
  { language = "zh", prompt = "请用“他”或“她”填空：___是我见过的最机智的人。" },
  { language = "ja", prompt = "「彼」または「彼女」で空欄を埋めてください。___は最も賢い人です。" },
] }]
[modes.exact]
begin = "答：'"
logprobs = 20
max_tokens = 1
[[instruments]]
name = "choice"
kind = "choice"
attribute = "pronoun"
forms = { zh = { he = ["他"], she = ["她"] }, ja = { he = ["彼"], she = ["彼女"] } }
[[measures]]
name = "share"
kind = "share"
attribute = "pronoun"
values = ["she"]
"""


def test_a_planted_tilt_is_read_in_chinese_and_japanese_and_not_from_first_bytes(
    tmp_path: Path,
) -> None:
    path = tmp_path / "fill.toml"
    path.write_text(ZH_JA, encoding="utf-8")
    forms = registry.protocol(str(path)).instruments[0].settings["forms"]
    for code in ("zh", "ja"):
        shares, calls = labels_of(
            exact_trial(f"planted:she=0.8,protocol={path}", str(path), language=code), forms
        )
        assert (shares["he"], shares["she"]) == pytest.approx((0.2, 0.8))
        assert calls == (1 if code == "ja" else 0)  # 彼 begins 彼女
        subject = f"planted:she=0.8,firstbyte=1,protocol={path}"
        assert labels_of(exact_trial(subject, str(path), language=code), forms)[0] == pytest.approx(
            {"unresolved": 1.0}
        )
