"""A plan that is cut into shards and merged is the run that it would have been in one."""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import TypedDict, Unpack

import pytest

import tiltmeter
from tests import forging
from tests.serving import planted_server
from tests.stages.test_resume import command, wait_for_requests
from tiltmeter import api, registry
from tiltmeter.cli import main
from tiltmeter.errors import RunMismatch, UsageError
from tiltmeter.stages.engine.limits import Tally
from tiltmeter.stages.planning import plan, shards
from tiltmeter.store import Store
from tiltmeter.store.queries import settings
from tiltmeter.store.views import public_columns

TABLES = ("trials", "calls", "outputs", "labels")
OWN = {"id", "date"}  # of a row: its number, and when it came


def rows(folder: Path) -> dict[str, list[str]]:
    """Every row of a run in every column but row ids and times."""
    with Store(folder) as store:
        return {
            table: sorted(
                str(dict(zip(names, row, strict=True)))
                for row in store.rows(f"SELECT {', '.join(names)} FROM {table}")
            )
            for table in TABLES
            for names in [[name for name in public_columns(table, "") if keep(table, name)]]
        }


def keep(table: str, column: str) -> bool:
    return column not in OWN or (table == "trials" and column == "id")


def bot(prompt: str) -> str:
    return "she" if sha256(prompt.encode()).digest()[0] % 3 else "he"


class Broken(Exception):
    """The process ends in the middle of a run."""


class Options(TypedDict, total=False):
    samples: int
    shard: str


def ask(out: Path, lasts: int = 10**9, **options: Unpack[Options]) -> None:
    """A run that breaks off after so many events."""
    left = itertools.count(lasts, -1)

    def watch(stage: str, total: int | None, tally: Tally) -> None:
        if next(left) <= 0:
            raise Broken

    asked: Options = {"samples": 9, "pilot": False, **options}
    model = {"bot": bot}
    judge = "planted:she=0.5"
    tiltmeter.run("roles", model, out, language="en", limit=8, judge=judge, watch=watch, **asked)


def test_a_shard_is_even_in_every_round() -> None:
    protocol = registry.protocol("roles")
    choices = plan.Choices(("planted:she=0.5", "planted:she=0.6"), samples=3, languages=("en",))
    whole = [(trial.sample, trial.id) for trial in plan.trials(protocol, choices)]
    parts = [
        [(t.sample, t.id) for t in shards.Shard(k, 16).part(plan.trials(protocol, choices))]
        for k in range(1, 17)
    ]
    assert sorted(itertools.chain(*parts)) == sorted(whole)
    assert [len(p) for p in parts] == [shards.Shard(k, 16).size(len(whole)) for k in range(1, 17)]
    for sample in range(3):
        sizes = [Counter(s for s, _ in part)[sample] for part in parts]
        assert max(sizes) - min(sizes) <= 2


def test_the_trials_of_a_shard_are_listed() -> None:
    whole = [row["trial"] for row in api.trials("roles", "planted", language="en", limit=3)]
    parts = [
        [r["trial"] for r in api.trials("roles", "planted", language="en", limit=3, shard=f"{k}/2")]
        for k in (1, 2)
    ]
    assert (
        sorted(whole) == sorted(itertools.chain(*parts)) and abs(len(parts[0]) - len(parts[1])) < 2
    )


