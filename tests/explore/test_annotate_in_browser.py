"""People annotate in Chromium: thirty items by keyboard, two windows, a decision where two disagree, hostile answers."""

from __future__ import annotations

import shutil
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

import tiltmeter
from tests import axe
from tests.browser import chromium
from tests.explore.driving import Visit, annotating, drive
from tests.explore.test_in_browser import CONTRAST, NAMELESS, WIDTH
from tiltmeter import api, gold
from tiltmeter.instruments.choice.choice import Choice
from tiltmeter.store import Store

pytestmark = pytest.mark.skipif(
    chromium() is None, reason="no Chromium here (Debian: apt-get install chromium)"
)
NUMBER = 30
READY = "document.querySelector('#item').getAttribute('aria-busy') === 'false'"
DONE, TOLD, ALERT = (
    f"document.querySelector('#{name}').textContent" for name in ("done", "status", "alert")
)
PRESSED = "document.querySelector('.choice[aria-pressed=true]')?.dataset.value"
STATE, READING = "items[at].state", "document.querySelector('#reading').textContent"
VOICES = "[...document.querySelectorAll('#voices li')].map(e => e.textContent)"


def at(number: int) -> tuple[str, str]:
    return (
        "wait",
        f"{READY} && document.querySelector('#place').textContent.startsWith('Item {number} ')",
    )


def keys(*answers: str, begin: int = 1) -> list[tuple[str, str]]:
    """Answers, one key each, to items one after the other."""
    return [step for n, answer in enumerate(answers, begin) for step in (at(n), ("key", answer))]


@dataclass(frozen=True)
class Sessions:
    run: Path
    ann: Visit
    bea: Visit
    cy: Visit


@pytest.fixture(scope="module")
def sessions(texts: Path, tmp_path_factory: pytest.TempPathFactory) -> Sessions:
    """ann says he of every third item, after an undo, a reload, a skip and a note; bea says she of all; cy decides."""
    run = Path(shutil.copytree(texts, tmp_path_factory.mktemp("annotate") / "run"))
    says = ["2" if n % 3 == 2 else "1" for n in range(NUMBER)]
    with (
        annotating(str(run), "--annotator", "ann", "--sample", str(NUMBER)) as first,
        annotating(str(run), "--annotator", "bea") as second,
    ):
        ann = Visit(
            [
                ("go", first),
                *keys(*says[:10]),
                at(11),
                ("ask", DONE),
                ("key", "2"),
                at(12),
                ("key", "u"),
                at(11),
                ("wait", f"{TOLD}.startsWith('Undone: ')"),
                ("ask", STATE),
                ("ask", TOLD),
                *keys(*says[10:14], begin=11),
                at(15),
                ("do", "location.reload()"),
                ("wait", "performance.now() < 5000"),
                at(15),
                ("ask", DONE),
                ("key", "u"),
                at(14),
                ("wait", f"{TOLD}.startsWith('Undone: ')"),
                ("ask", STATE),  # what was done before the reload
                ("key", says[13]),
                at(15),
                ("key", "s"),
                ("wait", "document.querySelector('dialog').open"),
                ("key", "2"),
                at(16),
                ("key", "ArrowLeft"),
                at(15),
                ("ask", STATE),
                ("key", says[14]),
                at(16),
                ("key", "n"),
                ("wait", "document.activeElement.id === 'note'"),
                *(("key", sign) for sign in "odd"),
                ("key", "Escape"),
                ("wait", f"{STATE}.note === 'odd'"),
                *keys(*says[15:], begin=16),
                ("wait", f"{TOLD}.startsWith('All items are done')"),
                ("ask", DONE),
                ("ask", PRESSED),
                ("ask", CONTRAST),
                ("ask", NAMELESS),
            ]
        )
        bea = Visit(
            [
                ("go", second),
                *keys(*["1"] * NUMBER),
                ("wait", f"{TOLD}.startsWith('All items')"),
                ("ask", WIDTH),
                ("ask", CONTRAST),
                ("ask", NAMELESS),
            ],
            width=390,
            dark=True,
        )
        drive(ann, bea)
    with annotating(str(run), "--annotator", "cy", "--adjudicate") as third:
        cy = Visit(
            [
                ("go", third),
                at(1),
                ("ask", "items.length"),
                ("ask", VOICES),
                ("ask", "document.body.textContent"),
                *keys(*["2"] * 10),
                ("wait", f"{TOLD}.startsWith('All items')"),
                ("ask", CONTRAST),
            ]
        )
        drive(cy)
    return Sessions(run, ann, bea, cy)


