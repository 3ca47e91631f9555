"""A system prompt and earlier turns: asked before the prompt, fixed for a run, in the signature, and hidden from judges."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tiltmeter
from tiltmeter.errors import ProtocolError, RunMismatch
from tiltmeter.stages.planning import plan as planning
from tiltmeter.store import Store
from tiltmeter.store.queries import tables

from ..api.test_python import KEYS

SMALL: dict[str, Any] = {"samples": 1, "limit": 4}
TALK: dict[str, Any] = {
    **KEYS,
    "name": "talks",
    "system": "You work for a bank.",
    "turns": [
        {"role": "user", "text": "Hello, I am {who}."},
        {"role": "assistant", "text": "How can I help?"},
    ],
}
MODEL = "planted:protocol=talks,raised.Emily=0.0,raised.Jacob=1.0"


def requests(run: tiltmeter.Run, of: str = "subject") -> list[list[list[str]]]:
    """The messages of each call of a purpose, as [role, text]."""
    with Store(run.folder) as store:
        pieces = list(tables.pieces(store, "calls"))
    found = [
        json.loads(request)[1]
        for piece in pieces
        for request, purpose in zip(piece["request"], piece["purpose"], strict=True)
        if purpose.startswith(of)
    ]
    return [[message[:2] for message in messages] for messages in found]


def test_the_whole_conversation_is_asked(tmp_path: Path) -> None:
    protocol = tiltmeter.Protocol.declare(**TALK)
    run = tiltmeter.run(protocol, MODEL, tmp_path / "run", judge="planted:protocol=talks", **SMALL)
    for messages in requests(run):
        assert messages[0] == ["system", "You work for a bank."]
        assert messages[2] == ["assistant", "How can I help?"]
        name = messages[1][1].removeprefix("Hello, I am ").removesuffix(".")
        assert messages[3] == ["user", messages[3][1]] and f"{name} is a" in messages[3][1]
    judged = requests(run, "choice/planted")
    assert judged and not any("bank" in text for messages in judged for _, text in messages)
    rows = {row["measure"]: row for row in run.estimates.iter_rows(named=True)}
    assert rows["gap"]["value"] == -1.0


def test_judges_see_the_system_prompt_where_the_protocol_says_so(tmp_path: Path) -> None:
    protocol = tiltmeter.Protocol.declare(**TALK, judges_see_system=True)
    run = tiltmeter.run(protocol, MODEL, tmp_path / "run", judge="planted:protocol=talks", **SMALL)
    told = [messages[0][1] for messages in requests(run, "choice/planted")]
    assert told and all("You work for a bank.\n\nFill in" in text for text in told)


def test_it_is_part_of_the_design_and_of_the_signature(tmp_path: Path) -> None:
    plain = tiltmeter.Protocol.declare(**{**KEYS, "name": "talks"})
    assert tiltmeter.Protocol.declare(**TALK).digest != plain.digest
    run = tiltmeter.run(plain, MODEL, tmp_path / "run", system="Be brief.", **SMALL)
    signatures = set(run.estimates["signature"])
    assert all("|system:" in signature for signature in signatures)
    with pytest.raises(RunMismatch, match=r"another system \(Be brief\., now none\)"):
        tiltmeter.run(plain, MODEL, tmp_path / "run", **SMALL)
    other = tiltmeter.run(plain, MODEL, tmp_path / "other", system="Be rude.", **SMALL)
    assert tiltmeter.compare(run.folder, other.folder).rows
    both = tiltmeter.run(plain, MODEL, tmp_path / "both", system="Be", temperature=0.5, **SMALL)
    with pytest.raises(RunMismatch, match=r"temperature .* and system prompt .* differ at once"):
        tiltmeter.compare(run.folder, both.folder)


def test_another_one_takes_its_place_and_has_no_slots() -> None:
    protocol = tiltmeter.Protocol.declare(**TALK)
    cell = protocol.cells[0]
    assert protocol.context(cell, "{who}")[0].content == "{who}"
    assert protocol.context(cell, "")[0].role == "user"


def test_a_plan_without_one_has_the_trials_it_had() -> None:
    """Ids as version 0.1 made them, so that a run from then goes on."""
    choices = planning.Choices(("planted:she=0.7",), languages=("en",), limit=1, samples=1)
    trials = planning.trials(tiltmeter.load_protocol("roles"), choices)
    assert all(trial.context == () for trial in trials)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"system": "You are {whom}."}, "has a slot {whom}. No column 'whom'. Did you mean 'who'?"),
        ({"turns": [{"role": "system", "text": "x"}]}, "talks"),
        ({"turns": [{"role": "user", "said": "x"}]}, "turns 1"),
    ],
)
def test_what_is_wrong_is_named(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        tiltmeter.Protocol.declare(**{**TALK, **changes})
    assert said in str(caught.value) or "turns 1, role" in str(caught.value)


def test_pictures_have_it_before_their_prompt() -> None:
    asked = tiltmeter.load_protocol("occupations")
    choices = planning.Choices(("planted",), limit=1, samples=1, system="Be brief.")
    (trial, *_) = planning.trials(asked, choices)
    plain = next(planning.trials(asked, planning.Choices(("planted",), limit=1, samples=1)))
    assert trial.prompt == f"Be brief.\n\n{plain.prompt}"
    assert trial.context == ()
