"""The plan is drawn anew from what the run states: whoever leaves out what does not suit is found, and no honest run is accused."""

from __future__ import annotations

import io
import json
import random
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from PIL import Image

from tests import forging
from tests.api.forgeries import PROTOCOL, Bases, Forge, both, is_missed, setting
from tests.scripted import USAGE, Scripted, chat
from tests.serving import serving
from tiltmeter import api
from tiltmeter.api.recompute.findings import Findings
from tiltmeter.errors import PilotStopped
from tiltmeter.stages.engine.limits import Tally
from tiltmeter.store import Store

Planned = Mapping[str, Mapping[str, dict[str, int]]]
TRIALS = (
    "SELECT id FROM trials WHERE id IN (SELECT output FROM labels WHERE value='she') ORDER BY id"
)


def gone(trials: str, number: int) -> Forge:
    """All that is of some trials goes: trials, calls, outputs and labels. trials: a query of ids."""

    def forge(run: Path, chance: random.Random) -> None:
        with forging.changing(run) as db:
            ids = db.execute(trials).fetchall()
            for one in chance.sample(ids, min(number, len(ids))):
                call = db.execute("SELECT call FROM outputs WHERE trial=?", one).fetchone()
                db.execute("DELETE FROM label_calls WHERE output=?", one)
                db.execute("DELETE FROM labels WHERE output=?", one)
                db.execute("DELETE FROM outputs WHERE trial=?", one)
                db.execute("DELETE FROM trials WHERE id=?", one)
                db.execute("DELETE FROM calls WHERE key=?", call)

    return forge


def planned_to_fit(run: Path, chance: random.Random) -> None:
    """The stored plan has as many trials of each prompt as are left, and no prompt that is gone."""
    with forging.changing(run) as db:
        rows = [json.loads(factors) for (factors,) in db.execute("SELECT factors FROM trials")]
        row = db.execute("SELECT value FROM meta WHERE key='planned'").fetchone()
        planned = json.loads(row[0])
        for modes in planned.values():
            for mode, numbers in modes.items():
                levels = {key: set(json.loads(key)) for key in numbers}
                left = {k: sum(v <= set(row.values()) for row in rows) for k, v in levels.items()}
                modes[mode] = {key: number for key, number in left.items() if number}
        db.execute("UPDATE meta SET value=? WHERE key='planned'", (json.dumps(planned),))


def stated(change: Callable[[dict], object]) -> Forge:  # type: ignore[type-arg]
    """What the run states of its choices reads otherwise."""

    def of_all(plans: list[dict]) -> None:  # type: ignore[type-arg]
        for one in plans:
            change(one)

    return setting("asked", of_all)


def words(run: Path) -> str:
    """A query of the trials of two words."""
    with forging.changing(run) as db:
        query = "SELECT DISTINCT json_extract(factors, '$.word') FROM trials ORDER BY 1 LIMIT 2"
        pairs = [word for (word,) in db.execute(query)]
    marks = ", ".join(f"'{word}'" for word in pairs)
    return f"SELECT id FROM trials WHERE json_extract(factors, '$.word') IN ({marks})"


def two_words_gone(run: Path, chance: random.Random) -> None:
    gone(words(run), 999)(run, chance)


FORGERIES: Mapping[str, tuple[str, Forge]] = {
    "eight that say she are gone": ("judged", gone(TRIALS, 8)),
    "eight are gone, and the plan fits": ("judged", both(gone(TRIALS, 8), planned_to_fit)),
    "two words are gone": ("judged", two_words_gone),
    "two words are gone, and the plan fits": ("judged", both(two_words_gone, planned_to_fit)),
    "two words are gone, and the limit fits": ("judged", both(two_words_gone, planned_to_fit, stated(lambda it: it.update(limit=7)))),
    "a sample is gone, says the run": ("judged", stated(lambda it: it.update(samples=2))),
    "fewer words were asked for, says the run": ("judged", stated(lambda it: it.update(limit=8))),
    "more words were asked for, says the run": ("judged", stated(lambda it: it.update(limit=10))),
    "another language was asked, says the run": ("judged", stated(lambda it: it.update(languages=["zh"]))),
    "a language that there is not": ("judged", stated(lambda it: it.update(languages=["xx"]))),
    "another order was asked, says the run": ("judged", stated(lambda it: it["where"].update(order=["she_first"]))),
    "more was planned": ("judged", setting("planned", lambda it: it.update({"openai:gpt-9": {"sampled": {"x": 5}}}))),
    "nothing was planned": ("judged", setting("planned", lambda it: {})),
    "the run never stopped early": ("stopped", both(lambda run, _: never_stopped(run))),
    "a picture is gone": ("pictures", gone("SELECT id FROM trials WHERE sample = 0", 1)),
}  # fmt: skip


