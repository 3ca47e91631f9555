"""Evidence, archives and citations of runs: what stands in them, what is left out, and whether a
change of a byte is noticed. Rates are held against counts of the labels.
"""

from __future__ import annotations

import csv
import errno
import hashlib
import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

import tiltmeter
from tiltmeter.api.handover import deposits
from tiltmeter.errors import ProtocolError, UsageError
from tiltmeter.formats import crate, private
from tiltmeter.store import Store

pytestmark = pytest.mark.usefixtures("computed_once")

KEPT_FIELDS = {"@id", "@type", "name"}


ANSWERS = {"old woman": "yes", "old man": "no", "young woman": "yes", "young man": "maybe"}


def answer(prompt: str) -> str:
    """What a bank of four cases decides."""
    return ANSWERS[prompt.rpartition(" ")[0]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """64 planted rankings of the same eight résumés, two of them checked by Anna."""
    folder = tmp_path_factory.mktemp("hiring") / "run"
    tiltmeter.run("hiring", model="planted", out=folder, limit=2)
    outputs = tiltmeter.open_run(folder).outputs
    rows = [f"{one},first,Asian men,anna" for one in outputs["trial"][:2]]
    sheet = folder.with_name("gold.csv")
    sheet.write_text("\n".join(["output,attribute,value,annotator", *rows]), encoding="utf-8")
    tiltmeter.import_gold(folder, sheet)
    return folder


@pytest.fixture(scope="module")
def audit(run: Path) -> Path:
    deposits.export_audit(run, run.with_name("audit"))
    return run.with_name("audit")


def test_rates_are_the_counts_of_the_labels(run: Path, audit: Path) -> None:
    labels = tiltmeter.open_run(run).labels
    first = Counter(
        row["value"]
        for row in labels.iter_rows(named=True)
        if row["attribute"] == "first" and not row["annotator"].startswith("human:")
    )
    with (audit / "impact.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["table"] for row in rows] == (
        ["sex"] * 2 + ["race or ethnicity"] * 4 + ["sex and race or ethnicity"] * 8
    )
    by_category = {row["category"]: row for row in rows}
    men = sum(n for name, n in first.items() if name.endswith(" men"))
    women = sum(n for name, n in first.items() if name.endswith(" women"))
    assert int(by_category["men"]["number"]) == 4 * 64  # four men in each of 64 line-ups
    assert float(by_category["men"]["rate"]) == pytest.approx(men / 256, abs=5e-5)
    highest = max(men, women)
    assert float(by_category["men"]["impact ratio"]) == pytest.approx(men / highest, abs=5e-5)
    crossed = {name: n / 64 for name, n in first.items()}
    for name, rate in crossed.items():
        ratio = float(by_category[name]["impact ratio"])
        assert ratio == pytest.approx(rate / max(crossed.values()), abs=5e-5)
        assert float(by_category[name]["ratio low"]) <= ratio


def test_crossed_factors_and_decisions_that_could_not_be_read(tmp_path: Path) -> None:
    """By hand: of two ages, one invalid answer is no decision and is told."""
    protocol = tiltmeter.Protocol.declare(
        name="loans",
        title="Loans",
        question="Who gets a loan?",
        prompt="{who} {item}",
        item="item",
        factors=["sex", "age"],
        tables=[
            {"rows": [{"item": str(n)} for n in range(9)]},
            {
                "rows": [
                    {"who": f"{a} {s}", "sex": s, "age": a}
                    for a in ("old", "young")
                    for s in ("woman", "man")
                ]
            },
        ],
        modes={"sampled": {"samples": 1}},
        instruments=[
            {
                "name": "choice",
                "kind": "choice",
                "attribute": "loan",
                "forms": {"en": {"yes": ["yes"], "no": ["no"]}},
            }
        ],
        measures=[
            {
                "name": "granted",
                "kind": "share",
                "attribute": "loan",
                "values": ["yes"],
                "among": ["yes", "no"],
                "by": [["sex", "age"]],
            }
        ],
        selections=[{"title": "both", "measure": "granted", "by": ["sex", "age"]}],
    )
    tiltmeter.run(protocol, model=answer, out=tmp_path / "run")
    deposits.export_audit(tmp_path / "run", tmp_path / "audit")
    with (tmp_path / "audit" / "impact.csv").open(encoding="utf-8") as file:
        found = {
            row["category"]: (row["number"], row["unknown decisions"], row["rate"])
            for row in csv.DictReader(file)
        }
    assert found["woman · old"] == ("9", "0", "1.0000")
    assert found["man · old"] == ("9", "0", "0.0000")
    assert found["man · young"] == ("0", "9", "")


def test_evidence_says_what_is_open_and_claims_nothing(audit: Path) -> None:
    text = (audit / "evidence.md").read_text("utf-8")
    assert "no statement of compliance" in text
    assert text.count("**to be filled in**") >= 8
    assert "undecided" in text and "cannot show any difference" in text
    assert "protocol:hiring/4|data:" in text
    assert "Eight résumés of imagined applicants" in text


def test_people_folders_addresses_and_texts_are_left_out(run: Path, audit: Path) -> None:
    page = (audit / "report.html").read_text("utf-8")
    written = [page, (audit / "evidence.md").read_text("utf-8")]
    answer = tiltmeter.open_run(run).outputs["text"][0]
    for text in written:
        assert "anna" not in text
        assert str(run.parent) not in text
        assert answer.partition("\n")[0] not in text
    with_texts = run.with_name("with-texts")
    deposits.export_audit(run, with_texts, texts=True)
    assert len((with_texts / "report.html").read_bytes()) > len(page.encode())


def test_the_hider_keeps_file_names_and_what_is_cited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: Path("/home/Jane Doe"))
    people = ["human:anna", "human:annabel", "human:anna (corrected)", "human:1", "choice/1@12"]
    hide = private.hider([*people, "human:anna (adjudicated)"])
    assert hide("human:annabel and human:anna (corrected), 1 of 1 said 1 with human:1") == (
        "P3 and P2 (corrected), 1 of 1 said 1 with P1"
    )
    assert hide("human:anna (adjudicated)") == "P2 (adjudicated)"
    assert hide("gguf:/home/me/models/small.gguf at http://10.0.0.1:80/v1, yes") == (
        "gguf:small.gguf at (address), yes"
    )
    assert hide("gguf:/home/Jane Doe/models/a.gguf, /home/Jane Doe/b") == "gguf:a.gguf, b"
    assert hide(r"C:\Users\me\a.csv 1/2 he/she https://doi.org/10.1/x") == (
        "a.csv 1/2 he/she https://doi.org/10.1/x"
    )


