"""`tiltmeter init`: what it writes runs as it is, and overwrites nothing."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from tests import forging
from tests.spreadsheets import ods, xlsx
from tiltmeter import api, registry
from tiltmeter.api.start import init
from tiltmeter.api.start.offered import find_offered
from tiltmeter.cli import main
from tiltmeter.errors import ProtocolError

TILTED = {
    "text": "accepted.women=0.3,accepted.men=0.7",
    "images": "woman.leader=0.2,woman.member=0.8",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("start", "options"), [("text", []), ("images", ["--images"])])
def test_a_start_is_commented_and_recovers_what_was_planted(
    start: str, options: list[str], folder: Path
) -> None:
    assert main(["init", "audit.toml", *options]) == 0
    text = (folder / "audit.toml").read_text("utf-8")
    assert text.startswith("#:schema ./tiltmeter.schema.json\n") and len(text.splitlines()) < 70
    protocol = registry.protocol("audit.toml")
    assert len(protocol.items()) >= 9
    if start == "images":  # small ones, to be quick
        (folder / "audit.toml").write_text(text.replace("1024x1024", "64x64"), "utf-8")
    model = f"planted:protocol=audit.toml,{TILTED[start]}"
    run = api.run(
        "audit.toml",
        model,
        "tried",
        judge="planted:protocol=audit.toml" if start == "images" else (),
    )
    gap = next(estimate for estimate in run.analyse() if estimate.measure == "gap")
    planted = -0.4 if start == "text" else -0.6
    if (
        start == "images"
    ):  # the words that are not planted divide the rest: .2/(.2 + .4) and .8/(.8 + .1)
        planted = 0.2 / 0.6 - 0.8 / 0.9
    assert gap.low is not None and gap.high is not None and gap.low < planted < gap.high


def test_every_part_of_a_start_has_a_comment() -> None:
    """Each table has one above it, and in the first of a kind each line."""
    for path in (Path(init.__file__).parents[1] / "starts").glob("*.toml"):
        lines = path.read_text("utf-8").splitlines()
        for number, line in enumerate(lines):
            if line.startswith("[["):
                above = next(
                    other
                    for other in reversed(lines[:number])
                    if not other or other.startswith("#")
                )
                assert above.startswith("#") or "kind" in lines[number + 2], (
                    path.name,
                    number + 1,
                    line,
                )


def test_what_to_type_next_works(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "audit.toml"]) == 0
    lines = [
        line.split()[1:]
        for line in capsys.readouterr().out.splitlines()
        if line.startswith("  tiltmeter")
    ]
    assert [line[0] for line in lines] == ["show", "plan", "run", "explore"]
    for line in lines[:3]:
        assert main(line) == 0
    assert (folder / "tried" / "report.html").exists()


def test_nothing_is_overwritten(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "audit.toml").write_text("mine", "utf-8")
    (folder / "sub").mkdir()
    (folder / "sub" / "words.csv").write_text("mine", "utf-8")
    assert main(["init", "audit.toml"]) == 2
    assert main(["init", "sub/audit.toml", "--example", "letters"]) == 2
    assert "words.csv is there already" in capsys.readouterr().err
    assert (folder / "audit.toml").read_text("utf-8") == "mine" and not (
        folder / "sub" / "audit.toml"
    ).exists()


def test_a_table_of_prompts_becomes_an_audit(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Columns are told apart by names, then by values; the words that all prompts offer are read."""
    offer = "Is {} right for the job, \"yes\" or 'not yet'?"
    rows = [
        f"{n},{ask},{who},{job},{who}-{job}"
        for n, job in enumerate(("nurse", "cook", "judge"))
        for who in ("old", "young", "{any}")
        for ask in ['"' + f"{who} {job}. {offer.format(who)}".replace('"', '""') + '"']
    ]
    (folder / "in").mkdir()
    (folder / "in" / "p.csv").write_text("\n".join(("id,ask,who,job,both", *rows)), "utf-8")
    assert main(["init", "out/p.toml", "--from", "in/p.csv", "--item", "job"]) == 0
    said = capsys.readouterr().out
    assert "prompt = ask, cue = who (old, young, {any}), item = job; offered yes or not yet" in said
    protocol = registry.protocol("out/p.toml")
    assert len(protocol.cells) == 9 and list(protocol.levels["who"]) == ["old", "young", "{any}"]
    assert protocol.measures[0].contrast == {
        "factor": "who",
        "level": "*",
        "baseline": "old",
    }
    assert "yes.young=0.3,yes.old=0.7" in said  # of three levels the first two
    assert main(["run", "out/p.toml", "-m", "planted:protocol=out/p.toml", "--out", "tried"]) == 0
    assert "{any}" in (folder / "tried" / "report.html").read_text("utf-8")


