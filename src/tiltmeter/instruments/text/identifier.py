"""py3langid's model as plain arrays in the user's cache, which a process maps in place of unpacking
it.

The library unpacks 4.6 MB to 68 MB in every process, .4 CPU s; to map the arrays takes .03. They
lie in a folder that is named by the hash of the packed model. `sizes.json` in it says how large
each file was when it was written, and when that was: where anything is otherwise the folder is made
anew. Where it cannot be made, or the library is built otherwise, it loads itself.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from array import array
from collections.abc import Callable, Collection, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ...cache import cache

ARRAYS = (
    "ptc",
    "pc",
    "classes",
    "nextmove",
    "row",
    "output",
)  # in the order in which the library loads them
SIZES = "sizes.json"
Rank = Callable[[str], Sequence[tuple[str, float]]]


def ranking(languages: Collection[str]) -> Rank:
    """The library's `rank` of those of the languages that it knows. Raises ModuleNotFoundError
    where it is not installed.
    """
    library = import_module("py3langid").langid
    try:
        identifier = _mapped(library)
    except (AttributeError, ImportError, OSError, TypeError, ValueError):
        identifier = library.LanguageIdentifier.from_model_file(library.MODEL_FILE)
    identifier.set_languages(
        [name for name in dict.fromkeys(identifier.nb_classes) if name in languages]
    )
    found: Rank = identifier.rank
    return found


def _mapped(library: Any) -> Any:
    ptc, pc, classes, nextmove, row, output = _arrays(library.MODEL_DIR / library.MODEL_FILE)
    moves = array(
        nextmove.dtype.char
    )  # of all kinds of sequences the one that is read fastest, number by number
    moves.frombytes(memoryview(nextmove).cast("B"))
    return library.LanguageIdentifier(
        ptc, pc, classes.tolist(), moves, output.tolist(), tk_row=row.tolist()
    )


def _arrays(packed: Path) -> list[Any]:
    with packed.open("rb") as file:
        folder = cache() / f"py3langid-{hashlib.file_digest(file, 'sha256').hexdigest()[:16]}"
    if not _is_whole(folder):
        _unpack(packed, folder)
    return [np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r")) for name in ARRAYS]


def _unpack(packed: Path, folder: Path) -> None:
    """Renamed into its place only when all of it is there."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=".py3langid-", dir=folder.parent))
    try:
        for name, array in zip(
            ARRAYS, import_module("py3langid.modelio").load_model(packed), strict=True
        ):
            np.save(part / f"{name}.npy", np.asarray(array))
        (part / SIZES).write_text(json.dumps(_sizes(part)), encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _is_whole(folder: Path) -> bool:
    try:
        return bool(json.loads((folder / SIZES).read_text(encoding="utf-8")) == _sizes(folder))
    except (OSError, ValueError):
        return False


def _sizes(folder: Path) -> dict[str, list[int]]:
    """Bytes and time of change of each array's file."""
    found = {name: (folder / f"{name}.npy").stat() for name in ARRAYS}
    return {name: [one.st_size, one.st_mtime_ns] for name, one in found.items()}
