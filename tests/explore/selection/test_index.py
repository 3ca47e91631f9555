"""What is read from runs: labels, disagreement, surprise, searches; numbers by hand."""

from __future__ import annotations

import math
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests import forging
from tests.explore.conftest import HOSTILE
from tiltmeter import registry
from tiltmeter.errors import StoreError, UsageError
from tiltmeter.explore.browse.page import page
from tiltmeter.explore.selection import index as reading
from tiltmeter.explore.selection.detail import detail
from tiltmeter.explore.selection.index import Index, Source, open_indices
from tiltmeter.explore.selection.labels import lead_labels
from tiltmeter.explore.selection.parts import NONE
from tiltmeter.explore.selection.view import View
from tiltmeter.records import Label, Output, Sampling, Trial
from tiltmeter.stages.planning.plan import Choices
from tiltmeter.store import Store
from tiltmeter.store.queries.labels import RankedLabel

Open = Callable[..., Index]


@pytest.fixture
def look() -> Iterator[Open]:
    made: list[Index] = []

    def one(*folders: Path) -> Index:
        found = open_indices(folders)
        made.extend(found)
        assert len(found) == 1
        return found[0]

    yield one
    for index in made:
        index.close()


def by_hand(folder: Path, values: list[str], level: str = "he_first") -> Store:
    """A run of `roles` with one word's answers, written down; the writer is left open."""
    store = Store(folder, create=True, writing=True)
    store.freeze(Choices(("planted:x",)).frozen(registry.protocol("roles")))
    store.put("source", "roles")
    factors = {
        "language": "en",
        "class": "communal",
        "order": level,
        "word": "kind",
        "lexeme": "kind",
    }
    trials = [
        Trial(f"{n:016x}" * 2, "planted:x", "sampled", factors, n, "?", "", Sampling())
        for n in range(len(values))
    ]
    list(store.iter_unanswered(trials))
    outputs = [
        Output(trial.id, "answer", f"{value} it is", "")
        for trial, value in zip(trials, values, strict=True)
    ]
    labels = [
        Label(trial.id, "choice/1@aa", "pronoun", value)
        for trial, value in zip(trials, values, strict=True)
    ]
    store.write([], outputs, labels)
    return store


def test_what_is_said_of_an_output() -> None:
    """Votes and annotators disagree where one says another thing; of probabilities the greatest is said."""
    panel = [
        RankedLabel("t", "p", "gender", "male", 1.0, 0),
        RankedLabel("t", "p", "gender_vote", "male", 1.0, 0),
        RankedLabel("t", "p", "gender_vote", "female", 1.0, 1),
    ]
    assert lead_labels("gender", "p", panel) == [("male", 1.0, True, True)]
    assert lead_labels("gender", "p", panel[:2]) == [("male", 1.0, True, False)]
    read = [
        RankedLabel("t", "e", "pronoun", "she", 0.7, 0),
        RankedLabel("t", "e", "pronoun", "he", 0.2, 0),
        RankedLabel("t", "human:a", "pronoun", "she", 1.0, 0),
    ]
    assert lead_labels("pronoun", "e", read) == [
        ("she", 0.7, True, False),
        ("he", 0.2, False, False),
    ]
    words = [
        RankedLabel("t", "w", "word", "warm", 1.0, 0),
        RankedLabel("t", "w", "word", "kind", 1.0, 1),
    ]
    assert lead_labels("word", "w", words) == [
        ("warm", 1.0, True, False),
        ("kind", 1.0, True, False),
    ]


def test_surprise_is_bits_of_the_share_in_its_condition(tmp_path: Path, look: Open) -> None:
    """3 of 4 she: −log2 ¾ = .415; 1 of 4 he: −log2 ¼ = 2. The other condition has its own shares."""
    by_hand(tmp_path / "a", ["she", "she", "he", "she"]).close()
    found = page(look(tmp_path / "a"), View(tab="*", sort="surprise"))
    cards = found.rows[0][1][0].cards
    assert [card.labels for card in cards] == [("he",), ("she",), ("she",), ("she",)]
    assert [card.surprise for card in cards] == pytest.approx([2.0] + 3 * [math.log2(4 / 3)])
    assert [(bar.value, bar.count, bar.share) for bar in found.rows[0][1][0].bars] == [
        ("she", 3, 0.75),
        ("he", 1, 0.25),
    ]


