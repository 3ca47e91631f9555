"""Keys of the environment stay out of all that is written, in whatever form a server or a program gives them."""

from __future__ import annotations

import html
import json
import shutil
import zipfile
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote, quote_plus

import polars as pl
import pytest

from tests.store.test_gate import OWN
from tiltmeter import api
from tiltmeter.api.handover import exchange
from tiltmeter.cli import main
from tiltmeter.errors import ModelError, UsageError
from tiltmeter.records import Label, Message, Output, Reply, Request, Sampling, Token, Trial
from tiltmeter.secret_filter import environment_secrets, mask, without
from tiltmeter.store import Store

pytestmark = pytest.mark.usefixtures("computed_once")

KEYS = ("sk-ab12+CD34/ef56==gh", "plainkey1234567", "p@ss&word<9>'\"xyz", "Schlüssel-ß-99+1")
CANARY = KEYS[0]


def forms(key: str) -> Mapping[str, str]:
    """A key in the forms that programs give it."""
    return {
        "as it is": key,
        "JSON": json.dumps(key)[1:-1],
        "JSON, slashes escaped": key.replace("/", "\\/"),
        "JSON, some escaped": key.replace("+", "\\u002b").replace("/", "\\u002F"),
        "JSON, all escaped": "".join(f"\\u{ord(c):04x}" for c in key),
        "JSON twice": json.dumps(json.dumps(key)[1:-1])[1:-1],
        "URL": quote(key, safe=""),
        "URL, lower case": "".join(f"%{b:02x}" for b in key.encode()),
        "form": quote_plus(key),
        "HTML": html.escape(key),
        "HTML, numbers": "".join(f"&#{ord(c)};" for c in key),
        "HTML, hexadecimal": "".join(f"&#x{ord(c):x};" for c in key),
        "Base64": b64encode(key.encode()).decode(),
        "Base64 of a URL": urlsafe_b64encode(key.encode()).decode(),
        "Base64 of a login": b64encode(f"me:{key}".encode()).decode(),
        "hexadecimal": key.encode().hex(),
        "Python": repr(key)[1:-1],
    }


@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_cut_out_in_every_form(key: str) -> None:
    for name, form in forms(key).items():
        said = without([key], f'{{"error": "bad key {form} of you"}}')
        assert form not in said and "***" in said, name
        pieces = [form[n : n + 8] for n in range(4, len(form) - 12)]
        assert not any(piece in said for piece in pieces), name
    text = "an answer that has nothing of it: she + he = 5 / 6 &amp; %41 \\u0041 &#65;"
    assert without(KEYS, text) == text


def test_passwords_of_proxies_and_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://me:pass%2Bword99@proxy:3128")
    assert {"pass%2Bword99", "pass+word99"} <= set(environment_secrets())
    assert "abcdef" not in mask((), "http://h/v1?token=abcdef&x=1")


def test_a_model_whose_name_holds_a_key_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", CANARY)
    for name in (f"cmd:ask {CANARY}", "cmd:ask --api-key abcdef123", "openai:m?token=abcdef123"):
        with pytest.raises(UsageError, match="is stored and shown") as told:
            api.run("roles", name, tmp_path / "run", language="en", limit=1)
        assert CANARY not in str(told.value) and "abcdef123" not in str(told.value)
    assert not (tmp_path / "run").exists()


VERBS = (
    *("explore {run} --static {out}/pages", "report {run} --brief --out {out}/brief.html"),
    *("report {run} {copy} --out {out}/two.html", "compare {run} {copy} --full --out {out}/c.html"),
    *("history {run} {copy} --out {out}/h.html", "analyse {run} --full --junit {out}/j.xml"),
    *("analyse {run} --json", "table {run}", "figure {run} --out {out}/figures", "log {run}"),
    *("quote {run} pronoun --number 20", "cite {run} --format cff", "jobs {run} --money"),
    *("validate {run} --sample 9 --sheet {out}/sheet.csv", "label {run} --anew", "validate {run}"),
    *("export {run} --verify", "export {out}/crate --verify", "export {run} --verify --json"),
    "merge {run} {copy} --out {out}/merged",
    "audit {out}/jsonl/outputs.jsonl --swap gender --model planted:she=.8 --out {out}/audited",
)


def unpacked(path: Path) -> Iterator[bytes]:
    """What a file holds, as it is and as a program reads it."""
    yield path.read_bytes()
    if path.suffix == ".parquet":
        yield str(pl.read_parquet(path).to_dicts()).encode()
    elif path.suffix == ".sqlite":
        with Store(path.parent) as store:
            for table in ("calls", "outputs", "labels", "artefacts", "meta", "batches"):
                yield str([*store.rows(f"SELECT * FROM {table}")]).encode()
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            yield from map(archive.read, archive.namelist())


