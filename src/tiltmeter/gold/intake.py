"""Imports a file of people's labels: reads it, checks it against the run, and stores it."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from pathlib import Path

from .. import registry
from ..errors import UnknownName, UsageError
from ..protocol import Protocol
from ..records import HUMAN, Json, Label
from ..row_files import Row, read_rows
from ..row_files.picture_names import fold
from ..stats.results import FEW_GOLD
from ..store import Store, now
from ..store.queries import artefacts, outputs
from ..store.queries import labels as stored_labels
from ..system import intake
from . import GOLD, drawn_weights, known_attributes, machines, refuse_stopped
from .answers import WORK, State, read_notes, write_notes
from .lists import AMBIGUOUS, ambiguous_is_a_skip, values_of
from .people import unlabelled
from .wide_sheet import IDS, is_wide, read_wide

NAMELESS = "gold"  # the person, where a file names none
UNREAD = "the column {} is no person's, and was not read: {}"
SHOWN_UNKNOWN = 10  # values in a message
RawRow = Mapping[str, Json]  # a row of a file: column → what stands in it


@dataclass(frozen=True, slots=True)
class AddedGold:
    """The counts of an import. labels: stored ones; known: those that were stored before; blank:
    rows of a sheet (or cells of people) without a value; replaced: earlier answers that were
    replaced; ambiguous: rows with the value `ambiguous`, which are stored as skips.
    """

    labels: int
    replaced: int
    blank: int
    annotators: tuple[str, ...]
    warnings: tuple[str, ...]
    ambiguous: int = 0
    known: int = 0


def take_in(store: Store, protocol: Protocol, path: Path | str) -> AddedGold:
    """Imports a table of gold. If any row is refused, nothing is stored.

    Columns: output (or trial, id), value; optional: attribute, annotator and weight, by default the
    first instrument's, `gold` and 1. Or a column per person in place of value (wide_sheet.py).
    Raises UsageError if the file or a row cannot be used, UnknownName if an attribute or a value is
    not listed.
    """
    refuse_stopped(store)
    path = Path(path)
    lists = _Lists(store, protocol)
    rows, unread = _rows(store, lists, path)
    answers = _answers(lists, path.name, rows)
    _refuse_outputs(store, protocol, path.name, answers)
    skips = [one for one in answers if one.value == AMBIGUOUS and lists.skips(one.attribute)]
    labels = [one for one in answers if one.value != AMBIGUOUS or not lists.skips(one.attribute)]
    drawn = drawn_weights(store)
    weights = {**drawn, **dict(_weights(rows))}
    added, replaced = _store(
        store, [label._replace(weight=weights.get(label.output, 1.0)) for label in labels]
    )
    _keep_skips(store, skips)
    people = tuple(dict.fromkeys(label.annotator for label in answers))
    digest = sha256(intake.read_bytes(path)).hexdigest()
    record = {
        "file": path.name,
        "sha256": digest,
        "annotators": people,
        "labels": added,
        "drawn": _sampled_note(drawn, labels),
        "rows": [label[:5] for label in labels],
        "blank": _blank_outputs(lists, rows, people),
        "date": now(),
    }
    store.keep(GOLD, digest[:16], json.dumps(record, ensure_ascii=False))
    warnings = (*map(UNREAD.format, unread, unread.values()), *_warnings(store, labels))
    return AddedGold(
        added,
        replaced,
        blank=len(rows) - len(answers),
        annotators=people,
        warnings=warnings,
        ambiguous=len(skips),
        known=len(labels) - added,
    )


def _rows(
    store: Store, lists: _Lists, path: Path
) -> tuple[list[tuple[str, Row]], Mapping[str, str]]:
    """Reads (place, row) of a sheet, with a row per label; and its columns that are not read."""
    numbered = list(read_rows(path, short_rows=True))
    if is_wide(numbered):
        wide = read_wide(store, path, numbered, lists.default, lists.values)
        return wide.rows, wide.unread
    return [(f"{path.name}, line {number}", row) for number, row in numbered], {}


def _store(store: Store, labels: Sequence[Label]) -> tuple[int, int]:
    """Stores the labels that are not stored yet; returns how many, and how many were replaced."""
    stored: dict[tuple[str, ...], tuple[str, float]] = {
        person[:3]: (person.value, person.weight) for person in stored_labels.of_people(store)
    }
    replaced, added = 0, 0
    for batch in _rounds(labels):
        new = [label for label in batch if stored.get(label[:3]) != (label.value, label.weight)]
        replaced += sum(label[:3] in stored for label in new)
        added += len(new)
        store.supersede(new)
        stored |= {label[:3]: (label.value, label.weight) for label in new}
    return added, replaced


def _answers(lists: _Lists, file: str, rows: Sequence[tuple[str, RawRow]]) -> list[Label]:
    """Returns the labels of all rows with a value. Raises UsageError with all unknown values."""
    answers, unknown = [], []
    for where, row in rows:
        if not _text_of(row, "value"):
            continue
        label = _label(lists, where, row)
        if label.value in lists.values(label.attribute):
            answers.append(label)
        else:
            unknown.append((where.removeprefix(f"{file}, "), label))
    if not unknown:
        return answers
    (where, first), values = unknown[0], {label.value for _, label in unknown}
    listed = lists.values(first.attribute)
    name = UnknownName(f"value of {first.attribute}", first.value, listed)
    if len(values) == len(unknown) == 1:
        raise UsageError(f"{file}, {where}: {name}")
    cells = "; ".join(f"{where}: '{label.value[:30]}'" for where, label in unknown[:SHOWN_UNKNOWN])
    more = "; …" if len(unknown) > SHOWN_UNKNOWN else ""
    raise UsageError(
        f"{file} has {len(unknown)} values that are not known. {cells}{more}. The values of "
        f"{first.attribute} are: {', '.join(listed)}."
    )


def _blank_outputs(
    lists: _Lists, rows: Sequence[tuple[str, RawRow]], people: Sequence[str]
) -> dict[str, list[str]]:
    """Returns {person/attribute: outputs without a value} of the rows that name a person; rows that
    name nobody are those of the file's only person.
    """
    blank: dict[str, list[str]] = defaultdict(list)
    for _, row in rows:
        name = lists.clean(_text_of(row, "annotator")).removeprefix(HUMAN)
        name = HUMAN + name if name else people[0] if len(people) == 1 else ""
        if name and not _text_of(row, "value"):
            attribute = _text_of(row, "attribute") or lists.default
            blank[f"{name}/{attribute}"].append(_text_of(row, *IDS))
    return blank


def differing(store: Store) -> Iterator[tuple[str, str, str]]:
    """Yields (label, value in the sheet, current value) of each label by people that differs from
    its sheet although nobody answered again since; and of each label that was stored with a sheet
    but is missing from the sheet.
    """
    latest: dict[tuple[str, ...], tuple[str, str]] = {}  # later sheets replace earlier ones
    for sheet in artefacts.by_date(store, GOLD):
        record = json.loads(sheet.content)
        for *place, value, _ in record.get("rows", ()):
            latest[tuple(place)] = value, record["date"]
    of_people = list(stored_labels.dated_of_people(store))
    ever = stored_labels.places_of_people(store)
    for place in latest.keys() - ever:
        yield f"{place[2]} of {place[0]} by {place[1]}", latest[place][0], "no label"
    with_sheet = {(label.annotator, date) for label, date in of_people if label[:3] in latest}
    for label, date in of_people:
        if label[:3] not in latest and (label.annotator, date) in with_sheet:
            yield f"{label.attribute} of {label.output} by {label.annotator}", "", label.value
        value, taken = latest.get(label[:3], (label.value, ""))
        if value != label.value and date <= taken:
            yield f"{label.attribute} of {label.output} by {label.annotator}", value, label.value


def sheets(store: Store) -> list[str]:
    """Returns the SHA-256 of every imported sheet, oldest first."""
    return [json.loads(sheet.content)["sha256"] for sheet in artefacts.by_date(store, GOLD)]


def _keep_skips(store: Store, skips: Sequence[Label]) -> None:
    """Stores `ambiguous` answers as reasons to skip, replacing earlier answers."""
    for skip in skips:
        store.withdraw([(skip.output, skip.annotator, skip.attribute)])
        name = f"{skip.annotator}/{skip.attribute}"
        state = read_notes(store, WORK, name).get(skip.output, State())
        write_notes(store, WORK, name, skip.output, state._replace(skipped=AMBIGUOUS))


def _text_of(row: RawRow, *names: str) -> str:
    """Returns the first non-empty text in these columns, or ""."""
    return next((str(row[name]).strip() for name in names if row.get(name) not in (None, "")), "")


class _Lists:
    """The attributes and values that a row may name, and machines' names, which it may not use."""

    def __init__(self, store: Store, protocol: Protocol) -> None:
        self.clean = store.clean
        self.default = protocol.instruments[0].attribute if protocol.instruments else ""
        self.attributes = known_attributes(store, protocol)
        self.machines = machines(store)
        # attribute → its values; attribute → True if `ambiguous` means a skip, not a value
        self.values = cache(partial(values_of, store, protocol))
        self.skips = cache(partial(ambiguous_is_a_skip, store, protocol))

    def value(self, attribute: str, text: str) -> str:
        """Returns the value that a text means, in any case; the text itself if it means none."""
        values = self.values(attribute)
        alike = [value for value in values if fold(value) == fold(text)]
        return text if text in values or len(alike) != 1 else alike[0]


