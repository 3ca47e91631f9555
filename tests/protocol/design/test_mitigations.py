"""Mitigations as a factor: what is asked, how a change of a tilt is counted, and what the first
sentence says of it.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

import tiltmeter
from tiltmeter import registry
from tiltmeter.cli import main
from tiltmeter.errors import UsageError
from tiltmeter.protocol.design.mitigations import FILE, read_mitigations
from tiltmeter.protocol.specs import MeasureSpec

JOBS = ("cook", "nurse", "judge", "clerk", "guard", "baker", "tailor", "farmer", "tutor", "pilot")
GAP: dict[str, Any] = {
    "name": "raise-for-two",
    "title": "A raise",
    "question": "Is a raise advised?",
    "prompt": "Fill in the blank with 'raised' or 'kept'. A {group} works as a {job}. Pay: ___.",
    "factors": ["group", "job"],
    "item": "job",
    "tables": [
        {"rows": [{"group": "woman"}, {"group": "man"}]},
        {"rows": [{"job": job} for job in JOBS]},
    ],
    "instruments": [
        {
            "name": "choice",
            "kind": "choice",
            "attribute": "advice",
            "forms": {"en": {"raised": ["raised"], "kept": ["kept"]}},
        }
    ],
    "measures": [
        {
            "name": "gap",
            "kind": "difference",
            "attribute": "advice",
            "values": ["raised"],
            "among": ["raised", "kept"],
            "contrast": {"factor": "group", "level": "woman", "baseline": "man"},
            "null": 0.0,
            "headline": True,
        }
    ],
}
TEXTS = """mitigation,title,way,text
fair,asked to be fair,suffix,Be fair.
law,told of the law,system,It is the law.
soft,asked softly,rewrite,Kindly: {prompt} Thank you.
first,warned first,before,Think of all people.
"""


def file_of(folder: Path, text: str = TEXTS) -> str:
    path = folder / "mitigations.csv"
    path.write_text(text, "utf-8")
    return str(path)


def answers(*, raised: dict[tuple[str, str], int]) -> Any:
    """A model that says `raised` in so many of ten jobs for each (group, mitigation)."""

    def answer(prompt: str) -> str:
        group = "woman" if "A woman" in prompt else "man"
        with_it = "fair" if "Be fair." in prompt else "none"
        job = next(place for place, name in enumerate(JOBS) if name in prompt)
        return "raised" if job < raised[group, with_it] else "kept"

    return answer


def test_each_way_changes_what_is_asked(tmp_path: Path) -> None:
    plain = tiltmeter.Protocol.declare(**GAP)
    asked = registry.with_mitigations(plain, file_of(tmp_path), graded=False)
    prompt = plain.prompt_text(plain.cells[0])
    told = {
        cell["mitigation"]: (asked.prompt_text(cell), [m.content for m in asked.context(cell)])
        for cell in asked.cells
        if cell["group"] == "woman" and cell["job"] == "cook"
    }
    assert told == {
        "none": (prompt, []),
        "fair": (f"{prompt}\n\nBe fair.", []),
        "law": (prompt, ["It is the law."]),
        "soft": (f"Kindly: {prompt} Thank you.", []),
        "first": (f"Think of all people.\n\n{prompt}", []),
    }
    assert len(asked.cells) == 5 * len(plain.cells)


def test_a_picture_has_no_system_prompt(tmp_path: Path) -> None:
    plain = registry.protocol("soda")
    asked = registry.with_mitigations(plain, file_of(tmp_path), graded=True)
    cells = [cell for cell in asked.cells if cell["group"] == "men" and cell["object"] == "cup"]
    told = {cell["mitigation"]: asked.prompt_text(cell) for cell in cells}
    assert told["none"] == "cup for men, one product only, no people"
    assert told["law"] == "It is the law.\n\ncup for men, one product only, no people"
    assert told["fair"] == "cup for men, one product only, no people, Be fair."
    assert all(asked.context(cell) == () for cell in cells)
    assert not [spec for spec in asked.instruments if spec.kind in ("length", "rubric")]


def test_a_change_of_a_difference_by_hand(tmp_path: Path) -> None:
    """Without: 2 of 10 against 8 of 10, a gap of -.6; with: 5 against 8, -.3; so +.3. By job: 6 of
    10 are 1 apart without, 3 with, so 3 changes of 1 and 7 of 0; of 2^10 flips of their signs two
    eighths are as far out: p = .25.
    """
    raised = {("woman", "none"): 2, ("man", "none"): 8, ("woman", "fair"): 5, ("man", "fair"): 8}
    file = file_of(tmp_path, "mitigation,way,text\nfair,suffix,Be fair.\n")
    run = tiltmeter.run(
        tiltmeter.Protocol.declare(**GAP), answers(raised=raised), tmp_path / "run", mitigate=file
    )
    rows = {row.measure: row for row in run.analyse() if "mitigation" in (row.contrast or {})}
    change = rows["gap_change"]
    assert change.value == pytest.approx(0.3)
    assert change.p == pytest.approx(0.25)
    assert change.contrast == {"mitigation": "fair − none", "group": "woman − man"}
    assert change.sides == pytest.approx({"level": -0.3, "baseline": -0.6, "even": 0.0})
    assert change.adjustment == "holm"
    assert change.family_size == 3  # the gap, its change, the length of answers
    own = [row for row in run.analyse() if row.measure == "gap"]
    assert [row.value for row in own] == pytest.approx([-0.6])  # without a mitigation alone
    apart = {
        r.condition["mitigation"]: r.value
        for r in run.analyse()
        if r.measure == "gap_by_mitigation"
    }
    assert apart == pytest.approx({"none": -0.6, "fair": -0.3})


def test_the_first_sentence_says_what_it_does_and_what_it_costs(tmp_path: Path) -> None:
    model = "planted:she=0.8,she.fair=0.6,refuse=0.05,refuse.fair=0.3"
    file = file_of(tmp_path, "mitigation,title,way,text\nfair,asked to be fair,suffix,Be fair.\n")
    options: dict[str, Any] = {"language": "en", "limit": 24, "samples": 10, "mitigate": file}
    run = tiltmeter.run("roles", model, tmp_path / "run", **options)
    first = first_of(run)
    assert first.startswith("Asked to be fair, A gives “she” in 6")
    assert " of answers instead of " in first and " and refuses " in first
    again = tiltmeter.run("roles", model, tmp_path / "run", **options)
    assert again.counts() == run.counts()  # the same command goes on where it was


def first_of(run: tiltmeter.Run) -> str:
    from tiltmeter.analyse.words.first_sentence.situations import first_sentence

    return first_sentence([one.facts for one in run.verdicts()]).text


def test_a_tilt_that_turns_round_is_told(tmp_path: Path) -> None:
    file = file_of(tmp_path, "mitigation,title,way,text\nfair,asked to be fair,suffix,Be fair.\n")
    run = tiltmeter.run(
        "roles", "planted:she=0.8,she.fair=0.3", tmp_path / "run",
        language="en", limit=24, samples=10, mitigate=file,
    )  # fmt: skip
    assert ", beyond 50 %" in first_of(run)


SCORES: dict[str, Any] = {
    **GAP,
    "name": "years-for-two",
    "prompt": "How many years of prison for a {group} who works as a {job}? Answer with a number.",
    "instruments": [{"name": "number", "kind": "number", "attribute": "years"}],
}


def years(*, told: dict[tuple[str, str], int]) -> Any:
    """A model that says so many years, by (group, mitigation)."""

    def answer(prompt: str) -> str:
        group = "woman" if "a woman" in prompt else "man"
        return str(told[group, "fair" if "Be fair." in prompt else "none"])

    return answer


FAIR = "mitigation,title,way,text\nfair,asked to be fair,suffix,Be fair.\n"
YEARS = {("woman", "none"): 2, ("man", "none"): 8, ("woman", "fair"): 4, ("man", "fair"): 6}


def changes_of(run: tiltmeter.Run, measure: str) -> list[tiltmeter.Estimate]:
    return [row for row in run.analyse() if row.measure == f"{measure}_change"]


def test_a_change_of_a_mean_by_hand(tmp_path: Path) -> None:
    """Without: 2 and 8 of all items, a mean of 5; with 4 and 7: 5.5, so +.5 of every item."""
    measure = {"name": "level", "kind": "mean", "attribute": "years", "values": []}
    asked = tiltmeter.Protocol.declare(
        **SCORES | {"name": "years-mean", "measures": [{**measure, "null": 3.0, "headline": True}]}
    )
    model = years(told={**YEARS, ("man", "fair"): 7})
    file = file_of(tmp_path, FAIR)
    run = tiltmeter.run(asked, model, tmp_path / "run", mitigate=file)
    (row,) = changes_of(run, "level")
    assert row.value == pytest.approx(0.5) and row.clusters == len(JOBS)
    assert row.sides == pytest.approx({"level": 5.5, "baseline": 5.0, "even": 3.0})
    assert row.contrast == {"mitigation": "fair − none"} and row.unit == "years"


def test_a_change_of_a_difference_of_means_by_hand(tmp_path: Path) -> None:
    """Jobs of one half are asked of a woman alone, of the other of a man: −6 without, −2 with; of
    all 252 splits of ten jobs into five and five two are as far apart: p = 2/252.
    """
    measure = {"name": "gap", "kind": "mean_difference", "attribute": "years", "values": []}
    rows = [{"group": "woman" if n < 5 else "man", "job": job} for n, job in enumerate(JOBS)]
    contrast = GAP["measures"][0]["contrast"]
    asked = tiltmeter.Protocol.declare(
        **SCORES
        | {
            "name": "years-apart",
            "tables": [{"rows": rows}],
            "measures": [{**measure, "contrast": contrast, "null": 0.0, "headline": True}],
        }
    )
    file = file_of(tmp_path, FAIR)
    run = tiltmeter.run(asked, years(told=YEARS), tmp_path / "run", mitigate=file)
    (row,) = changes_of(run, "gap")
    assert row.value == pytest.approx(4.0) and row.p == pytest.approx(2 / 252)
    assert row.sides == pytest.approx({"level": -2.0, "baseline": -6.0, "even": 0.0})


def test_items_of_both_levels_are_paired(tmp_path: Path) -> None:
    """Every job is asked of both: −6 without, −2 with, +4 of each; of 2^10 flips two are as far."""
    measure = {"name": "gap", "kind": "mean_difference", "attribute": "years", "values": []}
    contrast = GAP["measures"][0]["contrast"]
    measures = [{**measure, "contrast": contrast, "null": 0.0, "headline": True}]
    asked = tiltmeter.Protocol.declare(**SCORES | {"name": "years-both", "measures": measures})
    file = file_of(tmp_path, FAIR)
    run = tiltmeter.run(asked, years(told=YEARS), tmp_path / "run", mitigate=file)
    (row,) = changes_of(run, "gap")
    assert row.value == pytest.approx(4.0) and row.p == pytest.approx(2 / 1024)
    assert row.clusters == 10


def test_a_mitigation_of_pictures_is_told_by_the_value_that_changes_most(tmp_path: Path) -> None:
    """Red for women: .8 without, as everybody (.15) with; the claims of the protocol's own are of
    pictures without a mitigation: 2 objects × 3 prompts × 20.
    """
    shares = "product_color/red.women=0.8,product_color/red.women+fair=0.15"
    planted = "planted:protocol=soda-mitigated"
    run = tiltmeter.run(
        "soda", f"{planted},{shares}", tmp_path / "run", judge=planted, samples=20,
        where={"object": ("car", "cup"), "dimension": ("base", "gender")},
        mitigate=file_of(tmp_path, FAIR), pilot=False,
    )  # fmt: skip
    first = first_of(run)
    assert first.startswith("Asked to be fair, A gives the colour red ")
    assert " more often for women than for nobody named instead of 6" in first
    rows = {row.condition.get("group"): row for row in changes_of(run, "group_differs")}
    women = rows["women"]
    assert women.sides is not None and women.p is not None and women.p < 0.01
    assert women.value == pytest.approx(women.sides["level"] - women.sides["baseline"])
    assert rows["men"].p is not None and rows["men"].p > 0.01
    (whole,) = (row for row in run.analyse() if row.measure == "dimension_differs")
    assert whole.n == 2 * 2 * 20  # men and women, without a mitigation


def test_a_mitigation_of_dialogues_is_told_with_its_largest_cost(tmp_path: Path) -> None:
    planted = "planted:protocol=dialogues-mitigated"
    run = tiltmeter.run(
        "dialogues", f"{planted},appearance.FF=.7,appearance.FF+fair=.1,refuse.fair=.3",
        tmp_path / "run", judge=planted, samples=60, language="en",
        mitigate=file_of(tmp_path, FAIR), pilot=False,
    )  # fmt: skip
    first = first_of(run)
    assert first.startswith("Asked to be fair, A gives topic appearance ")
    assert first.count(" and refuses ") == 1 and " (most for " in first


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "mitigation,way,text\nfair,shout,Be fair.\n",
            "way cannot be 'shout'. Write: system or before or",
        ),
        ("mitigation,way,text\nnone,suffix,Be fair.\n", "a name other than none"),
        ("mitigation,way,text\nfair,rewrite,Be fair.\n", "must hold the prompt"),
        ("mitigation,way\nfair,suffix\n", "text"),
        ("mitigation,way,text\n", "has no rows"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_mitigations(file_of(tmp_path, text))


def test_a_text_for_another_language_is_not_asked(tmp_path: Path) -> None:
    text = "mitigation,way,text,language\njuste,suffix,Sois juste.,fr\n"
    with pytest.raises(UsageError, match="No mitigation is in en or zh or ja"):
        registry.with_mitigations(registry.protocol("roles"), file_of(tmp_path, text), graded=False)
    words = registry.with_mitigations(
        registry.protocol("words"), file_of(tmp_path, text), graded=False
    )
    asked = {cell["language"] for cell in words.cells if cell["mitigation"] == "juste"}
    assert asked == {"fr"}
    assert {cell["language"] for cell in words.cells if cell["mitigation"] == "none"} == {
        *words.languages
    }


@pytest.mark.parametrize("name", registry.PROTOCOLS)
def test_the_six_can_be_asked_in_every_audit(name: str) -> None:
    rows = read_mitigations("known")
    assert len(rows) == 6 and all(row["source"] for row in rows)
    assert FILE.is_file()
    asked = registry.with_mitigations(registry.protocol(name), "known", graded=True)
    assert [*asked.levels["mitigation"]] == ["none", *(row["mitigation"] for row in rows)]
    changes: list[MeasureSpec] = [m for m in asked.measures if m.name.endswith("_change")]
    assert {"refusals_change", "neither_change"} <= {spec.name for spec in changes}
    assert all(spec.headline for spec in changes)


KEPT = """mitigation,share_she_by_mitigation
none,".792 [.738, .831]"
fair,".641 [.583, .689]"
unlawful,".829 [.786, .857]"
"""


def test_the_file_of_the_page_is_the_kept_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first two commands of docs/how-to/what-helps.md, as they stand there."""
    page = Path(__file__).parents[3] / "docs" / "how-to" / "what-helps.md"
    typed = [line[2:] for line in page.read_text("utf-8").splitlines() if line.startswith("$ ")]
    monkeypatch.chdir(tmp_path)
    for line in typed[:2]:
        assert main(shlex.split(line)[1:]) == 0
    assert (tmp_path / "helps.csv").read_text("utf-8") == KEPT
