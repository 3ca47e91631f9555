"""The house: imports go down only, in the package and inside its large rooms; no folder is crowded."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

REPOSITORY = Path(__file__).parents[1]
SOURCE = REPOSITORY / "src" / "tiltmeter"
STOREYS = (
    (
        "stats",
        "records",
        "errors",
        "images",
        "row_files",
        "secret_filter",
        "system",
        "display",
        "languages",
        "cues",
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
INSIDE = {
    "analyse": (
        ("words", "counts"),
        ("claims", "measures"),
        ("correction", "scores"),
        ("whole_run",),
        ("stopping",),
        ("estimates",),
        ("between_runs",),
    ),
    "explore": (
        ("selection",),
        ("browse", "rendering"),
        ("security",),
        ("annotation",),
        ("server", "static"),
    ),
    "api": (
        ("options",),
        ("stopping",),
        ("runs", "planning"),
        ("start", "check", "handover"),
        ("recompute",),
    ),
    "report": (
        ("page_model",),
        ("tables",),
        ("figures",),
        ("first_screen",),
        ("run_page",),
        ("several_runs",),
        ("render",),
    ),
    "stages": (("engine", "planning"), ("batches", "steps")),
}  # the rooms inside a room, ground floor first
FLOORS = {room: floor for floor, rooms in enumerate(STOREYS, 1) for room in rooms}
GROUND = {
    ("images", "errors"),
    ("stats", "errors"),
    ("row_files", "errors"),
    ("cues", "errors"),
    ("cues", "row_files"),
    ("row_files", "records"),
    ("row_files", "system"),
    ("display", "stats"),
    ("languages", "errors"),
    ("languages", "records"),
    ("languages", "row_files"),
}  # imports on the ground floor, which every other room stands on
MOST_FILES = 16  # side by side in one folder
VERBS_AND_PLUG_INS = {"cli", "models/providers"}  # one file each: as many as there are
NO_CIRCLE = ("cli", "formats", "gold", "planted", "protocol", "stats", "store")
LARGEST = ("analyse", "api", "report", "stages")
MOST_ARROWS = 75  # between the rooms inside these


class Contents(NamedTuple):
    """What a file holds. imports: each name of this package, as its parts, functions included;
    at_once: those that are imported with the file; functions: (name, lines, parameters); silent:
    lines with state that says nothing of why.
    """

    imports: frozenset[tuple[str, ...]]
    at_once: frozenset[tuple[str, ...]]
    functions: tuple[tuple[str, int, int], ...]
    classes: tuple[str, ...]
    silent: tuple[int, ...]


@cache
def contents(path: Path) -> Contents:
    """Reads a file; cached, since to parse all of them takes seconds."""
    package = ["tiltmeter", *path.relative_to(SOURCE).parts[:-1]]
    text = path.read_text(encoding="utf-8")
    module = ast.parse(text)
    nodes = [node for node in ast.walk(module) if isinstance(node, KEPT)]
    ours = frozenset(name for node in nodes for name in imported(node, package))
    top = [node for node in module.body if isinstance(node, ast.ImportFrom) and node.level]
    at_once = frozenset(name for node in top for name in imported(node, package))
    functions = tuple(
        (node.name, (node.end_lineno or 0) - node.lineno + 1, parameters(node))
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    classes = tuple(node.name for node in nodes if isinstance(node, ast.ClassDef))
    return Contents(ours, at_once, functions, classes, silent_state(module, text))


KEPT = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def imported(node: ast.AST, package: list[str]) -> Iterator[tuple[str, ...]]:
    """Yields each name of this package that a statement imports, as its parts."""
    names: list[list[str]] = []
    if isinstance(node, ast.Import):
        names = [alias.name.split(".") for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        head = package[: len(package) - node.level + 1] if node.level else []
        head = head + (node.module.split(".") if node.module else [])
        names = [[*head, alias.name] for alias in node.names]
    yield from (tuple(name[1:]) for name in names if len(name) > 1 and name[0] == "tiltmeter")


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return len([one for one in every if one.arg not in ("self", "cls")])


@cache
def graph() -> dict[str, set[str]]:
    """Returns the rooms that each room imports."""
    edges: dict[str, set[str]] = {}
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if room not in ("__init__", "__main__"):
            targets = {name[0] for name in contents(path).imports if name[0] in FLOORS}
            edges.setdefault(room, set()).update(targets - {room})
    return edges


def inner_graph(room: str) -> dict[str, set[str]]:
    """Returns the inner rooms (folders, or files beside them) that each inner room imports."""
    inner = {path.name.removesuffix(".py") for path in (SOURCE / room).iterdir()}
    edges: dict[str, set[str]] = {}
    for path in (SOURCE / room).rglob("*.py"):
        place = path.relative_to(SOURCE / room).parts[0].removesuffix(".py")
        if place != "__init__":
            targets = {
                name[1] for name in contents(path).imports if name[0] == room and len(name) > 1
            }
            edges.setdefault(place, set()).update((targets & inner) - {place})
    return edges


def test_every_room_has_a_floor() -> None:
    assert set(graph()) <= set(FLOORS)
    assert len(FLOORS) <= 25 and len(STOREYS) <= 9


def test_imports_go_down_only() -> None:
    wrong = [
        (a, b)
        for a, targets in graph().items()
        for b in targets
        if FLOORS[b] >= FLOORS[a] and (a, b) not in GROUND
    ]
    assert wrong == []


@pytest.mark.parametrize("room", sorted(INSIDE))
def test_imports_go_down_inside_a_room(room: str) -> None:
    floors = {name: floor for floor, names in enumerate(INSIDE[room]) for name in names}
    edges = inner_graph(room)
    assert set(edges) == set(floors)
    assert [(a, b) for a in edges for b in edges[a] if floors[b] >= floors[a]] == []


@pytest.mark.parametrize("room", NO_CIRCLE)
def test_no_circle_is_inside_a_room(room: str) -> None:
    TopologicalSorter(inner_graph(room)).prepare()  # raises CycleError with the circle


def test_no_two_files_import_each_other() -> None:
    """Raises CycleError with the circle; a package's face hands names on and stands for no file."""
    files = {path.relative_to(SOURCE).with_suffix("").parts: path for path in SOURCE.rglob("*.py")}
    edges = {
        file: {
            name[:end]
            for name in contents(path).imports
            for end in (len(name), len(name) - 1)
            if name[:end] in files and name[:end] != file
        }
        for file, path in files.items()
    }
    TopologicalSorter(edges).prepare()


