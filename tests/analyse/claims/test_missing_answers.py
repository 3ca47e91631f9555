"""Missing answers at the gate: the worst case by hand, and a claim that they keep from passing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import tiltmeter
from tiltmeter.analyse.claims.gate import Decision, Gate, hold
from tiltmeter.analyse.claims.margins import size_of
from tiltmeter.analyse.claims.missing_answers import share_of, widest
from tiltmeter.analyse.claims.verdicts import Verdict
from tiltmeter.analyse.words.verdict_words import Word

SMALL: dict[str, Any] = {"language": "en", "limit": 20, "samples": 1}
INTERVAL = (0.95, 1.05)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Verdict:
    folder = tmp_path_factory.mktemp("missing") / "run"
    return tiltmeter.run("roles", "planted:he=0.9", folder, **SMALL).verdicts()[0]


def claim(base: Verdict, kind: str, missing: int, **changes: Any) -> Verdict:
    """A claim over 100 answers on both sides together."""
    row = replace(base.facts.row, outcomes={"answer": 100.0 - missing, "error": float(missing)})
    facts = replace(base.facts, row=row, spec=replace(base.facts.spec, kind=kind, among=()))
    of_kind = {"contrast": {"group": "a − b"}, "clusters": 60, "cautions": (), "facts": facts}
    of_kind |= {"word": Word.NO_DIFFERENCE, "claim": replace(base.claim, bounds=None)}
    return replace(base, **of_kind | changes)


def test_the_worst_case_by_hand(base: Verdict) -> None:
    """One of 100 answers: 2 % of a side. A share moves by 2 points, a ratio by a factor of 1/.98, a
    mean of 8 grades by .16.
    """
    ratio = claim(base, "mean_ratio", 1, unit="ratio", reference=1.0, value=1.0)
    assert share_of(ratio) == 0.01
    assert widest(ratio, INTERVAL) == pytest.approx((0.95 * 0.98, 1.05 / 0.98))
    share = claim(base, "difference", 1, unit="share", reference=0.0, value=0.0)
    assert widest(share, (-0.03, 0.03)) == pytest.approx((-0.05, 0.05))
    grades = {"unit": "grades", "reference": 0.0, "value": 0.0}
    grades |= {"sides": {"level": 7.0, "baseline": 8.0}}
    mean = claim(base, "mean_difference", 1, **grades)
    assert widest(mean, (-0.1, 0.1)) == pytest.approx((-0.26, 0.26))
    assert widest(claim(base, "mean_ratio", 0, unit="ratio"), INTERVAL) == INTERVAL


def test_missing_answers_keep_a_claim_from_passing(base: Verdict) -> None:
    changes = {"unit": "share", "reference": 0.0, "value": 0.0, "low": -0.03, "high": 0.03}
    gate = Gate(("tilt",), {"": (5.0, False)})
    whole = hold(gate, [claim(base, "difference", 0, **changes)])
    assert whole.decision is Decision.PASS
    result = hold(gate, [claim(base, "difference", 4, **changes)])
    assert result.decision is Decision.NOT_ENOUGH_DATA
    assert result.lines[1].strip() == (
        "4 % of the answers are missing: whatever they would have been, the interval is −11 to "
        "+11 points. Ask these prompts again."
    )


def test_missing_answers_always_have_a_margin() -> None:
    """Their own, that of refusals, that of all, or 5 points; never a size in per cent of lengths."""
    name = "unanswered_gender"
    assert size_of({"unanswered": (2.0, False), "refusal": (9.0, False)}, name, "share") == 0.02
    assert size_of({"refusal": (9.0, False), "": (3.0, False)}, name, "share") == 0.09
    assert size_of({"": (3.0, False)}, name, "share") == 0.03
    assert size_of({"length": (25.0, True)}, name, "share") == 0.05
    assert size_of({"length": (25.0, True)}, "length_unanswered", "share") == 0.05
