"""The tables of a run as files (Parquet, CSV, JSON lines), read and written in pieces."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path

import polars as pl
from polars.io.plugins import register_io_source

from ...gold.sheet import FORMULA
from ...records import ERROR
from ...secret_filter import environment_secrets, without
from ...store import Store
from .frames import as_json_text, estimates_frame, table_pieces
from .run_folder import Run

# Name of a file → its table, and the columns that are left out.
_TABLES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "trials": ("trials", ()),
    "outputs": ("outputs", ()),
    "labels": ("labels with factors", ("factors",)),
    "calls": ("calls", ()),
}


def write(run: Run, target: Path, format: str, variant: str) -> list[Path]:
    """Writes trials, outputs, labels, calls and a variant's estimates into a folder, with one
    column per factor; returns their paths. format: one of WRITERS.
    """
    target.mkdir(parents=True, exist_ok=True)
    written = [target / f"{name}.{format}" for name in (*_TABLES, "estimates")]
    estimates = estimates_frame(run.analyse(variant))
    with Store(run.folder) as store:
        for path, name in zip(written, _TABLES, strict=False):
            WRITERS[format](pieces(store, name), path)
    WRITERS[format]([estimates], written[-1])
    return written


def pieces(store: Store, name: str) -> Iterator[pl.DataFrame]:
    """Reads a table of a run's file in pieces (at least one), with one column per factor."""
    table, left_out = _TABLES[name]
    return (_with_factors(piece, left_out) for piece in table_pieces(store, table))


def published_pieces(
    store: Store, name: str, hide: Callable[[str], str], texts: bool
) -> Iterator[pl.DataFrame]:
    """Reads outputs or current labels for publication: hides names; leaves out keys, calls and
    pictures, and also `text` unless `texts`.
    """
    left_out = ("id", "current", "call", "blob", "factors", *(() if texts else ("text",)))
    for piece in pieces(store, name):
        if "current" in piece.columns:
            piece = piece.filter("current")
        named = [column for column in ("subject", "annotator") if column in piece.columns]
        names = {column: {name: hide(name) for name in piece[column].unique()} for column in named}
        written = pl.col([column for column in ("prompt", "text") if column in piece.columns])
        secrets = environment_secrets()
        if secrets:
            hidden = partial(without, secrets)
            piece = piece.with_columns(written.map_elements(hidden, return_dtype=pl.String))
        if {"outcome", "text"} <= set(piece.columns):
            piece = _with_hidden_faults(piece, hide)
        hidden_names = [pl.col(column).replace(by) for column, by in names.items()]
        yield piece.with_columns(hidden_names).drop(left_out, strict=False)


def _with_hidden_faults(piece: pl.DataFrame, hide: Callable[[str], str]) -> pl.DataFrame:
    """Hides names in error texts of outputs, which may contain addresses."""
    is_error = pl.col("outcome") == ERROR
    by = {text: hide(text) for text in piece.filter(is_error)["text"].unique()}
    return piece.with_columns(pl.when(is_error).then(pl.col("text").replace(by)).otherwise("text"))


def _with_factors(piece: pl.DataFrame, left_out: tuple[str, ...]) -> pl.DataFrame:
    """Adds a column per factor of the trial, as `factor_NAME` if the name is taken."""
    rest = piece.drop(left_out)
    if not isinstance(piece.schema.get("factors"), pl.Struct):
        return rest
    factors = piece["factors"].struct.unnest()
    return rest.hstack(
        [
            column.alias(f"factor_{column.name}") if column.name in rest.columns else column
            for column in factors
        ]
    )


def _write_csv(pieces: Iterable[pl.DataFrame], path: Path) -> None:
    with path.open("wb") as file:
        for number, piece in enumerate(pieces):
            _for_csv(piece).write_csv(file, include_header=number == 0)


def _write_lines(pieces: Iterable[pl.DataFrame], path: Path) -> None:
    with path.open("wb") as file:
        for piece in pieces:
            piece.write_ndjson(file)


def _write_parquet(pieces: Iterable[pl.DataFrame], path: Path) -> None:
    """Streams pieces to polars, which writes Parquet from its own thread."""
    rest = iter(pieces)
    first = next(rest)
    with tempfile.TemporaryDirectory(dir=path.parent) as place:
        part = Path(place, path.name)
        whole = register_io_source(lambda *_: chain([first], rest), schema=first.schema)
        whole.sink_parquet(part, compression_level=1)
        part.replace(path)


WRITERS: Mapping[str, Callable[[Iterable[pl.DataFrame], Path], None]] = {
    "parquet": _write_parquet,
    "csv": _write_csv,
    "jsonl": _write_lines,
}


def _for_csv(frame: pl.DataFrame) -> pl.DataFrame:
    """Prepares a frame for CSV: structs become JSON; texts like formulas get a quote in front."""
    plain = as_json_text(frame)
    text = pl.col(pl.String)
    starts = text.str.slice(0, 1).is_in(list(FORMULA))
    return plain.with_columns(pl.when(starts).then(pl.lit("'") + text).otherwise(text).name.keep())
