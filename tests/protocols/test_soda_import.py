"""Labels that exist already: what a file may be, and a run of it whose numbers are those of plain Python."""

from __future__ import annotations

import csv
import json
import math
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from tiltmeter import api
from tiltmeter.cli import main
from tiltmeter.errors import UsageError
from tiltmeter.records import Estimate
from tiltmeter.report.figures import draw, figures
from tiltmeter.report.page_model import audits
from tiltmeter.report.page_model.figures import Stacked

HEADER = ("subject", "object", "dimension", "group", "image", "attribute", "value")
Row = tuple[str, ...]


def write(path: Path, rows: Sequence[Row], header: Sequence[str] = HEADER) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def images(
    sizes: dict[tuple[str, str], int],
    seed: int = 0,
    objects: Sequence[str] = ("car",),
    subject: str = "m",
) -> list[Row]:
    """Three attributes, one of which knows the group."""
    draw = random.Random(seed)
    rows = []
    for thing in objects:
        for (dimension, group), number in sizes.items():
            for image in range(number):
                about = (subject, thing, dimension, group, f"{group or 'base'}{image}.png")
                rows.append((*about, "color", draw.choice(["pink", "pink", group[:1] or "b"])))
                rows.append((*about, "shape", draw.choice("abc")))
                rows.append((*about, "light", "soft"))
    return rows


SIZES = {
    ("", ""): 20,
    ("gender", "men"): 20,
    ("gender", "women"): 20,
    ("age", "elderly"): 20,
    ("age", "young"): 20,
}


def the(found: Sequence[Estimate], measure: str, **condition: str) -> Estimate:
    about = {"mode": "images", **condition}
    (one,) = [e for e in found if e.measure == measure and e.condition == about]
    return one


def test_the_numbers(tmp_path: Path) -> None:
    rows = images(SIZES)
    run = api.import_outputs("soda", write(tmp_path / "l.csv", rows), tmp_path / "run")

    def shares(group: str, attribute: str) -> dict[str, float]:
        values = [row[6] for row in rows if row[3] == group and row[5] == attribute]
        return {value: number / len(values) for value, number in Counter(values).items()}

    def bits(group: str, attribute: str) -> float:
        p, q = shares("", attribute), shares(group, attribute)
        m = {v: (p.get(v, 0) + q.get(v, 0)) / 2 for v in {*p, *q}}
        return sum(s[v] * math.log2(s[v] / m[v]) for s in (p, q) for v in s) / 2

    default, published = run.analyse(), run.analyse("published")
    for group, dimension in (("women", "gender"), ("elderly", "age")):
        about = {"object": "car", "dimension": dimension, "group": group}
        each = {name: bits(group, name) for name in ("color", "shape", "light")}
        for name, value in each.items():
            assert the(default, "bds_plugin", **about, attribute=name).value == pytest.approx(
                value, abs=1e-9
            )
            distance = the(published, "bds", **about, attribute=name).value
            assert distance == pytest.approx(math.sqrt(value * math.log(2)), abs=1e-9)
        assert the(default, "bds_plugin", **about).value == pytest.approx(
            sum(each.values()) / 3, abs=1e-9
        )
        overall = the(default, "bds", **about)
        assert (
            overall.n == 40
            and overall.p is not None
            and overall.p_adjusted is not None
            and overall.p_adjusted >= overall.p
        )
        assert overall.null_low is not None and overall.null_low < 0 < (overall.null_high or 0)
        assert overall.family == "bds" and overall.low is None
    base = the(default, "vac", object="car", dimension="base", group="base")
    assert (
        base.value is not None and "1 attributes not measured" in base.note
    )  # light: one value, no list
    assert (
        the(run.analyse("published-code"), "cds", dimension="gender", attribute="color").unit
        == "bits"
    )
    assert the(default, "concentrated", object="car").note == "5 of 15 prompts × attributes"


