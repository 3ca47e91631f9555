"""The tables of a run as polars frames with typed columns, convertible to pandas.

JSON text of the run's file becomes a struct (factors, sampling, condition, contrast) or a list
(omitted settings, outcomes), a date becomes a datetime, a flag a boolean.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from ...analyse.words import reading
from ...records import Estimate
from ...store import Store
from ...store.queries import tables

if TYPE_CHECKING:
    import pandas as pd

NUMBERS = (
    *("value", "low", "high", "confidence", "null_low", "null_high"),
    *("p", "p_adjusted", "n", "detectable"),
)
COUNTS = ("family_size", "clusters")
OUTCOMES = pl.List(pl.Struct({"label": pl.String, "count": pl.Float64}))
COLUMN_TYPES: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "sample": pl.Int64,
    "position": pl.Int64,
    "prompt_tokens": pl.Int64,
    "completion_tokens": pl.Int64,
    "thought": pl.Int64,
    "cost": pl.Float64,
    "weight": pl.Float64,
    "current": pl.Boolean,
}
_encode = json.JSONEncoder(ensure_ascii=False).encode
SAMPLING = pl.Struct(
    {
        "temperature": pl.Float64,
        "top_p": pl.Float64,
        "max_tokens": pl.Int64,
        "seed": pl.Int64,
    }
)


class Frame(pl.DataFrame):
    """A polars frame with `to_pandas`. Its other methods (`filter`, …) return plain frames."""

    def to_pandas(self, **options: Any) -> pd.DataFrame:
        """Converts to a pandas frame, without pyarrow; a struct becomes one column per field
        (`condition.class`). With options, polars does the conversion, which needs pyarrow.
        """
        if options:
            return super().to_pandas(**options)
        import pandas as pd

        return pd.DataFrame(
            {
                column.name: column.to_numpy() if column.dtype.is_numeric() else column.to_list()
                for column in flat(self)
            }
        )


def flat(frame: pl.DataFrame) -> pl.DataFrame:
    """Replaces structs by one column per field, named `struct.field`."""
    for name, kind in frame.schema.items():
        if isinstance(kind, pl.Struct):
            fields = [
                pl.col(name).struct.field(field.name).alias(f"{name}.{field.name}")
                for field in kind.fields
            ]
            frame = frame.with_columns(fields).drop(name)
    return frame


def as_json_text(frame: pl.DataFrame) -> pl.DataFrame:
    """Replaces structs and lists by JSON texts without nulls; outcomes become {label: count}."""
    nested = [name for name, kind in frame.schema.items() if kind.is_nested()]
    return frame.with_columns([_json_texts(frame[name]) for name in nested])


def _json_texts(column: pl.Series) -> pl.Series:
    """Converts a column to JSON, each distinct value once; structs with numbers field by field."""
    kind = column.dtype
    if isinstance(kind, pl.Struct) and any(field.dtype.is_integer() for field in kind.fields):
        fields = {field.name: _json_texts(field) for field in column.struct.unnest()}
        named = [pl.lit(f"{_encode(name)}: ") + pl.col(name) for name in fields]
        inner = pl.concat_str(named, separator=", ", ignore_nulls=True)
        text = pl.when(column.is_not_null()).then(pl.lit("{") + inner + "}")
        return pl.DataFrame(fields).select(text.alias(column.name)).to_series()
    if kind.is_integer():
        return column.cast(pl.String)
    group = column.to_frame().with_columns(at=column.hash())
    different = group.unique("at", maintain_order=True)
    texts = [_json_text(value) for value in different[column.name].to_list()]
    written = pl.DataFrame({"at": different["at"], column.name: pl.Series(texts, dtype=pl.String)})
    return group.select("at").join(written, on="at", maintain_order="left")[column.name]


def _json_text(value: Any) -> str | None:
    if isinstance(value, list) and all(isinstance(entry, dict) for entry in value):
        value = {entry["label"]: entry["count"] for entry in value}
    elif isinstance(value, dict):
        value = {name: part for name, part in value.items() if part is not None}
    return None if value is None else _encode(value)


def table_frame(store: Store, name: str) -> Frame:
    """Reads a table of a run's file as one frame."""
    return Frame(pl.concat(table_pieces(store, name)))


def table_pieces(store: Store, name: str) -> Iterator[pl.DataFrame]:
    """Reads a table of a run's file in pieces with the same columns; at least one piece."""
    names: Sequence[str] | None = None
    for piece in tables.pieces(store, name):
        if names is None:
            names = tables.factor_names(store) if "factors" in piece else ()
        yield pl.DataFrame(
            {column: _column(column, values, names) for column, values in piece.items()}
        )


