"""Refusals and missing answers as claims: one claim per null hypothesis."""

from __future__ import annotations

from dataclasses import replace

import tiltmeter
from tiltmeter.protocol.design.refusals import derived_measure, with_derived_measures


def test_an_answer_that_is_missing_is_one_claim_whatever_is_measured() -> None:
    measures = tiltmeter.load_protocol("decisions").measures
    spec = next(one for one in measures if derived_measure(one, "_unanswered"))
    spec = replace(spec, name="gap")
    tone = replace(spec, name="tone", attribute="tone")
    assert [one.name for one in with_derived_measures([spec, tone])] == [
        *("gap", "gap_refused", "gap_unanswered"),
        *("tone", "tone_refused"),
    ]
