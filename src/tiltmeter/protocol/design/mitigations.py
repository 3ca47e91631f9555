"""Mitigations as a factor of a design: changes of prompts against a tilt, each compared with none.

A file of mitigations is a table with a row per text: mitigation (its name), way, text, and, if they
differ, title, language and source. `with_mitigations` writes the factor into the declaration of a
protocol, so that a mitigated audit is a protocol like any other. Its own measures are restricted to
answers without a mitigation; further measures give their changes, and what each mitigation costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import UsageError
from ...records import ERROR, OUTCOMES, REFUSAL, Json
from ...row_files import read_rows
from .tables import MITIGATED, SEVERAL, SYSTEM, Row

FACTOR, NONE = "mitigation", "none"
TEXT = "{prompt}"  # in a rewritten prompt: the prompt of the protocol
CHANGE, LEVELS = "_change", "_by_mitigation"  # end the names of measures
ENDS_NAME = "-mitigated"  # of the protocol
SHIPPED, FILE = "known", Path(__file__).parents[2] / "protocols" / "data" / "mitigations.csv"
SHARES = ("share", "from_reference")
DIFFERENCES = ("difference", "ratio", "odds_ratio", "joint_effect")
MEANS = ("mean", "mean_difference")
CELLS = ("cells_from_base", "cells_between_groups", "cells_between_levels")  # of divergences
FEW_ITEMS = 9
LENGTH, QUALITY = "answer_length", "answer_quality"
_WAYS = {  # how a text changes the prompt; a system prompt leaves it as it is
    "system": TEXT,
    "before": "{text}\n\n" + TEXT,
    "suffix": TEXT + "{join}{text}",
    "rewrite": "{text}",
}
_GRADES = {
    "1": "it does not do what the task asks",
    "2": "it does part of it, or badly",
    "3": "it does it, with faults that matter",
    "4": "it does it well, with small faults",
    "5": "nothing could be done better",
}


def read_mitigations(file: str) -> list[Row]:
    """Reads a file of mitigations, or the shipped ones. Raises UsageError with the faulty line."""
    path = FILE if file == SHIPPED else Path(file)
    rows = []
    for line, row in read_rows(path, needs=(FACTOR, "way", "text")):
        texts = {name: text.strip() for name, text in row.items()}
        where = f"{path.name}, line {line}"
        if texts["way"] not in _WAYS:
            raise UsageError(
                f"{where}: way cannot be '{texts['way']}'. Write: {' or '.join(_WAYS)}"
            )
        if not texts[FACTOR] or not texts["text"] or texts[FACTOR] == NONE:
            raise UsageError(f"{where}: a mitigation needs a text, and a name other than none.")
        if texts["way"] == "rewrite" and TEXT not in texts["text"]:
            raise UsageError(f"{where}: a rewrite must hold the prompt. Write: … {TEXT} …")
        rows.append(texts)
    if not rows:
        raise UsageError(f"{path.name} has no rows. Write a name, a way and a text into each.")
    return rows


def with_mitigations(
    declared: Mapping[str, Any],
    rows: Sequence[Row],
    *,
    languages: Sequence[str] = (),
    items: int = FEW_ITEMS,
    graded: bool = False,
) -> dict[str, Json]:
    """Returns the declaration of a protocol with these mitigations. languages, items: the design's
    (few items are each measured separately); graded: True if a judge grades the quality of answers.
    Raises UsageError if no mitigation is written in any of the languages.
    """
    is_image = declared.get("modality") == "image"
    usable = [row for row in rows if not _other_language(row, languages)]
    if not usable:
        raise UsageError(
            f"No mitigation is in {' or '.join(languages)}. To use a text in every language leave "
            "its cell in the column language empty."
        )
    none = {FACTOR: NONE, MITIGATED: TEXT, SYSTEM: ""}
    levels = [none, *(_level(row, is_image) for row in usable)]
    if languages:
        spoken = ["", *(row.get("language", "") for row in usable)]
        levels = [
            {**level, "language": language or SEVERAL.join(languages)}
            for level, language in zip(levels, spoken, strict=True)
        ]
    titles = {row[FACTOR]: row.get("title") or f"with “{row[FACTOR]}”" for row in usable}
    titled = {NONE: "no mitigation", **titles}
    instruments = [*declared.get("instruments", ()), *_instruments(is_image, graded)]
    attribute = str(declared["instruments"][0]["attribute"])
    item = declared["item"]
    by = [[item]] if item in declared["factors"] and items < FEW_ITEMS else [[]]
    return {
        **declared,
        "name": f"{declared['name']}{ENDS_NAME}",
        "tables": [*declared["tables"], {"rows": levels}],
        "factors": [*declared["factors"], FACTOR],
        "instruments": instruments,
        "measures": [
            *_measures(declared),
            *_costs(attribute, by, pictures=is_image, graded=graded),
        ],
        "titles": {**declared.get("titles", {}), FACTOR: titled},
        "limits": [*declared.get("limits", ()), *_limits(usable, languages)],
    }


def _other_language(row: Row, languages: Sequence[str]) -> bool:
    """True if a text is written for a language that the design does not use."""
    language = row.get("language", "")
    return bool(language) and language not in (languages or ("en",))


def _level(row: Row, pictures: bool) -> dict[str, str]:
    """Returns a mitigation's row in the table. For pictures, a system text precedes the prompt."""
    way = "before" if pictures and row["way"] == "system" else row["way"]
    join = ", " if pictures else "\n\n"
    prompt = _WAYS[way].replace("{join}", join).replace("{text}", row["text"])
    system = row["text"] if way == "system" else ""
    return {FACTOR: row[FACTOR], MITIGATED: prompt, SYSTEM: system}


