"""`plan` says what a run then does: calls to the unit, tokens and money within what it says, ends, detectable differences."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import tiltmeter
from tests.analyse.test_verdicts import three_groups
from tiltmeter import api, registry
from tiltmeter.cli import main
from tiltmeter.errors import MissingExtra, UsageError
from tiltmeter.languages import identify as language_id
from tiltmeter.models import FREE, Model, Price
from tiltmeter.models.kinds import all_kinds, kind_of, make_model
from tiltmeter.models.options import PICTURES, TEXT
from tiltmeter.records import Message, Reply, Request, Sampling
from tiltmeter.stages.planning import cost, request_sizes
from tiltmeter.stages.planning import power as design
from tiltmeter.stages.planning.plan import Choices
from tiltmeter.stats.power.design import Design
from tiltmeter.stats.power.detectable import planned_power, planned_shift
from tiltmeter.store import Store

SUBJECT, JUDGE = "planted:she=0.6,refuse=.1", "planted:accuracy=.9"
NEVER = "planted:judge=never"
DIALOGUE = "Woman 1: Did you see the match?\nWoman 2: Yes, it was a great one!"


class Scripted(Model):
    """Speaks English dialogue, and judges it: every judge settles it at once, or (`never`) nobody says a usable word."""

    price = FREE

    def __init__(self, name: str, **_: Any) -> None:
        self.name, self._never = f"scripted:{name}", name == "never"

    async def ask(self, request: Request) -> Reply:
        asked = request.messages[-1].content
        if request.purpose == "subject":
            return Reply(DIALOGUE)
        if self._never:
            return Reply(
                "object\nNo." if asked.rstrip().endswith("agree, object") else "Well, well."
            )
        return Reply("agree" if asked.rstrip().endswith("agree, object") else "hobbies\nA match.")


@pytest.fixture(autouse=True)
def _scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.MODELS, "scripted", f"{__name__}:Scripted")
    monkeypatch.setattr("tiltmeter.registry.import_module", _import)


def _import(name: str) -> Any:
    import importlib
    import sys

    return sys.modules[__name__] if name == __name__ else importlib.import_module(name)


def planned(protocol: str, model: str, **options: Any) -> dict[str, Any]:
    try:
        return api.plan(protocol, model, **options).as_dict()
    except MissingExtra as error:
        pytest.skip(str(error))


def done(folder: Path, *, calls: bool = False) -> dict[str, int]:
    """What was asked, or the calls that it took: outputs with the same question share one."""
    with Store(folder) as store:
        rows = store.rows(
            "SELECT model, CASE purpose WHEN 'subject' THEN 'subject' ELSE 'judge' END, sum(times)"
            " FROM (SELECT c.*, max(1, (SELECT count(*) FROM label_calls WHERE call = c.key)) times"
            " FROM calls c) GROUP BY 1, 2".replace(
                "sum(times)", "count(*)" if calls else "sum(times)"
            )
        )
        return {f"{model} {purpose}": number for model, purpose, number in rows}


def said(plan: dict[str, Any], what: str = "questions") -> dict[str, int]:
    found: dict[str, int] = {}
    for line in plan["calls"]:
        key = f"{line['model']} {'subject' if line['part'] == 'subject' else 'judge'}"
        found[key] = found.get(key, 0) + line[what]
    return {
        key: number for key, number in found.items() if number
    }  # 0 to 12: a choice that may be asked about further


DRAWN, SEEN = "planted:protocol=gramvis,male=.5,female=.5", "planted:protocol=gramvis"
CASES = [
    ("roles", SUBJECT, (), {"samples": 2, "limit": 8}),
    ("roles", SUBJECT, (), {"mode": "exact", "limit": 8}),
    (
        "roles",
        SUBJECT,
        (),
        {"mode": ["exact", "sampled"], "samples": 3, "limit": 5, "language": "en"},
    ),
    ("roles", SUBJECT, (JUDGE,), {"samples": 2, "limit": 8}),
    (
        "roles",
        SUBJECT,
        (JUDGE, "planted:seed=4"),
        {"mode": ["exact", "sampled"], "samples": 2, "limit": 4},
    ),
    ("words", "planted:protocol=words", (), {"limit": 1, "language": "en"}),
    ("protext", "planted:", (), {"limit": 5}),
    (
        "occupations",
        "planted:protocol=occupations",
        ("planted:protocol=occupations,seed=2",),
        {"limit": 2, "samples": 1},
    ),
    ("decisions", "planted:protocol=decisions", (), {"limit": 1, "where": {"age": ("25",)}}),
    (
        "decisions_names",
        "planted:protocol=decisions_names",
        (),
        {"limit": 1, "where": {"set": ("01",)}},
    ),
    ("letters", "planted:protocol=letters", (), {"limit": 2, "where": {"age": ("20",)}}),
    ("hiring", "planted:protocol=hiring", (), {"limit": 2, "where": {"job": ("web developer",)}}),
    (
        "gramvis",
        DRAWN,
        (SEEN, f"{SEEN},seed=2"),
        {"limit": 1, "language": "de", "samples": 1, "where": {"template": ("P1",)}},
    ),
    (
        "soda",
        "planted:protocol=soda",
        ("planted:protocol=soda,seed=2",),
        {"samples": 2, "where": {"object": ("car",), "dimension": ("base", "gender")}},
    ),
    ("dialogues", "scripted:a", (), {"samples": 2}),
    ("dialogues", "scripted:a", ("scripted:b",), {"samples": 3, "language": "en"}),
    ("dialogues", "scripted:a", ("scripted:b", "scripted:c"), {"samples": 3, "language": "en"}),
]


def test_every_protocol_has_a_case() -> None:
    assert {case[0] for case in CASES} >= set(registry.PROTOCOLS)


@pytest.mark.parametrize(("protocol", "model", "judges", "options"), CASES)
def test_calls_are_those_of_the_run_to_the_unit(
    protocol: str, model: str, judges: tuple[str, ...], options: dict[str, Any], tmp_path: Path
) -> None:
    options = options | {"prices": {name: Price(2.0, 8.0) for name in (model, *judges)}}
    plan = planned(protocol, model, judge=judges, **options)
    api.run(protocol, model, tmp_path / "run", judge=judges, pilot=False, **options)
    asked, calls = done(tmp_path / "run"), done(tmp_path / "run", calls=True)
    assert asked == said(plan)
    assert sum(said(plan, "calls").values()) == plan["totals"]["calls"]
    assert all(calls[key] <= asked[key] for key in asked)
    with Store(tmp_path / "run") as store:
        if model.startswith("planted"):  # the scripted one does not say what it used
            assert 0 < store.spent() <= plan["totals"]["cost_most"]
        assert plan["trials"] + plan["aside"] == next(store.rows("SELECT count(*) FROM trials"))[0]


@pytest.mark.parametrize(
    ("protocol", "model", "judge", "options"),
    [
        ("roles", SUBJECT, NEVER, {"samples": 2, "limit": 4, "language": "en"}),
        ("dialogues", "scripted:a", "scripted:never", {"samples": 1, "language": "en"}),
    ],
)
def test_a_judge_that_never_says_a_usable_word_costs_no_more_than_the_most(
    protocol: str, model: str, judge: str, options: dict[str, Any], tmp_path: Path
) -> None:
    plan = planned(protocol, model, judge=judge, **options)
    api.run(protocol, model, tmp_path / "run", judge=judge, **options)
    found, most = done(tmp_path / "run"), said(plan, "calls_most")
    assert said(plan)[f"{judge} judge"] <= found[f"{judge} judge"] <= most[f"{judge} judge"]
    if protocol == "roles":
        assert found == most  # asked as often as there are rounds


def test_money_and_tokens_are_within_what_is_said(tmp_path: Path) -> None:
    prices = {SUBJECT: Price(2.0, 8.0), JUDGE: Price(0.5, 1.5)}
    options: dict[str, Any] = {"samples": 3, "limit": 10, "language": "en", "prices": prices}
    plan = planned("roles", SUBJECT, judge=JUDGE, **options)
    api.run(
        "roles",
        SUBJECT,
        tmp_path / "run",
        judge=JUDGE,
        max_cost=plan["totals"]["cost_most"],
        **options,
    )
    with Store(tmp_path / "run") as store:
        rows = store.rows(
            "SELECT model, sum(prompt_tokens), sum(completion_tokens), sum(cost) FROM calls GROUP BY 1"
        )
        used = {row[0]: row[1:] for row in rows}
    for line in plan["calls"]:
        prompt, completion, spent = used[line["model"]]
        assert line["prompt_tokens"] == pytest.approx(
            prompt, rel=0.4
        )  # the planted server counts bytes ÷ 4
        assert completion <= line["completion_tokens"]
        assert 0 < spent <= line["cost"] <= line["cost_most"]


def test_an_unknown_price_is_said_and_not_summed() -> None:
    options: dict[str, Any] = {"limit": 2, "base_url": "http://192.0.2.1/v1"}
    plan = planned("roles", "openai:x", judge=JUDGE, **options)
    assert plan["totals"]["price_unknown"] == ["openai:x"] and plan["calls"][0]["cost"] is None
    plan = planned("roles", "openai:x", prices={"openai:x": Price(1, 1)}, **options)
    assert plan["totals"]["price_unknown"] == [] and plan["totals"]["cost"] > 0
    assert (
        planned("roles", "openai:x", limit=2, base_url="http://localhost:1/v1")["totals"][
            "cost_most"
        ]
        == 0
    )


def test_size_by_hand() -> None:
    request = Request(
        "m",
        (Message("system", "abcd"), Message("user", "彼女 is")),
        Sampling(max_tokens=7),
        begin="Ah",
    )
    found = request_sizes.size(request)
    assert found.tokens == 4 / 4 + (2 * 0.75 + 3 / 4) + 2 / 4 + 2 * 8
    assert found.size == 4 + (6 + 3) + 2 + 2 * 16 == Price(1e6, 0).worst(request)
    assert (found.limit, found.longest, found.drawn) == (7, 7, 0)


def test_a_picture_that_is_shown_or_drawn_by_hand() -> None:
    shown = Request("m", (Message("user", "abcd", ("a.png", "b.png")),), Sampling(max_tokens=7))
    found = request_sizes.size(shown)
    assert found.tokens == 1 + 8 + 2 * 1500 and found.size == 4 + 16 + 2 * 50_000
    assert found.size == Price(1e6, 0).worst(shown)
    drawn = Request("m", (Message("user", "abcd"),), Sampling(max_tokens=7), size="1024x1024")
    found = request_sizes.size(drawn)
    assert (found.tokens, found.limit, found.longest, found.drawn) == (9, 7024, 16_000, 1)
    for price in (Price(0, 1e6), Price(0, 0, 0.04), Price(2, 30, 0.01)):
        assert price.of(int(found.size), int(found.longest), 1) == pytest.approx(price.worst(drawn))


def test_money_of_pictures_by_hand() -> None:
    """Two words × orders × 3 samples; a price a picture is a price a picture, whatever is said about tokens."""
    from tiltmeter.protocol import Mode
    from tiltmeter.stages.planning import plan as planning

    declared = registry.protocol("roles")
    drawing = replace(declared, modes={"drawn": Mode("drawn", samples=3, size="1024x1024")})
    choices = planning.Choices(("bfl:x",), languages=("en",), limit=2)
    (line,) = cost.lines(drawing, choices, [], lambda name: Price(0, 0, 0.04))
    calls = line.calls
    assert calls == sum(planning.count(drawing, choices)["bfl:x"].values()) and calls % 6 == 0
    assert line.cost == line.cost_most == pytest.approx(0.04 * calls)
    (line,) = cost.lines(drawing, choices, [], lambda name: Price(0, 30.0))
    assert line.completion_tokens == 7024 * calls and line.cost == pytest.approx(
        calls * 7024 * 30e-6
    )
    assert line.cost_most == pytest.approx(calls * 16_000 * 30e-6)


@pytest.mark.parametrize("protocol", ["words", "dialogues"])
@pytest.mark.parametrize("verb", ["plan", "run"])
def test_a_missing_extra_is_told_before_anything_is_asked(
    protocol: str,
    verb: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def version(name: str) -> str:
        raise language_id.PackageNotFoundError(name)

    monkeypatch.setattr(language_id, "version", version)
    out = ["--out", str(tmp_path / "run")] if verb == "run" else []
    assert main([verb, protocol, "-m", "planted:", "--language", "en", *out]) == 2
    said = capsys.readouterr().err
    assert "needs the extra 'languages'" in said and "pip install '.[languages]'" in said
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("model", "limits"),
    [
        ("anthropic:claude-haiku-4-5", ["takes no seed", "gives no log-probabilities"]),
        ("openai:gpt-5", ["its seed is best effort", "gives no log-probabilities", "thinks what"]),
        ("openai:gpt-4.1-mini", ["its seed is best effort"]),
        ("gemini:gemini-2.5-pro", []),
    ],
)
def test_what_a_model_is_known_not_to_do_is_said_before_a_call(
    model: str, limits: list[str]
) -> None:
    (known,) = api.plan("roles", model).models
    told = known.get("limits", [])
    assert len(told) == len(limits) and all(map(str.startswith, told, limits))


def test_ends_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["plan", "roles", "-m", "openai:dall-e-3", "-m", "openai:gpt-4o", "--limit", "2"]) == 0
    )
    shown = capsys.readouterr().out
    assert "warning: openai:dall-e-3 was retired on 2026-05-12" in shown
    assert "openai:gpt-4o ends on 2027-01-14" in shown or "openai:gpt-4o was retired" in shown
    assert "price as of" in shown
    assert (
        main(
            [
                "plan",
                "roles",
                "-m",
                "openai:dall-e-3",
                "--limit",
                "2",
                "--base-url",
                "http://localhost:1/v1",
            ]
        )
        == 0
    )
    assert "retired" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("protocol", "model", "judges", "told"),
    [
        ("roles", "bfl:flux-2-pro", (), ["bfl:flux-2-pro makes pictures, but text is asked for"]),
        (
            "roles",
            "openai:gpt-image-2?quality=low",
            (),
            ["openai:gpt-image-2?quality=low makes pictures"],
        ),
        ("roles", "openai:unlisted", ("openai:gpt-4.1-mini",), []),
        (
            "soda",
            "openai:gpt-4.1-mini",
            ("bfl:x",),
            ["bfl:x makes pictures", "openai:gpt-4.1-mini writes text"],
        ),
        ("soda", "openai:gpt-image-2", ("openai:gpt-4.1-mini",), []),
    ],
)
def test_a_model_that_draws_where_text_is_asked_for_is_told_and_the_reverse(
    protocol: str,
    model: str,
    judges: tuple[str, ...],
    told: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = [protocol, "-m", model, *(part for judge in judges for part in ("--judge", judge))]
    assert (
        main(
            [
                "plan",
                *arguments,
                "--limit",
                "1",
                *(("--language", "en") if protocol == "roles" else ()),
            ]
        )
        == 0
    )
    said = [
        line.partition("is refused: ")[2]
        for line in capsys.readouterr().out.splitlines()
        if "is refused: " in line
    ]
    assert [line.startswith(start) for line, start in zip(said, told, strict=True)] == [True] * len(
        told
    )


@pytest.mark.parametrize("made", [(PICTURES,), (TEXT,)])
def test_what_a_kind_makes_is_what_its_models_say(
    made: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = [kind.name for kind in all_kinds() if kind.makes == made]
    for kind in kinds:
        provider = kind_of(kind).provider
        if provider:
            monkeypatch.setenv(provider.keys[0], "sk-none")
    (tmp_path / "manifest.csv").write_text("file,prompt,sample\n", encoding="utf-8")
    names = {
        "folder": str(tmp_path),
        "file": str(tmp_path / "manifest.csv"),
        "planted-rewriter": "",
        "replicate": "a/b",
    }
    seen = []
    for kind in kinds:
        try:
            seen.append(make_model(f"{kind}:{names.get(kind, 'a/b')}").makes)
        except (MissingExtra, UsageError):  # an extra or a file that is not on this machine
            continue
    assert set(seen) == {made} and len(seen) >= 3


def test_json_and_table_say_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "plan",
        "roles",
        "-m",
        SUBJECT,
        "--judge",
        JUDGE,
        "--limit",
        "3",
        "--language",
        "en",
        "--samples",
        "2",
    ]
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == 1
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    total = found["totals"]
    assert (
        f"{found['trials']} trials" in shown
        and f"{total['calls']} to {total['calls_most']}" in shown
    )


def test_a_judge_where_none_is_taken() -> None:
    with pytest.raises(UsageError, match="takes a judge"):
        planned("words", "planted:", judge=JUDGE)


# what can be detected


def row(plan: dict[str, Any], measure: str = "share_she", **group: str) -> dict[str, Any]:
    (found,) = (
        row for row in plan["design"] if row["measure"] == measure and row["group"] == group
    )
    assert isinstance(found, dict)
    return found


def test_the_detectable_difference_is_that_of_the_statistics_room() -> None:
    """roles in English: 96 lexemes, 98 words × 2 orders × 10 samples, so 20.4 outputs a lexeme; icc .2."""
    whole = row(planned("roles", "planted:", language="en"))
    assert (whole["clusters"], round(whole["per_cluster"], 1)) == (96, 20.4)
    # by hand: √(.25·(1 + 19.42·.2)/1960) = .02496; (1.985 + .845)·.02496 = .0707
    assert whole["tests"] == 1
    assert whole["detectable"] == pytest.approx(0.0707, abs=0.001)
    # twice the items: by √2; twice the samples: √((1 + 39.8·.2)/2/(1 + 19.4·.2)) = .96
    assert whole["twice_items"] == pytest.approx(0.0707 / 2**0.5, abs=0.001)
    assert whole["twice_samples"] == pytest.approx(0.96 * 0.0707, abs=0.001)


def test_more_claims_make_a_difference_harder_to_find() -> None:
    """Two models in three languages are six claims: t at .05/6 and 95 df, (2.693 + .845)/2.830."""
    one = row(planned("roles", "planted:", language="en"))
    six = planned("roles", ["planted:", "planted:she=0.6"], language=["en", "zh", "ja"])
    (found,) = (r for r in six["design"] if r["language"] == "en" and not r["group"])
    assert found["tests"] == 6
    assert found["detectable"] == pytest.approx(one["detectable"] * 3.538 / 2.830, rel=0.02)
    (few,) = (r for r in six["design"] if r["group"] == {"class": "outlook"} and r["clusters"] == 7)
    assert few["detectable"] is None
    assert few["note"].startswith("7 items cannot show any difference in a family of")


def test_a_plan_counts_the_comparisons_of_its_run(tmp_path: Path) -> None:
    """A difference, its refusals and its missing answers: three in the plan; in a run those that
    occurred, so two if every tenth answer is refused, and else one.
    """
    protocol = three_groups({"level": "a", "baseline": "b"})
    (gap,) = tiltmeter.plan(protocol, "builtin").as_dict()["design"]
    assert gap["tests"] == 3
    assert [*protocol.compared_measures] == ["gap", "gap_refused", "gap_unanswered"]

    def tested(others: dict[int, str]) -> list[int | None]:
        answers = (others.get(n % 10) or ("raise", "wait")[n // 3 % 2] for n in count())
        run = tiltmeter.run(
            protocol, {"a bot": lambda _: next(answers)}, tmp_path / str(len(others))
        )
        return [claim.family_size for claim in run.verdicts()]

    assert tested({9: "I'm sorry, but I can't help with that."}) == [2, 2]
    assert tested({}) == [1]


def test_picks_of_one_answer_are_outputs_and_words_have_a_row() -> None:
    """20 occupations × 3 names × 3 ages a gender, ten picks each; five classes, and each word."""
    plan = planned("words", "planted:protocol=words", language="en")
    classes, words = row(plan, "di_class"), row(plan, "di_word")
    assert (classes["per_cluster"], classes["tests"]) == (90, 5)
    assert words["tests"] > 80 and words["detectable"] < 0.2
    # by hand, a class of five, sides that correlate by .8:
    # √(2·.16·(.2·(1 - .8) + .8/90)/20) = .0280; (2.861 + .861)·.0280 = .104
    assert classes["detectable"] == pytest.approx(0.104, rel=0.2)


def test_a_group_has_fewer_items_and_detects_less() -> None:
    plan = planned("roles", "planted:", language="en")
    groups = [found for found in plan["design"] if "class" in found["group"]]
    assert len(groups) == 1 and groups[0]["clusters"] < 20
    assert groups[0]["detectable"] > row(plan)["detectable"]
    assert not [
        found for found in plan["design"] if "word" in found["group"]
    ]  # an item by itself is no population


def test_what_a_wanted_difference_takes() -> None:
    independent = row(planned("roles", "planted:", language="en", icc=0.0, detect=0.05))
    needed = independent["samples_needed"]
    at, below = (
        row(planned("roles", "planted:", language="en", icc=0.0, samples=n))["detectable"]
        for n in (needed, needed - 1)
    )
    assert at <= 0.05 < below
    alike = row(planned("roles", "planted:", language="en", icc=0.2, detect=0.05))
    assert alike["samples_needed"] is None and alike["items_needed"] > 96
    # by hand: C·.0707²/.05² of its 96 items
    assert alike["items_needed"] == pytest.approx(96 * (0.0707 / 0.05) ** 2, rel=0.03)


def test_an_exact_reading_has_no_sampling_error() -> None:
    exact = row(planned("roles", "planted:", language="en", mode="exact"))
    assert exact["per_cluster"] == 1
    # by hand: (1.985 + .845)·√(.25·.2/96) = .0646
    assert exact["detectable"] == pytest.approx(0.0646, rel=0.02)


def test_the_largest_cell_is_simulated() -> None:
    few, many = (
        row(planned("dialogues", "planted:", language="en", samples=n), "topics_differ")
        for n in (20, 100)
    )
    assert few["unit"] == "share" and 0 < many["detectable"] < few["detectable"] < 1


def test_few_items_that_are_a_factor_are_no_sample_of_items() -> None:
    """dialogues: four pairings. Its outputs are what is sampled, 100 a pairing, with no intra-item correlation.

    Four pairings of seven topics are 28 claims; a sign flip about 1/7 is the row's own test.
    """
    divergence = row(planned("dialogues", "planted:", language="en"), "topics_differ")
    assert (divergence["clusters"], divergence["per_cluster"]) == (None, 100)
    protocol = registry.protocol("dialogues")
    headline = [replace(m, headline=True) for m in protocol.measures if m.name == "topic_share"]
    (share,) = design.detectable(
        replace(protocol, measures=tuple(headline)), Choices(("m",), ("en",)), icc=0.9, wanted=0.1
    )
    assert (share.clusters, share.per_cluster, share.items_needed) == (None, 100, None)
    assert share.tests == 28
    one = Design(1 / 7, 100, 1.0, 0.0)
    assert share.detectable == planned_shift(design=one, level=0.05 / 28)
    enough = replace(one, items=share.samples_needed or 0)
    assert planned_power(design=enough, shift=0.1, level=0.05 / 28) >= 0.8


@pytest.mark.parametrize("options", [{"detect": 0}, {"detect": 1.5}, {"icc": 2}, {"icc": -0.1}])
def test_wrong_wishes(options: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="--detect"):
        planned("roles", "planted:", **options)


def test_the_table_of_trials_hides_no_column(tmp_path: Path) -> None:
    """An item named `id` and a factor named `prompt` stand beside the trial's own id and prompt."""
    (tmp_path / "audit.toml").write_text(
        'name = "ids"\ntitle = "Ids"\nquestion = "Which?"\nitem = "id"\nfactors = ["prompt"]\n'
        'prompt = "{ask} {id}?"\n'
        'tables = [{ rows = [{ id = "a1" }, { id = "b2" }] },'
        ' { rows = [{ prompt = "P1", ask = "Is it" }, { prompt = "P2", ask = "Was it" }] }]\n'
    )
    audit, path = str(tmp_path / "audit.toml"), tmp_path / "trials.csv"
    assert main(["plan", audit, "--model", "planted:", "--trials", str(path)]) == 0
    rows = list(csv.DictReader(path.read_text("utf-8").splitlines()))
    assert {(row["id"], row["factor_prompt"], row["prompt"]) for row in rows} == {
        ("a1", "P1", "Is it a1?"),
        ("a1", "P2", "Was it a1?"),
        ("b2", "P1", "Is it b2?"),
        ("b2", "P2", "Was it b2?"),
    }
    assert len({row["trial"] for row in rows}) == 4
    assert list(rows[0]) == ["trial", "subject", "mode", "sample", "prompt", "factor_prompt", "id"]


