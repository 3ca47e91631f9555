"""HTML, Markdown, JSON, CSV and the terminal: the same numbers, and nothing hostile gets through."""

from __future__ import annotations

import base64
import csv
import errno
import hashlib
import io
import json
import re
import sys
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from jinja2 import Environment, bccache
from rich.console import Console

from tests.report.conftest import HOSTILE
from tiltmeter.analyse.words.verdict_words import Word
from tiltmeter.errors import StoreError, UsageError
from tiltmeter.protocol.reading.load import load
from tiltmeter.records import Estimate
from tiltmeter.report.page_model.page import Content, alone
from tiltmeter.report.page_model.table import Column, Table
from tiltmeter.report.render import html, json_csv, pages, terminal, terminal_screen
from tiltmeter.report.render.pages.md import markdown
from tiltmeter.report.run_page import content
from tiltmeter.store import Store

VOID = {"meta", "link", "br", "img", "hr", "input"}


class Reader(HTMLParser):
    """Tags, attributes and text of a page; fails where tags are not closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.ids: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, text: str) -> None:
        self.text.append(text)


@pytest.fixture(scope="module")
def page(built: Content) -> str:
    return html.page(alone(built))


@pytest.fixture(scope="module")
def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def test_the_page_runs_its_own_script_alone_and_loads_nothing(page: str, read: Reader) -> None:
    assert read.tags.isdisjoint(
        {
            "iframe",
            "object",
            "embed",
            "img",
            "link",
            "base",
            "form",
            "image",
            "use",
            "a:href",
        }
    )
    assert [
        name
        for _, name, _ in read.attributes
        if name.startswith("on") or name in ("style", "src", "srcset", "action")
    ] == []
    assert {value[0] for _, name, value in read.attributes if name in ("href", "xlink:href")} == {
        "#"
    }
    style = page.partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style and "@import" not in style
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = next(
        value for tag, name, value in read.attributes if tag == "meta" and name == "content"
    )
    script = page.partition("<script>")[2].partition("</script>")[0]
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert page.count("<script") == 1 and 1_000 < len(script.encode()) <= 15_000
    assert not re.search(r"fetch|import|XMLHttp|eval|innerHTML|localStorage|cookie", script)
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; script-src 'sha256-{allowed}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def test_hostile_answers_are_text(read: Reader) -> None:
    shown = "".join(read.text)
    for answer in HOSTILE[:5]:
        assert answer in shown
    assert "⟨U+202E⟩" in shown and "\u202e" not in shown and "\x1b" not in shown
    assert "{{ 7*7 }}" in shown


def test_anchors_and_ids_fit(read: Reader) -> None:
    assert len(read.ids) == len(set(read.ids))
    targets = {value[1:] for _, name, value in read.attributes if name == "href"}
    aria = ("aria-labelledby", "aria-describedby")
    targets |= {
        part for _, name, value in read.attributes if name in aria for part in value.split()
    }
    assert targets <= set(read.ids)


def test_a_hole_is_a_dash_in_the_page(page: str) -> None:
    row = next(
        row
        for row in re.findall(r"<tr.*?</tr>", page, re.S)
        if "class: outlook" in row and ">c</" in row
    )
    assert len(re.findall("<td[^>]*>—", row)) >= 4
    assert "no &lt;i&gt;answer&lt;/i&gt; counts ⟨U+202E⟩" in page


def test_json_and_csv_hold_the_estimates_as_they_are(
    built: Content, estimates: list[Estimate]
) -> None:
    text = json_csv.as_json(built.run_info, estimates)
    loaded = json.loads(text)
    assert loaded["schema"] == 1 and loaded["run"]["answered"] == 1295
    stars = [row.pop("stars") for row in loaded["estimates"]]
    assert stars == [estimate.stars for estimate in estimates] and "***" in stars
    read = [Estimate(**row) for row in loaded["estimates"]]
    assert read == [replace(estimate, cautions=()) for estimate in estimates]  # codes of the note
    assert "\u202e" not in text
    rows = list(csv.DictReader(io.StringIO(json_csv.as_csv(estimates))))
    assert len(rows) == len(estimates)
    for row, estimate in zip(rows, estimates, strict=True):
        for name in ("value", "low", "high", "p", "p_adjusted", "n", "detectable"):
            expected = getattr(estimate, name)
            assert (None if row[name] == "" else float(row[name])) == expected
        assert json.loads(row["outcomes"]) == dict(estimate.outcomes)
        assert row["signature"] == estimate.signature and row["stars"] == (estimate.stars or "")


def test_a_page_without_a_claim_is_written(built: Content) -> None:
    nothing = replace(
        built.screen, headline="Nothing was measured yet.", lead="", lede=(), queries=()
    )
    page = html.page(alone(replace(built, screen=nothing)))
    assert ">Nothing was measured yet.</h1>" in page


def test_json_refuses_what_is_no_number(estimates: list[Estimate]) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_csv.as_json({}, [replace(estimates[0], value=float("nan"))])


def test_markdown_prints_the_tables_of_the_page(built: Content, page: str) -> None:
    text = markdown(alone(built))
    rows = [line for line in text.splitlines() if line.startswith("| ") and " --- " not in line]
    tables = [table for section in built.sections for table in section.tables]
    assert len(rows) == sum(1 + len(table.rows) for table in tables)
    unescaped = [re.sub(r"\\(.)", r"\1", line) for line in rows]
    for table in tables:
        for row in table.rows:
            assert "| " + " | ".join(row) + " |" in unescaped
    body = page.partition("<main")[2]
    for table in tables:
        for cell in {
            cell for row in table.rows for cell in row if cell[0] in ".+−[" and cell != "—"
        }:
            assert escape(cell) in body


def test_markdown_has_no_markup_of_a_models_own(built: Content) -> None:
    finding = replace(
        built.findings[0],
        sentence="<script>x</script> | *b* [l](http://evil.example) `c`\n# heading",
    )
    text = markdown(alone(replace(built, findings=(finding,))))
    assert r"\<script\>x\</script\> \| \*b\* \[l\](http://evil.example) \`c\` ⏎ \# heading" in text


def test_the_terminal_table_fits_100_columns_and_holds_the_numbers(built: Content) -> None:
    out = io.StringIO()
    terminal.print_table(built, Console(file=out, width=100, force_terminal=False))
    signatures = [each.text for each in built.signatures]
    lines = [line for line in out.getvalue().splitlines() if line[5:] not in signatures]
    assert max(len(line) for line in lines) <= 100
    text = out.getvalue()
    listed = [table for section in built.sections for table in section.tables]
    first = next(table for table in listed if not table.folded and table.id.endswith("share_she"))
    place = [column.name for column in first.columns].index("share")
    assert all(row[place] in text for row in first.rows)
    assert all(f"  {each.text}\n" in text for each in built.signatures)
    assert re.search(r"[ \t]$", text, re.MULTILINE) is None


def test_the_whole_terminal_has_every_row_of_every_table(built: Content) -> None:
    out = io.StringIO()
    terminal.print_table(built, Console(file=out, width=100, force_terminal=False))
    shown = out.getvalue()
    own = [table for section in built.sections[:1] for table in section.tables]
    assert all(table.title.split()[0] in shown for table in own)
    assert len(shown.splitlines()) > sum(len(table.rows) for table in own)


def test_the_first_screen_of_the_terminal_fits_and_says_where_the_rest_is(
    built: Content,
) -> None:
    """What SURFACES asks for: the verdict, the headline numbers, what to mind, where the rest is."""
    out = io.StringIO()
    terminal_screen.print_screen(
        built, Console(file=out, width=100, force_terminal=False), "my run"
    )
    text, flat = out.getvalue(), " ".join(out.getvalue().split())
    signatures = [each.text for each in built.signatures]
    lines = [line for line in text.splitlines() if line[3:] not in signatures]
    assert len(lines) <= 40 and max(map(len, lines)) <= 100
    assert re.search(r"[ \t]$", text, re.MULTILINE) is None
    assert flat.startswith(built.title) and built.screen.headline in flat
    assert all(finding.value in flat and finding.p in flat for finding in built.findings)
    assert "tiltmeter analyse my run --full" in flat and built.screen.caution in flat
    assert "\x1b" not in text


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (120, 40)])
def test_the_first_screen_fits_the_terminal(built: Content, columns: int, lines: int) -> None:
    """With nine times the findings and cautions, too; what is left out is counted."""
    out = io.StringIO()
    many = tuple(
        replace(one, warnings=(f"{n} {one.label}",)) for n in range(9) for one in built.findings
    )
    many = (
        *many[:-1],
        replace(many[-1], verdict=Word.JUDGE_REFUTED, value=".7654"),
    )  # left out by none
    terminal_screen.print_screen(
        replace(built, findings=many, signatures=()),
        Console(file=out, width=columns, height=lines, force_terminal=True, color_system=None),
        "r",
    )
    text = " ".join(out.getvalue().split())
    assert len(out.getvalue().splitlines()) < lines
    assert "more headline number" in text and "--full" in text
    assert built.screen.headline in text and ".7654" in text


def test_a_table_with_more_numbers_than_there_is_room_for_breaks_none() -> None:
    """Nine attributes with a dozen values: columns three letters wide would stand there otherwise."""
    names = ["object", "attribute", "n", *(f"value_{place}" for place in range(12)), "signature"]
    kinds = ["text", "text", *["number"] * 13, "mark"]
    columns = tuple(Column(name, kind, True) for name, kind in zip(names, kinds, strict=True))
    rates = [f".1{place:02} [.058, .392] (3)" for place in range(11)]
    table = Table(
        "t", "Every outcome", "", columns, (("car", "product_color", "18", *rates, "0", "S1"),)
    )
    out = io.StringIO()
    terminal.print_one(table, Console(file=out, width=80, force_terminal=False))
    assert max(map(len, out.getvalue().splitlines())) <= 80
    said = " ".join(out.getvalue().split())
    assert "car · product_color n 18, value_0 .100 [.058, .392] (3), value_1 .101" in said
    assert all(f"value_{place} {rate}" in said for place, rate in enumerate(rates))
    assert "value_11" not in said and "sig. S1, all others 0" in said
    narrow = replace(
        table,
        columns=(*columns[:4], columns[-1]),
        rows=(("car", "product_color", "18", rates[0], "S1"),),
    )
    out = io.StringIO()
    terminal.print_one(narrow, Console(file=out, width=80, force_terminal=False))
    assert "value_0 .100" not in out.getvalue() and ".100 [.058, .392] (3)" in out.getvalue()


def test_the_terminal_takes_no_markup_and_no_control(built: Content) -> None:
    hostile = replace(
        built.findings[0], sentence="[red]she[/red] [link=http://evil.example]x[/link]"
    )
    out = io.StringIO()
    terminal.print_table(
        replace(built, findings=(hostile,)), Console(file=out, width=100, force_terminal=False)
    )
    assert "[red]she[/red] [link=http://evil.example]x[/link]" in out.getvalue()
    assert "\x1b" not in out.getvalue()


OWN = """
name = "own"
title = "Mine <b>&</b>"
question = "yes | no?"
prompt = "Would {who} like {thing}?"
factors = ["who", "thing"]
item = "thing"
tables = [{ rows = [{ who = "a <man>" }, { who = "a woman" }] }, { rows = [{ thing = "tea" }, { thing = "golf" }] }]
[[instruments]]
name = "answer"
kind = "choice"
attribute = "said"
[[measures]]
name = "a gap"
kind = "difference"
attribute = "said"
values = ["yes"]
contrast = { factor = "who", level = "a woman", baseline = "a <man>" }
null = 0.0
headline = true
[[measures]]
name = "an odd unit"
kind = "share"
attribute = "said"
values = ["*"]
by = [["who"]]
unit = "bits"
headline = true
"""


def test_a_protocol_of_ones_own_has_a_report(tmp_path: Path) -> None:
    """No language, no mode, no whole, names with spaces and angle brackets, a unit that is none of ours."""
    (tmp_path / "own.toml").write_text(OWN)
    own = load(tmp_path / "own.toml")
    gap = Estimate(
        "own",
        "m",
        "answer/1@a",
        "a gap",
        {},
        {"who": "a woman − a <man>"},
        0.2,
        "share",
        0.1,
        0.3,
        0.95,
        p=0.001,
        p_adjusted=0.001,
        n=20,
        clusters=2,
        signature="s",
    )
    odd = [
        Estimate(
            "own",
            "m",
            "answer/1@a",
            "an odd unit",
            {"who": who},
            None,
            value,
            "bits",
            n=9,
            signature="s",
            null_low=0.0,
            null_high=0.05,
        )
        for who, value in (("a <man>", 0.0213), ("a woman", None))
    ]
    with Store(tmp_path / "run", create=True, writing=True) as store:
        built = content.build(store, own, [gap, *odd])
    assert [finding.chip for finding in built.findings] == [
        "tilt higher with a woman",
        "no test made",
        "not measured",
    ]
    assert built.findings[0].sentence.startswith(
        "m: higher with a woman. The gap is +.20 [+.10, +.30]"
    )
    reader = Reader()
    reader.feed(html.page(alone(built)))
    assert len(reader.ids) == len(set(reader.ids)) and not any(" " in name for name in reader.ids)
    assert "man" not in reader.tags and "Mine <b>&</b>" in reader.text
    out = io.StringIO()
    terminal.print_table(built, Console(file=out, width=80, force_terminal=False))
    assert "[0, 0.0500]" in markdown(alone(built)).replace("\\", "")
    assert "0.0213" in out.getvalue() and max(map(len, out.getvalue().splitlines())) <= 80


def test_a_page_that_cannot_be_written_says_what_to_type(built: Content, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="tiltmeter report RUN --out FILE"):
        html.write_html(alone(built), tmp_path / "file" / "report.html")
    html.write_html(alone(built), tmp_path / "new" / "report.html")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["report.html"]


def test_colours_have_contrast() -> None:
    """WCAG 2.1 AA: 4.5 : 1 for text, 3 : 1 for what is drawn, in light and in dark."""
    css = (Path(html.__file__).parents[1] / "templates" / "style.css").read_text(encoding="utf-8")
    parts = css.split("@media (prefers-color-scheme: dark)")[:2]
    light, dark = (dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", part)) for part in parts)
    for theme in (light, light | dark):
        for ground in ("paper", "card"):
            for ink in ("ink", "soft", "accent", "tilt", "open", "calm"):
                assert _contrast(theme[ink], theme[ground]) >= 4.5, (ink, ground)
            for drawn in ("edge", "s0", "s1", "s2", "s3", "s4", "s5"):
                assert _contrast(theme[drawn], theme[ground]) >= 3, (drawn, ground)
        for number in range(7):
            assert _contrast("#ffffff" if number == 4 else "#000000", theme[f"c{number}"]) >= 4.5
        assert _contrast(theme["warn-ink"], theme["warn"]) >= 4.5


def _contrast(one: str, other: str) -> float:
    """https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio"""

    def luminance(colour: str) -> float:
        channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_templates_are_compiled_once_for_all_processes(
    built: Content, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "__pycache__"
    folder.mkdir()
    monkeypatch.setattr(html.__spec__, "cached", str(folder / "html.pyc"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    pages = []
    for compiled in (False, True):
        html.template.cache_clear()  # as in another process
        if compiled:
            monkeypatch.setattr(Environment, "_generate", None)
        pages.append(html.page(alone(built)))
    html.template.cache_clear()
    assert pages[0] == pages[1]
    assert list(folder.iterdir())


def test_a_page_is_made_where_no_compiled_template_can_be_kept(
    built: Content, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "__pycache__"
    folder.mkdir()
    monkeypatch.setattr(html.__spec__, "cached", str(folder / "html.pyc"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)

    def full(**_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    html.template.cache_clear()  # as in another process
    with monkeypatch.context() as disk:
        disk.setattr(bccache.tempfile, "NamedTemporaryFile", full)
        assert "<html" in html.page(alone(built))
    html.template.cache_clear()
    assert not list(folder.iterdir())


TEXT = """
def write(page, path, brief=False):
    from tiltmeter.report.render.outlines import outline
    kinds = [type(block).__name__ for block in outline(page)]
    path.write_text("\\n".join([page.title, *kinds]), "utf-8")
"""


def test_a_new_format_of_pages_is_one_file(
    built: Content, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of four lines, in a folder that is no part of the package."""
    with pytest.raises(UsageError, match=r"ends in \.html or \.md\."):
        pages.write_page(alone(built), tmp_path / "page.txt")
    pages.write_page(alone(built), tmp_path / "page")
    assert (tmp_path / "page").read_text("utf-8").startswith("<!doctype html>")
    (tmp_path / "txt.py").write_text(TEXT, "utf-8")
    monkeypatch.setattr(pages, "__path__", [*pages.__path__, str(tmp_path)])
    assert pages.endings() == [".html", ".md", ".txt"]
    pages.write_page(alone(built), tmp_path / "page.txt")
    title, *kinds = (tmp_path / "page.txt").read_text("utf-8").splitlines()
    assert title == built.title
    assert {*kinds} == {"Heading", "Paragraph", "Bullets", "Listing", "Table"}
