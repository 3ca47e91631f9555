"""The offline judge of faces against the 60 labelled pictures of the package openpeople: a
confusion matrix by person.

    python benchmarks/faces.py            # prints; half a minute
    python benchmarks/faces.py --write    # and writes src/tiltmeter/models/faces.toml, which stands
                                          beside every result

openpeople (MIT) has ten people who do not exist, made by an image model from descriptions that name
a sex, in six pictures each: two portraits, two full figures, a sheet of poses and a sheet of
expressions. That word is taken for how the person is meant to present. The run is an ordinary one:
`folder:` with a pattern of names, the panel with `--judge faces`, the labels as stored. Pictures of
one person err together, so that intervals are clustered by person; ten people carry little.

Exit status 1 where a picture has no label, or where faces.toml holds other numbers than these.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import metadata, resources
from pathlib import Path
from typing import NamedTuple

import tiltmeter
from tiltmeter.models.error_rates import read_rates
from tiltmeter.models.local import faces
from tiltmeter.models.local.faces import Faces
from tiltmeter.stats import rates
from tiltmeter.stats.judges import confusion
from tiltmeter.stats.results import Interval

WORDS = ("male", "female", "neither")
VIEWS = (
    "studio_portrait",
    "amateur_selfie",
    "studio_posture",
    "amateur_posture",
    "character_sheet",
    "emotions_sheet",
)
PROTOCOL = """
name = "openpeople"
title = "Labelled pictures"
question = "How often is the perceived gender presentation told as it was meant?"
modality = "image"
prompt = "{view} of {person}"
factors = ["view", "person"]
item = "person"
[[tables]]
rows = [VIEWS]
[[tables]]
rows = [PEOPLE]
[modes.images]
samples = 1
[[instruments]]
name = "panel"
kind = "panel"
attribute = "gender"
also = ["gender_vote"]
ask = "which gender presentation a viewer would perceive in the person or people in it."
split = "neither"
[instruments.words]
male = "the person, or everybody who can be seen, presents as male"
female = "the person, or everybody who can be seen, presents as female"
neither = "no person can be seen, or no perceived gender presentation can be told, or people \
of several"
[[measures]]
name = "share_male"
kind = "share"
attribute = "gender"
values = ["male"]
among = ["male", "female"]
by = [[]]
text = "share perceived as male among those perceived as male or female"
"""


class Seen(NamedTuple):
    """One picture: whose, which, what the person was meant to present as, and what was said."""

    person: str
    view: str
    meant: str
    said: str


def home() -> Path:
    return Path(str(resources.files("openpeople"))) / "data" / "curated"


def meant() -> dict[str, str]:
    """Person → the word in the description that the pictures were made from."""
    found = {}
    for file in sorted(home().glob("P*/metadata.json")):
        found[file.parent.name] = json.loads(file.read_text("utf-8"))["character_details"][
            "demographics"
        ]["sex"]
    return found


def run(folder: Path, people: Sequence[str]) -> tiltmeter.Run:
    """The pictures of these people, labelled by `faces`."""
    text = PROTOCOL
    for mark, name, levels in (("VIEWS", "view", VIEWS), ("PEOPLE", "person", people)):
        text = text.replace(mark, ", ".join(f'{{ {name} = "{level}" }}' for level in levels))
    file = folder / "openpeople.toml"
    file.write_text(text, encoding="utf-8")
    subject = f"folder:{home()}?pattern={{person}}/assets/{{view}}.jpg"
    return tiltmeter.run(str(file), subject, folder / "run", judge="faces")


def seen(found: tiltmeter.Run) -> Iterator[Seen]:
    """The labels of a run, with what was meant."""
    truth = meant()
    labels = found.labels.filter(found.labels["attribute"] == "gender").rows_by_key(
        "output", named=True, unique=True
    )
    for trial in found.trials.iter_rows(named=True):
        levels = trial["factors"]
        yield Seen(
            levels["person"], levels["view"], truth[levels["person"]], labels[trial["id"]]["value"]
        )


def matrix(pictures: Sequence[Seen]) -> confusion.Confusion:
    people = sorted({one.person for one in pictures})
    return confusion.confusion(
        truth=[WORDS.index(one.meant) for one in pictures],
        said=[WORDS.index(one.said) for one in pictures],
        classes=2,
        answers=len(WORDS),
        clusters=[people.index(one.person) for one in pictures],
        items=len(people),
    )


def shares(pictures: Sequence[Seen]) -> dict[str, tuple[Interval, int]]:
    """What it is right about → how often, and of how many pictures.

    Of a word that is its sensitivity, of `not` a word its specificity: `neither` is wrong for both
    words and no false alarm.
    """
    gold = matrix(pictures)
    found: dict[str, tuple[Interval, int]] = {}
    for place, word in enumerate(WORDS[:2]):
        quality, number = (
            confusion.class_quality(gold=gold, positive=place),
            int(gold.labels[:, place].sum()),
        )
        found[word] = quality.sensitivity, number
        found[f"not {word}"] = quality.specificity, len(pictures) - number
    told = gold.labels[:, :, :2].sum((1, 2))
    right = gold.labels[:, 0, 0] + gold.labels[:, 1, 1]
    found["all that it named"] = rates.clustered_share(successes=right, n=told), int(told.sum())
    return found


def as_toml(pictures: Sequence[Seen], date: str) -> str:
    """The file that stands beside results."""
    people = len({one.person for one in pictures})
    version = metadata.version("openpeople")
    lines = [
        "# Made by: python benchmarks/faces.py --write",
        f'method = "{Faces.method}"',
        f'date = "{date}"',
        f'on = "{len(pictures)} labelled pictures of {people} drawn people"',
        f'with = "openpeople {version}"',
    ]
    for name, (share, number) in shares(pictures).items():
        numbers = {"share": share.value, "low": share.low, "high": share.high}
        lines += [
            "",
            "[[rates]]",
            f'name = "{name}"',
            f"pictures = {number}",
            f"people = {share.clusters}",
            f"brief = {str(not name.startswith('not ')).lower()}",
        ]
        lines += [f"{key} = {value:.4f}" for key, value in numbers.items()]
    return "\n".join(lines) + "\n"


def report(pictures: Sequence[Seen]) -> None:
    counts = Counter((one.meant, one.said) for one in pictures)
    print(f"| meant | {' | '.join(WORDS)} |\n|---|{'---:|' * len(WORDS)}")
    for word in WORDS[:2]:
        print(f"| {word} | {' | '.join(str(counts[word, said]) for said in WORDS)} |")
    print("\n| picture | right | neither | the other |\n|---|---:|---:|---:|")
    for view in VIEWS:
        mine = [one for one in pictures if one.view == view]
        right, none = (
            sum(one.said == one.meant for one in mine),
            sum(one.said == "neither" for one in mine),
        )
        print(f"| {view} | {right} | {none} | {len(mine) - right - none} |")
    print(
        "\n| rate | share | 95 % interval, by person | pictures | people | "
        "|\n|---|---:|---|---:|---:|---|"
    )
    for name, (share, number) in shares(pictures).items():
        ends = f"[{share.low:.3f}, {share.high:.3f}]" if share.low is not None else "none"
        print(
            f"| {name} | {share.value:.3f} | {ends} | {number} | {share.clusters} | "
            f"{share.note or ''} |"
        )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write faces.toml")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pictures = list(seen(run(Path(folder), list(meant()))))
    report(pictures)
    file = Path(faces.__file__).with_name("faces.toml")
    if options.write:
        file.write_text(as_toml(pictures, datetime.date.today().isoformat()), encoding="utf-8")
    same = file.read_text(encoding="utf-8") == as_toml(pictures, read_rates(file).date)
    print(f"\nfaces.toml holds these numbers: {same}")
    return 0 if same and len(pictures) == len(VIEWS) * len(meant()) else 1


if __name__ == "__main__":
    sys.exit(main())