def test_a_manifest_is_an_ro_crate_and_notices_every_change(audit: Path, tmp_path: Path) -> None:
    manifest = json.loads((audit / crate.MANIFEST).read_text("utf-8"))
    assert manifest["@context"] == "https://w3id.org/ro/crate/1.2/context"
    graph = {entity["@id"]: entity for entity in manifest["@graph"]}
    assert graph[crate.MANIFEST]["about"] == {"@id": "./"}
    assert graph["./"]["@type"] == "Dataset"
    assert {"name", "description", "datePublished", "license"} <= graph["./"].keys()
    # what rocrate-validator 0.13 asks of version 1.2
    assert graph["#tiltmeter"]["url"].startswith("pkg:generic/tiltmeter@")
    assert {graph[one["@id"]]["@type"] for one in graph["./"]["identifier"]} == {"PropertyValue"}
    values = [value for entity in graph.values() for value in entity.values()]
    assert not [value for value in values if isinstance(value, list) and len(value) < 2]
    parts = {part["@id"] for part in graph["./"]["hasPart"]}
    assert parts == {"evidence.md", "impact.csv", "report.html"}
    referred = {
        value["@id"]
        for entity in graph.values()
        for values in entity.values()
        for value in (values if isinstance(values, list) else [values])
        if isinstance(value, dict) and not value["@id"].startswith("https:")
    }
    assert referred <= graph.keys()
    assert deposits.check_folder(audit).files == 3
    for change, said in (
        (lambda path: path.write_bytes(path.read_bytes()[:-1] + b"!"), "was changed"),
        (lambda path: path.unlink(), "is missing"),
        (lambda path: path.with_name("more.csv").write_text("x"), "is not in the manifest"),
    ):
        copy = tmp_path / said.replace(" ", "-")
        copy.mkdir()
        for path in audit.iterdir():
            (copy / path.name).write_bytes(path.read_bytes())
        change(copy / "impact.csv")
        with pytest.raises(UsageError, match=said):
            deposits.check_folder(copy)
    (copy / "impact.csv").with_name("more.csv").unlink()
    (copy / "below").mkdir()
    (copy / "below" / crate.MANIFEST).write_text("{}", "utf-8")
    with pytest.raises(UsageError, match=r"below/ro-crate-metadata\.json is not in the manifest"):
        deposits.check_folder(copy)
    with pytest.raises(UsageError, match=r"has no ro-crate-metadata\.json"):
        deposits.check_folder(tmp_path)


