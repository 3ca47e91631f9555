"""A static explorer finds words in the whole run and the outputs of every number, with no server."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

import tiltmeter
from tests.browser import Visit, chromium, drive
from tiltmeter.analyse.claims.output_query import query_of
from tiltmeter.analyse.whole_run.outputs_behind import Counted
from tiltmeter.explore.static import write
from tiltmeter.store import Store

KEYS = "[...document.querySelectorAll('a.card')].map(e => e.dataset.key.slice(2))"
BANNER = "document.querySelector('.banner').textContent.trim()"


@pytest.mark.skipif(
    chromium() is None, reason="no Chromium here (Debian: apt-get install chromium)"
)
def test_files_find_words_and_the_outputs_of_a_number(tmp_path: Path) -> None:
    run = tiltmeter.run(
        "roles", "planted:she=0.7", tmp_path / "run", language="en", limit=4, samples=3
    )
    first = write([run.folder], tmp_path / "explorer")
    report = run.report(path=tmp_path / "report.html").read_text("utf-8")
    assert 'href="explorer/find.html#query=' in report and "--query" not in report
    rows = [row for row in run.analyse() if row.value is not None][:6]
    page = first.with_name("find.html").as_uri()
    steps = []
    for row in rows:
        text = quote(query_of(run.protocol, row).text(), safe="")
        steps += [
            ("go", f"{page}#query={text}&number={row.measure}"),
            ("wait", f"{BANNER}.endsWith('{row.measure}.')"),
            ("ask", KEYS),
        ]
    steps += [
        ("do", "location.hash = 'text=SHE'"),
        ("wait", "document.querySelector('.banner').hidden"),
        ("ask", KEYS),
        ("do", "document.querySelector('a.card').click()"),
        ("wait", "document.querySelector('dialog article') !== null"),
        ("ask", "document.querySelector('dialog article').dataset.key.slice(2)"),
    ]
    visit = Visit(steps)
    drive(visit)
    *found, words, opened = visit.values
    with Store(run.folder) as store:
        counted = Counted(store, run.protocol)
        assert [set(one) for one in found] == [
            set(counted.outputs(query_of(run.protocol, row))) for row in rows
        ]
    assert 0 < len(words) <= 24 and opened == words[0] and visit.messages == []
