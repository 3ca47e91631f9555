"""The outputs of runs of one protocol, as ids, levels and labels in memory (output_table.py).

Texts, prompts and replies stay in the runs and are read only to be shown. Runs are never written
to; a run still in progress is read again once it has changed. If several annotators labelled an
attribute, an output's *own* label is the first annotator's (in the order of the protocol's
instruments); if it is a set of probabilities, the most probable value.

Surprise of an output = −log2(share of its label among all labels of its condition), the condition
being subject, mode, language and the level of the factor that the protocol contrasts. If an output
has several labels, the rarest counts. In bits; 0 if all outputs have the same label.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from pathlib import Path

import numpy as np

from ...analyse.claims.output_query import OutputQuery
from ...analyse.words.short_model_names import given_names
from ...errors import UsageError
from ...protocol import EVERY, Protocol, wording
from ...protocol.design.contrasts import contrast_factor
from ...protocol.design.tables import SEVERAL, Row
from ...records import HUMAN, OUTCOMES, VOTE
from ...stages.steps import protocol_snapshot
from ...store import Store
from ...store.queries import labels, outputs, trials
from .labels import LabelColumns, coded, integers, read_part
from .output_table import OutputTable
from .parts import SUBJECT
from .placed import RunOutputs

REREAD_S = 3.0  # at least, between two readings of a run that is still going
MOST_SEARCHES = 8  # whose hits are kept
QUERY = "query?"  # begins what a query's hits are kept under, beside those of texts


@dataclass(frozen=True, slots=True)
class Source:
    """An open run. name: of its folder; number: its position on the command line."""

    number: int
    name: str
    store: Store
    protocol: Protocol

    @classmethod
    def open(cls, number: int, folder: Path | str) -> Source:
        """Opens a run. Raises StoreError if the run or its file cannot be read."""
        store = Store(folder)
        try:
            protocol, _ = protocol_snapshot.protocol_of(store)
            return cls(number, Path(folder).resolve().name, store, protocol)
        except BaseException:
            store.close()
            raise


class Index:
    """The outputs of runs of one protocol; `table` counts and selects them."""

    def __init__(self, sources: Sequence[Source], names: Mapping[str, str] | None = None) -> None:
        """Prepares an empty index; `refresh` reads the runs. names: {model: short name}."""
        self.names = dict(names or {})
        self.sources = {source.number: source for source in sources}
        self.protocol = sources[0].protocol
        self.factors = tuple(dict.fromkeys((*self.protocol.factors, self.protocol.item)))
        self.contrasted = _contrasted_factor(self.protocol)
        self.attributes: tuple[str, ...] = ()
        self.table = OutputTable(self.factors)
        self._lead: dict[tuple[int, str], str] = {}
        self._ready: set[str] = set()
        self._levels: dict[str, dict[str, int]] = {}
        self._values: dict[str, dict[str, float]] = {}
        self._versions: list[int] = []
        self._read_at = -math.inf

    def levels(self, name: str) -> dict[str, int]:
        """Counts outputs per level of a factor, mode, subject or outcome; UsageError if unknown."""
        if name not in self._levels:
            self._levels[name] = self.table.level_counts(name)
        return self._levels[name]

    def values(self, attribute: str) -> dict[str, float]:
        """Sums the loaded labels' weights per value: commonest first, then outcomes (no answer)."""
        if attribute not in self._values:
            counts = self.table.value_weights(attribute).items()
            self._values[attribute] = dict(sorted(counts, key=lambda one: one[0] in OUTCOMES))
        return self._values[attribute]

    def title(self, name: str, level: str) -> str:
        """Returns the display title of a factor's level, of a value, or of a model."""
        if name != SUBJECT:
            return wording.title(self.protocol, name, level)
        model = level if level in self.names else level.rpartition(" (")[0]  # without its run
        return self.names[model] + level[len(model) :] if model in self.names else level

    @property
    def several(self) -> tuple[str, ...]:
        """The factors that have more than one level among the outputs."""
        return tuple(name for name in self.factors if len(self.levels(name)) > 1)

    @cached_property
    def cells(self) -> dict[tuple[str, ...], Row]:
        """The design's rows by their levels, for columns besides the factors (an input text)."""
        return {tuple(cell[name] for name in self.factors): cell for cell in self.protocol.cells}

    def refresh(self) -> None:
        """Reads the runs again if they have changed, at most every REREAD_S seconds."""
        if time.monotonic() - self._read_at < REREAD_S:
            return
        versions = [source.store.data_version() for source in self.sources.values()]
        if versions != self._versions:
            self._fill()
        self._versions, self._read_at = versions, time.monotonic()

    def _fill(self) -> None:
        self._ready, self._lead, self._levels, self._values = set(), {}, {}, {}
        self.__dict__.pop("tied", None)
        self.table.fill(self._outputs(source) for source in self.sources.values())
        for source in self.sources.values():
            self._lead |= {
                (source.number, attribute): annotator
                for attribute, annotator in _lead_annotators(source).items()
            }
        labelled = {attribute for _, attribute in self._lead}
        first = _by_importance(self.protocol, labelled)
        self.attributes = tuple(dict.fromkeys((*first, *sorted(labelled))))

    def _outputs(self, source: Source) -> RunOutputs:
        numbers, samples, *parts = integers(outputs.iter_cells(source.store), 6)
        key = np.zeros(len(numbers), np.int64)
        different = []
        for part in parts:  # four short integers as one, of few values
            values, codes = coded(part)
            key = key * max(1, len(values)) + codes
            different.append(values)
        cell_keys, places = coded(key)
        at = np.unravel_index(cell_keys, [max(1, len(values)) for values in different])
        combinations = np.transpose(
            [values[code] for values, code in zip(different, at, strict=True)]
        )
        cells = [
            self._cell(source, *one)
            for one in outputs.cell_texts(source.store, combinations.tolist())
        ]
        return RunOutputs(source.number, numbers.copy(), samples.astype(np.int32), places, cells)

    def _cell(
        self, source: Source, subject: str, mode: str, factors: Mapping[str, str], outcome: str
    ) -> tuple[str, ...]:
        """Returns a cell's key in the table: (subject, mode, outcome, condition, *levels)."""
        if len(self.sources) > 1:
            subject += f" ({source.name})"
        levels = (factors.get(name, "").replace(SEVERAL, " / ") for name in self.factors)
        within = factors.get("language", ""), factors.get(self.contrasted, "")
        return subject, mode, outcome, "\n".join((subject, mode, *within)), *levels

    def forget_labels(self) -> None:
        """Makes the next page read the runs again; called after this process has changed labels."""
        self._versions, self._read_at = [], -math.inf

    def load_labels(self, attribute: str) -> None:
        """Reads an attribute's labels into the table, unless they are loaded."""
        if attribute in self._ready or attribute not in self.attributes:
            return
        size = len(self.table)
        parts = [
            read_part(
                source.store,
                attribute,
                self._lead.get((source.number, attribute), ""),
                partial(self.table.places, source.number),
            )
            for source in self.sources.values()
        ]
        self.table.add_labels(attribute, LabelColumns(size, parts))
        self._ready.add(attribute)

    def run_searches(self, text: str, query: str) -> None:
        """Marks two sets of outputs in the table, each only once: those with a text in their text,
        prompt or rewritten prompt (ASCII case ignored), and those that a query counts. Raises
        UsageError if the query is malformed.
        """
        self.table.forget_searches(MOST_SEARCHES)
        if text and not self.table.was_searched(text):
            self.table.add_hits(text, self._hits(text))
        if query and not self.table.was_searched(QUERY + query):
            self.table.add_hits(QUERY + query, self._outputs_of(OutputQuery.parse(query)))

    def _hits(self, text: str) -> Iterator[tuple[int, list[int]]]:
        for source in self.sources.values():
            yield source.number, list(outputs.containing(source.store, text))

    def _outputs_of(self, query: OutputQuery) -> Iterator[tuple[int, list[int]]]:
        """Yields (run, outputs that a query counts); UsageError if it names an unknown variant."""
        if query.variant not in self.protocol.variants:
            raise UsageError(f"{self.protocol.name} has no variant '{query.variant}'.")
        for name in query.levels:
            self.table.column(name)
        from ...analyse.whole_run.outputs_behind import Counted  # with scipy and polars

        for source in self.sources.values():
            yield source.number, Counted(source.store, source.protocol).numbers(query)

    @cached_property
    def tied(self) -> tuple[str, ...]:
        """The factors whose levels follow from the level of the contrasted factor."""
        if self.contrasted not in self.factors:
            return ()
        levels = len(self.levels(self.contrasted))
        others = (name for name in self.factors if name != self.contrasted)
        return tuple(n for n in others if self.table.distinct(self.contrasted, n)[1] == levels)

    def missing(self) -> int:
        """Counts planned trials without an output."""
        return sum(trials.open_trials(source.store) for source in self.sources.values())

    def close(self) -> None:
        """Closes the runs."""
        self.table.close()
        for source in self.sources.values():
            source.store.close()


