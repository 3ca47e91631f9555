"""Other corpora for `protext`, as a runnable folder. command.py is the command line.

Reads CSV, TSV, JSON lines and Parquet. Columns are found by their names or aliases (ALIASES), or as
given; values are converted to the protocol's words ("Stereotypically Male" → male, "she/her" →
she). An error says what does not fit and where: the columns found, an unknown category, an empty
text, a repeated id, a wrong encoding.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import ProtocolError, UsageError
from ...instruments.rewrites.neopronouns import pronoun_sets
from ...instruments.rewrites.outcomes import is_foreign
from ...protocol import EVERY
from ...protocol.source.json_schema import toml
from ...row_files import read_rows
from . import inference, shipped

PROTEXT = Path(__file__).parent
COLUMNS = shipped.COLUMNS
ALIASES = {
    "id": ("id", "item", "item_id", "text_id", "index", "number"),
    "theme": ("theme", "theme_type", "type"),
    "category": ("category", "theme_category", "stereotype", "theme_cat"),
    "pronoun": ("pronoun", "pronoun_category", "pronouns", "pronoun_cat"),
    "noun": ("noun", "theme_noun", "theme_value", "term", "protagonist", "value"),
    "text": ("text", "prompt_body", "body", "input", "passage", "prompt_text"),
}
VALUES = {
    "theme": {
        "name": ("name", "names"),
        "occupation": ("occupation", "occupations"),
        "title": ("title", "titles"),
        "kinship": ("kinship", "kinship term", "kinship terms", "kin"),
    },
    "category": {
        "male": (
            "male",
            "masculine",
            "stereotypically male",
            "stereotypical male",
            "stereotypically masculine",
            "m",
        ),
        "female": (
            "female",
            "feminine",
            "stereotypically female",
            "stereotypical female",
            "stereotypically feminine",
            "f",
        ),
        "neutral": (
            "neutral",
            "ambiguous",
            "gender neutral",
            "gender-neutral",
            "non-gendered",
            "ambiguous/not gendered",
            "n",
        ),
    },
    "pronoun": {
        "he": ("he", "masculine", "he/him", "he/him/his", "masc", "male", "he pronoun"),
        "she": ("she", "feminine", "she/her", "she/her/hers", "fem", "female", "she pronoun"),
        "they": (
            "they",
            "neutral",
            "gender neutral",
            "gender-neutral",
            "they/them",
            "they/them/their",
            "they/them/theirs",
            "singular they",
            "neutral (they)",
            "they pronoun",
        ),
        "none": (
            "none",
            "no pronoun",
            "no pronouns",
            "no pronoun mentioned",
            "no pronouns mentioned",
            "not mentioned",
            "without pronoun",
            "n/a",
            "",
        ),
        **{name: (name,) for name in pronoun_sets()},
    },
}


def load(path: Path, columns: Mapping[str, str] | None = None) -> list[dict[str, str]]:
    """Reads a file's rows with our column names. columns: {ours: the file's}, if aliases fail."""
    rows = _rows(path)
    if not rows:
        raise ProtocolError(f"{path.name} has no rows.")
    names = _columns(path, list(rows[0]), columns or {})
    texts, ids = [], set[str]()
    for number, given in enumerate(rows, 1):
        texts.append(_row(f"{path.name}, row {number}", given, names, number))
        if texts[-1]["id"] in ids:
            raise ProtocolError(
                f"{path.name}, row {number}: the id '{texts[-1]['id']}' occurs twice. Change one."
            )
        ids.add(texts[-1]["id"])
    foreign = [row["id"] for row in texts if is_foreign(row["text"])]
    if 2 * len(foreign) > len(texts):  # texts that mix languages may be among them
        raise ProtocolError(
            f"{path.name}: most texts are not in English ({foreign[0]} is the first), and only "
            "English is read. Give the English ones."
        )
    return texts


def _rows(path: Path) -> list[dict[str, Any]]:
    if path.suffix.lower() == ".parquet":
        return _parquet(path)
    return [dict(row) for _, row in read_rows(path)]


def _parquet(path: Path) -> list[dict[str, Any]]:
    import polars as pl

    try:
        return pl.read_parquet(path).to_dicts()
    except FileNotFoundError:
        raise UsageError(f"There is no file {path}.") from None
    except (pl.exceptions.PolarsError, OSError) as error:
        raise ProtocolError(f"{path.name} cannot be read as Parquet: {error}") from None


def _columns(path: Path, in_file: Sequence[str], given: Mapping[str, str]) -> dict[str, str]:
    """Returns {our column: the file's}. The id may be missing (rows are then numbered), and so may
    the noun (which is then searched for in the text).
    """
    plain = {re.sub(r"[\s_-]+", "_", name.strip().lower()): name for name in in_file}
    names = {}
    for ours, theirs in given.items():
        if ours not in COLUMNS or theirs not in in_file:
            raise ProtocolError(
                f"{path.name}: --column {ours}={theirs} does not fit. Columns found: "
                f"{', '.join(in_file)}. Needed: {', '.join(COLUMNS)}."
            )
        names[ours] = theirs
    for ours in COLUMNS:
        alias = next(
            (
                alias
                for alias in ALIASES[ours]
                if alias in plain and plain[alias] not in names.values()
            ),
            None,
        )
        if ours not in names and alias is not None:
            names[ours] = plain[alias]
    # A noun can be found in its text, and rows can be numbered.
    missing = [ours for ours in COLUMNS if ours not in names and ours not in ("id", "noun")]
    if missing:
        raise ProtocolError(
            f"{path.name} has no column for {', '.join(missing)}. Columns found: "
            f"{', '.join(in_file)}. Type for instance: --column "
            f"{missing[0]}={next((name for name in in_file if name not in names.values()), 'NAME')}"
        )
    return names


def _row(
    where: str, given: Mapping[str, Any], names: Mapping[str, str], number: int
) -> dict[str, str]:
    row = {
        ours: str("" if given.get(theirs) is None else given[theirs]).strip()
        for ours, theirs in names.items()
    }
    row.setdefault("id", f"{number:04}")
    for column in ("id", "text"):
        if not row[column]:
            raise ProtocolError(f"{where}: the {column} is empty.")
    if "noun" in row and not row["noun"]:
        raise ProtocolError(f"{where}: the noun is empty.")
    for column, known in VALUES.items():
        value = next((ours for ours, ways in known.items() if row[column].lower() in ways), None)
        if value is None:
            raise ProtocolError(
                f"{where}: the {column} cannot be '{row[column]}'. It must be one of: "
                f"{', '.join(known)}."
            )
        row[column] = value
    if "noun" not in row:
        row["noun"] = inference.noun_in(row["text"], row["theme"], row["category"])
        if not row["noun"]:
            raise ProtocolError(
                f"{where}: the file has no column for the noun, and the text does not hold exactly "
                f"one of the paper's nouns ({row['theme']}, {row['category']}). Add a column "
                "'noun', or name it: --column noun=NAME"
            )
    return {column: row[column] for column in COLUMNS}


def write(
    rows: Iterable[Mapping[str, str]], folder: Path, name: str = "protext-own", prompt: str = ""
) -> Path:
    """Writes a runnable folder: the rows as texts.jsonl, and this protocol to read them. Returns
    the protocol's path.

    prompt: the default prompt, instead of P1 and P2; it becomes the level `own` of the factor
    prompt.
    """
    rows = list(rows)
    folder.mkdir(parents=True, exist_ok=True)
    texts = (json.dumps(dict(row), ensure_ascii=False) + "\n" for row in rows)
    (folder / "texts.jsonl").write_text("".join(texts), "utf-8", newline="\n")
    definition = tomllib.loads((PROTEXT / "protocol.toml").read_text("utf-8"))
    definition |= {
        "name": name,
        "departures": ["The texts are the user's own.", *definition["departures"][1:]],
    }
    if rows and "family" in rows[0]:
        definition = shipped.for_families(definition, rows)
    if prompt:
        definition["tables"][1]["rows"].insert(0, {"prompt": "own", "task": prompt})
        definition["defaults"]["prompt"] = ["own"]
        for prompts in (
            measure.get("where", {}).get("prompt", []) for measure in definition["measures"]
        ):
            prompts[:0] = ["own"] * ("P1" in prompts)
    path = folder / "protocol.toml"
    path.write_text("\n".join(_lines(_fit_levels(definition, rows))) + "\n", "utf-8", newline="\n")
    return path


def _fit_levels(definition: dict[str, Any], rows: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """Removes levels that no text has from a protocol (they and she, if all texts say he)."""
    levels_of = {
        column: [value for value in known if any(row[column] == value for row in rows)]
        for column, known in VALUES.items()
    }
    measures = []
    for measure in definition["measures"]:
        where = {
            factor: [level for level in levels if level in levels_of.get(factor, levels)]
            for factor, levels in measure.get("where", {}).items()
        }
        contrast = measure.get("contrast", {})
        levels = [*levels_of.get(contrast.get("factor", ""), []), EVERY]
        if all(where.values()) and {
            contrast[side] for side in ("level", "baseline") if side in contrast
        } <= set(levels):
            measures.append({**measure, "where": where})
    names = {measure["name"] for measure in measures}
    for variant in definition["variants"].values():
        variant |= {
            key: [name for name in variant[key] if name in names] for key in ("measures", "only")
        }
        variant["tables"] = [
            {**table, "cells": kept}
            for table in variant.get("tables", [])
            if (kept := [cell for cell in table["cells"] if cell["measure"] in names])
        ]
    titles = {
        name: {
            level: text
            for level, text in own_titles.items()
            if level in levels_of.get(name, own_titles)
        }
        for name, own_titles in definition["titles"].items()
    }
    crosstab = {
        **definition["crosstab"],
        "levels": [
            level for level in definition["crosstab"]["levels"] if level in levels_of["pronoun"]
        ],
    }
    return {**definition, "measures": measures, "crosstab": crosstab, "titles": titles}


def _lines(data: Mapping[str, Any]) -> Iterator[str]:
    """Yields the lines of a protocol's file: keys, then a header per entry or named table."""
    nested = {
        key: value
        for key, value in data.items()
        if key in ("tables", "instruments", "measures", "modes", "variants")
    }
    yield from (f"{key} = {toml(value)}" for key, value in data.items() if key not in nested)
    for key, value in nested.items():
        is_named = isinstance(value, Mapping)
        for part in value:
            yield f"\n[{key}.{part}]" if is_named else f"\n[[{key}]]"
            yield from (
                f"{name} = {toml(inner)}"
                for name, inner in (value[part] if is_named else part).items()
            )
