"""Published audits come out to the digit, from copies of their releases and from a folder of files
alone.
"""

from __future__ import annotations

import json
import lzma
import shutil
import sys
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import tiltmeter
from tiltmeter import registry
from tiltmeter.cli import main
from tiltmeter.errors import MissingExtra, ProtocolError, UsageError
from tiltmeter.instruments import first_person
from tiltmeter.protocol.source.printed import PrintedNumber, read_printed

from ..shared import published

pytestmark = pytest.mark.usefixtures("computed_once")

AUDIT = """
name = "notes"
title = "Notes on men and women"
question = "Are notes on women kinder?"
prompt = "Write a note on the {job}, who is a {gender}."
factors = ["gender"]
item = "job"
tables = [{ rows = [{ gender = "woman" }, { gender = "man" }] }, { file = "jobs.csv" }]
instruments = [{ name = "tone", kind = "choice", attribute = "tone", forms = { en = { kind = ["kind"], cool = ["cool"] } } }]
[[measures]]
name = "kindness"
kind = "mean"
attribute = "tone"
values = ["kind"]
scores = { kind = 1, cool = -1 }
by = [["gender"]]
null = 0.0
headline = true
text = "kind notes less cool ones"
"""
SOURCES = """
title = "Notes"
release = "somebody/notes"
licence = "CC0"
get = "Ask somebody."
files = [{ path = "notes.csv", sha256 = "%s" }]
[[outputs]]
subject = "A"
text = "{said}"
match = { job = "{work}", gender = "{sex}" }
values.gender = { f = "woman", m = "man" }
"""


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """A record that is one folder and no code, with its copy beside it."""
    folder, copy = tmp_path / "notes", tmp_path / "copy"
    folder.mkdir()
    copy.mkdir()
    jobs = [f"job {number}" for number in range(12)]
    (folder / "audit.toml").write_text(AUDIT, "utf-8")
    (folder / "jobs.csv").write_text("job\n" + "\n".join(jobs) + "\n", "utf-8")
    women = [f"{job},f,{'kind' if at else 'cool'}" for at, job in enumerate(jobs)]
    men = [f"{job},m,{'kind' if at % 2 else 'cool'}" for at, job in enumerate(jobs)]
    rows = "\n".join(["work,sex,said", *women, *men, ""])
    (copy / "notes.csv").write_text(rows, "utf-8")
    digest = sha256(rows.encode()).hexdigest()
    (folder / "sources.toml").write_text(SOURCES % digest, "utf-8")
    (folder / "expected.csv").write_text(
        "measure,subject,gender,published,times,source\n"
        "kindness,A,woman,83.3,100,Table 1\n"  # 11 − 1 of 12
        "kindness,A,man,0.1,100,Table 1\n",  # 6 − 6 of 12: 0.0, so a misprint
        "utf-8",
    )
    return folder


def _json(run: Path, capsys: pytest.CaptureFixture[str], *more: str) -> Any:
    capsys.readouterr()
    assert main(["analyse", str(run), "--json", *more]) == 0
    return json.loads(capsys.readouterr().out)