def _label(lists: _Lists, where: str, row: RawRow) -> Label:
    """Returns the label of one row, whose value may be unknown. Raises UsageError if the output is
    missing, or the attribute or the person is unknown.
    """
    output = _text_of(row, *IDS)
    if not output:
        raise UsageError(
            f"{where}: the row names no output. The columns 'output' (the id of a trial) and "
            "'value' are needed."
        )
    attribute = _text_of(row, "attribute") or lists.default
    if attribute not in lists.attributes:
        raise UsageError(f"{where}: {UnknownName('attribute', attribute, lists.attributes)}")
    name = lists.clean(_text_of(row, "annotator")) or NAMELESS
    if name in lists.machines or (":" in name and registry.is_model(name)):
        raise UsageError(
            f"{where}: {name} is a model or an instrument, but gold must come from people. Name "
            "the person in the column 'annotator'."
        )
    value = lists.value(attribute, _text_of(row, "value"))
    return Label(output, HUMAN + name.removeprefix(HUMAN), attribute, value)


def _refuse_outputs(store: Store, protocol: Protocol, file: str, labels: Sequence[Label]) -> None:
    """Raises UsageError for labels of unknown or empty outputs, or several values per output."""
    modes = outputs.modes(store)
    missing = list(dict.fromkeys(label.output for label in labels if label.output not in modes))
    if missing:
        raise UsageError(
            f"{file}: {len(missing)} outputs are not in this run: {', '.join(missing[:3])}"
            f"{', …' if len(missing) > 3 else ''}. Their ids are in: tiltmeter export RUN"
        )
    read = {name for name, mode in protocol.modes.items() if mode.logprobs}
    several = stored_labels.attributes_with_several(store)
    for label in labels:
        if modes[label.output] in read:
            raise UsageError(
                f"{file}: {label.output} comes from probabilities and has no text that a person "
                "could label. Leave its rows out."
            )
        if label.attribute in several:
            raise UsageError(
                f"{file}: {label.attribute} can have several values per output; gold labels need "
                "exactly one. Leave its rows out."
            )


