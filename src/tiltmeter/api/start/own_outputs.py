"""Makes a run from a folder of pictures or texts (the outputs), for people to label."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ... import registry
from ...errors import UsageError
from ...protocol import Protocol
from ...protocol.source.keys import MeasureKeys
from ..runs.execute import run
from ..runs.run_folder import Run

PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".gif")
TEXTS = (".txt", ".md")
_UNDECIDED = ("unclear", "neither", "none", "unsure", "other", "nobody")
_ATTRIBUTE = "label"


def start(folder: Path, out: Path, question: str, values: Sequence[str]) -> Run:
    """Makes a run from the pictures or texts of a folder; each subfolder is a group.

    Its measure is the share of the first value among those that decide (not `unclear` and so on).
    """
    if len(values) < 2 or not question.strip():
        raise UsageError(
            f"{folder} needs a question for people, and values to answer. Type for instance: "
            'tiltmeter annotate pictures --question "Who leads?" --values woman,man,unclear '
            "--annotator ann --out labelled"
        )
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in (*PICTURES, *TEXTS))
    pictures = [path for path in files if path.suffix.lower() in PICTURES]
    if not files:
        raise UsageError(f"{folder} holds no pictures ({', '.join(PICTURES)}) and no .txt files.")
    if pictures and len(pictures) < len(files):
        raise UsageError(f"{folder} holds pictures and texts. Put each into its own folder.")
    names = [path.relative_to(folder).as_posix() for path in files]
    declared = _declare(folder, question, values, names, bool(pictures))
    if pictures:
        return run(declared, f"folder:{folder}?pattern={{file}}", out)
    rows = [
        {"prompt": name, "text": path.read_text("utf-8", errors="replace")}
        for name, path in zip(names, files, strict=True)
    ]
    return run(declared, rows, out)


def _declare(
    folder: Path, question: str, values: Sequence[str], names: Sequence[str], pictures: bool
) -> Protocol:
    groups = [name.rpartition("/")[0] or folder.name for name in names]
    levels = list(dict.fromkeys(groups))
    among = [value for value in values if value not in _UNDECIDED]
    rows = [{"file": name, "group": group} for name, group in zip(names, groups, strict=True)]
    people = {"name": "people", "kind": "people", "attribute": _ATTRIBUTE}
    return registry.declare(
        {
            "name": re.sub(r"\W+", "_", folder.name.lower()).strip("_") or "outputs",
            "title": question,
            "question": question,
            "modality": "image" if pictures else "text",
            "prompt": "{file}",
            "factors": ["group"],
            "item": "file",
            "tables": [{"rows": rows}],
            "modes": {"sampled": {"samples": 1}},
            "instruments": [{**people, "values": dict.fromkeys(values, "")}],
            "annotation": {_ATTRIBUTE: {"question": question, "prompt": "folded"}},
            "measures": _measures(among, levels),
        }
    )


def _measures(among: list[str], levels: Sequence[str]) -> list[MeasureKeys]:
    """Declares the share of the first value; with two groups, also the difference of the groups."""
    share = MeasureKeys(
        name="share",
        kind="share",
        attribute=_ATTRIBUTE,
        values=among[:1],
        among=among,
        by=[[], ["group"]] if len(levels) > 1 else [[]],
        headline=len(levels) != 2,
        text=f"share of {among[0]} among {' and '.join(among)}",
    )
    if len(among) == 2:
        share["null"] = 0.5
    measures = [share]
    if len(levels) == 2:
        gap = MeasureKeys(
            name="gap",
            kind="difference",
            attribute=_ATTRIBUTE,
            values=among[:1],
            among=among,
            contrast={"factor": "group", "level": levels[0], "baseline": levels[1]},
            null=0.0,
            headline=True,
            text=f"share of {among[0]}, {levels[0]} less {levels[1]}",
        )
        measures.append(gap)
    return measures