def test_thirty_items_by_keyboard_with_undo_and_a_reload(sessions: Sessions) -> None:
    ten, undone, told, fourteen, again, skipped, done, pressed, faint, nameless = (
        sessions.ann.values
    )
    assert ten == "· 10 answered, 20 to go" and fourteen == "· 14 answered, 16 to go"
    assert (
        undone == {"value": "", "skipped": "", "note": "", "marks": "", "opened": ""}
        and told == "Undone: he. Now: no answer."
    )
    assert again == {"value": "", "skipped": "", "note": "", "marks": "", "opened": ""}
    assert skipped == {
        "value": "",
        "skipped": "cannot be seen or read",
        "note": "",
        "marks": "",
        "opened": "",
    }
    assert (done, pressed) == ("· 30 answered, 0 to go", "he") and (faint, nameless) == ([], [])
    assert sessions.ann.messages == []
    home = sessions.ann.requests[0].partition("?")[0]
    assert all(address.startswith(home) for address in sessions.ann.requests)


def test_what_was_annotated_is_in_validate(sessions: Sessions) -> None:
    with Store(sessions.run) as store:
        rows = list(
            store.rows("SELECT value, weight FROM labels WHERE current AND annotator = 'human:ann'")
        )
        assert Counter(value for value, _ in rows) == {"she": 20, "he": 10} and all(
            weight >= 1 for _, weight in rows
        )
        assert gold.is_random(store, "pronoun")
        notes = store.artefact("annotation", "human:ann/pronoun")
    assert notes is not None and notes.count("odd") == 1 and "cannot be seen" not in notes
    found = api.validate(sessions.run)
    assert found.gold == {"pronoun": NUMBER} and all(card.random for card in found.cards)
    rules = f"choice/{Choice.version}@"
    assert {card.groups[0].labels for card in found.cards if card.annotator.startswith(rules)} == {
        NUMBER
    }


def test_two_annotators_and_a_decision(sessions: Sessions) -> None:
    """ann and bea agree on 20 of 30; cy says he of the ten others, so the truth is what ann said."""
    width, faint, nameless = sessions.bea.values
    assert width == 390 and (faint, nameless) == ([], [])
    number, voices, text, faint = sessions.cy.values
    assert number == 10 and faint == []
    assert sorted(voice.partition(": ")[2] for voice in voices) == ["he", "she"] and [
        voice[0] for voice in voices
    ] == [
        "A",
        "B",
    ]
    assert "bea" not in text and "planted" not in text
    with Store(sessions.run) as store:
        mine = dict(
            store.rows("SELECT output, value FROM labels WHERE current AND annotator = 'human:ann'")
        )
        assert {output: value for (output, _), (value, _) in gold.truths(store).items()} == mine
    (raw,) = [
        one
        for one in api.validate(sessions.run).agreements
        if (one.who, one.coefficient) == ("people", "agreement")
    ]
    assert raw.found.value == pytest.approx(20 / 30)


# a window that was not looked at again (looking at it again brings what others stored), hostile answers, a server that went away

OTHER = """
(async () => {
  const now = { value: 'he', skipped: '', note: '', marks: '', opened: '' }, seen = { ...now, value: '' };
  const sent = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ item: items[at].id, seen, now }) };
  return (await fetch('/save', sent)).status;
})()
"""


