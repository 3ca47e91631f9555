"""The house: imports go down only, and there is no circle."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "tiltmeter"
FLOORS = {
    "records": 1, "errors": 1, "cache": 1, "pictures": 1, "stats": 1, "tables": 1, "checking": 1, "positions": 1,
    "models": 2, "instruments": 2, "protocol": 2, "loading": 2, "schema": 2, "cross_references": 2, "bounds": 2, "store": 2, "columns": 2, "registry": 2, "kept": 2,
    "engine": 3, "limits": 3, "planning": 3, "corpus": 3, "cost": 3, "design": 3, "served": 3, "injection": 3, "matching": 3, "protocols": 3, "signature": 3,
    "generating": 4, "reach": 4, "labelling": 4, "importing": 4, "discover": 4, "analyse": 4, "gold": 4, "thresholds": 4, "comparison": 4,
    "report": 5, "web": 5,
    "api": 6, "arguments": 6, "notebook": 6, "starting": 6, "selfcheck": 6, "checkup": 6, "cli": 6,
}  # fmt: skip


def rooms(path: Path) -> set[str]:
    """The rooms that a file imports, with those imported inside functions."""
    package = ["tiltmeter", *path.relative_to(SOURCE).parts[:-1]]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            head = package[: len(package) - node.level + 1] if node.level else []
            head = head + (node.module.split(".") if node.module else [])
            names = [[*head, alias.name] for alias in node.names]
        else:
            continue
        found |= {name[1] for name in names if len(name) > 1 and name[0] == "tiltmeter" and name[1] in FLOORS}
    return found


@cache
def graph() -> dict[str, set[str]]:
    edges: dict[str, set[str]] = {}
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if room not in ("__init__", "__main__"):
            edges.setdefault(room, set()).update(rooms(path) - {room})
    return edges


def test_every_room_has_a_floor() -> None:
    assert set(graph()) <= set(FLOORS)


def test_imports_go_down_only() -> None:
    wrong = [(a, b) for a, found in graph().items() for b in found if FLOORS[b] > FLOORS[a]]
    assert wrong == []


def test_there_is_no_circle() -> None:
    edges = graph()

    def reach(room: str, seen: tuple[str, ...]) -> None:
        assert room not in seen, f"circle: {' → '.join((*seen, room))}"
        for other in edges.get(room, ()):
            reach(other, (*seen, room))

    for room in edges:
        reach(room, ())


@pytest.mark.parametrize("room", ["stats", "records", "errors"])
def test_the_first_floor_imports_nothing_of_ours(room: str) -> None:
    assert graph().get(room, set()) - {"errors"} == set()
