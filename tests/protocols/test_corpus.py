"""Our corpus for gendering and misgendering: the corpus passes its checker, the checker can fail, neopronouns agree."""

from __future__ import annotations

import dataclasses
import json
import re
import statistics
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from scripts.corpus import check as checker
from scripts.corpus import rules as check_rules
from scripts.corpus.check import check, main, read
from scripts.corpus.copies import near_copies
from scripts.corpus.pairs import check_paired
from scripts.corpus.rules import Text
from sklearn.feature_extraction.text import TfidfVectorizer
from spellchecker import SpellChecker

from tiltmeter import registry
from tiltmeter.instruments.rewrites.neopronouns import pronoun_sets
from tiltmeter.protocols.protext import paired, shipped
from tiltmeter.protocols.protext.command import main as write_folder
from tiltmeter.protocols.protext.neopronoun_texts import agreeing, agreement, neopronoun_version

CORPUS = Path(registry.__file__).parent / "protocols" / "protext" / "texts.jsonl"

GOOD = Text(
    "good",
    "occupation",
    "male",
    "she",
    "Plumber",
    "message",
    ("idioms",),
    "The plumber came at eight, took her boots off at the door and fixed the boiler in an hour flat. She says the "
    "pump has two more winters in it at the most, so let us not count our chickens.",
)


@pytest.fixture(scope="module")
def corpus() -> list[Text]:
    texts, findings = read(CORPUS)
    assert findings == []
    return texts


def variant(text: str | None = None, **changes: object) -> Text:
    return dataclasses.replace(GOOD, **changes, **({"text": text} if text else {}))  # type: ignore[arg-type]


def rules(*texts: Text, spelling: bool = False) -> set[str]:
    return {
        finding.rule for finding in check(texts, known=SpellChecker().known if spelling else None)
    }


def test_corpus_passes_every_rule(corpus: list[Text]) -> None:
    assert [str(finding) for finding in check(corpus, full=True, known=SpellChecker().known)] == []


def test_corpus_has_the_cells_of_table_1(corpus: list[Text]) -> None:
    # Table 1 of the paper, added up by hand.
    assert len(corpus) == 640
    assert Counter(t.theme for t in corpus) == {
        "name": 200,
        "occupation": 180,
        "title": 130,
        "kinship": 130,
    }
    assert Counter(t.pronoun for t in corpus) == {"he": 135, "she": 135, "they": 185, "none": 185}


def test_appendix_2_is_complete() -> None:
    # Counted in Tables 3 to 6: 50 names a column; 50 + 41 + 49 occupations; 2 + 3 + 4 titles; 5 + 5 + 5 kinship terms.
    counts = Counter((theme, category) for theme, category, _ in check_rules.NOUNS)
    assert [counts["name", c] for c in ("male", "female", "neutral")] == [50, 50, 50]
    assert [counts["occupation", c] for c in ("male", "female", "neutral")] == [50, 41, 49]
    assert [counts["title", c] for c in ("male", "female", "neutral")] == [2, 3, 4]
    assert [counts["kinship", c] for c in ("male", "female", "neutral")] == [5, 5, 5]


def test_nouns_are_used_widely(corpus: list[Text]) -> None:
    # 40 texts with male names can hold at most 40 of the 50; 120 with neutral names hold all; so for the rest.
    used = Counter(
        (theme, category) for theme, category, _ in {(t.theme, t.category, t.noun) for t in corpus}
    )
    assert [used["name", c] for c in ("male", "female", "neutral")] == [40, 40, 50]
    assert sum(used["occupation", c] for c in ("male", "female", "neutral")) >= 0.95 * 140
    assert [used["title", c] for c in ("male", "female", "neutral")] == [2, 3, 4]
    assert [used["kinship", c] for c in ("male", "female", "neutral")] == [5, 5, 5]


