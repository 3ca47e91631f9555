"""What is known of a kind of instrument, and classes that declare themselves as before version 0.2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pytest

from tiltmeter import registry
from tiltmeter.instruments import Instrument, Judge, Learner, Panel, Parser, Team
from tiltmeter.instruments.choice.choice import Choice
from tiltmeter.protocol import InstrumentSpec
from tiltmeter.records import Answered, Label, Output, Reply, Sampling, Steps, Trial

SPEC = InstrumentSpec("own", "own", "tone")
TRIAL = Trial("t", "m", "sampled", {}, 0, "Say.", "", Sampling(None, None, 0))
ITEM = Answered(TRIAL, Output("t", "answer", "Hi!", ""), Reply("Hi!"))


class Loud(Parser):
    kind, version = "loud", "1"

    def read(self, item: Answered) -> Sequence[Label]:
        return [self.label(item, "loud")]


class Old(Instrument):
    """Flags, as before."""

    kind, version = "old", "1"
    judges = ("label",)
    each_judge = True
    material = "taxonomy"

    def lessons(self, outputs: Iterable[tuple[Trial, Output]]) -> Iterator[tuple[str, str]]:
        return iter([("set", "how")])

    def learnt(self, text: str) -> None:
        self.text = text

    def material_text(self) -> str:
        return self.text

    def steps(self, item: Answered) -> Steps:
        yield from ()
        return [self.label(item, "old")]


def labels(instrument: Instrument, item: Answered = ITEM) -> list[str]:
    steps = instrument.steps(item)
    with pytest.raises(StopIteration) as end:
        next(steps)
    return [label.value for label in end.value.value]


def test_a_parser_asks_nobody() -> None:
    assert labels(Loud(SPEC)) == ["loud"]
    assert Loud.record().asks == "nobody" and not Loud.record().judged


def test_flags_of_before_become_bases_with_a_warning() -> None:
    with pytest.warns(DeprecationWarning, match="Old: flags of instruments are bases now"):
        record = Old.record()
    assert (record.asks, record.parts, record.discovers) == ("each", ("label",), "taxonomy")
    made = record.make(SPEC, "openai:x")
    assert isinstance(made, Old) and isinstance(made, Judge) and isinstance(made, Learner)
    made.take_over("found")
    assert made.artefact_text() == "found"
    assert list(made.discover([])) == [("set", "how")]
    assert labels(made) == ["old"]


@pytest.mark.parametrize(
    ("name", "asks", "base"),
    [
        ("choice", "nobody", Instrument),
        ("rubric", "each", Judge),
        ("panel", "panel", Panel),
        ("negotiation", "team", Team),
        ("attributes", "team", Learner),
    ],
)
def test_a_base_says_who_is_asked(name: str, asks: str, base: type[Instrument]) -> None:
    kind = registry.instrument_kind(name)
    assert kind.asks == asks
    assert isinstance(kind.make, type) and issubclass(kind.make, base)


def test_every_kind_says_what_it_does() -> None:
    for kind in registry.instrument_kinds():
        assert kind.summary and not kind.summary.endswith("."), kind.name
        assert kind.name in registry.INSTRUMENTS


def test_what_an_answer_means_is_what_is_labelled() -> None:
    """Every example of a parser of prose is labelled with its value."""
    forms = {"en": {"yes": ["yes"], "no": ["no", "nope"]}}
    for name, settings in {
        "choice": {"forms": forms},
        "lexicon": {"lists": {"warm": ["kind", "love*"], "cold": ["harsh"]}},
        "pronouns": {},
    }.items():
        spec = InstrumentSpec("own", name, "tone", settings)
        kind = registry.instrument_kind(name)
        instrument = kind.make(spec)
        assert isinstance(instrument, Instrument)
        for value in kind.values(spec)["tone"]:
            for text in kind.examples(spec, value, "en"):
                item = Answered(TRIAL, Output("t", "answer", text, ""), Reply(text))
                assert labels(instrument, item) == [value], text


def test_a_script_gets_the_class_of_a_kind_without_a_run() -> None:
    (spec,) = registry.protocol("roles").instruments
    assert isinstance(registry.instrument("choice")(spec), Choice)
