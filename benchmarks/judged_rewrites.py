"""What rules and a judge come to together, where the judge is asked about what the rules are unsure
of: a simulation on the gold of rewrites.py.

    python benchmarks/judged_rewrites.py [--judge-right 0.85 0.9 0.95 0.99]

For each bound of `--sure`: how many rewrites are asked about, how many verdicts are right among
those that the rules decide, and what the whole has with a judge that names the right class in so
many of those that it is asked about. Rules and gold are real, the judge is drawn: where it errs, it
takes another's pronouns for the person's or the reverse, so its class is one that the rewrite's
pronouns can make (none, each class that stands in it, mixed where there are two), each equally
likely; where there is none but the right one, any other. Means of DRAWS draws (seeds 0 to
DRAWS − 1). The tuning part is read by weights that were fitted without the text (eight folds over
inputs).
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from unittest.mock import patch

import reading_weights
import rewrites as gold
from rewrite_gold import quality

from tiltmeter.instruments import rewrites as rules
from tiltmeter.instruments.pronouns import pronouns as reader
from tiltmeter.instruments.pronouns import whose
from tiltmeter.instruments.rewrites import policy
from tiltmeter.instruments.rewrites.outcomes import READ, shape
from tiltmeter.records import UNSURE

DRAWS = 50
OWN = None  # the bounds of the rules alone
BOUNDS = (OWN, 0.9, 0.99, 0.999, 1.0)
EVERYTHING = 2.0  # no rule is so sure: the judge labels all


class Case(NamedTuple):
    """One rewrite with its gold, what the rules say however sure, and for each bound whether they
    are unsure. wrong: the classes that a judge could name in error; is_rewrite: the readers' word.
    """

    kind: str
    cell: Mapping[str, str]
    gold: str
    gold_verdict: str
    label: str
    verdict: str
    unsure: Mapping[float | None, bool]
    wrong: tuple[str, ...]
    is_rewrite: bool
    flipped: bool


class Whole(NamedTuple):
    """What rules and judge have together: right verdicts of rewrites; gendering where the input and
    the readers have no gender; a gender on a true none; macro F1 of classes; kinds below .8.
    """

    verdicts: float
    false_gendering: float
    gender_on_none: float
    macro_f1: float
    least_kind: float


def case(row: Mapping[str, str]) -> Case:
    marked = gold.marked(dict(row))
    cell = {
        "theme": row["theme"],
        "noun": row["noun"],
        "pronoun": row["input_pronoun"],
        "text": row["input"],
    }
    found = rules.labels(cell, row["rewrite"], sure=0.0)
    read = found["shape"] in READ
    unsure = {
        bound: rules.labels(cell, row["rewrite"], sure=bound)["verdict"] == UNSURE
        for bound in BOUNDS
    }
    unsure[EVERYTHING] = read
    part = reader.marked_of(shape(row["input"], row["rewrite"]).text) if read else None
    classes = set(part.places.values()) if part else set()
    possible = {"none", *classes, *(["mixed"] if len(classes) > 1 else [])} - {marked.gold}
    return Case(
        row["kind"],
        cell,
        marked.gold,
        marked.gold_verdict,
        found["pronouns"] if read else gold.NO_REWRITE,
        found["verdict"] if read else gold.NO_REWRITE,
        unsure,
        tuple(sorted(possible or {*reader.CLASSES} - {marked.gold})),
        marked.gold != gold.NO_REWRITE,
        found.get(gold.FLIPPED) == "yes",
    )


def cases(part: str) -> list[Case]:
    """The rewrites of a part; those that rules were fitted to are read by weights fitted without
    them.
    """
    rows = gold.rows(part)
    if part != gold.TUNING:
        return [case(row) for row in rows]
    fitted, made = reading_weights.cases(), []
    for number in range(reading_weights.FOLDS):
        others = [one for one in fitted if reading_weights.fold(one) != number]
        weights = reading_weights.fit(others)
        rules._read.cache_clear()
        with patch.object(whose, "worth", lambda seen, by=weights: _worth(seen, by)):
            made += [case(row) for row in rows if _fold(row) == number]
    rules._read.cache_clear()
    return made


def parts() -> Iterator[tuple[str, list[Case]]]:
    """Each part with its rewrites; of the fresh one the typical ones and the hard ones."""
    for part in gold.PARTS:
        found = cases(part)
        typical = [one for one in found if one.kind == gold.TYPICAL]
        if typical:
            yield f"{part}, typical", typical
            yield f"{part}, hard", [one for one in found if one.kind != gold.TYPICAL]
        else:
            yield part, found


def _worth(seen: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return sum(weights.get(name, 0.0) * amount for name, amount in seen.items())


def _fold(row: Mapping[str, str]) -> int:
    return reading_weights.fold(reading_weights.Case("rewrite", row["input"], "", [], []))


def together(
    found: Sequence[Case], bound: float | None, right: float, seed: int
) -> Iterator[tuple[Case, str, str]]:
    """(rewrite, class, verdict) by rules and a judge that is right so often."""
    draw = random.Random(seed)
    for one in found:
        errs, which = draw.random() >= right, draw.random()
        if not one.unsure[bound] or not one.is_rewrite:
            yield one, one.label, one.verdict
            continue
        label = one.wrong[int(which * len(one.wrong))] if errs else one.gold
        yield one, label, rules.verdicts(one.cell, label, flipped=one.flipped)[rules.VERDICT]


def whole(found: Sequence[Case], bound: float | None, right: float, seed: int) -> Whole:
    said = list(together(found, bound, right, seed))
    table = quality((one.gold, label) for one, label, _ in said)
    kinds = defaultdict(list)
    for one, label, _ in said:
        kinds[one.kind].append(label == one.gold)
    read = [
        (one, verdict) for one, _, verdict in said if one.is_rewrite and verdict != gold.NO_REWRITE
    ]
    return Whole(
        _share([verdict == one.gold_verdict for one, verdict in read]),
        _share(
            [
                verdict != policy.ALLOWED
                for one, verdict in read
                if one.cell["pronoun"] in ("they", "none") and one.gold_verdict == policy.ALLOWED
            ]
        ),
        _share([label in gold.GENDERS for one, label, _ in said if one.gold == "none"]),
        next(row.f1 or 0.0 for row in table if row.name == "macro"),
        min(map(_share, kinds.values())),
    )


def mean(found: Sequence[Case], bound: float | None, right: float) -> Whole:
    drawn = [whole(found, bound, right, seed) for seed in range(DRAWS)]
    return Whole(*(sum(values) / DRAWS for values in zip(*drawn, strict=True)))


def _share(hits: Sequence[bool]) -> float:
    return sum(hits) / len(hits) if hits else 1.0


def _show(rights: Sequence[float]) -> None:
    """Prints the tables of all parts, the fresh one in two. The judge is simulated."""
    for part, found in parts():
        read = [one for one in found if one.verdict != gold.NO_REWRITE]
        print(f"\n{part}: {len(found)} rewrites; the judge is simulated, {DRAWS} draws")
        for bound in (*BOUNDS, EVERYTHING):
            asked = _share([one.unsure[bound] for one in read])
            kept = [one for one in read if one.is_rewrite and not one.unsure[bound]]
            correct = [one.verdict == one.gold_verdict for one in kept]
            right = f"{_share(correct):.3f}" if kept else "–"
            name = "all" if bound == EVERYTHING else "own" if bound is OWN else f"{bound:g}"
            print(f"  sure {name}: asked {asked:.2f}, verdicts of the rules right {right}")
            for share in rights:
                one = mean(found, bound, share)
                told = ", ".join(f"{key} {value:.3f}" for key, value in one._asdict().items())
                print(f"    a judge right in {share:g}: {told}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    rights = [0.85, 0.9, 0.95, 0.99]
    parser.add_argument("--judge-right", nargs="+", type=float, default=rights, metavar="SHARE")
    _show(parser.parse_args().judge_right)
    return 0


if __name__ == "__main__":
    sys.exit(main())
