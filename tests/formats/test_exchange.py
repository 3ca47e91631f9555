"""Runs in the formats of other tools, each held against the tool's own schema or reader, and against
what the run's tables say.

tests/formats/every_eval_ever: the schemas of Every Eval Ever 0.3.0 (MIT, its LICENSE beside them), without
their descriptions.
"""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import polars as pl
import pytest

import tiltmeter
from tests import forging
from tiltmeter import api
from tiltmeter.errors import UsageError
from tiltmeter.formats import tracked
from tiltmeter.records import Json

from ..shared import DATA

SCHEMAS = Path(__file__).parent / "every_eval_ever"
KEY = "sk-never-in-an-export"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tiltmeter.Run]:
    """16 planted answers, some refusals, one of them labelled by Anna; a key is in what was
    asked, and in the environment when it is exported.
    """
    folder = tmp_path_factory.mktemp("exchange") / "run"
    with pytest.MonkeyPatch.context() as patch:
        model = "planted:she=0.7,refuse=0.2"
        made = tiltmeter.run("roles", model, folder, language="en", samples=2, limit=4, system=KEY)
        patch.setenv("SOME_API_KEY", KEY)  # with it such a system prompt is refused
        gold = folder.with_name("gold.csv")
        trial = made.outputs["trial"][0]
        gold.write_text(f"output,attribute,value,annotator\n{trial},pronoun,she,anna\n", "utf-8")
        tiltmeter.import_gold(folder, gold)
        yield made


def schema(name: str) -> jsonschema.Draft7Validator:
    return jsonschema.Draft7Validator(json.loads((SCHEMAS / name).read_text("utf-8")))


def all_text(folder: Path) -> str:
    return "".join(path.read_text("utf-8") for path in folder.rglob("*") if path.is_file())


def test_every_eval_ever(run: tiltmeter.Run, tmp_path: Path) -> None:
    written, lines = api.export_every_eval_ever(run.folder, tmp_path / "eee", texts=True)
    whole = json.loads(written.read_text("utf-8"))
    schema("eval.schema.json").validate(whole)
    told = {one["evaluation_result_id"]: one for one in whole["evaluation_results"]}
    estimates = [row for row in run.analyse() if row.value is not None]
    assert len(told) == len(estimates)
    first = next(one for one in told.values() if one["metric_config"]["metric_name"] == "share_she")
    row = next(row for row in estimates if row.measure == "share_she")
    score = first["score_details"]
    assert score["score"] == row.value
    interval = score["uncertainty"]["confidence_interval"]
    assert (interval["lower"], interval["upper"]) == (row.low, row.high)
    assert interval["confidence_level"] == 0.95
    details = score["details"]
    assert details["null"] == "0.5"
    assert details["signature"] == row.signature
    assert details["clusters"] == str(row.clusters)
    assert float(details["p_adjusted"]) == row.p_adjusted
    assert details["family"] == "headline claims"
    content = lines.read_bytes()
    instances = whole["detailed_evaluation_results"]
    assert instances["checksum"] == hashlib.sha256(content).hexdigest()
    assert (tmp_path / "eee" / instances["file_path"]) == lines
    rows = [json.loads(line) for line in content.splitlines()]
    check = schema("instance_level_eval.schema.json")
    for one in rows:
        check.validate(one)
    assert len(rows) == instances["total_rows"] == len(run.labels)
    labels = {
        (one["output"], one["value"]) for one in run.labels.iter_rows(named=True) if one["current"]
    }
    assert labels == {
        (one["sample_id"], one["answer_attribution"][0]["extracted_value"]) for one in rows
    }
    texts = dict(run.outputs.select("trial", "text").iter_rows())
    assert all(one["output"]["raw"] == [texts[one["sample_id"]]] for one in rows)
    refused = [one for one in rows if not one["evaluation"]["is_correct"]]
    assert 0 < len(refused) < len(rows)


def test_every_eval_ever_without_texts_names_and_keys(run: tiltmeter.Run, tmp_path: Path) -> None:
    api.export_every_eval_ever(run.folder, tmp_path / "eee")
    text = all_text(tmp_path / "eee")
    assert '"raw": []' in text and '"raw": ["' not in text
    assert "P1" in text and "anna" not in text
    assert KEY not in text and str(run.folder.parent) not in text
    with pytest.raises(UsageError, match="is there already"):
        api.export_every_eval_ever(run.folder, tmp_path / "eee")