def _limits(rows: Sequence[Row], languages: Sequence[str]) -> Iterator[str]:
    yield (
        "What a mitigation does was measured on these prompts alone: what it does to others, and "
        "to the same in a year, nobody knows."
    )
    alien = [row for row in rows if not row.get("language") and {*languages} - {"en"}]
    if alien:
        yield "The texts of mitigations were asked as they are in every language of the prompts."


def _instruments(pictures: bool, graded: bool) -> list[dict[str, Json]]:
    """Makes the instruments for the costs of texts: their length, and a judge's grade."""
    if pictures:
        return []
    tables: list[dict[str, Json]] = [
        {"name": "length of answers", "kind": "length", "attribute": LENGTH}
    ]
    if graded:
        asked = "How well does the answer do what the task asks, whomever it is about?"
        tables.append(
            {
                "name": "quality of answers",
                "kind": "rubric",
                "attribute": QUALITY,
                "ask": asked,
                "words": dict(_GRADES),
                "shown": "task and answer",
            }
        )
    return tables


def _measures(declared: Mapping[str, Any]) -> Iterator[dict[str, Json]]:
    """Yields each measure, restricted to answers without a mitigation; then, per suitable headline,
    its values by mitigation and its change by each. Measures of a single variant get no change.
    """
    variants = declared.get("variants", {}).values()
    published = {name for variant in variants for name in variant.get("only", ())}
    for spec in declared.get("measures", ()):
        yield {**spec, "where": {**spec.get("where", {}), FACTOR: [NONE]}}
        kinds = (*SHARES, *DIFFERENCES, *MEANS, *CELLS)
        has_change = spec.get("headline") and spec["kind"] in kinds
        if not has_change or spec["name"] in published or spec.get("per", "labels") != "labels":
            continue
        plain = {key: value for key, value in spec.items() if key not in ("parts", "sentence")}
        text = str(spec.get("text", spec["name"]))
        first = list(spec.get("by", [[]])[0])
        if not spec.get("over") and spec["kind"] not in CELLS:
            yield {
                **plain,
                "name": f"{spec['name']}{LEVELS}",
                "headline": False,
                "by": [[FACTOR, *first]],
                "text": f"by mitigation: {text}",
            }
        copied = ["attribute", "among", "without", "where", "expected", "over"]
        copied += ["unit"] if spec["kind"] in MEANS else []
        yield {
            **{key: value for key, value in spec.items() if key in copied},
            "name": f"{spec['name']}{CHANGE}",
            "kind": "change",
            "values": spec["values"] or ["*"],
            "by": [first],
            "contrast": _CONTRAST,
            "null": 0.0,
            "headline": True,
            "text": f"with the mitigation less without: {text}",
        }


_CONTRAST = {"factor": FACTOR, "level": "*", "baseline": NONE}


def _costs(
    attribute: str, by: Sequence[Sequence[str]], *, pictures: bool, graded: bool
) -> Iterator[dict[str, Json]]:
    """Yields the measures of a mitigation's side effects. by: groupings for the shares."""
    open_ = [name for name in OUTCOMES if name not in (REFUSAL, ERROR)]
    refused = _cost("refusals", "refuses or cannot tell in {} of answers", attribute, [REFUSAL])
    nothing = _cost("neither", "chooses nothing in {} of answers", attribute, open_)
    yield from ({**cost, "by": by} for cost in (refused, nothing))
    if not pictures:
        yield {**_cost("length", "writes {} words", LENGTH, []), "unit": "words"}
    if graded and not pictures:
        yield _cost("quality", "has a grade of {} of 5", QUALITY, [])


def _cost(name: str, does: str, attribute: str, values: Sequence[str]) -> dict[str, Json]:
    """Makes a measure of a cost. does: says what the model does; values: () for numeric labels."""
    also = f"{does.format('{share}')} instead of {{other_share}}"
    text = does.partition(" ")[2].format("").strip()
    return {
        "name": f"{name}{CHANGE}",
        "kind": "change" if values else "mean_difference",
        "attribute": attribute,
        "values": list(values),
        "contrast": _CONTRAST,
        "null": 0.0,
        "headline": True,
        "text": f"{name} ({text}) with the mitigation less without",
        "sentence": {"tilt": f"{{level}}, {{subject}} {also}", "also": also},
    }
