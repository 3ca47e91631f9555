"""What can be looked at: the outputs of runs of one protocol, as a table of ids, levels and labels
in memory.

Texts, prompts and replies stay in the runs and are read for what is shown. Runs are read and never
written to. A run that is still going is read again when it has changed. Of an attribute's labels
one is the output's own: that of the first annotator (in the order of the protocol's instruments),
or the most probable where it is a set of probabilities.

Surprise of an output = −log2(share of its label among all labels of its condition): subject, mode,
language and the level of the factor that the protocol contrasts. Of several labels the rarest
counts. Bits; 0 where all have the same label.
"""

from __future__ import annotations

import json
import math
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..gold import HUMAN, VOTE
from ..protocol import EVERY, Protocol
from ..protocol.tables import SEVERAL, Row
from ..records import OUTCOMES
from ..report.pictures import contrasted
from ..stages import protocol_snapshot
from ..store import Store

AGAIN = 3.0  # seconds, at least, between two readings of a run that is still going
SEARCHES = 8  # whose hits are kept
_OUTPUTS = """
SELECT t.id, t.subject, t.mode, t.factors, t.sample, o.outcome, o.blob
FROM outputs o JOIN trials t ON t.id = o.trial ORDER BY o.trial
"""
_LABELS = (
    "SELECT output, annotator, attribute, value, weight, position FROM labels"
    " WHERE current AND attribute IN (?, ?) ORDER BY output, annotator, attribute, position, id"
)
_FOUND = """
SELECT o.trial FROM outputs o JOIN trials t ON t.id = o.trial LEFT JOIN calls c ON c.key = o.call
WHERE o.text LIKE ?1 ESCAPE '\\' OR t.prompt LIKE ?1 ESCAPE '\\' OR c.revised LIKE ?1 ESCAPE '\\'
"""
# The nonce of a request, in its stored form, begins with the output that an annotator asks about.
_ASKED = "SELECT rowid, json_extract(request, '$[7]') FROM calls WHERE purpose != 'subject'"
_TABLES = """
DROP TABLE IF EXISTS card; DROP TABLE IF EXISTS label; DROP TABLE IF EXISTS hit; DROP TABLE IF EXISTS voice;
DROP TABLE IF EXISTS share;
CREATE TABLE card (n INTEGER PRIMARY KEY, run INTEGER, id TEXT, subject TEXT, mode TEXT, sample INTEGER, outcome TEXT,
  blob TEXT, condition TEXT {factors});
CREATE UNIQUE INDEX card_by_id ON card (run, id);
CREATE TABLE label (attribute TEXT, n INTEGER, value TEXT, weight REAL, own INTEGER, split INTEGER, surprise REAL);
CREATE INDEX label_of ON label (attribute, n);
CREATE TABLE share (condition TEXT, value TEXT, bits REAL, PRIMARY KEY (condition, value)) WITHOUT ROWID;
CREATE TABLE hit (text TEXT, n INTEGER, PRIMARY KEY (text, n)) WITHOUT ROWID;
CREATE TABLE voice (run INTEGER, id TEXT, call INTEGER, PRIMARY KEY (run, id, call)) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Source:
    """One run that is open. name: its folder's; number: its place on the command line."""

    number: int
    name: str
    store: Store
    protocol: Protocol

    @classmethod
    def opened(cls, number: int, folder: Path | str) -> Source:
        """Raises StoreError where there is no run, or one that cannot be read; UnknownName where
        its protocol is not there.
        """
        store = Store(folder)
        try:
            return cls(
                number,
                Path(folder).resolve().name,
                store,
                protocol_snapshot.protocol_of(store.get)[0],
            )
        except BaseException:
            store.close()
            raise

    def version(self) -> tuple[Any, ...]:
        """Changes when another process writes to the run."""
        return tuple(next(self.store.rows("PRAGMA data_version")))


