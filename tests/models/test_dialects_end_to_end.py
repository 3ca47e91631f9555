"""A run by the command line whose subject and judge are behind the two native dialects, on local servers that check them."""

import json
from pathlib import Path

import pytest

from tests.models.wire import KEY, AnthropicWire, GeminiWire
from tests.serving import serving
from tiltmeter.cli import main
from tiltmeter.instruments.choice.choice import Choice
from tiltmeter.store import Store


class SaysHe(AnthropicWire):
    """Answers the audit's prompts."""

    def answer(
        self, path: str, headers: dict[str, str], body: dict[str, object]
    ) -> tuple[int, object]:
        status, reply = super().answer(path, headers, body)
        reply["content"][0]["text"] = "He"
        return status, reply


class JudgesHe(GeminiWire):
    def answer(
        self, path: str, headers: dict[str, str], body: dict[str, object]
    ) -> tuple[int, object]:
        status, reply = super().answer(path, headers, body)
        reply["candidates"][0]["content"]["parts"][0]["text"] = "he"
        return status, reply


def test_a_run_with_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    subject, judge = "anthropic:claude-haiku-4-5", "gemini:gemini-3.5-flash"
    with serving(SaysHe(refuses=["both"])) as first, serving(JudgesHe()) as second:
        code = main(
            [
                "run",
                "roles",
                "-m",
                subject,
                "--judge",
                judge,
                "--limit",
                "5",
                "--samples",
                "1",
                "--language",
                "en",
                "--base-url",
                f"anthropic={first}",
                "--base-url",
                f"gemini={second}",
                "--max-cost",
                "1",
                "--out",
                str(tmp_path / "run"),
                "--json",
            ]
        )
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert code == 0 and f"{judge} was asked and gemini-2.5-flash answered" in captured.err
    shares = [
        row
        for row in found["estimates"]
        if row["measure"] == "share_she" and "class" not in row["condition"]
    ]
    assert {row["instrument"].partition("@")[0] for row in shares} >= {
        f"choice/{Choice.version}",
        f"choice/{judge}",
    }
    assert all(row["value"] == 0 for row in shares if row["value"] is not None)
    with Store(tmp_path / "run") as store:
        rows = list(
            store.rows(
                "SELECT model, served, omitted, count(*), sum(cost) FROM calls GROUP BY 1, 2, 3 ORDER BY 1"
            )
        )
    assert [row[:2] for row in rows] == [
        (subject, "claude-haiku-4-5-20251001"),
        (judge, "gemini-2.5-flash"),
    ]
    assert json.loads(rows[0][2]) == ["seed", "top_p"] and rows[1][2] == ""
    assert (
        rows[0][3] == rows[1][3] >= 10 and rows[0][4] == 0
    )  # a server on this machine costs nothing