def test_near_copies_agree_with_scikit_learn(corpus: list[Text]) -> None:
    matrix = TfidfVectorizer(ngram_range=(1, 2)).fit_transform([t.text for t in corpus])
    theirs = (matrix @ matrix.T).toarray()
    index = {t.where: i for i, t in enumerate(corpus)}
    ours = list(near_copies(corpus, 0.1))
    assert ours
    for value, one, two in ours:
        assert value == pytest.approx(theirs[index[one.where], index[two.where]], abs=1e-9)
    assert sum(theirs[i, j] >= 0.1 for i in range(len(corpus)) for j in range(i)) == len(ours)


def test_a_good_text_has_no_findings() -> None:
    assert rules(GOOD, spelling=True) == set()


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (
            "cell",
            variant(theme="name", noun="Asher", text=GOOD.text.replace("The plumber", "Asher")),
        ),
        ("form", variant(form="telegram")),
        ("styles", variant(styles=())),
        ("styles", variant(styles=("idioms", "shouting"))),
        ("styles", variant(styles=("idioms", "slang", "negation", "sarcasm"))),
        ("styles", variant(styles=("idioms", "idioms"))),
        ("emojis", variant(styles=("idioms", "emojis"))),
        ("emojis", variant(GOOD.text + " \U0001f527")),
        ("length", variant("The plumber came. She left.")),
        ("length", variant(GOOD.text + " Well." * 150)),
        ("marks", variant(slips=("definately",))),
        ("marks", variant(leaks_ok=("uncle",))),
        ("noun", variant(noun="Nurse")),
        ("noun", variant(GOOD.text.replace("plumber", "plumbers"))),
        ("noun", variant(noun="Cobbler")),
        (
            "noun",
            variant(
                theme="title",
                category="female",
                noun="Mrs.",
                text=GOOD.text.replace("plumber", "Mrs."),
            ),
        ),
        (
            "noun",
            variant(
                theme="title",
                category="neutral",
                noun="Dr.",
                text=GOOD.text.replace("plumber", "dr. came"),
            ),
        ),
        (
            "pronoun",
            variant(GOOD.text.replace("her boots", "the boots").replace("She says", "Says")),
        ),
        ("pronoun", variant(GOOD.text + " He's a wonder.")),
        ("pronoun", variant(GOOD.text + " I'd ask *him* again.")),
        ("pronoun", variant(GOOD.text + " They\u2019ve a card.")),
        ("pronoun", variant(GOOD.text + " Tell 'em all.")),
        ("pronoun", variant(GOOD.text + " theyre cheap too")),
        ("pronoun", variant(pronoun="none")),
        ("pronoun", variant(GOOD.text + " Give them the key, both of them.", others={"them": 1})),
        ("others", variant(others={"its": 1})),
        (
            "others",
            variant(
                "The plumber says they will be late. Two others left their tools here, all of them, and the "
                "landing is full of boxes.",
                pronoun="they",
                others={"their": 1},
            ),
        ),
        ("leak", variant(GOOD.text + " A proper lady.")),
        ("leak", variant(GOOD.text + " What a Guy!")),
        ("leak", variant(GOOD.text + " A good man, that one.")),
        ("leak", variant(GOOD.text + " Mr Ng paid.")),
        ("leak", variant(GOOD.text + " My aunt's delighted.")),
        ("spelling", variant(GOOD.text + " Definately.")),
    ],
)
def test_each_rule_fails_on_a_bad_text(rule: str, text: Text) -> None:
    assert rule in rules(text, spelling=rule == "spelling")


@pytest.mark.parametrize(
    "text",
    [
        variant(GOOD.text + " Give them the key, both of them.", others={"them": 2}),
        variant(GOOD.text + " My aunt's delighted.", leaks_ok=("aunt",)),
        variant(GOOD.text + " Definately.", slips=("definately",)),
        variant(GOOD.text + " Oh man, I miss the old boiler, you guys."),
        variant(GOOD.text + " \U0001f527", styles=("idioms", "emojis")),
        variant(GOOD.text.replace("plumber", "PLUMBER's mate, no, the plumber")),
        variant(GOOD.text + " What the shed needs is a shell of a theme."),
    ],
)
def test_no_rule_fails_on_what_is_allowed(text: Text) -> None:
    assert rules(text, spelling=True) == set()


