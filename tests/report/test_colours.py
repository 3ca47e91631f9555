"""Colours of figures stay apart for people with each kind of colour blindness, in light and in dark."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tiltmeter.report.render import html

Matrix = NDArray[np.float64]
# Machado, Oliveira and Fernandes (2009), A Physiologically-based Model for Simulation of Color Vision Deficiency: severity 1.
SEEN = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
# CIE L*a*b* from linear sRGB, white point D65 (IEC 61966-2-1).
_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
_LAB = np.array([[0, 116, 0], [500, -500, 0], [0, 200, -200]])
APART = 10.0  # CIE76; about 2.3 is just noticeable, side by side


def themes() -> tuple[dict[str, str], dict[str, str]]:
    css = (Path(html.__file__).parents[1] / "templates" / "style.css").read_text(encoding="utf-8")
    light, dark = css.split("@media (prefers-color-scheme: dark)")[:2]
    first = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", light))
    return first, first | dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", dark))


def lab(colour: str, matrix: Matrix) -> Matrix:
    """L*a*b* of a colour as it is seen."""
    channels = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    part = _XYZ @ np.clip(matrix @ linear, 0, 1) / _XYZ.sum(axis=1)
    root = np.where(part > (6 / 29) ** 3, np.cbrt(part), part * (29 / 6) ** 2 / 3 + 4 / 29)
    found: Matrix = _LAB @ root
    return found


def nearest(colours: dict[str, str], names: list[str], matrix: Matrix) -> float:
    places = [lab(colours[name], matrix) for name in names]
    return min(float(np.linalg.norm(a - b)) for a, b in combinations(places, 2))


@pytest.mark.parametrize("eye", SEEN)
@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_series_and_parts_stay_apart(theme: int, eye: str) -> None:
    colours = themes()[theme]
    for letter, many in (("s", 6), ("c", 7)):
        assert nearest(colours, [f"{letter}{n}" for n in range(many)], SEEN[eye]) >= APART, letter


def test_red_and_green_would_fail() -> None:
    """The guard of the test above: a red and a green that a deuteranope takes for one another."""
    pair = {"a": "#a03c28", "b": "#6a6326"}
    assert nearest(pair, ["a", "b"], SEEN["all cones"]) > 40
    assert nearest(pair, ["a", "b"], SEEN["deuteranopia"]) < APART


def test_parts_are_the_colours_of_okabe_and_ito() -> None:
    """https://jfly.uni-koeln.de/color/, with black left out."""
    published = {"#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7"}
    assert {themes()[0][f"c{n}"] for n in range(7)} == published