def never_stopped(run: Path) -> None:
    with forging.changing(run) as db:
        db.execute("DELETE FROM artefacts WHERE kind IN ('look', 'stopping plan')")
        db.execute("DELETE FROM packed_trial_looks")


@pytest.mark.parametrize("name", FORGERIES)
def test_what_is_left_out_is_found(name: str, bases: Bases, tmp_path: Path) -> None:
    assert not is_missed(bases, tmp_path, *FORGERIES[name], name)


def verified(run: Path) -> Findings:
    """Verifies a run that is right."""
    findings, _ = api.verify(run)
    assert findings.holds, [*findings.lines()]
    return findings


def of_plan(findings: Findings) -> list[str]:
    """The notes that speak of the plan."""
    return [note for note in findings.notes if re.search("plan|complete|choices", note)]


def test_what_is_absent_is_counted_by_item(bases: Bases, tmp_path: Path) -> None:
    """By hand: 9 words, 2 orders, 3 samples are 54 trials; 6 of each of two words go."""
    run = Path(shutil.copytree(bases.judged, tmp_path / "run"))
    two_words_gone(run, random.Random(1))
    findings, _ = api.verify(run)
    (note,) = of_plan(findings)
    assert re.search(
        r"42 of 54 trials of its plan are answered; without: 6 of \S+, 6 of \S+$", note
    )
    (line,) = findings.lines()
    assert (
        "a planned trial is not in the run, though later ones are: 12 cases, such as 6 of" in line
    )


def test_the_plan_is_printed_as_it_was_typed(bases: Bases) -> None:
    (plan,) = verified(bases.judged).plans
    assert plan.startswith("roles --model planted:she=0.8,refuses=.1 --language en --samples 3")
    assert plan.endswith("--limit 9 --seed 0: 54 trials")


def test_a_run_that_grew_is_right(tmp_path: Path) -> None:
    """By hand: 3 words × 2 orders, of 4 samples; then 5 words × 2 orders, of 2: 24 and 8 more."""
    run = tmp_path / "run"
    for options in (
        {"limit": 3, "samples": 1},
        {"limit": 3, "samples": 4},
        {"limit": 5, "samples": 2},
    ):
        api.run("roles", "planted:she=.7", run, language="en", **options)  # type: ignore[arg-type]
        assert not of_plan(verified(run))
    findings = verified(run)
    assert len(findings.plans) == 3 and findings.checked["outputs"] == 32
    api.run("roles", "planted:she=.2", run, language="zh", limit=2, samples=1, seed=0)
    assert not of_plan(verified(run))
    where = {"order": ("she_first",)}
    api.run("roles", "planted:she=.7", run, language="en", limit=7, samples=1, where=where)
    assert not of_plan(verified(run))


def test_shards_are_right_alone_and_merged(tmp_path: Path) -> None:
    """By hand: 4 words × 2 orders × 2 samples are 16 trials, of which three shards have 6, 5 and 5."""
    parts = [tmp_path / str(number) for number in (1, 2, 3)]
    for number, part in enumerate(parts, 1):
        options = {"language": "en", "limit": 4, "samples": 2, "shard": f"{number}/3"}
        api.run("roles", "planted:she=.7", part, **options)  # type: ignore[arg-type]
        assert not of_plan(verified(part))
    api.merge(parts[:2], tmp_path / "two")
    assert not of_plan(verified(tmp_path / "two"))
    api.merge([parts[2]], tmp_path / "two")
    findings = verified(tmp_path / "two")
    assert not of_plan(findings) and findings.checked["outputs"] == 16
    gone("SELECT id FROM trials", 2)(parts[0], random.Random(1))
    (note,) = of_plan(verified(parts[0]))
    assert "4 of 6 trials of shard 1/3 of its plan are answered" in note


def test_a_run_that_a_pilot_stopped_is_right(tmp_path: Path) -> None:
    """It holds the trials of the pilot alone, which do not come first in the plan."""
    options = {"language": "en", "limit": 30, "samples": 2, "reasoning": "default"}
    script = Scripted(lambda body: chat("", "length", reasoning="He? She?", usage=USAGE))
    with serving(script) as url, pytest.raises(PilotStopped):
        api.run("roles", "openai:m", tmp_path / "run", base_url=url, **options)  # type: ignore[arg-type]
    (note,) = of_plan(verified(tmp_path / "run"))
    assert re.search(r"12 of 124 trials of its plan are answered; without: .*, …$", note)


