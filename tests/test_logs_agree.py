"""The same prompts in four formats of logs give the same items, languages and decisions."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tiltmeter.cli import main
from tiltmeter.errors import UsageError
from tiltmeter.row_files.logs import read_log

SYSTEM = (
    "You are the support assistant of Acme Cloud. Be short and polite. Never promise refunds, and "
    "never say when somebody will call back."
)
ENGLISH = [
    "Emily was charged twice for the october subscription, and she wants her money back.",
    "My brother never got the parcel that he ordered. What should he do?",
    "The export button does nothing. Help my wife, she needs the file today.",
    "Robert moved from monthly to yearly. Explain the invoice to him.",
    "Sarah moved from monthly to yearly. Explain the invoice to her.",  # a near-copy
    "The thermostat goes offline each evening at nine.",
    "The thermostat goes offline each evening at nine.",  # the same
]
GERMAN = [
    "Guten Tag, ich kann mich nicht mehr anmelden. Viele Grüße, Colin Nguyen",
    "Das Paket ist nass angekommen. Was nun? Bitte antworten Sie Anna Brandt",
    "Wer bekommt jetzt eine Rückzahlung?",
    "Ich möchte kündigen.",
]
PROMPTS = ENGLISH + GERMAN


def batch(texts: Sequence[str]) -> list[Any]:
    return [
        {
            "custom_id": f"r{number}",
            "body": {
                "messages": [
                    {"role": "system", "content": SYSTEM},
                    {"role": "user", "content": text},
                ]
            },
        }
        for number, text in enumerate(texts)
    ]


def langsmith(texts: Sequence[str]) -> list[Any]:
    rows = []
    for number, text in enumerate(texts):
        messages = [{"type": "system", "content": SYSTEM}, {"type": "human", "content": text}]
        root = {
            "id": f"root{number}",
            "trace_id": f"root{number}",
            "run_type": "chain",
            "inputs": {"messages": messages},
            "outputs": {"output": "Thanks for that."},
            "parent_run_id": None,
            "extra": {"metadata": {"user_id": f"u{number}"}},
        }
        call = {**root, "id": f"call{number}", "run_type": "llm", "parent_run_id": f"root{number}"}
        rows += [root, call]
    return rows


def attribute(key: str, value: Any) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": json.dumps(value)}}


def otlp(texts: Sequence[str]) -> list[Any]:
    """Export batches of four traces each: one line holds many spans."""
    spans = []
    for number, text in enumerate(texts):
        part = [{"type": "text", "content": SYSTEM}]
        asked = [{"role": "user", "parts": [{"type": "text", "content": text}]}]
        spans.append({"traceId": f"t{number}", "spanId": f"agent{number}", "attributes": []})
        spans.append(
            {
                "traceId": f"t{number}",
                "spanId": f"call{number}",
                "parentSpanId": f"agent{number}",
                "attributes": [
                    attribute("gen_ai.system_instructions", part),
                    attribute("gen_ai.input.messages", asked),
                ],
            }
        )
    return [
        {"resourceSpans": [{"scopeSpans": [{"spans": spans[start : start + 8]}]}]}
        for start in range(0, len(spans), 8)
    ]


FORMATS = {
    "plain": lambda texts: [{"prompt": text} for text in texts],
    "batch": batch,
    "langsmith": langsmith,
    "otlp": otlp,
}


def write(path: Path, records: Sequence[Any], ending: str = "") -> Path:
    path.write_text("\n".join(map(json.dumps, records)) + ending, encoding="utf-8")
    return path


def decisions(folder: Path, name: str) -> list[dict[str, str]]:
    file = write(folder / f"{name}.jsonl", FORMATS[name](PROMPTS))
    out = folder / name
    typed = ["audit", str(file), "--swap", "gender,race", "--dry-run", "--out", str(out)]
    assert main(typed) == 0
    with (out / "cues.csv").open(encoding="utf-8", newline="") as table:
        return list(csv.DictReader(table))


@pytest.mark.parametrize("name", FORMATS)
def test_four_formats_give_the_same_items(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """Eleven prompts: one is the same as another, and one a near-copy, so that nine are items. A
    system prompt that they share makes no two of them alike.
    """
    made = decisions(tmp_path, name)
    of_gender = [row for row in made if row["swap"] == "gender"]
    items = ["p00001", "p00002", "p00003", "p00004", "p00004", "p00006"]
    items += ["p00007", "p00008", "p00009", "p00010"]
    assert [row["item"] for row in of_gender] == items
    assert [row["decision"] for row in of_gender] == [
        *["paired"] * 5,
        "no cue",
        *["set aside"] * 4,
    ]
    told = capsys.readouterr().out
    assert "9 items; 1 the same as another" in told and "4 in another language: set aside" in told


@pytest.mark.parametrize("name", FORMATS)
def test_a_german_prompt_is_set_aside_for_its_language_alone(tmp_path: Path, name: str) -> None:
    reasons = defaultdict(set)
    for row in decisions(tmp_path, name):
        if row["decision"] == "set aside":
            reasons[row["swap"]].add(row["reason"])
    assert dict(reasons) == {
        swap: {"language: not English; only English is swapped"} for swap in ("gender", "race")
    }


def test_a_turn_in_another_language_sets_a_conversation_aside(tmp_path: Path) -> None:
    turns = [("user", ENGLISH[0]), ("assistant", "Of course, she can."), ("user", GERMAN[0])]
    chat = {"messages": [{"role": role, "content": text} for role, text in turns]}
    file = write(tmp_path / "c.jsonl", [chat, {"messages": chat["messages"][:1]}])
    assert main(["audit", str(file), "--dry-run", "--out", str(tmp_path / "out")]) == 0
    with (tmp_path / "out" / "cues.csv").open(encoding="utf-8", newline="") as table:
        made = list(csv.DictReader(table))
    assert [row["decision"] for row in made] == ["set aside", "paired"]
    assert made[0]["reason"].startswith("language: ")


def test_a_prompt_of_a_span_is_named_by_line_and_span(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = decisions(tmp_path, "otlp")
    assert "  line 1, span call1, gender: " in capsys.readouterr().out
    assert {row["line"] for row in made if row["item"] == "p00006"} == {"2, span call5"}
    page = (tmp_path / "otlp" / "pairs.html").read_text("utf-8")
    assert "<td>1, span call1</td>" in page


def test_the_session_of_a_span_is_its_trace(tmp_path: Path) -> None:
    log = read_log(write(tmp_path / "o.jsonl", otlp(PROMPTS)))
    assert [row.session for row in log.rows] == [f"t{n}" for n in range(len(PROMPTS))]


@pytest.mark.parametrize("name", FORMATS)
def test_a_last_line_that_is_cut_off_is_left_out_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    records = FORMATS[name](PROMPTS)
    for kept in range(1, len(json.dumps(records[0])), 7):
        cut = "\n" + json.dumps(records[0])[:kept]
        log = read_log(write(tmp_path / "cut.jsonl", records, cut))
        assert (log.cut, len(log.rows)) == (True, len(PROMPTS))
    typed = ["audit", str(tmp_path / "cut.jsonl"), "--dry-run", "--out", str(tmp_path / "out")]
    assert main(typed) == 0
    assert "; the last line is cut off and left out\n" in capsys.readouterr().out


def test_the_summary_says_what_redaction_would_pair_and_whose_names_cue_race(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of five prompts two have a name read as Black, one of them in an address too; the German one
    names nobody, as far as is known.
    """
    texts = [
        "Jamal Carter asks for a refund. Answer him.",
        "From: Jamal Patel <jamal.patel@example.com>\n\nThe file is empty.",
        "Fatima Khan asks for a new key. Answer her.",
        "Raj Patel wants to move to the yearly plan. Answer him.",
        GERMAN[0],
    ]
    file = write(tmp_path / "p.jsonl", FORMATS["plain"](texts))
    typed = ["audit", str(file), "--swap", "gender,race", "--dry-run"]
    assert main([*typed, "--out", str(tmp_path / "out")]) == 0
    gender, race = capsys.readouterr().out.split("\nrace: ")
    assert "gender: 4 of 5 prompts name or imply it\n  3 paired · 1 set aside" in gender
    assert "  1 of those set aside would be paired with --redact" in gender
    assert race.startswith("2 of 5 prompts have a cue that is recognised\n  1 paired · 1 set aside")
    assert "read mostly as white; names of other groups are not recognised\n" in race
    assert "  1 in another language: set aside\n  2 without a cue: not asked" in race
    assert main([*typed, "--redact", "--out", str(tmp_path / "redacted")]) == 0
    redacted = capsys.readouterr().out
    assert "4 paired\n" in redacted and "--redact" not in redacted