def test_findings_name_text_rule_and_words() -> None:
    findings = check([variant(GOOD.text + " He's a wonder, this lady.", where="o-m-she-07")])
    assert [str(f) for f in findings] == [
        "o-m-she-07: pronoun: he: 1 in the text, 0 marked in others",
        "o-m-she-07: leak: lady (about somebody else: list it in leaks_ok)",
    ]


def test_rules_over_pairs_fail() -> None:
    # One word changed: a near copy with the same opening; then six words in four texts, and in three.
    copy = variant(GOOD.text.replace("winters", "summers"), where="copy")
    assert {"near copy", "opening"} <= rules(GOOD, copy)
    tail = " and that was the long and short of it"
    bodies = ("river stones", "candle wax", "borrowed ladders", "garden peas")
    four = [variant(f"{body} " * 12 + tail, where=body) for body in bodies]
    assert "six-gram" in {f.rule for f in check(four)}
    assert "six-gram" not in {f.rule for f in check(four[:3])}


def test_rules_over_the_whole_fail(corpus: list[Text]) -> None:
    def whole(texts: list[Text]) -> set[str]:
        return {finding.rule for finding in checker.check_whole(texts)}

    assert whole(corpus) == set()
    assert whole(corpus[1:]) == {"cells"}
    assert whole([*corpus[1:], corpus[1]]) == {"id"}  # the first two are of one cell
    assert whole([dataclasses.replace(t, text=" ".join(t.text.split()[:30])) for t in corpus]) == {
        "lengths"
    }
    plainer = [
        dataclasses.replace(t, styles=tuple(s for s in t.styles if s != "slang")) for t in corpus
    ]
    assert whole(plainer) == {"style share"}
    crowded = [
        dataclasses.replace(t, others={"her": 1}) if i % 10 == 0 else t
        for i, t in enumerate(corpus)
    ]
    assert whole(crowded) == {"others"}


def test_reader_names_bad_lines(tmp_path: Path) -> None:
    row = json.loads(CORPUS.read_text(encoding="utf-8").splitlines()[0])
    bad = [
        {**row, "styles": "slang"},
        {**row, "mood": "blue"},
        {k: v for k, v in row.items() if k != "noun"},
    ]
    bad += [{**row, "others": {"her": "two"}}, {**row, "slips": [3]}]
    lines = ["{", "[1, 2]", *(json.dumps(r) for r in bad), json.dumps(row)]
    path = tmp_path / "texts.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    texts, findings = read(path)
    assert len(texts) == 1
    assert [f.rule for f in findings] == ["schema"] * 7
    assert [f.words.rpartition(": ")[2] for f in findings[2:]] == [
        "styles",
        "mood",
        "noun",
        "others",
        "slips",
    ]
    assert findings[0].where == "texts.jsonl:1"


def test_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(CORPUS)]) == 0
    assert "0 findings" in capsys.readouterr().out
    path = tmp_path / "texts.jsonl"
    path.write_text(
        "\n".join(CORPUS.read_text(encoding="utf-8").splitlines()[1:]), encoding="utf-8"
    )
    assert main([str(path), "--full"]) == 1
    assert "Table 1 has" in capsys.readouterr().out
    path.write_text("", encoding="utf-8")
    assert main([str(path), "--full"]) == 1
    with pytest.raises(SystemExit):
        main([str(tmp_path / "absent.jsonl")])


