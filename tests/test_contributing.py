"""The page for newcomers names rooms and files that exist."""

from __future__ import annotations

import re

import pytest

from tests.test_floors import FLOORS, INSIDE, REPOSITORY, SOURCE

PAGE = (REPOSITORY / "CONTRIBUTING.md").read_text("utf-8")
HOUSE = PAGE.partition("## The house on one page")[2].partition("## What a change needs")[0]
PATHS = sorted(set(re.findall(r"`((?:[a-z_]+/)+[\w.]*|[a-z_]+\.py)`", HOUSE)))


@pytest.mark.parametrize("path", PATHS)
def test_a_named_path_exists(path: str) -> None:
    assert (SOURCE / path).exists() or (REPOSITORY / path).exists()


def test_every_large_room_is_on_the_map() -> None:
    named = set(PATHS)
    folders = {room for room in FLOORS if (SOURCE / room).is_dir()}
    assert {room for room in folders if f"{room}/" not in named} == set()
    for room in ("analyse", "api", "report", "stages"):
        row = next(line for line in HOUSE.splitlines() if f"`{room}/`" in line)
        inner = {
            name for floor in INSIDE[room] for name in floor if (SOURCE / room / name).is_dir()
        }
        assert {name for name in inner if f"`{name}`" not in row} == set(), room
