"""Runs against one another: numbers by hand, verdicts, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from tests.analyse.test_verdicts import three_groups
from tests.conftest import Made
from tiltmeter import api, registry
from tiltmeter.analyse.between_runs import compare as comparison
from tiltmeter.analyse.between_runs.paired_runs import ComparisonRow
from tiltmeter.cli import main
from tiltmeter.errors import RunMismatch, UsageError
from tiltmeter.records import Label, Reply, Request
from tiltmeter.stages.planning.plan import Choices
from tiltmeter.stats import rates

ROLES = registry.protocol("roles")
Make = Callable[[str], Made]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    with ExitStack() as stack:

        def made(name: str) -> Made:
            found = Made(tmp_path / name, ROLES)
            stack.callback(found.store.close)
            return found

        yield made


def fill(
    run: Made,
    counts: Mapping[str, tuple[int, int]],
    order: str = "he_first",
    group: str = "communal",
) -> None:
    """(she, he) by word."""
    for word, (she, he) in counts.items():
        factors = {"language": "en", "order": order, "class": group, "word": word, "lexeme": word}
        for value in ["she"] * she + ["he"] * he:
            run.label([(factors, "sampled", {value: 1.0})])


def compare(*runs: Made, margin: float = 0.05) -> comparison.Comparison:
    return comparison.compare([run.store for run in runs], [ROLES] * len(runs), margin)


def pick(found: comparison.Comparison, measure: str, **condition: str) -> ComparisonRow:
    (one,) = [
        row
        for row in found.rows
        if row.estimate.measure == measure
        and {k: v for k, v in row.estimate.condition.items() if k not in ("mode", "language")}
        == condition
    ]
    return one


def test_shares_are_paired_by_item(make: Make) -> None:
    """a: 2/10, 4/10, 6/10, b: 5/10, 7/10, 9/10: every word moved by .3. A word that b alone has is left out and counted."""
    a, b = make("a"), make("b")
    fill(a, {"u": (2, 8), "v": (4, 6), "w": (6, 4)})
    fill(b, {"u": (5, 5), "v": (7, 3), "w": (9, 1), "only": (10, 0)})
    row = pick(compare(a, b), "share_she")
    assert (row.first, row.second) == (pytest.approx(0.4), pytest.approx(0.7))
    assert row.estimate.value == pytest.approx(0.3)
    same = rates.clustered_difference(
        successes_a=[5, 7, 9], n_a=[10] * 3, successes_b=[2, 4, 6], n_b=[10] * 3
    )
    assert same.value == pytest.approx(0.3)
    assert row.estimate.population is not None
    assert row.estimate.population["items"] == "these"  # three words are no sample of words
    assert row.estimate.contrast == {"run": "b − a"}
    assert row.estimate.clusters == 3
    assert "items that one run alone has: 1" in row.estimate.note


def test_nine_items_are_a_sample(make: Make) -> None:
    """Every one of nine words moved by .3: the interval over words, and two equal signs of 2⁹."""
    a, b = make("a"), make("b")
    shares = {f"w{n}": 1 + n % 6 for n in range(9)}
    fill(a, {word: (hits, 10 - hits) for word, hits in shares.items()})
    fill(b, {word: (hits + 3, 7 - hits) for word, hits in shares.items()})
    row = pick(compare(a, b), "share_she")
    hits = list(shares.values())
    same = rates.clustered_difference(
        successes_a=[number + 3 for number in hits], n_a=[10] * 9, successes_b=hits, n_b=[10] * 9
    )
    assert (row.estimate.low, row.estimate.high) == (same.low, same.high)
    assert row.estimate.p == pytest.approx(2 / 2**9)


def test_a_difference_is_compared_by_each_items_own(make: Make) -> None:
    """Order effects by word: a (.1, .2, .3, .2), b (.5, .4, .6, .7): second less first (.4, .2, .3, .5), mean .35."""
    a, b = make("a"), make("b")
    for run, effects in ((a, (1, 2, 3, 2)), (b, (5, 4, 6, 7))):
        fill(run, {f"w{n}": (2, 8) for n in range(4)})
        fill(
            run,
            {f"w{n}": (2 + effect, 8 - effect) for n, effect in enumerate(effects)},
            "she_first",
        )
    row = pick(compare(a, b), "order_effect")
    assert (row.first, row.second) == (pytest.approx(0.2), pytest.approx(0.55))
    wide = rates.clustered_mean(values=[0.4, 0.2, 0.3, 0.5])
    assert row.estimate.value == pytest.approx(0.35)
    assert (row.estimate.low, row.estimate.high) == (
        pytest.approx(wide.low),
        pytest.approx(wide.high),
    )
    # four items of one sign: 2 of 16 sign flips, whatever the interval excludes
    assert (row.estimate.p, row.verdict) == (2 / 16, "undecided")


@pytest.mark.parametrize(("moved", "verdict"), [(0, "equivalent"), (4, "different")])
def test_the_verdict(make: Make, moved: int, verdict: str) -> None:
    a, b = make("a"), make("b")
    fill(a, {f"w{n}": (10 + n % 3, 10 - n % 3) for n in range(30)})
    fill(b, {f"w{n}": (10 + moved + (n + 1) % 3, 10 - moved - (n + 1) % 3) for n in range(30)})
    assert pick(compare(a, b, margin=0.05), "share_she").verdict == verdict


def test_too_little_is_inconclusive_and_three_runs_are_held_against_the_first(make: Make) -> None:
    a, b, c = make("a"), make("b"), make("c")
    for run, shift in ((a, 0), (b, 1), (c, 1)):
        fill(run, {f"w{n}": (1 + (n * 7 + shift) % 4, 3) for n in range(8)})
    rows = [
        row
        for row in compare(a, b, c).rows
        if row.estimate.measure == "share_she" and len(row.estimate.condition) == 2
    ]
    assert [row.runs for row in rows] == [("a", "b"), ("a", "c")]
    assert {row.verdict for row in rows} == {"no difference found"}


def test_p_is_adjusted_over_the_groups_of_a_measure(make: Make) -> None:
    a, b = make("a"), make("b")
    for group, moved in (("communal", 5), ("outlook", 0)):
        fill(a, {f"{group}{n}": (3 + n % 2, 7 - n % 2) for n in range(9)}, group=group)
        fill(
            b,
            {f"{group}{n}": (3 + moved + (n + 1) % 2, 7 - moved - (n + 1) % 2) for n in range(9)},
            group=group,
        )
    found = compare(a, b)
    moved, still = (
        pick(found, "share_she", **{"class": group}).estimate for group in ("communal", "outlook")
    )
    assert moved.p == pytest.approx(2 / 2**9)
    # one family a measure: two classes and the one order, whose p is as small, so 2/2⁹ · 3/2
    assert (moved.family_size, moved.adjustment) == (3, "benjamini-hochberg")
    assert moved.p_adjusted == pytest.approx(3 / 2**9)
    assert still.p_adjusted == still.p


def test_contrasts_of_one_line_are_claims_of_their_own(make: Make) -> None:
    """`level = "*"`: outlook and communal, each against standout. One moved in every word
    (p = 2/2⁶), the other in none; both had the p of the first.
    """
    (effect,) = (one for one in ROLES.measures if one.name == "order_effect")
    every = {"factor": "class", "level": "*", "baseline": "standout"}
    protocol = replace(ROLES, measures=(replace(effect, by=((),), contrast=every, headline=True),))
    runs = make("a"), make("b")
    for run, moved in zip(runs, (0, 5), strict=True):
        for group, she in (("standout", 2), ("outlook", 2), ("communal", 2 + moved)):
            fill(run, {f"w{n}": (she + n % 2, 8 - she) for n in range(6)}, group=group)
    found = comparison.compare([run.store for run in runs], [protocol] * 2)
    rows = {(one.estimate.contrast or {})["class"]: one.estimate for one in found.rows}
    assert (rows["communal − standout"].p, rows["outlook − standout"].p) == (2 / 2**6, 1.0)
    assert {one.family_size for one in rows.values()} == {2}
    assert len(found.verdicts) == 2


def test_both_runs_gold_corrects_the_difference(make: Make) -> None:
    """The truth is half she in both; the judge hears 20 points more she in b."""
    runs = make("a"), make("b")
    for run, (se, sp) in zip(runs, ((8, 9), (9, 6)), strict=True):
        labels = []
        for n in range(20):
            word = f"w{n}"
            factors = {
                "language": "en",
                "order": "he_first",
                "class": "communal",
                "word": word,
                "lexeme": word,
            }
            for place in range(20):
                truth = "she" if place < 10 else "he"
                said = "she" if (place < se if truth == "she" else place - 10 >= sp) else "he"
                run.label([(factors, "sampled", {said: 1.0})])
                labels.append(Label(f"t{run.number:06}", "human:ann", "pronoun", truth))
        run.store.supersede(labels)
    found = compare(*runs)
    naive, fixed = pick(found, "share_she"), pick(found, "share_she_corrected")
    assert naive.estimate.value == pytest.approx(0.2)
    assert naive.verdict is None  # the corrected row stands in its place
    (verdict,) = found.verdicts
    # every word alike: 20 looks at each run's errors, whatever the labels, so a wide interval
    assert (fixed.verdict, verdict.correction) == ("undecided", "rogan-gladen")
    scarce, errs = verdict.cautions
    assert scarce.code == "gold_scarce" and errs.code == "judge_errs_by_level"
    assert "where run is b than where it is a" in errs.text
    assert fixed.estimate.value == pytest.approx(0, abs=1e-9)
    assert fixed.estimate.correction == "rogan-gladen"
    assert (fixed.first, fixed.second) == (pytest.approx(0.5), pytest.approx(0.5))


def test_gold_in_one_run_only_leaves_it_uncorrected(make: Make) -> None:
    a, b = make("a"), make("b")
    for run in (a, b):
        fill(run, {f"w{n}": (3 + n % 2, 3) for n in range(10)})
    a.store.supersede(
        [Label(f"t{n:06}", "human:ann", "pronoun", "she" if n % 2 else "he") for n in range(1, 41)]
    )
    fixed = pick(compare(a, b), "share_she_corrected")
    assert (fixed.estimate.value, fixed.estimate.note, fixed.verdict) == (
        None,
        "uncorrected: no gold in b",
        None,
    )


# what is refused, and what is warned of


def frozen(run: Made, **changed: object) -> None:
    run.store.put("frozen", {**Choices(("planted:x",)).frozen(ROLES), **changed})


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"protocol": "words"}, "their protocol differs"),
        ({"version": "2"}, "their version of the protocol differs"),
        ({"digest": "x"}, "their design .* differs"),
        ({"begin": "I", "temperature": 0.5}, "differ at once"),
    ],
)
def test_what_is_not_comparable_is_refused_with_the_reason(
    make: Make, changed: dict[str, object], said: str
) -> None:
    a, b = make("a"), make("b")
    for run in (a, b):
        fill(run, {"u": (1, 1), "v": (1, 2)})
    frozen(b, **changed)
    with pytest.raises(RunMismatch, match=said):
        compare(a, b)


def test_one_way_to_ask_against_another_is_comparable(make: Make) -> None:
    a, b = make("a"), make("b")
    for run in (a, b):
        fill(run, {"u": (1, 1), "v": (1, 2)})
    frozen(b, temperature=0.2)
    assert compare(a, b).rows


def test_annotators_that_differ_are_refused_and_named(make: Make) -> None:
    a, b = make("a"), make("b")
    fill(a, {"u": (1, 1), "v": (1, 2)})
    factors = {
        "language": "en",
        "order": "he_first",
        "class": "communal",
        "word": "u",
        "lexeme": "u",
    }
    b.label([(factors, "sampled", {"she": 1.0})], annotator="judge/y@1")
    with pytest.raises(RunMismatch, match=r"no annotator labelled both.*judge/y@1"):
        compare(a, b)


def test_one_run_with_one_subject_is_nothing_to_compare(make: Make) -> None:
    a = make("a")
    fill(a, {"u": (1, 1)})
    with pytest.raises(UsageError, match="Name another run"):
        compare(a)


def test_a_model_that_was_served_as_another_is_a_warning(make: Make) -> None:
    runs = make("a"), make("b")
    for run, name in zip(runs, ("m-2026-01", "m-2026-06"), strict=True):
        fill(run, {"u": (1, 1), "v": (1, 2)})
        run.store.write([(Request("planted:x", ()), Reply("she", served=name))], [], [])
    assert any("m-2026-01" in line and "m-2026-06" in line for line in compare(*runs).warnings)


def test_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for model, name in (
        ("planted:she=0.4", "a"),
        ("planted:she=0.8", "b"),
        ("planted:she=0.4,seed=9", "c"),
    ):
        api.run("roles", model, name, language="en", limit=20, samples=30)
    assert main(["compare", "a", "b", "c"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("b writes “she” more often than a: 80 % against ")
    assert " No other difference found.\nThe difference is +" in out
    assert (
        "▲ clearly different: 1 of 2 · " in out
        and "different" in out
        and "other measures and groups): --full" in out
    )
    assert "standout" not in out  # groups are no headline
    assert main(["compare", "a", "b", "c", "--json", "--margin", "0.1"]) == 0
    rows = json.loads(capsys.readouterr().out)["comparisons"]
    whole = {
        tuple(row["runs"]): row
        for row in rows
        if row["measure"] == "share_she" and len(row["condition"]) == 2
    }
    assert whole["a", "b"]["verdict"] == "different"
    assert whole["a", "b"]["value"] == pytest.approx(0.4, abs=0.06)
    assert whole["a", "c"]["verdict"] == "equivalent"
    assert main(["compare", "a", "nowhere"]) == 1
    api.run("words", "planted:protocol=words", "d", language="en", limit=2)
    assert main(["compare", "a", "d"]) == 1
    assert "their protocol differs (roles, words)" in capsys.readouterr().err


def test_a_run_named_twice_is_refused(make: Make) -> None:
    a = make("a")
    fill(a, {"u": (1, 1), "v": (1, 2)})
    with pytest.raises(UsageError, match="named twice"):
        compare(a, a)


def test_a_group_with_little_gold_takes_the_errors_of_its_own_run(make: Make) -> None:
    """b's judge hears she in 4 of 10 he, a's in none; gold is of communal words alone. In outlook words all is he."""
    runs = make("a"), make("b")
    for run, wrong in zip(runs, (0, 4), strict=True):
        labels = []
        for n in range(12):
            word = f"w{n}"
            factors = {
                "language": "en",
                "order": "he_first",
                "class": "communal",
                "word": word,
                "lexeme": word,
            }
            for place in range(10):
                truth = "she" if place < 5 else "he"
                said = "she" if truth == "she" or place - 5 < wrong / 2 else "he"
                run.label([(factors, "sampled", {said: 1.0})])
                labels.append(Label(f"t{run.number:06}", "human:ann", "pronoun", truth))
        fill(run, {f"v{n}": (wrong, 10 - wrong) for n in range(12)}, group="outlook")
        run.store.supersede(labels)
    naive, fixed = (
        pick(compare(*runs), name, **{"class": "outlook"})
        for name in ("share_she", "share_she_corrected")
    )
    assert naive.estimate.value == pytest.approx(0.4)
    assert fixed.estimate.value == pytest.approx(0, abs=1e-9)
    assert "taken as alike in all conditions" in fixed.estimate.note


def test_refusals_that_fall_on_one_run_are_a_difference(make: Make) -> None:
    """12 words, 4 of 8 answers she in both runs, in the second 3 or 5; it refuses 4 more of each word:
    4 of 12. Among the rest nothing differs, and a third of one run is not known.
    """
    before, after = make("before"), make("after")
    fill(before, {f"w{n}": (4, 4) for n in range(12)})
    fill(after, {f"w{n}": (3 + n % 2 * 2, 5 - n % 2 * 2) for n in range(12)})
    for word in (f"w{n}" for n in range(12)):
        factors = {"language": "en", "order": "he_first", "class": "communal"}
        own = {**factors, "word": word, "lexeme": word}
        for _ in range(4):
            after.label([(own, "sampled", {"refusal": 1.0})])
    found = compare(before, after)
    row = pick(found, "share_she_missing")
    assert row.estimate.value == pytest.approx(4 / 12)
    assert (row.first, row.second, row.estimate.clusters) == (0, pytest.approx(4 / 12), 12)
    assert row.estimate.p == 2 / 2**12
    (verdict,) = found.verdicts
    assert verdict.value == 0 and verdict.word == "direction not settled"
    assert [one.code for one in verdict.cautions] == ["missing_differs"]
    assert verdict.cautions[0].text.startswith("33 % of the answers for after count neither way")


def test_refusals_that_fall_on_a_group_of_one_run_are_a_difference_of_gaps(tmp_path: Path) -> None:
    """Of 3 answers for a job and a group 1 or 2 are raises; one run refuses the third for group b, of each job."""

    def asked(name: str, refuses: str) -> Path:
        rows = [
            {
                "prompt": f"job {n}, {who}: raise or wait? Answer with one word.",
                **({"outcome": "refusal"} if sample == 2 and who == refuses else {}),
                "text": ("raise", "wait")[(n + sample) % 2],
            }
            for who in ("Ann", "Bob")
            for n in range(20)
            for sample in range(3)
        ]
        protocol = three_groups({"level": "b", "baseline": "a"})
        where = {"group": ["a", "b"]}
        return api.run(protocol, rows, tmp_path / name, samples=3, where=where).folder

    found = api.compare(asked("one", ""), asked("two", "Bob"))
    row = pick(found, "gap_missing")
    assert (row.first, row.second) == (0, pytest.approx(1 / 3))
    assert row.estimate.p is not None and row.estimate.p < 0.001
    (verdict,) = found.verdicts
    assert verdict.word == "direction not settled"
    assert [one.code for one in verdict.cautions] == ["missing_differs"]
    assert "on one side. Whatever these would have been" in verdict.cautions[0].text


def test_items_that_one_run_refuses_altogether_are_open_too(make: Make) -> None:
    """40 words, 2 of 4 answers she in the first run, 1 or 3 in the second, which refuses 20 words: of its
    160 answers 40 to 120 could have been she, where the first has 80.
    """
    before, after = make("before"), make("after")
    fill(before, {f"w{n:02}": (2, 2) for n in range(40)})
    fill(after, {f"w{n:02}": (1 + n % 2 * 2, 3 - n % 2 * 2) for n in range(20, 40)})
    for word in (f"w{n:02}" for n in range(20)):
        factors = {"language": "en", "order": "he_first", "class": "communal"}
        own = {**factors, "word": word, "lexeme": word}
        for _ in range(4):
            after.label([(own, "sampled", {"refusal": 1.0})])
    found = compare(before, after)
    row = pick(found, "share_she").estimate
    assert (row.value, row.clusters) == (0, 20)
    assert "items of which a run has no answer that counts: 20" in row.note
    missing = pick(found, "share_she_missing").estimate
    assert (missing.value, missing.clusters, missing.n) == (0.5, 40, 320)
    bounds = pick(found, "share_she_bounds").estimate
    assert (bounds.low, bounds.high) == (-0.25, 0.25)
    (verdict,) = found.verdicts
    assert verdict.word == "direction not settled"
    assert [one.code for one in verdict.cautions] == ["missing_differs"]


def test_a_comparison_has_the_verdicts_of_its_headlines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An order effect that one run has alone moves the difference to both sides; a fair run beside
    its like says how small a difference would have been found. Every surface says the same.
    """
    monkeypatch.chdir(tmp_path)
    for name, model in (("a", "she=0.4"), ("b", "she=0.45,order=0.6"), ("c", "she=0.4,seed=9")):
        api.run("roles", f"planted:{model}", name, language="en", limit=20, samples=8)
    found = api.compare("a", "b", "c")
    reversed_, alike = found.verdicts
    assert reversed_.word == "direction not settled"
    assert {one.code for one in reversed_.cautions} == {"order_reverses"}
    assert alike.word == "no difference found" and alike.reference == 0
    assert alike.detectable and "smallest detectable difference" in alike.sentence
    assert (alike.family_size, alike.adjustment, alike.contrast) == (2, "holm", {"run": "c − a"})
    assert main(["compare", "a", "b", "c", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["verdicts"]
    assert [(one["word"], one["sentence"]) for one in told] == [
        (one.word.value, one.sentence) for one in found.verdicts
    ]
    assert main(["compare", "a", "b", "c"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert reversed_.cautions[0].text in out and "direction not settled: 1 of 2" in out
    assert main(["report", "a", "b", "--out", "both.md"]) == 0
    page = Path("both.md").read_text(encoding="utf-8")
    assert reversed_.cautions[0].text in page and "| ⇅ .4" in page  # b's own, side by side too
    assert alike.sentence in found._repr_html_()
