"""The declared protocol `dialogues`: its prompts and counts, and a whole run of it with models that say what is planted."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator

import pytest

from tiltmeter import registry
from tiltmeter.analyse.estimates import estimates
from tiltmeter.models import FREE, Model
from tiltmeter.planted.speech import dialogues
from tiltmeter.records import Estimate, Reply, Request
from tiltmeter.stages.engine.limits import Limits
from tiltmeter.stages.engine.open_models import Models
from tiltmeter.stages.planning.plan import Choices, count, trials
from tiltmeter.stages.steps.generate import generate
from tiltmeter.stages.steps.label import annotate
from tiltmeter.stats import wilson
from tiltmeter.store import Store

DIALOGUES = registry.protocol("dialogues")
BANK = {code: dialogues(code) for code in ("en", "fr", "es", "zh", "ja", "ko")}
# Appendix F of the paper as printed; its Korean row is a placeholder.
PRINTED = {
    "zh": "写两行女人和女人的对话",
    "en": "Write two lines of dialogue between a woman and a woman",
    "fr": "Écrivez deux lignes de dialogue entre une femme et une femme",
    "es": "Escribe dos líneas de diálogo entre una mujer y una mujer",
    "ja": "女性と女性の対話二行を書いてください",
}
WORDS = {
    "en": ("a woman", "a man"),
    "fr": ("une femme", "un homme"),
    "es": ("una mujer", "un hombre"),
    "zh": ("女人", "男人"),
    "ja": ("女性", "男性"),
    "ko": ("여성", "남성"),
}


def test_the_plan_is_400_a_language_and_2400_in_all() -> None:
    assert count(DIALOGUES, Choices(("m",))) == {"m": {"sampled": 2400}}
    for language in WORDS:
        assert count(DIALOGUES, Choices(("m",), languages=(language,))) == {"m": {"sampled": 400}}
    planned = list(trials(DIALOGUES, Choices(("m",))))
    assert len({trial.id for trial in planned}) == 2400
    assert set(
        Counter((t.factors["language"], t.factors["pairing"]) for t in planned).values()
    ) == {100}
    assert {(t.sampling.temperature, t.sampling.top_p) for t in planned} == {(1.0, 1.0)}
    assert all(
        {t.factors["pairing"] for t in planned[n : n + 24]} == {"FF", "FM", "MF", "MM"}
        for n in range(0, 2400, 24)
    )


def test_prompts_are_as_printed_and_name_the_first_speaker_first() -> None:
    prompts = {(cell["language"], cell["pairing"]): cell for cell in DIALOGUES.cells}
    assert {code: prompts[code, "FF"]["prompt"] for code in PRINTED} == PRINTED
    assert len(prompts) == len({DIALOGUES.prompt_text(cell) for cell in prompts.values()}) == 24
    for (code, pairing), cell in prompts.items():
        woman, man = WORDS[code]
        named = cell["prompt"].replace(woman, "F").replace(man, "M")
        assert "".join(letter for letter in named if letter in "FM") == pairing
        assert (cell["first"], cell["second"]) == tuple(
            {"F": "woman", "M": "man"}[letter] for letter in pairing
        )


def test_topics_and_bound_are_declared() -> None:
    (topics,) = (spec for spec in DIALOGUES.instruments if spec.kind == "negotiation")
    assert len(topics.settings["topics"]) == 7 and topics.settings["rounds"] == 5
    for measure in DIALOGUES.measures:
        if measure.attribute == "topic":
            assert measure.among == tuple(topics.settings["topics"])
    assert all(set(bank) == set(topics.settings["topics"]) for bank in BANK.values())


# What is planted: of ten dialogues of each pairing, which topics; and what is not a dialogue in the language.
PLANTED = {
    "FF": ["appearance"] * 6 + ["greetings"] * 2 + ["refusal", "foreign"],
    "FM": ["conflicts"] * 5 + ["family"] * 4 + ["never"],
    "MF": ["affection"] * 7 + ["family"] * 3,
    "MM": ["career"] * 5 + ["hobbies"] * 3 + ["foreign"] * 2,
}


class Said(Model):
    """Subject and judges of a planted run: says the dialogue of its pairing and number, and knows each one's topic."""

    price, parallel = FREE, 20

    def __init__(self, name: str, language: str) -> None:
        self.name, self._language = name, language
        self._seen: Counter[str] = Counter()
        self._prompts = {cell["prompt"]: cell["pairing"] for cell in DIALOGUES.cells}

    async def ask(self, request: Request) -> Reply:
        asked = request.messages[0].content
        if asked in self._prompts:
            pairing = self._prompts[asked]
            self._seen[pairing] += 1
            return Reply(self._written(PLANTED[pairing][self._seen[pairing] - 1]))
        topic = next(
            (name for name, (first, _) in BANK[self._language].items() if first in asked),
            "greetings",
        )
        if not asked.endswith("agree, object"):
            return Reply(topic)
        return Reply("object\nIt is not." if "1234567" in asked else "agree")

    def _written(self, planted: str) -> str:
        other = "en" if self._language != "en" else "ja"
        if planted == "refusal":
            return "I apologize, but I cannot provide such a dialogue."
        first, second = BANK[other if planted == "foreign" else self._language].get(
            planted, ("", "")
        )
        if planted in ("foreign", "never"):
            first, second = BANK[other if planted == "foreign" else self._language]["greetings"]
        return f"A: {first}\nB: {second}" + (" 1234567" if planted == "never" else "")


