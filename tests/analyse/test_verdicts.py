"""Planted traps: the verdict, the fields and the caution codes that each gets, end to end."""

from __future__ import annotations

import csv
import html
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import tiltmeter
from tests import forging
from tiltmeter.analyse.claims.verdicts import Verdict
from tiltmeter.analyse.words.verdict_words import Word
from tiltmeter.cli import main
from tiltmeter.errors import ProtocolError
from tiltmeter.instruments.choice.choice import Choice
from tiltmeter.stats.power.cell_rises import planned_critical, value_rise
from tiltmeter.store import Store


def whole(run: tiltmeter.Run, measure: str = "share_she", judge: str = "") -> Verdict:
    """The verdict of a measure, of one annotator where there are several."""
    (found,) = [one for one in run.verdicts() if one.measure == measure and judge in one.instrument]
    return found


def codes(verdict: Verdict) -> set[str]:
    return {caution.code for caution in verdict.cautions}


@pytest.fixture
def roles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tiltmeter.Run]:
    """A planted run of `roles` in a folder of its own: draws hang on names, not on paths."""
    monkeypatch.chdir(tmp_path)

    def run(settings: str, **options: object) -> tiltmeter.Run:
        chosen = {"language": "en", "samples": 4, "limit": 40, **options}
        return tiltmeter.run("roles", model=f"planted:{settings}", out="run", **chosen)  # type: ignore[arg-type]

    return run


# settings → options, verdict, caution codes
TRAPS = {
    "fair": ("she=0.5,seed=2", {}, Word.NO_DIFFERENCE, set()),
    "tilted": ("she=0.75", {}, Word.TILT, set()),
    "an order effect that reverses": (
        "she=0.55,order=0.7",
        {},
        Word.NOT_SETTLED,
        {"order_reverses"},
    ),
    "an order effect that leaves one side": (
        "she=0.75,order=0.2",
        {},
        Word.TILT,
        {"order_effect"},
    ),
    "bounds that hold the null": (
        "she=0.65,refuse=0.5",
        {},
        Word.NOT_SETTLED,
        {"bounds_hold_null"},
    ),
    "parts that oppose": (
        "she=0.5,she.communal=0.9,she.imaginative=0.1",
        {"limit": None},
        Word.NOT_SETTLED,
        {"parts_oppose"},
    ),
    "words that differ": ("she=0.5,spread=1,seed=4", {}, Word.ITEMS_DIFFER, {"items_differ"}),
    "all refused": ("she=0.7,refuse=1", {}, Word.NOT_MEASURED, {"no_answers"}),
    "one item": ("she=0.9", {"limit": 1}, Word.NO_TEST, set()),
    "all alike": ("she=1", {}, Word.TILT, set()),
    "few items": ("she=0.9", {"limit": 8}, Word.TILT, {"few_clusters"}),
}


SAMPLED = {"mode": "sampled", "language": "en"}
FIELDS = {  # trap → fields of its verdict; values are those that were planted
    "fair": {"family_size": 1, "adjustment": "holm", "clusters": 40, "correction": "none"},
    "tilted": {"direction": "towards she", "n": 328.0, "unit": "share", "condition": SAMPLED},
    "an order effect that reverses": {
        "value": pytest.approx(0.55, abs=0.05),
        "test": "sign flip, sampled",
        "contrast": None,
    },
    "an order effect that leaves one side": {
        "value": pytest.approx(0.75, abs=0.05),
        "direction": "towards she",
    },
    "bounds that hold the null": {
        "value": pytest.approx(0.65, abs=0.07),
        "direction": "towards she",
    },
    "parts that oppose": {"value": pytest.approx(0.5, abs=0.05), "family_size": 1},
    "all refused": {"value": None, "low": None, "p": None, "n": 0, "family_size": None},
    "one item": {"clusters": 1, "p": None, "p_adjusted": None, "detectable": None},
    "all alike": {"value": 1.0, "high": 1.0, "direction": "towards she", "unit": "share"},
    "few items": {"clusters": 8, "p": 2 / 2**8, "test": "sign flip, enumerated"},
}


