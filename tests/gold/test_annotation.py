"""What the annotation page asks: every value of every built-in protocol has a definition."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tiltmeter import registry
from tiltmeter.gold import annotation
from tiltmeter.gold.answers import wording
from tiltmeter.instruments.images import colour
from tiltmeter.instruments.images.taxonomy import NOT_APPLICABLE
from tiltmeter.protocol import InstrumentSpec
from tiltmeter.records import OUTCOMES
from tiltmeter.store import Store

USUAL = {*OUTCOMES, NOT_APPLICABLE, "ambiguous"}


def listed(spec: InstrumentSpec) -> Mapping[str, set[str]]:
    """Attribute → the values that an instrument can give it, numbers aside."""
    values = registry.instrument_kind(spec.kind, spec.name).values(spec)
    own = (spec.attribute, *spec.also)
    return {name: {one for one in values.get(name, ()) if not one.isdigit()} for name in own}


@pytest.mark.parametrize("name", registry.PROTOCOLS)
def test_every_value_has_a_definition(name: str, tmp_path: Path) -> None:
    protocol = registry.protocol(name)
    with Store(tmp_path / "run", create=True) as store:
        for spec in protocol.instruments:
            for attribute, values in listed(spec).items():
                if attribute in ("word", "upper_half"):  # several an answer: not annotated
                    continue
                meant = {
                    one.value: one.meaning
                    for one in annotation.choices(store, protocol, attribute)
                    if one.value in values - USUAL
                }
                assert meant.keys() >= values - USUAL and all(meant.values()), attribute


def test_a_palette_is_defined_whole() -> None:
    assert {*colour.colours(), colour.MULTICOLOR, colour.TRANSPARENT} == {*wording()["colours"]}