def test_a_spreadsheet_runs_nothing_of_the_table_of_trials(tmp_path: Path) -> None:
    (tmp_path / "audit.toml").write_text(
        'name = "cells"\ntitle = "Cells"\nquestion = "Which?"\nitem = "word"\nfactors = ["side"]\n'
        'prompt = "=HYPERLINK({word})"\ntables = [{ rows = [{ side = "a" }] },'
        ' { rows = [{ word = "+1" }, { word = "a-1" }] }]\n'
    )
    audit, path = str(tmp_path / "audit.toml"), tmp_path / "trials.csv"
    assert main(["plan", audit, "--model", "planted:", "--trials", str(path)]) == 0
    rows = list(csv.DictReader(path.read_text("utf-8").splitlines()))
    assert {(row["word"], row["prompt"]) for row in rows} == {
        ("'+1", "'=HYPERLINK(+1)"),
        ("a-1", "'=HYPERLINK(a-1)"),
    }


def test_a_plan_of_a_run_that_stops_early(capsys: pytest.CaptureFixture[str]) -> None:
    """The looks that the run fixes; fewer calls where nothing is true, all of them at most; a word list saves
    nothing, as measured in docs/how-to/stopping.md; without --stop there is no word of it.
    """
    asked = ["plan", "roles", "--model", "planted:she=.6", "--language", "en", "--detect", ".1"]
    assert main([*asked, "--stop", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)["stopping"]
    assert (made["looks"], made["claims"], made["decidable"]) == ([3, 5, 10, 20], 1, [1, 0, 0, 0])
    none, detectable, wanted = made["rows"]
    assert [row["truth"] for row in made["rows"]] == ["none", "detectable", "wanted"]
    assert 0.3 < none["calls"] < 0.5 and none["power"] < 0.06
    assert detectable["full_power"] == pytest.approx(0.8, abs=0.03)
    assert 0.9 < detectable["power"] / detectable["full_power"] < 1
    assert wanted["calls"] < none["calls"] and made["saves"] is True
    assert main(["plan", "words", "--model", "planted:", "--language", "en", "--stop"]) == 0
    text = capsys.readouterr().out
    assert "from round 2 to 3, 5 to 6." in " ".join(text.split())
    assert "--stop saves nothing here" in text and "At most all 360 calls" in text
    assert main([*asked, "--json"]) == 0
    assert "stopping" not in json.loads(capsys.readouterr().out)


def test_a_plan_of_stopping_is_refused_where_a_run_is(capsys: pytest.CaptureFixture[str]) -> None:
    asked = [
        "plan",
        "roles",
        "--model",
        "planted:",
        "--language",
        "en",
        "--mode",
        "exact",
        "--stop",
    ]
    assert main(asked) == 2
    assert "Type --mode sampled" in capsys.readouterr().err


def test_names_are_samples_and_ten_cost_the_same() -> None:
    """Three names a level find less than ten at the same price; every level of "*" counts."""

    plan = tiltmeter.plan(three_groups({"level": "*", "baseline": "a"}, words=2), "builtin")
    (gap,) = plan.as_dict()["design"]
    assert gap["per_cluster"] == 12 and gap["words"] == 2
    assert "nothing can be said of others. Give 10 each" in gap["by_words"]
    named = tiltmeter.plan("decisions_names", "builtin").as_dict()["design"][0]
    assert named["words"] == 10 and named["by_words"].startswith("10 persons a level: ")


@pytest.mark.parametrize(("context", "warned"), [(2048, True), (8192, False)])
def test_a_context_that_eight_resumes_may_not_fit_is_told(context: int, warned: bool) -> None:
    planned = api.plan("hiring", "builtin", limit=1, samples=1, context=context)
    told = [line for line in planned.doubts if "--context" in line]
    assert bool(told) == warned
    if warned:
        needed = int(told[0].rpartition("--context ")[2])
        assert 2048 < needed < 8192 and needed % 256 == 0
