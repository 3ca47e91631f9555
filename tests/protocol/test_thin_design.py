"""A design that is too thin is said to be."""

from __future__ import annotations

import pytest

from tiltmeter import registry
from tiltmeter.protocol import Protocol
from tiltmeter.protocol.thin_design import thin_design

from ..api.test_python import JOBS, KEYS


@pytest.mark.parametrize(("items", "thin"), [(8, True), (9, False)])
def test_fewer_than_nine_items_are_few(items: int, thin: bool) -> None:
    """`raises` has jobs as its item, which are a factor too unless they are left out of it."""
    tables = [KEYS["tables"][0], {"rows": [{"job": job} for job in JOBS[:items]]}]
    protocol = Protocol.declare(**{**KEYS, "factors": ["who"], "tables": tables})
    assert bool(thin_design(protocol)) == thin


def test_no_protocol_that_ships_is_thin() -> None:
    assert not any(thin_design(registry.protocol(name)) for name in registry.PROTOCOLS)
