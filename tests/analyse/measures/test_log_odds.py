"""`logit_difference` against a linear mixed model of statsmodels, and by hand."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tiltmeter
from tiltmeter import Protocol
from tiltmeter.analyse.counts.count_table import CountTable
from tiltmeter.analyse.measures.log_odds import logit_difference
from tiltmeter.protocol import MeasureSpec, Variant
from tiltmeter.store import Store

MEASURE = MeasureSpec(
    "logit",
    "logit_difference",
    "answer",
    ("yes",),
    ("yes", "no"),
    contrast={"factor": "group", "level": "b", "baseline": "a"},
    null=0.0,
    unit="log-odds",
)


def table(shares: dict[tuple[str, str, str], float]) -> CountTable:
    """(item, group, age) → the probability of yes."""
    protocol = Protocol.declare(
        name="toy",
        title="Toy",
        question="?",
        prompt="{item} {group} {age}",
        factors=["group", "age"],
        item="item",
        tables=[
            {"rows": [{"item": item} for item in dict.fromkeys(key[0] for key in shares)]},
            {"rows": [{"group": "a"}, {"group": "b"}]},
            {"rows": [{"age": age} for age in dict.fromkeys(key[2] for key in shares)]},
        ],
    )
    rows = [
        {"item": i, "group": g, "age": a, "attribute": "answer", "value": value, "weight": weight}
        for (i, g, a), share in shares.items()
        for value, weight in (("yes", share), ("no", 1 - share))
    ]
    return CountTable(pl.DataFrame(rows), protocol, Variant("default"), drawn=False)


def test_by_hand() -> None:
    shares = {
        ("one", "a", "20"): 0.5,
        ("one", "b", "20"): 0.8,
        ("two", "a", "20"): 0.5,
        ("two", "b", "20"): 0.6,
    }
    (row,) = logit_difference(table(shares), MEASURE, ())
    assert row.value == pytest.approx((math.log(4) + math.log(1.5)) / 2, abs=1e-4)


def test_a_mixed_model_of_statsmodels() -> None:
    """Balanced: log-odds ~ group + (1 + group | item); fixed effect and its standard error."""
    mixed = pytest.importorskip("statsmodels.regression.mixed_linear_model")
    rng = np.random.default_rng(7)
    shares, logits, items, groups = {}, [], [], []
    for item in range(40):
        level, slope = rng.normal(0.5, 1.0), rng.normal(-0.4, 0.6)
        for group in (0, 1):
            for age in range(9):
                logit = level + slope * group + rng.normal(0, 0.5)
                shares[f"i{item}", "ab"[group], str(age)] = 1 / (1 + math.exp(-logit))
                logits.append(logit)
                items.append(item)
                groups.append(float(group))
    design = np.column_stack([np.ones(len(groups)), groups])
    fitted = mixed.MixedLM(np.array(logits), design, np.array(items), exog_re=design).fit()
    (row,) = logit_difference(table(shares), MEASURE, ())
    assert row.value == pytest.approx(float(fitted.fe_params[1]), abs=1e-4)
    assert row.low is not None and row.high is not None
    half = 2.0227 * float(fitted.bse_fe[1])  # t(39)
    assert (row.high - row.low) / 2 == pytest.approx(half, rel=0.02)
    assert row.p is not None and row.p < 0.01


def test_answers_that_came_in_another_order_give_the_same_digits(tmp_path: Path) -> None:
    run = tiltmeter.run("decisions", "planted:seed=3", tmp_path / "run", limit=3, samples=1)
    found = run.analyse()
    with Store(run.folder, writing=True) as store:
        store.write_one("UPDATE packed_labels SET id = -id", ())
        store.write_one("UPDATE packed_calls SET n = -n", ())
        store.write_one("UPDATE packed_outputs SET call = -call", ())
    assert any(row.measure.startswith("logit") and row.value for row in found)
    assert run.analyse() == found