# Written by hand, in pairs; the set is xe unless the line says otherwise.
PAIRS = [
    ("They are late.", "Xe is late."),
    ("I think they're late.", "I think xe's late."),
    ("They\u2019re late.", "Xe\u2019s late."),
    ("They were late.", "Xe was late."),
    ("They weren't told.", "Xe wasn't told."),
    ("They aren't in.", "Xe isn't in."),
    ("They have a dog.", "Xe has a dog."),
    ("They've gone.", "Xe's gone."),
    ("They've already called twice.", "Xe's already called twice."),
    ("They've no idea.", "Xe has no idea."),
    ("They haven't rung.", "Xe hasn't rung."),
    ("They do try.", "Xe does try."),
    ("They don't mind.", "Xe doesn't mind."),
    ("They go by bus.", "Xe goes by bus."),
    ("They worry and they fuss.", "Xe worries and xe fusses."),
    ("They say so.", "Xe says so."),
    ("They watch, they fix, they teach.", "Xe watches, xe fixes, xe teaches."),
    ("They always sing in the bath.", "Xe always sings in the bath."),
    ("They never once really complain.", "Xe never once really complains."),
    ("They come in and sort it.", "Xe comes in and sorts it."),
    (
        "They come in, sit down and never say a word.",
        "Xe comes in, sits down and never says a word.",
    ),
    ("They're kind and have time.", "Xe's kind and has time."),
    ("They can cook and clean.", "Xe can cook and clean."),
    ("They want to come in and help.", "Xe wants to come in and help."),
    ("They'll ring and leave word.", "Xe'll ring and leave word."),
    ("They'd help if they could.", "Xe'd help if xe could."),
    ("They would never lie.", "Xe would never lie."),
    ("They went home and slept.", "Xe went home and slept."),
    ("They said they need a lift.", "Xe said xe needs a lift."),
    ("They finished early and left.", "Xe finished early and left."),
    ("Do they swim?", "Does xe swim?"),
    ("Are they in, or have they left?", "Is xe in, or has xe left?"),
    ("Why don't they ring?", "Why doesn't xe ring?"),
    ("Were they cross? Did they shout?", "Was xe cross? Did xe shout?"),
    ("They know that, don't they?", "Xe knows that, doesn't xe?"),
    ("What can they want?", "What can xe want?"),
    ("Tell them it's theirs.", "Tell xem it's xyrs."),
    ("I gave 'em their key.", "I gave xem xyr key."),
    ("They did it themself.", "Xe did it xemself."),
    ("They see themselves as shy.", "Xe sees xemself as shy."),
    ("They themselves say so.", "Xe xemself says so."),
    ("They, of course, agree.", "Xe, of course, agrees."),
    ("I suggest they see a doctor.", "I suggest xe see a doctor."),
    ("they wanna come", "xe wants to come"),
    ("theyre in, theyve got the key", "xe's in, xe's got the key"),
    ("THEY ARE HERE", "XE IS HERE"),
    ("*They* know.", "*Xe* knows."),
    (
        "They double-booked us and they re-sit on Friday.",
        "Xe double-booked us and xe re-sits on Friday.",
    ),
    ('I wrote "they" in the form.', 'I wrote "xe" in the form.'),
    ("If they're in, do come.", "If xe's in, do come."),
    ("They felt odd, and weren't sure.", "Xe felt odd, and wasn't sure."),
    ("I like you, do they?", "I like you, does xe?"),
    ("they ain't gonna stop", "xe ain't gonna stop"),
    ("They be cooking.", "Xe be cooking."),
    ("I like it as much as they do.", "I like it as much as xe does."),
    ("Other people have time; the people here do.", "Other people have time; the people here do."),
    ("Pass the theme to the other lathe.", "Pass the theme to the other lathe."),
]


