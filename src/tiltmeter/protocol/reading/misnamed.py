"""Files and folders that people name instead of a protocol, and what to type then."""

from __future__ import annotations

from pathlib import Path


def misnamed(path: Path) -> str:
    """Returns what to type if a path is a table or a run, not a protocol; "" for other paths."""
    if path.suffix == ".csv" and path.is_file():
        return (
            f"{path} is a table, not a protocol. Of prompts, type: tiltmeter init "
            f"{path.with_suffix('.toml')} --from {path}   (of answers: --model file:{path})"
        )
    if (path / "run.sqlite").is_file():
        return (
            f"{path} is a run, not a protocol. Type: tiltmeter analyse {path}, or: tiltmeter "
            f"explore {path}"
        )
    return ""
