"""Tables of rows × columns: every estimate stands where it belongs, and nothing is pooled or dropped in silence."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import tiltmeter
from tiltmeter import registry
from tiltmeter.errors import UnknownName, UsageError
from tiltmeter.protocol.paper_tables import TableLayout
from tiltmeter.records import Estimate
from tiltmeter.report.figures import of_tables
from tiltmeter.report.page_model import audits
from tiltmeter.report.render import notebook
from tiltmeter.report.tables import cross_table_formats, cross_tables

TOPICS = registry.protocol("dialogues")
# Zhao et al. (2024), section 4.4.2: -Appearance among women, by language
PAPER = {("zh", "FF"): 0.48, ("ja", "FF"): 0.51, ("ko", "FF"): 0.41, ("es", "FF"): 0.02}


def row(
    value: float | None, topic: str = "appearance", pairing: str = "FF", **more: str
) -> Estimate:
    place = {"mode": "sampled", "language": more.get("language", "en"), "pairing": pairing}
    return Estimate(
        "dialogues",
        more.get("subject", "openai:a_b"),
        "topics/judge@12345678",
        "topic_share",
        {**place, "topic": topic},
        None,
        value,
        "share",
        n=100,
        signature="S",
    )


def of_paper() -> list[Estimate]:
    return [row(value, pairing=p, language=lang) for (lang, p), value in PAPER.items()]


def test_the_numbers_of_a_paper_stand_in_their_cells() -> None:
    layout = TableLayout(("topic_share",), ("topic",), ("language", "pairing"), percent=True)
    found = cross_tables.cross_table(TOPICS, of_paper(), layout)
    # in the order of the protocol's languages
    assert found.columns == (("es", "FF"), ("zh", "FF"), ("ja", "FF"), ("ko", "FF"))
    assert found.rows == ((("appearance",), ("2.0", "48.0", "51.0", "41.0")),)


def test_what_differs_and_is_not_named_is_a_row_of_its_own() -> None:
    rows = [row(0.1, subject="a"), row(0.2, subject="b"), row(0.3, subject="b", pairing="MM")]
    found = cross_tables.cross_table(TOPICS, rows, TableLayout(("topic_share",)))
    assert (found.row_names, found.column_names) == (("model",), ("pairing",))
    assert found.rows == ((("a",), (".100", "—")), (("b",), (".200", ".300")))


def own(measure: str, value: float, contrast: str = "", **levels: str) -> Estimate:
    """A row of an audit of one's own table: shares by cue and by item, and the cue's gap."""
    place = {"mode": "sampled", "language": "de", **levels}
    versus = {"cue": contrast} if contrast else None
    return replace(row(value), measure=measure, condition=place, contrast=versus)


OWN = [
    *(own("share", value, cue=cue) for cue, value in (("deutsch", 0.64), ("türkisch", 0.51))),
    *(own("share", 0.3 + n / 100, job=f"job {n}") for n in range(24)),
    own("gap", 0.13, contrast="deutsch − türkisch"),
    own("rank", 2.0),
]


def test_measures_of_one_cue_are_one_table_without_empty_cells() -> None:
    """Of 24 items and 2 cues it had 25 columns and 4 rows, with 73 of 100 cells empty."""
    (table,) = cross_tables.cross_tables(TOPICS, OWN, TableLayout(("share", "gap"), decimals=2))
    assert [*map(" ".join, table.columns)] == ["deutsch", "türkisch", "deutsch − türkisch"]
    assert table.rows == (((), (".64", ".51", "+.13")),)
    assert table.hints == ("The numbers by job: --rows job",)


def test_measures_that_share_no_factor_are_tables_of_their_own() -> None:
    tables = cross_tables.cross_tables(TOPICS, OWN, TableLayout(("rank", "share")))
    assert [table.title for table in tables] == ["Rank", "Share"]
    (named,) = cross_tables.cross_tables(TOPICS, OWN, TableLayout(("rank", "share"), ("measure",)))
    assert len(named.rows) == 2


def test_one_row_of_many_levels_stands_upright() -> None:
    layout = TableLayout(("share",), where={"job": tuple(f"job {n}" for n in range(9))})
    table = cross_tables.cross_table(TOPICS, OWN, layout)
    assert (len(table.rows), len(table.columns)) == (9, 1)


def test_a_table_says_which_level_was_chosen_and_which_measure_lacks_it() -> None:
    layout = TableLayout(("gap", "share"), where={"job": ("job 3",)}, decimals=2)
    (table,) = cross_tables.cross_tables(TOPICS, OWN, layout)
    assert table.title == "Share" and table.rows == (((), (".33",)),)
    assert table.notes[-1] == "job: job 3."
    assert table.hints == ("gap has no estimate at job=job 3: it is not in this table.",)
    both = {"job": ("job 3",), "cue": ("deutsch",)}
    with pytest.raises(UsageError, match="share is at job=job 3 and cue=deutsch together"):
        cross_tables.cross_table(TOPICS, OWN, TableLayout(("share",), where=both))


@pytest.mark.parametrize(
    "layout",
    [
        TableLayout(("gap",)),
        TableLayout(("share",)),
        TableLayout(("share",), columns=("cue",)),
        TableLayout(("share",), ("job",), leader=True),
        TableLayout(("gap", "share"), where={"cue": ("deutsch", "türkisch")}, ranked=True),
        TableLayout(("gap", "share"), ("model", "cue"), ("measure",), show=("value", "n")),
    ],
)
def test_a_table_of_any_layout_is_drawn(layout: TableLayout) -> None:
    """A table of one row has no level that names it."""
    tables = cross_tables.cross_tables(TOPICS, OWN, layout)
    for drawing, table in zip(notebook.table_drawings(TOPICS, OWN, tables), tables, strict=True):
        assert all(f"{e.value:.2f}".lstrip("0") in drawing.svg for e in table.estimates.values())


def test_a_leader_is_marked_and_told_apart_only_where_a_test_says_so() -> None:
    shares = [row(0.1), row(0.4, pairing="FM"), row(0.3, "career"), row(0.2, "career", "FM")]
    leads = [
        Estimate(
            "dialogues",
            "openai:a_b",
            "topics/judge@12345678",
            "topic_leader",
            {"mode": "sampled", "language": "en", "pairing": pairing, "topic": topic},
            None,
            value,
            "share",
            p=p,
            p_adjusted=p,
        )
        for topic, pairing, value, p in (
            ("appearance", "FM", 0.4, 0.01),
            ("career", "FF", 0.3, 0.6),
        )
    ]
    layout = TableLayout(("topic_share",), ("topic",), ("pairing",), leader=True)
    found = cross_tables.cross_table(TOPICS, [*shares, *leads], layout)
    assert found.rows == (
        (("appearance",), (".100", ".400 ▲")),
        (("career",), (".300 △", ".200")),
    )
    assert r"\textbf{.400} $\blacktriangle$" in cross_table_formats.latex(found)
    assert "| **.400** ▲ |" in cross_table_formats.markdown(found)


def test_stars_are_of_the_adjusted_p() -> None:
    def starred(p: float | None, adjusted: float | None) -> str | None:
        return replace(row(0.5), p=p, p_adjusted=adjusted).stars

    assert [starred(0.0001, q) for q in (0.0009, 0.001, 0.01, 0.05)] == ["***", "**", "*", ""]
    assert starred(0.04, None) == "*" and starred(None, None) is None


def test_latex_is_balanced_and_escaped() -> None:
    text = cross_table_formats.latex(
        cross_tables.cross_table(
            TOPICS,
            [*of_paper(), row(0.004, subject="x%_{$}")],
            TableLayout(
                ("topic_share",), ("model", "topic"), ("language", "pairing"), title="50 % & more"
            ),
        )
    )
    body = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert r"\caption{50 \% \& more}" in text and r"x\%\_\{\$\}" in text
    assert text.count("{") == text.count("}") and text.count("$") % 2 == 1  # one is escaped
    widths = {
        sum(
            int(part.split("{")[1][0]) if "multicolumn" in part else 1 for part in line.split(" & ")
        )
        for line in body
    }
    assert widths == {7}


def test_csv_has_a_cell_for_each_and_guards_formulas() -> None:
    made = cross_tables.cross_table(
        TOPICS,
        [row(0.5, subject="=cmd"), row(None, subject="b")],
        TableLayout(("topic_share",), ("model",), ("pairing",)),
    )
    lines = list(csv.reader(io.StringIO(cross_table_formats.csv_text(made))))
    assert lines == [["model", "FF"], ["'=cmd", ".500"], ["b", ""]]


@pytest.mark.parametrize(
    ("layout", "error", "said"),
    [
        (TableLayout(("nothing",)), UnknownName, "topic_share"),
        (TableLayout(("topic_share",), ("pairings",)), UnknownName, "'pairing'"),
        (TableLayout(("topic_share",), ("topic",), ("topic",)), UsageError, "named twice"),
        (TableLayout(("topic_share",), show=("star",)), UnknownName, "'stars'"),
        (TableLayout(("topic_share",), where={"topic": ("work",)}), UnknownName, "appearance"),
    ],
)
def test_what_is_not_there_is_refused_in_a_line(
    layout: TableLayout, error: type[UsageError], said: str
) -> None:
    with pytest.raises(error, match=said):
        cross_tables.cross_table(TOPICS, of_paper(), layout)


def test_every_declared_table_names_what_there_is() -> None:
    """Axes of declared tables are factors, parts of the stratum, or attributes that rows are about."""

    def known(name: str) -> Sequence[str]:
        protocol = registry.protocol(name)
        values = [spec.attribute for spec in protocol.measures]
        parts = [part for spec in protocol.measures for part in (spec.contrast or {}).values()]
        return [*protocol.factors, protocol.item, *values, *parts, *cross_tables.FIXED, "attribute"]

    for name in registry.PROTOCOLS:
        for variant in registry.protocol(name).variants.values():
            for table in variant.tables:
                assert {*table.rows, *table.columns} <= {*known(name)}, (name, table.title)


def test_a_declared_table_is_found_by_its_name() -> None:
    (one,) = cross_tables.declared(TOPICS, of_paper(), "published", "Figure 5")
    assert one.title.startswith("Figure 5") and one.rows[0][0] == ("es", "appearance")
    assert list(cross_tables.declared(TOPICS, of_paper(), "published", "Figure 7")) == []


@pytest.mark.parametrize(("pairings", "kind"), [("FF FM MF MM", "Plot"), ("", "Heat")])
def test_a_table_is_drawn_with_its_numbers(pairings: str, kind: str) -> None:
    """Up to six columns as points, more or marked ones as a map; every number of the table is in it."""
    rows = (
        [row(0.1 * n, pairing=p) for n, p in enumerate(pairings.split(), 1)]
        if pairings
        else of_paper()
    )
    layout = TableLayout(("topic_share",), ("topic",), ("language", "pairing"), leader=not pairings)
    table = cross_tables.cross_table(TOPICS, rows, layout)
    (drawn,) = notebook.table_drawings(TOPICS, rows, [table])
    found = of_tables.figure(audits.audit(TOPICS, rows, {"S": "S1"}), table)
    assert type(found).__name__ == kind
    for estimate in rows:
        assert f"{estimate.value:.2f}"[1:] in drawn.svg


def test_quotes_are_the_first_of_each_label_by_trial_and_keep_their_lines(tmp_path: Path) -> None:
    run = tiltmeter.run(
        "dialogues",
        "planted:protocol=dialogues",
        tmp_path / "run",
        judge=["planted:protocol=dialogues"],
        language="en",
        samples=6,
    )
    found = run.quotes("topic", number=1, by=["pairing"])
    labels = run.labels.filter(pl.col("attribute") == "topic").join(
        run.outputs, left_on="output", right_on="trial"
    )
    told = {
        (row["value"], row["factors"]["pairing"]): row["text"].strip()
        for row in labels.sort("output", descending=True).to_dicts()
    }  # the first of each comes last, and stays
    assert {levels: cells[0] for levels, cells in found.rows} == told
    assert "<br>" in cross_table_formats.markdown(found)
    with pytest.raises(UnknownName, match="topic"):
        run.quotes("topics")
