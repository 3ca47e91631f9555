"""JSON as records are identified by: the fast writer says what the standard library says."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiltmeter.records import Json, Message, Reply, Request, Sampling, canonical, content_id
from tiltmeter.records.json_text import json_writer
from tiltmeter.records.typed_json import parse_as

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=12,
)
HALF = "\ud83d"  # of an emoji


@given(VALUES)
def test_canonical_json_is_what_the_standard_library_writes(value: object) -> None:
    wanted = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    assert canonical(value) == wanted
    assert json_writer(", ", ": ", sort_keys=False)(value) == json.dumps(value, ensure_ascii=False)


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        canonical({"a": {1, 2}})


def test_ids_are_those_of_before() -> None:
    """SHA-256 over canonical JSON, worked out apart with sha256sum."""
    assert content_id("a", {"b": [1, 2.5, None], "ä": "\n"}) == "5be74948b76a4e6ffc56f5cf638b9d07"
    request = Request("openai:m", (Message("user", "Who?"),), Sampling(), nonce="t/0")
    assert request.text == (
        '["openai:m",[["user","Who?",[]]],[1.0,1.0,256,null],"",0,"","subject","t/0"]'
    )


def test_a_reply_is_whole_however_it_is_made() -> None:
    reply = Reply("she", served="m", usage=(1, 2), picture=b"x", blob="b", remote="r")
    done = reply.received(0.5, ("seed",), f"raw {HALF}")
    assert (done.cost, done.omitted, done.raw) == (0.5, ("seed",), "raw \ufffd")
    for name in ("text", "outcome", "served", "usage", "picture", "blob", "remote", "revised"):
        assert getattr(done, name) == getattr(reply, name)
    for name in ("text", "served", "fingerprint", "revised", "raw", "remote"):
        assert HALF not in getattr(Reply(**{"text": "", name: HALF}), name)


@dataclass(frozen=True)
class Inner:
    number: int
    share: float | None
    kind: Literal["a", "b"]


@dataclass(frozen=True)
class Outer:
    names: tuple[str, ...]
    inner: Mapping[str, Inner]
    rows: Sequence[Sequence[float]]
    whatever: Mapping[str, Json]


def test_json_is_read_as_what_it_was_written_from() -> None:
    whole = Outer(("a",), {"x": Inner(1, None, "b")}, ((1, 0.5), ()), {"y": [None]})
    text = json.dumps(asdict(whole))
    assert parse_as(Outer, text) == whole
    for old, new in (
        ('"number": 1', '"number": true'),
        ('"number": 1', '"number": 1.0'),
        ('"share": null', '"share": "1"'),
        ('"b"', '"c"'),
        ('"b"', '["b"]'),
        ("0.5", '{"a": 1}'),
        ('["a"]', '"a"'),
        ('["a"]', "[7]"),
        ('"names"', '"games"'),
        ('"kind": "b"', '"kind": "b", "more": 1'),
        ("[null]", "[" * 5000 + "]" * 5000),
    ):
        assert old in text
        with pytest.raises(ValueError):
            parse_as(Outer, text.replace(old, new, 1))