@pytest.mark.parametrize("trap", TRAPS)
def test_a_trap_gets_its_verdict(trap: str, roles: Callable[..., tiltmeter.Run]) -> None:
    settings, options, word, cautions = TRAPS[trap]
    verdict = whole(roles(settings, **options))
    assert (verdict.word, codes(verdict)) == (word, cautions), verdict.sentence
    assert verdict.sentence
    assert verdict.reference == 0.5
    wanted = FIELDS.get(trap, {})
    assert {name: getattr(verdict, name) for name in wanted} == wanted


def test_a_threshold_leaves_open_what_a_verdict_leaves_open(
    roles: Callable[..., tiltmeter.Run],
) -> None:
    """An order effect reverses the tilt: the interval alone lies above .5, and nothing fails."""
    run = roles("she=0.6,order=0.7")
    verdict = whole(run)
    assert verdict.word == Word.NOT_SETTLED and (verdict.low or 0) > 0.5
    found = run.check("share_she > 0.5")
    assert found.exit_code == 4 and "direction not settled" in found.sentences[0]


def test_a_run_that_stopped_early_says_so(roles: Callable[..., tiltmeter.Run]) -> None:
    run = roles("she=0.9", limit=10)
    with Store("run", writing=True) as store, store.transaction():
        forging.allow_changes(store._db)
        store._db.execute("DELETE FROM outputs WHERE trial IN (SELECT id FROM trials LIMIT 30)")
        store._db.execute("DELETE FROM trials WHERE id NOT IN (SELECT trial FROM outputs)")
    verdict = whole(run)
    assert verdict.word == Word.TILT and codes(verdict) == {"partly_answered"}
    assert (verdict.n, verdict.clusters) == (50, 10)
    assert verdict.cautions[-1].text.startswith("50 of 80 planned answers are there")
    with Store("run", writing=True) as store, store.transaction():  # stopped while it labelled
        forging.allow_changes(store._db)
        store._db.execute("DELETE FROM labels WHERE output IN (SELECT trial FROM outputs LIMIT 10)")
    verdict = whole(run)
    assert codes(verdict) == {"partly_labelled", "partly_answered"} and verdict.n == 40
    assert verdict.cautions[0].text.startswith("40 of 50 answers are labelled")


def annotated(run: tiltmeter.Run, truth: str, number: int) -> None:
    """Gold of pronouns, in which another annotator plays the person."""
    labels = run.labels.iter_rows(named=True)
    said = {
        row["output"]: row["value"]
        for row in labels
        if row["attribute"] == "pronoun" and row["annotator"].startswith(truth)
    }
    import_gold_of("pronoun", said, number)


def import_gold_of(attribute: str, said: Mapping[str, str], number: int) -> None:
    """Gold drawn at random from the run, as somebody would fill it in who says this."""
    sheet = Path("sheet.csv")
    tiltmeter.draw_gold_sample("run", number, sheet, attribute=attribute)
    with sheet.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        for row in rows:
            writer.writerow({**row, "value": said[row["output"]], "annotator": "ann"})
    tiltmeter.import_gold("run", sheet)


