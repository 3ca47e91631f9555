"""Lines for a terminal, broken by hand."""

from __future__ import annotations

import io

import click
import pytest
from rich.console import Console

from tiltmeter.cli import main
from tiltmeter.cli.fitting import table_lines
from tiltmeter.display.screen import wrap
from tiltmeter.report.page_model.table import Column, Table
from tiltmeter.report.render import terminal


def test_lines_break_between_words() -> None:
    assert wrap("  - one two-three four", 14) == "  - one\n    two-three\n    four"
    assert wrap("short", 14) == "short"


class Terminal(io.StringIO):
    """Takes what is printed, as a terminal would."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    "command", ["ls", "ls models", "show gramvis", "show hiring", "plan gramvis --model openai:x"]
)
def test_a_screen_is_never_overfull_and_says_what_is_left_out(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """At 80 × 24 and a line for the shell; into a pipe goes all of it, which --full is too."""
    for name, number in (("COLUMNS", 80), ("LINES", 24)):
        monkeypatch.setenv(name, str(number))
    with monkeypatch.context() as patched:
        screen = Terminal()
        patched.setattr("sys.stdout", screen)
        assert main(command.split()) == 0
        whole = Terminal()
        patched.setattr("sys.stdout", whole)
        assert main([*command.split(), "--full"]) == 0
    rows = screen.getvalue().splitlines()
    assert len(rows) < 24 and max(map(len, rows)) <= 80
    assert "--full" in " ".join(rows[-2:]) and "The rest (" in " ".join(rows[-2:])
    assert not [row for row in rows if row != row.rstrip()]
    assert main(command.split()) == 0
    piped = capsys.readouterr().out
    assert "The rest (" not in piped and piped.split() == click.unstyle(whole.getvalue()).split()


def test_a_table_leaves_out_columns_and_shortens_names() -> None:
    """40 + 2 + 5 + 2 + 4 and 2 at the left are 55: without `b` 48, and 8 of the name for 40."""
    rows = [("name", "b", "c"), ("x" * 20 + "y" * 20, "12345", "6789")]
    assert len(table_lines(rows, 1, ("b",), 55)[1]) == 55
    assert table_lines(rows, 1, ("b",), 50)[1].split() == ["x" * 20 + "y" * 20, "6789"]
    assert table_lines(rows, 1, ("b",), 40)[1].split() == ["x" * 16 + "…" + "y" * 15, "6789"]


def test_report_cards_fit_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three tables of nine rows, on a screen of 20 rows: one, and of it what fits."""
    columns = (Column("answer", brief=True), Column("gold", "number", True))
    rows = tuple((f"row {n}", str(n)) for n in range(9))
    tables = [Table(f"t{n}", f"Table {n}", "", columns, rows) for n in range(3)]
    for lines, said in ((20, "The rest (2 more tables): --full"), (9, "8 rows, 2 more tables)")):
        monkeypatch.setenv("LINES", str(lines))
        with monkeypatch.context() as patched:
            screen = Terminal()
            patched.setattr("sys.stdout", screen)
            terminal.print_tables(tables, Console(), full=False)
        shown = screen.getvalue()
        assert len(shown.splitlines()) < lines and said in shown
    terminal.print_tables(tables, Console(), full=True)
    assert capsys.readouterr().out.count("row 8") == 3
