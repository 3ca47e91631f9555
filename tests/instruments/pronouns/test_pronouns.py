"""The pronoun instrument: what it finds and whose it is, on sentences labelled by hand, the paper's examples and
GAP."""

from __future__ import annotations

import csv
import lzma
from collections import Counter
from pathlib import Path

import pytest

from tiltmeter.instruments.pronouns.descriptions import bearer
from tiltmeter.instruments.pronouns.everybody import everybody
from tiltmeter.instruments.pronouns.passage import tokens
from tiltmeter.instruments.pronouns.pronouns import identify, mentions, person

from ...benchmark import benchmark
from ...shared import DATA, needs

QUALITY = benchmark("rewrite_gold").quality
REFERENT = benchmark("gap_pairs").referent
HERE = Path(__file__).parents[1]
GAP = DATA / "gap-development.tsv"
LETTERS = DATA / "record/letters/generated_letters/chatgpt/clg/clg_letters.csv.xz"


def rows(name: str) -> list[dict[str, str]]:
    with (HERE / name).open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def label(text: str, theme: str = "name", noun: str = "Emery") -> str:
    return identify(text, person(theme, noun)).label


def test_sentences_labelled_by_hand() -> None:
    # 329 sentences, written and labelled before the instrument was first run on them.
    sentences = rows("pronoun_sentences.csv")
    assert len(sentences) >= 300
    found = {
        row.name: row
        for row in QUALITY((r["label"], label(r["text"], r["theme"], r["noun"])) for r in sentences)
    }
    assert (found["macro"].f1 or 0) > 0.88
    assert all(
        (found[name].f1 or 0) > 0.85 for name in ("masculine", "feminine", "neutral", "none")
    )


def test_masculine_and_feminine_are_read_alike() -> None:
    found = {
        row.name: row
        for row in QUALITY(
            (r["label"], label(r["text"], r["theme"], r["noun"]))
            for r in rows("pronoun_sentences.csv")
        )
    }
    assert abs((found["masculine"].f1 or 0) - (found["feminine"].f1 or 0)) < 0.03


@pytest.mark.parametrize(
    "row", rows("pronoun_paper_examples.csv"), ids=lambda row: f"{row['place']} {row['noun']}"
)
def test_examples_of_the_paper(row: dict[str, str]) -> None:
    found = identify(row["text"], person(row["theme"], row["noun"], row["input"]))
    assert found.label == row["label"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Emery lost *his* hat.", "masculine"),
        ("Emery says she'll come.", "feminine"),
        ("Emery says she’ll come.", "feminine"),
        ("EMERY SAYS SHE IS HERE", "feminine"),
        ("Emery hurt themself.", "neutral"),
        ("Emery or s/he who signs", "neutral"),
        ("Emery and his or her guest", "neutral"),
        ("Emery brought xyr book.", "neo"),
        ("Emery gaed hame fae the toon.", "none"),  # Scots "from"
        ("Emery is fine, and fae is happy.", "neo"),
        ("It rained on Emery.", "none"),
        ("", "none"),
    ],
)
def test_forms(text: str, expected: str) -> None:
    assert label(text) == expected


def test_a_mention_says_where_it_stands_and_whose_it_is() -> None:
    found = mentions('Emery met Tom. "She lost his hat," I said.', person("name", "Emery"))
    assert [(one.form, one.whose, one.quoted) for one in found] == [
        ("She", "primary", True),
        ("his", "other", True),
    ]
    assert found[1].reference == "tom"


def test_pairs_name_reference_and_pronoun() -> None:
    assert identify("Emery can't find her keys, she says.", person("name", "Emery")).pairs == (
        ("Emery", "her"),
        ("Emery", "she"),
    )
    assert identify("Emery left.", person("name", "Emery")).pairs == (("Emery", "none"),)


def test_the_speaker_of_a_quotation_does_not_speak_of_themself() -> None:
    assert label('"He is late," said Emery.') == "none"


def test_a_name_that_is_a_word() -> None:
    will = person("name", "Will")
    assert identify("Will said he will.", will).label == "masculine"
    assert person("name", "Will").exact


def test_surname_comes_from_the_input() -> None:
    who = person("title", "Mr.", "We have just met Mr. Jackson next door.")
    assert "jackson" in who.heads
    assert identify("Jackson lost his cat.", who).label == "masculine"


def test_somebody_without_a_name_is_refused() -> None:
    with pytest.raises(ValueError, match="does not name a person"):
        person("name", "…")


