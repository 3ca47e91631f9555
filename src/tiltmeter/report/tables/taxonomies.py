"""Tabulates the attributes and values that a judge chose (Table 6 of the SODA paper)."""

from __future__ import annotations

from collections.abc import Sequence

from ...gold.lists import taxonomies
from ...instruments.images.taxonomy import Attribute
from ...protocol import Protocol
from ...store import Store
from ..page_model import audits
from ..page_model.page import Section
from ..page_model.table import Field, Table, table_of, words

TAXONOMY = "taxonomy"  # in the place of a variant
EVERYTHING = "all"  # what an attribute without a set of its own is of


def section(store: Store, protocol: Protocol) -> Section | None:
    """Makes the section of the taxonomy; None without a taxonomy."""
    attributes = taxonomies(store, protocol)
    if not attributes:
        return None
    title = "What pictures are labelled by"
    text = (
        "Attributes that were chosen or given for this run, beside those that the protocol fixes. "
        f"The file is {store.folder.name}/taxonomy.toml."
    )
    return Section(TAXONOMY, title, text, (), (_by_set(attributes), _lists(attributes)))


def _by_set(attributes: Sequence[Attribute]) -> Table:
    """Tabulates the attributes: a row per model and object, a column for product and background."""
    sets = dict.fromkeys(_set(attribute, attributes) for attribute in attributes)

    def of(part: str) -> Field[tuple[str, ...]]:
        def names(row: tuple[str, ...]) -> str:
            rows = (
                attribute
                for attribute in attributes
                if _set(attribute, attributes) == row and attribute.part == part
            )
            return ", ".join(one.name for one in rows)

        return words(f"of the {part}", names)

    fields = (
        *(_level(name, place) for place, name in enumerate(_keys(attributes))),
        *map(of, dict.fromkeys(attribute.part for attribute in attributes)),
    )
    return table_of(audits.slug(TAXONOMY), "Chosen attributes", "", sets, fields)


def _level(name: str, place: int) -> Field[tuple[str, ...]]:
    return words(name, lambda row: row[place])


def _lists(attributes: Sequence[Attribute]) -> Table:
    keys = _keys(attributes)
    rows = [
        (*_set(attribute, attributes), attribute.name, ", ".join(attribute.values))
        for attribute in attributes
    ]
    fields = (
        *(_level(name, place) for place, name in enumerate((*keys, "attribute"))),
        words("values", lambda row: row[-1], brief=False),
    )
    title = "Every attribute with its values"
    return table_of(audits.slug(TAXONOMY, "values"), title, "", rows, fields, folded=True)


def _keys(attributes: Sequence[Attribute]) -> list[str]:
    """Returns the columns that distinguish sets of attributes, with "subject" as "model"."""
    keys = dict.fromkeys(key for attribute in attributes for key in attribute.of)
    return ["model" if key == "subject" else key for key in keys] or ["of"]


def _set(one: Attribute, attributes: Sequence[Attribute]) -> tuple[str, ...]:
    keys = dict.fromkeys(key for other in attributes for key in other.of)
    return tuple(one.of.get(key, EVERYTHING) for key in keys) or (EVERYTHING,)
