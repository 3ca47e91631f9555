"""What is known of a kind of measure, built in or of another package."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from tiltmeter import registry
from tiltmeter.errors import ProtocolError, UnknownName
from tiltmeter.protocol import MeasureSpec, Protocol
from tiltmeter.protocol.built_in_measures import KINDS
from tiltmeter.protocol.measures import measure_kind, names
from tiltmeter.protocol.reading import schema

OUTSIDE = """
from tiltmeter.protocol.source.keys import MeasureKeys
from tiltmeter.protocol.measure_kinds import MeasureKind

def calm(table, measure, by):
    "How calm the answers are."
    return iter(())

RECORD = MeasureKind(
    name="calm", summary="calm answers", compute=calm, contrast=("factor",), unit="calm", figure="dumbbell"
)
"""


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    info = tmp_path / "calm-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: calm\nVersion: 1.0\n")
    points = "[tiltmeter.measures]\ncalm = calm_measure:RECORD\nplain = calm_measure:calm\n"
    (info / "entry_points.txt").write_text(points)
    (tmp_path / "calm_measure.py").write_text(OUTSIDE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    measure_kind.cache_clear()
    sys.modules.pop("calm_measure", None)


def declare(**measure: object) -> Protocol:
    """A protocol with one measure."""
    return Protocol.declare(
        name="calm-audit",
        title="Calm",
        question="How calm?",
        prompt="{name}: one or two? ___",
        factors=["group"],
        item="name",
        tables=[{"rows": [{"group": "a", "name": "A"}, {"group": "b", "name": "B"}]}],
        instruments=[
            {
                "name": "choice",
                "kind": "choice",
                "attribute": "answer",
                "forms": {"en": {"1": ["one"], "2": ["two"]}},
            }
        ],
        measures=[{"name": "m", "attribute": "answer", "values": ["1"], **measure}],
    )


def test_records_are_whole() -> None:
    for name, kind in KINDS.items():
        assert kind.name == name
        assert kind.summary
        assert kind.low < kind.high
        assert kind.null is None or kind.low <= kind.null <= kind.high
        assert isinstance(kind.compute, str), "a function would import numpy with every protocol"


def test_a_kind_of_another_package_is_known_by_its_record(outside: None) -> None:
    assert names()[-2:] == ["calm", "plain"]
    editor = registry.schema_for_editors()["definitions"]["measure"]
    assert {"calm", "plain"} <= set(editor["properties"]["kind"]["enum"])
    assert "calm: calm answers" in editor["properties"]["kind"]["description"]
    with pytest.raises(ProtocolError, match=r"a calm needs factor.*contrast = \{ factor"):
        declare(kind="calm")
    (measure,) = declare(kind="calm", contrast={"factor": "group"}).measures
    assert (measure.unit, measure.figure) == ("calm", "dumbbell")


def test_a_function_alone_is_a_kind_too(outside: None) -> None:
    """As packages wrote it before there were records."""
    assert measure_kind("plain").summary == "How calm the answers are."
    assert list(measure_kind("plain").function()(None, None, ())) == []


def test_a_kind_that_nobody_has_is_named_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="difference"):
        measure_kind("diference")


def test_the_unit_is_that_of_the_kind_where_a_file_names_none() -> None:
    (measure,) = declare(kind="mean").measures
    assert measure.unit == "answer"
    (named,) = declare(kind="mean", unit="points").measures
    assert named.unit == "points"
    assert declare(kind="odds").measures[0].unit == "odds"  # 1.44 is no share above .999
    # the files of the protocols, written apart from the records, name the same
    for protocol in map(registry.protocol, registry.protocol_names()):
        for one in protocol.measures:
            unit = measure_kind(one.kind).unit
            assert one.unit == unit or not unit, one.name


def test_every_setting_of_a_measure_reaches_its_spec() -> None:
    """A key that the schema takes and the loader drops would be lost in silence."""
    properties = schema.shape()["$defs"]["measure"]["properties"]
    assert set(properties) == {field.name for field in fields(MeasureSpec)}