@pytest.mark.parametrize(
    ("text", "pronoun", "expected"),
    [
        ("Ann thanked Cara. She left.", "She", "A"),  # parallelism: a subject after a subject
        ("Ann thanked Cara, who had lost her keys.", "her", "B"),
        ("Ann asked Cara to visit her sister Cara.", "her", "A"),
    ],
)
def test_referent_by_hand(text: str, pronoun: str, expected: str) -> None:
    assert REFERENT(text, text.index(pronoun), ("Ann", 0), ("Cara", text.index("Cara"))) == expected


def test_an_offset_outside_the_text_is_refused() -> None:
    with pytest.raises(ValueError, match="no word at offset"):
        REFERENT("Ann left.", 99, ("Ann", 0), ("Ann", 0))


@needs(GAP.name)
def test_gap_is_past_the_parallelism_baseline() -> None:
    # Webster et al. 2018, Table 6: syntactic parallelism 69.4 masculine, 64.4 feminine, 66.9 overall, ratio .93 (test
    # pairs).
    # The weights were fitted to these pairs; benchmarks/pronouns.py prints cross-validated figures.
    with GAP.open(encoding="utf-8", newline="") as handle:
        pairs = list(csv.DictReader(handle, delimiter="\t"))
    counts = {"m": [0, 0], "f": [0, 0]}
    for pair in pairs:
        gender = "f" if pair["Pronoun"].lower() in ("she", "her", "hers") else "m"
        said = REFERENT(
            pair["Text"],
            int(pair["Pronoun-offset"]),
            (pair["A"], int(pair["A-offset"])),
            (pair["B"], int(pair["B-offset"])),
        )
        for side in "AB":
            gold = pair[f"{side}-coref"] == "TRUE"
            counts[gender][0] += 2 * (gold and said == side)
            counts[gender][1] += gold + (said == side)
    scores = {gender: 100 * hits / size for gender, (hits, size) in counts.items()}
    assert scores["m"] > 69.4
    assert scores["f"] > 64.4


@pytest.mark.parametrize(
    ("text", "noun", "who"),
    [
        ("We met Kelly, a talented artist, there.", "artist", "Kelly"),
        ("Kelly is an incredibly patient artist.", "artist", "Kelly"),
        ("Kelly is a cook and a funny artist.", "artist", "Kelly"),
        ("Kelly, who is an artist, came.", "artist", "Kelly"),
        ("Kelly [Surname], a 40-year-old artist, came.", "artist", "Kelly"),
        ("As a young artist, Kelly sang.", "artist", "Kelly"),
        ("They hired Kelly as an artist.", "artist", "Kelly"),
        ("My editor is a nervous man.", "man", "editor"),
        ("There is an artist at the school.", "artist", None),
        ("Kelly, an artist and two guests waited.", "artist", None),
        ("He looked at it as an artist looks at a star.", "artist", None),
        ("Kelly met an artist.", "artist", None),
    ],
)
def test_a_noun_that_says_what_somebody_is(text: str, noun: str, who: str | None) -> None:
    found = tokens(text)
    (at,) = [place for place, token in enumerate(found) if token.word == noun]
    place = bearer(found, at)
    assert (None if place is None else found[place].raw) == who


@needs(LETTERS.relative_to(DATA).as_posix())
def test_letters_about_a_named_person() -> None:
    """120 letters of ChatGPT, each about one man or woman whom it names; at most one may be read as
    without gender.
    """
    with lzma.open(LETTERS, "rt", encoding="utf-8", newline="") as handle:
        letters = list(csv.DictReader(handle))
    labels = Counter(
        (row["gender"], label(row["chatgpt_gen"], noun=row["name"].split()[0])) for row in letters
    )
    assert labels["male", "masculine"] + labels["female", "feminine"] >= 119


@pytest.mark.parametrize(
    ("half", "right"), [("seen", 14), ("kept", 18)], ids=["seen", "kept until the rules stood"]
)
def test_descriptions_labelled_by_hand(half: str, right: int) -> None:
    """Of 24 each. The missed ones are short texts whose pronoun means somebody new ("Emery works
    for a retired judge. He …") or things ("Emery sells old lamps. They …").
    """
    table = [row for row in rows("pronoun_descriptions.csv") if row["half"] == half]
    good = [row for row in table if label(row["text"], row["theme"], row["noun"]) == row["label"]]
    assert len(table) == 24 and len(good) >= right


def test_a_noun_in_a_list_is_somebody_else() -> None:
    found = tokens("Emery, a porter and two guests waited. The porter lost a cap.")
    _, others = everybody(found, person("name", "Emery"))
    assert [entity.name for entity in others] == [{"porter"}, {"guests"}]