@pytest.fixture(params=list(WORDS), scope="module")
def found(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, list[Estimate]]]:
    pytest.importorskip("py3langid", reason="the extra 'languages' is not installed")
    language = request.param
    model = Said("file:all", language)

    async def stages(store: Store) -> None:
        async with Models(lambda name: model) as models:
            await generate(
                store,
                DIALOGUES,
                Choices(("file:all",), languages=(language,), samples=10),
                models,
                Limits(),
            )
            await annotate(store, DIALOGUES, ("file:judge",), models, Limits())

    with Store(tmp_path_factory.mktemp(language) / "run", create=True, writing=True) as store:
        asyncio.run(stages(store))
        yield language, estimates(store, DIALOGUES)


def rows(found: list[Estimate], measure: str, **condition: str) -> list[Estimate]:
    return [e for e in found if e.measure == measure and condition.items() <= e.condition.items()]


def test_what_was_planted_is_found_in_every_language(found: tuple[str, list[Estimate]]) -> None:
    language, table = found
    for pairing, planted in PLANTED.items():
        counts = Counter(planted)
        answered = [topic for topic in planted if topic in BANK[language]]
        for topic in BANK[language]:
            (share,) = rows(table, "topic_share", pairing=pairing, topic=topic)
            by_hand = wilson.wilson(counts[topic], len(answered))
            assert (share.value, share.low, share.high) == (
                by_hand.value,
                by_hand.low,
                by_hand.high,
            )
            assert share.n == len(answered) and share.interval_method == "wilson"
            assert share.outcomes.get("unresolved", 0) == counts["never"]
            assert share.outcomes.get("other_language", 0) == counts["foreign"]
            assert share.outcomes.get("refusal", 0) == counts["refusal"]
        (success,) = rows(table, "success", pairing=pairing)
        assert (
            success.value == pytest.approx(1 - (counts["foreign"] + counts["refusal"]) / 10)
            and success.n == 10
        )
        (agreement,) = rows(table, "agreement", pairing=pairing)
        assert agreement.value == pytest.approx(len(answered) / (len(answered) + counts["never"]))


def test_leaders_and_divergence(found: tuple[str, list[Estimate]]) -> None:
    _, table = found
    leaders = {e.condition["topic"]: e.condition["pairing"] for e in rows(table, "topic_leader")}
    assert leaders == {
        "appearance": "FF",
        "greetings": "FF",
        "conflicts": "FM",
        "family": "FM",
        "affection": "MF",
        "career": "MM",
        "hobbies": "MM",
    }
    apart = {e.contrast["pairing"]: e for e in rows(table, "topic_divergence") if e.contrast}
    assert len(apart) == 7 and apart["FF − MM"].value == pytest.approx(1)  # no topic in common
    assert apart["FM − MF"].value is not None and 0 < apart["FM − MF"].value < 1
    assert all(e.low is None and e.p is not None and e.p < 0.05 for e in apart.values())
