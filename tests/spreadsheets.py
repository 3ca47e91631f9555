"""Spreadsheets as office programs write them, as small as they can be."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

Sheets = Mapping[str, Sequence[Sequence[str | float | None]]]
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_ODF = "urn:oasis:names:tc:opendocument:xmlns:"


def xlsx(path: Path, sheets: Sheets) -> Path:
    """An Office Open XML workbook with texts inline."""
    names = list(sheets)
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
        'relationships+xml"/><Default Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{_RELATED}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATED}"><sheets>'
        + "".join(
            f'<sheet name="{escape(name)}" sheetId="{n}" r:id="r{n}"/>'
            for n, name in enumerate(names, 1)
        )
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        + "".join(
            f'<Relationship Id="r{n}" Type="{_RELATED}/worksheet" Target="worksheets/s{n}.xml"/>'
            for n in range(1, len(names) + 1)
        )
        + "</Relationships>",
    }
    for number, rows in enumerate(sheets.values(), 1):
        data = "".join(
            f'<row r="{at}">{"".join(_cell(cell, at, n) for n, cell in enumerate(row))}</row>'
            for at, row in enumerate(rows, 1)
        )
        parts[f"xl/worksheets/s{number}.xml"] = (
            f'<worksheet xmlns="{_MAIN}"><sheetData>{data}</sheetData></worksheet>'
        )
    return _zip(path, parts)


def _cell(cell: str | float | None, row: int, column: int) -> str:
    place = f"{chr(ord('A') + column)}{row}"
    if cell is None:
        return ""
    if isinstance(cell, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(cell)}</t></is></c>'
    return f'<c r="{place}"><v>{cell}</v></c>'


def ods(path: Path, sheets: Sheets) -> Path:
    """An OpenDocument spreadsheet."""
    spaces = "".join(f' xmlns:{name}="{_ODF}{name}:1.0"' for name in ("office", "table", "text"))
    tables = "".join(
        f'<table:table table:name="{escape(name)}">'
        + "".join(f"<table:table-row>{''.join(map(_value, row))}</table:table-row>" for row in rows)
        + "</table:table>"
        for name, rows in sheets.items()
    )
    body = f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body>"
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = (
        f'<m:manifest xmlns:m="{_ODF}manifest:1.0"><m:file-entry m:full-path="/" '
        f'm:media-type="{kind}"/></m:manifest>'
    )
    return _zip(
        path,
        {
            "mimetype": kind,
            "META-INF/manifest.xml": manifest,
            "content.xml": f"<office:document-content{spaces}>{body}</office:document-content>",
        },
    )


def _value(cell: str | float | None) -> str:
    if cell is None:
        return "<table:table-cell/>"
    text = f"<text:p>{escape(str(cell))}</text:p>"
    if isinstance(cell, str):
        return f'<table:table-cell office:value-type="string">{text}</table:table-cell>'
    return (
        f'<table:table-cell office:value-type="float" office:value="{cell}">{text}'
        "</table:table-cell>"
    )


def _zip(path: Path, parts: Mapping[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return path
