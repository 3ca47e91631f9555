"""Reads labels again from a run's stored replies, with the instruments of its protocol, and
compares them with the stored labels. No model is asked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, permutations
from typing import NamedTuple

from ...errors import ProtocolError, UsageError
from ...instruments import Instrument, Learner
from ...instruments.judges.cascade import Cascade
from ...protocol import Protocol
from ...records import HUMAN, Label, Output, Trial
from ...stages.engine.sources import Job, Row
from ...stages.steps.label import annotators, ask_about_unread, ask_where_unsure
from ...stages.steps.label_jobs import LabelJobs
from ...store import Store
from ...store.queries import label_sets, settings
from ...store.queries.labels import MAJORITY

MOST_ORDERS = 4  # judges of a panel whose orders are tried
# annotators with a version: rules, and cascades of rules and a judge
_RULE = re.compile(r"([^/]+)/([0-9]{1,4})(\+.+)?@[0-9a-f]{8}")
Told = tuple[str, int, str, float]  # attribute, position, value, weight of a label


class Reread(NamedTuple):
    """The labels of an output by an annotator. before: the run's labels; now: the labels read
    again, None if that is impossible, with the reason; asked: the keys of the replies that were
    used; reader: the present version of the annotator, if an earlier one wrote the labels."""

    output: str
    annotator: str
    before: tuple[Told, ...]
    now: tuple[Told, ...] | None
    labels: tuple[Label, ...] = ()
    reason: str = ""
    asked: tuple[str, ...] = ()
    reader: str = ""

    @property
    def differs(self) -> bool:
        """True if the labels read again differ from the run's labels."""
        return self.now != self.before

    @property
    def number_differing(self) -> int:
        """Counts the labels that differ, are missing on one side, or cannot be read again."""
        before, now = Counter(self.before), Counter(self.now)
        return max((before - now).total(), (now - before).total())


def reread(store: Store, protocol: Protocol) -> Iterator[Reread]:
    """Yields the labels read again for each output and each annotator that is a machine."""
    instruments = instruments_of(store, protocol)
    names = label_sets.current_annotators(store) - {MAJORITY}
    machines = {name for name in names if not name.startswith(HUMAN)}
    readers = _present_readers(machines - instruments.keys(), instruments)
    used = machines | {*readers.values()}
    cascades = {
        one.name for name, one in instruments.items() if isinstance(one, Cascade) and name in used
    }
    rules = {  # rules of a cascade label as a part of it
        name
        for name, one in instruments.items()
        if not one.judge and (name in used or one.name not in cascades)
    }
    stored = label_sets.iter_current(store)
    by_output = groupby(stored, key=lambda label: label.output)
    jobs = LabelJobs(store, protocol)
    jobs.introduce(list(instruments.values()))
    output, labels = next(by_output, ("", iter(())))
    for trial, said in store.iter_outputs():
        while output and output < trial.id:
            yield from _of_nothing(output, list(labels))
            output, labels = next(by_output, ("", iter(())))
        by_name: dict[str, list[Label]] = {}
        if output == trial.id:
            for label in labels:
                by_name.setdefault(label.annotator, []).append(label)
            output, labels = next(by_output, ("", iter(())))
        for name in sorted(rules | used, key=lambda name: (name not in readers, name)):
            given, reader = by_name.get(name, []), readers.get(name, "")
            if reader and not given:
                continue  # the present version reads outputs that the earlier one did not
            instrument = instruments.get(reader or name)
            labels_now = _read(store, jobs, instrument, trial, said, name, given)
            if labels_now is not None:
                yield labels_now._replace(reader=reader)
    while output:
        yield from _of_nothing(output, list(labels))
        output, labels = next(by_output, ("", iter(())))


def _present_readers(names: Iterable[str], present: Iterable[str]) -> dict[str, str]:
    """Returns {annotator of an earlier version: annotator of the present one}, for rules, alone or
    with a judge that they ask if they are unsure.
    """
    parsed = [(name, parts) for name in present if (parts := _RULE.fullmatch(name))]
    readers: dict[str, str] = {}
    for name in names:
        old = _RULE.fullmatch(name)
        for annotator, new in parsed:
            if old and old.group(1, 3) == new.group(1, 3) and 0 < int(old[2]) < int(new[2]):
                readers.setdefault(name, annotator)
    return readers


