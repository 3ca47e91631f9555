"""Tables are written in pieces, and are what they would be in one."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import tiltmeter
from tiltmeter.analyse.counts import label_counts
from tiltmeter.store import columns as store_columns


def test_pieces_make_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = "planted:she=0.7,refuse=0.1"
    run = tiltmeter.run("roles", model, tmp_path / "run", language="en", samples=2, limit=6)
    whole = {form: tiltmeter.export(run.folder, tmp_path / form, form) for form in FORMS}
    monkeypatch.setattr(store_columns, "PIECE_ROWS", 5)
    monkeypatch.setattr(label_counts, "PIECE", 7)
    for form, paths in whole.items():
        pieces = tiltmeter.export(run.folder, tmp_path / f"{form} in pieces", form)
        assert [path.name for path in pieces] == [f"{name}.{form}" for name in NAMES]
        for one, other in zip(paths, pieces, strict=True):
            if form == "parquet":
                assert pl.read_parquet(one).equals(pl.read_parquet(other))
            else:
                assert one.read_bytes() == other.read_bytes()
    assert len(run.trials) == 24 and run.trials["factors"].struct.field("language")[0] == "en"
    columns = pl.read_csv(whole["csv"][2]).columns  # of labels
    assert columns[:3] == ["id", "output", "annotator"] and "language" in columns
    assert sorted(path.name for path in (tmp_path / "parquet in pieces").iterdir()) == sorted(
        f"{name}.parquet" for name in NAMES
    )


FORMS = ("parquet", "csv", "jsonl")
NAMES = ("trials", "outputs", "labels", "calls", "estimates")
