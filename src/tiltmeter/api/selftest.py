"""`tiltmeter selftest`: planted models of each protocol go through the whole of an audit, and what
was planted must be found.

What is planted and what is expected stands in selftest.toml. The draws are fixed by seeds, so that
the same code finds the
same numbers: an interval that misses a planted number here is no bad luck of the day.
"""

from __future__ import annotations

import csv
import re
import shutil
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .. import api, registry
from ..errors import TiltmeterError, UnknownName
from ..gold import validation
from ..planted.model import ratio_truth
from ..records import Estimate
from ..store import Store
from ..store.queries import labels

ALPHA = 0.05
SMALL = "64x64"  # pixels of a planted picture
STRATUM = ("mode", "language")  # parts of a condition that an expectation does not name
AUDITS = "selftest.toml"
HOME = Path(registry.__file__).parent / "protocols"


@dataclass(frozen=True, slots=True)
class Check:
    """One expectation: what was planted, what was found, and whether that is as it must be."""

    protocol: str
    audit: str
    what: str
    planted: str
    found: str
    ok: bool

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def audits() -> list[dict[str, Any]]:
    """The audits of selftest.toml, then those of a file of that name beside the protocol of another
    package.
    """
    files = [
        Path(__file__).with_name(AUDITS),
        *(folder / AUDITS for folder in registry.outside_protocols().values()),
    ]
    return [
        audit
        for file in files
        if file.is_file()
        for audit in tomllib.loads(file.read_text("utf-8"))["audits"]
    ]


def selftest(
    protocols: Sequence[str] = (), watch: Callable[[Check], None] = lambda check: None
) -> list[Check]:
    """Runs the audits of some protocols, or of all, in a folder that is removed again. UnknownName
    for one without any.
    """
    known = list(dict.fromkeys(audit["protocol"] for audit in audits()))
    for name in protocols:
        if name not in known:
            raise UnknownName("protocol with planted audits", name, known)
    found = []
    with tempfile.TemporaryDirectory(prefix="tiltmeter-selftest-") as folder:
        for number, audit in enumerate(audits()):
            if not protocols or audit["protocol"] in protocols:
                for check in _checked(audit, Path(folder), number):
                    watch(check)
                    found.append(check)
    return found


def _checked(audit: Mapping[str, Any], folder: Path, number: int) -> Iterator[Check]:
    """Makes a run and looks for all that is expected of it. An error of ours is a check that
    failed, and not the end.
    """
    try:
        run = _run(audit, folder, folder / f"run{number}")
        estimates = run.analyse()
        for expected in audit["finds"]:
            yield _compared(audit, expected, estimates)
        if "accuracy" in audit.get("gold", {}):
            yield _accuracy(audit, run)
    except TiltmeterError as error:
        yield Check(audit["protocol"], audit["name"], "the run", "", str(error), False)


def _run(audit: Mapping[str, Any], folder: Path, out: Path) -> api.Run:
    protocol = _source(audit["protocol"], folder)
    options = {
        **audit["options"],
        "where": {k: tuple(v) for k, v in audit["options"].get("where", {}).items()},
    }
    run = api.run(protocol, audit["model"], out, judge=audit.get("judge", ()), **options)
    if "also" in audit:
        api.label(out, judge=audit["also"])
    if "gold" in audit:
        _annotate(audit["gold"], run, out)
    return run


def _source(name: str, folder: Path) -> str:
    """The protocol's name; of pictures the path of a copy that asks for small ones, with the same
    prompts.
    """
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
        )
    return str(target / "protocol.toml")


def _annotate(gold: Mapping[str, Any], run: api.Run, out: Path) -> None:
    """A sheet that an annotator without errors fills in where people would."""
    sheet = out / "sheet.csv"
    api.draw_gold_sample(out, gold["number"], sheet, attribute=gold["attribute"])
    with sheet.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with Store(out) as store:
        said = {
            label.output: label.value
            for label in labels.of_attribute(store, gold["attribute"])
            if label.annotator.startswith(gold["as"]) and gold["of"] not in label.annotator
        }
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(
            {**row, "value": said[row["output"]], "annotator": "planted"} for row in rows
        )
    api.import_gold(out, sheet)


