"""README.md and SHA256SUMS of a deposited folder: the place to begin, and a check of its files,
for a reader who has not installed tiltmeter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..records import __version__
from ..report.page_model.page import Content
from ..report.render.pages.md import escape
from .crate import TO_COMPLETE, files_of, fingerprint
from .evidence import markdown_table

README, SUMS = "README.md", "SHA256SUMS"
_PICTURES = "Pictures in run/ are named by their hash; tables/outputs.csv has the prompts.\n"


def write(folder: Path, content: Content, people: Sequence[str], told: Mapping[str, str]) -> None:
    """Writes both files. people: the annotators that are people; told: {path: description}."""
    present = [(name, text) for name, text in told.items() if (folder / name).is_file()]
    named = f"People who labelled are named in all of it: {escape(', '.join(people))}.\n"
    lines = [
        f"# Audit: {escape(content.title)}\n",
        "Begin with report.html, which any browser opens.\n",
        *markdown_table(("file", "holds"), present),
        *([_PICTURES] if (folder / "run" / "blobs").is_dir() else []),
        *([named] if people else []),
        "## To check\n",
        f"That no file was changed: `sha256sum -c {SUMS}` in this folder (macOS: `shasum -a 256 "
        f"-c {SUMS}`). CITATION.cff is filled in by people and has no sum.\n",
        "That every number follows from the replies, with Python 3.11 or newer:\n",
        f"    pip install tiltmeter=={__version__}",
        "    tiltmeter export . --verify",
    ]
    (folder / README).write_text("\n".join(lines) + "\n", "utf-8", newline="\n")
    sums = (
        f"{fingerprint(path)['sha256']}  {path.relative_to(folder).as_posix()}\n"
        for path in files_of(folder)
        if path.name not in TO_COMPLETE
    )
    (folder / SUMS).write_text("".join(sums), "utf-8", newline="\n")
