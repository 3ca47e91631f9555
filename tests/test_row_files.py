"""The one reader of CSV: rows with their lines, and what is wrong with a file."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.test_floors import SOURCE
from tiltmeter.row_files import BadTable, numbered_rows, read_objects, read_rows


def test_rows_have_the_line_on_which_they_end() -> None:
    text = 'job, who \r\nnurse,Ann\r\n\r\n,\r\n"two\nlines","a, b"\r\n'
    assert list(numbered_rows(text)) == [
        (2, {"job": "nurse", "who": "Ann"}),
        (6, {"job": "two\nlines", "who": "a, b"}),
    ]


def test_short_rows_are_filled_up_where_they_may_be() -> None:
    assert list(numbered_rows("a\tb\n1\n", "\t", short_rows=True)) == [(2, {"a": "1", "b": ""})]
    with pytest.raises(BadTable, match="line 2 has not as many cells as the header: 1, not 2"):
        list(numbered_rows("a,b\n1\n"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,a\n1,2\n", "line 1 has the column 'a' twice. Its columns: a, a."),
        ("a,,b\n1,,2\n", "line 1 has a column without a name"),
        ("a,\n1,\n1,2\n", "line 3 has a cell in a column without a name"),
        ("a\n1\n", "line 1 has no column b, c. It needs: a, b, c."),
        ("a,b,c\n1,2,3,4\n", "line 2 has not as many cells as the header: 4, not 3"),
        ('a,b,c\n1,2,"3\n', "line 2 is not CSV (unexpected end of data)"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, said: str) -> None:
    with pytest.raises(BadTable) as caught:
        list(numbered_rows(text, needs=("a", "b", "c") if "It needs" in said else ()))
    assert str(caught.value).startswith(said)


# An Excel of Germany: semicolons; the code page of Windows where it is not told to write UTF-8.
GERMAN = 'Frage;Gruppe\r\n"Soll Jürgen, ein größerer Koch, „gehen“?";älter\r\n'


@pytest.mark.parametrize("code", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "cp1250"])
def test_what_a_spreadsheet_of_germany_writes_is_read(code: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(GERMAN.encode(code))
    ((line, row),) = read_rows(tmp_path / "a.csv")
    asked = "Soll Jürgen, ein größerer Koch, „gehen“?"
    assert (line, row) == (2, {"Frage": asked, "Gruppe": "älter"})


def test_what_excel_puts_around_a_table_is_left_out() -> None:
    text = "sep=;\r\njob, or none;who;;\r\nnurse;Ann;;\r\ncook;Bo\r\n"
    assert list(numbered_rows(text)) == [
        (3, {"job, or none": "nurse", "who": "Ann"}),
        (4, {"job, or none": "cook", "who": "Bo"}),
    ]


def test_a_header_with_a_comma_in_a_name_is_parted_by_what_it_has_most_of() -> None:
    text = "Frage, deutsch;Gruppe;Beruf\nKommt sie; heute, noch?;Frau;Koch\n"
    with pytest.raises(BadTable, match=r"4, not 3\. A cell with a semicolon in it is put in quot"):
        list(numbered_rows(text))
    ((_, row),) = numbered_rows(text.replace("sie;", "sie"))
    assert row == {"Frage, deutsch": "Kommt sie heute, noch?", "Gruppe": "Frau", "Beruf": "Koch"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("très", "cp1252"),  # in Poland trčs
        ("książka", "cp1250"),
        ("стул", "cp1251"),
        ("größe", "mac-roman"),
        ("椅子", "gbk"),
        ("いす", "shift-jis"),
    ],
)
def test_what_may_be_read_in_two_ways_is_refused(text: str, code: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"a,b\n1," + text.encode(code))
    with pytest.raises(BadTable, match=r"a\.csv, line 2 is not UTF-8\. Save the file as UTF-8"):
        list(read_rows(tmp_path / "a.csv"))


def test_objects_have_their_line(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n\n{"a": [2]}\n', encoding="utf-8-sig")
    assert list(read_objects(tmp_path / "a.jsonl")) == [(1, {"a": 1}), (3, {"a": [2]})]
    for text, said in (("{}\n[1]", "line 2 is no JSON object"), ("{", "line 1 is no JSON: ")):
        (tmp_path / "a.jsonl").write_text(text, encoding="utf-8")
        with pytest.raises(BadTable, match=rf"a\.jsonl, {said}"):
            list(read_objects(tmp_path / "a.jsonl"))


def test_nothing_else_reads_csv() -> None:
    readers = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and (node.value.id, node.attr) in (("csv", "reader"), ("csv", "DictReader"))
    }
    assert readers == {"row_files.py"}
