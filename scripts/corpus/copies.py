"""Texts that repeat each other: near copies, runs of six words, openings."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from scripts.corpus.rules import Text, TextFinding, words

MAX_COSINE, MAX_SIXGRAM_TEXTS, MIN_DISTINCT_OPENINGS = 0.5, 3, 0.95


def near_copies(texts: Sequence[Text], above: float) -> Iterator[tuple[float, Text, Text]]:
    """Pairs with that much TF-IDF cosine over word 1-2-grams (smooth idf, L2), as scikit-learn
    defines it.
    """
    grams = []
    for text in texts:
        tokens = re.findall(r"\b\w\w+\b", text.text.lower())
        grams.append(Counter[Any](tokens) + Counter(itertools.pairwise(tokens)))
    documents = Counter(gram for counts in grams for gram in counts)
    idf = {gram: math.log((1 + len(texts)) / (1 + n)) + 1 for gram, n in documents.items()}
    index: dict[Any, list[tuple[int, float]]] = defaultdict(list)
    for i, counts in enumerate(grams):
        norm = math.hypot(*(n * idf[gram] for gram, n in counts.items()))
        dots: dict[int, float] = defaultdict(float)
        for gram, n in counts.items():
            weight = n * idf[gram] / norm
            for j, other in index[gram]:
                dots[j] += weight * other
            index[gram].append((i, weight))
        yield from ((dot, texts[j], texts[i]) for j, dot in dots.items() if dot >= above)


def holders(texts: Iterable[Text], pieces: Callable[[list[str]], set[str]]) -> dict[str, list[str]]:
    """Which texts hold each piece of the words, as `pieces` cuts them."""
    seen: dict[str, list[str]] = defaultdict(list)
    for text in texts:
        for piece in pieces(words(text.text)):
            seen[piece].append(text.where)
    return seen


def check_copies(texts: Sequence[Text]) -> Iterator[TextFinding]:
    """Findings of near copies, repeated runs of six words, and repeated openings."""
    for value, one, two in near_copies(texts, MAX_COSINE):
        yield TextFinding(two.where, "near copy", f"cosine {value:.2f} with {one.where}")
    grams = holders(
        texts, lambda tokens: {" ".join(tokens[i : i + 6]) for i in range(len(tokens) - 5)}
    )
    starts = holders(texts, lambda tokens: {" ".join(tokens[:5])})
    yield from (
        TextFinding(", ".join(w), "six-gram", g)
        for g, w in grams.items()
        if len(w) > MAX_SIXGRAM_TEXTS
    )
    if len(starts) < MIN_DISTINCT_OPENINGS * len(texts):
        yield from (
            TextFinding(", ".join(w), "opening", start) for start, w in starts.items() if len(w) > 1
        )
