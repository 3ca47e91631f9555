"""A judge that labels what rules left unread, blind to what was asked, with its agreement on what they read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.scripted import Body, Scripted, chat
from tests.serving import serving
from tiltmeter import api, registry
from tiltmeter.errors import UsageError
from tiltmeter.instruments.judges.unread import NOT_SHOWN
from tiltmeter.stages.engine.limits import Tally

ODD = "The witty one wears a dress."  # whole, and no form that rules know


def script(judged: list[str]) -> Any:
    """A subject whose every fourth reply is odd; a judge that takes those for she, and reads the others."""
    count = iter(range(10_000))

    def reply(body: Body) -> tuple[int, Any]:
        prompt = body["messages"][-1]["content"]
        if body["model"] != "judge":
            return chat(ODD if next(count) % 4 == 0 else "He.")
        judged.append(prompt)
        return chat("she" if ODD in prompt else "he")

    return reply


def test_a_judge_labels_what_is_unread_and_is_blind(tmp_path: Path) -> None:
    judged: list[str] = []
    warnings: set[str] = set()

    def watch(stage: str, number: int | None, tally: Tally) -> None:
        warnings.update(tally.warnings)

    with serving(Scripted(script(judged))) as url:
        run = api.run(
            "roles",
            "openai:m",
            tmp_path / "run",
            judge="openai:judge",
            judge_for="unread",
            base_url=url,
            language="en",
            mode="sampled",
            limit=20,
            samples=2,
            concurrency=1,
            pilot=False,
            watch=watch,
        )
    own = run.labels.filter(run.labels["attribute"] == "pronoun")
    assert Counter(own["value"]) == {"he": 60, "she": 20} and own["annotator"].n_unique() == 1
    checked = run.labels.filter(run.labels["attribute"] == "pronoun_check")
    assert Counter(checked["value"]) == {"he": 50}
    assert all(NOT_SHOWN in prompt and "Fill in the blank" not in prompt for prompt in judged)
    assert {estimate.instrument for estimate in run.analyse()} == set(own["annotator"])
    said = "of 50 answers that they read it says the same of 50"
    assert any(said in warning for warning in warnings)


def judged_run(
    protocol: str, folder: Path, subject: Any, judge: Any, **options: Any
) -> tuple[api.Run, list[str], set[str]]:
    """A run whose judge labels what is unread; with what it was asked, and the run's warnings."""
    asked: list[str] = []
    warnings: set[str] = set()

    def reply(body: Body) -> tuple[int, Any]:
        prompt = body["messages"][-1]["content"]
        if body["model"] != "judge":
            return chat(subject(prompt))
        asked.append(prompt)
        return chat(judge(prompt))

    with serving(Scripted(reply)) as url:
        run = api.run(
            protocol,
            "openai:m",
            folder,
            judge="openai:judge",
            judge_for="unread",
            base_url=url,
            concurrency=1,
            pilot=False,
            watch=lambda stage, number, tally: warnings.update(tally.warnings),
            samples=1,
            **options,
        )
    return run, asked, warnings


PICKS = ("caring", "ambitious", "witty")
MUSED = (
    "What strikes me first is how ambitious and how caring this is.\n"
    "Then again, a certain calm, as of a river or of a road."
)
LISTED = "1. witty\n2. caring"


def test_a_judge_copies_the_words_of_an_answer_and_rules_read_the_copy(tmp_path: Path) -> None:
    count = iter(range(10_000))
    run, asked, warnings = judged_run(
        "words",
        tmp_path / "run",
        lambda prompt: MUSED if next(count) % 2 else LISTED,
        lambda prompt: "ambitious\n- caring" if "strikes" in prompt else "witty\ncaring",
        limit=4,
        language="en",
    )
    own = run.labels.filter(run.labels["attribute"] == "word")
    half = len(run.outputs) // 2
    assert Counter(own["value"]) == {"ambitious": half, "caring": 2 * half, "witty": half}
    assert own["annotator"].n_unique() == 1
    lengths = run.labels.filter(run.labels["attribute"] == "length")
    assert Counter(lengths["value"]) == {"short": 2 * half}
    assert all("Pick 10 words" not in prompt for prompt in asked)
    assert any(f"of {half} answers that they read" in warning for warning in warnings)


def test_a_copy_with_a_word_of_the_judges_own_is_asked_for_again_and_never_used(
    tmp_path: Path,
) -> None:
    run, asked, _ = judged_run(
        "words",
        tmp_path / "run",
        lambda prompt: MUSED,
        lambda prompt: "brilliant",
        limit=1,
        language="en",
    )
    assert set(run.labels["value"]) == {"invalid"}
    assert any("These lines do not stand in the answer: brilliant" in prompt for prompt in asked)


def test_a_judge_of_rankings_sees_no_name(tmp_path: Path) -> None:
    def muse(prompt: str) -> str:
        shown = sorted((name for name in everybody if name in prompt), key=prompt.index)
        names.append(shown)
        return f"I would sleep on it, yet {shown[2]} stays with me, with {shown[4]} far behind."

    names: list[list[str]] = []
    cells = registry.protocol("hiring").cells
    everybody = {cell[f"name{place}"] for cell in cells for place in range(1, 9)}
    run, asked, _ = judged_run(
        "hiring", tmp_path / "run", muse, lambda prompt: "PERSON-1\nPERSON-2", limit=2
    )
    assert names and all(len(shown) == 8 for shown in names)
    assert all(name not in prompt for shown in names for name in shown for prompt in asked)
    assert all("PERSON-1 stays with me, with PERSON-2" in prompt for prompt in asked)
    shown = run.labels.filter(run.labels["attribute"] == "first_shown")
    assert set(shown["value"]) == {"3"}
    complete = run.labels.filter(run.labels["attribute"] == "completeness")
    assert set(complete["value"]) == {"left_out"}