NAMES = (("Ann", "w"), ("Bo", "m"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a;b;c\n1;2;3\n", "two rows or more"),
        ("a,b,c\n1,2,3\n", "two rows or more"),
        ("ask,sex,job\nA a?,w,x\nB a?,m,x\nA b?,w,y\n", "A prompt may be missing"),
        ("ask,sex,job\n" + "A a?,w,x\nB a?,m,x\nA b?,w,y\nB b?,m,y\n" * 2, "rows 1 and 5"),
        ("ask,sex,job\nA a?,w,x\nB a?,m,x\nA b?,w,y\nB b?,m,y\n", "no words in quotation"),
        ("a,b\n1,è\n", "line 2 is not UTF-8"),
        (
            "ask,sex\nIs Ann in?,w\nIs Bo in?,m\nIs Ann up?,w\nIs Cy up?,m\n",
            "add a column, such as",
        ),
        ("ask,sex\nIs Ann in?,w\nIs Bo in?,m\nIs Ann up?,w\n", "looks like the cue"),
        ("ask,sex\nAnn?,w\nBo?,m\nEve?,w\nCy?,m\n", "differ in more than the cue's words"),
    ],
)
def test_a_table_that_is_none_leaves_no_file(
    text: str, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "p.csv").write_bytes(text.encode("latin-1"))
    assert main(["init", "p.toml", "--from", "p.csv"]) == 2
    assert said in capsys.readouterr().err and [path.name for path in folder.iterdir()] == ["p.csv"]


