"""How long the texts of a design are."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from tests.report import gallery
from tiltmeter import registry
from tiltmeter.errors import UnknownName
from tiltmeter.protocol import Protocol, histogram
from tiltmeter.report.figures import draw


def test_texts_are_counted_once_and_binned() -> None:
    """By hand: texts of 3, 9 and 21 words, each with two prompts."""
    protocol = Protocol.declare(
        name="lengths",
        title="Lengths",
        question="How long?",
        prompt="{task} {text}",
        factors=["task"],
        item="id",
        tables=[
            {"rows": [{"id": str(n), "text": " ".join(["w"] * n)} for n in (3, 9, 21)]},
            {"rows": [{"task": "a"}, {"task": "b"}]},
        ],
    )
    found = histogram.word_counts(protocol, "text")
    assert sorted(found.counts) == [3, 9, 21]
    assert found.bins == ((0, 9, 2), (10, 19, 0), (20, 29, 1))
    assert found.summary == "mean 11.0, standard deviation 9.2, median 9, 3 to 21"
    with pytest.raises(UnknownName, match="'text'"):
        histogram.word_counts(protocol, "texts")


def test_the_shipped_texts_are_as_long_as_the_paper_s() -> None:
    """ProText, section 3.2: 66 words on average."""
    found = histogram.word_counts(registry.protocol("protext"), "text")
    assert len(found.counts) == 640 and 60 <= sum(found.counts) / 640 <= 72


def test_bars_are_as_high_as_their_counts() -> None:
    """By hand: counts of 1, 3, 0 and 1 on an axis to 3."""
    figure = gallery.drawn()["histogram"]
    bars = [e for e in ET.fromstring(draw(figure)).iter() if e.get("class") == "fig-part c0"]
    heights = [float(bar.get("height", "nan")) for bar in bars]
    assert heights == [
        pytest.approx(part * max(heights), abs=0.01) for part in (1 / 3, 1, 0, 1 / 3)
    ]