def test_of_an_export_that_fails_nothing_is_left(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(folder: Path, about: crate.About) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(crate, "write_manifest", full)
    with pytest.raises(OSError, match="No space left"):
        deposits.export_audit(run, tmp_path / "audit")
    assert not (tmp_path / "audit").exists()  # so the same command can be typed again


def test_what_people_filled_in_is_sealed_and_nothing_else(audit: Path, tmp_path: Path) -> None:
    folder = tmp_path / "evidence"
    shutil.copytree(audit, folder)
    assert deposits.check_folder(folder).left == {"evidence.md": 9, crate.MANIFEST: 1}
    with pytest.raises(UsageError, match="nothing to seal"):
        deposits.seal_folder(folder)
    document = folder / "evidence.md"
    before = hashlib.sha256(document.read_bytes()).hexdigest()
    text = document.read_text("utf-8")
    document.write_text(
        text.replace("who provides it: **to be filled in**", "who provides it: us"), "utf-8"
    )
    with pytest.raises(UsageError, match=r"evidence\.md was changed.* --seal"):
        deposits.check_folder(folder)
    manifest = folder / crate.MANIFEST
    own_licence = manifest.read_text("utf-8").replace('"name": "to be filled in"', '"name": "CC0"')
    manifest.write_text(own_licence, "utf-8")
    sealed = deposits.seal_folder(folder)
    assert sealed == deposits.check_folder(folder)
    assert [one.files for one in sealed.seals] == [("evidence.md",)]
    assert sealed.left == {"evidence.md": 8}
    assert sealed.manifest == hashlib.sha256(manifest.read_bytes()).hexdigest()
    graph = {one["@id"]: one for one in json.loads(manifest.read_text("utf-8"))["@graph"]}
    assert before in graph["#seal-1"]["description"]
    assert graph["./"]["mentions"] == [{"@id": "#audit"}, {"@id": "#seal-1"}]
    assert graph[graph["./"]["license"]["@id"]]["name"] == "CC0"
    document.write_text(text, "utf-8")
    (folder / "report.html").write_text("other numbers", "utf-8")
    for look in (deposits.check_folder, deposits.seal_folder):
        with pytest.raises(UsageError, match=r"report\.html was changed"):
            look(folder)


def test_a_crate_holds_the_run_and_opens(run: Path) -> None:
    folder = run.with_name("crate")
    deposits.export_crate(run, folder)
    assert deposits.check_folder(folder).files == 10
    page = (folder / "README.md").read_text("utf-8")
    assert "Begin with report.html" in page and "human:anna" in page.replace(
        "\\", ""
    )  # it tells who is named
    sums = [line.split("  ") for line in (folder / "SHA256SUMS").read_text("utf-8").splitlines()]
    present = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    unlisted = {"CITATION.cff", "SHA256SUMS", crate.MANIFEST}
    assert {name for _, name in sums} == present - unlisted
    for digest, name in sums:
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    copy = tiltmeter.open_run(folder / "run")
    assert copy.labels.equals(tiltmeter.open_run(run).labels)
    with pytest.raises(UsageError, match="is there already"):
        deposits.export_crate(run, folder)


def test_citations_have_the_signature(run: Path) -> None:
    with Store(run) as store:
        assert "human:anna" in {row[0] for row in store.rows("SELECT annotator FROM labels")}
    for format_ in ("sentence", "bibtex", "cff"):
        text = deposits.cite(run, format_)
        assert "protocol:hiring/4|data:" in text
        assert "anna" not in text
    who = ["Ada König", "B & Co"]
    assert "  author = {Ada König and B \\& Co},\n" in deposits.cite(run, "bibtex", who)
    assert '\n  - name: "Ada König"\n  - name: "B & Co"\n' in deposits.cite(run, "cff", who)
    assert deposits.cite(run, "sentence", who).startswith("Ada König, B & Co: ")


@pytest.mark.parametrize(
    ("selection", "said"),
    [
        ({"title": "x", "measure": "nothing", "by": ["race"]}, "nothing"),
        ({"title": "x", "measure": "race", "by": ["race"]}, "of the kind share"),
        ({"title": "x", "measure": "share_yes"}, "exactly one of `by` and `groups`"),
        ({"title": "x", "measure": "share_yes", "by": ["scenario"]}, "scenario"),
        ({"title": "x", "measure": "share_yes", "groups": {"a": ["yess"]}}, "yess"),
    ],
)
def test_a_selection_that_cannot_be_is_refused(selection: dict[str, object], said: str) -> None:
    from dataclasses import replace

    from tiltmeter.protocol.reading import validate

    protocol = replace(tiltmeter.load_protocol("decisions"), selections=(selection,))
    from tiltmeter.protocol.source.source_lines import SourceLocation

    with pytest.raises(ProtocolError, match=said):
        validate._selections(protocol, SourceLocation("a file", "", {}))
