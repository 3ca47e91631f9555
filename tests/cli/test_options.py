"""One record per option: the command line, Python, tiltmeter.toml and docs/cli.md are made from it."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from tests.test_floors import REPOSITORY, SOURCE
from tiltmeter.api.options import options as arguments
from tiltmeter.api.options import project
from tiltmeter.api.options.records import AuditOptions, RunOptions, records
from tiltmeter.cli import VERBS, group
from tiltmeter.cli.options import Printing
from tiltmeter.registry import protocol

# A new option of `run`, for the test below: its record, and the field that takes its value.
RECORD = """
    most_tries: Annotated[
        int, Option(default=7, least=1, in_folder=True, help="Tries of a call that fails.")
    ]
"""
FIELD = "    most_tries: int = 7\n"
SCRIPT = """
import contextlib, io, json
from pathlib import Path
from tiltmeter.api.options import options, project
from tiltmeter.api.options.records import RunOptions
from tiltmeter.cli import main
page = io.StringIO()
with contextlib.redirect_stdout(page):
    main(["run", "--help"])
Path("tiltmeter.toml").write_text("most_tries = 3", "utf-8")
print(json.dumps({
    "help": page.getvalue(),
    "limits": [options.limits({}).most_tries, options.limits({"most_tries": 4}).most_tries],
    "python": "most_tries" in RunOptions.__optional_keys__,
    "folder": project.project_defaults(Path()),
}))
"""


def typed(verb: str, *arguments: str) -> dict[str, object]:
    """The values of a verb's options after the arguments are parsed."""
    command = group.get_command(click.Context(group), verb)
    assert command is not None
    return command.make_context(verb, list(arguments)).params


def texts(folder: Path) -> dict[str, str]:
    """The Python files of a folder, by path."""
    return {str(path.relative_to(folder)): path.read_text("utf-8") for path in folder.rglob("*.py")}


def test_a_new_option_of_run_is_two_files(tmp_path: Path) -> None:
    copy, before = tmp_path / "tiltmeter", texts(SOURCE)
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for name, place, more in (
        ("api/options/records.py", "    workers: Annotated[", RECORD),
        ("stages/engine/limits.py", "    patience: float = PATIENCE_S\n", FIELD),
    ):
        text = (copy / name).read_text("utf-8")
        assert text.count(place) == 1
        joined = place + more if more is FIELD else more + place
        (copy / name).write_text(text.replace(place, joined), "utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path), "COLUMNS": "100"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert "--most-tries INTEGER RANGE" in shown["help"]
    assert "Tries of a call that fails. [default: 7; x>=1]" in " ".join(shown["help"].split())
    assert shown["limits"] == [7, 4] and shown["python"]
    assert shown["folder"] == {"most_tries": 3}
    after = texts(copy)
    assert sum(after[name] != before.get(name) for name in after) == 2


def test_what_is_not_typed_is_what_python_has_by_default() -> None:
    options = typed("run", "roles", "--model", "planted", "--out", "run")
    declared = protocol("roles")
    assert arguments.limits(options) == arguments.limits({})  # type: ignore[arg-type]
    assert arguments.connect(options) == arguments.connect({})  # type: ignore[arg-type]
    assert arguments.batching(options) == arguments.batching({})  # type: ignore[arg-type]
    assert arguments.choices("planted", options, "roles", declared) == arguments.choices(  # type: ignore[arg-type]
        "planted", {}, "roles", declared
    )
    printing = {name: value for name, value in options.items() if name in Printing.__slots__}
    assert Printing(**printing) == Printing()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        (["--patience", "2"], "patience", 120.0),
        (["--base-url", "http://a/v1", "--base-url", "azure=http://b", "--base-url", "http://c"],
         "base_urls", {"": ["http://a/v1", "http://c"], "azure": ["http://b"]}),
        (["--price", "openai:m=1/2"], "prices", {"openai:m": (1.0, 2.0, 0.0)}),
        (["--column", "text = response", "--column", "prompt="], "columns", {"text": "response", "prompt": ""}),
        (["--where", "prompt=P1, P2"], "where", {"prompt": ("P1", "P2")}),
        (["--no-stop"], "stop", False),
        ([], "stop", None),
        (["--language", "en", "--language", "de"], "languages", ("en", "de")),
    ],
)  # fmt: skip
def test_what_is_typed_becomes_the_keyword_of_python(
    arguments: list[str], name: str, value: object
) -> None:
    assert typed("run", "roles", "-m", "planted", "--out", "r", *arguments)[name] == value


def test_declension_is_a_factor_with_an_option_of_its_own() -> None:
    declared = protocol("gramvis")
    chosen = arguments.choices("planted", {"declension": "published, correct"}, "gramvis", declared)
    assert chosen.where == {"declension": ("published", "correct")}
    both = {"declension": "published", "where": {"declension": "correct"}}
    assert arguments.choices("planted", both, "gramvis", declared).where == {  # type: ignore[arg-type]
        "declension": ("correct",)
    }


def test_the_keys_of_a_folder_name_no_address_and_no_file() -> None:
    known = project.keys()
    assert {"model", "judge", "max_cost", "patience", "variant"} <= set(known)
    assert not {"base_url", "system", "taxonomy", "builtin_from", "batch_file"} & set(known)
    listed = (REPOSITORY / "docs" / "cli.md").read_text("utf-8")
    line = next(line for line in listed.splitlines() if line.startswith("`tiltmeter.toml` in"))
    assert all(f"`{key}`" in line for key in known)
    assert not [record for record in known.values() if record.option.path]


def test_a_name_means_one_option_in_all_verbs() -> None:
    of_run = records(AuditOptions) | records(RunOptions)
    for verb in VERBS:
        command = group.get_command(click.Context(group), verb)
        assert command is not None
        for option in command.params:
            record = of_run.get(str(option.name))
            if isinstance(option, click.Option) and record and verb in ("plan", "label", "jobs"):
                assert (option.opts[0], option.help) == (
                    record.flags[0].split("/")[0],
                    record.option.help,
                )


def test_the_tables_of_docs_have_a_row_for_each_option() -> None:
    """What scripts/option_tables.py would write is there."""
    spec = importlib.util.spec_from_file_location(
        "option_tables", REPOSITORY / "scripts" / "option_tables.py"
    )
    assert spec is not None and spec.loader is not None
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    text = tables.PAGE.read_text("utf-8")
    assert tables.with_all_rows(text) == (text, [])
    without = "".join(line for line in text.splitlines(True) if "`--patience`" not in line)
    assert (
        "| `--patience` | minutes of an outage that a call outlasts; 30 |"
        in (tables.with_all_rows(without)[0])
    )