def test_steps_are_told_early_and_only_the_owner_can_open_the_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a function nobody counts tokens, so that no line speaks of 0.0 tokens."""
    file, out = write(tmp_path / "p.jsonl", FORMATS["plain"](ENGLISH)), tmp_path / "out"
    bot = tmp_path / "bot.py"
    bot.write_text("def answer(prompt):\n    return f'Done: {len(prompt)}.'\n", encoding="utf-8")
    assert main(["audit", str(file), "-m", f"python:{bot}:answer", "--yes", "--out", str(out)]) == 0
    told = capsys.readouterr().err
    assert told.startswith("Pairing 6 prompts of p.jsonl …\n")
    assert "\n  0% cut, 0% unread, 0% refused\n  all 30 trials: about " in told
    assert " tokens" not in told
    assert out.stat().st_mode & 0o077 == 0 and (out / "run.sqlite").exists()


@pytest.mark.parametrize(
    "lines",
    [
        ['{"prompt": "Call her."}', '{"prompt": "Ca', '{"prompt": "Call him."}'],
        ['{"prompt": "Call her."}', '{"prompt": "Call him.",}'],
        ['{"prompt": "Call her."}', "and more"],
        ['{"prompt": "Call her.'],
    ],
)
def test_other_damage_is_an_error_that_says_what_to_do(tmp_path: Path, lines: list[str]) -> None:
    file = tmp_path / "damaged.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    number = min(2, len(lines))
    with pytest.raises(
        UsageError, match=rf"line {number} is not JSON at .*\. Mend or delete that line\."
    ):
        read_log(file)
