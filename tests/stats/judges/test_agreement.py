"""Judge against gold and annotators among themselves: against scikit-learn, statsmodels, krippendorff, irrCAC, papers."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics
from statsmodels.regression.linear_model import WLS

from tiltmeter.stats import rates
from tiltmeter.stats.judges import agreement, confusion

REFERENCES = json.loads((Path(__file__).parents[1] / "references.json").read_text(encoding="utf-8"))
AGREEMENT = {case["name"]: case for case in REFERENCES["agreement"]}


def drawn(
    seed: int, classes: int, n: int = 150, answers: int | None = None
) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, classes, n)
    said = np.where(generator.random(n) < 0.7, truth, generator.integers(0, answers or classes, n))
    return {
        "truth": truth,
        "said": said,
        "clusters": generator.integers(0, 25, n),
        "weights": generator.choice([0.5, 1, 4], n),
    }


def cells(table: list[list[int]]) -> confusion.Confusion:
    """A confusion matrix of independent outputs."""
    counts = np.array(table)
    truth, said = (np.repeat(index.ravel(), counts.ravel()) for index in np.indices(counts.shape))
    return confusion.confusion(truth=truth, said=said, classes=len(counts))


@pytest.mark.parametrize(("seed", "classes"), [(1, 2), (2, 3), (3, 5)])
@pytest.mark.parametrize("weighted", [False, True])
def test_quality_equals_scikit_learn(seed: int, classes: int, weighted: bool) -> None:
    data = drawn(seed, classes)
    weights = data["weights"] if weighted else None
    found = confusion.quality(
        gold=confusion.confusion(**(data | {"weights": weights}), classes=classes)
    )
    pair = {"y_true": data["truth"], "y_pred": data["said"], "sample_weight": weights}
    precision, recall, f1, _ = metrics.precision_recall_fscore_support(**pair)
    for k, one in enumerate(found.classes):
        assert (one.precision.value, one.sensitivity.value, one.f1.value) == pytest.approx(
            (precision[k], recall[k], f1[k])
        )
        others = metrics.recall_score(data["truth"] != k, data["said"] != k, sample_weight=weights)
        assert one.specificity.value == pytest.approx(others)
        assert one.labels == (data["truth"] == k).sum()
    assert found.accuracy.value == pytest.approx(metrics.accuracy_score(**pair))
    for average in ("macro", "weighted"):
        theirs = metrics.precision_recall_fscore_support(**pair, average=average)[:3]
        ours = [getattr(found, f"{average}_{name}").value for name in ("precision", "recall", "f1")]
        assert ours == pytest.approx(theirs)


def test_an_answer_that_is_no_class_misses_its_class_only() -> None:
    data = drawn(4, 3, answers=4)
    found = confusion.quality(
        gold=confusion.confusion(**(data | {"weights": None}), classes=3, answers=4)
    )
    theirs = metrics.precision_recall_fscore_support(
        data["truth"], data["said"], labels=[0, 1, 2], average="macro"
    )
    assert found.macro_f1.value == pytest.approx(theirs[2])
    assert found.macro_recall.value == pytest.approx(theirs[1])


@pytest.mark.parametrize("weighted", [False, True])
def test_se_of_sensitivity_equals_clustered_regression(weighted: bool) -> None:
    data = drawn(5, 2)
    weights = data["weights"] if weighted else np.ones(150)
    one = confusion.class_quality(
        gold=confusion.confusion(**(data | {"weights": weights}), classes=2), positive=1
    )
    mine = data["truth"] == 1
    model = WLS((data["said"] == 1)[mine].astype(float), np.ones(mine.sum()), weights=weights[mine])
    theirs = model.fit(cov_type="cluster", cov_kwds={"groups": data["clusters"][mine]})
    assert (one.sensitivity.value, one.sensitivity.se) == pytest.approx(
        (theirs.params[0], theirs.bse[0])
    )


def test_se_of_the_means_equals_the_jackknife() -> None:
    """Linearised against leaving out one item at a time: equal to second order."""
    data = drawn(6, 3, n=400)
    gold = confusion.confusion(**data, classes=3)
    found = confusion.quality(gold=gold)
    for name in (
        "macro_f1",
        "weighted_f1",
        "macro_precision",
        "weighted_precision",
        "macro_recall",
        "weighted_recall",
    ):
        left = []
        for item in range(25):
            kept = np.delete(np.arange(25), item)
            part = confusion.Confusion(gold.weighted[kept], gold.labels[kept])
            left.append(getattr(confusion.quality(gold=part), name).value)
        jackknife = np.sqrt(24 / 25 * ((np.array(left) - np.mean(left)) ** 2).sum())
        assert getattr(found, name).se == pytest.approx(jackknife, rel=0.06), name


def test_quality_by_hand() -> None:
    one = confusion.class_quality(gold=cells([[45, 5], [10, 40]]), positive=1)
    values = [row.value for row in (one.sensitivity, one.specificity, one.precision, one.f1)]
    assert values == pytest.approx([0.8, 0.9, 40 / 45, 80 / 95])
    share = rates.clustered_share(successes=[1] * 40 + [0] * 10, n=[1] * 50)
    assert (one.sensitivity.low, one.sensitivity.high) == pytest.approx((share.low, share.high))


def test_a_class_without_gold_or_calls_is_not_measured() -> None:
    gold = confusion.confusion(truth=[0, 0, 0, 0], said=[0, 0, 0, 1], classes=3)
    found = confusion.quality(gold=gold)
    assert (found.classes[1].sensitivity.value, found.classes[1].sensitivity.note) == (
        None,
        "no outcomes",
    )
    assert found.classes[2].precision.value is None
    assert found.macro_recall.value == pytest.approx(0.75)
    assert (
        confusion.quality(gold=confusion.confusion(truth=[], said=[], classes=2)).macro_f1.note
        == "no gold"
    )


def test_a_judge_that_never_errs_still_has_an_interval() -> None:
    one = confusion.class_quality(gold=cells([[20, 0], [0, 20]]), positive=1)
    assert one.sensitivity.value == one.sensitivity.high == 1
    # labels that stand by themselves: Jeffreys' limit
    assert one.sensitivity.low == pytest.approx(stats.beta.ppf(0.025, 20.5, 0.5), abs=1e-4)


def test_errors_that_differ_by_condition_are_seen() -> None:
    first, second = cells([[97, 3], [15, 85]]), cells([[85, 15], [3, 97]])
    sensitivity, specificity = confusion.error_gaps(first=first, second=second)[1]
    assert (sensitivity.value, specificity.value) == pytest.approx((-0.12, 0.12))
    assert sensitivity.high < 0 < specificity.low


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weighted", [False, True])
def test_kappa_equals_scikit_learn(seed: int, weighted: bool) -> None:
    data = drawn(seed, 2 + seed % 3)
    weights = data["weights"] if weighted else None
    gold = confusion.confusion(**(data | {"weights": weights}), classes=2 + seed % 3)
    theirs = metrics.cohen_kappa_score(data["truth"], data["said"], sample_weight=weights)
    assert agreement.cohen_kappa(gold=gold).value == pytest.approx(theirs)


@pytest.mark.parametrize("name", AGREEMENT)
def test_alpha_equals_krippendorff_and_ac1_equals_irrcac(name: str) -> None:
    case = AGREEMENT[name]
    rated = agreement.ratings(codes=case["codes"], classes=case["classes"])
    assert agreement.krippendorff_alpha(rated=rated).value == pytest.approx(case["alpha"], abs=1e-9)
    ac1 = agreement.gwet_ac1(rated=rated)
    assert ac1.value == pytest.approx(case["ac1"], abs=1e-9)
    assert ac1.se == pytest.approx(
        case["ac1_se"], rel=0.13
    )  # jackknife against Gwet's linearisation
    assert ac1.low < ac1.value < ac1.high <= 1


def test_published_worked_examples() -> None:
    """Krippendorff (2011), section C: .743. Gwet (2014), two abstractors and 100 women: κ .79641 (SE .05891),
    AC1 .84933 (SE .04322). The paradox table, 118, 5, 2, 0: κ -.02339, AC1 .94078."""
    case = AGREEMENT["Krippendorff 2011"]
    rated = agreement.ratings(codes=case["codes"], classes=5)
    assert round(agreement.krippendorff_alpha(rated=rated).value, 3) == 0.743
    women = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]
    assert agreement.cohen_kappa(gold=cells(women)).se == pytest.approx(0.05891, rel=0.03)
    for table, kappa, ac1, ac1_se in (
        (women, 0.79641, 0.84933, 0.04322),
        ([[118, 5], [2, 0]], -0.02339, 0.94078, 0.02296),
    ):
        assert round(agreement.cohen_kappa(gold=cells(table)).value, 5) == kappa
        counts = np.array(table)
        codes = np.column_stack(
            [np.repeat(index.ravel(), counts.ravel()) for index in np.indices(counts.shape)]
        )
        row = agreement.gwet_ac1(rated=agreement.ratings(codes=codes, classes=len(table)))
        assert (round(row.value, 5), row.se) == (ac1, pytest.approx(ac1_se, rel=0.05))


def test_agreement_by_hand() -> None:
    assert agreement.cohen_kappa(gold=cells([[20, 5], [10, 15]])).value == pytest.approx(0.4)
    rated = agreement.ratings(codes=[[0, 0], [0, 1], [1, 1]], classes=2)
    assert agreement.krippendorff_alpha(rated=rated).value == pytest.approx(4 / 9)
    (pair,) = agreement.pairwise_agreement(rated=rated)
    assert (pair.first, pair.second, pair.agreement.value) == (0, 1, pytest.approx(2 / 3))


def test_clusters_widen_the_interval() -> None:
    """Each output four times over: the same value, and the same interval only where the copies are one item."""
    codes = np.array(AGREEMENT["rare class"]["codes"])
    once = agreement.krippendorff_alpha(rated=agreement.ratings(codes=codes, classes=2))
    copies, items = np.repeat(codes, 4, axis=0), np.repeat(np.arange(len(codes)), 4)
    blind = agreement.gwet_ac1(rated=agreement.ratings(codes=copies, classes=2))
    aware = agreement.gwet_ac1(rated=agreement.ratings(codes=copies, classes=2, clusters=items))
    assert aware.clusters == once.clusters == 50
    assert aware.value == pytest.approx(blind.value)
    assert aware.se == pytest.approx(2 * blind.se, rel=0.03)


def test_weights_are_copies() -> None:
    codes, weights = np.array(AGREEMENT["two raters, three classes"]["codes"]), np.tile([1, 3], 20)
    items = np.arange(40)
    heavy = agreement.ratings(codes=codes, classes=3, weights=weights)
    copied = agreement.ratings(
        codes=np.repeat(codes, weights, axis=0), classes=3, clusters=np.repeat(items, weights)
    )
    assert agreement.gwet_ac1(rated=heavy).value == pytest.approx(
        agreement.gwet_ac1(rated=copied).value
    )
    assert agreement.gwet_ac1(rated=heavy).se == pytest.approx(agreement.gwet_ac1(rated=copied).se)
    (one,), (other,) = (
        agreement.pairwise_agreement(rated=heavy),
        agreement.pairwise_agreement(rated=copied),
    )
    assert one.agreement.value == pytest.approx(other.agreement.value)


def test_agreement_that_cannot_be_measured_says_why() -> None:
    def alpha(codes: list[list[int]]):
        return agreement.krippendorff_alpha(rated=agreement.ratings(codes=codes, classes=2))

    assert (alpha([[0, -1], [-1, 1]]).value, alpha([[0, -1], [-1, 1]]).note) == (
        None,
        "nothing was rated twice",
    )
    assert (
        alpha([[0, 0], [0, 0]]).note
        == "only one class was used: agreement beyond chance is not defined"
    )
    perfect = alpha([[0, 0], [1, 1]] * 10)
    assert perfect.value == perfect.high == 1 and 0 < perfect.low < 1
    hangs = alpha([[0, 0]] * 9 + [[0, 1]])
    assert hangs.value is not None and hangs.low is None and "hangs on one item" in hangs.note
    assert (
        agreement.pairwise_agreement(rated=agreement.ratings(codes=[[0, -1]], classes=2))[
            0
        ].agreement.value
        is None
    )


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: confusion.confusion(truth=[0, 2], said=[0, 1], classes=2), "truth"),
        (lambda: confusion.confusion(truth=[0, 1], said=[0, -2], classes=2), "said"),
        (lambda: confusion.confusion(truth=[0, 1], said=[0], classes=2), "said"),
        (
            lambda: confusion.confusion(truth=[0, 1], said=[0, 1], classes=2, weights=[1, 0]),
            "weights",
        ),
        (
            lambda: confusion.confusion(
                truth=[0, 1], said=[0, 1], classes=2, clusters=[0, 9], items=9
            ),
            "clusters",
        ),
        (lambda: confusion.confusion(truth=[0], said=[0], classes=2, answers=1), "answers"),
        (lambda: agreement.ratings(codes=[[0, 3]], classes=3), "codes"),
        (lambda: agreement.ratings(codes=[[0, 1]], classes=3, clusters=[0, 1]), "clusters"),
        (lambda: agreement.ratings(codes=[[0, 1]], classes=3, weights=[-1]), "weights"),
    ],
)
def test_errors_name_the_argument(call, name: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name}: "):
        call()
