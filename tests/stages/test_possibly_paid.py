"""Every way in which a request of a batch ends as possibly paid, by name, with the reason why no reply of the provider settles
it; and what looks like one and is settled. Once the provider is well, the same command reads what was held.

Calls that are asked singly are held nowhere: what was sent and not answered is asked again and counts at its worst case
(test_odd_replies.py, TestPossiblyPaid).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.batches import lies
from tests.batches.lies import Liar, Lie, Said, edit, put
from tests.batches.provider import Oddities
from tests.batches.server import BatchServer
from tests.serving import serving
from tests.stages.test_lying_batches import KEYS, SETTINGS, answers, ask
from tiltmeter.models.http.body import object_at
from tiltmeter.records import Json
from tiltmeter.stages.batches import results as results_of_batches
from tiltmeter.stages.batches import steps
from tiltmeter.store import Store
from tiltmeter.store.queries import batches
from tiltmeter.store.queries.batches import UNCLEAR

FOR_GOOD = 10**6


@pytest.fixture(autouse=True)
def _provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "LATE_LIST_S", 0.02)
    for name in KEYS:
        monkeypatch.setenv(f"{name}_API_KEY", "k1234567890")


class Several(Liar):
    """Tells several lies at once."""

    def __init__(self, *each: Lie) -> None:
        super().__init__()
        self.liars = [Liar(lie) for lie in each]

    def changes(self, kind: str) -> bool:
        self.lie = next((one.lie for one in self.liars if one.changes(kind)), None)
        return self.lie is not None

    def provokes(self, kind: str) -> bool:
        return True


def one_line(spoiled: set[str], change: Callable[[dict[str, Json]], Json | None]) -> Lie:
    """One line of the results is changed, or does not come if the change gives None; its name is kept in `spoiled`."""

    def lie(said: Said) -> Said:
        bodies = [object_at(json.loads(line)) for line in said.content.splitlines()]
        if not spoiled and bodies:
            good = [body for body in bodies if '"error": {' not in json.dumps(body)]
            spoiled.add(min(str(body["custom_id"]) for body in good))
        kept = [change(body) if body["custom_id"] in spoiled else body for body in bodies]
        whole = "".join(json.dumps(body) + "\n" for body in kept if body is not None)
        return said._replace(content=whole.encode())

    return Lie("one line", "results", lie, FOR_GOOD)


def gone(body: dict[str, Json]) -> None:
    """The line does not come."""


def without_status(body: dict[str, Json]) -> Json:
    put("response", "status_code", value=None)(body)
    put("result", "type", value=None)(body)
    return body


def without_body(body: dict[str, Json]) -> Json:
    put("response", "body", value=None)(body)
    put("result", "message", value=None)(body)
    return body


def looks(*changes: Callable[[dict[str, Json]], None]) -> Lie:
    """All looks at a batch are changed so."""
    return Lie("looks", "look", edit(lies.also(*changes)), FOR_GOOD)


def results(status: int) -> Lie:
    return Lie("results", "results", lies.error(status), FOR_GOOD)


NO_COUNTS = looks(put("request_counts", value=None))
TOO_FEW = looks(
    put("request_counts", "completed", value=1), put("request_counts", "succeeded", value=1)
)


def _one_fewer(body: dict[str, Json]) -> None:
    counts = object_at(body["request_counts"])
    for name in ("completed", "succeeded"):
        number = counts.get(name)
        if isinstance(number, int) and number:
            counts[name] = number - 1


class Kind(NamedTuple):
    """A way to end as possibly paid. why: no reply of the provider settles it; told: the lies that it is told by, for good; line:
    what becomes of one line, if it is that one alone which is held.
    """

    why: str
    told: tuple[Lie, ...] = ()
    line: Callable[[dict[str, Json]], Json | None] | None = None
    formats: tuple[str, ...] = ("openai", "anthropic")


KINDS = {
    "the batch is unknown": Kind(
        "neither a look nor the list of batches knows it, so nothing tells what was done",
        formats=("openai", "anthropic", "mistral", "together", "gemini"),
    ),
    "the results do not come": Kind(
        "the provider counts them as done, and has no file of them",
        (results(404),),
        formats=("openai", "anthropic", "azure", "groq", "mistral"),
    ),
    "no result is named": Kind(
        "the provider counts them as done, and names no file of results",
        (looks(put("output_file_id", value=None), put("results_url", value=None)),),
        formats=("openai",),
    ),
    "a line does not come": Kind("one more is counted as done than there are lines", (), gone),
    "a line has no status": Kind("it does not say if it was done", (), without_status),
    "a line has no reply": Kind("it says that it was done, and not with what", (), without_body),
    "a line does not come and nothing is counted": Kind(
        "no line tells of it and no count", (NO_COUNTS,), gone
    ),
    "a batch that counts nothing lacks a line": Kind(
        "this provider counts nothing", (), gone, ("together",)
    ),
    "a line does not come and the counts are wrong": Kind(
        "fewer are counted as done than there are results: the counts tell nothing",
        (TOO_FEW,),
        gone,
    ),
    "a line does not come and it is counted as neither done nor failed": Kind(
        "the counts leave open what became of it", (looks(_one_fewer),), gone
    ),
}
QUICK = ("openai", "together")


@pytest.mark.parametrize(
    ("name", "format_"),
    [
        pytest.param(name, format_, marks=() if format_ in QUICK else pytest.mark.slow)
        for name, kind in KINDS.items()
        for format_ in kind.formats
    ],
)
def test_what_no_reply_settles_is_held(name: str, format_: str, tmp_path: Path) -> None:
    """It and no other; it is asked of nobody else, and is read once the provider tells of it."""
    kind, spoiled = KINDS[name], set[str]()
    assert kind.why
    vanish = name == "the batch is unknown"
    server = BatchServer(format_, SETTINGS, Oddities(looks=3 if vanish else 2, vanish=int(vanish)))
    out = tmp_path / "run"
    with serving(server):
        line = (one_line(spoiled, kind.line),) if kind.line else ()
        server.liar = Several(*kind.told, *line)
        for _ in range(2):
            assert ask(format_, server, out) not in ("", "6 outputs")
        (batch,) = server.provider.batches.values()
        with Store(out) as store:
            held = batches.keys_in(store, (UNCLEAR,))
        assert len(held) == (1 if kind.line else batch.total)
        if kind.line:
            assert {custom_id.partition("-")[2] for custom_id in spoiled} == held
        server.liar, batch.gone = Liar(), False
        assert not ask(format_, server, out)
        assert max((server.ledger.batched + server.ledger.singles).values()) == 1
        assert len(server.ledger.created) == 1
    with Store(out) as store:
        assert not batches.keys_in(store, (UNCLEAR,))


@pytest.mark.parametrize(
    "format_",
    [
        "openai",
        *(
            pytest.param(each, marks=pytest.mark.slow)
            for each in ("azure", "groq", "mistral", "together", "anthropic")
        ),  # not Gemini's: small results come with a look alone
    ],
)
def test_a_batch_that_only_the_list_knows_is_read(format_: str, tmp_path: Path) -> None:
    server = BatchServer(format_, SETTINGS, Oddities(looks=2))
    with serving(server):
        server.liar = Liar(Lie("unknown to looks", "look", lies.error(404), FOR_GOOD))
        assert not ask(format_, server, tmp_path / "run")
        assert len(server.ledger.created) == 1
        assert max((server.ledger.batched + server.ledger.singles).values()) == 1


def test_what_expired_beside_a_line_that_does_not_come_is_asked_again(tmp_path: Path) -> None:
    """Its own lines say that it was not done: the missing line alone is held."""
    out, spoiled = tmp_path / "run", set[str]()
    server = BatchServer("openai", SETTINGS, Oddities(looks=2, expired=1))
    with serving(server):
        server.liar = Several(one_line(spoiled, gone))
        assert ask("openai", server, out) not in ("", "6 outputs")
        with Store(out) as store:
            held = batches.keys_in(store, (UNCLEAR,))
        assert {custom_id.partition("-")[2] for custom_id in spoiled} == held
        assert len(held) == 1 and len(server.ledger.created) == 2 and len(answers(out)) == 5
        server.liar = Liar()
        assert not ask("openai", server, out)
        assert max((server.ledger.batched + server.ledger.singles).values()) == 1


def test_results_that_the_provider_keeps_no_longer_stay_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No look could tell of them any more: none is made."""
    out = tmp_path / "run"
    server = BatchServer("openai", SETTINGS, Oddities(looks=2))
    with serving(server):
        server.liar = Several(results(404))
        assert ask("openai", server, out) not in ("", "6 outputs")
        server.liar = Liar()
        monkeypatch.setattr(steps, "is_kept", lambda row: False)
        asked = len(server.ledger.steps)
        assert ask("openai", server, out) not in ("", "6 outputs")
        assert not [step for step in server.ledger.steps[asked:] if "/batches" in step]


def test_results_without_end_are_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines of somebody else's requests, after which the rest would never be looked at."""
    monkeypatch.setattr(results_of_batches, "MOST_LINES_OF_ONE", 3)
    out, other = tmp_path / "run", b'{"custom_id": "x"}\n'
    server = BatchServer("openai", SETTINGS, Oddities(looks=2))
    with serving(server):
        drown = Lie("drowned", "results", lies.text(lambda c: other * 100 + c), FOR_GOOD)
        server.liar = Several(drown)
        assert ask("openai", server, out) not in ("", "6 outputs")
        with Store(out) as store:
            (row,) = batches.rows(store)
        assert "sent more than" in row.told
        server.liar = Liar()
        assert not ask("openai", server, out)
