"""Every verb where an event loop runs already, as in a notebook, and in threads; the stop button; what a notebook displays."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import tiltmeter
from tiltmeter.api.check import doctor
from tiltmeter.api.runs.progress import NotebookBars, ProgressBar, notebook_watch
from tiltmeter.display import document
from tiltmeter.errors import MissingKey
from tiltmeter.stages.engine.interruption import on_interruption
from tiltmeter.stages.engine.limits import Tally
from tiltmeter.stages.engine.run_coroutine import wait_for

from ..protocols.test_gramvis import counted

SMALL = {"language": "en", "limit": 6, "samples": 2}
MODEL = "planted:she=0.7"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, made inside a running loop."""
    folder = tmp_path_factory.mktemp("loops")

    async def both() -> None:
        tiltmeter.run("roles", MODEL, folder / "a", **SMALL)
        tiltmeter.run("roles", "planted:she=0.5", folder / "b", **SMALL)

    asyncio.run(both())
    return folder


VERBS: dict[str, Callable[[Path], object]] = {
    "run": lambda home: tiltmeter.run("roles", MODEL, home / "a", **SMALL),
    "label": lambda home: tiltmeter.label(home / "a", judge="planted:accuracy=0.9"),
    "plan": lambda home: tiltmeter.plan("roles", MODEL, **SMALL),
    "open_run": lambda home: tiltmeter.open_run(home / "a").estimates,
    "warnings": lambda home: tiltmeter.open_run(home / "a").warnings(),
    "check": lambda home: tiltmeter.open_run(home / "a").check("share_she > 0.9"),
    "report": lambda home: tiltmeter.open_run(home / "a").report(),
    "compare": lambda home: tiltmeter.compare(home / "a", home / "b"),
    "merge": lambda home: tiltmeter.merge([home / "a"], home / "merged"),
    "export": lambda home: tiltmeter.export(home / "a", home / "tables", "csv"),
    "validate": lambda home: tiltmeter.validate(home / "a"),
    "draw_gold_sample": lambda home: tiltmeter.draw_gold_sample(home / "b", 4, home / "s.csv"),
    "import_gold": lambda home: tiltmeter.import_gold(home / "b", _gold(home)),
    "import_outputs": lambda home: tiltmeter.import_outputs(
        "gramvis", counted(home, {}), home / "c"
    ),
    "load_protocol": lambda home: tiltmeter.load_protocol("roles"),
    "selftest": lambda home: tiltmeter.selftest(["words"]),
    "doctor": lambda home: doctor.look([MODEL], call=True),
}
NO_VERBS = {"Plan", "Protocol", "Run", "__version__", "use_copy"}  # they ask nothing


def _gold(home: Path) -> Path:
    output = tiltmeter.open_run(home / "b").outputs["trial"][0]
    path = home / "gold.csv"
    path.write_text(f"output,value,annotator\n{output},she,ann\n", "utf-8")
    return path


def test_no_verb_is_left_out() -> None:
    assert set(tiltmeter.__all__) - NO_VERBS <= set(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_works_inside_a_running_loop(verb: str, folder: Path) -> None:
    async def cell() -> object:
        return VERBS[verb](folder)

    assert asyncio.run(cell()) is not None


def test_an_error_comes_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not "during handling of" another one about loops, which is nobody's business."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(MissingKey) as raised:
        tiltmeter.run("roles", "openai:m", tmp_path, limit=1)
    assert raised.value.__context__ is None


def test_it_works_in_threads(tmp_path: Path) -> None:
    """Four at once, each in a thread of its own, find what one finds alone."""
    with ThreadPoolExecutor(4) as pool:
        runs = [
            pool.submit(tiltmeter.run, "roles", MODEL, tmp_path / str(n), **SMALL) for n in range(4)
        ]
        values = {tuple(run.result().estimates["value"]) for run in runs}
    assert len(values) == 1


def stop_in_a_cell(work: Callable[[threading.Event], Any]) -> object:
    """Runs a coroutine inside a running loop, with a KeyboardInterrupt once it has begun."""
    begun = threading.Event()

    async def cell() -> object:
        return wait_for(work(begun))

    def press() -> None:
        begun.wait(300)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press).start()
    return asyncio.run(cell())


