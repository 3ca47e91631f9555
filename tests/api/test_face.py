"""What a caller sees of tiltmeter: names, types, nothing heavy on import, old names for one version."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tiltmeter
from tests.test_floors import SOURCE
from tiltmeter import api, registry
from tiltmeter.errors import UnknownName
from tiltmeter.protocol import Protocol

ROOT = Path(__file__).parents[2]
HEAVY = {
    "aiohttp",
    "click",
    "jinja2",
    "numpy",
    "PIL",
    "polars",
    "rich",
    "scipy",
    "starlette",
    "xllamacpp",
}
VERBS = {
    "compare",
    "draw_gold_sample",
    "export",
    "import_gold",
    "import_outputs",
    "label",
    "load_protocol",
    "merge",
    "open_run",
    "plan",
    "run",
    "selftest",
    "use_copy",
    "validate",
}


def test_the_public_names() -> None:
    assert set(tiltmeter.__all__) == VERBS | {"Plan", "Protocol", "Run", "__version__"}
    assert dir(tiltmeter) == sorted(tiltmeter.__all__)
    assert all(callable(getattr(tiltmeter, name)) for name in VERBS)
    assert {type(getattr(tiltmeter, name)) for name in ("Plan", "Protocol", "Run")} == {type}


def test_no_public_name_is_that_of_a_room() -> None:
    """Else the name would mean the one or the other, by what was imported before."""
    rooms = {path.stem for path in SOURCE.iterdir() if path.suffix in ("", ".py")}
    assert "stages" in rooms
    assert not rooms & set(tiltmeter.__all__)


def test_no_name_of_the_api_is_that_of_a_file() -> None:
    """Else the name would mean the one or the other, by what was imported before."""
    files = {path.stem for path in (SOURCE / "api").iterdir() if path.suffix in ("", ".py")}
    assert not files & set(api.__all__)
    assert all(callable(getattr(api, name)) for name in set(api.__all__) - {"checks"})
    assert api.checks.ThresholdCheck is api.ThresholdCheck
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        api.nonsense  # noqa: B018


def test_an_unknown_name_is_none() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        tiltmeter.nonsense  # noqa: B018


def modules_of(code: str) -> set[str]:
    """The packages that a new process has imported after running `code`."""
    program = f"import sys; {code}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    ("code", "allowed"),
    [
        ("import tiltmeter", set()),
        ("import tiltmeter; tiltmeter.Protocol; tiltmeter.load_protocol", set()),
        ("from tiltmeter.cli import main; main(['--help'])", {"click"}),
        ("from tiltmeter.cli import main; main(['run', '--help'])", {"click"}),
    ],
)
def test_nothing_heavy_is_imported_for_a_look(code: str, allowed: set[str]) -> None:
    assert modules_of(code) & HEAVY == allowed


CALLER = '''
import tiltmeter

reveal_type(tiltmeter.run)
reveal_type(tiltmeter.plan("roles", "planted").trials)
reveal_type(tiltmeter.open_run("run").estimates)
reveal_type(tiltmeter.load_protocol("roles"))
audit = tiltmeter.Protocol.declare(
    name="raises", title="A raise", question="Less often?", prompt="{who}", factors=["who"],
    item="who", tables=[{"rows": [{"who": "Emily"}]}],
    measures=[{"name": "gap", "kind": "share", "attribute": "advice", "values": ["raised"]}],
)
run = tiltmeter.run(audit, "planted", "out", limit=3, language="en", where={"who": ["Emily"]})
assert isinstance(run.protocol, tiltmeter.Protocol) and run.check("gap > 0.1").exit_code == 0
for sentence in run.warnings():
    print(sentence)
tiltmeter.run(3, nonsense=True)
tiltmeter.label("run", limit=3)
tiltmeter.nonsense
tiltmeter.Protocol.declare(titel="A raise")
'''  # fmt: skip
WRONG = {
    'Unexpected keyword argument "nonsense" for "run"': 17,
    'Argument 1 to "run" has incompatible type "int"; expected "str | Path | Protocol"': 17,
    'Unexpected keyword argument "limit" for "label"': 18,
    'Module has no attribute "nonsense"': 19,
    'Unexpected keyword argument "titel" for "declare" of "Protocol"': 20,
}


def test_a_caller_is_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the settings of this repository, whose cache makes it quick after `mypy` itself."""
    monkeypatch.setenv("MYPYPATH", str(SOURCE.parent))
    caller = tmp_path / "caller.py"
    caller.write_text(CALLER, encoding="utf-8")
    options = {"--config-file": ROOT / "pyproject.toml", "--cache-dir": ROOT / ".mypy_cache"}
    mypy = [sys.executable, "-m", "mypy", *(f"{name}={path}" for name, path in options.items())]
    done = subprocess.run([*mypy, "--strict", str(caller)], capture_output=True, text=True)
    assert done.returncode == 1, (
        done.stderr
    )  # a process of its own: mypy raises the recursion limit
    printed = done.stdout.splitlines()
    lines = [line.partition("caller.py:")[2] for line in printed if "caller.py:" in line]
    notes = {int(line.split(":")[0]): line for line in lines if ": note: Revealed" in line}
    assert "model: str | (def (*Any" in notes[4]
    assert "'samples'?: int | None" in notes[4]
    assert notes[4].endswith('-> tiltmeter.api.runs.run_folder.Run"')
    assert notes[5].endswith('"int"') and notes[6].endswith('frames.Frame"')
    assert notes[7].endswith('"tiltmeter.protocol.Protocol"')
    errors = [line for line in lines if ": error: " in line]
    for text, number in WRONG.items():
        assert any(line.startswith(f"{number}:") and text in line for line in errors), text
    assert {int(line.split(":")[0]) for line in errors} == set(WRONG.values())


