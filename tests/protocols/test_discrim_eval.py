"""`discrim_eval`: its texts are read from a copy of the release, and marked; without one it says where
to get it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

import tiltmeter
from tiltmeter import registry
from tiltmeter.cli import group, main
from tiltmeter.errors import UsageError
from tiltmeter.protocol import Protocol
from tiltmeter.protocol.source import copies
from tiltmeter.protocols.discrim_eval.texts import without_cues
from tiltmeter.store import Store
from tiltmeter.store.queries import settings

from ..shared import published

COPY = "decisions/discrim_eval_explicit.jsonl.xz"


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own, in which copies are remembered."""
    monkeypatch.setenv(copies.DATA, str(tmp_path / "memory"))
    return tmp_path / "memory"


@pytest.fixture
def protocol(memory: Path) -> Protocol:
    tiltmeter.use_copy("discrim_eval", published(COPY))
    return registry.protocol("discrim_eval")


class TestWithoutACopy:
    def test_show_says_where_to_get_it(self, memory: Path) -> None:
        text = CliRunner().invoke(group, ["show", "discrim_eval"]).output
        for part in ("not shipped", "huggingface.co/datasets/Anthropic/discrim-eval", "CC BY 4.0"):
            assert part in text
        assert "tiltmeter import discrim_eval PATH" in text

    def test_run_says_what_to_type(
        self, memory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        out = str(tmp_path / "run")
        assert main(["run", "discrim_eval", "--model", "planted:she=0.5", "--out", out]) == 2
        assert "Then type: tiltmeter import discrim_eval PATH" in capsys.readouterr().err

    def test_ls_lists_it_apart(self) -> None:
        listed = json.loads(CliRunner().invoke(group, ["ls", "--json"]).output)
        assert listed["with_your_data"] == [
            *("bbq", "discrim_eval", "gest", "gest_translations", "kobbq", "pairs")
        ]
        assert "discrim_eval" not in [one["name"] for one in listed["protocols"]]

    def test_a_file_that_is_not_the_release_is_named(self, memory: Path, tmp_path: Path) -> None:
        (tmp_path / "explicit.jsonl").write_text("{}\n", "utf-8")
        for path in (tmp_path, tmp_path / "explicit.jsonl"):
            with pytest.raises(UsageError, match=r"explicit\.jsonl differs"):
                tiltmeter.use_copy("discrim_eval", path)
        with pytest.raises(UsageError, match="has no file of Anthropic"):
            tiltmeter.use_copy("discrim_eval", Path(__file__).parent)
        with pytest.raises(UsageError, match="There is no"):
            tiltmeter.use_copy("discrim_eval", tmp_path / "nowhere")

    def test_a_protocol_with_its_own_texts_takes_no_copy(self, tmp_path: Path) -> None:
        for name in ("hiring", "roles"):
            with pytest.raises(UsageError, match="ships with its texts"):
                tiltmeter.use_copy(name, tmp_path)


class TestWithACopy:
    def test_the_texts_are_as_published(self, protocol: Protocol) -> None:
        lines = copies.read_files(published(COPY), ("explicit.jsonl",))["explicit.jsonl"]
        assert [json.loads(line)["filled_template"] for line in lines.splitlines()] == [
            cell["text"] for cell in protocol.cells
        ]

    def test_the_design_is_balanced(self, protocol: Protocol) -> None:
        counts = Counter((cell["race"], cell["gender"], cell["age"]) for cell in protocol.cells)
        assert len(counts) == 135 and set(counts.values()) == {70}

    def test_pairs_that_differ_in_the_cue_alone_are_marked_on_both_sides(
        self, protocol: Protocol
    ) -> None:
        for level, mark, factor, baseline in (
            ("Black", "alone_black", "race", "white"),
            ("female", "alone_female", "gender", "male"),
            ("20", "alone_20", "age", "60"),
        ):
            marked = Counter(cell[factor] for cell in protocol.cells if cell[mark] == "yes")
            assert set(marked) == {level, baseline} and marked[level] == marked[baseline]

    def test_the_limits_say_how_many_pairs_differ_in_more(self, protocol: Protocol) -> None:
        races = ("asian", "black", "hispanic", "native_american")
        alone = {
            factor: sum(
                cell[f"alone_{name}"] == "yes" and cell[factor] not in ("white", "male")
                for cell in protocol.cells
                for name in names
            )
            for factor, names in (("race", races), ("gender", ("female", "nonbinary")))
        }
        ages = sum(
            cell[f"alone_{cell['age']}"] == "yes" for cell in protocol.cells if cell["age"] != "60"
        )
        limit = protocol.limits[0]
        assert f"{7560 - alone['race']:,} of 7,560 pairs of races" in limit
        assert f"{6300 - alone['gender']:,} of 6,300 pairs of genders" in limit
        assert f"{8400 - ages:,} of 8,400 pairs of ages" in limit

    def test_a_run_opens_without_the_copy(
        self, protocol: Protocol, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        model, out = "planted:protocol=discrim_eval", tmp_path / "run"
        where = {"age": ("60",), "gender": ("male", "female")}
        run = tiltmeter.run("discrim_eval", model, out, limit=9, where=where)
        rows = run.analyse()
        monkeypatch.setenv(copies.DATA, str(tmp_path / "elsewhere"))
        again = tiltmeter.Run(out)
        assert again.protocol.digest == protocol.digest and again.notes == []
        measured = [(e.measure, e.value, e.low) for e in rows if e.value is not None]
        found = [(e.measure, e.value, e.low) for e in again.analyse() if e.value is not None]
        assert found == measured and len(found) > 50  # measures that no row asks are not kept

    def test_a_run_of_decisions_1_opens_with_the_measures_of_these_texts(
        self, protocol: Protocol, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Runs of version 1 of `decisions` kept no protocol, since its texts shipped then."""
        model, out = "planted:protocol=discrim_eval,yes.Black=0.2,yes=0.8", tmp_path / "run"
        tiltmeter.run("discrim_eval", model, out, limit=12, where={"age": ("60",)})
        with Store(out, writing=True) as store:
            store.put("source", "decisions")
            store.put("definition", None)
            store.put("frozen", {**settings.frozen(store), "protocol": "decisions"})
        monkeypatch.setenv(copies.DATA, str(tmp_path / "elsewhere"))
        run = tiltmeter.Run(out)
        assert run.protocol.item == "scenario" and len(run.protocol.items()) == 12
        (black,) = (
            row for row in run.analyse() if row.measure == "race" and "Black" in str(row.contrast)
        )
        assert black.value is not None and black.value < -0.3


def test_cues_are_put_aside_by_hand() -> None:
    row = {"age": "20", "race": "Black", "text": "An old 20-year-old Black woman  has her way."}
    assert without_cues(row) == "An old AGE-year-old RACE GENDER has THEIR way."
