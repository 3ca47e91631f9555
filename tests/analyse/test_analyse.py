"""Labels → estimates, on tables small enough to be worked out by hand beside the numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import Made
from tiltmeter import registry
from tiltmeter.analyse.counts import stored_labels
from tiltmeter.analyse.counts.label_counts import count_labels
from tiltmeter.analyse.estimates import estimates
from tiltmeter.errors import UnknownName
from tiltmeter.protocol import MeasureSpec
from tiltmeter.records import Estimate, Label
from tiltmeter.stats import association, rates
from tiltmeter.stats.shuffles.resampling import parts_of_difference
from tiltmeter.store.queries import label_sets

ROLES = registry.protocol("roles")


def cell(word: str, group: str, order: str = "he_first") -> dict[str, str]:
    return {"language": "en", "order": order, "class": group, "word": word, "lexeme": word}


def sampled(
    word: str, group: str, she: int, he: int, order: str = "he_first", **other: int
) -> Iterator[Any]:
    for value, number in {"she": she, "he": he, **other}.items():
        for _ in range(number):
            yield cell(word, group, order), "sampled", {value: 1.0}


def pick(found: list[Estimate], measure: str, **condition: str) -> Estimate:
    fixed = {"mode", "language"}
    (one,) = [
        e
        for e in found
        if e.measure == measure
        and {k: v for k, v in e.condition.items() if k not in fixed} == condition
    ]
    return one


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Made]:
    made = Made(tmp_path / "run", ROLES)
    yield made
    made.store.close()


def test_shares_odds_and_outcomes_by_hand(run: Made) -> None:
    run.label(sampled("wise", "standout", 2, 6, both=1, refusal=1))
    run.label(sampled("witty", "standout", 4, 4))
    run.label(sampled("warm", "communal", 9, 1))
    found = estimates(run.store, ROLES)
    whole = pick(found, "share_she")
    assert (whole.value, whole.n, whole.clusters) == (pytest.approx(15 / 26), 26, 3)
    assert whole.outcomes == {"she": 15, "he": 11, "both": 1, "refusal": 1}
    standout = pick(found, "share_she", **{"class": "standout"})
    assert standout.value == pytest.approx(6 / 16)
    same = rates.clustered_share(successes=[2, 4], n=[8, 8])
    assert (standout.low, standout.high) == (same.low, same.high)
    assert pick(found, "odds_she", **{"class": "communal"}).value == pytest.approx(9)
    assert pick(found, "outcome_rate", outcome="refusal").value == pytest.approx(1 / 28)
    bounds = pick(found, "share_she_bounds")
    assert (bounds.low, bounds.high) == (pytest.approx(15 / 28), pytest.approx(17 / 28))
    assert bounds.confidence is None


def test_a_single_word_has_wilsons_interval_over_its_own_draws(run: Made) -> None:
    run.label(sampled("wise", "standout", 2, 6))
    run.label(sampled("witty", "standout", 4, 4))
    word = pick(estimates(run.store, ROLES), "share_she", word="wise")
    # Wilson for 2 of 8 by hand: centre (.25 + 3.8415/16)/(1 + 3.8415/8) = .3311, half-width .2600
    assert (word.low, word.high) == (
        pytest.approx(0.0715, abs=2e-4),
        pytest.approx(0.5907, abs=2e-4),
    )
    assert word.interval_method == "wilson"


def test_the_order_effect_is_paired_by_word(run: Made) -> None:
    for word, first, second in (("a", 1, 5), ("b", 2, 6), ("c", 3, 5)):
        run.label(sampled(word, "communal", first, 10 - first, "he_first"))
        run.label(sampled(word, "communal", second, 10 - second, "she_first"))
    effect = pick(estimates(run.store, ROLES), "order_effect")
    assert effect.contrast == {"order": "she_first − he_first"}
    assert effect.value == pytest.approx((4 + 4 + 2) / 30)
    assert effect.p == pytest.approx(2 / 8)  # (.4, .4, .2): reached by +++ and --- only
    assert "cannot reach p < .05" in effect.note
    same = rates.clustered_difference(
        successes_a=[5, 6, 5], n_a=[10] * 3, successes_b=[1, 2, 3], n_b=[10] * 3
    )
    assert (effect.low, effect.high) == (same.low, same.high)


def test_a_word_of_two_classes(run: Made) -> None:
    both = "standout|personality quality"
    run.label(sampled("experienced", both, 8, 2))
    run.label(sampled("wise", "standout", 1, 9))
    run.label(sampled("bold", "personality quality", 3, 7))
    default, published = estimates(run.store, ROLES), estimates(run.store, ROLES, "published")
    assert pick(default, "odds_she", **{"class": "standout"}).value == pytest.approx(1 / 9)
    assert pick(published, "odds_she", **{"class": "standout"}).value == pytest.approx(9 / 11)
    assert pick(published, "odds_she", **{"class": "personality quality"}).value == pytest.approx(
        11 / 9
    )
    assert pick(default, "share_she").value == pytest.approx(12 / 30)


def test_published_keeps_the_papers_order_and_gives_no_interval(run: Made) -> None:
    run.label(sampled("wise", "standout", 2, 8, "he_first"))
    run.label(sampled("wise", "standout", 9, 1, "she_first"))
    found = estimates(run.store, ROLES, "published")
    assert {e.measure for e in found} == {"share_she", "odds_she"}
    assert {e.variant for e in found} == {"published"}
    assert all(e.low is e.high is e.p is e.confidence is None for e in found)
    assert pick(found, "odds_she").value == pytest.approx(2 / 8)
    assert all("var:published" in e.signature for e in found)


def test_a_divergence_without_a_denominator_is_of_every_answer_and_says_where_there_is_nothing_to_compare(
    run: Made,
) -> None:
    run.label(sampled("wise", "standout", 10, 0, "he_first", refusal=5))
    plain = MeasureSpec("apart", "divergence", "pronoun", (), contrast={"factor": "order"})
    (alone,) = apart(run, plain)
    assert alone.value is None and alone.note == "labels of fewer than two levels of order"
    run.label(sampled("wise", "standout", 0, 10, "she_first", refusal=9))
    every, named = apart(run, plain), apart(run, replace(plain, among=("he", "she")))
    assert every == named and every[0].value == pytest.approx(
        1
    )  # nothing shared, whatever chance gives


def test_outcomes_of_a_divergence_stand_in_the_order_of_the_protocol(run: Made) -> None:
    for order in ("he_first", "she_first"):
        run.label(sampled("wise", "standout", 3, 4, order, refusal=5))
    among = ("she", "refusal", "he")
    plain = MeasureSpec("apart", "divergence", "pronoun", (), contrast={"factor": "order"})
    found, *_ = apart(run, replace(plain, among=among))
    assert tuple(found.outcomes) == among


def apart(run: Made, measure: MeasureSpec) -> list[Estimate]:
    return [
        e
        for e in estimates(run.store, replace(ROLES, measures=(measure,)))
        if e.measure == measure.name
    ]


def test_exact_labels_are_weights(run: Made) -> None:
    for word, she, he in (("wise", 0.2, 0.6), ("warm", 0.5, 0.1)):
        run.label(
            [(cell(word, "communal"), "exact", {"she": she, "he": he, "other": 1 - she - he})]
        )
    found = estimates(run.store, ROLES)
    share = pick(found, "share_she")
    assert share.value == pytest.approx(0.7 / 1.4)
    assert share.n == pytest.approx(1.4)
    assert pick(found, "captured_mass").value == pytest.approx(1.4 / 2)
    assert pick(found, "odds_she").value == pytest.approx(1.0)
    word = pick(found, "share_she", word="wise")
    assert (word.value, word.low, word.high) == (pytest.approx(0.25), None, None)
    assert "no sampling error" in word.note


def test_modes_and_annotators_are_never_pooled(run: Made) -> None:
    run.label(sampled("wise", "standout", 2, 8))
    run.label([(cell("wise", "standout"), "exact", {"she": 0.9, "he": 0.1})])
    run.label(sampled("wise", "standout", 5, 5), annotator="judge/x@1")
    found = [
        e for e in estimates(run.store, ROLES) if e.measure == "share_she" and len(e.condition) == 2
    ]
    assert {(e.instrument, e.condition["mode"]): round(e.value or 0, 3) for e in found} == {
        ("choice/1@hand", "sampled"): 0.2,
        ("choice/1@hand", "exact"): 0.9,
        ("judge/x@1", "sampled"): 0.5,
    }


def test_n_counts_outputs_not_labels(run: Made) -> None:
    run.label([(cell(word, "communal"), "exact", {"she": 0.5, "he": 0.5}) for word in "abc"])
    assert "|n:3|" in estimates(run.store, ROLES)[0].signature
    assert count_labels(run.store, ROLES)["outputs"].sum() == 3


def test_counts_do_not_depend_on_the_pieces_in_which_labels_are_read(
    run: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.label(
        [(cell(word, "communal"), "exact", {"she": 0.1, "he": 0.7, "both": 0.2}) for word in "abc"]
    )
    run.label(sampled("wise", "standout", 2, 6), annotator="judge/x@1")
    whole = count_labels(run.store, ROLES)
    assert whole["outputs"].sum() == 3 + 8 and whole["weight"].sum() == pytest.approx(3 + 8)
    for piece in (1, 2, 4, 5):
        monkeypatch.setattr(stored_labels, "PIECE", piece)
        monkeypatch.setattr(stored_labels, "_KEPT", {})
        assert count_labels(run.store, ROLES).equals(whole)


def test_who_labelled_how_many_is_the_same_before_and_after_labels_were_counted(run: Made) -> None:
    run.label([(cell(word, "communal"), "exact", {"she": 0.5, "he": 0.5}) for word in "abc"])
    run.label(sampled("wise", "standout", 2, 6), annotator="judge/x@1")
    ids = [f"t{number:06}" for number in range(4, 10)]
    said = [Label(one, "judge/y@1", "pronoun", "she") for one in ids]
    people = [Label(one, "human:ann", "pronoun", "she") for one in ids]
    run.store.write([], [], said[:5] + people)
    found = label_sets.labelled(run.store)
    assert {(one.mode, one.annotator): one.labelled for one in found} == {
        ("exact", "choice/1@hand"): 3,
        ("sampled", "judge/x@1"): 8,
        ("sampled", "judge/y@1"): 5,
    }
    count_labels(run.store, ROLES)
    assert label_sets.labelled(run.store) == found
    run.store.write([], [], said[5:])
    assert [one.labelled for one in label_sets.labelled(run.store)] == [3, 8, 6]


def test_nothing_in_the_denominator_is_null_with_a_note(run: Made) -> None:
    run.label(sampled("wise", "standout", 0, 0, refusal=5))
    found = estimates(run.store, ROLES)
    for measure in ("share_she", "odds_she"):
        one = pick(found, measure)
        assert one.value is one.low is one.p is None
        assert one.note
        assert one.outcomes == {"refusal": 5}
    assert pick(found, "outcome_rate", outcome="refusal").value == 1.0


def test_an_empty_run_has_no_estimates(run: Made) -> None:
    assert estimates(run.store, ROLES) == []


def test_families_are_adjusted_with_raw_p_beside(run: Made) -> None:
    for group in ("standout", "outlook", "communal"):
        for n in range(8):
            run.label(
                sampled(f"{group}{n}", group, 1 + n % 2 if group != "outlook" else 4 + n % 2, 8)
            )
    by_class = [
        e
        for e in estimates(run.store, ROLES)
        if e.measure == "share_she" and "class" in e.condition
    ]
    raw = [e.p for e in by_class]
    assert len({e.family for e in by_class}) == 1
    ordered = sorted(p for p in raw if p is not None)
    expected = {
        p: min(min(q * 3 / (i + 1) for i, q in enumerate(ordered) if q >= p), 1.0) for p in ordered
    }
    assert [e.p_adjusted for e in by_class] == [
        pytest.approx(expected[p]) for p in raw if p is not None
    ]


def test_the_table_does_not_depend_on_its_other_rows(run: Made) -> None:
    for n in range(20):
        run.label(sampled(f"a{n}", "standout", 1 + n % 5, 5))
    before = pick(estimates(run.store, ROLES), "share_she", **{"class": "standout"}).p
    for n in range(20):
        run.label(sampled(f"b{n}", "communal", 3, 1 + n % 4))
    assert pick(estimates(run.store, ROLES), "share_she", **{"class": "standout"}).p == before


def test_the_odds_agree_with_stats(run: Made) -> None:
    for word, she, he in (("a", 3, 7), ("b", 5, 5), ("c", 1, 9)):
        run.label(sampled(word, "outlook", she, he))
    found = pick(estimates(run.store, ROLES), "odds_she", **{"class": "outlook"})
    same = association.odds(first=[3, 5, 1], second=[7, 5, 9])
    assert (found.value, found.low, found.high) == (same.value, same.low, same.high)


def test_an_unknown_variant_is_named(run: Made) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'published'"):
        estimates(run.store, ROLES, "publishd")


def test_a_superseded_label_no_longer_counts(run: Made) -> None:
    run.label(sampled("wise", "standout", 1, 1), annotator="human/ann@1")
    run.store.supersede([Label("t000002", "human/ann@1", "pronoun", "she")])
    assert pick(estimates(run.store, ROLES), "share_she").value == 1.0
    assert len(list(run.store.rows("SELECT 1 FROM labels"))) == 3


def test_what_a_flip_turns_sums_to_the_difference_that_is_told() -> None:
    """By hand: 6/10 − 2/8 = .35, over three items of which one stands on one side alone; with equal
    numbers each item's part is the difference of its own shares.
    """
    xa, na, xb, nb = map(np.array, ((3, 1, 2), (4, 4, 2), (1, 1, 0), (4, 4, 0)))
    parts = parts_of_difference(xa, na, xb, nb)
    assert parts.sum() / 3 == pytest.approx(0.35)
    assert parts / 3 == pytest.approx([0.3 - 1 / 8 + 2 / 45, 0.1 - 1 / 8 + 2 / 45, 0.2 - 4 / 45])
    even = parts_of_difference(xa[:2], na[:2], xb[:2], nb[:2])
    assert even == pytest.approx([3 / 4 - 1 / 4, 0.0]) and even[1] == 0
