"""A protocol over the user's folder of pictures: each picture belongs to an item (a scene) and a
group, according to its path or to a table in the folder (picture_manifest.py). Several pictures of
one item and group are its samples.

Paths are tried as GROUP/ITEM.png, ITEM/GROUP.png, ITEM_GROUP.png and GROUP_ITEM.png; the first form
in which every item has a picture of every group is used.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import Template

from ...errors import UsageError
from ...protocol import EVERY
from ...row_files import Row
from .picture_manifest import NAMES, Manifest, manifest_of

ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".gif")
COLUMNS = ("picture", "item", "group", "sample")
_START = Path(__file__).parents[1] / "starts" / "pictures.toml"


def write(target: Path, folder: Path, options: Sequence[str]) -> list[Path]:
    """Writes a protocol and, beside it, a table of its pictures. Raises UsageError if the options
    are missing, or if neither a table nor the paths say which item and group each picture is of.
    """
    if len(options) < 2:
        raise UsageError(
            "A folder of pictures needs the words that an answer chooses between. Type: tiltmeter "
            f"init {target} --from {folder} --options A,B"
        )
    if not folder.resolve().is_relative_to(target.parent.resolve()):
        path = folder.parent / target.name
        raise UsageError(
            f"The protocol's file must lie above the pictures. Type: tiltmeter init {path} …"
        )
    rows = read(folder)
    groups = list(dict.fromkeys(row["group"] for row in rows))
    table = target.with_name(f"{target.stem}-pictures.csv")
    for path in (target, table):
        if path.exists():
            raise UsageError(f"{path} is there already, and was not changed. Name another file.")
    home = folder.resolve().relative_to(target.parent.resolve())
    with table.open("w", encoding="utf-8", newline="") as file:
        lines = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        lines.writeheader()
        lines.writerows({**row, "picture": (home / row["picture"]).as_posix()} for row in rows)
    words = " or ".join(f"'{word}'" for word in options)
    is_pair = len(groups) == 2
    text = Template(_START.read_text("utf-8")).substitute(
        name=re.sub(r"\W+", "_", target.stem).strip("_").lower() or "audit",
        prompt=_quote(f"Which fits the picture, {words}? Answer with one of them."),
        table=_quote(table.name),
        sample=', "sample"' if "sample" in rows[0] else "",
        forms="\n".join(f"{_quote(word)} = [{_quote(word)}]" for word in options),
        counted=_quote(options[0]),
        among=", ".join(map(_quote, options)),
        first=options[0].replace('"', ""),
        level=_quote(groups[0] if is_pair else EVERY),
        baseline=_quote(groups[1] if is_pair else groups[0]),
    )
    target.write_text(text, "utf-8", newline="\n")
    return [target, table]


def read(folder: Path) -> list[Row]:
    """Returns a row per picture in a folder: its path, item and group, and if several pictures have
    the same its sample, from 1.
    """
    pictures = sorted(path for path in folder.rglob("*") if path.suffix.lower() in ENDINGS)
    paths = [path.relative_to(folder) for path in pictures]
    manifest = manifest_of(folder, [path.as_posix() for path in paths])
    if manifest is not None:
        return _rows_of(manifest)
    for pairs in _readings(paths):
        items, groups = {item for item, _ in pairs}, {group for _, group in pairs}
        is_complete = len(set(pairs)) == len(pairs) == len(items) * len(groups)
        if is_complete and len(groups) > 1 and len(items) > 1:
            return [
                {"picture": path.as_posix(), "item": item, "group": group}
                for path, (item, group) in zip(paths, pairs, strict=True)
            ]
    raise UsageError(
        f"{folder} must have one picture per item and group, with names such as ITEM/GROUP.png or "
        f"ITEM_GROUP.png. Rename them, or add {folder / NAMES[0]} with the columns file, item and "
        "group."
    )


def _rows_of(manifest: Manifest) -> list[Row]:
    """Returns the rows of a manifest; without a column of groups they are the subfolders."""
    rows: list[Row] = []
    counts: Counter[tuple[str, str]] = Counter()
    for file, (item, _, named) in manifest.rows.items():
        group = named or file.rpartition("/")[0]
        counts[item, group] += 1
        sample = str(counts[item, group])
        rows.append({"picture": file, "item": item, "group": group, "sample": sample})
    if len({row["group"] for row in rows}) < 2:
        raise UsageError(
            f"{manifest.path} names no groups that could be compared. Add a column group, or put "
            "the pictures of each group into a subfolder."
        )
    if max(counts.values()) == 1:
        return [{name: row[name] for name in COLUMNS[:3]} for row in rows]
    return rows


def _readings(paths: Sequence[Path]) -> Iterator[list[tuple[str, str]]]:
    """Yields [(item, group) of each picture] for each way to read the paths, few groups first."""
    splits = (
        [(path.parent.as_posix(), path.stem) for path in paths],
        [tuple(re.split("[-_ ]", path.stem, maxsplit=1)) for path in paths],
        [tuple(path.stem.replace("-", "_").rsplit("_", 1)) for path in paths],
    )
    for parts in splits:
        if any(len(part) != 2 for part in parts):
            continue
        pairs = [(str(first), str(second)) for first, second in parts]
        turned = [(second, first) for first, second in pairs]
        has_fewer = len({first for first, _ in pairs}) < len({second for _, second in pairs})
        yield from (turned, pairs) if has_fewer else (pairs, turned)


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