def test_few_arrows_stand_between_inner_rooms() -> None:
    arrows = [
        (room, a, b) for room in LARGEST for a, into in inner_graph(room).items() for b in into
    ]
    assert len(arrows) <= MOST_ARROWS


def test_no_folder_is_crowded() -> None:
    folders = [path for path in SOURCE.rglob("*") if path.is_dir() and path.name != "__pycache__"]
    crowded = {
        str(folder.relative_to(SOURCE)): len(list(folder.glob("*.py")))
        for folder in folders
        if len([path for path in folder.glob("*.py") if path.name != "__init__.py"]) > MOST_FILES
    }
    assert set(crowded) - VERBS_AND_PLUG_INS == set()


def test_files_named_in_the_source_exist() -> None:
    """A docstring that names a file that went leads its reader nowhere."""
    names = {path.name for path in REPOSITORY.rglob("*.py") if ".venv" not in path.parts}
    examples = {"bot.py", "convert_hf_to_gguf.py"}  # a reader's own file, and another project's
    missing = {
        (path.name, name)
        for path in SOURCE.rglob("*.py")
        for name in re.findall(r"\b[a-z_]+\.py\b", path.read_text(encoding="utf-8"))
        if name not in names | examples
    }
    assert missing == set()


def test_tests_stand_where_their_module_stands() -> None:
    """A test named after one module of its room is in that module's folder; a test that is named
    otherwise is of the whole room."""
    wrong = {}
    for path in (REPOSITORY / "tests").rglob("test_*.py"):
        room = path.relative_to(REPOSITORY / "tests").parts[0]
        places = [*(SOURCE / room).rglob(f"{path.stem[5:]}*")] if (SOURCE / room).is_dir() else []
        homes = [place.parent for place in places if place.stem == path.stem[5:]]
        folder = SOURCE / path.parent.relative_to(REPOSITORY / "tests")
        if len(homes) == 1 and homes[0] != folder and room != "protocols":
            wrong[str(path.relative_to(REPOSITORY))] = str(homes[0].relative_to(SOURCE))
    assert wrong == {}