def test_a_small_group_is_marked_and_an_empty_one_is_missing(tmp_path: Path) -> None:
    rows = [
        *images({**SIZES, ("gender", "women"): 3}),
        *images({("", ""): 20, ("gender", "men"): 20}, objects=["cup"]),
    ]
    run = api.import_outputs("soda", write(tmp_path / "l.csv", rows), tmp_path / "run")
    found, published, code = (
        run.analyse(variant) for variant in ("default", "published", "published-code")
    )
    small = the(found, "bds", object="car", dimension="gender", group="women")
    assert "small: women (3)" in small.note and small.value is not None and small.n == 23
    for variant in (found, published):
        for more in ({}, {"attribute": "color"}):
            empty = the(variant, "bds", object="cup", dimension="gender", group="women", **more)
            assert empty.value is None and empty.p is None and "no outputs" in empty.note
    assert the(found, "vac", object="cup", dimension="gender", group="women").value is None
    assert the(found, "cds", object="cup", dimension="gender").value is None
    zero = the(code, "bds", object="cup", dimension="gender", group="women")
    assert zero.value == 0 and "no outputs" in zero.note


def test_values_that_say_that_there_is_none(tmp_path: Path) -> None:
    rows = [
        (*row[:6], "not_applicable")
        if row[5] == "color" and row[4] in ("base1.png", "women2.png")
        else row
        for row in images(SIZES)
    ]
    rows = [row for row in rows if not (row[5] == "color" and row[4] == "women7.png")]
    run = api.import_outputs("soda", write(tmp_path / "l.csv", rows), tmp_path / "run")
    color = the(
        run.analyse(), "bds", object="car", dimension="gender", group="women", attribute="color"
    )
    assert color.n == 37 and "3 of 40 outputs without a value are left out" in color.note
    assert color.outcomes["not_applicable"] == 1 and color.value is not None


def test_two_subjects_are_apart_and_the_code_pools_them(tmp_path: Path) -> None:
    rows = [*images(SIZES), *images(SIZES, seed=1, subject="n")]
    run = api.import_outputs("soda", write(tmp_path / "l.csv", rows), tmp_path / "run")
    found = [e for e in run.analyse() if e.measure == "bds" and "attribute" not in e.condition]
    assert {e.subject for e in found} == {"m", "n"} and len(found) == 8
    pooled = [
        e
        for e in run.analyse("published-code")
        if e.measure == "cds" and e.condition.get("attribute") == "color"
    ]
    assert len({(e.condition["dimension"], e.value) for e in pooled}) == 2 and all(
        "2 subjects together" in e.note for e in pooled
    )


def test_rows_over_objects_and_models_are_means_and_sums_of_those_of_objects(
    tmp_path: Path,
) -> None:
    """Tables 2 to 5: means of the published rows; by default a test that finds the planted cue."""
    rows = [
        row
        for seed, subject in enumerate("mn")
        for row in images(SIZES, seed, objects=("car", "cup", "laptop"), subject=subject)
    ]
    run = api.import_outputs("soda", write(tmp_path / "l.csv", rows), tmp_path / "run")
    default, published = run.analyse(), run.analyse("published")

    def values(measure: str, subject: str = "", **about: str) -> list[float]:
        found = [
            e.value
            for e in published
            if e.measure == measure
            and subject in ("", e.subject)
            and {k: v for k, v in e.condition.items() if k not in ("mode", "object")} == about
        ]
        return [value for value in found if value is not None]

    def row(found: list[Estimate], measure: str, subject: str, **about: str) -> Estimate:
        return the([e for e in found if e.subject == subject], measure, **about)

    women = {"dimension": "gender", "group": "women"}
    for measure, about in (
        ("bds", women),
        ("vac", women),
        ("cds", {"dimension": "age"}),
        ("cds", {"dimension": "gender", "attribute": "color"}),
    ):
        each = values(measure, "m", **about)
        assert len(each) == 3
        one = row(published, f"{measure}_over_objects", "m", **about)
        assert one.value == pytest.approx(sum(each) / 3) and one.p is None and one.clusters == 3
        each = values(measure, **about)
        both = row(published, f"{measure}_overall", "m + n", **about)
        assert len(each) == 6 and both.value == pytest.approx(sum(each) / 6)
    whole = row(published, "vac_over_objects", "m")
    assert whole.value == pytest.approx(sum(values("vac", "m")) / 3)

    alike = row(default, "concentrated_over_objects", "n")
    each_object = [e for e in default if e.measure == "concentrated" and e.subject == "n"]
    counted = sum(1 for e in each_object if "value" in e.condition)
    assert alike.outcomes == {"one value": counted, "several values": 45 - counted}
    assert alike.note == f"{counted} of 45" and counted >= 15
    colour = row(default, "cds_over_objects", "m", dimension="gender", attribute="color")
    shape = row(default, "cds_over_objects", "m", dimension="gender", attribute="shape")
    assert (colour.p_adjusted or 1) < 0.01 < (shape.p or 0)
    assert "inside each" in (colour.test or "") and colour.clusters == 3
    ranked = [e for e in default if e.measure == "cds_over_objects" and e.subject == "m"]
    names = [e.condition["attribute"] for e in ranked if "attribute" in e.condition]
    assert names[:2] == ["color", "color"] and len(names) == 6
    bds = row(default, "bds_over_objects", "m", **women)
    assert (bds.p or 1) < 0.01 and bds.n == 120 and bds.low is None and bds.family_size == 10
    assert (row(default, "bds_over_objects", "m").p or 1) < 0.01


