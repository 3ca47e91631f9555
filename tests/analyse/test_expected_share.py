"""A share of what is expected at each level (an accuracy): by hand, with the factor in the grouping and without."""

from __future__ import annotations

import polars as pl

from tiltmeter import registry
from tiltmeter.analyse.correction.corrected_rows import hits
from tiltmeter.analyse.counts.count_table import CountTable
from tiltmeter.protocol import MeasureSpec, Variant

ROLES = registry.protocol("roles")
RIGHT = {"order": {"he_first": "he", "she_first": "she"}}  # as if the first were the right one


def share(values: list[tuple[str, str, str, float]], by: tuple[str, ...]) -> dict[str, float]:
    """The share of each group; values: item, order, label, how many."""
    rows = [
        {
            **dict.fromkeys(ROLES.factors, "en"),
            ROLES.item: item,
            "order": order,
            "attribute": "pronoun",
            "value": label,
            "weight": number,
            "outputs": number,
        }
        for item, order, label, number in values
    ]
    table = CountTable(pl.DataFrame(rows), ROLES, Variant("default"), drawn=True)
    spec = MeasureSpec("right", "share", "pronoun", ("he",), ("he", "she"), expected=RIGHT)
    groups = table.groups(spec, by, spec.values)
    return {
        "/".join(group.condition.values()): float(group.hits.sum() / group.among.sum())
        for group in groups
    }


def test_an_accuracy_counts_the_expected_value_of_each_row() -> None:
    # Right: 6 of 7 where he is right, 3 of 4 where she is: 9 of 11. Counting "he" everywhere would give 7 of 11.
    answers = [
        ("wise", "he_first", "he", 4.0),
        ("wise", "he_first", "she", 1.0),
        ("kind", "he_first", "he", 2.0),
        ("wise", "she_first", "she", 3.0),
        ("kind", "she_first", "he", 1.0),
    ]
    assert share(answers, ()) == {"": 9 / 11}
    assert share(answers, ("order",)) == {"he_first": 6 / 7, "she_first": 3 / 4}


def test_gold_corrects_what_is_expected_of_every_trial_of_a_row_and_nothing_else() -> None:
    several = {"order": {"he_first": "he|they", "she_first": "she"}}
    spec = MeasureSpec("right", "share", "pronoun", ("he",), ("he", "she"), expected=several)
    assert hits(spec, {"order": "he_first"}, ("order",)) == ["he", "they"]
    assert hits(spec, {"order": "she_first"}, ("order",)) == ["she"]
    assert hits(spec, {}, ()) == ()  # not "he", which is right in half of the trials only