def labels_of(run: tiltmeter.Run) -> set[tuple[str, ...]]:
    """(prompt, sample, annotator, attribute, value) of what machines say."""
    asked = {row[0]: row[1:] for row in run.trials.select("id", "prompt", "sample").iter_rows()}
    columns = ("output", "annotator", "attribute", "value")
    rows = run.labels.select(columns).iter_rows()
    return {(*map(str, asked[row[0]]), *row[1:]) for row in rows if not row[1].startswith("human:")}


def test_a_log_of_inspect_gives_the_same_labels_again(run: tiltmeter.Run, tmp_path: Path) -> None:
    (log,) = api.export_inspect(run.folder, tmp_path / "logs")
    again = tiltmeter.run(
        "roles", f"file:{log}", tmp_path / "again", language="en", samples=2, limit=4
    )
    assert labels_of(again) == labels_of(run)
    assert "refusal" in set(again.outputs["outcome"]) | {row[-1] for row in labels_of(again)}
    with zipfile.ZipFile(log) as archive:
        text = b"".join(map(archive.read, archive.namelist())).decode()
    assert "P1" in text and "anna" not in text
    assert KEY not in text and str(run.folder.parent) not in text
    (log,) = api.export_inspect(again.folder, tmp_path / "logs again")
    assert log.name == f"roles_file-{run_log_name(run)}_sampled.eval"  # without its folder


def run_log_name(run: tiltmeter.Run) -> str:
    model = run.trials["subject"][0].replace(":", "-").replace("=", "-").replace(",", "-")
    return f"roles_{model}_sampled.eval"


@pytest.mark.filterwarnings("default")  # it has warnings of its own
def test_inspect_reads_its_log(run: tiltmeter.Run, tmp_path: Path) -> None:
    reader = pytest.importorskip("inspect_ai.log", reason="inspect-ai is not installed")
    (path,) = api.export_inspect(run.folder, tmp_path / "logs")
    log = reader.read_eval_log(str(path))
    (verdict,) = run.verdicts()
    (score,) = log.results.scores
    assert score.metrics["low"].value == verdict.low
    assert score.metrics["value"].value == verdict.value
    assert score.metadata["signature"] == verdict.signature
    assert log.eval.config.epochs == 2 and log.eval.dataset.samples == 8
    texts = dict(run.outputs.select("trial", "text").iter_rows())
    assert {one.metadata["trial"]: one.output.completion for one in log.samples} == texts
    assert len(reader.read_eval_log_sample_summaries(str(path))) == 16


def test_a_data_set_for_the_hub(run: tiltmeter.Run, tmp_path: Path) -> None:
    written = api.export_hugging_face(run.folder, tmp_path / "hub")
    names = ["README.md", *(f"data/{name}.parquet" for name in ("estimates", "labels", "outputs"))]
    assert [path.relative_to(tmp_path / "hub").as_posix() for path in written] == names
    outputs = pl.read_parquet(written[3])
    assert len(outputs) == 16 and "text" not in outputs.columns and "word" in outputs.columns
    labels = pl.read_parquet(written[2])
    people = labels.filter(pl.col("annotator") == "P1")
    assert people["value"].to_list() == ["she"]
    assert set(labels["output"]) == set(outputs["trial"])
    assert len(labels) == run.labels["current"].sum()
    (verdict,) = run.verdicts()
    row = (
        pl.read_parquet(written[1])
        .filter(pl.col("signature") == verdict.signature)
        .row(0, named=True)
    )
    assert (row["value"], row["low"], row["high"]) == (verdict.value, verdict.low, verdict.high)
    card = written[0].read_text("utf-8")
    assert verdict.signature in card and card.count("**to be filled in**") == 3
    api.export_hugging_face(run.folder, tmp_path / "texts", texts=True)
    texts = pl.read_parquet(tmp_path / "texts" / "data" / "outputs.parquet")
    assert texts["text"].to_list() == run.outputs["text"].to_list()


def test_an_error_names_no_address(run: tiltmeter.Run, tmp_path: Path) -> None:
    folder = tmp_path / "failed"
    shutil.copytree(run.folder, folder)
    told = "http://10.0.0.7:8000/v1 does not answer as openai:x should"
    with forging.changing(folder) as store:
        first = "(SELECT trial FROM outputs LIMIT 1)"
        store.execute(
            f"UPDATE outputs SET outcome = 'error', text = ? WHERE trial = {first}", (told,)
        )
    (log,) = api.export_inspect(folder, tmp_path / "logs")
    with zipfile.ZipFile(log) as archive:
        text = b"".join(map(archive.read, archive.namelist())).decode()
    api.export_every_eval_ever(folder, tmp_path / "eee", texts=True)
    files = api.export_hugging_face(folder, tmp_path / "hub", texts=True)
    outputs = pl.read_parquet(files[3])
    for one in (text, all_text(tmp_path / "eee"), "\n".join(outputs["text"])):
        assert "(address) does not answer as openai:x should" in one and "10.0.0.7" not in one


