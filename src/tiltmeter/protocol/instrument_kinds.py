"""The kinds of instruments: one record per kind, made from its class, with all that is known of it.

A package adds a kind by an entry point in the group `tiltmeter.instruments`, a name and a subclass
of `tiltmeter.instruments.Instrument`. The record is used to check protocols' files, for the
editor's schema and `tiltmeter ls`, and for the judges that a command names.
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
    """An attribute computed from another one (a word's class) when labels are counted, and never
    stored.

    values: (language, "" if the design has none; value of `source`) → the attribute's values, each
    of which counts.
    """

    attribute: str
    source: str
    values: Callable[[str, str], Sequence[str]]


class Labels(NamedTuple):
    """The facts about an attribute that are known before a run.

    an_output: labels per answer, more than one for a list; values: the number of different values,
    0 if unknown.
    """

    an_output: int = 1
    values: int = 0


class ReadyInstrument(typing.Protocol):
    """An instrument in the form that runs use and that checks of a protocol's file need."""

    attributes: tuple[str, ...]

    def reads(self, exact: bool) -> bool:
        """True if outputs of this mode are labelled: read probabilities if `exact`, else text."""

    def check_design(self, protocol: Protocol) -> None:
        """Raises ProtocolError if the design lacks something that the instrument needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstrumentKind:
    """The record of one kind of instrument.

    summary:    one line of description.
    make:       its class: called with an InstrumentSpec, then the judges. Raises ProtocolError for
                settings that it refuses, UsageError for judges and extras that are missing.
    settings:   JSON Schema of each setting that a file may have; `needs`: the required settings.
    modality:   "text" or "image" if it labels outputs of one only, else "".
    asks:       "nobody"; "each" judge, which labels by itself; a "panel" of any number of judges
                that vote; a "team" in which the judges play `parts`, in the order of --judge.
    nameable:   True if a file may name it; False for a judge that labels beside another instrument.
    values:     {attribute: the values that it can have besides outcomes} of a spec, for attributes
                with a closed list of values.
    derived:    the attributes of a spec that follow from labelled ones.
    expected_labels: the `Labels` of an attribute of a spec, in a language.
    examples:   texts that it labels with a value of a spec, in a language, for a planted model to
                write; () if it has none.
    answers:    the form of its answers: "prose", "choice", "picks", "dialogue", "rewrite",
                "picture".
    hits:       True if it gives a label for each hit in a text.
    second:     the kind of the judges that label the same outputs beside it; None if there is none.
    unsure_settings: settings with which it marks outputs as unsure, so that a judge can be asked
                about only these; None if it marks none.
    discovers:  the kind of artefact ("taxonomy") that it discovers before it labels, unless a file
                gives one; "" for none.
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
        """True if it cannot label without judges."""
        return self.asks != "nobody"

    def attributes(self, spec: InstrumentSpec) -> Mapping[str, Sequence[str]]:
        """Returns {attribute of a spec: its values for which an example answer can be written}."""
        closed = self.values(spec)
        return {
            name: [value for value in values if self.examples(spec, value, "")]
            for name, values in closed.items()
            if name == spec.attribute
        }
