"""Control conditions as a table: a row per control with its level in each factor and its title.

A protocol with `controls = "controls.csv"` lists its controls only there: a contrast with `controls
= "*"` is against all of them, a `where` of ["*"] keeps only controls, and {controls} in a text
stands for their titles, which are also the titles of their levels. In a sentence {controls} stays a
slot, since a run may have asked in only some of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...errors import ProtocolError
from ...records import Json
from .. import EVERY
from ..design.tables import SEVERAL, Beside, Row
from ..source.source_lines import SourceLocation

KEY, TITLE, SLOT, SENTENCE = "controls", "title", "{controls}", "sentence"


def expand(data: Mapping[str, Json], beside: Beside, place: SourceLocation) -> Mapping[str, Json]:
    """Puts a file's controls into the declaration. Raises ProtocolError if a title is missing."""
    file = data.get(KEY)
    if not isinstance(file, str):
        return data
    rows = beside.rows(file, place.at(KEY))
    if not rows or TITLE not in rows[0]:
        raise ProtocolError(
            f"{place.at(KEY)}: {file} needs a row per control, and a column '{TITLE}'."
        )
    titles = _titles(data.get("titles"), rows)
    return {**{name: _fill(part, rows) for name, part in data.items()}, "titles": titles}


def _titles(declared: Json, rows: Sequence[Row]) -> Mapping[str, Json]:
    """Adds the controls' titles to the file's titles, for every factor."""
    titles = dict(declared) if isinstance(declared, Mapping) else {}
    for column in rows[0]:
        if column != TITLE:
            known = titles.get(column, {})
            named = {row[column]: row[TITLE] for row in rows}
            titles[column] = {**known, **named} if isinstance(known, Mapping) else named
    return titles


def _fill(part: Json, rows: Sequence[Row]) -> Json:
    """Replaces {controls} and "*" in a declaration by the controls' titles and levels."""
    if isinstance(part, str):
        return part.replace(SLOT, joined_titles([row[TITLE] for row in rows]))
    if isinstance(part, Mapping):
        filled = {
            name: inside if name == SENTENCE else _fill(inside, rows)
            for name, inside in part.items()
        }
        for name in filled.keys() & rows[0].keys():
            if filled[name] == [EVERY]:  # of a `where`
                filled[name] = [row[name] for row in rows]
        factor = filled.get("factor")
        if filled.get(KEY) == EVERY and isinstance(factor, str) and factor in rows[0]:
            filled[KEY] = SEVERAL.join(row[factor] for row in rows)
        return filled
    if isinstance(part, Sequence):
        return [_fill(inside, rows) for inside in part]
    return part


def joined_titles(titles: Sequence[str]) -> str:
    """Joins titles: "English", "English and Chinese", "English, Chinese and Finnish"."""
    return " and ".join(filter(None, (", ".join(titles[:-1]), titles[-1])))
