"""Writes docs/explanation/what-survives.md from runs of published audits.

Type: python scripts/what_survives.py RUN…

A run is made by `tiltmeter import NAME CLONE --out RUN`. Each becomes a section: how many printed
numbers come out, which claims stand, with the signature behind them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import tiltmeter
from tiltmeter import registry
from tiltmeter.analyse.claims.verdicts import Verdict
from tiltmeter.analyse.whole_run.printed_beside import PUBLISHED, PrintedBeside, beside, sentence
from tiltmeter.analyse.words.verdict_words import Word

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "what-survives.md"
MARK = "<!-- made by scripts/what_survives.py from here on -->"
MOST = 4  # claims that a section lists


def main(folders: Sequence[str]) -> None:
    """Writes the sections of the runs behind the mark of the page."""
    text = PAGE.read_text("utf-8")
    head = text[: text.index(MARK) + len(MARK)]
    sections = [line for folder in folders for line in _section(tiltmeter.open_run(folder))]
    PAGE.write_text("\n".join([head, *sections, ""]), "utf-8")


def _section(run: tiltmeter.Run) -> Iterator[str]:
    protocol = run.protocol
    own = {spec.name for spec in protocol.measures}  # and no refusals, which none of them claims
    verdicts = [verdict for verdict in run.verdicts() if verdict.measure in own]
    rows = run.analyse()
    published = run.analyse(PUBLISHED) if PUBLISHED in protocol.variants else None
    numbers = beside(registry.printed_numbers(protocol.name), rows, published, verdicts)
    stand = [verdict for verdict in verdicts if verdict.word == Word.TILT]
    yield from ("", f"## {protocol.title}", "", protocol.citation + ".", "")
    yield (
        f"Printed numbers that come out {sentence(numbers)}. "
        f"Claims that stand: {len(stand)} of {len(verdicts)}; each by itself, unadjusted, "
        f"{sum(map(_excludes, verdicts))} have an interval that leaves out no difference."
    )
    claims = [number for number in numbers if number.verdict is not None]
    if claims:
        yield from ("", "|claim|printed|ours|verdict|why they part|")
        yield "|---|---|---|---|---|"
        yield from map(_row, claims[:MOST])
        if claims[MOST:]:
            yield f"\n{len(claims) - MOST} more are in the run's report."
    else:
        yield from ("", "|claim|ours|verdict|", "|---|---|---|")
        for verdict in verdicts[:MOST]:
            claim = _of(verdict.subject, *verdict.condition.values())
            number = _interval(verdict.value, verdict.low, verdict.high)
            yield f"|{claim}|{number}|{verdict.word.value}|"
        if verdicts[MOST:]:
            yield f"\n{len(verdicts) - MOST} more are in the run's report."
    signatures = list(dict.fromkeys(row.signature for row in rows))
    more = f" and {len(signatures) - 1} more" if signatures[1:] else ""
    yield from ("", f"Signature: `{signatures[0]}`{more}.")


def _excludes(verdict: Verdict) -> bool:
    """True if the interval of a claim, by itself, does not hold the value of no difference."""
    low, high = verdict.low, verdict.high
    return low is not None and high is not None and not low <= verdict.reference <= high


def _row(number: PrintedBeside) -> str:
    printed, row = number.printed, number.row
    value, low, high = map(printed.scaled, (row.value, row.low, row.high))
    word = number.verdict.word.value if number.verdict else ""
    cells = (
        _of(printed.measure.replace("_", " "), *printed.condition.values()),
        printed.text.replace("-", "−"),
        _interval(value, low, high),
        word,
        number.why,
    )
    return f"|{'|'.join(cells)}|"


def _of(*parts: str) -> str:
    return " · ".join(part for part in parts if part and part != "sampled")


def _interval(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "–"
    number = f"{value:.3g}"
    inside = f" [{low:.3g}, {high:.3g}]" if low is not None and high is not None else ""
    return f"{number}{inside}".replace("-", "−")


if __name__ == "__main__":
    main(sys.argv[1:])
