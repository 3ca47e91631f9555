"""Runs `tiltmeter selftest`: audits of planted models, which must find the planted tilts."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ...errors import MissingExtra, TiltmeterError, UnknownName
from ...gold import validation
from ...planted.subjects import ratio_truth
from ...records import Estimate, Json
from ...stats.results import ALPHA
from ...store import Store
from ..runs.run_folder import Run
from .planted_audits import Expectation, PlantedAudit, PlantedGold, audits, run_audit

STRATUM = ("mode", "language")  # parts of a condition that an expectation does not name


@dataclass(frozen=True, slots=True)
class Check:
    """An expectation with its planted value and the estimated value. ok: True if they agree.

    skipped: True if the audit needs an extra that is not installed.
    """

    protocol: str
    audit: str
    what: str
    planted: str
    found: str
    ok: bool
    skipped: bool = False

    def as_dict(self) -> dict[str, Json]:
        """Returns plain values, as `tiltmeter selftest --json` prints them."""
        return asdict(self)


def selftest(
    protocols: Sequence[str] = (), watch: Callable[[Check], None] = lambda check: None
) -> list[Check]:
    """Runs the audits of some protocols, or of all, in a temporary folder. Raises UnknownName for a
    protocol without audits. watch: called with each check once it is done.
    """
    names = list(dict.fromkeys(audit["protocol"] for audit in audits()))
    for name in protocols:
        if name not in names:
            raise UnknownName("protocol with planted audits", name, names)
    checks = []
    with tempfile.TemporaryDirectory(prefix="tiltmeter-selftest-") as folder:
        for number, audit in enumerate(audits()):
            if not protocols or audit["protocol"] in protocols:
                for check in _checks(audit, Path(folder), number):
                    watch(check)
                    checks.append(check)
    return checks


def _checks(audit: PlantedAudit, folder: Path, number: int) -> Iterator[Check]:
    """Runs an audit and yields its checks; a TiltmeterError is a failed check."""
    try:
        run = run_audit(audit, folder, folder / f"run{number}")
        estimates = run.analyse()
        for expected in audit["finds"]:
            yield _compare(audit, expected, estimates)
        if "gold" in audit and "accuracy" in audit["gold"]:
            yield _compare_accuracy(audit, audit["gold"], audit["gold"]["accuracy"], run)
    except MissingExtra as error:
        message = f"left out: {error}"
        yield Check(audit["protocol"], audit["name"], "the run", "", message, True, skipped=True)
    except TiltmeterError as error:
        yield Check(audit["protocol"], audit["name"], "the run", "", str(error), False)


def _compare(audit: PlantedAudit, expected: Expectation, estimates: Sequence[Estimate]) -> Check:
    """Compares an expectation with the one estimate that it describes."""
    condition = expected.get("condition", {})
    about = ", ".join(
        filter(None, [*condition.values(), expected.get("contrast"), expected.get("by")])
    )
    what = f"{expected['measure']}{f' ({about})' if about else ''}"
    rows = [row for row in estimates if _is_about(row, expected)]
    planted = _planted_number(audit, expected)
    words = _planted_words(expected, planted)
    if len(rows) != 1:
        return Check(audit["protocol"], audit["name"], what, words, f"{len(rows)} estimates", False)
    (row,) = rows
    ok = _is_as_planted(row, expected, planted)
    return Check(audit["protocol"], audit["name"], what, words, _estimate_words(row), ok)


def _is_about(row: Estimate, expected: Expectation) -> bool:
    condition = {name: level for name, level in row.condition.items() if name not in STRATUM}
    contrast = expected.get("contrast")
    return (
        row.measure == expected["measure"]
        and condition == expected.get("condition", {})
        and expected.get("by", "") in row.instrument
        and (contrast is None or contrast in (row.contrast or {}).values())
    )


def _planted_number(audit: PlantedAudit, expected: Expectation) -> float | None:
    if "ratio" in expected:
        settings, language = audit["model"].partition(":")[2], str(audit["options"]["language"])
        return ratio_truth(settings, expected["ratio"], {"language": language})
    return float(expected["planted"]) if "planted" in expected else None


def _planted_words(expected: Expectation, planted: float | None) -> str:
    missed = ", which the judge misses" if expected.get("missed") else ""
    number = "" if planted is None else f"{planted:.3g}{missed}"
    tilt = ("a tilt" if expected["tilt"] else "no tilt") if "tilt" in expected else ""
    return ", ".join(filter(None, (number, tilt)))


def _estimate_words(row: Estimate) -> str:
    if row.value is None:
        return f"not measured ({row.note})"
    ends = (
        f" [{row.low:.3f}, {row.high:.3f}]" if row.low is not None and row.high is not None else ""
    )
    p = f", adjusted p {row.p_adjusted:.2g}" if row.p_adjusted is not None else ""
    return f"{row.value:.3f}{ends}{p}"


def _is_as_planted(row: Estimate, expected: Expectation, planted: float | None) -> bool:
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


def _compare_accuracy(audit: PlantedAudit, gold: PlantedGold, accuracy: float, run: Run) -> Check:
    """Checks that the noisy judge's report card contains the planted accuracy."""
    with Store(run.folder) as store:
        cards = validation.validate(store, run.protocol).cards
    rows = [
        card
        for card in cards
        if gold["of"] in card.annotator and card.attribute == gold["attribute"]
    ]

    def check(found: str, ok: bool = False) -> Check:
        what = f"accuracy of the judge ({gold['attribute']})"
        return Check(audit["protocol"], audit["name"], what, f"{accuracy:.3g}", found, ok)

    if len(rows) != 1:
        return check(f"{len(rows)} report cards")
    rate = rows[0].groups[0].accuracy
    words = "not measured" if rate.value is None else f"{rate.value:.3f}"
    if rate.low is None or rate.high is None:
        return check(words)
    return check(f"{words} [{rate.low:.3f}, {rate.high:.3f}]", rate.low <= accuracy <= rate.high)
