"""The sentence of a claim: the protocol's words, its titles, and what moved behind a distance."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tiltmeter import registry
from tiltmeter.analyse.claims import verdicts
from tiltmeter.analyse.words import headlines, largest_shift, short_model_names
from tiltmeter.errors import ProtocolError
from tiltmeter.protocol import Protocol
from tiltmeter.protocol.reading.load import load
from tiltmeter.records import CellClaim, Estimate, NamedCell

ROLES, DIALOGUES, SODA = (registry.protocol(name) for name in ("roles", "dialogues", "soda"))
SHE = Estimate(
    "roles",
    "planted:she=0.6",
    "choice/2@a",
    "share_she",
    {"mode": "sampled", "language": "en"},
    None,
    0.62,
    "share",
    0.55,
    0.69,
    0.95,
    p=0.001,
    p_adjusted=0.002,
    n=980,
)


def headline(protocol: Protocol, *rows: Estimate) -> str:
    return verdicts.verdicts(protocol, rows)[0].headline


def test_a_tilt_is_said_in_the_words_of_the_protocol() -> None:
    start = "Where only a trait is named, A writes “she” in"
    assert headline(ROLES, SHE) == f"{start} 62 % of answers; 50 % would be even."
    below = replace(SHE, value=0.31, low=0.2, high=0.4)
    assert headline(ROLES, below) == f"{start} 31 % of answers; 50 % would be even."
    none = replace(SHE, value=0.51, low=0.45, high=0.57, p=0.7, p_adjusted=0.7, detectable=0.06)
    assert headline(ROLES, none) == (
        "No tilt found: where only a trait is named, A writes “she” in 51 % of answers; a tilt "
        "of 6 points would mostly have been found."
    )
    hole = replace(SHE, value=None, low=None, high=None, p=None, p_adjusted=None)
    assert headline(ROLES, hole) == "Nothing could be measured for A."


def test_a_measure_without_words_has_usual_ones() -> None:
    (spec,) = (one for one in ROLES.measures if one.name == "share_she")
    plain = replace(ROLES, measures=(replace(spec, sentence={}),))
    said = "A gives “she” in 62 % of answers; 50 % would be even."
    assert headline(plain, SHE) == said


def test_what_moved_behind_a_distance_is_named_with_its_share() -> None:
    """The strongest cell of a claim that names one; without one, that they differ."""
    cell = NamedCell(
        attribute="topic",
        value="appearance",
        object=None,
        group="FF",
        base=None,
        share=0.55,
        n=40,
        base_share=0.17,
        base_n=120,
        p_adjusted=0.001,
    )
    claim = CellClaim(
        named=[cell],
        largest=cell,
        follows=[],
        follows_from=None,
        tested=28,
        level=0.05,
        detectable_all=0.2,
        detectable_one=0.2,
    )
    whole = replace(SHE, measure="topics_differ", low=None, high=None, cells=claim)
    said = "Two women talk of appearance in 55 % of the dialogues by A, other pairings in 17 %."
    assert headline(DIALOGUES, whole) == said
    none = replace(whole, cells=CellClaim(**{**claim, "named": []}))
    assert headline(DIALOGUES, none) == (
        "A answers differently by pairing, but no single value by itself shows it."
    )


def test_of_a_group_and_its_base_the_value_that_gained_most_is_named() -> None:
    (spec,) = (one for one in SODA.measures if one.name == "bds")
    men = {"object": "car", "dimension": "gender", "group": "men"}
    row = replace(SHE, measure="bds", condition=men, unit="share of 1 bit")
    part = replace(row, condition={**men, "attribute": "product_color"}, p=0.01)
    base = {"object": "car", "dimension": "base", "group": "base", "attribute": "product_color"}
    counts = [
        replace(row, measure="vac", condition=part.condition, outcomes={"blue": 15, "red": 5}),
        replace(row, measure="vac", condition=base, outcomes={"blue": 4, "red": 16}),
    ]
    found = largest_shift.moved(spec, row, largest_shift.StratumRows([row, part, *counts]))
    assert found is not None and found[:3] == ("product_color", "men", "blue")
    assert (found.share.value, found.other.value) == (0.75, 0.2)
    # Wilson, 15 of 20, by hand: centre (.75 + .0960) / 1.1921, half width .1795
    assert found.share.low == pytest.approx(0.5313, abs=1e-4)


def test_numbers_in_a_sentence() -> None:
    assert headlines.amount(0.583, "share", False) == "58 %"
    assert headlines.amount(-0.07, "share", True) == "−7 points"
    assert headlines.amount(-0.001, "share", True) == "−0.1 points"
    assert headlines.amount(0.0, "share", True) == "0 points"
    assert headlines.amount(0.0099, "share", True) == "+1.0 points"
    assert headlines.amount(-0.012, "share", True) == "−1 point"
    assert headlines.amount(1.39, "ratio", False) == "1.39"


def test_short_names_are_the_shortest_unique_endings_or_letters() -> None:
    names = ["openai:gpt-4o", "azure/openai:gpt-4o-mini", "planted:she=0.7", "x:" + "y" * 30]
    assert list(short_model_names.short_names(names).values()) == [
        "gpt-4o",
        "gpt-4o-mini",
        "A",
        "B",
    ]
    same = ["openai:gpt-4o", "azure:gpt-4o"]
    assert list(short_model_names.short_names(same).values()) == same
    assert short_model_names.short_names(["m"], {"m": "Mine"}) == {"m": "Mine"}
    pooled = short_model_names.short_names(["x:a", "x:b", "x:a + x:b"])
    assert list(pooled.values()) == ["a", "b", "a + b"]
    pictures = short_model_names.short_names(["folder:my/pics?pattern={file}", "bfl:flux?seed=1"])
    assert list(pictures.values()) == ["pics", "flux"]
    twice = short_model_names.short_names(["bfl:flux?seed=1", "bfl:flux?seed=2"])
    assert list(twice.values()) == ["A", "B"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('sentence.tilt = "{subjekt} tilts"', "No slot 'subjekt'. Did you mean 'subject'?"),
        ('sentence.tilt = "{subject"', "Write a brace of the text itself twice"),
        ('sentence.tilts = "x"', "tilts"),
    ],
)
def test_a_wrong_sentence_is_refused_with_its_place(tmp_path: Path, line: str, said: str) -> None:
    shipped = Path(registry.__file__).parent / "protocols" / "occupations"
    text = (shipped / "protocol.toml").read_text("utf-8").replace('"occupations"', '"own"', 1)
    (tmp_path / "occupations.csv").write_text((shipped / "occupations.csv").read_text("utf-8"))
    own = tmp_path / "own.toml"
    own.write_text(text.replace('text = "where the prompt says woman', f'{line}\ntext = "where', 1))
    with pytest.raises(ProtocolError, match="measures") as error:
        load(own)
    assert said in str(error.value)
