"""Makes the reports of examples/ and the page docs/gallery.md.

    python scripts/gallery.py

Runs are made anew in a temporary folder; numbers on the page are read from their estimates.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import tiltmeter
from tiltmeter.records import Estimate

ROOT = Path(__file__).parents[1]
EXAMPLES, PAGE = ROOT / "examples", ROOT / "docs" / "gallery.md"
HEAD = """# Gallery

Finished reports, with the command that makes each and a paragraph that can be quoted. \
`python scripts/gallery.py` makes them all anew; the numbers on this page are read from the runs.
"""
PLANTED = "planted:protocol=occupations,female=.3,male=.7,female.nurse=.9,male.nurse=.1"
NAMES = {"gpt-3.5-turbo-0613": "GPT-3.5", "gpt-4-0613": "GPT-4"}


@dataclass(frozen=True)
class Shown:
    """One report: its folder below examples/ and its file, what stands over it, how to make it,
    what to say. A report in Markdown shows no outputs, so no names of people.
    """

    folder: str
    report: str
    title: str
    command: str
    make: Callable[[Path], tiltmeter.Run]
    said: Callable[[Sequence[Estimate]], str]


def hiring(out: Path) -> tiltmeter.Run:
    return tiltmeter.import_outputs("hiring", EXAMPLES / "hiring" / "rankings.jsonl.xz", out)


def occupations(out: Path) -> tiltmeter.Run:
    return tiltmeter.run("occupations", PLANTED, out, judge="planted:protocol=occupations")


def said_of_hiring(rows: Sequence[Estimate]) -> str:
    found = {
        (row.measure, row.subject, row.condition.get("first", "")): row
        for row in rows
        if "job" not in row.condition
    }
    sentences = []
    for subject, name in NAMES.items():
        shown, least = found["shown_first", subject, ""], _least(found, subject)
        sentences.append(
            f"{name} (`{subject}`) ranked the résumé that stood first in the prompt first in "
            f"{_percent(shown)} of its rankings; one in eight would be 12.5 %. The group that it "
            f"ranked first least often were résumés with names of {least.condition['first']}, "
            f"at {_ratio(least)} of the rate of the group that it ranked first most often."
        )
    return (
        f"{' '.join(sentences)} In brackets are 95 % intervals, which allow for the highest group "
        "being picked from the data. The replies are Bloomberg's of November 2023, about eight "
        "equal résumés for each of four jobs; names stand for how people may be perceived by "
        "them, and other prompts can give other results."
    )


def _least(found: Mapping[tuple[str, str, str], Estimate], subject: str) -> Estimate:
    ratios = [row for key, row in found.items() if key[:2] == ("impact_ratio", subject)]
    return min(ratios, key=lambda row: row.value or 0.0)


def said_of_occupations(rows: Sequence[Estimate]) -> str:
    (women,) = (row for row in rows if row.measure == "women" and "occupation" not in row.condition)
    return (
        f"Of the pictures that were perceived as of women or men, {_percent(women)} were "
        "perceived as of women. This is a planted model, which draws women with a probability of "
        "30 % and nurses with 90 %: it shows what a report of pictures looks like, and says "
        "nothing about any model that is in use."
    )


def _percent(row: Estimate) -> str:
    return f"{_times100(row.value)} % [{_times100(row.low)}, {_times100(row.high)}]"


def _times100(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f}"


def _ratio(row: Estimate) -> str:
    return f"{row.value:.2f} [{row.low:.2f}, {row.high:.2f}]"


SHOWN = (
    Shown(
        "hiring",
        "report.md",
        "GPT-3.5 and GPT-4 rank equal résumés",
        "tiltmeter import hiring examples/hiring/rankings.jsonl.xz --out hiring",
        hiring,
        said_of_hiring,
    ),
    Shown(
        "occupations",
        "report.html",
        "Pictures of a planted model",
        f"tiltmeter run occupations --model {PLANTED} "
        "--judge planted:protocol=occupations --out occupations",
        occupations,
        said_of_occupations,
    ),
)


def main() -> None:
    parts = [HEAD]
    with tempfile.TemporaryDirectory() as folder:
        for shown in SHOWN:
            run = shown.make(Path(folder) / shown.folder)
            target = EXAMPLES / shown.folder
            target.mkdir(parents=True, exist_ok=True)
            run.report(target / shown.report)
            parts.append(
                f"## {shown.title}\n\n```text\n{shown.command}\n```\n\n"
                f"[The report](../examples/{shown.folder}/{shown.report}).\n\n"
                f"> {shown.said(run.analyse())}\n"
            )
    PAGE.write_text("\n".join(parts), "utf-8")


if __name__ == "__main__":
    main()