def _weights(rows: Sequence[tuple[str, RawRow]]) -> Iterator[tuple[str, float]]:
    """Yields (output, weight) per row. Raises UsageError unless the weight is above 0."""
    for where, row in rows:
        text = _text_of(row, "weight")
        try:
            weight = float(text or 1)
        except ValueError:
            weight = -1.0
        if not 0 < weight < float("inf"):
            raise UsageError(
                f"{where}: the weight '{text}' must be a number above 0: 1 divided "
                "by the probability that the output was sampled."
            )
        if text:
            yield _text_of(row, *IDS), weight


def _rounds(labels: Iterable[Label]) -> list[list[Label]]:
    """Splits labels into rounds, so that a person's later answer replaces the earlier one."""
    rounds: list[list[Label]] = []
    counts: Counter[tuple[str, str, str]] = Counter()
    for label in labels:
        key = (label.output, label.annotator, label.attribute)
        if counts[key] == len(rounds):
            rounds.append([])
        rounds[counts[key]].append(label)
        counts[key] += 1
    return rounds


def _warnings(store: Store, labels: Sequence[Label]) -> Iterator[str]:
    """Yields warnings about blanks, and attributes with too little gold or gold of one class."""
    for attribute in dict.fromkeys(label.attribute for label in labels):
        yield from unlabelled(store, attribute)
        counts = stored_labels.counts_of_people(store, attribute)
        total = sum(counts.values())
        if len(counts) == 1:
            yield (
                f"all {total} gold labels of {attribute} are '{next(iter(counts))}': nothing is "
                "known of how often the other values are taken for it, so nothing is corrected. "
                "Annotate outputs of every value."
            )
        elif total < 2 * FEW_GOLD:
            yield (
                f"{total} gold labels of {attribute} say next to nothing of an error rate: at "
                f"least {FEW_GOLD} of a value and {FEW_GOLD} of the others are needed for a "
                "correction to be trusted."
            )


def _sampled_note(drawn: Collection[str], labels: Sequence[Label]) -> str:
    """Says how many of a file's outputs were sampled by tiltmeter."""
    labelled = {label.output for label in labels}
    return (
        f"{len(labelled & {*drawn})} of {len(labelled)} outputs are of a sample that tiltmeter "
        "drew; of the others it is not known"
    )