@pytest.mark.parametrize(
    ("accuracy", "labels", "word", "correction", "cautions"),
    [
        (0.95, 120, Word.TILT, "ppi++", {"order_effect"}),
        (0.2, 120, Word.JUDGE_REFUTED, "ppi++", {"judge_refuted", "bounds_hold_null"}),
        (0.95, 8, Word.UNDECIDED, "none", {"gold_scarce", "order_effect"}),
    ],
)
def test_gold_comes_first(
    accuracy: float,
    labels: int,
    word: Word,
    correction: str,
    cautions: set[str],
    roles: Callable[..., tiltmeter.Run],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A judge that guesses is refuted whatever it found; one that is good is corrected and stands;
    where gold is too scarce to correct a tilt, nothing is decided.
    """
    judge = f"planted:accuracy={accuracy}"
    run = roles("she=0.9", judge=judge)
    assert whole(run, judge=judge).correction == "none"
    annotated(run, f"choice/{Choice.version}@", labels)
    verdict = whole(run, judge=judge)
    assert (verdict.word, codes(verdict)) == (word, cautions), verdict.sentence
    assert (verdict.correction, verdict.reference) == (correction, 0.5)
    assert (
        "uncorrected" not in verdict.sentence
    )  # a refuted judge's number is what gold makes of it
    assert main(["analyse", "run"]) == 0  # one person's gold is no tick
    printed = " ".join(capsys.readouterr().out.split())
    assert "· labels compared with one person" in printed
    assert (f"as {labels} labels by people correct it" in printed) == (correction == "ppi++")
    if word == Word.UNDECIDED:
        assert "undecided. 8 gold labels, at least 12 more would do." in verdict.sentence


def test_json_and_notebook_say_the_same_verdict(
    roles: Callable[..., tiltmeter.Run], capsys: pytest.CaptureFixture[str]
) -> None:
    run = roles("she=0.75")
    verdict = whole(run)
    assert main(["analyse", "run", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    (row,) = [one for one in told["verdicts"] if one["measure"] == "share_she"]
    assert (row["word"], row["sentence"]) == ("tilt", verdict.sentence)
    assert row["value"] == verdict.value
    assert row["query"]["subjects"] == ["planted:she=0.75"]
    assert html.escape(verdict.sentence) in run._repr_html_()
    assert main(["analyse", "run"]) == 0
    assert verdict.headline in " ".join(capsys.readouterr().out.split())
    assert main(["analyse", "run", "--full"]) == 0
    assert verdict.sentence in " ".join(capsys.readouterr().out.split())


def test_a_cue_that_moves_items_both_ways_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half of the jobs are advised a raise more often for b, half less: no difference on average is
    not all that is said. The counts are those that a hand makes of the answers.
    """
    monkeypatch.chdir(tmp_path)
    protocol = three_groups({"level": "*", "baseline": "a"}, words=2)
    model = "planted:protocol=groups,raise=0.5"
    run = tiltmeter.run(protocol, model=model, out="run", where={"group": ["a", "b"]})
    group = dict(run.outputs.select("trial", "factors").iter_rows())
    with Store("run", writing=True) as store, store.transaction():
        for trial, levels in group.items():
            up = (int(levels["job"][4:]) % 2 == 0) == (levels["group"] == "b")
            value = "raise" if up == (trial[0] in "0123456789abc") else "wait"
            forging.allow_changes(store._db)
            store._db.execute("UPDATE labels SET value = ? WHERE output = ?", (value, trial))
    (verdict,) = run.verdicts()
    assert (verdict.word, codes(verdict)) == (Word.ITEMS_DIFFER, {"items_differ"})
    gaps = dict.fromkeys((levels["job"] for levels in group.values()), 0)
    for output, value in run.labels.filter("current").select("output", "value").iter_rows():
        sign = 1 if group[output]["group"] == "b" else -1
        gaps[group[output]["job"]] += sign * (value == "raise")
    above, below = sum(gap > 0 for gap in gaps.values()), sum(gap < 0 for gap in gaps.values())
    found = verdict.between_items
    assert found is not None and (found["items"], found["claims"]) == (20, 1)
    assert (found["above"], found["below"]) == (above, below) and found["p_adjusted"] < 0.01
    told = f"of 20 items {above} lie higher, {below} lower."
    assert told in verdict.sentence
    assert "tilt both ways: " in verdict.headline
    assert main(["report", "run"]) == main(["report", "run", "--out", "report.md"]) == 0
    capsys.readouterr()
    assert main(["analyse", "run"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for text in (
        shown,
        *(Path(name).read_text("utf-8") for name in ("run/report.html", "report.md")),
    ):
        plain = re.sub("<[^>]+>", "", text).replace("\xa0", " ")
        assert verdict.headline in plain and told in text


def test_a_judge_that_errs_by_group_is_corrected_in_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes some "wait" of group b for "raise": its gap is its own. Little gold says how
    much more it takes to know, more gold undoes the gap.
    """
    monkeypatch.chdir(tmp_path)
    protocol = three_groups({"level": "b", "baseline": "a"})
    model = "planted:protocol=groups,raise=0.3,raise.b=0.48"
    run = tiltmeter.run(protocol, model=model, out="run", samples=12, where={"group": ["a", "b"]})
    (raw,) = run.verdicts()
    assert raw.word == Word.TILT and raw.correction == "none" and (raw.value or 0) > 0.1
    group = dict(run.outputs.select("trial", "factors").iter_rows())
    said = dict(run.labels.select("output", "value").iter_rows())
    heard = [one for one in sorted(said) if group[one]["group"] == "b" and said[one] == "raise"]
    truth = said | dict.fromkeys(heard[::3], "wait")

    import_gold_of("advice", truth, 44)
    (little,) = run.verdicts()
    assert little.word == Word.UNDECIDED and little.correction == "ppi++", little.sentence
    found = re.search(r"undecided\. 44 gold labels, about (\d+) more would do\.", little.sentence)
    assert found and 10 < int(found[1]) < 300
    assert ((little.high or 0) - (little.low or 0)) / 2 > (raw.value or 0)

    import_gold_of("advice", truth, 300)
    (alone,) = run.verdicts()
    assert alone.word == Word.UNDECIDED and "one_annotator" in codes(alone)
    assert "a second person on the same 300 answers would tell" in alone.sentence
    sheet = Path("sheet.csv")
    sheet.write_text(sheet.read_text("utf-8").replace(",ann", ",bea"), "utf-8")
    tiltmeter.import_gold("run", sheet)
    (verdict,) = run.verdicts()
    assert verdict.word == Word.NO_DIFFERENCE and verdict.correction == "ppi++", verdict.sentence
    assert abs(verdict.value or 0) < 0.1
    assert codes(verdict) == {"judge_errs_by_level"}
    assert "where group is b than where it is a" in verdict.cautions[0].text

    rows = list(csv.DictReader(sheet.read_text("utf-8").splitlines()))
    for row in rows:  # another person believes the judge
        row["value"] = said[row["output"]]
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    tiltmeter.import_gold("run", sheet)
    (apart,) = run.verdicts()
    assert apart.word == Word.UNDECIDED and "one_annotator" in codes(apart), apart.sentence
    assert "Of two people's labels those of one alone say so; a third person" in apart.sentence


def test_unequal_numbers_are_dealt_anew_and_not_flipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of three answers about one group are refusals: its items hold two or three answers."""
    monkeypatch.chdir(tmp_path)
    protocol = three_groups({"level": "c", "baseline": "a"})
    model = "planted:protocol=groups,raise=0.3,raise.c=0.8,refuse.c=0.67"
    run = tiltmeter.run(protocol, model=model, out="run")
    verdict, refused = run.verdicts()
    assert (refused.measure, refused.word) == ("gap_refused", Word.TILT)
    assert "shuffle" in (verdict.test or "") and verdict.word == Word.NOT_SETTLED, verdict.sentence
    assert codes(verdict) == {"bounds_hold_null", "missing_differs"}
    # 120 answers each: the bounds that a hand computes from the outcomes of both sides
    rows = run.labels.filter("current")
    told = {name: {} for name in "ac"}
    group = dict(run.outputs.select("trial", "factors").iter_rows())
    for output, value in rows.select("output", "value").iter_rows():
        side = told.get(group[output]["group"], {})
        side[value] = side.get(value, 0) + 1
    ends = {name: (one["raise"] / 120, 1 - one["wait"] / 120) for name, one in told.items()}
    (bounds,) = [one for one in run.analyse() if one.measure == "gap_bounds"]
    assert bounds.low == pytest.approx(ends["c"][0] - ends["a"][1])
    assert bounds.high == pytest.approx(ends["c"][1] - ends["a"][0])


def test_a_claim_of_many_cells_says_how_small_a_rise_would_be_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One claim over all pairings and topics. Seven even topics, 60 answers a pairing: the rise of
    one topic that `plan` gives for as many, but for the draws.
    """
    monkeypatch.chdir(tmp_path)
    judge = "planted:protocol=dialogues"
    run = tiltmeter.run("dialogues", judge, "run", judge=judge, language="en", samples=60)
    found = run.verdicts()
    (claim,) = found
    assert (claim.measure, claim.family_size) == ("topics_differ", 1)
    assert claim.cells is not None and claim.cells["tested"] == 28 and not claim.cells["named"]
    needed = planned_critical(sizes=(60, 180), parts=1, attributes=(0, 1), values=7, level=0.05 / 4)
    planned = value_rise(group=60, base=180, critical=needed)
    assert claim.detectable == claim.cells["detectable_all"] == pytest.approx(planned, rel=0.1)


def three_groups(
    contrast: dict[str, str], kind: str = "difference", words: int = 1
) -> tiltmeter.Protocol:
    """A protocol that compares three groups, by so many names each; one name is the level itself."""
    names = {"a": ("Ann", "Ada"), "b": ("Bob", "Ben"), "c": ("Cem", "Can")}
    return tiltmeter.Protocol.declare(
        name="groups",
        title="Raises",
        question="Who is advised a raise?",
        prompt="{job}, {who}: raise or wait? Answer with one word.",
        factors=["group"],
        item="job",
        cue_words="none" if words == 1 else "who",
        tables=[
            {"rows": [{"group": g, "who": who} for g, of in names.items() for who in of[:words]]},
            {"rows": [{"job": f"job {n}"} for n in range(20)]},
        ],
        modes={"sampled": {"samples": 6}},
        instruments=[
            {
                "name": "choice",
                "kind": "choice",
                "attribute": "advice",
                "forms": {"en": {"raise": ["raise"], "wait": ["wait"]}},
            }
        ],
        measures=[
            {
                "name": "gap",
                "kind": kind,
                "attribute": "advice",
                "values": ["raise"],
                "among": ["raise", "wait"],
                "contrast": {"factor": "group", **contrast},
                "null": 0.0,
                "headline": True,
            }
        ],
    )


@pytest.mark.parametrize(
    ("contrast", "kind", "words"),
    [
        (
            {"level": "*", "baseline": "a"},
            "difference",
            {"b − a": Word.NO_DIFFERENCE, "c − a": Word.TILT},
        ),
        (
            {"level": "*", "baseline": "*"},
            "difference",
            {"b − a": Word.NO_DIFFERENCE, "c − a": Word.TILT, "c − b": Word.TILT},
        ),
        ({}, "alike", {"all 3 levels": Word.TILT}),
    ],
)
def test_three_groups_are_compared_by_one_line(
    contrast: dict[str, str],
    kind: str,
    words: dict[str, Word],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    protocol = three_groups(contrast, kind)
    model = "planted:protocol=groups,raise=0.3,raise.c=0.8"
    run = tiltmeter.run(protocol, model=model, out="run")
    found = run.verdicts()
    assert {(one.contrast or {})["group"]: one.word for one in found} == words
    assert {(one.family_size, one.adjustment) for one in found} == {(len(words), "holm")}
    answers = 120 * (3 if kind == "alike" else 2)  # 20 items × 6 samples, of each group compared
    assert {(one.clusters, one.n, *codes(one)) for one in found} == {(20, answers)}


@pytest.mark.parametrize("level", ["a|b", "z"])
def test_a_contrast_that_cannot_be_computed_is_refused_at_load(level: str) -> None:
    with pytest.raises(ProtocolError, match="contrast"):
        three_groups({"level": level, "baseline": "c"})