def open_indices(
    folders: Sequence[Path | str], labels: Mapping[str, str] | None = None
) -> list[Index]:
    """Opens runs as indices, one per protocol with the same factors, in order of first appearance.
    If a run cannot be opened, closes all. labels: {short name: model}; raises UnknownName for a
    model that no run has.
    """
    groups: dict[tuple[str, tuple[str, ...], str], list[Source]] = {}
    with ExitStack() as opened:
        for number, folder in enumerate(folders):
            source = Source.open(number, folder)
            opened.callback(source.store.close)
            key = source.protocol.name, tuple(source.protocol.factors), source.protocol.item
            groups.setdefault(key, []).append(source)
        every = chain(*groups.values())
        subjects = chain(*(trials.subjects(one.store) for one in every if labels))
        names = given_names(labels or {}, subjects)
        indices = [Index(group, names) for group in groups.values()]
        opened.pop_all()
    return indices


def _contrasted_factor(protocol: Protocol) -> str:
    """Returns the factor that the report contrasts; the item, if a headline contrasts items."""
    has_item_contrast = any(
        spec.headline and (spec.contrast or {}).get("factor", "") == protocol.item
        for spec in protocol.measures
    )
    return protocol.item if has_item_contrast else contrast_factor(protocol)


def _lead_annotators(source: Source) -> dict[str, str]:
    """Returns {attribute: the first annotator of it in a run}; people come after instruments."""
    order = [spec.name for spec in source.protocol.instruments]

    def rank(pair: tuple[str, str]) -> tuple[bool, int, bool, str]:
        name, _, rest = pair[0].partition("/")
        place = order.index(name) if name in order else len(order)
        return pair[0].startswith(HUMAN), place, ":" in rest, pair[0]

    lead: dict[str, str] = {}
    for annotator, attribute in sorted(labels.annotator_attributes(source.store), key=rank):
        if not attribute.endswith(VOTE):
            lead.setdefault(attribute, annotator)
    return lead


def _by_importance(protocol: Protocol, labelled: set[str]) -> Iterator[str]:
    """Yields labelled attributes: of headline measures, then other measures, then instruments."""
    attributes = [name for spec in protocol.instruments for name in (spec.attribute, *spec.also)]
    measures = sorted(protocol.measures, key=lambda measure: not measure.headline)
    wanted = [
        name
        for measure in measures
        for name in (attributes if measure.attribute == EVERY else [measure.attribute])
    ] + attributes
    yield from (name for name in wanted if name in labelled)