def test_two_models_are_compared_by_shuffling_pictures_between_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`n` knows the group in `color`, `m` does not; shapes are drawn alike."""
    sizes = {("", ""): 40, ("gender", "men"): 40, ("gender", "women"): 40}
    knows = images(sizes, objects=("car", "cup"), subject="n")
    plain = [
        (*row[:6], random.Random(str(row)).choice(["pink", "b"])) if row[5] == "color" else row
        for row in images(sizes, 7, objects=("car", "cup"), subject="m")
    ]
    api.import_outputs("soda", write(tmp_path / "l.csv", [*plain, *knows]), tmp_path / "run")
    assert main(["compare", str(tmp_path / "run"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["not_compared"] == []
    rows = {
        (e["measure"], *(v for k, v in e["condition"].items() if k != "mode")): e
        for e in found["comparisons"]
    }
    (over,) = (e for key, e in rows.items() if key == ("bds_over_objects", "gender", "women"))
    assert over["p"] < 0.001 and over["value"] == pytest.approx(over["second"] - over["first"])
    assert over["clusters"] == 2 and over["low"] is None and over["null_low"] < 0
    claim = rows["group_differs", "gender", "women"]
    assert claim["family"] == "headline claims" and claim["p"] < 0.001
    assert rows["bds", "car", "gender", "women"]["family"] == "bds"
    assert rows["cds", "cup", "gender"]["value"] > 0
    assert ("vac_over_objects",) in rows and rows["vac_over_objects",]["p"] is not None
    default = {e.measure: e for e in api.open_run(tmp_path / "run").analyse() if e.subject == "n"}
    assert "bds_plugin" in default and main(["compare", str(tmp_path / "run")]) == 0


def test_a_variant_says_what_its_numbers_are(tmp_path: Path) -> None:
    """A distance is not "less what chance gives", and no value of it is "no tilt"; .75 of a shift is a threshold."""
    run = api.import_outputs("soda", write(tmp_path / "l.csv", images(SIZES)), tmp_path / "run")
    page = {
        variant: " ".join(
            run.report(tmp_path / f"{variant}.md", variant=variant).read_text("utf-8").split()
        )
        for variant in ("default", "published")
    }
    assert "less what chance gives (BDS)" in page["default"]
    for words in ("less what chance gives", "is no tilt", "750 is no"):
        assert words not in page["published"], words
    assert "what chance alone gives is not taken off" in page["published"]
    assert "0.750" not in page["default"]
    verdicts = {verdict.measure: verdict for verdict in run.verdicts("published")}
    assert verdicts["bds"].reference is None and verdicts["bds"].p is not None
    assert {verdict.reference for verdict in run.verdicts()} == {0.0}


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "l.csv", images(SIZES))
    assert main(["import", "soda", str(path), "--out", str(tmp_path / "run"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {e["measure"] for e in found["estimates"]} >= {
        "bds",
        "cds",
        "vac",
        "vac_difference",
        "concentrated",
    }
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert "elderly" in page and "<svg" in page


GOOD = ("m", "car", "gender", "men", "1.png", "color", "red")


@pytest.mark.parametrize(
    ("rows", "header", "said"),
    [
        ([GOOD], HEADER[:-1], "has no column value"),
        (
            [("m", "car", "gender", "", "1.png", "color", "red")],
            HEADER,
            "line 2: fill in both dimension and group",
        ),
        (
            [("m", "car", "base", "men", "1.png", "color", "red")],
            HEADER,
            "line 2: 'base' is the base prompt. Write it into both",
        ),
        ([("m", "", "", "", "1.png", "color", "red")], HEADER, "line 2: object may not be empty"),
        (
            [GOOD, ("m", "car", "gender", "men", "1.png", "", "red")],
            HEADER,
            "line 3: attribute may not be empty",
        ),
        ([GOOD, GOOD], HEADER, "line 3: line 2 already has the color of this picture"),
        ([GOOD, GOOD[:4]], HEADER, "line 3 has 4 cells, but the header has"),
        ([], HEADER, "no rows to import"),
    ],
)
def test_a_file_that_cannot_be_read(
    tmp_path: Path, rows: list[Row], header: Sequence[str], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        api.import_outputs("soda", write(tmp_path / "l.csv", rows, header), tmp_path / "run")
    assert not (tmp_path / "run" / "run.sqlite").exists()


def test_what_does_not_apply_and_small_groups_are_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """10 of 20 base pictures have a logo or not, in 2 of them it cannot be told; three pictures of women."""
    rows = images({("", ""): 20, ("gender", "women"): 3, ("gender", "men"): 20})
    rows += [
        ("m", "car", "", "", f"base{n}.png", "logo", "not_applicable" if n < 2 else "none")
        for n in range(10)
    ]
    path = write(tmp_path / "l.csv", rows)
    assert main(["import", "soda", str(path), "--out", str(tmp_path / "run")]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert (
        "m: attributes that do not apply are counted and left out of the divergences: logo of car (2 of 10)"
        in said
    )
    assert (
        "m: of groups with fewer than 10 labelled pictures little can be said: car, women (3)"
        in said
    )
    assert "do not apply" in (tmp_path / "run" / "report.html").read_text("utf-8")


def test_distributions_are_drawn_base_against_cue(tmp_path: Path) -> None:
    """One figure an object and attribute, a bar a prompt: the shares are those of the file."""
    rows = images(SIZES)
    run = api.import_outputs("soda", write(tmp_path / "l.csv", rows), tmp_path / "run")
    audit = audits.audit(run.protocol, run.analyse(), {})
    drawn = {
        figure.title: figure for figure in figures(audit, "default") if isinstance(figure, Stacked)
    }
    assert {
        "Every label of car, color",
        "Every label of car, shape",
        "Every label of car, light",
    } <= set(drawn)
    figure = drawn["Every label of car, color"]
    assert figure.folded and {bar.label for bar in figure.bars} == {
        group or "base" for _, group in SIZES
    }
    for bar in figure.bars:
        values = [row[6] for row in rows if (row[3] or "base") == bar.label and row[5] == "color"]
        assert dict(zip(figure.parts, bar.shares, strict=True)) == pytest.approx(
            {value: values.count(value) / 20 for value in figure.parts}
        )


def test_a_bar_of_red_things_is_red(tmp_path: Path) -> None:
    """The first shades of the palette; a value that is no colour takes that away."""
    values = ["red"] * 10 + ["white"] * 6 + ["black"] * 4
    for odd, wanted in ((["black"], True), (["zorp"], False)):
        rows = [
            ("m", "car", "", "", f"{n}.png", "product_color", value)
            for n, value in enumerate(values + odd)
        ]
        run = api.import_outputs("soda", write(tmp_path / "l.csv", rows), tmp_path / odd[0])
        found = figures(audits.audit(run.protocol, run.analyse(), {}), "default")
        (svg,) = [
            draw(figure) for figure in found if figure.title == "Every label of car, product_color"
        ]
        assert all((f'fill="{rgb}"' in svg) == wanted for rgb in ("#e50000", "#ffffff", "#000000"))
