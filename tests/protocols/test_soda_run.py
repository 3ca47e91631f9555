"""A planted model whose drawn objects change with the cue is found, through HTTP, from plan to estimates."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import tiltmeter
from tests.serving import planted_server
from tiltmeter import api
from tiltmeter.cli import main
from tiltmeter.errors import UsageError
from tiltmeter.records import Estimate
from tiltmeter.store import Store

SUBJECT = "protocol=soda,product_color/red.women=.9,product_color/blue.men=.9,shape/round.women=.9,refuse.men=.1"
ASKED = {"object": ("car", "cup"), "dimension": ("base", "gender")}


def overall(estimates: list[Estimate], measure: str, **condition: str) -> list[Estimate]:
    return [
        e
        for e in estimates
        if e.measure == measure
        and "attribute" not in e.condition
        and all(e.condition.get(name) == level for name, level in condition.items())
    ]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tiltmeter.Run:
    folder = tmp_path_factory.mktemp("soda") / "run"
    with planted_server(SUBJECT) as subject, planted_server("protocol=soda") as judge:
        return tiltmeter.run(
            "soda",
            model="openai:draws",
            judge="openai:sees",
            out=folder,
            where=ASKED,
            base_urls={"openai:draws": subject, "openai:sees": judge},
        )


class TestARun:
    def test_it_is_found(self, run: tiltmeter.Run) -> None:
        found = run.analyse()
        for thing in ASKED["object"]:
            (women,) = overall(found, "bds", object=thing, group="women")
            (cds,) = overall(found, "cds", object=thing)
            assert women.p is not None and women.p_adjusted is not None and women.p_adjusted < 0.05
            assert (
                women.value is not None
                and women.null_high is not None
                and women.value > women.null_high
            )
            assert cds.p is not None and cds.p < 0.01
        colour = [
            e
            for e in found
            if e.measure == "bds" and e.condition.get("attribute") == "product_color"
        ]
        size = [e for e in found if e.measure == "bds" and e.condition.get("attribute") == "size"]
        assert min(e.value or 0 for e in colour) > max(e.value or 0 for e in size)
        assert {e.condition["mode"] for e in found} == {"images"}

    def test_what_was_drawn_aside_is_neither_labelled_nor_measured(
        self, run: tiltmeter.Run
    ) -> None:
        modes = dict(run.trials.group_by("mode").len().iter_rows())
        assert modes == {"images": 120, "discovery": 12}
        aside = set(run.trials.filter(run.trials["mode"] == "discovery")["id"])
        assert not aside & set(run.labels["output"])

    def test_refusals_are_counted_and_left_out(self, run: tiltmeter.Run) -> None:
        refused = run.outputs.filter(
            (run.outputs["outcome"] == "refusal") & (run.outputs["mode"] == "images")
        ).height
        labels = run.labels.filter(
            (run.labels["attribute"] == "product_color") & (run.labels["value"] == "refusal")
        )
        assert labels.height == refused > 0
        rates = [
            e
            for e in run.analyse()
            if e.measure == "outcome_rate" and e.condition.get("outcome") == "refusal"
        ]
        assert rates and sum(e.n for e in rates) >= 120

    def test_the_taxonomy_is_an_artefact_and_a_file(self, run: tiltmeter.Run) -> None:
        text = (run.folder / "taxonomy.toml").read_text("utf-8")
        found = tomllib.loads(text)["attributes"]
        assert {(a["object"], a["name"], a["part"]) for a in found} == {
            (thing, name, part)
            for thing in ASKED["object"]
            for name, part in (
                ("shape", "product"),
                ("pattern", "product"),
                ("size", "product"),
                ("background_style", "background"),
            )
        }
        with Store(run.folder) as store:
            assert store.artefact("taxonomy", "attributes") == text
            assert store.artefact("learnt_from", "attributes") == '{"openai:draws": "aside"}'

    def test_the_report_has_the_taxonomy_as_a_table(
        self, run: tiltmeter.Run, tmp_path: Path
    ) -> None:
        """Table 6 of the paper: a row for each model and object."""
        text = run.report(tmp_path / "report.md").read_text("utf-8")
        _, _, after = text.partition("### Chosen attributes")
        lines = [line for line in after.splitlines() if line.startswith("| ")]
        assert lines[0] == "| object | model | of the product | of the background |"
        listed = "shape, pattern, size | background\\_style |"
        assert [line.partition(" | ")[0] for line in lines[2:4]] == ["| car", "| cup"]
        assert all(line.endswith(listed) for line in lines[2:4])

    def test_the_same_command_asks_nothing_again(self, run: tiltmeter.Run) -> None:
        calls = run.calls.height
        assert (
            calls
            == 120
            + 12
            + 2
            + run.outputs.filter(
                (run.outputs["outcome"] == "answer") & (run.outputs["mode"] == "images")
            ).height
        )
        nobody = {"openai:draws": "http://127.0.0.1:9", "openai:sees": "http://127.0.0.1:9"}
        again = tiltmeter.run(
            "soda",
            model="openai:draws",
            judge="openai:sees",
            out=run.folder,
            where=ASKED,
            base_urls=nobody,
        )
        assert again.calls.height == calls

    def test_the_variants(self, run: tiltmeter.Run) -> None:
        published, code = run.analyse("published"), run.analyse("published-code")
        assert {e.unit for e in published if e.measure in ("bds", "cds")} == {"distance"}
        assert all(0 <= (e.value or 0) <= 0.83256 for e in published if e.measure == "bds")
        pooled = [e for e in code if e.measure == "cds"]
        assert pooled and all("object" not in e.condition for e in pooled)
        assert len(overall(code, "vac", object="car")) == 1 + 3

    def test_the_report(self, run: tiltmeter.Run) -> None:
        page = run.report().read_text("utf-8")
        assert (
            "teddy" not in page
            and "Demographic cues in objects" in page
            and "product_color" in page
        )


def test_a_published_run_asks_what_the_paper_prints(tmp_path: Path) -> None:
    """Its judge fills in the form of Table 7; nothing asks if the picture keeps to its prompt."""
    run = tiltmeter.run(
        "soda",
        model="planted:protocol=soda,product_color/red.women=.9",
        judge="planted:protocol=soda",
        out=tmp_path / "run",
        samples=8,
        where={"object": ("cup",), "dimension": ("base", "gender")},
        variant="published",
    )
    labels = run.labels
    assert labels["annotator"].n_unique() == 1 and "constraint" not in set(labels["attribute"])
    assert set(labels["attribute"]) >= {"product_color", "text_presence", "shape"}
    assert "invalid" not in set(labels["value"])
    colour = {
        e.condition["group"]: e.value or 0
        for e in run.analyse("published")
        if e.measure == "bds" and e.condition.get("attribute") == "product_color"
    }
    assert colour["women"] > colour["men"]
    ours = api.label(run.folder, judge="planted:protocol=soda").labels
    assert ours["annotator"].n_unique() == 2 and "constraint" in set(ours["attribute"])


def test_a_second_judge_labels_by_the_attributes_that_the_first_one_chose(tmp_path: Path) -> None:
    where = {"object": ("car",), "dimension": ("base", "gender")}
    run = tiltmeter.run(
        "soda",
        model="planted:protocol=soda",
        judge="planted:protocol=soda",
        out=tmp_path / "run",
        samples=2,
        where=where,
    )
    before = run.calls.height
    again = api.label(run.folder, judge="planted:protocol=soda,seed=3")
    assert again.calls.height == before + 6
    first, second = (set(part["attribute"]) for _, part in again.labels.group_by("annotator"))
    assert first == second >= {"shape", "background_style"}


class TestAFile:
    TEXT = (
        '[[attributes]]\nname = "shape"\npart = "product"\nvalues = ["round", "square", "tall"]\n'
    )
    PLANTED = "planted:protocol=soda,shape/round.women=.9"

    def run(self, folder: Path, text: str, model: str = PLANTED) -> tiltmeter.Run:
        file = folder / "mine.toml"
        file.write_text(text, encoding="utf-8")
        return tiltmeter.run(
            "soda",
            model=model,
            judge="planted:protocol=soda",
            out=folder / "run",
            taxonomy=file,
            samples=4,
            modes=("images",),
            where={"object": ("car",), "dimension": ("base", "gender")},
        )

    def test_it_is_used_and_nothing_is_discovered(self, tmp_path: Path) -> None:
        run = self.run(tmp_path, self.TEXT)
        assert set(run.labels["attribute"]) == {
            "shape",
            "product_color",
            "product_color_raw",
            "background_color",
            "background_color_raw",
            "text_presence",
            "background_text_presence",
            "constraint",
        }
        assert run.calls.height == 24
        both = self.run(tmp_path, self.TEXT, "planted:protocol=soda,seed=2")
        assert both.labels["annotator"].n_unique() == 1 and both.trials["subject"].n_unique() == 2

    def test_a_changed_file_labels_again_and_draws_nothing(self, tmp_path: Path) -> None:
        before = self.run(tmp_path, self.TEXT)
        after = self.run(tmp_path, self.TEXT.replace('"tall"', '"tall", "flat"'))
        assert after.outputs.height == before.outputs.height == 12
        assert after.labels["annotator"].n_unique() == 2

    def test_label_goes_on_with_the_file_of_the_run(self, tmp_path: Path) -> None:
        run = self.run(tmp_path, self.TEXT)
        again = api.label(run.folder, judge="planted:protocol=soda,seed=3")
        shapes = again.labels.filter(again.labels["attribute"] == "shape")
        assert shapes["annotator"].n_unique() == 2 and shapes.height == 24

    def test_a_bad_one_is_refused_before_anything_is_drawn(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="line 1: shape has 1 value"):
            self.run(tmp_path, self.TEXT.replace(', "square", "tall"', ""))
        assert not (tmp_path / "run").exists()
        with pytest.raises(UsageError, match="cannot be read"):
            tiltmeter.run(
                "soda",
                model="planted:protocol=soda",
                judge="planted:protocol=soda",
                out=tmp_path / "run",
                taxonomy=tmp_path / "none.toml",
            )


def test_without_a_judge_pictures_wait(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(
        [
            "run",
            "soda",
            "--model",
            "planted:protocol=soda",
            "--where",
            "object=car",
            "--where",
            "dimension=base",
            "--samples",
            "2",
            "--out",
            str(tmp_path / "run"),
        ]
    )
    said = " ".join(capsys.readouterr().err.split())
    assert code in (0, 4) and "attributes needs --judge MODEL" in said


def test_a_judge_that_finds_no_attributes_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(
        [
            "run",
            "soda",
            "--model",
            "planted:protocol=soda",
            "--judge",
            "planted:protocol=soda,judge=never",
            "--where",
            "object=car",
            "--where",
            "dimension=base,gender",
            "--samples",
            "2",
            "--out",
            str(tmp_path / "run"),
        ]
    )
    said = " ".join(capsys.readouterr().err.split())
    assert "found no taxonomy for planted:protocol=soda, car" in said
    assert tiltmeter.open_run(tmp_path / "run").labels.height == 0


def test_discovery_on_the_measured_pictures_is_said(tmp_path: Path) -> None:
    run = tiltmeter.run(
        "soda",
        model="planted:protocol=soda",
        judge="planted:protocol=soda",
        out=tmp_path / "run",
        samples=4,
        modes=("images",),
        where={"object": ("car",), "dimension": ("base", "gender")},
    )
    assert run.trials["mode"].unique().to_list() == ["images"]
    rows = overall(run.analyse(), "bds")
    assert rows and all("chosen on the measured" in e.note for e in rows)
