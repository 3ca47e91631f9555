"""Addresses that the pages on adding a measure, a model and a protocol print are importable."""

from __future__ import annotations

import importlib

import pytest


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("tiltmeter.analyse.counts.count_table", ["Table"]),
        ("tiltmeter.errors", ["MissingKey"]),
        ("tiltmeter.models", ["FREE", "Model"]),
        ("tiltmeter.models.http", ["HttpModel", "HttpRequest"]),
        ("tiltmeter.protocol", ["MeasureSpec"]),
        ("tiltmeter.records", ["Estimate", "Message", "REFUSAL", "Reply", "Request", "Sampling"]),
        ("tiltmeter.stats", ["rates"]),
    ],
)
def test_what_the_pages_on_adding_printed_is_there(module: str, names: list[str]) -> None:
    importlib.import_module("tiltmeter.stats.rates")
    assert all(hasattr(importlib.import_module(module), name) for name in names)