@pytest.fixture(scope="module")
def odd(
    texts: Path, guards: Path, rewrites: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Visit, ...]:
    folder = tmp_path_factory.mktemp("odd")
    copies = [
        Path(shutil.copytree(source, folder / source.name)) for source in (texts, guards, rewrites)
    ]
    hostile = "items.findIndex(i => i.id === HOSTILE)"
    with Store(copies[0]) as store:
        (trial,) = next(store.rows("SELECT trial FROM outputs WHERE text LIKE '<a href=%'"))
    with ExitStack() as stack:
        options = (("--sample", "80"), (), ("--attribute", "verdict"))
        words, images, pairs = (
            stack.enter_context(annotating(str(one), "--annotator", "ann", *more))
            for one, more in zip(copies, options, strict=True)
        )
        stale = Visit(
            [
                ("go", words),
                at(1),
                ("do", "window.fresh = async () => {}; note.value = 'mine'"),
                ("ask", OTHER),
                ("key", "1"),
                ("wait", f"{ALERT}.includes('In another window')"),
                ("ask", ALERT),
                ("ask", PRESSED),
                ("key", "1"),
                at(2),
                ("key", "ArrowLeft"),
                at(1),
                ("ask", PRESSED),
                ("ask", f"{STATE}.note"),
            ]
        )
        text = Visit(
            [
                ("go", words),
                ("wait", READY),
                ("do", f"window.HOSTILE = '{trial}'; show({hostile})"),
                ("wait", f"{READY} && at === {hostile}"),
                ("ask", "document.querySelector('pre.output').textContent"),
                (
                    "ask",
                    "document.querySelector('iframe, base, #item a, #item img, #item style') === null",
                ),
                ("ask", "document.title"),
            ]
        )
        gone = Visit(
            [
                ("go", words),
                ("wait", READY),
                ("do", "window.real = fetch; window.fetch = () => Promise.reject(new Error())"),
                ("do", "window.item = items[at]"),
                ("key", "2"),
                ("wait", f"{ALERT}.includes('Not saved: he')"),
                ("ask", ALERT),
                ("do", "window.fetch = real; document.querySelector('#again').click()"),
                ("wait", f"{TOLD}.startsWith('Saved: he') && item.state.value === 'he'"),
            ]
        )
        look = Visit(
            [
                ("go", images),
                at(1),
                ("ask", "document.querySelector('#item img').naturalWidth > 0"),
                ("ask", WIDTH),
                ("key", "3"),
                at(2),
                ("ask", DONE),
                ("ask", CONTRAST),
                ("ask", NAMELESS),
            ],
            width=390,
        )
        marked = Visit(
            [
                ("go", pairs),
                ("wait", READY),
                (
                    "do",
                    "(async () => { while (!document.querySelector('.pronoun')) await show(at + 1); })()",
                ),
                ("ask", "document.querySelectorAll('.pronoun').length"),
                ("key", "ArrowDown"),
                ("key", "p"),
                ("wait", f"{STATE}.marks.split(' ').length === 1"),
                (
                    "do",
                    "(async () => { for (const one of document.querySelectorAll('.pronoun:not([data-whose])')) await mark(one, 'primary'); })()",
                ),
                ("wait", "offered"),
                ("ask", "offered"),
                ("ask", READING),
                ("ask", CONTRAST),
                ("ask", NAMELESS),
                ("ask", WIDTH),
                ("do", "window.item = items[at]; document.querySelector('.pronoun').focus()"),
                ("key", "Enter"),
                ("wait", "item.state.value === offered || item.state.value"),
                ("ask", "item.state"),
            ]
        )
        drive(stale, text, gone, look, marked)
    return stale, text, gone, look, marked


def test_a_stale_window_says_what_the_other_stored(odd: tuple[Visit, ...]) -> None:
    other, alert, theirs, mine, note = odd[0].values
    assert (other, theirs, mine, note) == (
        200,
        "he",
        "she",
        "mine",
    )  # the note that was being written is not lost
    assert alert.startswith(
        "In another window this was answered meanwhile: he. Yours (she) was not stored"
    )


def test_hostile_answers_stay_text(odd: tuple[Visit, ...]) -> None:
    text, clean, title = odd[1].values
    assert (
        text.startswith('<a href="javascript:alert(1)"')
        and clean is True
        and title == "Annotate · tiltmeter"
    )
    assert (
        not any("evil.example" in address for address in odd[1].requests) and odd[1].messages == []
    )