def test_the_stop_button_ends_a_run_in_order() -> None:
    async def work(begun: threading.Event) -> str:
        stopped = asyncio.Event()
        with on_interruption(stopped.set):
            begun.set()
            await stopped.wait()
        return "in order"

    assert stop_in_a_cell(work) == "in order"


def test_the_stop_button_ends_what_cannot_stop_in_order() -> None:
    async def work(begun: threading.Event) -> None:
        begun.set()
        await asyncio.Event().wait()

    with pytest.raises(KeyboardInterrupt):
        stop_in_a_cell(work)


def test_frames_are_typed_and_become_pandas_without_another_package(folder: Path) -> None:
    run = tiltmeter.open_run(folder / "a")
    she = run.estimates.filter(pl.col("measure") == "share_she")
    assert she["condition"].struct.field("language").to_list()[0] == "en"
    first = {one["label"]: one["count"] for one in she["outcomes"][0]}
    assert sum(first.values()) == 24.0
    assert run.estimates.schema["null_low"] == pl.Float64
    assert run.labels.schema["current"] == pl.Boolean
    assert run.calls.schema["date"] == pl.Datetime("us", "UTC")
    assert set(run.trials["factors"].struct.field("order")) == {"he_first", "she_first"}
    assert set(run.trials["sampling"].struct.field("max_tokens")) == {64}
    made = run.estimates.to_pandas()
    assert set(made["condition.language"]) == {"en"} and str(made["value"].dtype) == "float64"
    assert str(run.calls.to_pandas()["date"].dtype).startswith("datetime64")


def test_displays_are_small_pages(folder: Path) -> None:
    """protext has 640 long prompts, and a plan of gramvis 60 rows of designs."""
    shown = [
        tiltmeter.open_run(folder / "a"),
        tiltmeter.plan("roles", "openai:gpt-4.1-mini", language="en"),
        tiltmeter.load_protocol("protext"),
        tiltmeter.compare(folder / "a", folder / "b"),
    ]
    for one in shown:
        page = one._repr_html_()
        assert len(page) < 12_000 and len(repr(one)) < 300
        assert not re.search("<script|style=|<style", page)
    assert "about $0.22" in repr(shown[1])


def test_a_page_cuts_and_escapes() -> None:
    blocks = [
        document.Block(lines=["x" * 500]),
        document.Block(heading="lines", lines=[f"<{n}>" for n in range(25)]),
    ]
    page = document.Document("a <b>\u202e", blocks).html()
    assert "a &lt;b&gt;⟨U+202E⟩" in page and "… and 5 more" in page
    assert "x" * 400 + " …" in page and "x" * 401 not in page


class Shown:
    """Stands for IPython's display: keeps what is shown."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def show(self, bar: ProgressBar, display_id: bool) -> Shown:
        self.update(bar)
        return self

    def update(self, bar: ProgressBar) -> None:
        self.texts.append(bar._repr_html_())


def test_a_notebook_has_a_bar(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shown = Shown()
    kernel = SimpleNamespace(kernel=True)
    ipython = SimpleNamespace(get_ipython=lambda: kernel)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=shown.show))
    assert isinstance(notebook_watch(), NotebookBars)
    tiltmeter.run("roles", MODEL, tmp_path / "run", **SMALL)
    assert any("asking the model: 24 of 24" in text for text in shown.texts)
    assert all(text.startswith(("<progress", "<pre>pilot of")) for text in shown.texts)
    kernel.__dict__.clear()  # a terminal with IPython
    assert notebook_watch() is None


def test_waiting_is_said_in_the_bar() -> None:
    shown = Shown()
    bars = NotebookBars(shown.show)
    bars("run", 3, Tally(waiting="tries again in 2 s: <down>"))
    assert "&lt;down&gt;" in shown.texts[-1] and 'max="3"' in shown.texts[-1]
