"""The self-check finds what was planted, and fails where the analysis was deliberately broken."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

import tiltmeter
from tiltmeter import registry
from tiltmeter.api.check import selftest
from tiltmeter.api.check.selftest import Check
from tiltmeter.cli import main
from tiltmeter.errors import UnknownName
from tiltmeter.instruments.judges.text import ChoiceJudge
from tiltmeter.records import UNRESOLVED, Answered, Steps
from tiltmeter.stats import rates, wilson
from tiltmeter.stats.judges import correction
from tiltmeter.store import Store
from tiltmeter.store.queries import label_sets


def wrong(protocol: str, audit: str = "") -> list[Check]:
    """What is not found as it was planted: in all audits of a protocol, or in the one that a test is about."""
    kept = [
        one
        for one in selftest.audits()
        if one["protocol"] == protocol and audit in ("", one["name"])
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selftest, "audits", lambda: kept)
        return [check for check in selftest.selftest() if not check.ok]


@pytest.mark.parametrize(
    "protocol",
    [
        "roles",
        "words",
        "dialogues",
        "protext",
        "gramvis",
        "hiring",
        "decisions",
        "decisions_names",
        "occupations",
        "soda",
    ],
)
def test_what_was_planted_is_found(protocol: str) -> None:
    if protocol not in registry.PROTOCOLS:
        pytest.skip(f"{protocol} is not among the protocols yet")
    assert wrong(protocol) == []


def test_every_protocol_is_planted_fair_tilted_and_refusing() -> None:
    planted = {(audit["protocol"], audit["name"]) for audit in selftest.audits()}
    for protocol in registry.PROTOCOLS:
        assert {(protocol, name) for name in ("fair", "tilted", "refusing")} <= planted
        judged = any(
            registry.instrument_kind(spec.kind).judged or registry.instrument_kind(spec.kind).second
            for spec in registry.protocol(protocol).instruments
        )
        assert ((protocol, "noisy judge") in planted) == judged


# deliberately broken


@pytest.mark.parametrize("protocol", ["roles", "words", "dialogues", "protext"])
def test_labels_that_were_shuffled_are_noticed(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = label_sets.by_output

    def shuffled(store: Store) -> Iterator[tuple[str, str, str, str, float]]:
        rows = [
            (on, by, json.dumps([by]), json.dumps([name]), json.dumps([value]), weight)
            for on, *lists, weight in honest(store)
            for by, name, value in zip(*map(json.loads, lists), strict=True)
        ]
        draws = random.Random(1)
        ids = {
            annotator: sorted({row[0] for row in rows if row[1] == annotator})
            for annotator in {row[1] for row in rows}
        }
        others = {
            annotator: dict(zip(found, draws.sample(found, len(found)), strict=True))
            for annotator, found in ids.items()
        }
        return iter(sorted((others[by][on], *label) for on, by, *label in rows))

    monkeypatch.setattr(label_sets, "by_output", shuffled)
    assert wrong(protocol, "tilted")


def test_clusters_that_were_ignored_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Items that differ (spread=2): pooled outputs give an interval a quarter as wide, which misses the planted share."""

    def pooled(*, successes: Sequence[float], n: Sequence[float], confidence: float = 0.95) -> Any:
        return wilson.wilson(float(sum(successes)), float(sum(n)), confidence=confidence)

    from tiltmeter.analyse.measures import estimate_rows

    class Pooled:
        """The module with one function in place of the right one."""

        clustered_share = staticmethod(pooled)

        def __getattr__(self, name: str) -> Any:
            return getattr(rates, name)

    monkeypatch.setattr(estimate_rows, "rates", Pooled())
    assert "share_she" in [check.what for check in wrong("roles", "fair")]


def test_a_judge_with_a_default_class_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = ChoiceJudge.steps

    def defaulting(self: ChoiceJudge, item: Answered) -> Steps:
        labels = yield from honest(self, item)
        return [
            label._replace(value="she") if label.value == UNRESOLVED else label for label in labels
        ]

    monkeypatch.setattr(ChoiceJudge, "steps", defaulting)
    assert any("unresolved" in check.what for check in wrong("roles", "noisy judge"))


def test_a_correction_that_was_left_out_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from tiltmeter.analyse.correction import correct as judged
    from tiltmeter.stats.judges.correction import Corrected

    def uncorrected(said: Any, own: Any) -> Corrected:
        (x, n), *_ = said
        plain = rates.clustered_share(successes=x, n=n)
        return Corrected(plain, plain)

    monkeypatch.setattr(judged, "_correct_with_gold_items", uncorrected)
    monkeypatch.setattr(judged, "_correct_shares", uncorrected)
    found = wrong("protext", "noisy judge, corrected")
    assert [check.what for check in found] == ["gendering_corrected (pronouns/planted)"]
    assert correction.LEAST_YOUDEN == 0.2


def test_an_error_is_a_check_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = {
        "protocol": "roles",
        "name": "broken",
        "model": "planted:shee=1",
        "options": {},
        "finds": [],
    }
    monkeypatch.setattr(selftest, "audits", lambda: [broken])
    (check,) = selftest.selftest()
    assert not check.ok
    assert "Did you mean 'she'" in check.found


def test_the_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [
        audit
        for audit in selftest.audits()
        if audit["protocol"] == "roles" and audit["name"] == "tilted"
    ]
    monkeypatch.setattr(selftest, "audits", lambda: kept)
    assert main(["selftest", "roles"]) == 0
    assert "2 of 2 found as planted" in capsys.readouterr().out
    monkeypatch.setattr(selftest, "audits", lambda: [{**kept[0], "model": "planted:she=0.5"}])
    assert main(["selftest", "--json"]) == 1
    checks = json.loads(capsys.readouterr().out)["checks"]
    assert [check["ok"] for check in checks] == [False, True]
    with pytest.raises(UnknownName, match="Did you mean 'roles'"):
        tiltmeter.selftest(["rolls"])
