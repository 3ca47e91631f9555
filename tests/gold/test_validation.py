"""Report cards and corrected rows, on gold small enough to be worked out by hand, and on judges with errors that were planted."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import Made
from tiltmeter import api, registry
from tiltmeter.analyse.estimates import estimates
from tiltmeter.cli import main
from tiltmeter.errors import UsageError
from tiltmeter.gold import intake, validation
from tiltmeter.records import Estimate, Label
from tiltmeter.stats.judges import confusion, correction

from .test_gold import CHOICE, ROLES, read, write


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Made]:
    made = Made(tmp_path / "run", ROLES)
    yield made
    made.store.close()


def fill(
    run: Made,
    pairs: dict[tuple[str, str], int],
    order: str = "he_first",
    group: str = "communal",
    items: int = 10,
) -> list[Label]:
    """Outputs by (truth, what the instrument says), over some words in turn; the gold labels of them."""
    labels, place = [], 0
    for (truth, said), number in pairs.items():
        for _ in range(number):
            word = f"word{place % items}"
            place += 1
            factors = {
                "language": "en",
                "order": order,
                "class": group,
                "word": word,
                "lexeme": word,
            }
            run.label([(factors, "sampled", {said: 1.0})])
            labels.append(Label(f"t{run.number:06}", "human:ann", "pronoun", truth))
    return labels


def pick(found: list[Estimate], measure: str, **condition: str) -> Estimate:
    (one,) = [
        e
        for e in found
        if e.measure == measure
        and {k: v for k, v in e.condition.items() if k not in ("mode", "language")} == condition
    ]
    return one


def test_a_report_card_by_hand(run: Made) -> None:
    """she: 40 of 50 found; he: 45 of 50. Sensitivity .8, specificity .9, precision 40/45, F1 80/95, accuracy .85,
    κ: p_o .85, p_e .45·.5 + .55·.5 = .5 → .7."""
    run.store.supersede(
        fill(run, {("she", "she"): 40, ("she", "he"): 10, ("he", "he"): 45, ("he", "she"): 5})
    )
    found = validation.validate(run.store, ROLES)
    (card,) = found.cards
    assert (card.annotator, card.attribute, card.random, found.gold) == (
        CHOICE,
        "pronoun",
        False,
        {"pronoun": 100},
    )
    whole = card.groups[0]
    she = whole.classes["she"]
    assert (she.labels, whole.labels, whole.matrix["she"]) == (50, 100, {"she": 40, "he": 10})
    rates = [she.sensitivity, she.specificity, she.precision, she.f1, whole.accuracy]
    assert [rate.value for rate in rates] == pytest.approx([0.8, 0.9, 40 / 45, 80 / 95, 0.85])
    assert all(rate.clusters == 10 for rate in rates[:2])  # words, not outputs
    (kappa,) = [one for one in found.agreements if one.coefficient == "Cohen's κ"]
    assert kappa.found.value == pytest.approx(0.7)
    json.dumps(found.as_dict(), allow_nan=False)


def test_weights_undo_oversampling_in_the_card(run: Made) -> None:
    """Gold with 10 agreeing outputs that stand for 9 each and 10 disputed ones that stand for themselves: accuracy .9."""
    labels = fill(run, {("she", "she"): 5, ("he", "he"): 5, ("she", "he"): 5, ("he", "she"): 5})
    run.store.supersede(
        [label._replace(weight=9.0 if n < 10 else 1.0) for n, label in enumerate(labels)]
    )
    whole = validation.validate(run.store, ROLES).cards[0].groups[0]
    assert whole.accuracy.value == pytest.approx(0.9)
    assert whole.matrix == {
        "she": {"she": 5, "he": 5},
        "he": {"he": 5, "she": 5},
    }  # counted, not weighted


def test_errors_that_differ_by_condition_are_warned_of_and_alike_ones_are_not(run: Made) -> None:
    good = {("she", "she"): 38, ("she", "he"): 2, ("he", "he"): 38, ("he", "she"): 2}
    bad = {("she", "she"): 22, ("she", "he"): 18, ("he", "he"): 38, ("he", "she"): 2}
    labels = fill(run, good) + fill(run, bad, order="she_first")
    run.store.supersede(labels)
    (card,) = validation.validate(run.store, ROLES).cards
    assert [(g.factor, g.level, g.against, g.value, g.rate) for g in card.gaps] == [
        ("order", "she_first", "he_first", "she", "sensitivity"),
        ("order", "she_first", "he_first", "he", "specificity"),
    ]
    assert card.gaps[0].found.value == pytest.approx(22 / 40 - 38 / 40)
    assert "makes a gap between the two, or hides one" in card.warnings[0]


def test_no_warning_where_the_judge_errs_alike(run: Made) -> None:
    same = {("she", "she"): 34, ("she", "he"): 6, ("he", "he"): 36, ("he", "she"): 4}
    run.store.supersede(fill(run, same) + fill(run, same, order="she_first"))
    assert validation.validate(run.store, ROLES).cards[0].gaps == ()


def test_people_votes_and_annotators_agree_so_much(run: Made) -> None:
    """Two people: 8 of 10 alike. Votes of three: judge 1 and 2 always alike, judge 3 never."""
    labels = fill(run, {("she", "she"): 5, ("he", "he"): 5})
    run.store.supersede(labels)
    other = [
        label._replace(annotator="human:bea", value="he" if n in (0, 1) else label.value)
        for n, label in enumerate(labels)
    ]
    run.store.supersede(other)
    votes = [
        Label(label.output, "panel/x@1", "pronoun_vote", value, place)
        for label in labels
        for place, value in enumerate(("she", "she", "he"))
    ]
    run.store.write([], [], votes)
    found = {
        (one.who, one.coefficient): one.found.value
        for one in validation.validate(run.store, ROLES).agreements
    }
    assert found["people", "agreement"] == pytest.approx(0.8)
    # by hand: votes she 8, he 12 of 20; D_o = 2 split of 10; α = 1 - 19·(2·2)/(2·8·12) = .6042
    assert found["people", "Krippendorff's α"] == pytest.approx(1 - 19 * 4 / 192)
    assert found["votes of the panel", "agreement of judge 1 and judge 2"] == 1.0
    assert found["votes of the panel", "agreement of judge 2 and judge 3"] == 0.0


def test_without_gold_and_without_a_second_annotator_it_says_what_to_type(run: Made) -> None:
    fill(run, {("she", "she"): 3})
    with pytest.raises(UsageError, match="--sample 100 --sheet"):
        validation.validate(run.store, ROLES)


# corrections


def test_a_share_is_corrected_beside_the_naive_one(run: Made) -> None:
    """p = .45 by Se .8, Sp .9 of 100 gold labels: (.45 - .1)/.7 = .5."""
    run.store.supersede(
        fill(run, {("she", "she"): 40, ("she", "he"): 10, ("he", "he"): 45, ("he", "she"): 5})
    )
    found = estimates(run.store, ROLES)
    naive, fixed = pick(found, "share_she"), pick(found, "share_she_corrected")
    assert naive.value == pytest.approx(0.45)
    assert naive.correction == "none"
    assert fixed.value == pytest.approx(0.5)
    assert fixed.correction == "rogan-gladen"  # not drawn by tiltmeter, so not taken as random
    # five words have 5 he rightly called and 4 of 5 she, five have 4 of 5 of both
    table = np.array([[[5.0, 0], [1, 4]]] * 5 + [[[4.0, 1], [1, 4]]] * 5)
    gold_of_it = confusion.Confusion(table, table)
    same = correction.rogan_gladen(said=[4] * 5 + [5] * 5, n=[10] * 10, gold=gold_of_it).corrected
    assert (fixed.low, fixed.high) == (pytest.approx(same.low), pytest.approx(same.high))


def test_a_gap_that_the_judge_made_vanishes(run: Made) -> None:
    """PROTOCOLS: true share .5 in both orders; Se, Sp (.9, .6) in one, (.6, .9) in the other: naive gap +.3, corrected 0."""
    hears_she = {("she", "she"): 90, ("she", "he"): 10, ("he", "he"): 60, ("he", "she"): 40}
    hears_he = {("she", "she"): 60, ("she", "he"): 40, ("he", "he"): 90, ("he", "she"): 10}
    labels = fill(run, hears_she, "she_first", items=20) + fill(run, hears_he, "he_first", items=20)
    run.store.supersede(labels)
    found = estimates(run.store, ROLES)
    naive, fixed = pick(found, "order_effect"), pick(found, "order_effect_corrected")
    assert naive.value == pytest.approx(0.3)
    assert naive.low is not None
    assert naive.low > 0
    assert fixed.value == pytest.approx(0, abs=1e-9)
    assert fixed.low is not None
    assert fixed.high is not None
    assert fixed.low < 0 < fixed.high
    assert fixed.correction == "rogan-gladen"
    assert fixed.contrast == naive.contrast


def test_a_random_sample_gets_ppi(run: Made, tmp_path: Path) -> None:
    labels = fill(
        run, {("she", "she"): 160, ("she", "he"): 40, ("he", "he"): 180, ("he", "she"): 20}
    )
    api_sheet(run, labels, tmp_path, 120)
    found = estimates(run.store, ROLES)
    fixed = pick(found, "share_she_corrected")
    assert fixed.correction == "ppi++"
    assert "ppi++" in (fixed.interval_method or "")
    assert fixed.low is not None
    assert fixed.high is not None
    assert fixed.low < 0.5 < fixed.high
    assert validation.validate(run.store, ROLES).cards[0].random


def api_sheet(run: Made, labels: list[Label], tmp_path: Path, number: int) -> None:
    from tiltmeter.gold import sheet

    truth = {label.output: label.value for label in labels}
    sheet.write_sheet(sheet.draw(run.store, ROLES, number), tmp_path / "sheet.csv")
    rows = [
        {**row, "value": truth[row["output"]], "annotator": "ann"}
        for row in read(tmp_path / "sheet.csv")
    ]
    intake.take_in(run.store, ROLES, write(tmp_path / "gold.csv", *rows))


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        (
            {("she", "she"): 30, ("she", "he"): 20, ("he", "he"): 25, ("he", "she"): 25},
            "Se + Sp - 1 = 0.10",
        ),
        ({("she", "she"): 50, ("she", "he"): 10}, "no gold of the other classes"),
    ],
)
def test_a_correction_that_is_refused_says_why(
    run: Made, pairs: dict[tuple[str, str], int], said: str
) -> None:
    run.store.supersede(fill(run, pairs))
    fixed = pick(estimates(run.store, ROLES), "share_she_corrected")
    assert (fixed.value, fixed.low, fixed.correction) == (None, None, "none")
    assert said in fixed.note
    assert fixed.note.startswith("uncorrected: ")


def test_an_annotator_without_gold_in_its_stratum_is_called_uncorrected(run: Made) -> None:
    run.store.supersede(fill(run, {("she", "she"): 30, ("he", "he"): 30}))
    fill_other = fill(run, {("she", "she"): 20})
    run.store.write(
        [], [], [Label(one.output, "judge/y@1", "pronoun", "she") for one in fill_other]
    )
    rows = [
        e
        for e in estimates(run.store, ROLES)
        if e.measure == "share_she_corrected" and len(e.condition) == 2
    ]
    assert {(row.instrument, row.note) for row in rows if row.value is None} == {
        ("judge/y@1", "uncorrected: no gold")
    }


def test_a_condition_with_little_gold_takes_the_errors_of_all(run: Made) -> None:
    labels = fill(run, {("she", "she"): 40, ("she", "he"): 10, ("he", "he"): 45, ("he", "she"): 5})
    fill(run, {("she", "she"): 30, ("he", "he"): 70}, group="outlook")
    run.store.supersede(labels)
    fixed = pick(estimates(run.store, ROLES), "share_she_corrected", **{"class": "outlook"})
    assert fixed.value == pytest.approx((0.3 - 0.1) / 0.7)
    assert "taken as alike in all conditions" in fixed.note


def test_a_corrected_share_is_cut_and_says_so(run: Made) -> None:
    labels = fill(run, {("she", "she"): 45, ("she", "he"): 5, ("he", "he"): 40, ("he", "she"): 10})
    fill(run, {("he", "he"): 100}, group="outlook")
    run.store.supersede(labels)
    fixed = pick(estimates(run.store, ROLES), "share_she_corrected", **{"class": "outlook"})
    assert fixed.value == 0.0
    assert "cut from" in fixed.note


@pytest.mark.parametrize("kind", ["share", "gap"])
def test_corrected_rows_are_right_over_many_runs(kind: str) -> None:
    """What joins the tables of a run with the statistics, over 200 simulated judges: unbiased where the naive rows are not.
    (Coverage over 2,000 simulations: tests/stats and benchmarks/correction.py.)"""
    from tiltmeter.analyse.correction.correct import Sense, Side, correct

    drawn = random.Random(3)
    rates = {"a": (0.95, 0.85), "b": (0.85, 0.95)}

    def side(name: str) -> Side:
        se, sp = rates[name]
        said: dict[str, dict[str, float]] = {}
        labels: dict[str, dict[tuple[str, str], float]] = {}
        for output in range(400):
            item, truth = f"i{output % 40}", drawn.random() < 0.3
            heard = (drawn.random() < se) if truth else (drawn.random() > sp)
            word = "she" if heard else "he"
            said.setdefault(item, {}).setdefault(word, 0.0)
            said[item][word] += 1
            if output < 200:
                cells = labels.setdefault(item, {})
                cells["she" if truth else "he", word] = (
                    cells.get(("she" if truth else "he", word), 0.0) + 1
                )
        return Side(said, labels, labels)

    values, inside = [], 0
    for _ in range(200):
        sides = [side("a"), side("b")] if kind == "gap" else [side("a")]
        made = correct(sides, sides[0], Sense(("she",), ("she", "he")), random=False).found
        truth = 0.0 if kind == "gap" else 0.3
        assert made.value is not None
        assert made.low is not None
        assert made.high is not None
        values.append(made.value - truth)
        inside += made.low <= truth <= made.high
    assert abs(sum(values) / 200) < 0.012
    assert inside >= 184


def test_a_judge_that_drops_one_answer_is_corrected_where_gold_is_random() -> None:
    """Of the she a third are called "both", which takes them out of the denominator: naive .4, true .5, over 150 runs."""
    from tiltmeter.analyse.correction.correct import Sense, Side, correct

    drawn = random.Random(5)
    values, naive, inside = [], [], 0
    for _ in range(150):
        said: dict[str, dict[str, float]] = {}
        labels: dict[str, dict[tuple[str, str], float]] = {}
        for output in range(600):
            item, truth = f"i{output % 30}", drawn.choice(("she", "he"))
            heard = "both" if truth == "she" and drawn.random() < 1 / 3 else truth
            said.setdefault(item, {"she": 0, "he": 0, "both": 0})[heard] += 1
            if output < 150:
                cells = labels.setdefault(item, {})
                cells[truth, heard] = cells.get((truth, heard), 0.0) + 1
        side = Side(said, labels, labels)
        made = correct((side,), side, Sense(("she",), ("she", "he")), random=True)
        assert made.name == "ppi++"
        assert made.found.value is not None
        assert made.found.low is not None
        assert made.found.high is not None
        values.append(made.found.value)
        she, he = (sum(one[word] for one in said.values()) for word in ("she", "he"))
        naive.append(she / (she + he))
        inside += made.found.low <= 0.5 <= made.found.high
    assert sum(naive) / 150 == pytest.approx(0.4, abs=0.01)
    assert sum(values) / 150 == pytest.approx(0.5, abs=0.01)
    assert inside >= 136  # .95 of 150 less 2.5 standard errors


def test_a_ratio_by_hand() -> None:
    """10 outputs with gold, truth 4 she, 4 he, 2 neither; the judge calls 2 of the she neither: N = .4, D = .8, share .5."""
    from tiltmeter.analyse.correction.ratio_estimator import Counts, powered_contrast

    half = np.array([0.5, 0.5])
    counts = Counts(
        2 * half, 6 * half, 10 * half, 2 * half, 6 * half, 4 * half, 8 * half, 10 * half
    )
    assert powered_contrast([counts]).corrected.value == pytest.approx(0.5)
    other = Counts(2 * half, 6 * half, 10 * half, 2 * half, 6 * half, 2 * half, 8 * half, 10 * half)
    assert powered_contrast([counts, other]).corrected.value == pytest.approx(0.25)


def test_the_effect_against_controls_is_corrected_too(tmp_path: Path) -> None:
    """GRAMVIS: a panel that hears 'male' too often in English alone."""
    protocol = registry.protocol("gramvis")
    made = Made(tmp_path / "run", protocol)
    cells = [
        cell
        for cell in protocol.cells
        if cell["language"] == "de"
        and cell["side"] in ("gendered", "en")
        and "published" in cell["declension"]
        and cell["controls"] != "shared"
        and cell["grammatical_gender"] == "feminine"
    ]
    labels = []
    for number, cell in enumerate(cells):
        truth = "female" if number % 2 else "male"
        said = "male" if cell["side"] == "en" and number % 8 == 1 else truth
        made.label(
            [
                (
                    {name: cell[name] for name in (*protocol.factors, protocol.item)},
                    "sampled",
                    {said: 1.0},
                )
            ],
            "panel/m@1",
        )
        labels.append(Label(f"t{made.number:06}", "human:ann", "gender", truth))
    made.store.supersede(labels)
    found = estimates(made.store, protocol)
    naive, fixed = (
        pick(found, name, grammatical_gender="feminine") for name in ("effect", "effect_corrected")
    )
    truths = {
        side: [
            label.value == "female"
            for label, cell in zip(labels, cells, strict=True)
            if cell["side"] == side
        ]
        for side in ("gendered", "en")
    }
    truth = sum(truths["gendered"]) / len(truths["gendered"]) - sum(truths["en"]) / len(
        truths["en"]
    )
    assert fixed.value == pytest.approx(truth, abs=1e-6)
    assert naive.value is not None
    assert abs(naive.value - truth) > 0.05
    made.store.close()


def test_the_command_and_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    api.run(
        "roles",
        "planted:she=0.7",
        "run",
        language="en",
        limit=10,
        samples=5,
        judge="planted:accuracy=0.8",
    )
    assert "uncorrected" in (api.open_run("run").report("before.md").read_text(encoding="utf-8"))
    assert main(["validate", "run"]) == 0  # parser and judge against each other
    api.draw_gold_sample("run", 80, "sheet.csv")
    rows = api.open_run("run").labels["annotator", "output", "value"].iter_rows()
    said = {output: value for annotator, output, value in rows if annotator.startswith("choice/")}
    filled = [
        {**row, "value": said[row["output"]], "annotator": "ann"} for row in read(Path("sheet.csv"))
    ]
    api.import_gold("run", write(Path("gold.csv"), *filled))
    capsys.readouterr()
    assert main(["validate", "run", "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    accuracy = {
        card["annotator"].partition("@")[0]: card["groups"][0]["accuracy"]["value"]
        for card in found["cards"]
    }
    assert accuracy["choice/11"] == 1.0
    assert accuracy["choice/planted:accuracy=0.8"] == pytest.approx(0.8, abs=0.15)
    page = api.open_run("run").report("after.md").read_text(encoding="utf-8")
    for words in ("Judges against people", "as gold corrects it", "ppi++", "Krippendorff"):
        assert words in page
    assert "all numbers are uncorrected" not in page
    assert main(["analyse", "run", "--full"]) == 0
    assert "corrected" in capsys.readouterr().out


def test_a_difference_with_gold_on_one_side_only_is_not_corrected(run: Made) -> None:
    """The same errors on both sides would keep, and enlarge, a gap that the judge makes."""
    labels = fill(run, {("she", "she"): 40, ("she", "he"): 10, ("he", "he"): 45, ("he", "she"): 5})
    fill(run, {("she", "she"): 50, ("he", "he"): 50}, order="she_first")
    run.store.supersede(labels)
    fixed = pick(estimates(run.store, ROLES), "order_effect_corrected")
    assert (fixed.value, fixed.correction) == (None, "none")
    assert "too little gold in one of the two conditions" in fixed.note


def test_all_classes_are_corrected_by_the_confusion_matrix(run: Made) -> None:
    """Three classes by hand: true shares (.5, .3, .2) of 400 seen through M gives q = Mᵀπ = (.46, .30, .24). All have gold, with M's
    own rows, so that q is solved back to π and nothing is left to chance."""
    matrix = {"she": (0.8, 0.1, 0.1), "he": (0.1, 0.8, 0.1), "both": (0.15, 0.05, 0.8)}
    words = list(matrix)
    sizes = {"she": 200, "he": 120, "both": 80}
    pairs = {
        (truth, said): round(share * sizes[truth])
        for truth, row in matrix.items()
        for said, share in zip(words, row, strict=True)
    }
    run.store.supersede(fill(run, pairs))
    (card,) = validation.validate(run.store, ROLES).cards
    said = {one.value: one.said.value for one in card.shares}
    fixed = {one.value: one.corrected for one in card.shares}
    assert {value: round(share or 0, 3) for value, share in said.items()} == {
        "she": 0.46,
        "he": 0.3,
        "both": 0.24,
    }
    for value, truth in (("she", 0.5), ("he", 0.3), ("both", 0.2)):
        found = fixed[value]
        assert (
            found.value == pytest.approx(truth, abs=1e-9)
            and found.low is not None
            and found.high is not None
        )
        assert found.low == pytest.approx(truth) == found.high
    assert sum(found.value or 0 for found in fixed.values()) == pytest.approx(1)