class Index:
    """The outputs of runs of one protocol. `rows` answers queries over the tables card, label and
    hit.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = {source.number: source for source in sources}
        self.protocol = sources[0].protocol
        self.factors = tuple(dict.fromkeys((*self.protocol.factors, self.protocol.item)))
        self.contrasted = _contrasted(self.protocol)
        self.attributes: tuple[str, ...] = ()
        self._lead: dict[tuple[int, str], str] = {}
        self._ready: set[str] = set()
        self._counted: dict[str, dict[str, float]] = {}
        self._versions: list[Any] = []
        self._read = -math.inf
        self._db = sqlite3.connect(":memory:", isolation_level=None)

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        return self._db.execute(query, values).fetchall()

    def column(self, name: str) -> str:
        """The column of a factor, the mode or the subject. UsageError where there is none."""
        if name in ("subject", "mode", "outcome"):
            return f"c.{name}"
        if name in self.factors:
            return f"c.f{self.factors.index(name)}"
        raise UsageError(
            f"There is no factor '{name}'. There is: "
            f"{', '.join((*self.factors, 'subject', 'mode'))}."
        )

    def levels(self, name: str) -> dict[str, float]:
        """Level → outputs, of a factor, the mode, the subject or the outcome; counted once."""
        if name not in self._counted:
            found = self.rows(
                f"SELECT {self.column(name)}, count(*) FROM card c GROUP BY 1 ORDER BY 2 DESC, 1"
            )
            self._counted[name] = dict(found)
        return self._counted[name]

    def values(self, attribute: str) -> dict[str, float]:
        """Value → labels (sums of weights), of an attribute whose labels are ready: the protocol's
        own first, the commonest first."""
        key = f"\n{attribute}"  # no factor is called so
        if key not in self._counted:
            query = (
                "SELECT value, sum(weight) FROM label WHERE attribute = ? GROUP BY 1 ORDER "
                "BY 2 DESC, 1"
            )
            found = self.rows(query, (attribute,))
            self._counted[key] = dict(sorted(found, key=lambda one: one[0] in OUTCOMES))
        return self._counted[key]

    @property
    def several(self) -> tuple[str, ...]:
        """Factors with more than one level among the outputs."""
        return tuple(name for name in self.factors if len(self.levels(name)) > 1)

    @cached_property
    def cells(self) -> dict[tuple[str, ...], Row]:
        """The rows of the design by their levels, for the columns that are no factors (an input
        text).
        """
        return {tuple(cell[name] for name in self.factors): cell for cell in self.protocol.cells}

    def refresh(self) -> None:
        """Reads the runs, where they have changed since."""
        if time.monotonic() - self._read < AGAIN:
            return
        versions = [source.version() for source in self.sources.values()]
        if versions != self._versions:
            self._fill()
        self._versions, self._read = versions, time.monotonic()

    def _fill(self) -> None:
        self._db.executescript(
            _TABLES.format(factors="".join(f", f{n} TEXT" for n in range(len(self.factors))))
        )
        self._ready, self._lead, self._counted = set(), {}, {}
        marks = ",".join("?" * (8 + len(self.factors)))
        names = "run, id, subject, mode, sample, outcome, blob, condition"
        columns = "".join(f", f{n}" for n in range(len(self.factors)))
        self._db.execute("BEGIN")
        for source in self.sources.values():
            self._db.executemany(
                f"INSERT INTO card ({names}{columns}) VALUES ({marks})", self._cards(source)
            )
            self._lead |= {(source.number, a): annotator for a, annotator in _leads(source)}
        self._db.execute("COMMIT")
        self.attributes = tuple(
            dict.fromkeys(
                (
                    *_first(self.protocol, {a for _, a in self._lead}),
                    *sorted({a for _, a in self._lead}),
                )
            )
        )

    def _cards(self, source: Source) -> Iterator[tuple[Any, ...]]:
        for trial, subject, mode, factors, sample, outcome, blob in source.store.rows(_OUTPUTS):
            levels = json.loads(factors)
            shown = self._subject(source, subject)
            values = [levels.get(name, "").replace(SEVERAL, " / ") for name in self.factors]
            condition = "\n".join(
                (shown, mode, levels.get("language", ""), levels.get(self.contrasted, ""))
            )
            yield (source.number, trial, shown, mode, sample, outcome, blob, condition, *values)

    def _subject(self, source: Source, subject: str) -> str:
        """A subject's name, with its run's where there are several."""
        return subject if len(self.sources) == 1 else f"{subject} ({source.name})"

    def labelled(self, attribute: str) -> None:
        """Makes the labels of an attribute ready, once."""
        if attribute in self._ready or attribute not in self.attributes:
            return
        query = "INSERT INTO label SELECT ?, n, ?, ?, ?, ?, NULL FROM card WHERE run = ? AND id = ?"
        self._db.execute("BEGIN")
        for source in self.sources.values():
            lead = self._lead.get((source.number, attribute), "")
            rows = source.store.rows(_LABELS, (attribute, attribute + VOTE))
            for output, same in groupby(rows, key=lambda row: row[0]):
                found = said(attribute, lead, [row[1:] for row in same])
                self._db.executemany(
                    query, [(attribute, *one, source.number, output) for one in found]
                )
        self._surprise(attribute)
        self._db.execute("COMMIT")
        self._ready.add(attribute)

    def _surprise(self, attribute: str) -> None:
        counts = self.rows(
            "SELECT c.condition, l.value, sum(l.weight) FROM label l JOIN card c USING (n)"
            " WHERE l.attribute = ? GROUP BY 1, 2 ORDER BY 1",
            (attribute,),
        )
        bits = []
        for condition, same in groupby(counts, key=lambda row: row[0]):
            group = list(same)
            whole = sum(weight for _, _, weight in group)
            bits += [
                (condition, value, abs(math.log2(weight / whole)))
                for _, value, weight in group
                if weight > 0
            ]
        self._db.execute("DELETE FROM share")
        self._db.executemany("INSERT INTO share VALUES (?, ?, ?)", bits)
        self._db.execute(
            "UPDATE label SET surprise = (SELECT bits FROM share s JOIN card c ON c.condition = "
            "s.condition"
            " WHERE c.n = label.n AND s.value = label.value) WHERE attribute = ? AND own",
            (attribute,),
        )

    def found(self, text: str) -> None:
        """Makes the hits of a search ready: outputs whose text, prompt or rewritten prompt has it
        (case aside, in ASCII).
        """
        if self.rows("SELECT 1 FROM hit WHERE text = ? LIMIT 1", (text,)):
            return
        protocol_snapshot = [row[0] for row in self.rows("SELECT DISTINCT text FROM hit")]
        if len(protocol_snapshot) >= SEARCHES:
            self._db.execute("DELETE FROM hit")
        pattern = "".join(f"\\{sign}" if sign in "\\%_" else sign for sign in text)
        self._db.execute("BEGIN")
        self._db.execute(
            "INSERT INTO hit VALUES (?, -1)", (text,)
        )  # it was looked for, whether or not there is any
        for source in self.sources.values():
            hits = source.store.rows(_FOUND, (f"%{pattern}%",))
            self._db.executemany(
                "INSERT INTO hit SELECT ?, n FROM card WHERE run = ? AND id = ?",
                ((text, source.number, trial) for (trial,) in hits),
            )
        self._db.execute("COMMIT")

    def voices(self, run: int, trial: str) -> list[int]:
        """Row ids of the calls that annotators made about an output; all are told apart when the
        first is asked for.
        """
        if not self.rows("SELECT 1 FROM voice WHERE run = ? AND id = ''", (run,)):
            asked = self.sources[run].store.rows(_ASKED)
            made = ((run, str(nonce).partition("/")[0], call) for call, nonce in asked)
            self._db.executemany("INSERT OR IGNORE INTO voice VALUES (?, ?, ?)", made)
            self._db.execute("INSERT OR IGNORE INTO voice VALUES (?, '', -1)", (run,))
        return [
            row[0]
            for row in self.rows(
                "SELECT call FROM voice WHERE run = ? AND id = ? ORDER BY 1", (run, trial)
            )
        ]

    def missing(self) -> int:
        """Planned trials without an output."""
        query = "SELECT (SELECT count(*) FROM trials) - (SELECT count(*) FROM outputs)"
        return sum(max(0, next(source.store.rows(query))[0]) for source in self.sources.values())

    def close(self) -> None:
        with suppress(sqlite3.Error):
            self._db.close()
        for source in self.sources.values():
            source.store.close()


def opened(folders: Sequence[Path | str]) -> list[Index]:
    """Runs as indices: those of one protocol with the same factors together, in the order of their
    first.
    """
    groups: dict[tuple[Any, ...], list[Source]] = {}
    for number, folder in enumerate(folders):
        source = Source.opened(number, folder)
        groups.setdefault(
            (source.protocol.name, source.protocol.factors, source.protocol.item), []
        ).append(source)
    return [Index(group) for group in groups.values()]


def said(
    attribute: str, lead: str, rows: Sequence[tuple[Any, ...]]
) -> list[tuple[str, float, bool, bool]]:
    """(value, weight, is the output's own, do annotators disagree) of the labels of one output by
    its lead annotator.

    rows: (annotator, attribute, value, weight, position). Annotators, and the votes of a panel,
    disagree where one says something else than another; of probabilities the most probable is what
    is said.
    """
    voices: dict[tuple[Any, ...], list[tuple[str, float]]] = {}
    for annotator, name, value, weight, position in rows:
        key = (annotator,) if name == attribute else (annotator, name, position)
        voices.setdefault(key, []).append((value, weight))
    split = len({frozenset(_own(values)) for values in voices.values()}) > 1
    mine = voices.get((lead,)) or next(
        (values for key, values in voices.items() if len(key) == 1), []
    )
    own = _own(mine)
    return [(value, weight, value in own, split) for value, weight in mine]


def _own(values: Sequence[tuple[str, float]]) -> set[str]:
    whole = {value for value, weight in values if weight == 1}
    return whole or {max(values, key=lambda one: one[1])[0]} if values else set()


def _contrasted(protocol: Protocol) -> str:
    """As in the report; where the items themselves are contrasted (pairings of persons), the
    item.
    """
    named = ((spec.contrast or {}).get("factor", "") for spec in protocol.measures)
    return contrasted(protocol) or next((str(name) for name in named if name == protocol.item), "")


def _leads(source: Source) -> Iterator[tuple[str, str]]:
    """(attribute, its first annotator) of a run; people come after instruments."""
    pairs = list(
        source.store.rows("SELECT DISTINCT annotator, attribute FROM labels WHERE current")
    )
    order = [spec.name for spec in source.protocol.instruments]

    def rank(pair: tuple[str, str]) -> tuple[bool, int, bool, str]:
        name, _, rest = pair[0].partition("/")
        return (
            pair[0].startswith(HUMAN),
            order.index(name) if name in order else len(order),
            ":" in rest,
            pair[0],
        )

    lead: dict[str, str] = {}
    for annotator, attribute in sorted(pairs, key=rank):
        if not attribute.endswith(VOTE):
            lead.setdefault(attribute, annotator)
    yield from lead.items()


def _first(protocol: Protocol, labelled: set[str]) -> Iterator[str]:
    """Attributes in the order in which they matter: of headline measures, of others, of
    instruments.
    """
    own = [name for spec in protocol.instruments for name in (spec.attribute, *spec.also)]
    measures = sorted(protocol.measures, key=lambda measure: not measure.headline)
    wanted = [
        name
        for measure in measures
        for name in (own if measure.attribute == EVERY else [measure.attribute])
    ] + own
    yield from (name for name in wanted if name in labelled)
