"""Groups near-copies of a prompt into one item: equal templates with other names and numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from zlib import crc32

import numpy as np

from ....cues import mask

NEAR = 0.9  # cosine of character trigrams from which two prompts are one item
_PLACES = 4096  # trigrams are hashed into
_BLOCK = 256  # prompts that are compared with all others at once


def near_copies(texts: Sequence[str], language: str = "en") -> list[int]:
    """Returns per text the index of the first text in its group of near-copies.

    Texts are near if the cosine of their character trigrams is high, after names and gendered words
    are masked and digits made equal; nearness is transitive.
    """
    vectors = np.stack([_vector(text, language) for text in texts]) if texts else np.zeros((0, 1))
    parent = list(range(len(texts)))

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    for start in range(0, len(texts), _BLOCK):
        is_near = vectors[start : start + _BLOCK] @ vectors.T > NEAR
        for row, other in zip(*np.nonzero(is_near), strict=True):
            a, b = sorted((root(start + int(row)), root(int(other))))
            parent[b] = a
    return [root(place) for place in range(len(texts))]


def _vector(text: str, language: str) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    plain = mask(text, ("gender", "race"), language)
    plain = re.sub(r"\d", "0", " ".join(plain.lower().split()))
    vector = np.zeros(_PLACES, dtype=np.float32)
    for start in range(max(1, len(plain) - 2)):
        vector[crc32(plain[start : start + 3].encode()) % _PLACES] += 1
    length = float(np.sqrt((vector**2).sum()))
    return vector / length if length else vector
