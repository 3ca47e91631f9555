"""The planted runs, and what Python gives of each: estimates, verdicts, reports."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import tiltmeter
from tests.golden.masks import as_lines, mask
from tiltmeter.api.check.planted_audits import PlantedAudit, audits, run_audit

TEXTS = ("note", "sentence", "headline")  # of a row: prose, which a rewording may change
Items = Iterator[tuple[str, str]]  # name of an item → what it holds


def run_name(audit: PlantedAudit) -> str:
    """The folder of an audit's run."""
    return f"{audit['protocol']}-{audit['name']}".replace(",", "").replace(" ", "-")


def make_runs(folder: Path, names: tuple[str, ...] = ()) -> list[Path]:
    """Runs the audits of `tiltmeter selftest`, or some by their names, inside the folder."""
    made = []
    with contextlib.chdir(folder):
        for audit in audits():
            name = run_name(audit)
            if not names or name in names:
                run_audit(audit, Path("protocols"), Path(name))
                made.append(folder / name)
    return made


def numbers(run: tiltmeter.Run) -> Items:
    """Yields the estimates and the codes of the verdicts of every variant."""
    for variant in run.protocol.variants:
        rows = run.analyse(variant)
        estimates = [
            without_texts(row.as_dict()) | {"cautions": list(row.cautions)} for row in rows
        ]
        yield f"{run.folder.name}.{variant}.estimates", as_lines(estimates)
        judged = []
        for verdict in run.verdicts(variant, estimates=rows):
            record = without_texts(verdict.as_dict())
            record["cautions"] = [caution.code for caution in verdict.cautions]
            judged.append(record)
        yield f"{run.folder.name}.{variant}.verdicts", as_lines(judged)


def without_texts(row: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in row.items() if name not in TEXTS}


def texts(run: tiltmeter.Run, folder: Path) -> Items:
    """Yields notes, verdicts in words and reports: HTML and Markdown, of every variant."""
    for variant in run.protocol.variants:
        rows = run.analyse(variant)
        name = f"{run.folder.name}.{variant}"
        notes = [
            {"measure": row.measure, "condition": row.condition, "note": row.note} for row in rows
        ]
        yield f"{name}.notes", as_lines(notes)
        judged = [verdict.as_dict() for verdict in run.verdicts(variant, estimates=rows)]
        yield f"{name}.verdicts", as_lines(judged)
        whole = variant == "default" and not run.folder.name.endswith(
            ("-fair", "-refusing", "protext-noisy-judge")
        )
        ends = ("html", "md") if whole else ("md",)
        for end in ends:
            path = run.report(folder / f"report.{end}", variant)
            yield f"{name}.report.{end}", mask(path.read_text("utf-8"), folder)
    brief = run.report(folder / "brief.html", brief=True)
    yield f"{run.folder.name}.brief.html", mask(brief.read_text("utf-8"), folder)
    yield f"{run.folder.name}.warnings", mask("\n".join(run.warnings()), folder)
