"""Checks the rows of a run against their sources: design, calls, replies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache, partial

from ...protocol import Protocol
from ...records import (
    CUT,
    SUBJECT,
    UNKNOWN,
    Output,
    Trial,
    canonical,
    content_id,
)
from ...stages.planning.plan import seed_of, text_before
from ...stages.steps import injection_count
from ...stages.steps.generate import is_cut_and_empty
from ...stats.results import count_of
from ...store import Store
from ...store.queries import calls, label_sets, settings, tables
from ...store.rows import StoredRequest, request_of
from .earlier import changed_claims, describe
from .findings import Findings, first_difference
from .plans import PlanCheck
from .reread import reread

_IMPORTED = "outputs were imported: that they are in no reply of this run is not held against them"


class TrialCheck:
    """A check of trials against the design of the protocol and the settings of the run."""

    def __init__(self, store: Store, protocol: Protocol) -> None:
        self._protocol, frozen = protocol, settings.frozen(store)
        self._names = (*protocol.factors, protocol.item)
        before = text_before(protocol, frozen.get("system"))
        # {levels: {prompt: cell}}: two names of one group have the same levels
        self._cells: dict[tuple[str, ...], dict[str, dict[str, str]]] = {}
        for cell in protocol.cells:
            levels = tuple(cell[name] for name in self._names)
            self._cells.setdefault(levels, {})[before + protocol.prompt_text(cell)] = cell
        self._seed, self._system = frozen.get("seed"), "" if before else frozen.get("system")
        self._temperature = frozen.get("temperature")

    def faults(self, trial: Trial, request: StoredRequest) -> Iterator[str]:
        """Yields the contradictions between a trial, its request, the design and the settings."""
        protocol = self._protocol
        levels = tuple(trial.factors.get(name, "") for name in self._names)
        cells = self._cells.get(levels, {})
        cell = cells.get(trial.prompt) or next(iter(cells.values()), None)
        context = () if cell is None else protocol.context(cell, self._system)
        pictures = () if cell is None else protocol.shown_with(cell)
        asked = (protocol.name, trial.subject, trial.mode, trial.factors, trial.sample)
        drawn = (trial.prompt, trial.begin, trial.sampling, *filter(None, (context, pictures)))
        if content_id(*asked, *drawn) != trial.id:
            yield "a trial is not the one that its id names"
        if cells and trial.prompt not in cells:
            yield "a trial has another prompt than the protocol"
        if (request.model, request.purpose) != (trial.subject, SUBJECT):
            yield "an output rests on the call of another model"
        if request.nonce != f"{trial.id}/{trial.sample}":
            yield "an output rests on the call of another trial"
        if not request.messages or list(request.messages[-1][1:]) != [trial.prompt, [*pictures]]:
            yield "a trial was asked with another prompt than it has"
        seed_prefix = f"{trial.mode}/" if protocol.modes[trial.mode].for_discovery else ""
        seed = seed_of(f"{seed_prefix}{self._seed}/{trial.sample}/{trial.prompt}", pictures)
        if self._temperature not in (None, trial.sampling.temperature):
            yield "a trial was not drawn at the run's temperature"
        if self._seed is not None and trial.sampling.seed != seed:
            yield "a trial was not drawn with the run's seed"


def check_outputs(store: Store, protocol: Protocol, findings: Findings) -> None:
    """Checks that each output equals its call's reply, that the call belongs to its trial, and the
    trial to the run's plan.
    """
    frozen, imported = settings.frozen(store), bool(settings.imports(store))
    if frozen.get("digest") not in (None, protocol.digest):
        findings.add("the protocol is not the one that was frozen", str(frozen.get("digest")))
    check, plan = TrialCheck(store, protocol), PlanCheck(store, protocol, findings)
    for trial, output in store.iter_outputs():
        findings.count("outputs")
        plan.take(trial)
        request = calls.subject_request(store, output.call)
        if request is None:
            if imported:
                findings.note(_IMPORTED)
            else:
                findings.add("an output rests on no stored reply", trial.id)
            continue
        for fault in check.faults(trial, request):
            findings.add(fault, trial.id)
        new_output = _output_of(store, trial, output.call)
        if new_output[1:] != output[1:]:
            difference = first_difference(output[1:], new_output[1:])
            findings.add("an output is not what its reply says", f"{trial.id}: {difference}")
    plan.check()


def check_lost(store: Store, findings: Findings) -> None:
    """Checks that every answered call of a subject has an output."""
    for key in calls.without_output(store):
        findings.add("an answer was stored and is in no output", key)


def _outputs_since_labels(store: Store, annotator: str) -> set[str]:
    """Returns the outputs that were answered after an annotator's last label, as in a run that was
    broken off; without any label, all outputs of a run that never came to an end of asking.
    """
    last = max(
        (
            date
            for piece in tables.pieces(store, "labels")
            for name, date in zip(piece["annotator"], piece["date"], strict=True)
            if name == annotator
        ),
        default=None,
    )
    if last is None and store.get("last_run"):
        return set()
    calls_since = {
        key
        for piece in tables.pieces(store, "calls")
        for key, date in zip(piece["key"], piece["date"], strict=True)
        if last is None or date > last
    }
    return {
        output
        for piece in tables.pieces(store, "outputs")
        for output, call in zip(piece["trial"], piece["call"], strict=True)
        if call in calls_since
    }


def _output_of(store: Store, trial: Trial, key: str) -> Output:
    reply, request = store.reply(key), calls.subject_request(store, key)
    assert reply is not None and request is not None
    call_request = request_of(canonical(request))
    outcome = CUT if is_cut_and_empty(call_request, reply) else reply.outcome
    ended = UNKNOWN if call_request.logprobs else reply.ended
    return Output(trial.id, outcome, reply.text, key, reply.blob, ended, reply.thought)


def check_labels(store: Store, protocol: Protocol, findings: Findings) -> None:
    """Checks that each label equals the label that is read again from the stored replies."""
    asked: dict[tuple[str, str], tuple[str, ...]] = {}
    unread, later = cache(partial(_outputs_since_labels, store)), 0
    earlier = defaultdict[tuple[str, str], list[int]](lambda: [0, 0])  # labels, differing ones
    read_before: set[tuple[str, str]] = set()
    for labels in reread(store, protocol):
        findings.count("labels", len(labels.before))
        if labels.asked:
            asked[labels.output, labels.annotator] = labels.asked
        where = f"{labels.annotator} of {labels.output}"
        if labels.reader and labels.now is not None:
            read_before.add((labels.output, labels.reader))
            counts = earlier[labels.annotator, labels.reader]
            counts[0] += len(labels.before)
            counts[1] += labels.number_differing
        elif not labels.before and (labels.output, labels.annotator) in read_before:
            continue  # an earlier version labelled the output
        elif labels.now is None:
            if settings.imports(store) and labels.reason.startswith("this version"):
                findings.note("labels were imported: they rest on no reply of this run")
            else:
                findings.add(f"labels cannot be read again ({labels.reason})", where)
        elif labels.differs and not labels.before and labels.output in unread(labels.annotator):
            later += 1
        elif labels.differs:
            what = "labels are not what the replies say" if labels.before else "labels are missing"
            findings.add(what, f"{where}: {first_difference(labels.before, labels.now)}")
    for (name, reader), (number, differing) in earlier.items():
        findings.unchecked.append(describe(store, name, reader, number, differing))
    if any(differing for _, differing in earlier.values()):
        for sentence in changed_claims(store, protocol):
            findings.note(sentence)
    if later:
        findings.note(
            f"{count_of(later, 'output')} came after the last label, and the run ended before they "
            f"were labelled; to label: tiltmeter label {store.folder}"
        )
    for output, annotator, call in label_sets.iter_calls(store):
        if call not in asked.get((output, annotator), (call,)):
            findings.add("labels name another reply than they rest on", f"{annotator} of {output}")
    stored, counted = injection_count.read_counts(store), injection_count.count(store)
    if stored and counted and stored != counted:
        sizes = [(labels["outputs"], labels["replies"]) for labels in (stored, counted)]
        if sizes[0] == sizes[1]:  # otherwise labelling was broken off
            findings.add("attempts to instruct a judge are others than counted", str(stored))
    for output in label_sets.labelled_too_early(store):
        findings.add("labels are older than the answer that they are of", output)
