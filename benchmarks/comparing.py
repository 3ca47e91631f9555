"""Comparisons of answers without a design: how often they claim a difference without one, and find
one that is there.

100 prompts of two versions, two answers each; an answer is two of eight sentences, and with a tilt
one version's answers end in another sentence in 25 % of cases (55 % for `similarity`, a mean
likeness of about .04 less: it goes with the square). Counted over RUNS runs: the mean of
`similarity` by sign flip over prompts at .05; any word of `vocabulary` by sign flip and
Benjamini–Hochberg at .05; `preference` of a judge that errs in a fifth of its replies. Exits with 1
if an error is above .05 by more than two standard errors.
"""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from tiltmeter.instruments.comparing.similarity import Similarity
from tiltmeter.instruments.comparing.vocabulary import Vocabulary
from tiltmeter.protocol import InstrumentSpec
from tiltmeter.records import ANSWER, Answered, Output, Reply, Sampling, Trial
from tiltmeter.stats.multiplicity import benjamini_hochberg
from tiltmeter.stats.shuffles.resampling import sign_flip

RUNS, PROMPTS, SAMPLES, LEVEL = 300, 100, 2, 0.05
TILTS = {"similarity": 0.55, "vocabulary": 0.25, "preference": 0.25}
SENTENCES = (
    "You can find it on the page of your account.",
    "We look into that today.",
    "A colleague calls back soon.",
    "That takes two days at most.",
    "Please send us the number.",
    "The shop in town has it too.",
    "There is no fee for that.",
    "We are sorry for the wait.",
)
TOLD = "Stay calm and be kind."


def drawn(rng: random.Random, tilt: float) -> list[Answered]:
    """Draws the answers of one run."""
    made = []
    for prompt in range(PROMPTS):
        for group in ("w", "m"):
            for sample in range(SAMPLES):
                text = " ".join(rng.sample(SENTENCES, 2))
                if group == "w" and rng.random() < tilt:
                    text += f" {TOLD}"
                factors = {"group": group, "item": str(prompt)}
                place = f"{prompt}/{group}/{sample}"
                trial = Trial(place, "m", "sampled", factors, sample, "Ask.", "", Sampling())
                output = Output(trial.id, ANSWER, text, "")
                made.append(Answered(trial, output, Reply(text)))
    return made


def p_of(differences: Sequence[float], rng: np.random.Generator) -> float:
    """Returns p by sign flip over prompts."""
    found = sign_flip(differences=np.array(differences), draws=1999, generator=rng).p
    return 1.0 if found is None else found


def of_similarity(run: Sequence[Answered], rng: np.random.Generator) -> bool:
    """True if the mean of similarity is told from 0."""
    by = Similarity(InstrumentSpec("s", "similarity", "a", {"versions": "group"}))
    by.meet([(one.trial, one.output) for one in run])
    sums: dict[str, float] = defaultdict(float)
    for one in run:
        sums[one.trial.factors["item"]] += float(by.read(one)[0].value)
    return p_of(list(sums.values()), rng) < LEVEL


def of_words(run: Sequence[Answered], rng: np.random.Generator) -> bool:
    """True if a word is told to be of one version."""
    by = Vocabulary(InstrumentSpec("v", "vocabulary", "a", {"versions": "group"}))
    by.meet([(one.trial, one.output) for one in run])
    gaps: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for one in run:
        sign = 1 if one.trial.factors["group"] == "w" else -1
        for label in by.read(one):
            gaps[label.value][one.trial.factors["item"]] += sign / SAMPLES
    p = [p_of([*own.values()], rng) for own in gaps.values()]
    return min(one for one in benjamini_hochberg(p=p) if one is not None) < LEVEL


def of_preference(run: Sequence[Answered], rng: np.random.Generator) -> bool:
    """True if a judge who prefers calm answers, and errs, is told to prefer a version."""
    gaps: dict[str, float] = defaultdict(float)
    pairs: dict[tuple[str, int], dict[str, str]] = defaultdict(dict)
    for one in run:
        key = one.trial.factors["item"], one.trial.sample
        pairs[key][one.trial.factors["group"]] = one.output.text
    for (item, _), sides in pairs.items():
        said = []
        for first, second in (("w", "m"), ("m", "w")):
            score = (TOLD in sides[first]) - (TOLD in sides[second])
            word = first if score > 0 else second if score < 0 else ""
            said.append(str(rng.choice(["w", "m", ""])) if rng.random() < 0.2 else word)
        if said[0] == said[1] != "":
            gaps[item] += 2 if said[0] == "w" else -2
    return p_of(list(gaps.values()) or [0.0], rng) < LEVEL


def simulated(runs: int, seed: int = 2026) -> dict[str, tuple[float, float]]:
    """Returns of each measure how often it claims a difference: without a tilt, and with it."""
    measures = {"similarity": of_similarity, "vocabulary": of_words, "preference": of_preference}
    found = {name: [0, 0] for name in measures}
    for number in range(runs):
        for tilt in (0.0, *sorted({*TILTS.values()})):
            run = drawn(random.Random(f"{seed}/{number}/{tilt}"), tilt)
            rng = np.random.default_rng([seed, number, int(100 * tilt)])
            for name, measure in measures.items():
                if tilt in (0.0, TILTS[name]):
                    found[name][tilt > 0] += measure(run, rng)
    return {name: (one[0] / runs, one[1] / runs) for name, one in found.items()}


def main() -> int:
    """Runs the simulation and prints a line for each measure."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    found = simulated(runs)
    for name, (error, power) in found.items():
        print(f"{name}: claimed without a tilt {error:.3f}, found {power:.3f} ({runs} runs)")
    most = LEVEL + 2 * (LEVEL * (1 - LEVEL) / runs) ** 0.5
    return int(any(error > most for error, _ in found.values()))


if __name__ == "__main__":
    sys.exit(main())