def test_the_hub_reads_its_card(run: tiltmeter.Run, tmp_path: Path) -> None:
    hub = pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed")
    arrow = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    api.export_hugging_face(run.folder, tmp_path / "hub")
    told = hub.DatasetCard.load(tmp_path / "hub" / "README.md").data.to_dict()
    assert told["language"] == ["en"] and told["license"] == "other"
    for one in told["configs"]:
        assert arrow.read_table(tmp_path / "hub" / one["data_files"]).num_rows > 0


@pytest.mark.filterwarnings("default")  # it has warnings of its own
def test_mlflow_keeps_limits_tables_report_and_signatures(
    run: tiltmeter.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    (key,) = api.log_to_mlflow(run.folder, experiment="audits")
    made = mlflow.MlflowClient().get_run(key)
    (verdict,) = run.verdicts()
    name = "share_she/en"
    assert made.data.metrics[name] == verdict.value
    assert made.data.metrics[f"{name}.low"] == verdict.low
    assert made.data.metrics[f"{name}.high"] == verdict.high
    assert made.data.tags["tiltmeter.signature"] == verdict.signature
    assert made.info.status == "FINISHED"
    folder = Path(mlflow.MlflowClient().download_artifacts(key, ""))
    table = json.loads((folder / "estimates.json").read_text("utf-8"))
    assert len(table["data"]) == len(run.analyse())
    assert "anna" not in all_text(folder) and KEY not in all_text(folder)


def test_a_tracker_that_is_not_installed(
    run: tiltmeter.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(UsageError, match="pip install mlflow-skinny"):
        api.log_to_mlflow(run.folder)


def test_metrics_have_names_that_trackers_take() -> None:
    def claim(instrument: str, value: float | None) -> dict[str, Json]:
        return {
            "measure": "share",
            "condition": {"mode": "sampled", "language": "ja", "who": "女 & 男"},
            "contrast": {"level": "a+b"},
            "instrument": instrument,
            "value": value,
            "low": 0.25,
            "high": math.nan,
            "p_adjusted": None,
            "n": 4,
            "detectable": None,
        }

    assert tracked.metrics([claim("panel/2@1", 0.5), claim("rule", None)]) == {
        "share/ja/女 _ 男/a_b": 0.5,
        "share/ja/女 _ 男/a_b.low": 0.25,
        "share/ja/女 _ 男/a_b.n": 4.0,
        "share/ja/女 _ 男/a_b/rule.low": 0.25,
        "share/ja/女 _ 男/a_b/rule.n": 4.0,
    }


def test_a_format_that_there_is_not(run: tiltmeter.Run, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="every-eval-ever"):
        tiltmeter.export(run.folder, tmp_path / "x", "excel")


def test_replies_that_people_labelled_become_a_corpus(run: tiltmeter.Run, tmp_path: Path) -> None:
    """In the form of the corpus of real replies: a row per reply, with its label by a person."""
    (path,) = api.export_replies(run.folder, tmp_path / "replies")
    assert path.name == "roles_en.jsonl"
    (row,) = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    labelled = run.outputs.row(0, named=True)
    assert (row["reply"], row["label"], row["difficult"]) == (labelled["text"], "she", False)
    assert row["prompt"] and row["facts"]["order"] and row["read_as"]["pronoun"]
    assert "anna" not in path.read_text("utf-8") and KEY not in path.read_text("utf-8")
    corpus = DATA / "replies" / "roles_en.jsonl"
    if corpus.is_file():
        first = json.loads(corpus.read_text("utf-8").partition("\n")[0])
        assert list(row)[: len(first)] == list(first)


def test_two_people_who_differ_make_a_reply_difficult(run: tiltmeter.Run, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(run.folder, folder)
    trial = run.outputs["trial"][0]
    gold = tmp_path / "bo.csv"
    gold.write_text(f"output,attribute,value,annotator\n{trial},pronoun,he,bo\n", "utf-8")
    tiltmeter.import_gold(folder, gold)
    (path,) = api.export_replies(folder, tmp_path / "replies")
    assert json.loads(path.read_text("utf-8"))["difficult"] is True


def test_without_labels_by_people_there_is_no_corpus(tmp_path: Path) -> None:
    tiltmeter.run("roles", "planted", tmp_path / "run", language="en", limit=2)
    with pytest.raises(UsageError, match=r"Type: tiltmeter annotate"):
        api.export_replies(tmp_path / "run", tmp_path / "replies")
