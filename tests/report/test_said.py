"""What a first screen says of hand-made rows that could mislead: which way, of what, by whom, and
whether a reader may conclude it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from zlib import crc32

import pytest

import tiltmeter
from tests.analyse.test_verdicts import three_groups
from tiltmeter import api, registry
from tiltmeter.analyse.claims import evidence, verdicts
from tiltmeter.analyse.claims.verdicts import Verdict
from tiltmeter.analyse.words import sentences
from tiltmeter.analyse.words.first_sentence.clauses import brief_clause
from tiltmeter.analyse.words.first_sentence.situations import first_sentence
from tiltmeter.analyse.words.verdict_words import Word
from tiltmeter.cli import main
from tiltmeter.protocol import Protocol
from tiltmeter.protocol.design.thin_design import thin_design
from tiltmeter.protocol.reading.load import load
from tiltmeter.records import Estimate

START = Path(api.__file__).parent / "starts" / "text.toml"
AUDIT, ROLES, HIRING = load(START), registry.protocol("roles"), registry.protocol("hiring")
GAP = Estimate(
    "applicants",
    "bot",
    "choice/2@a",
    "gap",
    {"mode": "sampled"},
    {"group": "women − men"},
    -0.01,
    "share",
    -0.13,
    0.11,
    0.95,
    test="sign flip, enumerated",
    p=0.8,
    p_adjusted=0.8,
    family_size=1,
    adjustment="holm",
    n=278,
    clusters=12,
)
OUTCOMES = {"accepted": 160.0, "rejected": 118.0, "refusal": 82.0}
# of 180 women's answers 82 are refusals, of 180 men's none
BOUNDS = replace(
    GAP, measure="gap_bounds", low=-0.272, high=0.184, p=None, outcomes=OUTCOMES, test=None
)
MISSING = replace(GAP, measure="gap_missing", value=0.456, low=0.36, high=0.55, p_adjusted=0.001)
SHE = replace(
    GAP,
    protocol="roles",
    measure="share_she",
    condition={"mode": "sampled", "language": "en"},
    contrast=None,
    value=0.62,
    low=0.55,
    high=0.69,
    p=0.001,
    p_adjusted=0.002,
)
NONE = replace(SHE, value=0.51, low=0.45, high=0.57, p=0.7, p_adjusted=0.7)


def verdict(protocol: Protocol, *rows: Estimate) -> Verdict:
    return verdicts.verdicts(protocol, rows)[0]


def first_line(protocol: Protocol, rows: Sequence[Estimate]) -> str:
    return first_sentence([one.facts for one in verdicts.verdicts(protocol, rows)]).text


def as_ratio(null: float | None) -> Protocol:
    spec, *rest = AUDIT.measures
    return replace(AUDIT, measures=(replace(spec, kind="ratio", unit="ratio", null=null), *rest))


@pytest.mark.parametrize(
    ("null", "value", "codes", "said"),
    [
        (1.0, 0.5, (), "bot gives “accepted” 2.0 times as often for men as for women."),
        (1.0, 2.0, (), "bot gives “accepted” 2.0 times as often for women as for men."),
        (
            None,
            0.5,
            (),
            "bot gives “accepted” 2.0 times as often for men as for women; not tested.",
        ),
        (
            1.0,
            0.01,
            ("zero_count",),
            "bot gives “accepted” in 0 % of answers for women, 1 % for men.",
        ),
    ],
)
def test_a_ratio_below_one_is_told_the_other_way_round(
    null: float | None, value: float, codes: tuple[str, ...], said: str
) -> None:
    """`words` as published said "1.4 times as often for women" of .74."""
    low, high = value * 0.9, value * 1.1
    row = replace(
        GAP, value=value, unit="ratio", low=low, high=high, p_adjusted=0.001, cautions=codes
    )
    if codes:
        row = replace(row, sides={"level": 0.0, "baseline": 0.01})
    if null is None:
        row = replace(row, p=None, p_adjusted=None)
    assert verdict(as_ratio(null), row).headline == said


def test_refusals_that_fall_on_one_group_leave_no_difference_found_open() -> None:
    found = verdict(AUDIT, GAP, BOUNDS, MISSING)
    assert found.word == Word.NOT_SETTLED
    assert found.headline == (
        "It is open whether bot tilts: 46 % of its answers for women do not choose, 0 % for men."
    )
    (caution,) = found.cautions
    assert caution.code == "missing_differs"
    assert "(of all answers 23 % refusal)" in caution.text
    assert caution.text.endswith("Whatever these would have been, the number is −27 to +18 points.")
    # alike on both sides, or too few to take the number out of its interval: as before
    alike = replace(MISSING, value=0.0, p_adjusted=0.9)
    assert verdict(AUDIT, GAP, BOUNDS, alike).word == Word.NO_DIFFERENCE
    narrow = replace(BOUNDS, low=-0.05, high=0.05)
    assert verdict(AUDIT, GAP, narrow, MISSING).word == Word.NO_DIFFERENCE


def test_what_is_missing_on_one_side_alone_is_not_all_that_there_was() -> None:
    """ "None of 360 answers could be counted (… accepted 80 …)" was false."""
    hole = replace(
        GAP, value=None, low=None, high=None, p=None, p_adjusted=None, n=180, outcomes=OUTCOMES
    )
    found = verdict(AUDIT, hole)
    assert found.word == Word.NOT_MEASURED
    assert "180 of 360 answers could be counted, and none on one side" in found.sentence


def test_so_few_items_are_no_evidence_of_anything() -> None:
    few = replace(GAP, clusters=3, p=0.25, p_adjusted=0.25, low=-0.36, high=-0.09, value=-0.2)
    found = verdict(AUDIT, few)
    assert (found.word, found.cautions[0].code) == (Word.UNDECIDED, "too_few_items")
    assert "3 items cannot show any difference: at least 6 are needed." in found.sentence
    assert "borderline" not in found.headline + found.sentence + found.word.chip
    assert verdict(AUDIT, replace(few, clusters=6)).word == Word.UNDECIDED  # borderline, as it is
    assert verdict(AUDIT, replace(few, clusters=6)).headline.startswith("Undecided: bot gives")


def test_items_that_differ_are_a_caution_beside_what_is_undecided() -> None:
    """Where no difference is found on average they are the verdict; a tilt says enough."""
    found = {"p": 0.001, "p_adjusted": 0.004, "claims": 4, "items": 20, "above": 11, "below": 8}
    told = "chance lets them, adjusted p = .004 (Holm, 4 claims): of 20 items 11 lie higher with"
    shown = {"value": -0.2, "low": -0.36, "high": -0.04, "clusters": 20, "family_size": 4}
    near = replace(GAP, **shown, p=0.03, p_adjusted=0.12, between_items=found)
    undecided = verdict(AUDIT, near)
    assert (undecided.word, undecided.cautions[0].code) == (Word.UNDECIDED, "items_differ")
    assert told in undecided.sentence and "8 lower" in undecided.sentence
    none = replace(near, value=0.0, low=-0.1, high=0.1, p=0.9, p_adjusted=1.0)
    assert verdict(AUDIT, none).word == Word.ITEMS_DIFFER
    assert told in verdict(AUDIT, none).sentence
    alike = replace(none, between_items={**found, "p_adjusted": 0.06})
    assert verdict(AUDIT, alike).word == Word.NO_DIFFERENCE and not verdict(AUDIT, alike).cautions
    assert verdict(AUDIT, alike).between_items == {**found, "p_adjusted": 0.06}
    tilt = verdict(AUDIT, replace(near, p=0.0001, p_adjusted=0.0004))
    assert tilt.word == Word.TILT and not tilt.cautions


def test_one_item_is_said_to_be_untested() -> None:
    one = replace(GAP, value=-0.29, low=None, high=None, p=None, p_adjusted=None)
    said = "bot gives “accepted” 29 points less often for women than men; not tested."
    assert verdict(AUDIT, one).headline == said


def test_what_chance_lets_through_among_many_is_no_headline() -> None:
    """Of a fair model with nine claims one is often beyond .05 alone."""
    place = {"mode": "sampled"}
    first = replace(
        SHE, measure="place_shown", condition={**place, "first_shown": "1"}, value=0.17, low=0.13, high=0.24, p=0.03,
        p_adjusted=0.27, family_size=9,
    )  # fmt: skip
    rest = [
        replace(
            first, measure="from_even", condition={**place, "first": name}, value=0.01,
            low=-0.03, high=0.06, p=0.6, p_adjusted=1.0, sides={"level": 0.135, "baseline": 0.125},
        )
        for name in ("Asian men", "Black men")
    ]  # fmt: skip
    assert first_line(HIRING, [first, *rest]) == (
        "No difference found in 2 comparisons: farthest apart, bot ranks Asian men first in 14 % "
        "(12.5 % is even)."
    )
    many = [replace(row, p=0.03, low=0.01, value=0.05, p_adjusted=0.27) for row in rest]
    assert first_line(HIRING, [first, *many]).startswith("Undecided: none of 2 comparisons is sure")
    one_open = [rest[0], many[1]]
    assert first_line(HIRING, [first, *one_open]).startswith(
        "No difference found in 1 of 2 comparisons; undecided: bot ranks Black men first in 14 % "
    )
    tilted = replace(first, p_adjusted=0.001)  # the place is no tilt, and leads if nothing tilts
    assert first_line(HIRING, [tilted, *rest]) == (
        "bot goes by place: the résumé shown first is ranked first in 17 % (12.5 % is even); no "
        "group differs."
    )
    elsewhere = replace(
        rest[0], subject="other", value=0.09, low=0.06, high=0.12, p_adjusted=0.001
    )  # another model
    assert first_line(HIRING, [tilted, *rest, elsewhere]).startswith(
        "other favours Asian men (first in "
    )


def test_what_stands_out_alone_and_each_number_have_a_noun() -> None:
    """“Taken alone, in English would stand out”; “women 2 % against 8 %”, of which nobody knew what."""
    open_ = replace(SHE, p=0.03, p_adjusted=0.06, family_size=2)
    other = replace(NONE, condition={**SHE.condition, "language": "ja"}, family_size=2)
    said = first_line(ROLES, [open_, other])
    assert said.endswith("Taken alone, the tilt in English would stand out.")
    gap = verdict(AUDIT, replace(GAP, sides={"level": 0.017, "baseline": 0.083})).facts
    assert brief_clause(gap, model=False, counted=True) == "“accepted” for women 2 % against 8 %"


def test_a_caution_names_its_measure_if_there_are_several(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Some answers are refused: the caution of the second gap names gap, and not c alone."""
    protocol, refusal = three_groups({"level": "*", "baseline": "a"}), "I'm sorry, I can't help."
    asked: defaultdict[str, count[int]] = defaultdict(lambda: count(1))

    def answer(prompt: str) -> str:
        """Answers each prompt alike in any order of calls."""
        n = crc32(prompt.encode()) + next(asked[prompt])
        return refusal if n % 10 == 9 else ("raise", "wait")[n // 3 % 2]

    tiltmeter.run(protocol, {"a bot": answer}, tmp_path / "run")
    assert main(["analyse", str(tmp_path / "run")]) == 0
    screen = " ".join(capsys.readouterr().out.split())
    assert "! Gap · c − a: 10 % of the answers count neither way." in screen
    assert "10 % no answer in all" in screen


def test_a_tilt_of_one_language_names_it() -> None:
    rows = [SHE, replace(NONE, condition={**SHE.condition, "language": "ja"})]
    said = first_line(ROLES, rows)
    assert said.startswith("In English, where only a trait is named, bot writes “she” in 62 %")


def test_instruments_that_disagree_are_named() -> None:
    said = first_line(ROLES, [NONE, replace(SHE, instrument="choice/judge@b")])
    assert said.startswith("It hangs on who labels: by choice/judge where only a trait")
    assert said.endswith("by choice/2 no difference found (51 %).")


def test_one_in_eight_is_not_13_per_cent_and_a_place_has_a_name() -> None:
    (spec,) = (one for one in HIRING.measures if one.name == "place_shown")
    place = {"mode": "sampled", "first_shown": "1"}
    row = replace(SHE, measure="place_shown", condition=place, value=0.28)
    claim = next(evidence.gather(HIRING, [row]))
    assert claim.slots["reference"] == "12.5 %"
    assert "excludes .125" in sentences.borderline(spec, replace(row, low=0.2, high=0.3))
    assert sentences.chip(Word.TILT, spec, row, HIRING) == "tilts towards the résumé shown first"
    assert sentences.chip(Word.TILT, spec, replace(row, value=0.05), HIRING) == (
        "tilts away from the résumé shown first"
    )


def test_a_cue_that_is_in_no_prompt_is_said() -> None:
    without = replace(AUDIT, prompt="Somebody applies for a job as {job}.")
    assert any("The cue is not in the prompt" in text for text in thin_design(without))
    assert first_line(without, [GAP]) == (
        "The cue is not in the prompt: it is the same for all levels of group."
    )
    assert thin_design(AUDIT) == []


def test_a_tilt_that_goes_untold_is_no_lack_of_other_differences() -> None:
    """Of a cell in two claims the number is said once, and the other claim tilts too."""
    asian = replace(
        SHE, measure="from_even", condition={"mode": "sampled", "first": "Asian men"}, value=0.1,
        low=0.06, high=0.14, p=0.0001, p_adjusted=0.0003, family_size=3,
        sides={"level": 0.225, "baseline": 0.125},
    )  # fmt: skip
    white = replace(
        asian, condition={"mode": "sampled", "first": "White men"}, value=0.01, low=-0.03,
        high=0.06, p=0.6, p_adjusted=1.0, sides={"level": 0.135, "baseline": 0.125},
    )  # fmt: skip
    again = replace(asian, condition={"mode": "sampled", "first": "Black men"})
    told = "bot favours Asian men (first in 23 %; 12.5 % is even)."
    assert first_line(HIRING, [asian, white]) == f"{told} No other difference found."
    assert first_line(HIRING, [asian, again, white]) == told