@pytest.mark.parametrize("code", ["utf-8-sig", "cp1252"])
def test_a_table_of_an_excel_of_germany_without_items(
    code: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Semicolons, and no column for the item: it is what prompts say beside the cue's own words."""
    asked = '"Soll {}, ein{}, „eingestellt“ werden: ""ja"" oder ""nein""?";{}'
    rows = [
        asked.format(who, job, sex)
        for who, sex in (("Jürgen", "männlich"), ("Anna", "weiblich"))
        for job in (" Koch", " Bäcker mit Auto")
    ]
    (folder / "fragen.csv").write_bytes("\r\n".join(("Frage;Gruppe", *rows, ";")).encode(code))
    assert main(["init", "p.toml", "--from", "fragen.csv"]) == 0
    said = capsys.readouterr().out
    assert "cue = Gruppe (männlich, weiblich), item = item (added: 2, each of prompts" in said
    assert "offered ja or nein" in said and "fragen-items.csv" in said
    protocol = registry.protocol("p.toml")
    assert list(protocol.levels["item"]) == ["Koch", "Bäcker mit Auto"]
    assert sorted(protocol.prompt_text(cell) for cell in protocol.cells)[0] == (
        'Soll Anna, ein Bäcker mit Auto, „eingestellt“ werden: "ja" oder "nein"?'
    )


def test_a_table_with_semicolons_is_read_as_it_is(folder: Path) -> None:
    rows = [
        f"Is {who} a good {job}?;{sex};{job}" for who, sex in NAMES for job in ("cook", "judge")
    ]
    (folder / "p.csv").write_bytes("\r\n".join(("ask;sex;job", *rows)).encode("utf-8-sig"))
    assert main(["init", "p.toml", "--from", "p.csv", "--options", "yes,no"]) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["p.csv", "p.toml", init.SCHEMA]
    assert len(registry.protocol("p.toml").cells) == 4


GERMAN = ("Frau Anna", "Mann Jürgen"), "{} will als {} anfangen. „angenommen“ oder „abgelehnt“?"
RUSSIAN = ("женщина Анна", "мужчина Иван"), "{} ищет место ({}). Следует «принять» или «отклонить»?"
HINDI = ("महिला सीता", "पुरुष राम"), "{} ने {} पद के लिए आवेदन किया है: “स्वीकृत” या “अस्वीकृत”?"
HEADERS = {"de": "Frage,Gruppe,Beruf", "ru": "вопрос,группа,работа", "hi": "प्रश्न,समूह,काम"}


def write_table(folder: Path, kind: str, table: list[tuple[str, ...]]) -> str:
    """The name of a file with the table, as a spreadsheet or as text of an encoding and a mark between columns."""
    if kind in ("xlsx", "ods"):
        return (xlsx if kind == "xlsx" else ods)(folder / f"p.{kind}", {"Sheet1": table}).name
    encoding, mark = kind.split(" ")
    lines = (mark.replace("tab", "\t").join(row) for row in table)
    (folder / "p.csv").write_bytes("\r\n".join((*lines, "")).encode(encoding))
    return "p.csv"


@pytest.fixture(scope="module")
def sentences() -> dict[str, str]:
    """The first sentence of the report on a protocol's planted run, by the digest: tables that are
    written otherwise and read alike have one run.
    """
    return {}


@pytest.mark.parametrize("kind", ["utf-8 ,", "utf-8-sig ;", "ansi ;", "utf-16 tab", "xlsx", "ods"])
@pytest.mark.parametrize(
    ("code", "people", "ask", "options", "named"),
    [
        ("de", *GERMAN, ("angenommen", "abgelehnt"), "German"),
        ("ru", *RUSSIAN, ("принять", "отклонить"), "Russian"),
        ("hi", *HINDI, ("स्वीकृत", "अस्वीकृत"), "Hindi"),
    ],
)
def test_a_tilt_is_found_in_a_table_of_any_language(
    kind: str,
    code: str,
    people: tuple[str, str],
    ask: str,
    options: tuple[str, str],
    named: str,
    folder: Path,
    sentences: dict[str, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """30 points, from the table to the report's first sentence, and no file is edited. ansi: as Excel writes it
    where Windows is German.
    """
    if kind.startswith("ansi") and code != "de":
        kind = "utf-16 ;"  # what a code page of another script means is not guessed
    number = "Nr. " if code == "de" else "№ " if code == "ru" else "क्र. "
    rows = [
        (ask.format(who.split()[1], f"{number}{job}"), who.split()[0], f"{number}{job}")
        for job in range(40)
        for who in people
    ]
    head = tuple(HEADERS[code].split(","))
    kind = kind.replace("ansi", "cp1252")
    cue, name = head[1], write_table(folder, kind, [head, *rows])
    assert main(["init", "p.toml", "--from", name, "--cue", cue]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == f"Measures which of ‘{options[0]}’ and ‘{options[1]}’ is answered."
    assert f"language {named}" in said[1] and said[3].endswith(f"→  {options[0]}")
    assert [line.rpartition("  ")[2] for line in said[4:6]] == [options[1], "refusal"]
    protocol = registry.protocol("p.toml")
    assert protocol.languages == [code] and protocol.instruments[0].settings["forms"] == {
        code: {option: [option] for option in options}
    }
    lower, higher = (f"{options[0]}.{who.split()[0]}" for who in people)
    model = f"planted:protocol=p.toml,{lower}=0.35,{higher}=0.65"
    if protocol.digest not in sentences:
        assert main(["run", "p.toml", "-m", model, "--mode", "sampled", "--out", "tried"]) == 0
        assert main(["report", "tried", "--out", "report.md"]) == 0
        sentences[protocol.digest] = next(
            line
            for line in (folder / "report.md").read_text("utf-8").splitlines()
            if "**" in line and "simulated model" not in line
        )
    first = sentences[protocol.digest]
    lower, higher = (who.split()[0] for who in people)
    said = re.search(
        rf"in ([\d.]+) % of answers for {lower}, ([\d.]+) % for {higher}\.\*\* A diff", first
    )
    assert first.startswith(f"**A gives “{options[0]}” ") and said
    assert 20 < float(said[2]) - float(said[1]) < 40


def test_options_are_what_is_joined_by_or_in_their_own_case() -> None:
    prompts = ["Soll „sie“ gehen: »Ja« oder «Nein»?", "Soll „sie“ bleiben: “Ja”/'Nein'?"]
    assert find_offered(prompts, ("Frau",), "de") == ("Ja", "Nein")
    assert find_offered(["「はい」か「いいえ」で答えて。"] * 2, (), "ja") == ("はい", "いいえ")
    assert find_offered(["Don't say 'yes' if it isn't, or 'no'."] * 2, (), "en") == ("yes", "no")
    assert find_offered(["Is 'he' in?", "Is 'she' in?"], (), "en") == ()
    assert find_offered(["A «b», C «d»", "«d», «b»"], ("B",), "fr") == ()


def test_words_that_are_said_count_and_length_only_if_asked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"Is {who} a good {job}?,{sex},{job}" for who, sex in NAMES for job in ("cook", "cop")]
    (folder / "p.csv").write_text("\n".join(("ask,sex,job", *rows)), "utf-8")
    assert main(["init", "a.toml", "--from", "p.csv"]) == 2
    error = capsys.readouterr().err
    assert "--options A,B" in error and "--measure length" in error
    assert main(["init", "a.toml", "--from", "p.csv", "--options", "Yes, not yet"]) == 0
    assert capsys.readouterr().out.startswith("Measures which of ‘Yes’ and ‘not yet’ is answered.")
    assert main(["init", "b.toml", "--from", "p.csv", "--measure", "length"]) == 0
    assert capsys.readouterr().out.startswith(
        "Measures how many words an answer has, not its content"
    )
    assert main(["run", "b.toml", "-m", "planted:protocol=b.toml", "--out", "tried"]) == 0
    assert main(["analyse", "tried"]) == 0
    assert "length" in capsys.readouterr().out.partition("\n\n")[0]


def test_the_cue_is_the_column_with_the_fewest_values(folder: Path) -> None:
    """As Excel in Germany writes it, with twelve jobs in the first column."""
    jobs = [f"Beruf {letter}" for letter in "ABCDEFGHIJKL"]
    cells = [("Beruf", "Geschlecht", "Frage")] + [
        (job, sex, f"{who} Schmidt bewirbt sich ({job}). Sagen Sie „angenommen“ oder „abgelehnt“.")
        for job in jobs
        for sex, who in (("w", "Frau"), ("m", "Herr"))
    ]
    (folder / "p.csv").write_bytes("\r\n".join(map(";".join, cells)).encode("cp1252"))
    assert main(["init", "p.toml", "--from", "p.csv"]) == 0
    protocol = registry.protocol("p.toml")
    assert (protocol.item, len(protocol.levels["Beruf"])) == ("Beruf", 12)
    assert protocol.measures[0].contrast == {"factor": "Geschlecht", "level": "w", "baseline": "m"}


def test_two_names_of_one_group_are_verified_by_their_own_prompts(folder: Path) -> None:
    """Rows of equal levels differ in their prompts; a third prompt of these levels is found."""
    rows = [
        f"{job},{group},Should the {job} {name} be accepted or rejected?"
        for job in ("baker", "clerk", "driver", "editor", "farmer", "guard", "tailor", "welder")
        for group, name in (("a", "Ann"), ("a", "Amy"), ("b", "Bob"), ("b", "Ben"))
    ]
    (folder / "names.csv").write_text("\n".join(["job,group,prompt", *rows]), "utf-8")
    init_arguments = ["--from", "names.csv", "--cue", "group", "--options", "accepted,rejected"]
    assert main(["init", "names.toml", *init_arguments]) == 0
    api.run("names.toml", "planted:protocol=names.toml", "tried", samples=1)
    assert api.verify("tried")[0].contradictions == []
    with forging.changing(folder / "tried") as db:
        db.execute(
            "UPDATE trials SET prompt=replace(prompt, 'Amy', 'Eve') WHERE prompt LIKE '%Amy%'"
        )
    contradictions = [one.what for one in api.verify("tried")[0].contradictions]
    assert "a trial has another prompt than the protocol" in contradictions


@pytest.mark.parametrize("kind", ["xlsx", "ods", "jsonl", "pandas"])
def test_a_table_of_any_kind_becomes_an_audit(kind: str, folder: Path) -> None:
    """What is no CSV, or has a column that no slot can name, is written beside as CSV."""
    table = [("Die Frage", "Gruppe", "Paar")] + [
        (f"Ist {who} ein „Koch“? Sag „ja“ oder „nein“? ({job})", sex, job)
        for who, sex in NAMES
        for job in ("Zürich", "Köln")
    ]
    path = folder / "in" / ("p.xlsx" if kind == "ods" else "p.csv")
    path.parent.mkdir()
    if kind in ("xlsx", "ods"):
        write = xlsx if kind == "xlsx" else ods
        write(path, {"leer": [["a"]], "Fragen": table})
    elif kind == "jsonl":
        lines = [dict(zip(table[0], row, strict=True)) for row in table[1:]]
        path.write_text("\n".join(json.dumps(line) for line in lines), "utf-8")
    else:
        rows = enumerate(table[1:])
        cells = [("", *table[0]), *((str(number), *row) for number, row in rows)]
        path.write_text("\n".join(";".join(row) for row in cells), "utf-8")
    sheet = ["--sheet", "Fragen"] if kind in ("xlsx", "ods") else []
    assert main(["init", "out/p.toml", "--from", str(path), *sheet]) == 0
    protocol = registry.protocol("out/p.toml")
    assert len(protocol.cells) == 4 and protocol.languages == ["de"]
    assert list(protocol.instruments[0].settings["forms"]["de"]) == ["ja", "nein"]


@pytest.mark.parametrize("name", registry.PROTOCOLS)
def test_a_shipped_audit_is_copied_with_its_files(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if name in ("gramvis", "protext"):  # the largest designs: their files alone
        init.write_shipped(folder / "mine", name)
    else:
        assert main(["init", "mine", "--from-protocol", name]) == 0
    copy = registry.protocol(f"mine/{name}.toml")
    assert (
        copy.digest == registry.protocol(name).digest
        and copy.cells == registry.protocol(name).cells
    )
    assert all(path.parent == folder / "mine" for path in folder.rglob("*.*"))
    assert main(["init", "mine", "--from-protocol", name]) == 2
    assert f"{name}.toml is there already" in capsys.readouterr().err


def test_one_table_of_a_copy_changes_its_design(folder: Path) -> None:
    init.write_shipped(folder / "mine", "words")
    path = folder / "mine" / "names.csv"
    names = path.read_text("utf-8")
    path.write_text(names.replace("Joseph", "Martin"), "utf-8")
    assert registry.protocol("mine/words.toml").digest != registry.protocol("words").digest
    path.write_text(names + "ja,nonbinary,光,ours\n", "utf-8")
    with pytest.raises(ProtocolError, match=r"names\.csv, line \d+, gender = 'nonbinary'"):
        registry.protocol("mine/words.toml")


@pytest.mark.parametrize("name", init.examples())
def test_an_example_comes_with_its_tables(name: str, folder: Path) -> None:
    assert main(["init", "mine/audit.toml", "--example", name]) == 0
    home = Path(init.__file__).parents[1] / "examples" / name
    assert {path.name for path in home.iterdir()} == {
        path.name for path in (folder / "mine").iterdir()
    } - {init.SCHEMA}
    protocol = registry.protocol("mine/audit.toml")
    assert protocol.digest == registry.protocol(str(home / "audit.toml")).digest
    assert (
        tomllib.loads((folder / "mine" / "audit.toml").read_text("utf-8"))["question"]
        == init.examples()[name]
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["audit"], "ends in .toml. Type: tiltmeter init audit.toml"),
        ([], "Type: tiltmeter init audit.toml"),
        (["audit.toml", "--example", "leters"], "Did you mean 'letters'?"),
        (["audit.toml", "--example", "letters", "--images"], "Name one of them"),
        (["mine", "--from-protocol", "wrods"], "Did you mean 'words'?"),
        (["audit.toml", "--options", "yes,no"], "Add --from FILE.csv"),
    ],
)
def test_refusals_say_what_to_type(
    arguments: list[str], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", *arguments]) == 2
    assert said in capsys.readouterr().err and list(folder.iterdir()) == []


def test_the_schema_alone(folder: Path) -> None:
    assert main(["init", "--schema", "editor.json"]) == 0
    assert json.loads((folder / "editor.json").read_text("utf-8")) == registry.schema_for_editors()
    assert [path.name for path in folder.iterdir()] == ["editor.json"]


def test_the_run_to_try_has_a_tilt_where_two_levels_are_compared() -> None:
    runs = {}
    for name in init.examples():
        init.write(Path(name, "audit.toml"), example=name)
        runs[name] = init.next_steps(Path(name, "audit.toml"))[2]
    assert "toml,agentic.women=0.3,agentic.men=0.7 --out" in runs["letters"]
    assert "toml,offer/pay.women=0.3,offer/pay.men=0.7 --judge" in runs["adverts"]
    assert (
        "--model planted:protocol=translation/audit.toml --out" in runs["translation"]
    )  # compares none


def test_a_column_in_hindi_keeps_its_name_and_gets_no_english_plural(tmp_path: Path) -> None:
    prompts = [
        f"{name},{group},{job}: आवेदन ‘स्वीकृत’ है या ‘अस्वीकृत’?"
        for job in ("रसोइया", "शिक्षक")
        for name, group in (("अंजलि", "A"), ("आयशा", "B"))
    ]
    lines = [f'"{text}",{text.split(",")[1]},{text.split(",")[2][:6]}' for text in prompts]
    table = tmp_path / "hi.csv"
    table.write_text("\n".join(["prompt,समूह,पद", *lines]), "utf-8")
    assert main(["init", str(tmp_path / "hi.toml"), "--from", str(table)]) == 0
    text = (tmp_path / "hi.toml").read_text("utf-8")
    assert 'factors = ["समूह", "पद", "language"]' in text and 'item = "item"' in text