def test_the_checker_takes_what_the_loader_writes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = tmp_path / "own.csv"
    header = "item,Theme,Theme Category,Pronoun Category,noun,text"
    given.write_text(f"{header}\n1,Names,Male,he,Jack,Jack lost his hat.\n", "utf-8")
    assert write_folder([str(given), "--out", str(tmp_path / "own")]) == 0
    assert main([str(tmp_path / "own" / "texts.jsonl")]) == 0
    given.write_text(f"{header}\n1,Names,Male,he,Jack,Jack lost her hat.\n", "utf-8")
    assert write_folder([str(given), "--out", str(tmp_path / "two")]) == 0
    capsys.readouterr()
    assert main([str(tmp_path / "two" / "texts.jsonl")]) == 1
    said = capsys.readouterr().out
    assert "1: pronoun: no he pronoun for the theme person" in said


@pytest.mark.parametrize(("they", "xe"), PAIRS)
def test_xe(they: str, xe: str) -> None:
    assert neopronoun_version(they, "xe") == xe


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("xe", "Xe says xyr key is xyrs; ask xem, or let xem find it xemself."),
        ("ze", "Ze says hir key is hirs; ask hir, or let hir find it hirself."),
        ("fae", "Fae says faer key is faers; ask faer, or let faer find it faerself."),
        ("it", "It says its key is its; ask it, or let it find it itself."),
        ("ey", "Ey says eir key is eirs; ask em, or let em find it emself."),
    ],
)
def test_each_set_has_its_five_forms(name: str, expected: str) -> None:
    they = "They say their key is theirs; ask them, or let them find it themself."
    assert neopronoun_version(they, name) == expected
    assert set(pronoun_sets()) == {"xe", "ze", "fae", "it", "ey"}


def test_notes_decide_where_rules_cannot() -> None:
    text = "They put the kettle on. They tell you to wait and forget you."
    assert (
        neopronoun_version(text, "xe")
        == "Xe put the kettle on. Xe tells you to wait and forget you."
    )
    notes = {"They put": True, "wait and forget": True, "They tell": False}
    expected = "Xe puts the kettle on. Xe tell you to wait and forgets you."
    assert neopronoun_version(text, "xe", notes=notes) == expected
    with pytest.raises(ValueError, match="agreement"):
        neopronoun_version(text, "xe", notes={"They sing": True})
    with pytest.raises(KeyError):
        neopronoun_version(text, "thon")


@pytest.mark.parametrize("name", ["xe", "ze", "fae", "it", "ey"])
def test_corpus_versions_hold_no_they(corpus: list[Text], name: str) -> None:
    they = [t for t in corpus if t.pronoun == "they"]
    assert len(they) == 185
    assert agreement().keys() <= {t.where for t in they} | {f["id"] for f in paired.families()}
    for text in they:
        version = neopronoun_version(text.text, name, notes=agreement().get(text.where))
        assert "they" not in {
            check_rules.PRONOUNS[form] for form in check_rules.pronouns(version)
        }, text.where
        assert len(version.split()) >= len(text.text.split())


def test_datasheet_states_what_the_data_hold(corpus: list[Text]) -> None:
    sheet = CORPUS.with_name("DATASHEET.md").read_text(encoding="utf-8")
    cells = Counter((t.theme, t.category, t.pronoun) for t in corpus)
    for theme, category in {(t.theme, t.category) for t in corpus}:
        counts = " | ".join(str(cells[theme, category, p]) for p in ("he", "she", "they", "none"))
        assert f"| {theme} | {category} | {counts} |" in sheet
    for style in check_rules.STYLES:
        n = sum(style in t.styles for t in corpus)
        assert f"| {style} | {n} | {n / 6.4:.1f} |" in sheet
    words = sorted(check_rules.word_count(t.text) for t in corpus)
    spread = f"mean {statistics.fmean(words):.1f}, median {statistics.median(words):.0f}, "
    spread += f"standard deviation {statistics.pstdev(words):.1f}, from {words[0]} to {words[-1]}"
    forms = ", ".join(f"{form} {n}" for form, n in Counter(t.form for t in corpus).most_common())
    styles = Counter(len(t.styles) for t in corpus)
    they = [t for t in corpus if t.pronoun == "they"]
    verbs = sum(len(agreeing(t.text, agreement().get(t.where, {}))) for t in they)
    for statement in (
        spread,
        f"| forms | {forms} |",
        f"| one {styles[1]}, two {styles[2]}, three {styles[3]} |",
        f"{len({(t.theme, t.category, t.noun) for t in corpus})} of {len(check_rules.NOUNS)}",
        f"slips ({sum(bool(t.slips) for t in corpus)} texts)",
        f"({sum(bool(t.leaks_ok) for t in corpus)} texts; absent elsewhere)",
        f"any pair {max(v for v, _, _ in near_copies(corpus, 0.1)):.3f}".replace("0.", "."),
        f"{sum(len(check_rules.pronouns(t.text)) for t in they)} pronouns are replaced and {verbs} verbs",
    ):
        assert statement in sheet
    assert not any(t.others for t in corpus)


