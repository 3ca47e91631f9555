"""Missing answers at the gate: the worst case by hand, and a claim that they keep from passing."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tiltmeter
from tiltmeter import registry
from tiltmeter.analyse.claims.gate import Cost, Decision, Gate, hold
from tiltmeter.analyse.claims.margins import in_words, parse_sizes, refuse_unfit, size_of
from tiltmeter.analyse.claims.missing_answers import share_of, widest
from tiltmeter.analyse.claims.verdicts import Verdict
from tiltmeter.analyse.words.caution_kinds import Caution, CautionKind
from tiltmeter.analyse.words.first_sentence.situations import first_sentence
from tiltmeter.analyse.words.verdict_words import Word
from tiltmeter.cli import main
from tiltmeter.errors import UsageError

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
        "Only 4 % of the answers are missing: they could make the interval −11 to +11 points. A "
        "run keeps the answers that it has: ask anew with another --out (tiltmeter quote RUN shows "
        "what came instead)."
    )


def test_a_gate_names_items_before_missing_answers(base: Verdict) -> None:
    """One answer of 100 may move a side by 2 points, so of a margin of 5 points 3 remain, for
    which (5 / 3)² times the items are needed; four could move it by 8, more than any items allow.
    """
    wide = {"unit": "share", "reference": 0.0, "value": 0.1}
    gate = Gate(("tilt",), {"": (5.0, False)})

    def line(missing: int) -> str:
        held = claim(base, "difference", missing, **wide, low=-0.13, high=0.33)
        return hold(gate, [held]).lines[1].strip()

    assert line(0).startswith("If there is no difference, ") and "missing" not in line(0)
    fewest, more = (int(line(n).split()[5].replace(",", "")) for n in (0, 1))
    assert more / fewest == pytest.approx((5 / 3) ** 2, rel=1e-3)
    assert "with 1 % of the answers missing as now (now 60" in line(1)
    assert line(4).startswith(f"If there is no difference, {fewest:,} ")
    assert "Besides, 4 % of the answers are missing: however many items" in line(4)


def test_a_margin_is_in_points_below_100(base: Verdict) -> None:
    """A fraction is a slip, and 100 points let everything pass; the line has it as typed."""
    with pytest.raises(UsageError, match=r"Did you mean 5\? .*: MEASURE=0.05"):
        parse_sizes("0.05")
    assert parse_sizes("gap=0.05,1") == {"gap": (0.05, False), "": (1.0, False)}
    roles = registry.protocol("roles")
    refuse_unfit(parse_sizes("99"), roles)
    for text in ("100", "200%"):
        with pytest.raises(UsageError, match="at most 100 points"):
            refuse_unfit(parse_sizes(text), roles)
    assert [in_words(size, "share", None) for size in (0.0005, 0.01, 0.025)] == [
        "0.05 points",
        "1 point",
        "2.5 points",
    ]


def test_missing_answers_always_have_a_margin() -> None:
    """Their own, that of refusals, that of all, or 5 points; never a size in per cent of lengths."""
    name = "unanswered_gender"
    assert size_of({"unanswered": (2.0, False), "refusal": (9.0, False)}, name, "share") == 0.02
    assert size_of({"refusal": (9.0, False), "": (3.0, False)}, name, "share") == 0.09
    assert size_of({"": (3.0, False)}, name, "share") == 0.03
    assert size_of({"length": (25.0, True)}, name, "share") == 0.05
    assert size_of({"length": (25.0, True)}, "length_unanswered", "share") == 0.05


def test_claims_over_too_few_items_neither_pass_nor_lead(base: Verdict) -> None:
    """Four prompts: their interval may be as short as it likes; the other claim leads and passes."""
    changes = {"unit": "share", "reference": 0.0, "value": 0.0, "low": -0.03, "high": 0.03}
    enough = claim(base, "difference", 0, **changes)
    kinds = frozenset({CautionKind.FEW_CLUSTERS, CautionKind.TOO_FEW_ITEMS})
    few = claim(base, "difference", 0, **changes, measure="similarity", clusters=4)
    row = replace(few.facts.row, clusters=4)
    facts = replace(few.facts, word=Word.UNDECIDED, kinds=kinds, row=row)
    few = replace(few, facts=facts, cautions=tuple(Caution(kind, "") for kind in kinds))
    gate = Gate(("tilt",), {"": (5.0, False)})
    result = hold(gate, [enough, few])
    assert (result.decision, result.left_out) == (Decision.PASS, 1)
    assert result.lines[0].endswith("in 1 claim; of 2 in all, 1 not held")
    assert re.search(r"Not enough \w+: 4, and with fewer than 9 no interval", result.lines[-1])
    assert hold(gate, [few]).decision is Decision.NOT_ENOUGH_DATA
    quiet = replace(enough.facts, word=Word.NO_DIFFERENCE, kinds=frozenset())
    text = first_sentence([facts, quiet]).text
    assert text.startswith("No ") and "for 1 other comparison." in text


def test_the_calls_that_would_do_are_those_of_the_claim(base: Verdict) -> None:
    """Of a run of 900 calls, 60 prompts of 6 answers are a part: more prompts cost their own."""
    changes = {"unit": "share", "reference": 0.0, "value": 0.0, "low": -0.1, "high": 0.1}
    held = claim(base, "difference", 0, **changes, n=360.0)
    line = hold(Gate(("tilt",), {"": (5.0, False)}), [held], Cost(900, 9.0)).lines[1]
    needed = int(line.split("difference, ")[1].split(" ")[0])
    more = 6 * (needed - 60)
    numbers = f"{needed - 60} × 6 = {more:,} more calls, about ${more / 100:.2f}"
    assert f"(now 60; {numbers})" in line


def test_a_margin_in_per_cent_of_another_unit_is_refused(tmp_path: Path) -> None:
    file, out = tmp_path / "p.jsonl", tmp_path / "out"
    file.write_text('{"prompt": "She asks for her key. Answer her."}\n' * 2, encoding="utf-8")
    assert main(["audit", str(file), "--dry-run", "--out", str(out)]) == 0
    protocol = registry.protocol(out / "audit.toml")
    with pytest.raises(UsageError, match=r"reading is measured in grades, not in per cent\."):
        Gate(("tilt",), {"reading": (1.0, True)}).refuse_unknown_names(protocol)
