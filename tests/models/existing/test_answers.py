"""Answers from elsewhere: file shapes, columns, prompts as people see them, factors, logs of Inspect and lm-eval, what fits and what does not."""

from __future__ import annotations

import json
import unicodedata
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tiltmeter
from tiltmeter import api
from tiltmeter.cli import main
from tiltmeter.errors import ModelError, TiltmeterError, UsageError
from tiltmeter.models.existing.given import rows_of
from tiltmeter.models.existing.readers import read_lines
from tiltmeter.row_files.logs.reader import read_log

from ...api.test_python import JOBS, KEYS

AUDIT: dict[str, Any] = {**KEYS, "name": "elsewhere"}
SMALL = {"samples": 2}


@pytest.fixture
def protocol() -> tiltmeter.Protocol:
    return tiltmeter.Protocol.declare(**AUDIT)


def rows(protocol: tiltmeter.Protocol) -> list[dict[str, str]]:
    """An answer to each trial: Jacob's raise is raised, Emily's is kept."""
    return [
        {"prompt": row["prompt"], "text": "raised" if row["who"] == "Jacob" else "kept", **row}
        for row in api.trials(protocol, "planted", samples=2)
    ]


def only(found: list[dict[str, str]], *names: str) -> list[dict[str, str]]:
    return [{name: row[name] for name in names} for row in found]


def as_csv(path: Path, found: list[dict[str, str]], separator: str = ",") -> None:
    pl.DataFrame(found).write_csv(path, separator=separator)


def as_lines(path: Path, found: list[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in found), "utf-8")


