"""Makes a run from a folder of pictures or texts (the outputs), for people to label."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ... import registry
from ...analyse.words.first_sentence.clauses import join_names
from ...errors import UsageError
from ...protocol import Protocol
from ...protocol.source.keys import MeasureKeys
from ...stats.results import count_of
from ..runs.execute import run
from ..runs.run_folder import Run
from .picture_manifest import NAMES, Manifest, manifest_of

PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".gif")
TEXTS = (".txt", ".md")
_UNDECIDED = ("unclear", "neither", "none", "unsure", "other", "nobody")
_ATTRIBUTE = "label"
_INDEPENDENT = (
    "count as independent: if several are of one prompt, the intervals are too narrow."  # begins so
)


def start(folder: Path, out: Path, question: str, values: Sequence[str]) -> Run:
    """Makes a run from the pictures or texts of a folder. Its manifest says which prompt and group
    each is of; without a manifest each is an item of its own, and each subfolder a group.

    Its measure is the share of the first value among those that decide (not `unclear` and so on).
    """
    if len(values) < 2 or not question.strip():
        raise UsageError(
            f"{folder} needs a question for people, and values to answer. Type for instance: "
            'tiltmeter annotate pictures --question "Who leads?" --values woman,man,unclear '
            "--annotator ann --out labelled"
        )
    files = sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in (*PICTURES, *TEXTS) and not path.name.startswith("._")
    )
    pictures = [path for path in files if path.suffix.lower() in PICTURES]
    if not files:
        raise UsageError(f"{folder} holds no pictures ({', '.join(PICTURES)}) and no .txt files.")
    if pictures and len(pictures) < len(files):
        raise UsageError(f"{folder} holds pictures and texts. Put each into its own folder.")
    names = [path.relative_to(folder).as_posix() for path in files]
    declared = _declare(folder, question, values, names, bool(pictures), manifest_of(folder, names))
    if pictures:
        return run(declared, f"folder:{folder}?pattern={{file}}", out)
    rows = [
        {"prompt": name, "text": path.read_text("utf-8", errors="replace")}
        for name, path in zip(names, files, strict=True)
    ]
    return run(declared, {declared.name: rows}, out)


def refuse_other(run: Run, question: str, values: Sequence[str]) -> None:
    """Raises UsageError if a run made by `start` asks people another question than the given one,
    or offers other values; an empty question or no values ask nothing.
    """
    declared = run.protocol
    offered = [value for spec in declared.instruments for value in spec.settings.get("values", ())]
    if (question and question != declared.question) or (values and list(values) != offered):
        raise UsageError(
            f"{run.folder} asks “{declared.question}” ({', '.join(offered)}). For another question "
            "make another run of the same files: add --out with a new name."
        )


def describe(folder: Path, protocol: Protocol) -> str:
    """Says how many files a run made by `start` has, of how many items, in which groups; if each
    file is an item, that files count as independent, and how to name their prompts.
    """
    files, groups = protocol.levels["file"], protocol.levels["group"]
    what = "picture" if protocol.modality == "image" else "text"
    compared = f" in the groups {join_names(list(groups))}" if len(groups) > 1 else ""
    if protocol.item != "file":
        items = count_of(len(protocol.items()), protocol.item)
        return f"{count_of(len(files), what)} of {items}{compared}, by the manifest of {folder}."
    advice = f"To name their prompts: {folder / NAMES[0]} with the columns file,prompt."
    if any((folder / name).is_file() for name in NAMES):
        advice = "The run is older than the manifest; to use that: --out with a new name."
    return f"{count_of(len(files), what)}{compared}. They {_INDEPENDENT} {advice}"


def _declare(
    folder: Path,
    question: str,
    values: Sequence[str],
    names: Sequence[str],
    pictures: bool,
    manifest: Manifest | None,
) -> Protocol:
    rows = [_row(folder, name, manifest) for name in names]
    levels = list(dict.fromkeys(row["group"] for row in rows))
    among = [value for value in values if value not in _UNDECIDED]
    people = {"name": "people", "kind": "people", "attribute": _ATTRIBUTE}
    item = next(name for name in ("item", "prompt", "file") if name in rows[0])
    return registry.declare(
        {
            "name": re.sub(r"\W+", "_", folder.name.lower()).strip("_") or "outputs",
            "title": question,
            "question": question,
            "modality": "image" if pictures else "text",
            "limits": [] if manifest else [f"{'Pictures' if pictures else 'Texts'} {_INDEPENDENT}"],
            "prompt": "{prompt}" if pictures and "prompt" in rows[0] else "{file}",
            "factors": ["group", *(["file"] if item != "file" else [])],
            "item": item,
            "tables": [{"rows": rows}],
            "modes": {"sampled": {"samples": 1}},
            "instruments": [{**people, "values": dict.fromkeys(values, "")}],
            "annotation": {_ATTRIBUTE: {"question": question, "prompt": "folded"}},
            "measures": _measures(among, levels),
        }
    )


def _row(folder: Path, name: str, manifest: Manifest | None) -> dict[str, str]:
    """Returns a file's row of the table: the file, its group, and its prompt or item if known."""
    row = {"file": name, "group": name.rpartition("/")[0] or folder.name}
    if manifest is None:
        return row
    item, prompt, group = manifest.rows[name]
    named = {"prompt": prompt} if prompt else {}
    if item != prompt:
        named["item"] = item
    return {**row, **named, **({"group": group} if group else {})}


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
