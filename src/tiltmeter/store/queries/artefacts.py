"""Artefacts of a run: texts by kind and name."""

from __future__ import annotations

from typing import NamedTuple

from .. import Store


class Artefact(NamedTuple):
    """A text stored under a name."""

    name: str
    content: str


def by_name(store: Store, kind: str) -> list[Artefact]:
    """Lists the artefacts of a kind, by name."""
    query = "SELECT name, content FROM artefacts WHERE kind=? ORDER BY name"
    return [Artefact(*row) for row in store.rows(query, (kind,))]


def by_date(store: Store, kind: str) -> list[Artefact]:
    """Lists the artefacts of a kind, the earliest first."""
    query = "SELECT name, content FROM artefacts WHERE kind=? ORDER BY date"
    return [Artefact(*row) for row in store.rows(query, (kind,))]