def test_runs_of_one_protocol_are_looked_at_together(tmp_path: Path, look: Open) -> None:
    by_hand(tmp_path / "a", ["she"]).close()
    by_hand(tmp_path / "b", ["he", "he"]).close()
    found = page(look(tmp_path / "a", tmp_path / "b"), View(tab="*"))
    assert found.total == 3 and {column for column, _ in found.columns} == {
        "planted:x (a)",
        "planted:x (b)",
    }


def test_a_run_that_goes_on_is_read_again(
    tmp_path: Path, look: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "REREAD_S", 0.0)
    with by_hand(tmp_path / "a", ["she", "he"]) as store:
        list(
            store.iter_unanswered(
                [
                    Trial(
                        "f" * 32,
                        "planted:x",
                        "sampled",
                        {"order": "she_first"},
                        0,
                        "?",
                        "",
                        Sampling(),
                    )
                ]
            )
        )
        index = look(tmp_path / "a")
        before = page(index, View(tab="*"))
        assert (before.total, before.missing) == (2, 1)
        store.write([], [Output("f" * 32, "refusal", "no", "")], [])
        time.sleep(0.01)
        after = page(index, View(by="outcome", tab="*"))
        assert (after.total, after.missing) == (3, 0)
        assert page(index, View(value=NONE, by="outcome", tab="*")).found == 1


def test_bars_stay_as_they_are_when_outputs_are_filtered(guards: Path, look: Open) -> None:
    index = look(guards)
    for tab in ("guard", "*"):
        every, few = page(index, View(tab=tab)), page(index, View(tab=tab, value="male"))
        assert [cell.bars for _, row in every.rows for cell in row] == [
            cell.bars for _, row in few.rows for cell in row
        ]
        assert 0 < few.found < few.total == every.total
        assert all(
            card.labels == ("male",) for _, row in few.rows for cell in row for card in cell.cards
        )


def test_filters_agree_with_the_tables(guards: Path, look: Open) -> None:
    index = look(guards)
    with forging.changing(guards) as db:
        split = db.execute(
            "SELECT count(*) FROM (SELECT output FROM labels WHERE attribute IN ('gender', 'gender_vote')"
            " GROUP BY 1 HAVING count(DISTINCT value) > 1)"
        ).fetchone()[0]
        outcomes = dict(db.execute("SELECT outcome, count(*) FROM outputs GROUP BY 1"))
        revised = db.execute(
            "SELECT count(*) FROM outputs o JOIN calls c ON c.key = o.call"
            " WHERE c.revised LIKE 'A picture: %' OR o.text LIKE '%a picture: %'"
        ).fetchone()[0]
    db.close()
    assert 0 < split < 36 and sum(outcomes.values()) == 36
    assert page(index, View(tab="*", split="1")).found == split
    assert page(index, View(tab="*", outcome="refusal")).found == outcomes.get("refusal", 0)
    assert page(index, View(tab="*", text="A PICTURE: ")).found == revised > 0
    assert page(index, View(tab="*", text="100%_\\")).found == 0


def test_columns_begin_with_the_baseline(guards: Path, texts: Path, look: Open) -> None:
    assert page(look(guards), View()).columns == (("feminine", True), ("masculine", False))
    found = page(look(texts), View(show="wall"))
    assert found.columns == (("he_first", True), ("she_first", False))
    assert [row for row, _ in found.rows] == ["planted:she=0.4", "planted:she=0.7"]


@pytest.mark.parametrize(
    ("columns", "rows"), [("subject", "order"), ("mode", "subject"), ("lexeme", "subject")]
)
def test_columns_and_rows_can_be_chosen(texts: Path, look: Open, columns: str, rows: str) -> None:
    found = page(
        look(texts), View(columns=columns, rows=rows, by="class", tab="*", levels=(("mode", "*"),))
    )
    assert found.view.columns == columns and found.view.rows == rows
    assert (
        found.total == found.found == 5 * 2 * 2 * 5
    )  # words, orders, subjects, four drawn and one read


def test_a_factor_that_is_not_there_is_said(texts: Path, look: Open) -> None:
    with pytest.raises(UsageError, match="no factor 'x; DROP TABLE card'"):
        page(look(texts), View(columns="x; DROP TABLE card"))