def test_a_run_that_was_broken_off_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trials are stored some at a time; what breaks off leaves the first of them, and those of the pilot."""
    monkeypatch.setattr("tiltmeter.store.PLANNED_ROWS", 10)

    class BrokenOff(Exception):
        pass

    def breaks(stage: str, number: int | None, tally: Tally) -> None:
        if stage == "run" and tally.done > 30:
            raise BrokenOff

    run, options = tmp_path / "run", {"language": "en", "limit": 20, "samples": 2}
    with pytest.raises(ExceptionGroup):
        api.run("roles", "planted:she=.7", run, watch=breaks, concurrency=1, **options)  # type: ignore[arg-type]
    with Store(run) as store:
        assert 30 < len(list(store.iter_trials())) < 80
    (note,) = of_plan(verified(run))
    assert re.search(r"\d\d of 80 trials of its plan are answered; without: \d of", note)
    api.run("roles", "planted:she=.7", run, **options)  # type: ignore[arg-type]
    assert not of_plan(verified(run))


def test_trials_without_an_answer_are_counted(bases: Bases, tmp_path: Path) -> None:
    """Trials that are in the run and have no answer, as where calls fail; with two in all of one word."""
    run = Path(shutil.copytree(bases.judged, tmp_path / "run"))
    with forging.changing(run) as db:
        of_word = "FROM trials WHERE json_extract(factors, '$.word')=(SELECT json_extract(factors, '$.word') FROM trials)"
        ids = db.execute(f"SELECT id {of_word} LIMIT 2").fetchall()
        for one in ids:
            key = db.execute("SELECT call FROM outputs WHERE trial=?", one).fetchone()
            for table, column in (
                ("label_calls", "output"),
                ("labels", "output"),
                ("outputs", "trial"),
            ):
                db.execute(f"DELETE FROM {table} WHERE {column}=?", one)
            db.execute("DELETE FROM calls WHERE key=?", key)
    (note,) = of_plan(verified(run))
    assert re.search(r"52 of 54 trials of its plan are answered; without: 2 of \S+$", note)


def test_runs_that_do_not_state_their_choices_are_right(bases: Bases, tmp_path: Path) -> None:
    """As runs of earlier versions do not; and a merged run of which one part does not."""
    run = Path(shutil.copytree(bases.judged, tmp_path / "run"))
    with forging.changing(run) as db:
        db.execute("DELETE FROM meta WHERE key='asked'")
    (note,) = of_plan(verified(run))
    assert "does not state its choices" in note and "it asks 9 of" in note
    api.run("roles", "planted:she=.7", tmp_path / "new", language="en", limit=2, samples=1)
    for number, parts in enumerate(([run, tmp_path / "new"], [tmp_path / "new", run])):
        api.merge(parts, tmp_path / f"merged{number}")
        (note,) = of_plan(verified(tmp_path / f"merged{number}"))
        assert "does not state its choices" in note
    api.run("roles", "planted:she=.7", run, language="en", limit=2, samples=1)
    (note,) = of_plan(verified(run))
    assert "does not state its choices" in note


def test_a_protocol_of_ones_own_with_a_table_is_right(tmp_path: Path) -> None:
    mine, run = tmp_path / "mine.toml", tmp_path / "run"
    mine.write_text(PROTOCOL, "utf-8")
    api.run(mine, f"planted:protocol={mine}", run, limit=1, samples=1)
    assert not of_plan(verified(run))
    api.run(mine, f"planted:protocol={mine}", run, samples=2)
    mine.unlink()
    findings = verified(run)
    assert not of_plan(findings) and len(findings.plans) == 2


def test_a_system_prompt_of_a_model_that_draws_is_right(tmp_path: Path) -> None:
    """It has no place of its own, and stands before each prompt."""

    def draws(prompt: str) -> bytes:
        content = io.BytesIO()
        Image.new("RGB", (64, 64), (len(prompt) % 256, 9, 9)).save(content, "PNG")
        return content.getvalue()

    options = {"limit": 1, "samples": 1, "system": "Draw plainly."}
    api.run("soda", draws, tmp_path / "run", **options)  # type: ignore[arg-type]
    assert not of_plan(verified(tmp_path / "run"))


def test_two_names_of_one_group_are_two_prompts(tmp_path: Path) -> None:
    """By hand: 4 jobs × (2 names of women + 1 of men) × 2 samples are 24 trials; one that is gone is missed."""
    mine, run = tmp_path / "mine.toml", tmp_path / "run"
    more = ', { group = "women", name = "Anna" }, { group = "men", name = "Jacob" }'
    mine.write_text(PROTOCOL.replace(', { group = "men", name = "Jacob" }', more, 1), "utf-8")
    api.run(mine, f"planted:protocol={mine}", run)
    findings = verified(run)
    assert not of_plan(findings) and findings.plans[0].endswith(": 24 trials")
    gone("SELECT id FROM trials WHERE prompt LIKE '%Anna%'", 1)(run, random.Random(1))
    findings, _ = api.verify(run)
    (note,) = of_plan(findings)
    assert re.search(r"23 of 24 trials of its plan are answered; without: 1 of \w+$", note)
