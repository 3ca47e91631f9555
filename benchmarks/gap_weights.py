"""Fits the weights of instruments/attribution.py to GAP pairs, and says what they are worth on
pairs not fitted to.

    python benchmarks/gap_weights.py PAIRS.tsv [--write]

Logistic regression (scikit-learn, L2, C = 0.03; feminine pairs weigh 2) on the difference of the
two candidates' features, over the pairs with one
true candidate. Chains of pronouns are resolved with START while features are collected. Two folds:
even rows for odd ones and the other way round.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import gap_pairs as question
import numpy as np
from sklearn.linear_model import LogisticRegression

from tiltmeter.instruments.pronouns import attribution as rules
from tiltmeter.instruments.pronouns.passage import plain, tokens
from tiltmeter.instruments.wording import DATA

Pair = Mapping[str, str]
# By hand: what chains are resolved with while nothing is fitted. `relative` is a rule of grammar
# and stays as it is.
START = {
    "sentences_0": 2.0,
    "sentences_1": 1.0,
    "sentences_2": -0.5,
    "sentences_3": -1.5,
    "ahead": -4.0,
    "ahead_same": -0.5,
    "between": -0.3,
    "distance": -0.3,
    "named": 0.3,
    "chained": 0.3,
    "near_subject_subject": 1.0,
    "far_subject_subject": 1.0,
    "near_possessive_subject": 1.0,
    "far_possessive_subject": 0.5,
    "clause_object_subject": -3.0,
    "relative": 2.0,
    "neither": 99.0,
}
NEITHER = 3.0
PENALTY = 0.03  # scikit-learn's C
# Pairs with a feminine pronoun are harder here, and there the baseline errs more too: they weigh
# more in the fit.
FEMININE_WEIGHT = 2.0
FEMININE = ("she", "her", "hers")


def use(weights: Mapping[str, float]) -> None:
    rules.weights = lambda: weights  # type: ignore[assignment]
    for score in (rules.score_of_place, rules.score_of_distance, rules.score_of_names):
        score.cache_clear()


def candidates(pair: Pair) -> tuple[tuple[str, int], tuple[str, int]]:
    return (pair["A"], int(pair["A-offset"])), (pair["B"], int(pair["B-offset"]))


def features(pair: Pair) -> dict[str, dict[str, float]]:
    """A and B → the features of the entity that each belongs to, at its best mention."""
    found = tokens(plain(pair["Text"]))
    people = question.people_in(
        found,
        question._with_candidates(found, {}, question.names(found, pair["Text"]), candidates(pair)),
    )
    at = question._token_at(found, int(pair["Pronoun-offset"]))
    question.resolve(
        found,
        people,
        {
            i: question.PRONOUNS[t.word]
            for i, t in enumerate(found)
            if t.word in question.PRONOUNS and i < at
        },
    )
    mine = rules.pronoun_role(found, at)
    best: dict[str, tuple[float, dict[str, float]]] = {}
    for side, (_, start) in zip("AB", candidates(pair), strict=True):
        place = question._token_at(found, start)
        for entity in people:
            if any(m.first <= place <= m.last and not m.chained for m in entity.mentions):
                total, mention = rules.score(found, at, mine, entity, people)
                if mention is not None and (side not in best or total > best[side][0]):
                    best[side] = total, _amounts(found, at, mine, entity, mention, people)
    return {side: amounts for side, (_, amounts) in best.items()}


def _amounts(found, at, mine, entity, mention, people) -> dict[str, float]:  # type: ignore[no-untyped-def]
    low, high = sorted((mention.first, at))
    between = sum(
        any(low < other.first < high for other in person.mentions)
        for person in people
        if person is not entity
    )
    amounts: dict[str, float] = {}
    for name, amount in (
        *question.features(found, at, mine, mention, between),
        *question.of_entity(entity, at),
    ):
        amounts[name] = amounts.get(name, 0.0) + amount
    return amounts


def fit(pairs: Sequence[Pair]) -> dict[str, float]:
    """Weights for pairs, rounded to hundredths."""
    use(START)
    differences, first, weights = [], [], []
    for pair in pairs:
        found = features(pair) if pair["A-coref"] != pair["B-coref"] else {}
        if len(found) == 2:
            names_here = {*found["A"], *found["B"]}
            differences.append(
                {name: found["A"].get(name, 0.0) - found["B"].get(name, 0.0) for name in names_here}
            )
            first.append(pair["A-coref"] == "TRUE")
            weights.append(FEMININE_WEIGHT if pair["Pronoun"].lower() in FEMININE else 1.0)
    names = sorted({name for difference in differences for name in difference} - {"relative"})
    table = np.array([[difference.get(name, 0.0) for name in names] for difference in differences])
    model = LogisticRegression(C=PENALTY, fit_intercept=False, max_iter=3000)
    model.fit(
        np.vstack([table, -table]),
        np.concatenate([first, np.logical_not(first)]),
        np.concatenate([weights, weights]),
    )
    fitted = {
        name: round(float(weight), 2) for name, weight in zip(names, model.coef_[0], strict=True)
    }
    return {"neither": NEITHER, "relative": START["relative"], **fitted}


def said(pairs: Sequence[Pair]) -> list[str]:
    return [
        question.referent(pair["Text"], int(pair["Pronoun-offset"]), *candidates(pair))
        for pair in pairs
    ]


def f1(pairs: Sequence[Pair], answers: Sequence[str]) -> dict[str, float]:
    """As GAP scores: F1 over both names of each pair, for masculine and feminine pronouns, all, and
    the ratio F/M.
    """
    sums = {"masculine": [0, 0], "feminine": [0, 0]}
    for pair, answer in zip(pairs, answers, strict=True):
        place = sums["feminine" if pair["Pronoun"].lower() in FEMININE else "masculine"]
        for side in "AB":
            gold = pair[f"{side}-coref"] == "TRUE"
            place[0] += 2 * (gold and answer == side)
            place[1] += gold + (answer == side)
    scores = {name: 100 * hits / size for name, (hits, size) in sums.items()}
    scores["overall"] = (
        100 * sum(hits for hits, _ in sums.values()) / sum(size for _, size in sums.values())
    )
    return {**scores, "ratio": scores["feminine"] / scores["masculine"]}


def held_out(pairs: Sequence[Pair]) -> dict[str, float]:
    """Each half by the weights of the other half."""
    answers = [""] * len(pairs)
    for half in (0, 1):
        use(fit(pairs[half::2]))
        answers[1 - half :: 2] = said(pairs[1 - half :: 2])
    return f1(pairs, answers)


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle, delimiter="\t"))


def write(weights: Mapping[str, float]) -> None:
    path = DATA / "attribution.toml"
    kept = path.read_text("utf-8").partition("[weights]")[0]
    lines = [
        f'"{name}" = {weight}' if not name.replace("_", "").isalnum() else f"{name} = {weight}"
        for name, weight in weights.items()
    ]
    path.write_text(kept + "[weights]\n" + "\n".join(lines) + "\n", "utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("pairs", type=Path)
    parser.add_argument(
        "--write", action="store_true", help="write the weights fitted to all pairs"
    )
    options = parser.parse_args()
    pairs = read(options.pairs)
    print("held out", {name: round(value, 3) for name, value in held_out(pairs).items()})
    weights = fit(pairs)
    use(weights)
    print("fitted  ", {name: round(value, 3) for name, value in f1(pairs, said(pairs)).items()})
    if options.write:
        write(weights)
    return 0


if __name__ == "__main__":
    sys.exit(main())
