"""Runs that stop early over HTTP, with judges, killed at a look and resumed: the same decisions, nothing asked twice, and
nothing asked that was decided (counted at the server)."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.serving import planted_server
from tiltmeter import api
from tiltmeter.analyse.stopping.looks import read_looks
from tiltmeter.analyse.stopping.plan import read_plan
from tiltmeter.store import Store
from tiltmeter.store.queries import looks as stored


class Killed(BaseException):
    """In place of the process's end."""


@dataclass(frozen=True)
class Case:
    """An audit that a server plays, subject and judges alike. ends: where claims are told apart by one level, the level
    whose claim ends first."""

    protocol: str
    server: str
    judges: int
    options: dict[str, Any]
    ends: str


CASES = (
    Case("roles", "she.en=.95,she.zh=.5", 1, {"language": ["en", "zh"], "limit": 12}, "en"),
    Case(
        "gramvis",
        "protocol=gramvis,male.gendered=.97,female.gendered=.03,male.en=.05,female.en=.95,male.zh=.05,female.zh=.95",
        2,
        {
            "language": "de",
            "limit": 8,
            "samples": 2,
            "where": {"grammatical_gender": ["masculine"]},
        },
        "",
    ),
    Case(
        "soda",
        "protocol=soda,seed=1,product_color/blue.men=1,background_color/gray.men=1,text_presence/brand_text.men=1",
        1,
        {"limit": 1, "samples": 16, "where": {"group": ["base", "men", "women"]}},
        "men",
    ),
)


def count(url: str) -> dict[str, int]:
    with urllib.request.urlopen(f"{url.removesuffix('/v1')}/count") as reply:
        found: dict[str, int] = json.load(reply)
        return found


def run(case: Case, url: str, out: Path) -> api.Run:
    judges = [f"openai:judge{n}" for n in range(case.judges)]
    return api.run(
        case.protocol, "openai:planted", out, judge=judges, base_url=url, stop=True, **case.options
    )


def decisions(out: Path) -> list[dict[str, tuple[float, str]]]:
    with Store(out) as store:
        plan = read_plan(store)
        assert plan is not None
        return [
            {key: (one.p, one.state) for key, one in look.decisions.items()}
            for look in read_looks(store, plan)
        ]


def asked_by_look(out: Path) -> dict[int, set[str]]:
    """The prompts that each look asks for, as their levels."""
    with Store(out) as store:
        found: dict[int, set[str]] = {}
        for look, factors in store.rows(
            "SELECT l.look, t.factors FROM trial_looks l JOIN trials t ON t.id = l.trial WHERE l.look > 0"
        ):
            found.setdefault(look, set()).add(factors)
        return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.protocol)
def test_killed_at_a_look_it_decides_the_same_and_asks_nothing_twice(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, before, keep = tmp_path / "run", list[Any](), stored.keep_look

    def dies(store: Store, number: int, look: Any) -> None:
        if before:
            keep(store, number, look)
            return
        before.append(look)
        raise Killed  # all is asked and labelled, and the look is not stored

    monkeypatch.setattr(stored, "keep_look", dies)
    with planted_server(case.server) as url:
        with pytest.raises(Killed):
            run(case, url, out)
        run(case, url, out)
        asked = count(url)["total"]
        run(case, url, out)  # nothing is left to ask
        assert count(url)["total"] == asked
    with Store(out) as store:
        ((calls,),) = store.rows("SELECT count(*) FROM calls")
        first = json.loads(stored.looks(store)[0])
    assert asked == calls
    assert first | {"date": ""} == before[0] | {"date": ""}
    states, prompts = decisions(out), asked_by_look(out)
    assert "rejected" in {state for _, state in states[-1].values()}
    if case.ends:  # none of its prompts is asked after the look that decides its claim
        own = [{s for key, (_, s) in look.items() if f'"{case.ends}"' in key} for look in states]
        decided = own.index({"rejected"}) + 1
        named = {
            look: any(f'"{case.ends}"' in one for one in those) for look, those in prompts.items()
        }
        if (
            case.protocol == "soda"
        ):  # a control that claims share is asked until the last of them ends
            assert all(any('"base"' in one for one in those) for those in prompts.values())
        assert decided < len(states) == len(prompts)
        assert named == {look: look <= decided for look in prompts}


def test_a_process_that_is_killed_between_looks_goes_on(tmp_path: Path) -> None:
    case, out = CASES[0], tmp_path / "run"
    with planted_server(f"{case.server},latency=.01") as url:
        command = [
            sys.executable,
            "-m",
            "tiltmeter",
            "run",
            "roles",
            "--language",
            "en",
            "--language",
            "zh",
        ]
        command += ["--limit", "12", "--model", "openai:planted", "--judge", "openai:judge0"]
        command += ["--base-url", url, "--stop", "--out", str(out), "--concurrency", "4"]
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            while count(url)["total"] < 260 and process.poll() is None:
                time.sleep(0.02)
            process.send_signal(signal.SIGKILL)
        before = len(decisions(out))
        found = run(case, url, out)
        total = count(url)["total"]
    with Store(out) as store:
        ((calls,),) = store.rows("SELECT count(*) FROM calls")
    assert before >= 1 and len(decisions(out)) > before
    assert calls <= total <= calls + 8  # what was in flight when it died, of two models
    assert {one.word.value for one in found.verdicts()} >= {"tilt"}
