"""The house: imports go down only, never to a room of the same floor, and there is no circle."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "tiltmeter"
STOREYS = (
    (
        "stats",
        "records",
        "json_text",
        "errors",
        "images",
        "cache",
        "row_files",
        "intake",
        "system",
        "display",
        "languages",
    ),
    ("protocol", "store"),
    ("instruments", "registry"),
    ("models", "gold", "protocols"),
    ("analyse", "stages", "planted"),
    ("report",),
    ("formats",),
    ("api", "explore"),
    ("cli",),
)
OLD_ADDRESSES = {"corpus"}  # programs of version 0.1, which look up by name where they went
FLOORS = {room: floor for floor, rooms in enumerate(STOREYS, 1) for room in rooms}
GROUND = {
    ("records", "errors"),
    ("records", "json_text"),
    ("images", "errors"),
    ("stats", "errors"),
    ("intake", "system"),
    ("row_files", "errors"),
    ("row_files", "records"),
    ("row_files", "intake"),
    ("languages", "errors"),
    ("languages", "records"),
}  # what every other room imports


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
        found |= {
            name[1]
            for name in names
            if len(name) > 1 and name[0] == "tiltmeter" and name[1] in FLOORS
        }
    return found


@cache
def graph() -> dict[str, set[str]]:
    edges: dict[str, set[str]] = {}
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if room not in ("__init__", "__main__", *OLD_ADDRESSES):
            edges.setdefault(room, set()).update(rooms(path) - {room})
    return edges


def test_every_room_has_a_floor() -> None:
    assert set(graph()) <= set(FLOORS)
    assert len(FLOORS) <= 27 and len(STOREYS) <= 9


def test_an_old_address_imports_nothing_of_ours() -> None:
    for room in OLD_ADDRESSES:
        assert rooms(SOURCE / f"{room}.py") == set()


def test_imports_go_down_only() -> None:
    wrong = [
        (a, b)
        for a, found in graph().items()
        for b in found
        if FLOORS[b] >= FLOORS[a] and (a, b) not in GROUND
    ]
    assert wrong == []