def _compared(
    audit: Mapping[str, Any], expected: Mapping[str, Any], estimates: Sequence[Estimate]
) -> Check:
    """One expectation against the one estimate that it is about."""
    condition = expected.get("condition", {})
    about = ", ".join(
        [*condition.values(), *filter(None, [expected.get("contrast"), expected.get("by")])]
    )
    what = f"{expected['measure']}{f' ({about})' if about else ''}"
    rows = [e for e in estimates if e.measure == expected["measure"] and _is(e, expected)]
    planted = _planted(audit, expected)
    words = _words(expected, planted)
    if len(rows) != 1:
        return Check(audit["protocol"], audit["name"], what, words, f"{len(rows)} estimates", False)
    (row,) = rows
    return Check(
        audit["protocol"], audit["name"], what, words, _found(row), _holds(row, expected, planted)
    )


def _is(row: Estimate, expected: Mapping[str, Any]) -> bool:
    condition = {name: level for name, level in row.condition.items() if name not in STRATUM}
    contrast = expected.get("contrast")
    return (
        condition == expected.get("condition", {})
        and expected.get("by", "") in row.instrument
        and (contrast is None or contrast in (row.contrast or {}).values())
    )


def _planted(audit: Mapping[str, Any], expected: Mapping[str, Any]) -> float | None:
    if "ratio" in expected:
        return ratio_truth(
            audit["model"].partition(":")[2],
            expected["ratio"],
            {"language": audit["options"]["language"]},
        )
    found = expected.get("planted")
    return None if found is None else float(found)


def _words(expected: Mapping[str, Any], planted: float | None) -> str:
    number = (
        ""
        if planted is None
        else f"{planted:.3g}{', which the judge misses' if expected.get('missed') else ''}"
    )
    tilt = {True: "a tilt", False: "no tilt"}.get(expected.get("tilt"), "")  # type: ignore[arg-type]
    return ", ".join(filter(None, (number, tilt)))


def _found(row: Estimate) -> str:
    if row.value is None:
        return f"not measured ({row.note})"
    ends = (
        f" [{row.low:.3f}, {row.high:.3f}]" if row.low is not None and row.high is not None else ""
    )
    p = f", adjusted p {row.p_adjusted:.2g}" if row.p_adjusted is not None else ""
    return f"{row.value:.3f}{ends}{p}"


def _holds(row: Estimate, expected: Mapping[str, Any], planted: float | None) -> bool:
    if row.value is None:
        return False
    if planted is not None:
        if row.low is None or row.high is None:
            return False
        if (row.low <= planted <= row.high) == expected.get("missed", False):
            return False
    if "tilt" in expected:
        return row.p_adjusted is not None and (row.p_adjusted < ALPHA) == expected["tilt"]
    return True


def _accuracy(audit: Mapping[str, Any], run: api.Run) -> Check:
    """Whether the report card of the noisy judge holds the accuracy that was planted."""
    gold = audit["gold"]
    with Store(run.folder) as store:
        cards = validation.validate(store, run.protocol).cards
    rows = [
        card
        for card in cards
        if gold["of"] in card.annotator and card.attribute == gold["attribute"]
    ]
    what, planted = f"accuracy of the judge ({gold['attribute']})", f"{gold['accuracy']:.3g}"
    if len(rows) != 1:
        return Check(
            audit["protocol"], audit["name"], what, planted, f"{len(rows)} report cards", False
        )
    found = rows[0].groups[0].accuracy
    said = "not measured" if found.value is None else f"{found.value:.3f}"
    if found.low is None or found.high is None:
        return Check(audit["protocol"], audit["name"], what, planted, said, False)
    ok = found.low <= gold["accuracy"] <= found.high
    return Check(
        audit["protocol"],
        audit["name"],
        what,
        planted,
        f"{said} [{found.low:.3f}, {found.high:.3f}]",
        ok,
    )