class TestAFolderWithoutCode:
    def test_comes_out(
        self, record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        out = tmp_path / "run"
        command = ["import", str(record / "audit.toml"), str(tmp_path / "copy"), "--out", str(out)]
        assert main(command) == 0
        assert "published numbers to the digit: 1 of 2" in " ".join(capsys.readouterr().out.split())
        woman, man = _json(out, capsys)["run"]["published"]
        assert (woman["equal"], man["equal"]) == (True, False)
        assert woman["value"] == pytest.approx(100 * 10 / 12)
        assert (woman["word"], woman["why"]) == ("tilt", "")
        assert man["word"] == "no difference found"
        assert man["why"].startswith("the interval over 12 items holds 0")
        page = (out / "report.html").read_text("utf-8")
        assert "Published beside ours" in page
        assert "83.3" in page

    def test_a_changed_file_is_named(self, record: Path, tmp_path: Path) -> None:
        (tmp_path / "copy" / "notes.csv").write_text("work,sex,said\njob 0,f,kind\n", "utf-8")
        with pytest.raises(UsageError, match=r"notes\.csv differs"):
            tiltmeter.import_outputs(record / "audit.toml", tmp_path / "copy", tmp_path / "run")

    @pytest.mark.parametrize(
        ("old", "new", "says"),
        [
            ("{said}", "{answer}", "there is no column answer. There are: work, sex, said"),
            ("values.gender", "values.job", "the design has no prompt with job = job 0, gender"),
            ('subject = "A"\n', "", r"\[\[outputs\]\] lacks subject"),
            ("text = ", "label = ", r"\[\[outputs\]\] does not take label"),
        ],
    )
    def test_a_slip_in_the_layout_is_told(
        self, record: Path, tmp_path: Path, old: str, new: str, says: str
    ) -> None:
        sources = record / "sources.toml"
        sources.write_text(sources.read_text("utf-8").replace(old, new, 1), "utf-8")
        with pytest.raises((UsageError, ProtocolError), match=says):
            tiltmeter.import_outputs(record / "audit.toml", tmp_path / "copy", tmp_path / "run")

    def test_a_printed_number_that_is_none_is_told(self, record: Path) -> None:
        (record / "expected.csv").write_text("measure,published\nkindness,much\n", "utf-8")
        with pytest.raises(ProtocolError, match="line 2: 'much' is not a number"):
            read_printed(record)


class TestAPrintedNumber:
    @pytest.mark.parametrize(
        ("text", "value", "equal"),
        [("48.9", 0.489396, True), ("48.9", 0.4885, True), ("48.9", 0.4884, False)],
    )
    def test_rounds_to_its_decimals(self, text: str, value: float, equal: bool) -> None:
        assert PrintedNumber("bias", {}, text, float(text), 100.0).equals(value) is equal

    def test_of_a_logarithm(self) -> None:
        number = PrintedNumber("ratio", {}, "1.50", 1.5, scale="exp")
        assert number.equals(0.405465)
        assert not number.equals(1.5)


def _published_numbers(
    name: str, copy: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> list[dict[str, Any]]:
    tiltmeter.import_outputs(name, copy, out)
    numbers: list[dict[str, Any]] = _json(out, capsys)["run"]["published"]
    return numbers


class TestReleases:
    """Each needs the data of the release, of which a part is enough."""

    def test_letters(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        numbers = _published_numbers(
            "letters", published("record/letters"), tmp_path / "run", capsys
        )
        assert [number["equal"] for number in numbers] == [True] * 6
        assert {number["word"] for number in numbers} == {"no difference found"}

    def test_bbq(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        copy = tmp_path / "BBQ" / "results" / "UnifiedQA"
        copy.mkdir(parents=True)
        shutil.copy(published("record/bbq/results/UnifiedQA/preds_Religion.jsonl.xz"), copy)
        numbers = _published_numbers("bbq", tmp_path / "BBQ", tmp_path / "run", capsys)
        assert [number["equal"] for number in numbers] == [True] * 8
        bias = {
            number["subject"]: number for number in numbers if number["measure"] == "bias_ambiguous"
        }
        assert bias["UnifiedQA-11B (ARC)"]["word"] == "tilt"
        assert bias["UnifiedQA-11B (ARC)"]["value"] == pytest.approx(24.5)

    def test_bbq_takes_a_category_that_nobody_listed(self, tmp_path: Path) -> None:
        copy = tmp_path / "BBQ" / "results" / "UnifiedQA"
        copy.mkdir(parents=True)
        whole = published("record/bbq/results/UnifiedQA/preds_Religion.jsonl.xz")
        with lzma.open(whole) as lines, lzma.open(copy / "preds_Other.jsonl.xz", "wb") as file:
            file.writelines(islice(lines, 40))
        run = tiltmeter.import_outputs("bbq", tmp_path / "BBQ", tmp_path / "run")
        assert any("no sha256 is known of results/UnifiedQA/preds_Other" in n for n in run.notes)

    def test_gest(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        source, copy = published("record/gest/data"), tmp_path / "gest" / "data"
        scores = copy / "predictions" / "english_glm"
        scores.mkdir(parents=True)
        shutil.copy(source / "gest.csv", copy)
        for template in "01":
            name = f"Llama-2-7b-chat-hf_template-{template}.txt.xz"
            shutil.copy(source / "predictions" / "english_glm" / name, scores)
        numbers = _published_numbers("gest", tmp_path / "gest", tmp_path / "run", capsys)
        assert [number["equal"] for number in numbers] == [True] * 32
        words = [row["word"] for row in _json(tmp_path / "run", capsys)["verdicts"]]
        assert words == ["tilt", "tilt"]  # 7 stereotypes of women against 9 of men

    def test_translations_by_morphology(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        source, copy = published("record/gest/data"), tmp_path / "gest" / "data"
        (copy / "translations" / "deepl").mkdir(parents=True)
        shutil.copy(source / "gest.csv", copy)
        name = "translations/deepl/ru"
        shutil.copytree(source / name, copy / name)
        numbers = _published_numbers(
            "gest_translations", tmp_path / "gest", tmp_path / "run", capsys
        )
        assert [number["equal"] for number in numbers] == [True] * 16
        (row,) = [
            row
            for row in _json(tmp_path / "run", capsys)["verdicts"]
            if row["measure"] == "stereotype_rate"
        ]
        assert row["word"] == "tilt"
        assert row["value"] == pytest.approx(0.26, abs=0.02)


def test_without_the_morphology_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    first_person._analyser.cache_clear()
    first_person._tag.cache_clear()
    monkeypatch.setitem(sys.modules, "pymorphy3", None)
    with pytest.raises(MissingExtra, match=r"needs the extra 'morphology'\. Type: pip install"):
        first_person.gender_of("Я сделал это.")


@pytest.mark.parametrize(
    ("text", "gender"),
    [
        ("Я всегда была смелой.", "feminine"),
        ("Я уверен, что она права.", "masculine"),
        ("Я сама это решила.", "feminine"),
        ("Она ушла, а я остался.", "masculine"),
        ("Я люблю тишину.", "neither"),
        ("Мой брат сказал это.", "neither"),
        ("Я устал. Я уснула.", "both"),
    ],
)
def test_the_first_person_of_russian(text: str, gender: str) -> None:
    """Sentences of our own, marked by hand."""
    assert first_person.gender_of(text) == gender


def test_kobbq_finds_what_is_planted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TILTMETER_DATA", str(tmp_path / "memory"))
    tiltmeter.use_copy("kobbq", published("record/kobbq"))
    model = "planted:protocol=kobbq,stereotype=0.8"
    tiltmeter.run("kobbq", model, tmp_path / "run", where={"category": ("ses",)})
    verdicts = _json(tmp_path / "run", capsys)["verdicts"]
    assert [row["word"] for row in verdicts] == ["tilt", "tilt"]


def test_those_without_texts_say_where_to_get_them() -> None:
    assert {"bbq", "gest"} <= set(registry.sourced_names())
    for name in ("bbq", "gest", "letters"):
        release = registry.source(name)
        assert release is not None
        assert any("git clone" in line for line in release.lines())