def test_no_two_classes_have_one_name() -> None:
    """A name of a class says which one it is, wherever it stands."""
    places: dict[str, list[str]] = {}
    for path in SOURCE.rglob("*.py"):
        for name in contents(path).classes:
            places.setdefault(name, []).append(str(path.relative_to(SOURCE)))
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


# What is above a limit; a line may go or its number fall, none may be added.
LONG_FILES: dict[str, int] = {}  # of more than MOST_LINES lines
LONG_FUNCTIONS: dict[str, int] = {
    "analyse/claims/evidence.py: gather": 60,
    "instruments/pronouns/everybody.py: everybody": 58,
    "report/first_screen/screen.py: screen": 54,
}  # of more than MOST_FUNCTION_LINES lines
WIDE_FUNCTIONS: dict[str, int] = {
    "explore/rendering.py: grid": 8,
    "stages/steps/generate.py: generate": 9,
    "stages/steps/label.py: annotate": 8,
}  # of more than MOST_PARAMETERS parameters
MOST_LINES, MOST_FUNCTION_LINES, MOST_PARAMETERS = 350, 50, 7


def functions() -> Iterator[tuple[str, int, int]]:
    """Yields "file: name", lines and parameters of every function of the package."""
    for path in SOURCE.rglob("*.py"):
        for name, lines, taken in contents(path).functions:
            yield f"{path.relative_to(SOURCE)}: {name}", lines, taken


def hold(found: dict[str, int], most: int, known: dict[str, int]) -> None:
    """Fails for a place above a limit that is not known, for one that grew, and for one that is
    known and is above it no more.
    """
    above = {place: size for place, size in found.items() if size > most}
    assert set(above) == set(known)
    assert {place: size for place, size in above.items() if size > known[place]} == {}


def test_files_are_short() -> None:
    sizes = {
        str(path.relative_to(SOURCE)): path.read_text(encoding="utf-8").count("\n")
        for path in SOURCE.rglob("*.py")
    }
    hold(sizes, MOST_LINES, LONG_FILES)


def test_functions_are_short() -> None:
    hold({place: lines for place, lines, _ in functions()}, MOST_FUNCTION_LINES, LONG_FUNCTIONS)


def test_functions_take_few_parameters() -> None:
    hold({place: taken for place, _, taken in functions()}, MOST_PARAMETERS, WIDE_FUNCTIONS)


STATE = {"Counter", "ContextVar", "WeakKeyDictionary", "WeakValueDictionary", "defaultdict", "dict"}
STATE |= {"list", "set", "deque"}  # what makes an object that a process fills


def is_state(value: ast.expr | None) -> bool:
    """True if a module's value is an empty container, or one that threads or tasks fill."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        name = value.func.id
        return name in ("ContextVar", "defaultdict") or (name in STATE and not value.args)
    return isinstance(value, ast.Dict) and not value.keys


def silent_state(module: ast.Module, text: str) -> tuple[int, ...]:
    """Returns the lines with state of the process that has no comment."""
    lines, silent = text.splitlines(), []
    for node in module.body:
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        beside = lines[max(0, node.lineno - 2) : node.end_lineno]
        constant = "Mapping" in lines[node.lineno - 1]  # to its type
        if is_state(value) and not constant and not any("#" in line for line in beside):
            silent.append(node.lineno)
    return tuple(silent)


def test_state_of_the_process_says_why() -> None:
    """What a module fills while the process runs has its reason beside it or in the line above."""
    silent = [
        f"{path.relative_to(SOURCE)}:{line}"
        for path in SOURCE.rglob("*.py")
        for line in contents(path).silent
    ]
    assert silent == []


# Parts that an audit of texts does without, with the folders that may import them all the same.
WINGS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("formats",): ("formats/", "api/recompute/"),  # which reads the folders that formats write
    ("models", "local", "diffusers"): (),
    ("models", "local", "faces"): (),
    ("models", "workers", "ray_cluster"): (),
    ("protocols", "protext"): ("protocols/protext/",),
    ("protocols", "word_lists"): ("protocols/word_lists/",),
}


def test_the_core_imports_no_wing() -> None:
    """A wing is reached by its name in the registry, or by the verb that is typed for it."""
    wrong = [
        (str(path.relative_to(SOURCE)), ".".join(name))
        for path in SOURCE.rglob("*.py")
        for name in contents(path).at_once
        for wing, own in WINGS.items()
        if name[: len(wing)] == wing
        and not (own and path.relative_to(SOURCE).as_posix().startswith(own))
    ]
    assert wrong == []
