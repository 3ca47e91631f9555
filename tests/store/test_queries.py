"""The store is the seam: SQL stands nowhere else, and fields of stored JSON are found by name."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

from tiltmeter.records import (
    ANSWER,
    REFUSAL,
    Message,
    Output,
    Request,
    Sampling,
    Trial,
    content_id,
)
from tiltmeter.store import Store
from tiltmeter.store.queries.outputs import first_answers
from tiltmeter.store.rows import StoredRequest, field_path, request_of

SOURCE = Path(__file__).parents[2] / "src" / "tiltmeter"
SQL = re.compile(
    r"\b(SELECT|INSERT|PRAGMA|CREATE (TABLE|INDEX)|DELETE FROM|UPDATE \w+ SET|json_extract)\b"
)


BEGINNING = re.compile(r"SELECT|INSERT|PRAGMA|CREATE|DELETE|UPDATE|json_extract|sqlite3")


def sql_in(path: Path) -> Iterator[str]:
    """Every text of SQL, and every import of sqlite3, with its line."""
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)) if BEGINNING.search(text) else ():
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and SQL.search(node.value)
        ):
            yield f"{path.relative_to(SOURCE)}:{node.lineno}"
        if isinstance(node, ast.Import) and any(one.name == "sqlite3" for one in node.names):
            yield f"{path.relative_to(SOURCE)}:{node.lineno}"


def test_no_sql_stands_outside_the_store() -> None:
    files = [path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).parts[0] != "store"]
    assert len(files) > 200
    assert [place for path in files for place in sql_in(path)] == []


def test_the_search_for_sql_finds_the_stores_own() -> None:
    queries = (SOURCE / "store" / "queries").glob("label*.py")
    assert len([place for path in queries for place in sql_in(path)]) > 20


def test_a_stored_request_is_read_by_the_names_of_its_fields() -> None:
    """`Request.text` has its fields in the order of StoredRequest."""
    text = Request(
        "a:b",
        (Message("user", "Who?", ("x.png",)),),
        Sampling(seed=3),
        "She",
        5,
        "{}",
        "judge/1",
        "t1/0/2",
    )
    found = StoredRequest.parse(text.text)
    assert found == StoredRequest(
        "a:b",
        [["user", "Who?", ["x.png"]]],
        [1.0, 1.0, 256, 3],
        "She",
        5,
        "{}",
        "judge/1",
        "t1/0/2",
    )
    assert (found.about, found.turn) == ("t1", "0/2")
    drawn = Request("a:b", (), size="64x64", longest=0, nonce="t1/0")
    assert StoredRequest.parse(drawn.text)[-3:] == ("64x64", 0, ())
    begun = Request("a:b", (), begin="It is '", stop=("'",), nonce="t1/0")
    assert StoredRequest.parse(begun.text).stop == ["'"]
    assert request_of(begun.text) == begun and len(json.loads(drawn.text)) == 10


def test_a_field_is_found_by_its_name_in_sqlite_too() -> None:
    place = int(field_path(StoredRequest, "nonce").strip("$[]"))
    assert json.loads(Request("m", (), nonce="here").text)[place] == "here"
    assert field_path(Sampling, "max_tokens") == "$[2]"


def test_the_first_answers_of_each_cell_are_the_first_by_id(tmp_path: Path) -> None:
    with Store(tmp_path, create=True, writing=True) as store:
        trials = [
            Trial("", f"a:{n % 2}", mode, {"item": item}, n, "Who?", "", Sampling())
            for n in range(40)
            for mode in ("asked", "begun")
            for item in ("cook", "pilot")
        ]
        trials = [one._replace(id=content_id(*one[:5])) for one in trials]
        list(store.iter_unanswered(trials))
        rare = ("begun", "pilot")  # has one answer, where three are looked for
        outputs = [
            Output(
                one.id,
                ANSWER if (one.mode, one.factors["item"]) != rare or one.sample == 7 else REFUSAL,
                "",
                "",
            )
            for one in trials
        ]
        store.write([], outputs, [])
        for subject in ("a:0", "a:1"):
            answered = {one.trial for one in outputs if one.outcome == ANSWER}
            own = sorted(one.id for one in trials if one.subject == subject and one.id in answered)
            cell_of = {one.id: (one.mode, one.factors["item"]) for one in trials}
            wanted = [
                name
                for place, name in enumerate(own)
                if sum(cell_of[before] == cell_of[name] for before in own[:place]) < 3
            ]
            assert [card.id for card in first_answers(store, subject, 3)] == wanted
            assert len(wanted) == (10 if subject == "a:1" else 9)
