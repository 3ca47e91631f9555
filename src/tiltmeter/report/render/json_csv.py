"""Writes estimates as JSON and CSV, unrounded. Missing values are null, or an empty cell."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence

from ...analyse.claims.output_query import query_of
from ...analyse.claims.verdicts import Verdict
from ...analyse.words import reading
from ...analyse.words.first_sentence.situations import first_sentence
from ...gold.sheet import guard_formula
from ...protocol import Protocol
from ...protocol.design.cue_words import BY_WORD
from ...records import Estimate, Json
from ..page_model.sanitize import ascii_escapes

SCHEMA = 1


def as_json(
    run_info: Mapping[str, Json],
    estimates: Sequence[Estimate],
    verdicts: Sequence[Verdict] = (),
    protocol: Protocol | None = None,
    gate: Mapping[str, Json] | None = None,
) -> str:
    """Returns `{"schema": 1, "run": {…}, "first_sentence": {…}, "gate": {…}, "verdicts": […],
    "estimates": […]}`, with a line per row. Raises ValueError if a number is not finite.

    protocol: if given, each estimate includes the `query` of its outputs. gate: None without one.
    """

    def line(value: Json) -> str:
        return ascii_escapes(json.dumps(value, ensure_ascii=False, allow_nan=False))

    def lines(rows: Iterable[Json]) -> str:
        body = ",\n  ".join(map(line, rows))
        return f"[\n  {body}\n ]" if body else "[]"

    sentence = first_sentence([verdict.facts for verdict in verdicts]).as_dict()
    claims = lines(verdict.as_dict() for verdict in verdicts)
    rows = lines(_with_query(estimate, protocol) for estimate in estimates)
    return (
        f'{{\n "schema": {SCHEMA},\n "run": {line(dict(run_info))},'
        f'\n "first_sentence": {line(sentence)},\n "gate": {line(gate)},'
        f'\n "verdicts": {claims},\n "estimates": {rows}\n}}'
    )


def _with_query(estimate: Estimate, protocol: Protocol | None) -> dict[str, Json]:
    row: dict[str, Json] = estimate.as_dict()
    if protocol is None or estimate.measure.endswith(BY_WORD):  # a cue word is no factor
        return row
    return row | {"query": query_of(protocol, estimate).as_dict()}


def as_csv(estimates: Sequence[Estimate]) -> str:
    """Returns a row per estimate, with columns in the order of its fields; conditions, contrasts
    and outcomes are JSON in one cell each; further columns give the level of each factor.
    """
    factors = reading.factor_columns(estimates)
    sheet = io.StringIO()
    writer = csv.writer(sheet, lineterminator="\n")
    writer.writerow([*Estimate.columns(), *map(guard_formula, factors)])
    for estimate, *levels in zip(estimates, *factors.values(), strict=True):
        writer.writerow([*map(_cell, estimate.as_dict().values()), *map(_cell, levels)])
    return sheet.getvalue()


def _cell(value: Json) -> str:
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return ascii_escapes(json.dumps(dict(value), ensure_ascii=False, allow_nan=False))
    if isinstance(value, str):
        return guard_formula(value)
    return repr(value) if isinstance(value, float) else str(value)