def test_a_canary_is_in_nothing_that_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A model that says the key in every form; a run, its report, every export and every verb."""
    monkeypatch.setenv("SOME_API_KEY", CANARY)
    said = iter(f"she {form}" for form in [*forms(CANARY).values()] * 9)
    run = tmp_path / "run"
    api.run("roles", {"mine": lambda prompt: next(said)}, run, language="en", limit=9, samples=2)
    api.report(run, path=tmp_path / "report.html")
    api.report(run, path=tmp_path / "report.md")
    with Store(run) as store:
        outputs = [row[0] for row in store.rows("SELECT trial FROM outputs WHERE outcome='answer'")]
    rows = [
        f'{output},she,"ann {form}"\n'
        for output, form in zip(outputs, forms(CANARY).values(), strict=False)
        if '"' not in form
    ]
    sheet = tmp_path.parent / "people.csv"
    sheet.write_text(f"output,value,annotator\n{''.join(rows)}", "utf-8")
    api.import_gold(run, sheet)
    for format_ in exchange.FORMATS:
        api.export_as(format_, run, tmp_path / format_, texts=True)
    copy = shutil.copytree(run, tmp_path / "copy")
    for words in VERBS:
        main(
            [
                "--log",
                str(tmp_path / "log"),
                *words.format(run=run, copy=copy, out=tmp_path).split(),
            ]
        )
    said_by_all = "".join(capsys.readouterr())
    (tmp_path / "terminal.txt").write_text(said_by_all, "utf-8")
    assert "Traceback" not in said_by_all and "bug of tiltmeter" not in said_by_all
    with Store(run) as store:
        assert store.first("SELECT count(*) FROM outputs WHERE text LIKE '%***%'")[0] > 30
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 60
    for path in files:
        for content in unpacked(path):
            for name, form in forms(CANARY).items():
                assert form.encode() not in content, (path.name, name)


@pytest.mark.parametrize(
    "kind", ["openai", "anthropic", "gemini", "mistral", "groq", "azure", "together"]
)
def test_a_token_of_an_address_is_in_no_message(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor in what the run keeps, by the command line and by Python."""
    for name in ("OPENAI", "ANTHROPIC", "GEMINI", "MISTRAL", "GROQ", "AZURE_OPENAI", "TOGETHER"):
        monkeypatch.setenv(f"{name}_API_KEY", "k1234567890")
    monkeypatch.setenv("HTTP_PROXY", "http://me:canary-of-proxy@127.0.0.1:9")
    address = "http://127.0.0.1:9/v1?token=canary-of-address"
    given = {"language": "en", "limit": 1, "samples": 1, "patience": 0.01}
    with pytest.raises(ModelError, match="Nothing answers at") as told:
        api.run("roles", f"{kind}:m", tmp_path / "run", base_urls={kind: address}, **given)  # type: ignore[arg-type]
    typed = ["run", "roles", "--model", f"{kind}:m", "--language", "en", "--limit", "1"]
    assert main([*typed, "--base-url", f"{kind}={address}", "--out", str(tmp_path / "run")]) == 1
    said = f"{told.value}{capsys.readouterr()}"
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert "canary" not in said and b"canary" not in kept


@pytest.mark.parametrize(
    "field", ['"Say {word}."', '"smith"', '"Two"', '"It is a test."', '"Is it so?"']
)
def test_a_key_in_a_protocol_is_refused(
    field: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It could not be cut out of what is asked, and the run would keep it."""
    path = tmp_path / "mine.toml"
    path.write_text(OWN.replace(field, json.dumps(field.strip('"') + CANARY)), "utf-8")
    monkeypatch.setenv("SOME_API_KEY", CANARY)
    with pytest.raises(UsageError, match=r"value of SOME_API_KEY.* env -u SOME_API_KEY") as told:
        api.run(path, f"planted:protocol={path}", tmp_path / "run")
    assert CANARY not in str(told.value) and not (tmp_path / "run").exists()
    monkeypatch.delenv("SOME_API_KEY")
    api.run(path, f"planted:protocol={path}", tmp_path / "run")


def test_a_key_in_a_setting_or_a_sheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", CANARY)
    given = {"language": "en", "limit": 1, "samples": 1}
    for name in ("begin", "system"):
        with pytest.raises(UsageError, match="value of SOME_API_KEY"):
            api.run("roles", "planted:she=.8", tmp_path / "run", **given, **{name: CANARY})  # type: ignore[arg-type]
    run = api.run("roles", "planted:she=.8", tmp_path / "run", **given)  # type: ignore[arg-type]
    sheet = tmp_path / "sheet.csv"
    sheet.write_text(f"output,value,annotator\n{run.outputs['trial'][0]},she,{CANARY}\n", "utf-8")
    assert api.import_gold(tmp_path / "run", sheet).annotators == ("human:***",)


@pytest.mark.parametrize("form", forms(CANARY))
def test_a_key_is_in_no_field_of_a_reply_that_is_stored(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor in a label, nor spelled over several tokens."""
    monkeypatch.setenv("SOME_API_KEY", CANARY)
    key = forms(CANARY)[form]
    trial = Trial("t1", "m", "exact", {"word": "nurse"}, 0, "Who?", "", Sampling())
    whole = ((Token(f"she {key}".encode(), -0.1), Token(b"he", -2.0)),)
    pieces = tuple((Token(key[n : n + 5].encode(), -0.1),) for n in range(0, len(key), 5))
    texts = dict.fromkeys(("raw", "revised", "served", "fingerprint", "remote"), f"it {key} is")
    with Store(tmp_path / "run", create=True, writing=True) as store:
        list(store.iter_unanswered([trial]))
        for number, tokens in enumerate((whole, pieces, ())):
            asked = Request(
                "openai:m", (Message("user", "Who?"),), Sampling(), nonce=f"t1/{number}"
            )
            reply = Reply(f"she {key}", alternatives=tokens, **texts)
            output = Output("t1", "answer", reply.text, asked.key)
            label = Label("t1", "choice/1", "word", f"the {key}")
            store.write([(asked, reply)], [output][number:], [label][number:])
            kept = store.reply(asked.key)
            assert kept is not None and kept.alternatives == () and "***" in kept.served
        store.keep("kind", "name", json.dumps({"it": key}))
        store.put("last_run", {"last_failure": key})
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert key.encode() not in stored and key.encode().hex().encode() not in stored
    with Store(tmp_path / "run") as store:
        texts_of = " ".join(map(str, store.rows("SELECT raw, text, remote_id FROM calls")))
    assert key not in texts_of