@pytest.mark.parametrize("text", ["0/4", "5/4", "3", "3/", "a/b", "1/4/2"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--shard 3/16"):
        shards.Shard.parse(text)


def test_broken_shards_merge_into_what_one_run_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, all_ = tmp_path / "whole", tmp_path / "all"
    ask(whole)
    parts = [tmp_path / str(number) for number in range(1, 5)]
    for number, (part, lasts) in enumerate(zip(parts, (0, 20, 7, 3), strict=True), 1):
        if number > 1:  # the first ends by itself
            with pytest.raises(BaseExceptionGroup):
                ask(part, lasts, shard=f"{number}/4")
        else:
            ask(part, shard="1/4")
    first = tiltmeter.merge(parts[:3], all_)
    assert first.missing == ["4/4"] and first.open > 0
    assert set(rows(all_)["outputs"]) < set(rows(whole)["outputs"])
    for number, part in enumerate(parts[:3], 1):
        ask(part, shard=f"{number}/4")
    assert main(["merge", *map(str, parts), "--out", str(all_), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["missing"] == [] and told["open"] > 0  # of the fourth, which broke off
    ask(all_)  # a merged run goes on
    assert rows(all_) == rows(whole)
    again = tiltmeter.merge(parts, all_)
    assert not any(again.added) and rows(all_) == rows(whole)
    one, other = (tiltmeter.open_run(folder) for folder in (whole, all_))
    assert [e.value for e in one.analyse()] == [e.value for e in other.analyse()]


def test_a_shard_stays_what_it_is(tmp_path: Path) -> None:
    ask(tmp_path / "a", shard="1/40")
    changed: tuple[tuple[Options, str], ...] = (
        ({}, "holds shard 1/40"),
        ({"shard": "2/40"}, "holds shard 1/40"),
        ({"shard": "1/40", "samples": 4}, "--samples .before 9, now 4"),
    )
    for options, told in changed:
        with pytest.raises(RunMismatch, match=told):
            ask(tmp_path / "a", **options)  # type: ignore[arg-type]
    assert "shard 1 of 40" in tiltmeter.open_run(tmp_path / "a").warnings()[0]
    ask(tmp_path / "b", shard="2/40", samples=4)
    ask(tmp_path / "c", shard="1/39")
    for other, told in (("b", "--samples 9 and 4"), ("c", "40 and 39 shards")):
        with pytest.raises(RunMismatch, match=f"a and .*{other} are not parts .*{told}"):
            tiltmeter.merge([tmp_path / "a", tmp_path / other], tmp_path / "out")
        assert not (tmp_path / "out").exists()
    with pytest.raises(UsageError, match="is a shard itself"):
        tiltmeter.merge([tmp_path / "b"], tmp_path / "a")


def test_an_answer_that_differs_is_named(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        ask(tmp_path / folder, shard="1/40")
    with Store(tmp_path / "b", writing=True) as store:
        forging.allow_changes(store._db)
        store.write_one("UPDATE calls SET text = 'neither' WHERE purpose = 'subject'", ())
    tiltmeter.merge([tmp_path / "a"], tmp_path / "out")
    before = rows(tmp_path / "out")
    with pytest.raises(RunMismatch, match=r"has another call [0-9a-f]{12}"):
        tiltmeter.merge([tmp_path / "b"], tmp_path / "out")
    assert rows(tmp_path / "out") == before


def test_a_shard_is_told_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["run", "roles", "--model", "planted:she=0.7", "--language", "en", "--limit", "4"]
    assert main([*asked, "--out", str(tmp_path / "a"), "--shard", "2/3"]) == 0
    assert "shard 2/3: 27 outputs, 27 labels." in capsys.readouterr().out
    assert not (tmp_path / "a" / "report.html").exists()
    other = [*asked, "--out", str(tmp_path / "b"), "--shard", "1/3"]
    assert main([*other, "--stop"]) == 2 and "--no-stop" in capsys.readouterr().err
    code = main([*other, "--fail-if", "share_she > .9"])
    assert code == 2 and "Merge the shards" in capsys.readouterr().err


def test_what_may_be_lost_is_counted_once(tmp_path: Path) -> None:
    for number in (1, 2):
        ask(tmp_path / str(number), shard=f"{number}/40")
        with Store(tmp_path / str(number), writing=True) as store:
            settings.keep_possibly_paid(store, 0.25 * number, 0.5)
    for _ in range(2):
        tiltmeter.merge([tmp_path / "1", tmp_path / "2"], tmp_path / "out")
        with Store(tmp_path / "out") as store:
            assert settings.possibly_paid(store) == pytest.approx(0.75 + 1.0)
    tiltmeter.merge([tmp_path / "1", tmp_path / "out", tmp_path / "2"], tmp_path / "again")
    with Store(tmp_path / "again") as store:
        assert settings.possibly_paid(store) == pytest.approx(0.75 + 1.0)


def script(name: str) -> str:
    """A job script of docs/how-to/scale.md; of one for SkyPilot what a node runs."""
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "scale.md").read_text("utf-8")
    found = re.search(rf"^```\w+ {name}$(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert found
    return textwrap.dedent(found[1].partition("run: |\n")[2] or found[1].strip())


@pytest.mark.parametrize(
    ("name", "variables"),
    [
        ("shard.sh", {"SLURM_ARRAY_TASK_ID": "2", "SHARDS": "3"}),
        ("shard.yaml", {"SKYPILOT_NODE_RANK": "1", "SKYPILOT_NUM_NODES": "3"}),
    ],
)
def test_the_job_scripts_of_the_docs_run(
    tmp_path: Path, name: str, variables: dict[str, str]
) -> None:
    (tmp_path / "tiltmeter").write_text(f'#!/bin/sh\nexec {sys.executable} -m tiltmeter "$@"\n')
    (tmp_path / "tiltmeter").chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    told = subprocess.run(
        ["bash", "-c", script(name)],
        cwd=tmp_path,
        env={**os.environ, **variables, "PATH": path},
        check=True,
        capture_output=True,
        text=True,
    )
    assert "shard 2/3: 27 outputs" in told.stdout
    assert (tmp_path / "shards" / "2" / "run.sqlite").is_file()


def unjudged(url: str, out: Path, *more: str) -> list[str]:
    """The planted judge of a server draws its words in the order of what it is asked."""
    typed = command(url, out, *more)
    at = typed.index("--judge")
    return [*typed[:at], *typed[at + 2 :]]


@pytest.mark.slow
def test_sixteen_killed_shards_merge_into_what_one_run_has(tmp_path: Path) -> None:
    moments, parts = random.Random(3), [tmp_path / str(number) for number in range(1, 17)]
    options = ("--samples", "4", "--limit", "30")
    with planted_server("latency=0.02") as url:
        subprocess.run(unjudged(url, tmp_path / "whole", *options), check=True, capture_output=True)
        for number, part in enumerate(parts, 1):
            killed = unjudged(url, part, *options, "--shard", f"{number}/16")
            with subprocess.Popen(killed, stderr=subprocess.DEVNULL) as process:
                wait_for_requests(url, moments.randint(1, 25), process)
                process.send_signal(signal.SIGKILL)
        merge = [sys.executable, "-m", "tiltmeter", "merge", *map(str, parts)]
        merge += ["--out", str(tmp_path / "all")]
        subprocess.run(merge, check=True, capture_output=True)
        for number in range(3, 17):  # two are never heard of again: the merged run asks the rest
            again = unjudged(url, parts[number - 1], *options, "--shard", f"{number}/16")
            subprocess.run(again, check=True, capture_output=True)
        subprocess.run(merge, check=True, capture_output=True)
        subprocess.run(unjudged(url, tmp_path / "all", *options), check=True, capture_output=True)
    assert rows(tmp_path / "all") == rows(tmp_path / "whole")
