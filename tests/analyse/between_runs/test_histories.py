"""Histories: steps by hand in one family, what is not compared, the page, the screen."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from tests.conftest import Made
from tiltmeter import registry
from tiltmeter.analyse import estimates
from tiltmeter.analyse.between_runs import histories, set_up
from tiltmeter.analyse.between_runs.histories import History
from tiltmeter.analyse.between_runs.set_up import Difference
from tiltmeter.analyse.claims import verdicts
from tiltmeter.cli import main
from tiltmeter.errors import UsageError
from tiltmeter.report import figures
from tiltmeter.report.figures import timeline
from tiltmeter.report.render import terminal_lines
from tiltmeter.report.several_runs import history
from tiltmeter.store.queries import endpoints, trials

ROLES = registry.protocol("roles")
WORDS = 10
TOLD = 2 / 2**WORDS  # every word moved to one side: two of the sign flips


def fill(run: Made, she: int, annotator: str = "choice/1@hand") -> Made:
    """So many *she*, one more in every second word, of ten in each word."""
    for n in range(WORDS):
        word = {"class": "communal", "word": f"w{n}", "lexeme": f"w{n}"}
        factors = {"language": "en", "order": "he_first", **word}
        mine = she + n % 2
        for value in ["she"] * mine + ["he"] * (10 - mine):
            run.label([(factors, "sampled", {value: 1.0})], annotator)
    return run


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Made]]:
    """In this order: .25 of she, .65, .65 by another judge, .65 of another version."""
    folder = tmp_path_factory.mktemp("months")
    with ExitStack() as stack:
        made = [Made(folder / name, ROLES) for name in ("may", "june", "july")]
        made.append(Made(folder / "august", replace(ROLES, version="9")))
        for run, she in zip(made, (2, 6, 6, 6), strict=True):
            stack.callback(run.store.close)
            fill(run, she, "judge/other@hand" if run is made[2] else "choice/1@hand")
        yield made


def of(*runs: Made) -> History:
    opened = []
    for run in runs:
        rows = estimates.estimates(run.store, run.protocol)
        own = verdicts.verdicts(run.protocol, rows)
        opened.append(histories.OpenRun(run.store, run.protocol, own))
    return histories.history(opened)


@pytest.fixture(scope="module")
def whole(runs: list[Made]) -> History:
    """Of all four."""
    return of(*runs)


def test_all_steps_are_one_family_and_runs_stand_by_date(runs: list[Made], tmp_path: Path) -> None:
    """.25, .65, .65: three differences (two steps, first to last), so 3 · 2/2¹⁰ and 2 · 2/2¹⁰."""
    third = fill(Made(tmp_path / "third", ROLES), 6)
    found = of(third, runs[1], runs[0])
    third.store.close()
    assert [run.name for run in found.runs] == ["may", "june", "third"]
    first, second, since = found.every_step
    assert [len(step.told) for step in (first, second, since)] == [1, 0, 1]
    (moved,) = first.verdicts
    assert moved.value == pytest.approx(0.4)
    assert moved.p == pytest.approx(TOLD)
    assert (moved.p_adjusted, moved.family_size) == (pytest.approx(3 * TOLD), 3)
    assert second.verdicts[0].value == 0
    (line,) = found.lines
    assert [one and one.value for one in line.values] == pytest.approx([0.25, 0.65, 0.65])
    page = history.build(found)
    assert page.headline == "“She” rose from 25 % to 65 % in the second run; no change since."
    assert page.lede[0].startswith("The change is +40 points [24, 45], adjusted p = .006 over 3")


def test_what_is_not_comparable_is_said_and_nothing_claimed(whole: History) -> None:
    found = whole
    judge, version = found.steps[1:]
    assert (judge.verdicts, version.verdicts) == ((), ())
    assert "no annotator labelled both" in judge.not_compared[0]
    assert "their version of the protocol differs (1, 9)" in version.not_compared[0]
    assert judge.changes == (Difference("labelled by", "choice/1@hand", "judge/other@hand"),)
    assert Difference("protocol", "roles 1", "roles 9") in version.changes
    assert len(found.steps[0].told) == 1  # of one: the others are in no family
    assert found.steps[0].verdicts[0].family_size == 1
    page = history.build(found)
    assert any("Run 2 to 3: " in line and "no annotator" in line for line in page.cautions)
    json.dumps(found.as_dict(), allow_nan=False)


def test_what_has_no_headline_that_can_be_tested_says_so(runs: list[Made]) -> None:
    others = tuple(measure for measure in ROLES.measures if not measure.headline)
    protocol = replace(ROLES, measures=others)
    found = histories.history([histories.OpenRun(run.store, protocol, ()) for run in runs[:2]])
    assert found.steps[0].not_compared == (histories.NO_HEADLINE,)
    assert history.build(found).headline.startswith("None of these runs can be compared")


def test_the_figure_links_what_was_compared_alone(whole: History) -> None:
    drawn = history.build(whole).figure
    (panel,) = drawn.panels
    assert panel.links == ("told", "none", "none")
    assert panel.axis.domain == (0.0, 1.0) and panel.axis.ends == ("towards he", "towards she")
    for narrow in (False, True):
        root = ET.fromstring(figures.draw(drawn, narrow))
        names = [one.get("class", "") for one in root.iter()]
        assert sum("fig-mark" in name for name in names) == 4
        assert sum("fig-mean" in name for name in names) == 1
        assert timeline.UP in "".join(root.itertext())


def test_runs_stand_by_their_dates() -> None:
    """January 1, January 31 and December 31: 30 and 364 days along 364 px; evenly where not known."""
    dates = [f"2026-{day}T00:00:00+00:00" for day in ("01-01", "01-31", "12-31")]
    assert timeline.places(dates, 0, 364) == pytest.approx([0, 30, 364])
    assert timeline.places([*dates[:2], ""], 0, 364) == [0, 182, 364]
    close = [dates[0], "2026-01-02T00:00:00+00:00", dates[2]]
    assert timeline.places(close, 0, 364) == pytest.approx([0, timeline.LEAST, 364])


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (200, 50)])
def test_a_screen_has_what_fits_and_a_pipe_everything(
    whole: History, columns: int, lines: int
) -> None:
    page = history.build(whole)
    cautions = tuple(f"caution {n}" for n in range(40))
    many = replace(page, cautions=cautions, blocks=history.blocks(*page.tables, cautions))
    out = io.StringIO()
    console = Console(file=out, width=columns, height=lines, force_terminal=True, color_system=None)
    terminal_lines.print_document(many, console, full=False)
    shown = out.getvalue().splitlines()
    assert len(shown) < lines and max(map(len, shown)) <= columns
    assert "▲ different" in out.getvalue() and "37 cautions" in out.getvalue()
    piped = io.StringIO()
    terminal_lines.print_document(many, Console(file=piped, width=columns), full=False)
    assert all(f"! caution {n}\n" in piped.getvalue() for n in range(40))


def test_the_page_loads_nothing_and_has_every_number(runs: list[Made], tmp_path: Path) -> None:
    folders = [str(run.store.folder) for run in runs[:2]]
    target = tmp_path / "months.html"
    assert main(["history", *folders, "--out", str(target)]) == 0
    text = target.read_text("utf-8")
    assert "default-src 'none'" in text and "http:" not in text.replace("http://www.w3.org", "")
    assert "+.40 [" in text and "▲ different" in text and "<svg" in text


def test_too_few_runs_and_several_protocols_are_refused(runs: list[Made]) -> None:
    one = histories.OpenRun(runs[0].store, ROLES, ())
    other = histories.OpenRun(runs[1].store, replace(ROLES, name="mine"), ())
    for given, said in (([one], "two runs"), ([one, one], "twice"), ([one, other], "and mine")):
        with pytest.raises(UsageError, match=said):
            histories.history(given)


def test_what_an_endpoint_said_of_itself_is_part_of_the_set_up(tmp_path: Path) -> None:
    made = []
    for name, quantisation in (("one", "Q4"), ("two", "Q8")):
        run = fill(Made(tmp_path / name, ROLES), 3)
        (model,) = trials.subjects(run.store)
        record = {"server": "llama.cpp b1", "quantisation": quantisation, "hidden_prompt": ""}
        endpoints.keep_endpoint(run.store, model, record)
        made.append(set_up.made_with(run.store, ROLES))
        run.store.close()
    assert made[0]["server"] == '"llama.cpp b1"' and "hidden system prompt" not in made[0]
    differences = [*set_up.differences(*made)]
    assert Difference("quantisation", "Q4", "Q8") in differences
    assert all(one.what != "server" for one in differences)
