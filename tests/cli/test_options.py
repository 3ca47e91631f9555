"""One record per option: the command line, Python, tiltmeter.toml and docs/reference/options.md are made from it.

A new option and new formats of output are added to a copy of the package, and the files counted.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from inspect import cleandoc
from pathlib import Path
from typing import Any

import click
import pytest

from tests.test_floors import REPOSITORY, SOURCE
from tiltmeter.api.options import options as arguments
from tiltmeter.api.options import project
from tiltmeter.api.options.audit_options import AuditOptions
from tiltmeter.api.options.option import records
from tiltmeter.api.options.records import RunOptions
from tiltmeter.cli import VERBS, group
from tiltmeter.cli.options import Printing
from tiltmeter.models import Price
from tiltmeter.registry import protocol

PAGE = """
import contextlib, io
from tiltmeter.cli import main
def page(*arguments):
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        code = main(list(arguments))
    return [code, text.getvalue()]
"""
RECORD = """
    most_tries: Annotated[
        int, Option(default=7, least=1, in_folder=True, help="Tries of a call that fails.")
    ]
"""
FIELD = "    most_tries: int = 7\n"
OPTION = """
from pathlib import Path
from tiltmeter.api.options import options, project
from tiltmeter.api.options.records import RunOptions
shown = page("run", "--help")
Path("tiltmeter.toml").write_text("most_tries = 3", "utf-8")
print(json.dumps({
    "help": shown[1],
    "limits": [options.limits({}).most_tries, options.limits({"most_tries": 4}).most_tries],
    "python": "most_tries" in RunOptions.__optional_keys__,
    "folder": project.project_defaults(Path()),
}))
"""
TABLE = """
FORMATS["tsv"] = lambda table: "\\n".join("\\t".join(cells) for _, cells in table.rows)
"""
EXPORT = """
def _write_names(run, target, texts, variant):
    Path(target).mkdir()
    Path(target, "protocol.txt").write_text(f"{Run(run).protocol.name} {variant}", "utf-8")
    return [Path(target, "protocol.txt")]


FORMATS["names"] = _write_names
"""
FORMATS = """
from pathlib import Path
arguments = "run roles --model planted --language en --limit 2 --samples 1 --out run".split()
assert page(*arguments)[0] == 0
print(json.dumps({
    "help": page("table", "--help")[1] + page("quote", "--help")[1],
    "table": page("table", "run", "share_she", "--format", "tsv"),
    "export": page("export", "run", "--format", "names", "--out", "out"),
    "written": Path("out/protocol.txt").read_text("utf-8"),
    "unknown": page("export", "run", "--format", "excel", "--out", "other"),
}))
"""


def changed_copy(folder: Path, changes: dict[str, tuple[str, str]], script: str) -> dict[str, Any]:
    """Returns the JSON that a script prints with a copy of the package, and as "files" the number
    of files that are changed in it. changes: {file: (a text in it, the text in its place)}.
    """
    copy, before = folder / "tiltmeter", texts(SOURCE)
    shutil.copytree(SOURCE, copy)  # with what is compiled
    for name, (old, new) in changes.items():
        text = (copy / name).read_text("utf-8")
        assert text.count(old) == 1, name
        (copy / name).write_text(text.replace(old, new), "utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"import json{PAGE}{script}"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder), "COLUMNS": "100"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    after = texts(copy)
    changed = sum(after[name] != before.get(name) for name in after)
    return {**json.loads(done.stdout.splitlines()[-1]), "files": changed}


def typed(verb: str, *arguments: str) -> dict[str, object]:
    """The values of a verb's options after the arguments are parsed."""
    command = group.get_command(click.Context(group), verb)
    assert command is not None
    return command.make_context(verb, list(arguments)).params


def texts(folder: Path) -> dict[str, str]:
    """The Python files of a folder, by path."""
    return {str(path.relative_to(folder)): path.read_text("utf-8") for path in folder.rglob("*.py")}


def test_a_new_option_of_run_is_two_files(tmp_path: Path) -> None:
    record, field = "    workers: Annotated[", "    patience: float = PATIENCE_S\n"
    changes = {
        "api/options/records.py": (record, RECORD + record),
        "stages/engine/limits.py": (field, field + FIELD),
    }
    shown = changed_copy(tmp_path, changes, OPTION)
    assert "--most-tries INTEGER RANGE" in shown["help"]
    assert "Tries of a call that fails. [default: 7; x>=1]" in " ".join(shown["help"].split())
    assert shown["limits"] == [7, 4] and shown["python"]
    assert shown["folder"] == {"most_tries": 3}
    assert shown["files"] == 2


@pytest.mark.parametrize("room", ["table", "export"])
def test_a_new_format_is_one_file(tmp_path: Path, room: str) -> None:
    name, mark, added = {
        "table": ("report/tables/cross_table_formats.py", '    "csv": csv_text,\n}\n', TABLE),
        "export": ("api/handover/exchange.py", "run, target, texts=texts, variant=variant\n    ),\n}\n", EXPORT),
    }[room]  # fmt: skip
    script = FORMATS if room == "export" else FORMATS.replace('"names"', '"csv"')
    if room == "table":
        script = re.sub(r'    "(written|unknown)".*\n', "", script)
    else:
        script = script.replace('"tsv"', '"md"')
    shown = changed_copy(tmp_path, {name: (mark, mark + added)}, script)
    assert shown["files"] == 1 and shown["export"][0] == shown["table"][0] == 0
    if room == "table":
        assert "[text|md|latex|csv|tsv]" in shown["help"] and "[md|latex|csv|tsv]" in shown["help"]
        assert re.search(r"\.\d", shown["table"][1])
    else:
        assert shown["written"] == "roles default"
        assert shown["unknown"][0] == 2 and "huggingface, names." in shown["unknown"][1]


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
        (["--price", "openai:m=1/2"], "prices", {"openai:m": Price(1.0, 2.0)}),
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
    listed = (REPOSITORY / "docs" / "reference" / "cli.md").read_text("utf-8")
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


def test_commands_in_a_help_text_keep_their_lines() -> None:
    """click keeps the lines of a paragraph only if `\\b` stands on a line of its own before it."""
    for verb in VERBS:
        command = group.get_command(click.Context(group), verb)
        assert command is not None
        shown = command.get_help(click.Context(command, info_name=verb))
        assert "\b" not in shown, verb
        for line in cleandoc(command.help or "").splitlines():
            if line.startswith("tiltmeter "):
                assert f"\n  {line}\n" in shown, verb