WRITERS: dict[str, Callable[[Path, list[dict[str, str]]], None]] = {
    "a.csv": as_csv,
    "semicolons.csv": lambda path, found: as_csv(path, found, ";"),
    "a.tsv": lambda path, found: as_csv(path, found, "\t"),
    "a.jsonl": as_lines,
    "a.json": lambda path, found: path.write_text(json.dumps(found), "utf-8") and None,
    "inside.json": lambda path, found: (
        path.write_text(json.dumps({"n": 1, "rows": found})) and None
    ),
    "a.parquet": lambda path, found: pl.DataFrame(found).write_parquet(path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_shape_of_a_file_is_read(
    name: str, protocol: tiltmeter.Protocol, tmp_path: Path
) -> None:
    WRITERS[name](tmp_path / name, only(rows(protocol), "prompt", "text"))
    run = tiltmeter.run(protocol, f"file:{tmp_path / name}", tmp_path / "run", **SMALL)
    assert run.notes == [] and len(run.outputs) == 36
    (gap,) = run.estimates.filter(pl.col("measure") == "gap")["value"]
    assert gap == -1.0


def test_columns_are_called_otherwise(protocol: tiltmeter.Protocol, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    as_csv(path, [{"Q": row["prompt"], "response": row["text"]} for row in rows(protocol)])
    with pytest.raises(ModelError, match=r"'text' is missing\. Type: --column text=response"):
        list(read_lines(path))
    columns = {"text": "response", "prompt": "Q"}
    run = tiltmeter.run(protocol, f"file:{path}", tmp_path / "run", columns=columns, **SMALL)
    assert len(run.outputs) == 36
    with pytest.raises(ModelError, match=r"No column 'respnse'\. Did you mean 'response'"):
        list(read_lines(path, columns={"text": "respnse"}))


@pytest.mark.parametrize("outcome", ["", ",outcome"])
def test_an_empty_cell_is_an_empty_answer(
    outcome: str, protocol: tiltmeter.Protocol, tmp_path: Path
) -> None:
    """The first of 36 answers: counted as without a label, or as the error that its outcome says."""
    path = tmp_path / "a.csv"
    lines = [f"{row['prompt']},{row['text']}{',' * bool(outcome)}" for row in rows(protocol)]
    lines[0] = f"{rows(protocol)[0]['prompt']},{outcome and ',error'}"
    path.write_text("\n".join((f"Prompt,Antwort{outcome}", *lines)), "utf-8")
    with pytest.raises(ModelError, match=r"Antwort\. Type for instance: --column text="):
        list(read_lines(path))
    columns = {"text": "Antwort", "prompt": "Prompt"}
    run = tiltmeter.run(protocol, f"file:{path}", tmp_path / "run", columns=columns, **SMALL)
    assert len(run.outputs) == 36 and run.notes == []
    counted = run.outputs.filter(pl.col("outcome") == ("error" if outcome else "answer"))
    assert len(counted) == (1 if outcome else 36)


def test_an_empty_cell_of_a_frame_or_of_parquet_is_an_empty_answer(tmp_path: Path) -> None:
    frame = pl.DataFrame({"prompt": ["a", "b"], "text": ["yes", None], "model": [None, "m"]})
    frame.write_parquet(tmp_path / "a.parquet")
    read = [(line.prompt, line.reply.text) for line in read_lines(tmp_path / "a.parquet")]
    assert read == [("a", "yes"), ("b", "")]
    assert rows_of(frame) == [
        {"prompt": "a", "text": "yes"},
        {"prompt": "b", "text": "", "model": "m"},
    ]


def test_by_factors(protocol: tiltmeter.Protocol, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    as_csv(path, only(rows(protocol), "who", "job", "text"))
    run = tiltmeter.run(protocol, f"file:{path}", tmp_path / "run", **SMALL)
    assert run.notes == [] and len(run.outputs) == 36
    as_csv(path, [{"job": job, "text": "kept"} for job in JOBS])
    with pytest.raises(ModelError, match=r"trials that differ in who\. Add a column who"):
        tiltmeter.run(protocol, f"file:{path}", tmp_path / "other", **SMALL)
    as_csv(path, [{"work": job, "text": "kept"} for job in JOBS])
    with pytest.raises(ModelError, match=r"no column that is a factor .*--column prompt=work"):
        tiltmeter.run(protocol, f"file:{path}", tmp_path / "other", **SMALL)


def test_prompts_are_compared_as_people_see_them(tmp_path: Path) -> None:
    """Composed or not, with or without blanks at the end; a space inside counts."""
    keys = {**AUDIT, "prompt": AUDIT["prompt"].replace("salary", "rémunération")}
    protocol = tiltmeter.Protocol.declare(**keys)
    found = only(rows(protocol), "prompt", "text")
    for row in found:
        row["prompt"] = unicodedata.normalize("NFD", row["prompt"]) + " \n"
    as_lines(tmp_path / "a.jsonl", found)
    run = tiltmeter.run(protocol, f"file:{tmp_path / 'a.jsonl'}", tmp_path / "run", **SMALL)
    assert run.notes == [] and len(run.outputs) == 36


def test_what_fits_not_is_listed_with_the_nearest(
    protocol: tiltmeter.Protocol, tmp_path: Path
) -> None:
    found = only(rows(protocol), "prompt", "text")
    odd = found[0]["prompt"]
    found = [row for row in found if row["prompt"] != odd]
    found.append({"prompt": odd.replace("salary", "wage"), "text": "kept"})
    as_lines(tmp_path / "a.jsonl", found)
    run = tiltmeter.run(protocol, f"file:{tmp_path / 'a.jsonl'}", tmp_path / "run", **SMALL)
    missing, unused = run.notes
    assert "answers 34 of 36 trials" in missing and "the nearest is line 35" in missing
    assert "1 lines" in unused and "line 35" in unused and "nearest prompt of the audit" in unused
    more = tiltmeter.run(protocol, f"file:{tmp_path / 'a.jsonl'}", tmp_path / "one", samples=1)
    assert any("--samples" in note or "answer no trial" in note for note in more.notes)


def test_a_file_of_another_audit_is_refused(protocol: tiltmeter.Protocol, tmp_path: Path) -> None:
    as_lines(tmp_path / "a.jsonl", [{"prompt": "What is 2 + 2?", "text": "4"}])
    with pytest.raises(UsageError, match=r"None of the answers in .* match a prompt of this audit"):
        tiltmeter.run(protocol, f"file:{tmp_path / 'a.jsonl'}", tmp_path / "run", **SMALL)
    assert not (tmp_path / "run").exists()


def test_the_command_line_names_columns(
    protocol: tiltmeter.Protocol, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.csv"
    as_csv(path, [{"Q": row["prompt"], "said": row["text"]} for row in rows(protocol)][:30])
    arguments = ["run", "elsewhere", "--model", f"file:{path}", "--samples", "2"]
    columns = ["--column", "text=said", "--column", "prompt=Q"]
    assert main([*arguments, *columns, "--out", str(tmp_path / "run")]) == 1
    assert "answers 30 of 36 trials" in capsys.readouterr().err


# logs of other tools


def inspect_log(found: list[dict[str, str]]) -> dict[str, Any]:
    """As Inspect writes it: messages, epochs, choices."""
    seen: dict[str, int] = {}
    samples = []
    for row in found:
        epoch = seen[row["prompt"]] = seen.get(row["prompt"], 0) + 1
        content = [{"type": "text", "text": row["text"]}]
        choice = {"message": {"role": "assistant", "content": content}, "stop_reason": "stop"}
        samples.append(
            {
                "id": len(samples) + 1,
                "epoch": epoch,
                "input": [{"role": "user", "content": row["prompt"]}],
                "output": {"model": "m", "choices": [choice]},
                "metadata": {"who": row["who"], "job": row["job"]},
            }
        )
    return {"version": 2, "eval": {"model": "openai/bot", "task": "t"}, "samples": samples}


def as_eval(path: Path, log: dict[str, Any]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({**log, "samples": None}))
        for sample in log["samples"]:
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            archive.writestr(name, json.dumps(sample))


@pytest.mark.parametrize("name", ["log.json", "log.eval"])
def test_a_log_of_inspect(name: str, protocol: tiltmeter.Protocol, tmp_path: Path) -> None:
    log, path = inspect_log(rows(protocol)), tmp_path / name
    first = log["samples"][0]
    first["output"]["choices"][0]["stop_reason"] = "content_filter"
    log["samples"][1]["error"] = {"message": "time-out"}
    as_eval(path, log) if name.endswith(".eval") else path.write_text(json.dumps(log))
    run = tiltmeter.run(protocol, f"file:{path}", tmp_path / "run", **SMALL)
    assert run.notes == [] and set(run.calls["served"]) == {"openai/bot"}
    assert dict(run.outputs["outcome"].value_counts().iter_rows()) == {
        "answer": 34,
        "refusal": 1,
        "error": 1,
    }


def test_a_log_whose_prompts_were_changed_is_matched_by_its_metadata(
    protocol: tiltmeter.Protocol, tmp_path: Path
) -> None:
    log, path = inspect_log(rows(protocol)), tmp_path / "log.json"
    for sample in log["samples"]:
        sample["input"] = f"Think. {sample['input'][0]['content']}"
    path.write_text(json.dumps(log))
    with pytest.raises(UsageError, match="None of the answers"):
        tiltmeter.run(protocol, f"file:{path}", tmp_path / "run", **SMALL)
    columns = {"prompt": ""}
    run = tiltmeter.run(protocol, f"file:{path}", tmp_path / "run", columns=columns, **SMALL)
    assert len(run.outputs) == 36


@pytest.mark.parametrize("sent", ["text", "chat"])
def test_samples_of_lm_eval(sent: str, protocol: tiltmeter.Protocol, tmp_path: Path) -> None:
    texts: dict[str, list[str]] = {}
    for row in rows(protocol):
        texts.setdefault(row["prompt"], []).append(row["text"])
    found = []
    for number, (prompt, said) in enumerate(texts.items()):
        chat = json.dumps([{"role": "user", "content": prompt}])
        found.append(
            {
                "doc_id": number,
                "doc": {"question": number},
                "target": "",
                "arguments": {"gen_args_0": {"arg_0": chat if sent == "chat" else prompt}},
                "resps": [said],
                "filtered_resps": said[:1],
            }
        )
    as_lines(tmp_path / "samples_audit.jsonl", found)
    run = tiltmeter.run(
        protocol, f"file:{tmp_path / 'samples_audit.jsonl'}", tmp_path / "run", **SMALL
    )
    assert run.notes == [] and len(run.outputs) == 36


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.json", b"{", "is not JSON"),
        ("a.json", b'{"a": [1], "b": [2]}', "is not a list of objects"),
        ("a.json", b"[" * 100_000, "is not JSON"),
        ("a.parquet", b"PAR1", "is not Parquet"),
        ("a.eval", b"PK", "is not a log of Inspect"),
        ("a.csv", b'prompt,text\n"a', "is not CSV"),
        ("a.csv", b"prompt,text\na,b,c\n", "has 3 cells, but the header has 2"),
        ("a.tsv", "prompt\ttext\na\tè".encode("latin-1"), "line 2 is not UTF-8"),
    ],
)
def test_a_file_that_is_none_of_these(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TiltmeterError, match=said):
        list(read_lines(tmp_path / name))


@pytest.mark.parametrize("read", [read_lines, read_log])
def test_a_parquet_that_polars_panics_at_is_a_line(
    read: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As at some of the files with a flipped byte; the error is no Exception."""

    def panic(content: object) -> None:
        raise pl.exceptions.PanicException("called `Option::unwrap()` on a `None` value")

    monkeypatch.setattr(pl, "read_parquet", panic)
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    with pytest.raises(TiltmeterError, match="Parquet"):
        found = read(tmp_path / "a.parquet")
        list(found)  # type: ignore[call-overload]


def test_an_entry_of_zstandard_is_read(tmp_path: Path) -> None:
    """As Inspect writes since 0.3.200; the bytes of the entry are what the package unpacks."""
    zstandard = pytest.importorskip("zstandard", reason="pip install zstandard")
    path, packed = tmp_path / "a.eval", zstandard.compress(b'{"eval": {"model": "m"}}')
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", packed)
        archive.writestr("samples/1_epoch_1.json", zstandard.compress(b'{"input": "p", "id": 1}'))
    content = path.read_bytes()
    for mark, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        at = -1
        while (at := content.find(mark, at + 1)) >= 0:
            content = content[: at + place] + b"\x5d\x00" + content[at + place + 2 :]
    path.write_bytes(content)
    (found,) = read_lines(path)
    assert (found.prompt, found.reply.served, found.reply.outcome) == ("p", "m", "error")