def test_a_judge_says_the_form_of_what_is_no_dialogue_to_rules(tmp_path: Path) -> None:
    retold = "She asks whether he slept; he says that he did not."
    run, asked, _ = judged_run(
        "dialogues",
        tmp_path / "run",
        lambda prompt: retold,
        lambda prompt: "two_lines" if "How many speeches" in prompt else "greetings",
        limit=2,
        language="en",
    )
    own = run.labels.filter(run.labels["attribute"] == "form")
    assert set(own["value"]) == {"two_lines"}
    blind = [prompt for prompt in asked if "How many speeches" in prompt]
    assert blind and all("two_lines: one of each person" in prompt for prompt in blind)


@pytest.mark.parametrize(
    ("said", "pronouns"), [("masculine", "masculine"), ("refusal", "refusal"), ("hm", "invalid")]
)
def test_a_judge_names_the_pronouns_of_what_is_no_rewrite_to_rules(
    said: str, pronouns: str, tmp_path: Path
) -> None:
    run, asked, _ = judged_run(
        "protext",
        tmp_path / "run",
        lambda prompt: "A short note on someone.",
        lambda prompt: said,
        limit=3,
    )
    own = run.labels.filter(run.labels["attribute"] == "pronouns")
    assert set(own["value"]) == {pronouns}
    verdicts = run.labels.filter(run.labels["attribute"] == "verdict")
    expected = {"allowed", "gendering", "misgendering"} if said == "masculine" else {pronouns}
    assert set(verdicts["value"]) <= expected
    assert all("The main person is: " in prompt for prompt in asked if "<task" in prompt)
    assert all("Rewrite the following" not in prompt for prompt in asked)


def test_rules_and_judge_are_held_against_gold_as_one(tmp_path: Path) -> None:
    run, _, _ = judged_run(
        "roles",
        tmp_path / "run",
        lambda prompt: ODD if len(prompt) % 2 else "He.",
        lambda prompt: "she" if ODD in prompt else "he",
        limit=30,
        language="en",
        mode="sampled",
    )
    own = run.labels.filter(run.labels["attribute"] == "pronoun")
    (annotator,) = own["annotator"].unique()
    api.draw_gold_sample(tmp_path / "run", 40, tmp_path / "sheet.csv")
    truth = dict(own.select("output", "value").iter_rows())
    filled = pl.read_csv(tmp_path / "sheet.csv", infer_schema=False).with_columns(
        pl.col("output").replace_strict(truth).alias("value"), pl.lit("ada").alias("annotator")
    )
    filled.write_csv(tmp_path / "gold.csv")
    api.import_gold(tmp_path / "run", tmp_path / "gold.csv")
    cards = {card.annotator: card for card in api.validate(tmp_path / "run").cards}
    card = cards[annotator]
    assert card.groups[0].accuracy.value == 1.0 and "+openai:judge@" in annotator


def test_what_no_judge_could_label_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="gramvis has no rules"):
        api.run("gramvis", "openai:m", tmp_path, judge="openai:judge", judge_for="unread")
    with pytest.raises(UsageError, match="--judge-for unread needs a judge"):
        api.run("roles", "openai:m", tmp_path, judge_for="unread")


def test_a_planted_judge_copies_what_is_listed(tmp_path: Path) -> None:
    """Its labels of answers that rules read agree with theirs; an answer that lists nothing stays without picks."""
    (tmp_path / "m.py").write_text(
        "import zlib\n"
        "def answer(prompt):\n"
        "    if zlib.crc32(prompt.encode()) % 3:\n"
        "        return 'wise, kind, bold, witty, loyal, warm, patient, caring, elegant, creative'\n"
        "    return 'A long walk by the river is what everybody needs today'\n",
        "utf-8",
    )
    run = api.run(
        "words",
        f"python:{tmp_path / 'm.py'}:answer",
        tmp_path / "run",
        judge="planted:protocol=words",
        judge_for="unread",
        language="en",
        mode="sampled",
        limit=6,
        samples=1,
        pilot=False,
    )
    labels = run.labels
    assert {*labels.filter(labels["attribute"] == "length")["value"]} == {"ten", "invalid"}
    assert {*labels.filter(labels["attribute"] == "length_check")["value"]} == {"ten"}


def test_a_planted_judge_reads_the_dialogues_of_its_run(tmp_path: Path) -> None:
    """It was asked as one of `roles`, whose labels no dialogue has."""
    model = "planted:invalid=.3,one=.2,refuse=.1"
    run = api.run("dialogues", model, tmp_path / "run", language="en", samples=5, pilot=False)
    labelled = api.label(run.folder, judge="planted", judge_for="unread").labels
    said = labelled.filter(labelled["attribute"] == "form_check")
    judged = dict(zip(said["output"], said["value"], strict=True))
    rules = labelled.filter(labelled["attribute"] == "form")
    read = dict(zip(rules["output"], rules["value"], strict=True))
    assert judged and {*judged.values()} <= {"one_line", "two_lines", "refusal", "invalid"}
    assert all(read[output] == value for output, value in judged.items())
