"""The audits of `tiltmeter selftest`: planted tilts, expected findings, and the run of each audit.

They are listed in selftest.toml. Seeds fix all sampling, so the same code yields the same numbers:
if an interval misses a planted number, that is never due to chance.
"""

from __future__ import annotations

import csv
import re
import shutil
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NotRequired, TypedDict

from ... import registry
from ...row_files import own_rows
from ...store import Store
from ...store.queries import labels
from ..options.records import RunOptions
from ..runs.execute import label, run
from ..runs.imports import draw_gold_sample, import_gold
from ..runs.run_folder import Run

AUDITS = "selftest.toml"
SMALL = "64x64"  # pixels of a planted picture
HOME = Path(registry.__file__).parent / "protocols"


class Expectation(TypedDict):
    """An estimate that an audit must yield, identified by its measure, condition (without mode and
    language), contrast and the beginning of its annotator.

    planted: the model's true number, which must lie in the interval.
    ratio:   the class whose true disparate impact is computed, in place of `planted`.
    missed:  True if the interval must not hold the number: a judge errs and gold does not yet
      correct it.
    tilt:    True if a tilt must be found, False if none may be.
    """

    measure: str
    condition: NotRequired[Mapping[str, str]]
    contrast: NotRequired[str]
    by: NotRequired[str]
    planted: NotRequired[float]
    ratio: NotRequired[str]
    missed: NotRequired[bool]
    tilt: NotRequired[bool]


# as: the beginning of the annotator, without errors, that plays the people; of: what is part of the
# name of the judge that errs, with this accuracy where it is planted.
PlantedGold = TypedDict(
    "PlantedGold",
    {"attribute": str, "number": int, "as": str, "of": str, "accuracy": NotRequired[float]},
)


class PlantedAudit(TypedDict):
    """A run on a planted model. also: judges that label the run in a second pass."""

    protocol: str
    name: str
    model: str
    options: RunOptions
    finds: Sequence[Expectation]
    judge: NotRequired[Sequence[str]]
    also: NotRequired[Sequence[str]]
    gold: NotRequired[PlantedGold]


def audits() -> list[PlantedAudit]:
    """Lists the audits of selftest.toml, and of such files beside other packages' protocols."""
    files = [
        Path(__file__).parents[1] / AUDITS,
        *(folder / AUDITS for folder in registry.outside_protocols().values()),
    ]
    return [
        audit
        for file in files
        if file.is_file()
        for audit in tomllib.loads(file.read_text("utf-8"))["audits"]
    ]


def run_audit(audit: PlantedAudit, folder: Path, out: Path) -> Run:
    """Runs an audit in the folder `out`. folder: receives copies of protocols."""
    protocol = with_small_pictures(audit["protocol"], folder)
    finished = run(protocol, audit["model"], out, judge=audit.get("judge", ()), **audit["options"])
    if "also" in audit:
        label(out, judge=audit["also"])
    if "gold" in audit:
        _annotate(audit["gold"], out)
    return finished


def with_small_pictures(name: str, folder: Path) -> str:
    """Returns the protocol's name; for pictures, the path of a copy that asks for small ones."""
    if registry.protocol(name).modality != "image":
        return name
    target = folder / name
    if not target.exists():
        shutil.copytree(HOME / name, target)
        shutil.copytree(HOME / "data", folder / "data", dirs_exist_ok=True)
        path = target / "protocol.toml"
        text = re.sub(r'^size = ".*"\n', "", path.read_text("utf-8"), flags=re.MULTILINE)
        path.write_text(
            re.sub(r"^(\[modes\..*\])$", rf'\1\nsize = "{SMALL}"', text, flags=re.MULTILINE),
            "utf-8",
            newline="\n",
        )
    return str(target / "protocol.toml")


def _annotate(gold: PlantedGold, out: Path) -> None:
    """Fills in a gold sheet with the labels of an annotator without errors, and imports it."""
    sheet = out / "sheet.csv"
    draw_gold_sample(out, gold["number"], sheet, attribute=gold["attribute"])
    rows = own_rows(sheet)
    with Store(out) as store:
        values = {
            label.output: label.value
            for label in labels.of_attribute(store, gold["attribute"])
            if label.annotator.startswith(gold["as"]) and gold["of"] not in label.annotator
        }
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(
            {**row, "value": values[row["output"]], "annotator": "planted"} for row in rows
        )
    import_gold(out, sheet)
