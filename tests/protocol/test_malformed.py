"""One malformed file for each rule of a protocol's file: the error names the line and says what to write instead.

malformed/audit.toml is right; each rule of malformed/rules.toml changes one thing in it.
"""

from __future__ import annotations

import copy
import random
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.pace import within
from tiltmeter import registry
from tiltmeter.errors import ProtocolError
from tiltmeter.protocol.design.tables import Beside
from tiltmeter.protocol.reading import load
from tiltmeter.protocol.source.source_lines import SourceLocation, line_of

DATA = Path(__file__).parent / "malformed"
RULES = tomllib.loads((DATA / "rules.toml").read_text("utf-8"))["rules"]
ANYTHING = [
    "x",
    "",
    0,
    -1,
    2.5,
    True,
    [],
    {},
    [[]],
    [{}],
    {"a": "b"},
    {"a": 1},
    ["x"],
    "a|b",
    "*",
    ["*"],
    "{x}",
    "{",
    "jobs.csv",
    ["group"],
    [1],
    {"en": {"a": ["b"], "b": ["c"]}},
]
LINES = """\
name = "a"  # [tables]
# prompt = "none"
text = '''apart = ["x"] '''
apart = ["y"]
limits = [
  "One, [not] a list.",
  "Two",
]

[[tables]]
rows = [
  { a = "1", b = "x, y" }, { a = "2", b = "]" },
  { a = "3", b = "z" },  # [more]
]
[[tables]]
parts = [
  { file = "a.csv" }, { file = "b.csv", add = { c = "d" } },
]
[[instruments]]
name = "one"
[instruments.forms.en]
yes = ["yes"]
no = ["no"]
[instruments.forms.de]
[[instruments]]
name = "two"
[variants.plain]
where = { a = ["1"] }
"""


def changed(rule: dict[str, Any]) -> str:
    """audit.toml with one thing wrong."""
    text = (DATA / "audit.toml").read_text("utf-8")
    new = rule["new"] + ("\n" + rule["then"] if "then" in rule else "")
    for old, other in [(rule["old"], new), *([rule["swap"]] if "swap" in rule else [])]:
        assert old in text
        text = text.replace(old, other, -1 if "all" in rule else 1)
    if "factors" in rule:
        text = text.replace('["group", "job", "tone"]', rule["factors"], 1)
    if "crosstab" in rule:
        text = text.replace(
            'crosstab = { rows = ["group"], columns = "tone", levels = ["plain", "polite"] }\n', ""
        )
    return text[: text.index(rule["cut"])] if "cut" in rule else text


def written(rule: dict[str, Any], folder: Path) -> Path:
    (folder / "audit.toml").write_text(changed(rule), encoding="utf-8")
    if "latin" in rule:
        (folder / "jobs.csv").write_bytes(rule["latin"].encode("latin-1"))
    else:
        (folder / "jobs.csv").write_text(
            rule.get("jobs") or (DATA / "jobs.csv").read_text("utf-8"), encoding="utf-8"
        )
    return folder / "audit.toml"


def test_what_the_rules_change_is_right_before() -> None:
    assert registry.protocol(str(DATA / "audit.toml")).name == "raises"


@pytest.mark.parametrize("rule", RULES, ids=[rule["rule"] for rule in RULES])
def test_an_error_names_the_line_and_the_remedy(rule: dict[str, Any], tmp_path: Path) -> None:
    path = written(rule, tmp_path)
    with pytest.raises(ProtocolError) as caught:
        registry.protocol(str(path))
    said = str(caught.value)
    assert said.startswith(f"{tmp_path.name}/audit.toml")
    for words in rule["said"]:
        assert words in said, said
    line = f"line {rule['line']}" if "line" in rule else None
    assert line is None or f"{line}," in said or f"{line}:" in said or f"(at {line}," in said, said
    assert said.count("\n") == 0 and len(said) < 500


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    for key, part in (
        data.items()
        if isinstance(data, dict)
        else enumerate(data)
        if isinstance(data, list)
        else ()
    ):
        yield (*path, key)
        yield from places(part, (*path, key))


@pytest.mark.parametrize("seed", range(200))
def test_whatever_stands_anywhere_is_loaded_or_refused_in_words(seed: int) -> None:
    """One value of the file is left out or is another one; nothing but a ProtocolError may come of it."""
    text, draw = (DATA / "audit.toml").read_text("utf-8"), random.Random(seed)
    data = tomllib.loads(text)
    path = draw.choice(list(places(data)))
    inside = data
    for key in path[:-1]:
        inside = inside[key]
    if draw.random() < 0.2:
        del inside[path[-1]]
    else:
        inside[path[-1]] = copy.deepcopy(draw.choice(ANYTHING))
    try:
        load.declare(
            data, Beside(DATA), SourceLocation("audit.toml", text, data), registry.instrument_kind
        )
    except ProtocolError as error:
        assert str(error).startswith("audit.toml")


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("name",), 1),
        (("apart", 0), 4),
        (("limits", 1), 7),
        (("tables", 0, "rows", 1, "b"), 12),
        (("tables", 0, "rows", 2), 13),
        (("tables", 1, "parts", 1, "add"), 17),
        (("tables", 1, "parts", 1, "rows", 7, "c"), 17),
        (("instruments", 0, "forms", "en", "no"), 23),
        (("instruments", 0, "forms", "de", "nein"), 24),
        (("instruments", 1), 25),
        (("instruments", 1, "forms"), 25),
        (("variants", "plain", "where", "a"), 28),
        (("nowhere", "at", "all"), None),
    ],
)
def test_a_value_is_found_on_its_line(path: tuple[str | int, ...], line: int | None) -> None:
    """Counted by hand in LINES."""
    assert line_of(LINES, path) == line


def test_a_row_among_thousands_is_found_soon() -> None:
    text = "\n".join(["a = 1", "rows = [", *(f'  {{ job = "{n}" }},' for n in range(3000)), "]"])
    with within(5):
        assert line_of(text, ("rows", 2500, "job")) == 2503