def _of_nothing(output: str, given: Sequence[Label]) -> Iterator[Reread]:
    for name, labels in groupby(given, key=lambda label: label.annotator):
        yield Reread(output, name, _contents(list(labels)), None, reason="there is no such output")


def _read(
    store: Store,
    jobs: LabelJobs,
    instrument: Instrument | None,
    trial: Trial,
    said: Output,
    name: str,
    given: Sequence[Label],
) -> Reread | None:
    old_labels = _contents(given)
    if instrument is None:
        why = f"this version has no annotator {name} for this protocol"
        return Reread(trial.id, name, old_labels, None, reason=why)
    job = jobs.job(instrument, trial, said)
    if job is None:
        return Reread(trial.id, name, old_labels, ()) if old_labels else None
    rows, asked = _finish(store, job)
    if rows is None:  # nothing is missing where a judge was not asked yet
        why = "a reply of its judge is not there"
        return Reread(trial.id, name, old_labels, None, reason=why) if old_labels else None
    labels = tuple(row for row in rows if isinstance(row, Label))
    return Reread(trial.id, name, old_labels, _contents(labels), labels, asked=asked)


def _contents(labels: Sequence[Label]) -> tuple[Told, ...]:
    return tuple(
        sorted(
            (label.attribute, label.position, label.value, round(label.weight, 9))
            for label in labels
        )
    )


def _finish(store: Store, job: Job) -> tuple[Sequence[Row] | None, tuple[str, ...]]:
    """Runs a job on stored replies; returns (rows, the replies' keys), (None, ()) without one."""
    keys: list[str] = []
    try:
        asked = next(job)
        while True:
            keys += [request.key for request in asked]
            replies = [store.reply(request.key) for request in asked]
            answered = [reply for reply in replies if reply is not None]
            if len(answered) < len(replies):
                job.close()
                return None, ()
            asked = job.send(answered)
    except StopIteration as end:
        rows: Sequence[Row] = end.value
        return rows, tuple(keys)


def instruments_of(store: Store, protocol: Protocol) -> Mapping[str, Instrument]:
    """Returns {annotator: instrument} for the run's annotators that this version still has."""
    by_name: dict[str, Instrument] = {}
    materials = settings.given_materials(store)

    def add(declared: Protocol, judges: Sequence[str]) -> None:
        try:
            instruments = annotators(declared, judges, materials)
        except (UsageError, ProtocolError):  # these judges cannot label so
            return
        for one in instruments:
            by_name.setdefault(one.annotator, one)
            if isinstance(one, Cascade) and one.check is not None:
                by_name.setdefault(one.check.annotator, one.check)

    add(protocol, ())
    teams = label_sets.judges_by_annotator(store)
    for judges in teams.values():
        for order in permutations(judges) if len(judges) <= MOST_ORDERS else [tuple(judges)]:
            add(protocol, order)
        for judge in judges:
            add(protocol, [judge])
    for cascade in settings.cascades(store).values():
        try:
            add(ask_where_unsure(protocol, [cascade.judge], cascade.sure), [cascade.judge])
        except UsageError:
            continue
    for judge in dict.fromkeys(judge for judges in teams.values() for judge in judges):
        try:
            add(ask_about_unread(protocol, [judge]), [judge])
        except UsageError:
            break
    for one in by_name.values():
        if isinstance(one, Learner):
            text = store.artefact(one.artefact, one.artefact_name)
            one.take_over(text or one.artefact_text())
    return by_name


def replace_labels(store: Store, found: Sequence[Reread]) -> None:
    """Replaces labels of the run by the labels read again; replaced labels stay in the history."""
    for one in found:
        attributes = {key[0] for key in one.before} - {label.attribute for label in one.labels}
        store.withdraw([(one.output, one.annotator, attribute) for attribute in attributes])
        store.supersede(one.labels)
