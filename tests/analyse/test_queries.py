"""From a number to its outputs: for every estimate, what its query selects is what was counted."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import tiltmeter
from tests import forging
from tests.conftest import Made
from tiltmeter import registry
from tiltmeter.analyse.claims.output_query import OutputQuery, joined, query_of, query_of_labels
from tiltmeter.analyse.estimates import estimates
from tiltmeter.analyse.whole_run.outputs_behind import Counted, LabelRows
from tiltmeter.api.check import planted_audits
from tiltmeter.errors import UsageError
from tiltmeter.protocol.design.cue_words import BY_WORD
from tiltmeter.records import Estimate
from tiltmeter.stages.steps.protocol_snapshot import protocol_of
from tiltmeter.store import Store

AUDITS = {f"{n} {a['protocol']}": a for n, a in enumerate(planted_audits.audits())}
FIRST = {name.partition(" ")[2]: name for name in reversed(AUDITS)}
EXACT = "3 roles"  # read from probabilities, in two orders


def count_unlike(folder: Path) -> tuple[int, list[str]]:
    """How many estimates a run has in all variants, and those whose query gives another n."""
    number, unlike = 0, []
    with Store(folder) as store:
        protocol = protocol_of(store)[0]
        counted = Counted(store, protocol)
        for variant in protocol.variants:
            for row in estimates(store, protocol, variant):
                if row.measure.endswith((BY_WORD, "_significant")):
                    continue  # a cue word is no factor, and cells are no outputs
                query = query_of(protocol, row)
                assert OutputQuery.parse(query.text()) == query
                number += 1
                nothing = row.value is None and row.n == 0
                if not nothing and abs(counted.n(query) - row.n) > 1e-6 * max(1, row.n):
                    unlike.append(f"{row.measure} {row.condition} {row.contrast} {row.n}")
    return number, unlike


@pytest.mark.parametrize("name", sorted({*FIRST.values(), EXACT}))
def test_the_weights_of_the_outputs_of_a_query_sum_to_its_n(name: str, tmp_path: Path) -> None:
    planted_audits.run_audit(AUDITS[name], tmp_path, tmp_path / "run")
    number, unlike = count_unlike(tmp_path / "run")
    assert number > 20 and unlike == []


def test_pooled_over_objects_and_models(tmp_path: Path) -> None:
    models = ["planted:protocol=soda", "planted:protocol=soda,seed=2"]
    where = {"object": ("car", "cup"), "dimension": ("base", "gender")}
    judge = "planted:protocol=soda"
    tiltmeter.run("soda", models, tmp_path / "run", judge=judge, samples=2, where=where)
    number, unlike = count_unlike(tmp_path / "run")
    assert number > 20 and unlike == []
    with Store(tmp_path / "run") as store:
        protocol = protocol_of(store)[0]
        counted = Counted(store, protocol)
        rows = [
            row
            for row in estimates(store, protocol)
            if row.measure == "vac" and row.subject == models[0] and row.outcomes
            if row.condition.get("attribute") == "product_color"
            if row.condition.get("group") == "men"
        ]
        queries = [query_of_labels(protocol, row) for row in rows]
        totals = [sum(row.outcomes.values()) for row in rows]
        assert len(rows) == 2 and [counted.n(query) for query in queries] == totals
        assert counted.n(joined(queries)) == sum(totals) > 0


def test_rates_of_outputs_count_those_that_say_nothing_that_counts(tmp_path: Path) -> None:
    """Lists of words that are all off the list stand in a paper's denominator, outputs."""
    tiltmeter.run("words", "planted:protocol=words", tmp_path / "run", language="en", limit=3)
    with Store(tmp_path / "run", writing=True) as store:
        (some,) = store.first("SELECT max(output) FROM labels WHERE attribute = 'word'")
        forging.allow_changes(store._db)
        store.write_one(
            "UPDATE labels SET value = 'off_list' WHERE attribute = 'word' AND output = ?", (some,)
        )
    number, unlike = count_unlike(tmp_path / "run")
    assert number > 20 and unlike == []


def test_every_protocol_is_here() -> None:
    assert set(FIRST) == set(registry.PROTOCOLS)


