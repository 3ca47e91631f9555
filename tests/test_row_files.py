"""The one reader of tables: rows with their lines, and what is wrong with a file."""

from __future__ import annotations

import ast
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.spreadsheets import Sheets, ods, xlsx
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
    with pytest.raises(BadTable, match="line 2 has 1 cell, but the header has 2"):
        list(numbered_rows("a,b\n1\n"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,a\n1,2\n", "line 1 has the column 'a' twice. Its columns: a, a."),
        ("a,,b\n1,,2\n", "line 1 has a column without a name"),
        (",a,b\n5,1,2\n", "line 2 has a cell in a column without a name"),
        ("a,\n1,\n1,2\n", "line 3 has a cell in a column without a name"),
        ("a\n1\n", "line 1 has no column b, c. It needs: a, b, c."),
        ("a,b,c\n1,2,3,4\n", "line 2 has 4 cells, but the header has 3"),
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
    with pytest.raises(BadTable, match=r"4 cells, .* has 3\. Put cells that have a semicolon in"):
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


def test_the_line_and_the_letter_that_may_be_read_in_two_ways_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("a,b\n1,größe\n2,zwei Mal à drei\n".encode("cp1252"))
    with pytest.raises(BadTable, match=r"line 3 is not UTF-8.* could be ŕ, à, ą, by the computer"):
        list(read_rows(tmp_path / "a.csv"))


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
def test_numbers_of_rows_as_pandas_writes_them(name: str) -> None:
    text = f"{name},job,who\n0,nurse,Ann\n1,cook,Bo\n"
    rows = [row for _, row in numbered_rows(text)]
    numbers = [{name: str(number)} if name else {} for number in range(2)]
    people = [{"job": "nurse", "who": "Ann"}, {"job": "cook", "who": "Bo"}]
    assert rows == [{**number, **row} for number, row in zip(numbers, people, strict=True)]


def test_json_lines_are_known_by_their_content(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('{"job": "nurse", "age": 30}\n{"who": null, "tags": ["x"]}\n')
    assert list(read_rows(tmp_path / "a.csv")) == [
        (1, {"job": "nurse", "age": "30", "who": "", "tags": ""}),
        (2, {"job": "", "age": "", "who": "", "tags": '["x"]'}),
    ]


TEXT = "Soll die Bewerberin aus einem Ort mit vielen Zeichen eingestellt werden, ja oder nein?"


@pytest.mark.parametrize(
    "content",
    [
        f"{TEXT.replace(',', '')},\n1,2\n1,2\n",
        f"{TEXT.replace(',', '')},{TEXT.replace(',', '')}\n1,2\n",
        f'{{"prompt": "{TEXT}"}}\n{{"prompt": "{TEXT}\n',
        f"a,b\n{TEXT},1\n",
        f'a,b\n"{TEXT}" x,1\n',
    ],
)
def test_an_error_never_has_the_text_of_a_row(content: str, tmp_path: Path) -> None:
    """Not even of a first row that stands where a header should."""
    (tmp_path / "a.csv").write_text(content, encoding="utf-8")
    with pytest.raises(BadTable) as caught:
        list(read_rows(tmp_path / "a.csv"))
    assert "Bewerberin" not in str(caught.value)


def test_objects_have_their_line(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n\n{"a": [2]}\n', encoding="utf-8-sig")
    assert list(read_objects(tmp_path / "a.jsonl")) == [(1, {"a": 1}), (3, {"a": [2]})]
    for text, said in (("{}\n[1]", "line 2 is not a JSON object"), ("{", "line 1 is not JSON: ")):
        (tmp_path / "a.jsonl").write_text(text, encoding="utf-8")
        with pytest.raises(BadTable, match=rf"a\.jsonl, {said}"):
            list(read_objects(tmp_path / "a.jsonl"))


def test_nothing_else_reads_csv() -> None:
    readers = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if "csv" in (text := path.read_text(encoding="utf-8")) and "eader" in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and (node.value.id, node.attr) in (("csv", "reader"), ("csv", "DictReader"))
    }
    assert readers == {"row_files/delimited.py"}


SHEETS = {
    "Fragen": [
        [None, None, None],
        ["Frage", "Gruppe", "Paar"],
        ["Wird Jürgen „angenommen“?", "Mann", 1],
        [None, None, None],
        ["Wird Anna „angenommen“?", "Frau", 1.5],
    ],
    "Notizen": [["a"], ["b"]],
}


@pytest.mark.parametrize("write", [xlsx, ods])
def test_a_spreadsheet_is_read_whatever_its_name(
    write: Callable[[Path, Sheets], Path], tmp_path: Path
) -> None:
    path = write(tmp_path / "table.csv", SHEETS)
    assert list(read_rows(path)) == [
        (3, {"Frage": "Wird Jürgen „angenommen“?", "Gruppe": "Mann", "Paar": "1"}),
        (5, {"Frage": "Wird Anna „angenommen“?", "Gruppe": "Frau", "Paar": "1.5"}),
    ]
    assert list(read_rows(path, sheet="Notizen")) == [(2, {"a": "b"})]
    with pytest.raises(BadTable, match=r"no sheet 'Nope'\. Its sheets: Fragen, Notizen\."):
        list(read_rows(path, sheet="Nope"))


def test_what_only_looks_like_a_spreadsheet_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    xlsx(tmp_path / "a.xlsx", SHEETS)
    content = (tmp_path / "a.xlsx").read_bytes().replace(b"<sheetData>", b"<sheetDate>")
    (tmp_path / "a.xlsx").write_bytes(content)
    with pytest.raises(BadTable, match=r"a\.xlsx, it cannot be read as a spreadsheet"):
        list(read_rows(tmp_path / "a.xlsx"))
    monkeypatch.setattr("tiltmeter.row_files.sheets.MOST_BYTES", 2**20)
    with zipfile.ZipFile(tmp_path / "b.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", "0" * (2**20 + 1))
    with pytest.raises(BadTable, match="more than 1 MiB when decompressed"):
        list(read_rows(tmp_path / "b.xlsx"))
    (tmp_path / "c.csv").write_text("a,b\n1,2\n")
    with pytest.raises(BadTable, match="it is not a spreadsheet"):
        list(read_rows(tmp_path / "c.csv", sheet="x"))
