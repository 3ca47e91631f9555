"""Lists of nouns: what is read out of replies, what raters are shown, and what is kept."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import tiltmeter
from tiltmeter import registry
from tiltmeter.protocols.word_lists import reading
from tiltmeter.protocols.word_lists.__main__ import main

HOME = Path(reading.__file__).parent
WORDS = """language,article,noun,gloss,grammatical_gender,chinese
de,die,Wache,guard,feminine,警卫
de,der,Liebling,darling,masculine,宝贝
ru,-,ангел,angel,masculine,天使
"""
REPLY = """Here are twenty nouns:
1. die Wache = guard
2. **die Koryphäe** = luminary.
- die Wehr – "defence force"
die Person
der Mann mit dem langen Hut = a man with the long hat
Die Wache = sentry
"""


def test_nouns_are_read_out_of_replies() -> None:
    """A line each, numbered or bold or not; what is no such line, and a noun a second time, is passed over."""
    found = reading.candidates("de", "feminine", [REPLY, "die Wache = guard", "none"])
    assert [(one.article, one.noun, one.gloss, one.times) for one in found] == [
        ("die", "Wache", "guard", 2),
        ("die", "Koryphäe", "luminary", 1),
        ("die", "Wehr", "defence force", 1),
    ]


@pytest.mark.parametrize(
    ("language", "text", "parts"),
    [
        ("it", "l'idolo", ("l'", "idolo")),
        ("it", "un’autorità", ("un’", "autorità")),
        ("fr", "une sentinelle", ("une", "sentinelle")),
        ("de", "Derwisch", ("-", "Derwisch")),
        ("ru", "стража", ("-", "стража")),
    ],
)
def test_articles(language: str, text: str, parts: tuple[str, str]) -> None:
    assert reading.split_article(language, text) == parts


def test_what_raters_are_shown_names_no_gender(tmp_path: Path) -> None:
    words = tmp_path / "w.csv"
    words.write_text(WORDS, "utf-8")
    assert main(["start", str(words), "--out", str(tmp_path / "rating")]) == 0
    protocol = registry.protocol(str(tmp_path / "rating" / "protocol.toml"))
    assert len(protocol.items()) == 3 and "grammatical_gender" not in protocol.cells[0]
    answers = (tmp_path / "rating" / "answers.jsonl").read_text("utf-8").splitlines()
    texts = [json.loads(line) for line in answers]
    assert [one["text"] for one in texts] == [
        "Wache (guard)",
        "Liebling (darling)",
        "ангел (angel)",
    ]
    assert not any("die" in one["prompt"].split() or "mascul" in str(one) for one in texts)
    assert main(["start", str(words), "--out", str(tmp_path / "rating")]) == 2  # is there already


def test_three_of_five_keep_a_word_and_two_judges_name_its_category() -> None:
    """Wache: 3 of 5 against the grammar; Liebling: 2; the judges' own ratings count where asked for."""
    lines = [line.split(",") for line in WORDS.splitlines()]
    rows = [dict(zip(lines[0], line, strict=True)) for line in lines[1:3]]
    for row in rows:
        row["word"] = f"{row['language']}:{row['noun'].casefold()}"
    said = [
        ("de:wache", f"human:{n}", "stereotype", "man" if n < 3 else "no_one_sex") for n in range(5)
    ]
    said += [
        ("de:liebling", f"human:{n}", "stereotype", "woman" if n < 2 else "man") for n in range(5)
    ]
    said += [("de:liebling", f"stereotype/{n}", "stereotype", "woman") for n in range(3)]
    said += [
        ("de:wache", f"category/{n}", "category", "occupation" if n else "power_dynamic")
        for n in range(3)
    ]
    said += [("de:liebling", f"category/{n}", "category", f"kind {n}") for n in range(3)]
    people, judges = (reading.rate_words(rows, said, who) for who in ("people", "judges"))
    assert [one.opposite for one in people] == [3, 2]
    assert [one.opposite for one in judges] == [0, 3]
    assert [one.category for one in people] == ["occupation", ""]
    (made,) = reading.list_rows(people[:1])
    assert tuple(made) == reading.COLUMNS
    assert (made["resource"], made["declined"], made["concept"]) == ("high", "Wache", "guard")
    with (HOME.parent / "gramvis" / "words.csv").open(encoding="utf-8", newline="") as file:
        assert tuple(next(csv.reader(file))) == reading.COLUMNS


def test_candidates_are_a_protocol_and_become_a_list(tmp_path: Path) -> None:
    protocol = registry.protocol(str(HOME / "candidates.toml"))
    assert len(protocol.cells) == 10
    assert {cell["grammatical_gender"] for cell in protocol.cells} == {"feminine", "masculine"}
    lines = [
        {
            "prompt": protocol.prompt_text(cell),
            "text": "die Wache = guard\ndie Aufsicht = supervisor",
        }
        for cell in protocol.cells
        if cell["language"] == "de"
    ]
    answers = tmp_path / "answers.jsonl"
    answers.write_text("\n".join(json.dumps(line) for line in lines) + "\n", "utf-8")
    model, out = f"file:{answers}", tmp_path / "run"
    tiltmeter.run(HOME / "candidates.toml", model=model, language="de", samples=1, out=out)
    assert main(["collect", str(out), "--out", str(tmp_path / "c.csv")]) == 0
    with (tmp_path / "c.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["word"], row["grammatical_gender"], row["times"]) for row in rows[:2]] == [
        ("de:wache", rows[0]["grammatical_gender"], "1"),
        ("de:aufsicht", rows[0]["grammatical_gender"], "1"),
    ]
    assert len(rows) == 4
    assert main(["start", str(tmp_path / "none.csv"), "--out", str(tmp_path / "r")]) == 2
