"""Labels of existing pictures: `tiltmeter import soda LABELS.csv --out RUN`.

A row is one attribute of one picture: subject, object, dimension, group, image, attribute, value;
rows of the base prompt have an empty dimension and group. The run keeps the file's names and
values; colours are not mapped to the palette. An attribute ATTRIBUTE_raw holds the original wording
of the value of ATTRIBUTE, if the file has both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ...errors import UsageError
from ...protocol import Protocol
from ...protocol.design.tables import given_rows
from ...records import ANSWER, Label, Output, Sampling, Trial, content_id

ANNOTATOR = f"labels/1@{content_id('soda labels', 1)[:8]}"
COLUMNS = ("subject", "object", "dimension", "group", "image", "attribute", "value")
BASE = "base"

Key = tuple[str, ...]  # subject, object, dimension, group, image
Imported = tuple[Trial, Output, Sequence[Label]]


def rows(protocol: Protocol, path: Path) -> Iterator[Imported]:
    """Yields one trial per picture. UsageError names the file and the line that cannot be read.

    An empty value is not a label. A picture with empty values alone becomes an output without
    labels.
    """
    pictures: dict[Key, dict[str, str]] = {}
    lines: dict[tuple[Key, str], int] = {}
    for number, row in given_rows(path, COLUMNS):
        where = f"{path.name}, line {number}"
        key = _key(row, where)
        attribute, value = row["attribute"], row["value"]
        if not attribute:
            raise UsageError(f"{where}: attribute may not be empty.")
        if (key, attribute) in lines:
            raise UsageError(
                f"{where}: line {lines[key, attribute]} already has the {attribute} of this "
                "picture."
            )
        lines[key, attribute] = number
        labels = pictures.setdefault(key, {})
        if value:
            labels[attribute] = value
    mode = protocol.default_mode
    number_of: dict[Key, int] = {}
    for key, labels in pictures.items():
        subject, thing, dimension, group, image = key
        sample = number_of[key[:4]] = number_of.get(key[:4], -1) + 1
        name = content_id(protocol.name, "labels", *key)
        factors = {"object": thing, "dimension": dimension, "group": group}
        trial = Trial(name, subject, mode, factors, sample, "", "", Sampling(None, None, 0))
        made = [Label(name, ANNOTATOR, attribute, value) for attribute, value in labels.items()]
        yield trial, Output(name, ANSWER, image, ""), made


def _key(row: dict[str, str], where: str) -> Key:
    for name in ("subject", "object", "image"):
        if not row[name]:
            raise UsageError(f"{where}: {name} may not be empty.")
    dimension, group = row["dimension"], row["group"]
    if bool(dimension) != bool(group):
        raise UsageError(
            f"{where}: fill in both dimension and group, or neither for the base prompt."
        )
    if (dimension == BASE) != (group == BASE):
        raise UsageError(
            f"{where}: '{BASE}' is the base prompt. Write it into both dimension and group."
        )
    return row["subject"], row["object"], dimension or BASE, group or BASE, row["image"]
