"""The tables of a run as polars frames with typed columns, which become pandas frames with no
further package.

What is JSON text in the run's file is a struct (factors, sampling, condition, contrast) or a list
(omitted settings, outcomes) here; a day and time is a datetime, a mark is a boolean.
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
    """A polars frame. What polars makes of it (`filter`, `select`) is an ordinary one."""

    def to_pandas(self, **options: Any) -> pd.DataFrame:
        """A pandas frame, for which pandas alone is needed; a struct is a column for each of its
        fields (`condition.class`). Options are those of polars, whose own way needs pyarrow.
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
    """The frame with a column for each field of a struct, named `struct.field`."""
    for name, kind in frame.schema.items():
        if isinstance(kind, pl.Struct):
            fields = [
                pl.col(name).struct.field(field.name).alias(f"{name}.{field.name}")
                for field in kind.fields
            ]
            frame = frame.with_columns(fields).drop(name)
    return frame


def as_json_text(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with JSON text in place of structs and lists; what is null in a struct is left
    out, and outcomes are an object of counts.
    """
    nested = [name for name, kind in frame.schema.items() if kind.is_nested()]
    return frame.with_columns([_json_texts(frame[name]) for name in nested])


def _json_texts(column: pl.Series) -> pl.Series:
    """The values of a column as JSON, of a struct by field; equal ones are written once."""
    if isinstance(column.dtype, pl.Struct):
        fields = {field.name: _json_texts(field) for field in column.struct.unnest()}
        named = [pl.lit(f"{_encode(name)}: ") + pl.col(name) for name in fields]
        inner = pl.concat_str(named, separator=", ", ignore_nulls=True)
        text = pl.when(column.is_not_null()).then(pl.lit("{") + inner + "}")
        return pl.DataFrame(fields).select(text.alias(column.name)).to_series()
    if column.dtype.is_integer():
        return column.cast(pl.String)
    group = column.to_frame().with_columns(at=column.hash())
    different = group.unique("at", maintain_order=True)
    texts = [_json_text(value) for value in different[column.name].to_list()]
    written = pl.DataFrame({"at": different["at"], column.name: pl.Series(texts, dtype=pl.String)})
    return group.select("at").join(written, on="at", maintain_order="left")[column.name]


def _json_text(value: Any) -> str | None:
    if isinstance(value, list) and all(isinstance(one, dict) for one in value):
        value = {one["label"]: one["count"] for one in value}
    return None if value is None else _encode(value)


def table_frame(store: Store, name: str) -> Frame:
    """A table of a run's file."""
    return Frame(pl.concat(table_pieces(store, name)))


def table_pieces(store: Store, name: str) -> Iterator[pl.DataFrame]:
    """A table of a run's file piece by piece, each with the same columns; at least one."""
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
    given = [bool(value) for value in values] if kind == pl.Boolean else values
    return pl.Series(name, given, dtype=kind)


def _once_each(
    name: str, texts: Sequence[Any], make: Callable[[Sequence[Any]], pl.Series]
) -> pl.Series:
    """A column of texts that many rows share, each of which is read once."""
    places: dict[Any, int] = {}
    at = [places.setdefault(text, len(places)) for text in texts]
    return make(list(places)).gather(at).alias(name)


def _levels(name: str, texts: Sequence[Any], factors: Sequence[str]) -> pl.Series:
    return _structs(name, [json.loads(text) if text else None for text in texts], factors)


def _samplings(name: str, texts: Sequence[Any]) -> pl.Series:
    """Structs of samplings, which are stored as JSON lists of numbers."""
    inner = pl.Series(name, texts, dtype=pl.String).str.strip_chars("[]")
    parts = inner.str.split_exact(",", len(SAMPLING.fields) - 1).struct.unnest()
    fields = zip(SAMPLING.fields, parts, strict=True)
    typed = [part.cast(field.dtype, strict=False).alias(field.name) for field, part in fields]
    return pl.DataFrame(typed).to_struct(name)


def _omitted(name: str, texts: Sequence[Any]) -> pl.Series:
    lists = [json.loads(text) if text else [] for text in texts]
    return pl.Series(name, lists, dtype=pl.List(pl.String))


def _dates(name: str, values: Sequence[Any]) -> pl.Series:
    """Milliseconds since 1970, or texts of dates."""
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
    """A row for each estimate, with a column for each factor that they name."""
    rows = [estimate.as_dict() for estimate in estimates]
    own = {name: _estimate_column(name, rows) for name in Estimate.columns()}
    factors = {
        name: pl.Series(name, [level or None for level in levels], dtype=pl.String)
        for name, levels in reading.factor_columns(estimates).items()
    }
    return Frame({**own, **factors})


def _estimate_column(name: str, rows: Sequence[Mapping[str, Any]]) -> pl.Series:
    values = [row[name] for row in rows]
    if name in ("condition", "contrast"):
        return _structs(
            name, values, list(dict.fromkeys(key for row in values if row for key in row))
        )
    if name == "outcomes":
        lists = [
            [{"label": label, "count": float(count)} for label, count in found.items()]
            for found in values
        ]
        return pl.Series(name, lists, dtype=OUTCOMES)
    if name in NUMBERS:
        return pl.Series(name, values, dtype=pl.Float64, strict=False)
    if name in COUNTS:
        return pl.Series(name, values, dtype=pl.Int64, strict=False)
    return pl.Series(name, values, dtype=pl.String)


def _structs(name: str, rows: Sequence[Mapping[str, str] | None], keys: Sequence[str]) -> pl.Series:
    """A struct of texts with these keys; null where a row has none."""
    if not keys:
        return pl.Series(name, [None] * len(rows), dtype=pl.String)
    kind = pl.Struct([pl.Field(key, pl.String) for key in keys])
    whole = [None if row is None else {key: row.get(key) for key in keys} for row in rows]
    return pl.Series(name, whole, dtype=kind)