def test_an_answer_that_did_not_arrive_is_kept_and_sent_again(odd: tuple[Visit, ...]) -> None:
    assert "The server does not answer" in odd[2].values[0] and "kept here" in odd[2].values[0]


def test_pictures_are_annotated_on_a_phone(odd: tuple[Visit, ...]) -> None:
    there, width, done, faint, nameless = odd[3].values
    assert (
        there is True
        and width == 390
        and done.startswith("· 1 answered")
        and (faint, nameless) == ([], [])
    )


def test_pronouns_are_marked_and_the_verdict_follows(odd: tuple[Visit, ...]) -> None:
    number, offered, reading, faint, nameless, width, state = odd[4].values
    assert number == len(state["marks"].split(" ")) and state["marks"].count("primary") == number
    assert (
        offered in ("allowed", "gendering", "misgendering")
        and reading == f"By your marks: {offered}."
    )
    assert state["value"] == offered and (faint, nameless) == ([], []) and width == 1280


def test_axe_finds_nothing(rewrites: Path, tmp_path: Path) -> None:
    """By the rules of WCAG 2.2 AA: with pronouns that are marked, and with the reasons to skip open."""
    run = str(shutil.copytree(rewrites, tmp_path / "run"))
    with annotating(run, "--annotator", "ann") as address:
        page, asked = (
            axe.looks(address, ("wait", READY)),
            axe.looks(address, ("wait", READY), ("key", "s"), ("wait", "skipping.open")),
        )
        drive(*page, *asked)
    for visit in (*page, *asked):
        assert visit.values[-1]["violations"] == [] and visit.values[-1]["rules"] >= 15


def test_a_folded_prompt_the_strip_and_the_end(tmp_path: Path) -> None:
    """The prompt of a picture with the cue in it is folded, and opening it is recorded; the end says how far people agree."""
    tiltmeter.run(
        "gramvis",
        "planted:protocol=gramvis,male.masculine=.8",
        tmp_path / "run",
        language="de",
        limit=4,
        samples=1,
        judge="planted:protocol=gramvis",
    )
    shut = "document.querySelector('#item details:not([open])')"
    with annotating(str(tmp_path / "run"), "--annotator", "ann", "--sample", "12") as address:
        visit = Visit(
            [
                ("go", address),
                ("wait", "document.querySelector('#item').getAttribute('aria-busy') === 'false'"),
                ("ask", "document.querySelector('#question').textContent"),
                (
                    "ask",
                    f"{shut} !== null && !document.querySelector('#item pre').checkVisibility()",
                ),
                ("ask", "document.querySelectorAll('#strip button').length"),
                ("do", f"{shut}.open = true"),
                ("wait", "items[at].state.opened === '1'"),
                ("do", "(async () => { for (let n = 0; n < 12; n++) await choose('male'); })()"),
                ("wait", "!document.querySelector('#end').hidden"),
                ("do", "for (let n = 1; n <= 9; n++) paced(1e9 + 299 * n)"),
                ("ask", "document.querySelector('#alert').textContent"),
                ("do", "paced(1e9 + 299 * 10)"),
                ("ask", "document.querySelector('#alert').textContent"),
                ("ask", "document.querySelector('#end').innerText"),
                ("ask", "document.querySelectorAll('#strip .done').length"),
                ("ask", "document.querySelector('#saved').textContent"),
                ("ask", "document.documentElement.scrollWidth"),
            ],
            width=320,
        )
        drive(visit)
    question, folded, marks, slow, fast, end, done, saved, wide = visit.values
    assert question.startswith("How would a viewer perceive") and folded is True
    assert (marks, done, wide) == (12, 12, 320)
    assert "0.3 s" not in slow and "faster than 0.3 s" in fast and saved.startswith("· saved ")
    assert "the prompt was opened for 1" in end and "tiltmeter validate" in end
    assert "and people, gender: agreement" in end and visit.messages == []
