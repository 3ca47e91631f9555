"""Checks of arguments: each returns its argument as an array or number, or raises ValueError."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.int64]


def vector(name: str, values: ArrayLike) -> Floats:
    """Returns a one-dimensional float array of finite numbers, or raises ``ValueError``."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name}: one dimension expected, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(
            f"{name}: NaN or an infinite value; remove it and count it as an outcome of its own"
        )
    return array


def counts(name: str, values: ArrayLike) -> Floats:
    """Returns the array of ``vector``, or raises ``ValueError`` if a number is negative."""
    array = vector(name, values)
    if array.size and array.min() < 0:
        raise ValueError(f"{name}: numbers of at least 0 expected, got {array.min():g}")
    return array


def shares(name: str, successes: ArrayLike, n_name: str, n: ArrayLike) -> tuple[Floats, Floats]:
    """Returns (successes, outcomes) per cluster; ValueError if shapes differ or successes > n."""
    x, size = counts(name, successes), counts(n_name, n)
    same_shape(name, x, n_name, size)
    if x.size and (x - size).max() > 1e-9 * max(1.0, float(size.max())):
        cluster = int(np.argmax(x - size))
        raise ValueError(f"{name}: must not exceed {n_name}, but does in cluster {cluster}")
    return np.minimum(x, size), size


def same_shape(name: str, first: NDArray[Any], other_name: str, second: NDArray[Any]) -> None:
    """Raises ValueError, naming both arguments, if their shapes differ."""
    if first.shape != second.shape:
        raise ValueError(
            f"{name}: has shape {first.shape}, but {other_name} has shape {second.shape}"
        )


def number(name: str, value: float, *, minimum: float = 0.0) -> float:
    """Returns a finite number of at least ``minimum``, or raises ``ValueError``."""
    if not minimum <= value < float("inf"):  # NaN fails too
        raise ValueError(f"{name}: a finite number of at least {minimum:g} expected, got {value!r}")
    return float(value)


def level(name: str, value: float) -> float:
    """Returns a probability strictly between 0 and 1 (a level, a power), or raises ValueError."""
    if not 0.0 < value < 1.0:
        raise ValueError(f"{name}: a number between 0 and 1 expected, got {value!r}")
    return float(value)


def draw_count(draws: int) -> int:
    """Returns the number of draws as an int, or raises ValueError if it is below 1."""
    if draws < 1:
        raise ValueError(f"draws: at least one draw expected, got {draws!r}")
    return int(draws)


def rows(
    name: str, values: ArrayLike | Sequence[Sequence[int]], attributes: int | None = None
) -> Codes:
    """Returns integer codes, one row per output, one column per attribute; -1 is missing."""
    array = np.asarray(values)
    if array.ndim == 1:
        array = array.reshape(-1, 1) if array.size else array.reshape(0, attributes or 1)
    if array.ndim != 2:
        raise ValueError(f"{name}: rows of codes expected, got shape {array.shape}")
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"{name}: integer codes expected, got {array.dtype}")
    if array.size and array.min() < -1:
        raise ValueError(f"{name}: codes from 0 (or -1: missing) expected, got {array.min()}")
    if attributes is not None and array.shape[1] != attributes:
        raise ValueError(f"{name}: {attributes} attributes expected, got {array.shape[1]}")
    return array.astype(np.int64, copy=False)
