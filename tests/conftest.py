"""What tests share: a run made of labels that a test writes down, with no model behind it."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.shared import WANTS
from tiltmeter.planted import pictures
from tiltmeter.protocol import Protocol
from tiltmeter.records import Label, Output, Sampling, Trial
from tiltmeter.stages.planning.plan import Choices
from tiltmeter.store import Store
from tiltmeter.system import cache

# With it each process, a worker or one that a test starts, would compile the whole package again: a quarter of its start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Nothing that one test computed is what another one looks at, and nothing goes into the user's cache.
os.environ["TILTMETER_KEEP"] = "0"
# No test knows of a copy of published data that the user has.
os.environ["TILTMETER_DATA"] = os.devnull

LONGEST_SIDE = 256  # pixels of a picture that a planted model draws in this process

# A file stays on one process, so those that take longest begin first (15 CPU s and more in November
# 2026, or as long in a browser).
LONGEST = (
    "test_docs",
    "test_surfaces",
    "test_selftest",
    "test_local",
    "test_resume",
    "test_null_runs",
    "test_accessible",
    "test_annotate_in_browser",
    "test_court_of_record",
    "planted/test_words",
    "planted/test_dialogues",
    "test_hiring",
    "cli/test_plan",
    "analyse/test_queries",
    "test_calibration",
    "test_gramvis",
    "test_nameable",
    "test_forgeries",
    "cli/test_audit",
    "test_first_screen",
    "test_protext",
    "test_init",
    "test_in_browser",
    "test_large",
)


def pytest_configure(config: pytest.Config) -> None:
    # xdist would begin with the files that have the most tests
    config.option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    names = (item.path.stem, f"{item.path.parent.name}/{item.path.stem}")
    return next((turn for turn, name in enumerate(LONGEST) if name in names), len(LONGEST))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says which published data tests were skipped for want of, and how many."""
    reports = terminalreporter.stats.get("skipped", [])
    reasons = [report.longrepr[2] for report in reports if isinstance(report.longrepr, tuple)]
    missing = Counter(text.partition(WANTS)[2] for text in reasons if WANTS in text)
    if missing:
        terminalreporter.section("skipped for want of published data")
        for name, number in sorted(missing.items()):
            terminalreporter.line(f"{number:4} {name}")
        terminalreporter.line("They look in ../shared/data, or where SHARED_DATA says.")


@pytest.fixture(scope="session", autouse=True)
def _drawn_small() -> Iterable[None]:
    """Lets planted models draw small pictures: of a megapixel each takes 35 ms of a processor."""
    drawn = pictures.draw_picture

    def draw(values: Mapping[str, str], width: int, height: int, *others: Any) -> bytes:
        scale = max(1.0, max(width, height) / LONGEST_SIDE)
        return drawn(values, round(width / scale), round(height / scale), *others)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pictures, "draw_picture", draw)
        yield


@pytest.fixture(scope="module")
def computed_once(tmp_path_factory: pytest.TempPathFactory) -> Iterable[Path]:
    """Lets one command read what an earlier one computed of a run, as on a user's machine."""
    folder = tmp_path_factory.mktemp("computed")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(cache.KEEP)
        patch.setattr(cache, "_texts", lambda: folder)
        yield folder


class Made:
    """A run of one protocol, filled by hand. A label is (factors, mode, {value: weight})."""

    def __init__(self, folder: Path, protocol: Protocol) -> None:
        self.protocol = protocol
        self.store = Store(folder, create=True, writing=True)
        self.store.freeze(Choices(("planted:x",)).frozen(protocol))
        self.store.put("source", protocol.name)
        self.number = 0

    def label(
        self,
        rows: Iterable[tuple[dict[str, str], str, dict[str, float]]],
        annotator: str = "choice/1@hand",
    ) -> None:
        trials, outputs, labels = [], [], []
        for factors, mode, values in rows:
            self.number += 1
            trial = Trial(f"t{self.number:06}", "planted:x", mode, factors, 0, "?", "", Sampling())
            trials.append(trial)
            outputs.append(Output(trial.id, "answer", "", ""))
            attribute = self.protocol.instruments[0].attribute
            labels += [
                Label(trial.id, annotator, attribute, value, 0, weight)
                for value, weight in values.items()
            ]
        assert len(list(self.store.iter_unanswered(trials))) == len(trials)
        self.store.write([], outputs, labels)


@pytest.fixture
def made(tmp_path: Path) -> Iterable[type[Made]]:
    yield Made
