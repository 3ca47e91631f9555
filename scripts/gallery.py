"""Makes the reports of examples/ and the page docs/explanation/gallery.md.

    python scripts/gallery.py                # every run anew; 25 CPU minutes for the built-in model
    python scripts/gallery.py --runs FOLDER  # runs that lie there are read, and gone on with
    python scripts/gallery.py --release PATH # a clone of Bloomberg's release, for the first report

Without --release the first report and its part of the page stay as they are.

Each command stands on the page as it is run here; numbers are read from the runs' estimates.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import tiltmeter
from tiltmeter.records import Estimate
from tiltmeter.report.run_page import content
from tiltmeter.store import Store

ROOT = Path(__file__).parents[1]
EXAMPLES, PAGE = ROOT / "examples", ROOT / "docs" / "explanation" / "gallery.md"
HEAD = """# Gallery

Finished reports, with the command that makes each and a paragraph that can be quoted. \
`python scripts/gallery.py` makes them all anew. The small model is SmolLM2-135M-Instruct, which \
comes with tiltmeter and runs without a graphics card: nobody would put it to these uses, and \
other models answer otherwise.
"""
PLANTED = "planted:protocol=occupations,female=.3,male=.7,female.nurse=.9,male.nurse=.1"
RELEASE = "2024-openai-gpt-hiring-racial-discrimination"  # the folder of a clone
NAMES = {"gpt-3.5-turbo-0613": "GPT-3.5", "gpt-4-0613": "GPT-4"}
Sentences = Callable[[tiltmeter.Run], str]


@dataclass(frozen=True)
class Example:
    """One report: what stands over it, the command (its last word is the run's folder, and that
    below examples/), the report's file, and the paragraph to quote. A report in Markdown shows no
    outputs, so no names of people.
    """

    title: str
    command: str
    report: str
    paragraph: Sentences

    @property
    def folder(self) -> str:
        return shlex.split(self.command)[-1]


def quote_hiring(run: tiltmeter.Run) -> str:
    overall = {
        (row.measure, row.subject, row.condition.get("first", "")): row
        for row in run.analyse()
        if "job" not in row.condition
    }
    sentences = []
    for subject, name in NAMES.items():
        shown, least = overall["shown_first", subject, ""], _least(overall, subject)
        sentences.append(
            f"{name} (`{subject}`) put the résumé shown first in first place in {_percent(shown)} "
            f"of its rankings (one in eight is 12.5 %), and names of {least.condition['first']} "
            f"least often, at {_ratio(least)} of the rate of the highest group."
        )
    return (
        f"{' '.join(sentences)} In brackets are 95 % intervals, which allow for the highest group "
        "being picked from the data. The replies are Bloomberg's of November 2023, about eight "
        "equal résumés for each of four jobs; names stand for how people may be perceived by "
        "them, and other prompts can give other results."
    )


def _least(overall: Mapping[tuple[str, str, str], Estimate], subject: str) -> Estimate:
    ratios = [row for key, row in overall.items() if key[:2] == ("impact_ratio", subject)]
    return min(ratios, key=lambda row: row.value or 0.0)


def quote_occupations(run: tiltmeter.Run) -> str:
    (women,) = (
        row for row in run.analyse() if row.measure == "women" and "occupation" not in row.condition
    )
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


def quote_first_screen(run: tiltmeter.Run) -> str:
    """What the report's first screen says."""
    with Store(run.folder) as store:
        screen = content.build(store, run.protocol, run.analyse()).screen
    return " ".join((screen.headline, *screen.lede))


GALLERY = (
    Example(
        "GPT-3.5 and GPT-4 rank equal résumés",
        f"tiltmeter import hiring {RELEASE} --out hiring",
        "report.md",
        quote_hiring,
    ),
    Example(
        "Answers of a small model, read",
        "tiltmeter run roles --model file:examples/roles/answers.jsonl.xz --language en "
        "--samples 5 --out answers",
        "report.html",
        quote_first_screen,
    ),
    Example(
        "A small model puts he or she beside a trait",
        "tiltmeter run roles --model builtin --language en --mode exact --out roles",
        "report.html",
        quote_first_screen,
    ),
    Example(
        "A small model picks words for women and men",
        "tiltmeter run words --model builtin --language en --limit 20 --where age=40 --out words",
        "report.html",
        quote_first_screen,
    ),
    Example(
        "A small model decides about people",
        "tiltmeter run decisions --model builtin --mode exact --limit 20 --where age=45 "
        "--where gender=men,women --out decisions",
        "report.html",
        quote_first_screen,
    ),
    Example(
        "Pictures of a planted model",
        f"tiltmeter run occupations --model {PLANTED} "
        "--judge planted:protocol=occupations --out occupations",
        "report.html",
        quote_occupations,
    ),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=Path, help="folder of the runs, kept")
    parser.add_argument("--release", type=Path, help="a clone of Bloomberg's release")
    parser.add_argument("--only", help="make this one anew, by its folder; the others stay")
    typed = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        parts = []
        for example in GALLERY:
            read = RELEASE in example.command
            if (read and not typed.release) or typed.only not in (None, example.folder):
                parts.append(_as_it_is(example))
            else:
                parts.append(make(example, typed.runs or Path(folder), typed.release))
    PAGE.write_text("\n".join((HEAD, *parts)), "utf-8")


def _as_it_is(example: Example) -> str:
    """The part of the page that it has; SystemExit if it has none yet."""
    _, heading, rest = PAGE.read_text("utf-8").partition(f"## {example.title}\n")
    if not heading:
        raise SystemExit(f"{PAGE.name} has nothing of {example.title!r} yet. Make it (--release).")
    return f"{heading}{rest.partition(f'{chr(10)}## ')[0].rstrip()}\n"


def make(example: Example, runs: Path, release: Path | None) -> str:
    """Runs the command in `runs`, writes the report, gives the example's part of the page."""
    out = runs / example.folder
    words = [str(release) if word == RELEASE else word for word in shlex.split(example.command)]
    command = [*words[1:-1], str(out)]
    if not (out.exists() and command[0] == "import"):
        subprocess.run([sys.executable, "-m", "tiltmeter", *command], cwd=ROOT, check=True)
    run, target = tiltmeter.Run(out), EXAMPLES / example.folder / example.report
    target.parent.mkdir(parents=True, exist_ok=True)
    run.report(target)
    return (
        f"## {example.title}\n\n```text\n{example.command}\n```\n\n"
        f"[The report](../../examples/{example.folder}/{example.report}).\n\n"
        f"> {example.paragraph(run)}\n"
    )


if __name__ == "__main__":
    main()
