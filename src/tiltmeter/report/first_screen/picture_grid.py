"""Pictures to look at, side by side: a grid by condition, each picture with its label and all votes
of its judges.

The rule: rows are items, in the order of a hash of their names, so that no item is chosen for its
pictures; columns are the levels of the factor that the protocol contrasts; a cell has the first
samples in the order of their trial ids. An output without a picture (a refusal, a file that could
not be used) keeps its cell, with its outcome.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256

from ... import images
from ...errors import StoreError
from ...protocol import Protocol
from ...protocol.design.contrasts import contrast_factor
from ...records import ANSWER, VOTE
from ...store import Store
from ...store.queries import labels, outputs
from ...store.queries.outputs import PicturedOutput
from ..page_model.page import PictureGrid, PictureRow, Shot

MOST = 120  # pictures in one page; a thumbnail has 3 to 5 KB
SAMPLES = 4  # of a cell
SIDE = 112  # pixels


def grids(store: Store, protocol: Protocol) -> tuple[PictureGrid, ...]:
    """Returns a grid per subject; () for text protocols and for runs without pictures."""
    if protocol.modality != "image" or not outputs.have_pictures(store):
        return ()
    across = contrast_factor(protocol)
    by_subject: dict[str, dict[str, dict[str, list[PicturedOutput]]]] = {}
    for one in outputs.first_pictured(store, SAMPLES):
        cells = by_subject.setdefault(one.subject, {}).setdefault(one.levels[protocol.item], {})
        cell = cells.setdefault(one.levels.get(across, ""), [])
        if len(cell) < SAMPLES:
            cell.append(one)
    return tuple(
        _grid(store, protocol, across, subject, items, MOST // len(by_subject))
        for subject, items in by_subject.items()
    )


def _grid(
    store: Store,
    protocol: Protocol,
    across: str,
    subject: str,
    items: Mapping[str, Mapping[str, Sequence[PicturedOutput]]],
    most: int,
) -> PictureGrid:
    columns = [
        level
        for level in protocol.levels.get(across, {"": 0})
        if any(level in cells for cells in items.values())
    ]
    ordered = sorted(items, key=lambda item: sha256(item.encode()).digest())
    rows: list[PictureRow] = []
    count = 0
    for item in ordered:
        size = sum(len(items[item].get(level, ())) for level in columns)
        if rows and count + size > most:
            break
        count += size
        cells = tuple(
            tuple(shot(store, protocol, one) for one in items[item].get(level, ()))
            for level in columns
        )
        rows.append(PictureRow(item, cells))
    rule = (
        f"{len(rows)} of {len(items)} {protocol.item}s in the order of a hash of their names, at "
        f"most {SAMPLES} samples of each condition: none was chosen for what it shows. All are in "
        "the run's folder, in blobs."
    )
    return PictureGrid(subject, across, tuple(columns), tuple(rows), rule)


def shot(store: Store, protocol: Protocol, one: PicturedOutput) -> Shot:
    """Returns an output's picture with its label and votes."""
    stored = labels.of_output(store, one.id)
    votes = [label.value for label in stored if label.attribute.endswith(VOTE)]
    labelled = {spec.attribute for spec in protocol.instruments}
    values = " · ".join(label.value for label in stored if label.attribute in labelled)
    answered = one.outcome == ANSWER
    caption = values or ("not labelled" if answered else one.outcome)
    about = ", ".join(
        f"{name} {level}" for name, level in one.levels.items() if level and name != protocol.item
    )
    notes = [f"votes: {', '.join(votes)}"] if votes else []
    notes += [f"prompt rewritten: {one.revised}"] if one.revised else []
    notes += [one.text] if not answered and one.text else []
    return Shot(source(store, one.blob) if answered else "", about, caption, tuple(notes), one.id)


def source(store: Store, blob: str) -> str:
    """Returns a small picture as a data URL; "" if the file is missing or damaged."""
    try:
        media_type, content = images.thumbnail(store.blob(blob), SIDE)
    except (StoreError, images.Unusable):
        return ""
    return f"data:{media_type};base64,{b64encode(content).decode()}"
