"""Fits what is seen of a whole reading (whose.py, [readings] in data/attribution.toml) to labelled
texts, and says what the weights are worth on texts not fitted to.

    python benchmarks/reading_weights.py [--write]

Each text is read in several ways; the weights make the readings with the readers' label likely
(maximum conditional likelihood, L2). Labels are of a text, not of a pronoun, so all readings that
give the label share it. Texts: the 440 rewrites that may be tuned on, the hand-labelled sentences,
and our inputs against the category that they were written with. Cross-validation leaves out whole
inputs with their texts.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import rewrites as gold
from pronouns import CORPUS, SENTENCES
from rewrite_gold import quality, read
from scipy.optimize import minimize

from tiltmeter.instruments.pronouns import pronouns as reader
from tiltmeter.instruments.pronouns.cast import Marked, cast_of, with_signs
from tiltmeter.instruments.pronouns.told import NOTHING, Told
from tiltmeter.instruments.pronouns.whose import readings
from tiltmeter.instruments.rewrites import told_of
from tiltmeter.instruments.rewrites.outcomes import READ, UNCHANGED, shape
from tiltmeter.instruments.wording import DATA
from tiltmeter.protocols.protext import shipped

PENALTY = 3.0
FOLDS = 8
WEIGHTS = {"rewrite": 1.0, "sentence": 0.2, "corpus": 0.1}


class Case(NamedTuple):
    """A text read in all ways: what is seen of each, the label of each, and the readers' label."""

    kind: str
    group: str
    gold: str
    seen: Sequence[Mapping[str, float]]
    labels: Sequence[str]


def case(kind: str, group: str, label: str, text: str, who: reader.Person, told: Told) -> Case:
    marked = reader.marked_of(text)
    if marked is None:
        return Case(kind, group, label, [{}], ["none"])
    cast = with_signs(marked, cast_of(marked, who), told)
    ways = readings(marked, cast, told.known)
    return Case(
        kind, group, label, [way.seen for way in ways], [_label(marked, way.whose) for way in ways]
    )


def _label(marked: Marked, whose: Mapping[int, str]) -> str:
    values = list(dict.fromkeys(marked.places[at] for at, one in whose.items() if one == "primary"))
    return "none" if not values else values[0] if len(values) == 1 else "mixed"


def cases() -> list[Case]:
    made = []
    for row in gold.rows(gold.TUNING):
        found = shape(row["input"], row["rewrite"])
        if (
            found.outcome in READ
            and found.outcome != UNCHANGED
            and row["shape"] not in ("refusal", "invalid")
        ):
            who = reader.person(row["theme"], row["noun"], row["input"])
            told = told_of({**row, "text": row["input"], "pronoun": row["input_pronoun"]})
            made.append(case("rewrite", row["input"], row["pronouns"], found.text, who, told))
    for row in read(SENTENCES):
        who = reader.person(row["theme"], row["noun"], row.get("input") or "")
        made.append(case("sentence", row["text"], row["label"], row["text"], who, NOTHING))
    for row in (*shipped.rows(), *shipped.rows("paired")[::3]):
        who = reader.person(row["theme"], row["noun"], row["text"])
        made.append(case("corpus", row["id"], CORPUS[row["pronoun"]], row["text"], who, NOTHING))
    return made


def fit(found: Sequence[Case], penalty: float = PENALTY) -> dict[str, float]:
    usable = [one for one in found if one.gold in one.labels and len(set(one.labels)) > 1]
    names = sorted({name for one in usable for seen in one.seen for name in seen})
    column = {name: at for at, name in enumerate(names)}
    table = np.zeros((sum(len(one.seen) for one in usable), len(names)))
    for row, seen in enumerate(seen for one in usable for seen in one.seen):
        for name, amount in seen.items():
            table[row, column[name]] = amount
    hit = np.array([label == one.gold for one in usable for label in one.labels])
    sizes = [len(one.seen) for one in usable]
    begins = np.cumsum([0, *sizes[:-1]])
    weight = np.array([WEIGHTS[one.kind] for one in usable])
    scale = np.sqrt(np.mean(table**2, axis=0)) + 1e-9
    table /= scale

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        score = table @ values
        each = np.exp(score - np.repeat(np.maximum.reduceat(score, begins), sizes))
        total, right = np.add.reduceat(each, begins), np.add.reduceat(each * hit, begins)
        share, own = each / np.repeat(total, sizes), each * hit / np.repeat(right, sizes)
        value = penalty * float(values @ values) / 2 - float(weight @ np.log(right / total))
        return value, penalty * values - ((own - share) * np.repeat(weight, sizes)) @ table

    best = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B").x / scale
    return {name: round(float(value), 2) for name, value in zip(names, best, strict=True)}


def said(one: Case, weights: Mapping[str, float]) -> str:
    scores = [sum(weights.get(k, 0.0) * v for k, v in seen.items()) for seen in one.seen]
    return one.labels[int(np.argmax(scores))]


def fold(one: Case) -> int:
    return int(hashlib.sha256(one.group.encode()).hexdigest(), 16) % FOLDS


def cross_validated(found: Sequence[Case], penalty: float = PENALTY) -> list[str]:
    answers = [""] * len(found)
    for number in range(FOLDS):
        weights = fit([one for one in found if fold(one) != number], penalty)
        for at, one in enumerate(found):
            if fold(one) == number:
                answers[at] = said(one, weights)
    return answers


def shown(found: Sequence[Case], answers: Sequence[str]) -> str:
    parts = []
    for kind in WEIGHTS:
        pairs = [
            (one.gold, answer)
            for one, answer in zip(found, answers, strict=True)
            if one.kind == kind
        ]
        rows = {row.name: row for row in quality(pairs)}
        right = sum(a == b for a, b in pairs) / len(pairs)
        none = [b in gold.GENDERS for a, b in pairs if a == "none"]
        wrong = sum(none) / len(none)
        macro = rows["macro"].f1 or 0.0
        parts.append(f"{kind}: right {right:.3f}, macro F1 {macro:.3f}, gender on none {wrong:.3f}")
    return "; ".join(parts)


def write(weights: Mapping[str, float]) -> None:
    path = DATA / "attribution.toml"
    before, _, after = path.read_text("utf-8").partition("[readings]")
    rest = after.partition("[weights]")[2]
    lines = "".join(f"{name} = {value}\n" for name, value in weights.items() if value)
    path.write_text(f"{before}[readings]\n{lines}\n[weights]{rest}", "utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    found = cases()
    mine = [one for one in found if one.kind == "rewrite"]
    print("a reading has the label:", sum(one.gold in one.labels for one in mine) / len(mine))
    for penalty in (PENALTY,):
        print("not fitted to", penalty, shown(found, cross_validated(found, penalty)))
    weights = fit(found)
    print("fitted       ", shown(found, [said(one, weights) for one in found]))
    if options.write:
        write(weights)
    return 0


if __name__ == "__main__":
    sys.exit(main())