def roles_by_hand(made: type[Made], folder: Path) -> Made:
    """Outputs t000001 to t000008: two words in two orders, drawn; the fourth is a refusal."""
    run = made(folder / "run", registry.protocol("roles"))
    words = [
        cell for cell in run.protocol.cells if cell["language"] == "en" and "|" not in cell["class"]
    ]
    names = list(dict.fromkeys(cell["lexeme"] for cell in words))[:2]
    said = iter(("she", "he", "he", "refusal", "she", "she", "he", "she"))
    factors = (*run.protocol.factors, run.protocol.item)
    cells = [cell for cell in words if cell["lexeme"] in names] * 2
    run.label(
        ({name: cell[name] for name in factors}, "sampled", {next(said): 1.0}) for cell in cells
    )
    return run


def one_row(rows: list[Estimate], measure: str, condition: dict[str, str]) -> Estimate:
    (found,) = (
        row
        for row in rows
        if row.measure == measure
        and {k: row.condition.get(k) for k in condition} == condition
        and len(row.condition) == 2 + len(condition)
    )
    return found


def test_the_outputs_of_a_query_are_those_counted(made: type[Made], tmp_path: Path) -> None:
    run = roles_by_hand(made, tmp_path)
    rows = estimates(run.store, run.protocol)
    counted = Counted(run.store, run.protocol)
    whole = query_of(run.protocol, one_row(rows, "share_she", {}))
    every = {f"t{n:06}" for n in range(1, 9)}
    assert set(counted.outputs(whole)) == every - {"t000004"}  # among he and she
    bounds = query_of(run.protocol, one_row(rows, "share_she_bounds", {}))
    assert set(counted.outputs(bounds)) == every
    order = query_of(run.protocol, one_row(rows, "share_she", {"order": "he_first"}))
    trials = run.store.rows("SELECT id, json_extract(factors, '$.order') FROM trials")
    first = {trial for trial, level in trials if level == "he_first"}
    assert set(counted.outputs(order)) == first - {"t000004"}
    effect = query_of(run.protocol, one_row(rows, "order_effect", {}))
    assert effect.levels["order"] == ("she_first", "he_first")
    assert set(counted.outputs(effect)) == every - {"t000004"}


def test_a_query_as_text_and_as_values() -> None:
    query = OutputQuery(
        "choice/1@a",
        "pronoun",
        ("A & B", "ü=%"),
        {"order": ("he first", "x|y"), "mode": ("sampled",)},
        ("she",),
        without=("",),
    )
    assert query.text() == (
        "annotator=choice%2F1%40a&attribute=pronoun&subjects=A+%26+B&subjects=%C3%BC%3D%25"
        "&f.order=he+first&f.order=x%7Cy&f.mode=sampled&values=she&without="
    )
    assert OutputQuery.parse(query.text()) == query
    assert json.loads(json.dumps(query.as_dict()))["levels"]["order"] == ["he first", "x|y"]
    for text in ("", "attribute=pronoun", "annotator=a&colour=blue"):
        with pytest.raises(UsageError):
            OutputQuery.parse(text)


def test_a_mean_over_all_groups_counts_every_group_and_the_base() -> None:
    """A row over objects and groups names no group, which stands for all of them and the base."""
    soda = registry.protocol("soda")
    row = Estimate(
        "soda",
        "m",
        "attributes/j@1",
        "vac_over_objects_difference",
        {"mode": "images"},
        None,
        0.1,
        "concentration",
    )
    assert query_of(soda, row).levels == {"mode": ("images",)}


def test_no_labels_are_no_outputs() -> None:
    texts = dict.fromkeys(("attribute", "value"), pl.String)
    labels = pl.DataFrame(
        schema={
            **texts,
            "n": pl.Int64,
            "number": pl.UInt32,
            "weight": pl.Float64,
            "cell": pl.UInt32,
        }
    )
    rows = LabelRows(labels, pl.DataFrame(schema={"cell": pl.UInt32, "subject": pl.String}))
    query = OutputQuery("rules", "choice", among=("she", "he"))
    assert rows.count_outputs(query, rows.places(query)) == 0
