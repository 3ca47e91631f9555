"""What is asked of people, what of it is stored, and who may write: the annotation page without a browser."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests import forging
from tests.conftest import Made
from tiltmeter import api, gold, registry
from tiltmeter.cli import main
from tiltmeter.errors import StoreError, UnknownName, UsageError
from tiltmeter.explore.annotation import annotating, desk_items, pronoun_marks
from tiltmeter.explore.annotation.annotating import Desk, DeskTask, application
from tiltmeter.explore.annotation.desk_end import NO_CORRECTION, end_of_task
from tiltmeter.explore.security import MOST_BYTES, bound
from tiltmeter.explore.selection.index import Source
from tiltmeter.gold import annotation, people, review, validation
from tiltmeter.gold.answers import State
from tiltmeter.records import Label
from tiltmeter.store import Store

TOKEN, PORT = "a-token-of-the-test", 8124
HOME = f"http://127.0.0.1:{PORT}"
OWN = {"Origin": HOME, "Sec-Fetch-Site": "same-origin"}
ROLES = registry.protocol("roles")
NOTHING = State()._asdict()
TAXONOMY = """
[[attributes]]
subject = "planted:protocol=soda"
object = "car"
name = "body"
part = "product"
values = ["sedan", "suv", "tyre"]

[[attributes]]
subject = "planted:protocol=soda"
object = "car"
name = "place"
part = "background"
values = ["street", "garage"]
"""


@pytest.fixture
def run(texts: Path, tmp_path: Path) -> Path:
    """A copy of a run of 80 drawn outputs that two judges labelled; the first five are hostile."""
    return Path(shutil.copytree(texts, tmp_path / "run"))


def client(folder: Path, wanted: DeskTask) -> Iterator[TestClient]:
    desk = Desk(folder, wanted)
    try:
        with TestClient(
            application(desk, TOKEN, PORT), base_url=HOME, follow_redirects=False
        ) as made:
            assert made.get(f"/?token={TOKEN}").status_code == 303
            yield made
    finally:
        desk.close()


@pytest.fixture
def web(run: Path) -> Iterator[TestClient]:
    yield from client(run, DeskTask("ann", number=30))


@pytest.fixture(scope="module")
def still(
    texts: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[TestClient, Path]]:
    """A page to which nothing is written, for what is refused."""
    folder = Path(shutil.copytree(texts, tmp_path_factory.mktemp("still") / "run"))
    for web in client(folder, DeskTask("ann", number=30)):
        yield web, folder
        assert human(folder) == []


Still = tuple[TestClient, Path]


def said(**now: str) -> dict[str, str]:
    return NOTHING | now


def first(web: TestClient) -> str:
    return str(web.get("/items").json()[0]["id"])


def save(
    web: TestClient, item: str, now: dict[str, str], seen: dict[str, str] | None = None
) -> Any:
    return web.post("/save", json={"item": item, "seen": seen or NOTHING, "now": now}, headers=OWN)


def human(folder: Path) -> list[tuple[str, ...]]:
    with Store(folder) as store:
        return list(
            store.rows(
                "SELECT output, annotator, attribute, value FROM labels WHERE current AND annotator LIKE 'human:%'"
            )
        )


# the door


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": HOME, "Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "none"}, 403),
        ({}, 403),
        ({**OWN, "Content-Type": "text/plain"}, 415),
        ({**OWN, "Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({**OWN, "Host": "evil.example"}, 421),
    ],
)
def test_only_its_own_page_may_write(still: Still, headers: dict[str, str], status: int) -> None:
    web, folder = still
    body = json.dumps({"item": first(web), "seen": NOTHING, "now": said(value="she")})
    answer = web.post(
        "/save", content=body, headers={"Content-Type": "application/json", **headers}
    )
    assert answer.status_code == status and human(folder) == []


@pytest.mark.parametrize("headers", [{"Sec-Fetch-Site": "same-origin"}, {"Origin": HOME}])
def test_its_own_page_writes(web: TestClient, run: Path, headers: dict[str, str]) -> None:
    sent = {"item": first(web), "seen": NOTHING, "now": said(value="she")}
    assert web.post("/save", json=sent, headers=headers).status_code == 200 and len(human(run)) == 1


def test_nothing_is_written_without_the_cookie(web: TestClient, run: Path) -> None:
    item = first(web)
    web.cookies.clear()
    for path in ("/save", f"/save?token={TOKEN}"):
        answer = web.post(
            path, json={"item": item, "seen": NOTHING, "now": said(value="she")}, headers=OWN
        )
        assert answer.status_code == 403 and "token" in answer.text
    assert human(run) == []


def test_nothing_is_written_by_another_method_or_elsewhere(still: Still) -> None:
    web, run = still
    for method in ("GET", "HEAD", "PUT", "DELETE", "PATCH"):
        assert web.request(method, "/save", headers=OWN).status_code == 405
    for path in ("/", "/items", "/item/x", "/blobs/x"):
        assert web.post(path, json={}, headers=OWN).status_code == 405
    assert human(run) == []


def test_what_is_sent_is_short(still: Still) -> None:
    web, run = still
    assert save(web, first(web), said(note="x" * MOST_BYTES)).status_code == 413
    pieces = web.post(
        "/save", content=iter([b"{}"]), headers={**OWN, "Content-Type": "application/json"}
    )
    assert pieces.status_code == 411
    assert human(run) == []


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "1",
        "{",
        '"x"',
        "{}",
        '{"item": "x"}',
        '{"item": 1, "seen": {}, "now": {}}',
        "[" * 9_000,
        json.dumps({"item": "x", "seen": NOTHING, "now": NOTHING | {"value": None}}),
        '{"item": "x", "seen": {"value": "", "skipped": "", "note": ""}, "now": {"value": "", "skipped": "", "note": "\\ud800"}}',
    ],
)
def test_what_is_no_answer_is_refused(still: Still, body: str) -> None:
    answer = still[0].post(
        "/save", content=body, headers={**OWN, "Content-Type": "application/json"}
    )
    assert answer.status_code == 400 and answer.json()["error"]
    assert "script-src 'self'" in answer.headers["content-security-policy"]


# what is shown


def test_it_is_blind(still: Still) -> None:
    """No subject, no judge, no label of one: what is shown is the prompt, the answer and what can be said."""
    web = still[0]
    items = web.get("/items").json()
    shown = (
        web.get("/").text
        + "".join(web.get(f"/item/{item['id']}").text for item in items)
        + json.dumps(items)
    )
    assert (
        len(items) == 30
        and "planted" not in shown
        and "choice/" not in shown
        and "0.7" not in shown
    )
    answer = web.get(f"/item/{items[0]['id']}").json()
    assert [block["title"] for block in answer["blocks"]] == ["Prompt", "Answer"] and answer[
        "voices"
    ] == []


def test_the_page_has_guidelines_and_a_key_for_each_value(still: Still) -> None:
    text = still[0].get("/").text
    assert "Say which pronoun the answer puts into the blank" in text and "<noscript>" in text
    keys = dict(re.findall(r'data-value="(.*?)" data-key="(.?)"', text))
    assert (keys["she"], keys["he"]) == ("1", "2") and {"both", "neither", "invalid"} <= keys.keys()
    assert len(set(keys.values())) == len(keys) and not set(keys.values()) & {"n", "s", "u", ""}
    assert not [
        value for value in keys if "<" in value
    ]  # a judge said it, so it can be chosen; it is text
    assert "unresolved" not in text and "no_decision" not in text  # a person has no votes to count


def test_hidden_characters_are_written_out(run: Path) -> None:
    for web in client(run, DeskTask("ann", number=80)):
        items = web.get("/items").json()
        texts = [
            block["text"]
            for item in items
            for block in web.get(f"/item/{item['id']}").json()["blocks"]
        ]
    assert any("⟨U+202E⟩" in text for text in texts) and not any("\u202e" in text for text in texts)
    assert any(
        text == "<script>document.title='owned'</script>" for text in texts
    )  # text, for the page to put in as text


def test_a_broken_picture_says_so_and_can_be_skipped(broken: Path) -> None:
    for web in client(broken, DeskTask("ann")):
        shown = {
            item["id"]: web.get(f"/item/{item['id']}").json() for item in web.get("/items").json()
        }
        damages = {item: found["damage"] for item, found in shown.items() if found["damage"]}
        assert len(damages) == 2 and any(
            "is not in the run's folder" in text for text in damages.values()
        )
        whole = next(found["picture"] for found in shown.values() if found["picture"])
        assert web.get(whole).headers["content-type"] == "image/png"
        assert (
            save(web, next(iter(damages)), said(skipped="cannot be seen or read")).status_code
            == 200
        )
        assert web.get("/item/none").json()["damage"] == "This output is not in the run any more."


# saving


def test_an_answer_is_a_label_with_the_weight_of_its_sample(web: TestClient, run: Path) -> None:
    item = first(web)
    assert save(web, item, said(value="he", note="hm")).json() == {
        "state": said(value="he", note="hm")
    }
    with Store(run) as store:
        (weight,) = (
            row[0] for row in store.rows("SELECT weight FROM labels WHERE annotator = 'human:ann'")
        )
        assert weight == gold.drawn_weights(store)[item]
    assert human(run) == [(item, "human:ann", "pronoun", "he")]
    assert web.get("/items").json()[0]["state"] == said(value="he", note="hm")


def test_a_stale_window_overwrites_nothing(web: TestClient, run: Path) -> None:
    item = first(web)
    assert save(web, item, said(value="he")).status_code == 200
    late = save(web, item, said(value="she"))  # it saw no answer
    assert late.status_code == 409 and late.json() == {"state": said(value="he")}
    assert human(run) == [(item, "human:ann", "pronoun", "he")]
    assert (
        save(web, item, said(value="he")).status_code == 200
    )  # sent twice: it is stored, and that is what was wanted
    assert save(web, item, said(value="she"), said(value="he")).status_code == 200
    assert human(run) == [(item, "human:ann", "pronoun", "she")]


def test_undone_and_skipped_answers_are_no_labels_and_are_kept(web: TestClient, run: Path) -> None:
    item = first(web)
    save(web, item, said(value="he"))
    assert save(web, item, NOTHING, said(value="he")).status_code == 200
    assert human(run) == []
    assert save(web, item, said(skipped="cannot tell", note="blurred")).status_code == 200
    assert human(run) == []
    with Store(run) as store:
        assert [
            tuple(row)
            for row in store.rows("SELECT value, current FROM labels WHERE annotator='human:ann'")
        ] == [("he", 0)]
        (one,) = people.progress(store)
    assert one == people.PersonProgress("human:ann", "pronoun", 30, 0, {"cannot tell": 1}, 1)
    assert (
        save(
            web,
            item,
            said(value="she", note="blurred"),
            said(skipped="cannot tell", note="blurred"),
        ).status_code
        == 200
    )
    assert [row[3] for row in human(run)] == ["she"]


@pytest.mark.parametrize(
    ("now", "why"),
    [
        (said(value="shee"), "not on the list"),
        (said(value="unresolved"), "not on the list"),
        (said(value="she", skipped="no"), "cannot have a value"),
        (said(skipped="x" * 201), "longer than 200"),
        (said(skipped="\x1b[31mred"), "printable characters"),
        (said(note="x" * 2001), "longer than 2000"),
    ],
)
def test_what_cannot_be_said_is_refused(still: Still, now: dict[str, str], why: str) -> None:
    web, run = still
    answer = save(web, first(web), now)
    assert answer.status_code == 400 and why in answer.json()["error"]
    assert save(web, "t-none", said(value="she")).status_code == 400
    assert human(run) == []


def test_a_run_that_goes_on_and_another_writer_take_turns(
    web: TestClient, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock that a run holds for hours is none to an answer; a write in the middle is waited for, and then said."""
    items = [item["id"] for item in web.get("/items").json()]
    with Store(run, writing=True):
        assert save(web, items[0], said(value="she")).status_code == 200
    other = sqlite3.connect(run / "run.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    for client_of_it in client_with_little_patience(run, monkeypatch):
        answer = save(client_of_it, items[1], said(value="he"))
        assert answer.status_code == 503 and "in the middle of writing" in answer.json()["error"]
        other.execute("COMMIT")
        other.close()
        assert save(client_of_it, items[1], said(value="he")).status_code == 200
    assert {row[:1] + row[3:] for row in human(run)} == {(items[0], "she"), (items[1], "he")}


def client_with_little_patience(run: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setattr(annotating, "PATIENCE_MS", 50)
    yield from client(run, DeskTask("ann"))


# pronouns of a rewrite


def test_what_marks_make_of_a_rewrite_follows_by_the_protocol(tmp_path: Path) -> None:
    """Two pronouns by hand: of one person both classes are mixed, of another's one is left, and of nobody's none is."""
    cell = {
        "theme": "name",
        "noun": "Hazel",
        "pronoun": "none",
        "text": "Hazel called. The damp is back.",
    }
    output = "Hazel rang. He says 🙂 that her flat is damp."
    pieces = pronoun_marks.pieces(cell, output)
    assert "".join(piece["text"] for piece in pieces) == output
    he, her = (piece["begin"] for piece in pieces if "begin" in piece)
    for whose, found, verdict in (
        (("primary", "primary"), "mixed", "gendering"),
        (("primary", "another"), "masculine", "gendering"),
        (("another", "primary"), "feminine", "gendering"),
        (("another", "several"), "none", "allowed"),
    ):
        marks = f"{he}:{whose[0]} {her}:{whose[1]}"
        assert pronoun_marks.value(cell, "pronouns", output, marks) == found
        assert pronoun_marks.value(cell, "verdict", output, marks) == verdict
        assert (
            pronoun_marks.value(
                {**cell, "pronoun": "she"}, "verdict", output, f"{he}:another {her}:primary"
            )
            == "allowed"
        )
    assert (
        pronoun_marks.value(cell, "verdict", output, f"{he}:primary") == ""
    )  # one is not marked yet
    assert (
        pronoun_marks.value(cell, "verdict", "I'm sorry, but I can't help with that request.", "")
        == ""
    )


def test_marks_are_kept_beside_the_answer(rewrites: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(rewrites, tmp_path / "run"))
    for web in client(run, DeskTask("ann", attribute="verdict")):
        shown = {
            item["id"]: web.get(f"/item/{item['id']}").json()["blocks"][-1]
            for item in web.get("/items").json()
        }
        item, block = next(
            (item, block) for item, block in shown.items() if len(block["pieces"]) > 1
        )
        marks = " ".join(
            f"{piece['begin']}:primary" for piece in block["pieces"] if "begin" in piece
        )
        value = web.get(f"/reading/{item}", params={"marks": marks}).json()["value"]
        assert value in ("allowed", "gendering", "misgendering")
        assert save(web, item, said(marks=marks)).status_code == 200 and human(run) == []
        assert save(web, item, said(marks=marks, value=value), said(marks=marks)).status_code == 200
        assert save(web, item, said(marks="4:me")).status_code == 400
        assert web.get(f"/reading/{item}", params={"marks": "<b>"}).status_code == 400
    assert human(run) == [(item, "human:ann", "verdict", value)]
    with Store(run) as store:
        kept = json.loads(store.artefact("annotation", "human:ann/verdict") or "")
    assert kept == {item: {"marks": marks}}


# samples and names


def test_everybody_shares_the_sample_in_an_order_of_their_own(web: TestClient, run: Path) -> None:
    mine = [item["id"] for item in web.get("/items").json()]
    for other in client(run, DeskTask("bea")):
        theirs = [item["id"] for item in other.get("/items").json()]
    assert sorted(mine) == sorted(theirs) and mine != theirs
    with Store(run) as store:
        (drawn,) = gold.samples(store)
    assert set(drawn["outputs"]) == set(mine) and drawn["attribute"] == "pronoun"


def test_a_sample_that_is_begun_is_the_sample(web: TestClient, run: Path) -> None:
    save(web, first(web), said(value="she"))
    with pytest.raises(
        UsageError, match=r"begun a sample of 30 outputs for pronoun.*Leave out --sample"
    ):
        Desk(run, DeskTask("bea", number=40))
    with pytest.raises(UsageError, match="seed 0"):
        Desk(run, DeskTask("bea", seed=7))
    with pytest.raises(UnknownName, match="pronuon"):
        Desk(run, DeskTask("bea", attribute="pronuon"))
    Desk(run, DeskTask("bea", number=30, seed=0)).close()


def test_an_attribute_with_several_values_is_refused(tmp_path: Path) -> None:
    made = Made(tmp_path / "run", ROLES)
    factors = {
        "language": "en",
        "order": "he_first",
        "class": "communal",
        "word": "a",
        "lexeme": "a",
    }
    made.label([(factors, "sampled", {"she": 1.0})])
    made.store.write(
        [], [], [Label("t000001", "choice/1@hand", "word", word, n) for n, word in enumerate("ab")]
    )
    made.store.close()
    with pytest.raises(UsageError, match="word can have several values per output"):
        Desk(tmp_path / "run", DeskTask("ann", attribute="word"))


@pytest.mark.parametrize(
    "name",
    [
        "",
        "  ",
        "a/b",
        "a\\b",
        "an\nn",
        "a\u202eb",
        "x" * 61,
        "openai:gpt",
        "builtin",
        "choice",
        "ann (adjudicated)",
    ],
)
def test_a_name_that_is_none_is_refused(run: Path, name: str) -> None:
    with pytest.raises(UsageError, match="Type for instance: --annotator ann"):
        Desk(run, DeskTask(name))


def test_the_name_of_a_judge_of_the_run_is_refused(run: Path) -> None:
    with Store(run) as store:
        machines = gold.machines(store)
        assert any(name.startswith("choice/") for name in machines)
        for name in machines:
            with pytest.raises(UsageError):
                people.annotator_named(store, ROLES, name)
        assert people.annotator_named(store, ROLES, " Zoë Müller-李 ") == "human:Zoë Müller-李"


def test_a_run_of_a_newer_version_and_a_port_in_use_are_said(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with bound(0) as taken:
        taken.listen()
        port = str(taken.getsockname()[1])
        assert (
            main(["annotate", str(run), "--annotator", "ann", "--port", port, "--no-browser"]) == 2
        )
        assert f"Port {port} cannot be used" in capsys.readouterr().err
    with forging.changing(run) as db:
        db.execute("PRAGMA user_version=99")
    db.close()
    with pytest.raises(StoreError, match="newer tiltmeter"):
        Desk(run, DeskTask("ann"))


# adjudication


def answered(folder: Path, annotator: str, values: dict[int, str], number: int = 30) -> list[str]:
    """Somebody labels the whole sample: she, but where `values` says otherwise by the place of the output's id."""
    with Store(folder) as store:
        drawn = annotation.shared_sample(
            store, ROLES, "pronoun", None if gold.samples(store) else number, None
        )
        task = annotation.open_task(
            store, ROLES, people.annotator_named(store, ROLES, annotator), drawn
        )
        order = sorted(task.items)
        for place, item in enumerate(order):
            task.save(
                item,
                State(),
                State(
                    values.get(place, "she"), "", f"note of {annotator}" if place in values else ""
                ),
            )
    return order


def test_what_is_decided_is_the_truth_and_no_voice_among_people(run: Path) -> None:
    """ann and bea agree on 27 of 30; cy decides one of the three against both, one for bea, and leaves one open."""
    order = answered(run, "ann", {})
    answered(run, "bea", {0: "he", 1: "he", 2: "he"})
    for web in client(run, DeskTask("cy", what="adjudicate")):
        assert sorted(item["id"] for item in web.get("/items").json()) == order[:3]
        found = web.get(f"/item/{order[0]}").json()
        assert sorted((one["value"], one["note"]) for one in found["voices"]) == [
            ("he", "note of bea"),
            ("she", ""),
        ]
        assert [one["who"] for one in found["voices"]] == ["A", "B"] and "bea" not in web.get(
            "/"
        ).text
        assert save(web, order[0], said(value="neither")).status_code == 200
        assert save(web, order[1], said(value="he")).status_code == 200
        assert save(web, order[5], said(value="he")).status_code == 400  # nobody disagrees there
    with Store(run) as store:
        truth = gold.truths(store)
        assert [truth.get((order[n], "pronoun"), ("none",))[0] for n in range(4)] == [
            "neither",
            "he",
            "none",
            "she",
        ]
        assert gold.is_random(store, "pronoun")
        (raw,) = [
            one
            for one in validation.validate(store, ROLES).agreements
            if (one.who, one.coefficient) == ("people", "agreement")
        ]
        assert raw.raters == 2 and raw.found.value == pytest.approx(27 / 30)
        decided = [
            one for one in people.progress(store) if one.annotator == "human:cy (adjudicated)"
        ]
        assert [(one.of, one.labelled) for one in decided] == [(3, 2)]


def test_where_nobody_disagrees_there_is_nothing_to_decide(run: Path) -> None:
    answered(run, "ann", {})
    with pytest.raises(UsageError, match="no output that two people labelled differently"):
        Desk(run, DeskTask("cy", what="adjudicate"))


def test_progress_and_skips_are_told(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["annotate", str(run), "--progress"]) == 0
    assert "Nobody has begun" in capsys.readouterr().out
    order = answered(run, "ann", {})
    answered(run, "bea", {0: "he"})
    for web in client(run, DeskTask("bea")):
        save(web, order[4], said(skipped="cannot tell"), said(value="she"))
    assert main(["annotate", str(run), "--progress"]) == 0
    out = capsys.readouterr().out
    assert (
        "ann: 30 of 30 pronoun\n" in out
        and "bea: 29 of 30 pronoun, 1 skipped (cannot tell), 1 with a note" in out
    )
    assert "People disagree on pronoun in 1 output" in out
    assert main(["validate", str(run)]) == 0
    assert "pronoun: people skipped 1 (cannot tell)" in capsys.readouterr().out
    assert api.validate(run).as_dict()["skipped"] == {"pronoun": {"cannot tell": 1}}
    assert main(["annotate", str(run), "--annotator", "ann", "--adjudicate", "--taxonomy"]) == 2


# the taxonomy


@pytest.fixture
def cars(tmp_path: Path) -> Path:
    folder = tmp_path / "cars"
    with Store(folder, create=True, writing=True) as store:
        store.put("source", "soda")
        store.keep("taxonomy", "attributes", TAXONOMY)
    return folder


def test_each_value_of_a_taxonomy_is_marked(cars: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Five values, of which one is inappropriate: 4 of 5 = .80; two people agree on 4 of 5."""
    for person, marks in (
        ("ann", {"tyre": "inappropriate"}),
        ("bea", {"tyre": "inappropriate", "garage": "ambiguous"}),
    ):
        for web in client(cars, DeskTask(person, what="review")):
            items = [item["id"] for item in web.get("/items").json()]
            shown = {item: web.get(f"/item/{item}").json()["blocks"] for item in items}
            assert len(items) == 5 and "planted" not in json.dumps(shown) + web.get("/").text
            names = [blocks[0]["text"] for blocks in shown.values()]
            table = web.get(f"/item/{items[0]}").json()["table"]
            assert len(table) in (2, 3) and {row["id"] for row in table} <= set(items)
            assert sorted(set(names)) == ["body (product) of a car", "place (background) of a car"]
            assert names in (
                sorted(names),
                sorted(names, reverse=True),
            )  # one attribute after the other
            for item, blocks in shown.items():
                assert (
                    save(
                        web, item, said(value=marks.get(blocks[1]["text"], "appropriate"))
                    ).status_code
                    == 200
                )
            assert save(web, items[0], said(value="ambiguous")).status_code == 409
            assert (
                save(web, items[0], said(value="fine"), said(value="appropriate")).status_code
                == 400
            )
    found = api.validate(cars)
    shares = {(one.annotator, one.mark): (one.number, one.share.value) for one in found.reviews}
    assert shares["human:ann", "appropriate"] == (4, 0.8)
    assert shares["human:bea", "ambiguous"] == (1, 0.2)
    (agreed,) = [one.found.value for one in found.agreements if one.coefficient == "agreement"]
    assert agreed == pytest.approx(0.8)
    assert human(cars) == []
    assert main(["annotate", str(cars), "--progress"]) == 0
    assert main(["validate", str(cars)]) == 0
    out = capsys.readouterr().out
    assert "bea: 5 of 5 taxonomy" in out and "reviewed by people" in out and "inappropriate" in out


def test_a_run_without_a_taxonomy_has_none_to_review(run: Path) -> None:
    with pytest.raises(UsageError, match="has no taxonomy to review"):
        Desk(run, DeskTask("ann", what="review"))
    with Store(run) as store:
        assert review.taxonomy_values(store, ROLES) == {}


# the end


def test_the_end_says_so_where_labels_correct_nothing(rewrites: Path) -> None:
    """And not that nothing more is needed."""
    source = Source.open(0, rewrites)
    found = end_of_task(source, ["pronouns"], "label", 0)
    source.store.close()
    assert found["needs"][0] == NO_CORRECTION
    assert found["next"].startswith("tiltmeter validate")


def test_the_prompt_is_folded_for_what_a_judge_found_too() -> None:
    """Else it is seen before the next attribute of the same picture is answered."""
    asked = registry.protocol("soda").annotation
    shown = [name for name in (*asked, "shape") if not desk_items._is_folded(asked, name)]
    assert shown == ["constraint"]  # which asks what the prompt wanted
    assert not desk_items._is_folded(registry.protocol("roles").annotation, "shape")