def test_pages_hold_each_output_once(
    guards: Path, look: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tiltmeter.explore.browse.page.PICTURES", 4)
    monkeypatch.setattr("tiltmeter.explore.browse.cells.FEWEST_SAMPLES", 1)
    index = look(guards)
    view = View(by="outcome", tab="*", rows="word", columns="cue")
    seen: list[str] = []
    for number in range(1, page(index, view).pages + 1):
        shown = [
            card.id
            for _, row in page(index, View(**_fields(view) | {"page": number})).rows
            for cell in row
            for card in cell.cards
        ]
        assert len(shown) <= 4
        seen += shown
    assert len(seen) == len(set(seen)) == 36


def _fields(view: View) -> dict[str, object]:
    return {name: getattr(view, name) for name in View.__slots__}


def test_the_address_holds_the_view() -> None:
    view = View(
        tab="a b",
        value="ma&le",
        split="1",
        text="x=y",
        sort="surprise",
        per="3",
        levels=(("mode", "*"),),
        page=4,
    )
    from urllib.parse import parse_qsl

    assert View.parse(dict(parse_qsl(view.address(page=4)[1:]))) == view
    assert View().address() == "?"
    assert (
        View.parse({"sort": "x", "per": "99", "high": "1; x", "page": "-2", "study": "no"})
        == View()
    )


def test_everything_stored_about_an_output_is_shown(guards: Path, look: Open) -> None:
    index = look(guards)
    with forging.changing(guards) as db:
        trial, prompt, revised = db.execute(
            "SELECT t.id, t.prompt, c.revised FROM trials t JOIN outputs o ON o.trial = t.id JOIN calls c ON c.key = o.call"
            " WHERE c.revised != '' AND o.outcome = 'answer'"
        ).fetchone()
        votes = [
            row[0]
            for row in db.execute(
                "SELECT value FROM labels WHERE output = ? AND attribute = 'gender_vote'"
                " ORDER BY position",
                (trial,),
            )
        ]
    db.close()
    found = detail(index, 0, trial)
    assert (found.prompt, found.revised) == (prompt, revised)
    said = [one for one in found.labels if one.attribute == "gender_vote"]
    assert [one.value for one in said] == votes
    assert [
        "seed=0" in one.judge or "seed=1" in one.judge or "seed=2" in one.judge for one in said
    ] == [True] * 3
    assert len(found.voices) >= 3 and found.call is not None and found.call.purpose == "subject"
    assert found.signatures[0].startswith("protocol:guards/")
    assert found.price == "$0.00"  # planted models cost nothing
    call = replace(found.call, cost=None)
    assert (
        replace(found, call=call).price
        == f"$0.00 and 1 of {1 + len(found.voices)} calls at unknown cost"
    )
    assert replace(found, call=None, voices=()).price == "none"
    assert (
        replace(found, voices=(replace(call, cost=0.01), replace(call, cost=0.02))).price
        == "$0.0300 (replies shared with equal outputs counted whole)"
    )
    with pytest.raises(UsageError):
        detail(index, 0, "../../etc/passwd")
    with pytest.raises(UsageError):
        detail(index, 7, trial)


def test_hostile_labels_are_values_like_others(texts: Path, look: Open) -> None:
    index = look(texts)
    assert page(index, View(tab="*", text=HOSTILE[0])).found == 1
    assert (
        page(index, View(tab="*", split="1")).found >= 5
    )  # each hostile label contradicts the first annotator


def test_runs_that_cannot_be_read_are_said(
    tmp_path: Path, guards: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StoreError, match="is not a run"):
        open_indices([tmp_path])
    newer = tmp_path / "newer"
    with by_hand(newer, ["she"]) as store:
        list(store.rows("PRAGMA user_version = 99"))
    with monkeypatch.context() as patched:
        opened: list[Source] = []
        real = Source.open
        patched.setattr(Source, "open", lambda *given: opened.append(real(*given)) or opened[-1])
        with pytest.raises(StoreError, match="newer tiltmeter"):
            open_indices([guards, newer])
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):  # what was opened before it
        opened[0].store.first("SELECT 1")
    unknown = tmp_path / "unknown"
    with by_hand(unknown, ["she"]) as store:
        store.put("source", "no_such_protocol")
    with pytest.raises(StoreError, match=r"no_such_protocol.* is not an installed protocol"):
        open_indices([unknown])


def test_nothing_is_written_into_a_run(guards: Path, look: Open) -> None:
    def files() -> dict[Path, bytes]:
        """Without SQLite's own, which come and go with whoever reads (another test's page, until it is closed)."""
        own = ("-shm", "-wal")
        return {
            path: path.read_bytes()
            for path in guards.rglob("*")
            if path.is_file() and not path.name.endswith(own)
        }

    before = files()
    index = look(guards)
    found = page(index, View(tab="*", text="photo", split="1", sort="surprise"))
    detail(index, 0, next(card.id for _, row in found.rows for cell in row for card in cell.cards))
    index.close()
    assert files() == before
