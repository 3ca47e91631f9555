"""Makes src/tiltmeter/languages/cldr.json from three packages of the Unicode CLDR.

    npm pack cldr-core cldr-misc-full cldr-localenames-full   (unpack each, by its name)
    python scripts/make_cldr.py FOLDER

One line per language: its English name, its quotation marks (outer pair, inner pair), the words for
"and" and "or" between two items, and its script (ISO 15924).
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

OUTPUT = Path(__file__).parents[1] / "src" / "tiltmeter" / "languages" / "cldr.json"
QUOTES = ("quotationStart", "quotationEnd", "alternateQuotationStart", "alternateQuotationEnd")


def read(path: Path, *keys: str) -> Any:
    """Reads a JSON file and follows keys into it."""
    data = json.loads(path.read_text("utf-8"))
    for key in keys:
        data = data[key]
    return data


def joint(pattern: str) -> str:
    """Returns what stands between the two items of a list pattern."""
    return pattern.replace("{0}", "").replace("{1}", "").strip(" ,")


def main(folder: Path) -> None:
    """Writes the file."""
    misc, core = folder / "cldr-misc-full" / "main", folder / "cldr-core"
    names = read(
        folder / "cldr-localenames-full" / "main" / "en" / "languages.json",
        *("main", "en", "localeDisplayNames", "languages"),
    )
    likely = read(core / "supplemental" / "likelySubtags.json", "supplemental", "likelySubtags")
    lines = []
    for path in sorted(misc.iterdir()):
        code = path.name
        if not re.fullmatch("[a-z]{2,3}", code) or code not in names:
            continue
        marks = read(path / "delimiters.json", "main", code, "delimiters")
        lists = read(path / "listPatterns.json", "main", code, "listPatterns")
        script = likely.get(code, f"{code}-Zyyy-ZZ").split("-")[1]
        row = [
            names[code],
            "".join(marks[name] for name in QUOTES),
            joint(lists["listPattern-type-standard"]["2"]),
            joint(lists["listPattern-type-or"]["2"]),
            script,
        ]
        lines.append(f"{json.dumps(code)}: {json.dumps(row, ensure_ascii=False)}")
    version = read(core / "package.json", "version")
    text = f'{{"version": "{version}",\n' + ",\n".join(lines) + "}\n"
    OUTPUT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