def test_an_option_that_no_verb_has_is_named_at_run_time(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r"No option 'sample'\. Did you mean 'samples'"):
        tiltmeter.run("roles", "planted", tmp_path, sample=3)  # type: ignore[call-arg]
    with pytest.raises(UnknownName, match="No option 'max_cost'"):
        tiltmeter.plan("roles", "planted", max_cost=3)  # type: ignore[call-arg]


def test_a_protocol_and_a_run_are_readable(tmp_path: Path) -> None:
    protocol = tiltmeter.load_protocol("roles")
    assert isinstance(protocol, tiltmeter.Protocol) and protocol is registry.protocol("roles")
    assert repr(protocol) == (
        "<Protocol roles 1: Gendered role selection; modes sampled, exact; 4 measures>"
    )
    run = tiltmeter.run("roles", "planted", tmp_path / "run", limit=2, language="en", samples=1)
    assert repr(run) == f"<Run {tmp_path / 'run'}: roles 1, 4 outputs, 4 labels>"
    (tmp_path / "run" / "run.sqlite").unlink()
    assert repr(run).startswith(f"<Run {tmp_path / 'run'}: roles 1, ") and "not a run" in repr(run)


@pytest.mark.parametrize(
    ("old", "new"),
    [("load", "open_run"), ("import_", "import_outputs"), ("sample", "draw_gold_sample")],
)
def test_old_names_work_with_a_warning(old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"tiltmeter.{old} is tiltmeter.{new} now"):
        assert getattr(tiltmeter, old) is getattr(tiltmeter, new)


def test_the_old_constructor_works_with_a_warning() -> None:
    keys = {
        "name": "old-raises",
        "title": "A raise",
        "question": "Less often?",
        "prompt": "Is {who} good?",
        "factors": ["who"],
        "item": "who",
        "tables": [{"rows": [{"who": "Emily"}, {"who": "Jacob"}]}],
    }
    with pytest.warns(DeprecationWarning, match="is tiltmeter.Protocol.declare"):
        old = tiltmeter.Protocol(**keys)  # type: ignore[arg-type]
    assert old == Protocol.declare(**keys)  # type: ignore[misc]
    assert old.digest == Protocol.declare(**keys).digest  # type: ignore[misc]
    assert list(old.modes) == ["sampled"] and old.definition["declared"]["item"] == "who"


def test_a_plan_is_still_read_by_its_old_keys() -> None:
    plan = tiltmeter.plan("soda", "planted:protocol=soda", limit=1)
    assert plan.as_dict()["aside"] == plan.for_discovery > 0
    with pytest.warns(DeprecationWarning, match=r"write plan\(…\)\.trials"):
        assert plan["trials"] == plan.trials