def _column(name: str, values: Sequence[Any], factors: Sequence[str]) -> pl.Series:
    if name == "factors":
        return _once_each(name, values, lambda texts: _levels(name, texts, factors))
    if name == "sampling":
        return _samplings(name, values)
    if name == "omitted":
        return _once_each(name, values, lambda texts: _omitted(name, texts))
    if name == "date":
        return _dates(name, values)
    if name == "id" and values and isinstance(values[0], int):
        return pl.Series(name, values, dtype=pl.Int64)
    kind = COLUMN_TYPES.get(name, pl.String)
    cells = [bool(value) for value in values] if kind == pl.Boolean else values
    return pl.Series(name, cells, dtype=kind)


def _once_each(
    name: str, texts: Sequence[Any], make: Callable[[Sequence[Any]], pl.Series]
) -> pl.Series:
    """Makes a column from texts that many rows share, parsing each distinct text once."""
    places: dict[Any, int] = {}
    at = [places.setdefault(text, len(places)) for text in texts]
    return make(list(places)).gather(at).alias(name)


def _levels(name: str, texts: Sequence[Any], factors: Sequence[str]) -> pl.Series:
    return _structs(name, [json.loads(text) if text else None for text in texts], factors)


def _samplings(name: str, texts: Sequence[Any]) -> pl.Series:
    """Makes structs of sampling settings, which are stored as JSON lists of numbers."""
    inner = pl.Series(name, texts, dtype=pl.String).str.strip_chars("[]")
    parts = inner.str.split_exact(",", len(SAMPLING.fields) - 1).struct.unnest()
    fields = zip(SAMPLING.fields, parts, strict=True)
    typed = [part.cast(field.dtype, strict=False).alias(field.name) for field, part in fields]
    return pl.DataFrame(typed).to_struct(name)


def _omitted(name: str, texts: Sequence[Any]) -> pl.Series:
    lists = [json.loads(text) if text else [] for text in texts]
    return pl.Series(name, lists, dtype=pl.List(pl.String))


def _dates(name: str, values: Sequence[Any]) -> pl.Series:
    """Makes datetimes from milliseconds since 1970, or from texts."""
    texts = [value if isinstance(value, str) else None for value in values]
    numbers = [value if isinstance(value, int) else None for value in values]
    dated = (
        pl.Series(name, numbers, dtype=pl.Int64)
        .cast(pl.Datetime("ms", "UTC"))
        .dt.cast_time_unit("us")
    )
    if any(texts):
        written = pl.Series(name, texts, dtype=pl.String).str.to_datetime(time_zone="UTC")
        return dated.to_frame().select(pl.col(name).fill_null(written)).to_series()
    return dated


def estimates_frame(estimates: Sequence[Estimate]) -> Frame:
    """Makes a frame with one row per estimate, and one column per factor that estimates name."""
    rows = [estimate.as_dict() for estimate in estimates]
    columns = {name: _estimate_column(name, rows) for name in Estimate.columns()}
    factors = {
        name: pl.Series(name, [level or None for level in levels], dtype=pl.String)
        for name, levels in reading.factor_columns(estimates).items()
    }
    return Frame({**columns, **factors})


def _estimate_column(name: str, rows: Sequence[Mapping[str, Any]]) -> pl.Series:
    values = [row[name] for row in rows]
    if name in ("condition", "contrast"):
        return _structs(
            name, values, list(dict.fromkeys(key for row in values if row for key in row))
        )
    if name == "outcomes":
        lists = [
            [{"label": label, "count": float(count)} for label, count in counts.items()]
            for counts in values
        ]
        return pl.Series(name, lists, dtype=OUTCOMES)
    if name in NUMBERS:
        return pl.Series(name, values, dtype=pl.Float64, strict=False)
    if name in COUNTS:
        return pl.Series(name, values, dtype=pl.Int64, strict=False)
    return pl.Series(name, values, dtype=pl.String)


def _structs(name: str, rows: Sequence[Mapping[str, str] | None], keys: Sequence[str]) -> pl.Series:
    """Makes a column of structs of texts with these keys; null for rows that are None."""
    if not keys:
        return pl.Series(name, [None] * len(rows), dtype=pl.String)
    kind = pl.Struct([pl.Field(key, pl.String) for key in keys])
    structs = [None if row is None else {key: row.get(key) for key in keys} for row in rows]
    return pl.Series(name, structs, dtype=kind)
