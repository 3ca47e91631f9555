"""The kinds of instruments: all that is known of one stands in one record, made of its class.

A package adds one by an entry point in the group `tiltmeter.instruments`, a name and a subclass of
`tiltmeter.instruments.Instrument`. A protocol's file is checked by the record, and so are the
editor's schema, `tiltmeter ls` and the judges that a command names.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from ..records import Json
    from . import InstrumentSpec, Protocol
    from .source.json_schema import Schema


class Derived(NamedTuple):
    """An attribute that another one decides, so that nobody stores it: a word's class. Looked up
    when labels are counted.

    values: (language, "" where the design has none; value of `source`) → the attribute's values, of
    which each counts.
    """

    attribute: str
    source: str
    values: Callable[[str, str], Sequence[str]]


class Labels(NamedTuple):
    """The facts about an attribute that a design can know before a run.

    an_output: labels that an answer has of it, more than one for a list; values: how many different
    ones there can be, 0 where nobody knows.
    """

    an_output: int = 1
    values: int = 0


class ReadyInstrument(typing.Protocol):
    """An instrument as a run makes it, against which a protocol's file is checked."""

    attributes: tuple[str, ...]

    def reads(self, exact: bool) -> bool:
        """True if it labels outputs that are probabilities (exact), or drawn ones."""

    def check_design(self, protocol: Protocol) -> None:
        """Raises ProtocolError for a design that lacks what it needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstrumentKind:
    """The record of one kind of instrument.

    summary:    what it does, in one line.
    make:       its class: called with an InstrumentSpec, then the judges. Raises ProtocolError for
                settings that it refuses, UsageError for judges and extras that are missing.
    settings:   JSON Schema of each setting that a file may have; `needs`: those that must be there.
    modality:   "text" or "image" if it labels outputs of one only, else "".
    asks:       "nobody"; "each" judge, which labels by itself; a "panel" of any number of judges
                that vote; a "team" in which the judges play `parts`, in the order of --judge.
    nameable:   True if a file may name it; False for a judge that labels beside another instrument.
    values:     {attribute: the values that it can have beside the outcomes} of a spec, of the
                attributes whose values are closed.
    derived:    the attributes of a spec that follow from those that are labelled.
    expected_labels: how many labels an answer has of an attribute of a spec, in a language.
    examples:   texts that it labels with a value of a spec, in a language: what a planted model
                writes. () if it has none.
    answers:    what its answers are: "prose", "choice", "picks", "dialogue", "rewrite", "picture".
    hits:       True if it gives a label for each hit in a text.
    second:     the kind of the judges that label the same outputs beside it; None if there is none.
    unsure_settings: settings with which it says where it is unsure, so that a judge can be asked
                there alone; None if it does not say so.
    discovers:  what it finds out before it labels, and a file may give ("taxonomy"); "" if nothing.
    """

    name: str
    version: str
    summary: str
    make: Callable[..., ReadyInstrument]
    settings: Mapping[str, Schema]
    values: Callable[[InstrumentSpec], Mapping[str, Collection[str]]]
    derived: Callable[[InstrumentSpec], Sequence[Derived]]
    expected_labels: Callable[[InstrumentSpec, str, str], Labels]
    examples: Callable[[InstrumentSpec, str, str], Sequence[str]]
    answers: str = "prose"
    hits: bool = False
    needs: tuple[str, ...] = ()
    modality: str = ""
    asks: Literal["nobody", "each", "panel", "team"] = "nobody"
    parts: tuple[str, ...] = ()
    nameable: bool = True
    second: Callable[..., ReadyInstrument] | None = None
    unsure_settings: Mapping[str, Json] | None = None
    discovers: str = ""

    @property
    def judged(self) -> bool:
        """True if it labels nothing without a judge."""
        return self.asks != "nobody"

    def attributes(self, spec: InstrumentSpec) -> Mapping[str, Sequence[str]]:
        """{attribute of a spec: its values}, of those that an answer can be written for."""
        closed = self.values(spec)
        return {
            name: [value for value in values if self.examples(spec, value, "")]
            for name, values in closed.items()
            if name == spec.attribute
        }