def test_docs_quote_the_corpus() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "corpus.md"
    quoted = dict(
        re.findall(
            r"^`([a-z]-[a-z0-9-]+)`\n> (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE
        )
    )
    texts = {t.where: t.text for t in read(CORPUS)[0]}
    assert len(quoted) == 5
    assert quoted == {name: texts[name] for name in quoted}


# ---- the paired corpus, and versions


def test_the_paired_corpus_passes_its_checks() -> None:
    texts = paired.texts()
    assert [str(finding) for finding in check_paired(texts, SpellChecker().known)] == []
    families = {text.family: text for text in texts}
    assert (len(families), len(texts)) == (144, 1120)
    assert sum(text.exchanged for text in families.values()) == 68
    assert sum(bool(text.others) for text in families.values()) == 39
    assert sum(text.length == "long" for text in families.values()) == 23
    assert sum(text.crossed for text in texts) == 146


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"text": lambda text: text.replace("tomorrow", "today")}, "version"),
        ({"text": lambda text: text.replace(" ticket", " old ticket")}, "noun"),
        ({"text": lambda text: f"{text} Ask him."}, "pronoun"),
        ({"noun": lambda _: "cousin"}, "noun"),
        ({"text": lambda text: f"{text} What a woman!"}, "leak"),
        ({"text": lambda _: "My sister is her own self."}, "length"),
    ],
)
def test_the_paired_checks_find_what_is_wrong(change: dict[str, Any], rule: str) -> None:
    family = list(paired.expand(paired.families()[0]))
    (field, new) = next(iter(change.items()))
    she = family[1]
    assert she.pronoun == "she"
    family[1] = she._replace(**{field: new(getattr(she, field))})
    assert rule in {finding.rule for finding in check_paired(family)}


@pytest.mark.parametrize("name", ["xe", "fae", "ze"])
def test_slots_and_the_neopronoun_tool_make_the_same_texts(name: str) -> None:
    """Two ways to the same versions: the slots know the verbs, neopronoun_texts.py finds them."""
    slots = [row["text"] for row in paired.rows((name,))]
    assert [row["text"] for row in shipped.with_neopronoun(paired.rows(), name)] == slots


def test_the_paired_corpus_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert write_folder(["--texts", "paired", "--out", str(tmp_path / "own")]) == 0
    assert capsys.readouterr().out.startswith("texts: 1120 (he 280, she 280, they 280, none 280)")
    protocol = registry.protocol(str(tmp_path / "own" / "protocol.toml"))
    assert len({cell["family"] for cell in protocol.cells}) == 144
    assert {"she_against_he", "feminine_noun"} <= {measure.name for measure in protocol.measures}


def test_a_neopronoun_in_place_of_they(tmp_path: Path) -> None:
    assert write_folder(["--neopronoun", "xe", "--out", str(tmp_path / "own")]) == 0
    rows = (tmp_path / "own" / "texts.jsonl").read_text("utf-8").splitlines()
    assert len(rows) == 185 and {json.loads(row)["pronoun"] for row in rows} == {"xe"}
