"""The strata of a figure: their names, pages, significance, tables, descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from ...analyse.words import numerals, reading
from ...analyse.words.reading import Stratum
from ...protocol import MeasureSpec
from ...records import Estimate
from ...stats.results import ALPHA
from . import audits
from .audits import Audit

SERIES = 6  # in one figure: as many as there are colours and shapes that stay apart
SAID = 40  # numbers that a description reads out; the rest are in the table


def labels(audit: Audit, estimates: Sequence[Estimate]) -> dict[Stratum, str]:
    """Labels each stratum by the levels in which strata differ; a single stratum as tables do."""
    named = {
        reading.stratum(e): [level for _, level in audit.differing_levels(e)] for e in estimates
    }
    if len(named) == 1:
        first = next(iter(estimates))
        return {reading.stratum(first): " · ".join(level for _, level in audit.brief(first))}
    differ = [len(set(levels)) > 1 for levels in zip(*named.values(), strict=True)]
    return {
        stratum: " · ".join(level for level, differs in zip(levels, differ, strict=True) if differs)
        for stratum, levels in named.items()
    }


def differing(audit: Audit, estimates: Sequence[Estimate]) -> str:
    """Names the fields of a stratum in which these estimates differ: `model, language`."""
    parts = [audit.differing_levels(e) for e in estimates]
    return (
        ", ".join(column[0][0] for column in zip(*parts, strict=True) if len(set(column)) > 1)
        or "model"
    )


def alone(labels: Mapping[Stratum, str]) -> str:
    """Writes the label of an only stratum for the figure's key; "" if there are several."""
    return f"{next(iter(labels.values()))}. " if len(labels) == 1 else ""


def present(audit: Audit, estimates: Iterable[Estimate]) -> list[Stratum]:
    """Returns the strata of these estimates, in the audit's order."""
    occurring = {reading.stratum(e) for e in estimates}
    return [stratum for stratum in audit.strata if stratum in occurring]


def pages(strata: Sequence[Stratum], most: int = SERIES) -> list[list[Stratum]]:
    """Splits strata into pages of at most `most`; keeps a subject's strata together if they fit."""
    filled: list[list[Stratum]] = []
    for _, group in groupby(strata, key=lambda stratum: stratum[0]):
        members = list(group)
        for start in range(0, len(members), most):
            part = members[start : start + most]
            if filled and len(filled[-1]) + len(part) <= most:
                filled[-1] += part
            else:
                filled.append(part)
    return filled


def table_id(audit: Audit, spec: MeasureSpec, grouping: tuple[str, ...], prefix: str) -> str:
    """Returns the id of the table that has the numbers of a grouping."""
    return audits.slug(prefix, spec.name, *(grouping if grouping in audit.fine(spec.name) else ()))


def heading(spec: MeasureSpec, detail: str = "", number: int = 1, of: int = 1) -> str:
    """Returns the title of a figure; numbers it if there are several."""
    words = reading.title(spec.text or spec.name) + (f": {detail}" if detail else "")
    return words + (f" ({number} of {of})" if of > 1 else "")


def describe_figure(spec: MeasureSpec, points: Sequence[str], side: str = "") -> str:
    """Describes a figure for people who cannot see it."""
    rest = f"; and {len(points) - SAID} more in the table" if len(points) > SAID else ""
    return f"{reading.title(spec.text or spec.name)}.{side} {'; '.join(points[:SAID])}{rest}."


def significant(estimate: Estimate) -> bool:
    """True if the deciding p (adjusted if available) is below ALPHA."""
    return estimate.deciding_p is not None and estimate.deciding_p < ALPHA


def level() -> str:
    """Writes the significance level for a figure's key: `p < .05`."""
    return f"p < {numerals.share(ALPHA, 2)}"


def number(spec: MeasureSpec, value: float | None) -> str:
    """Formats a value in the measure's unit, with two digits."""
    return numerals.quantity(value, spec.unit, spec.signed, 2)
