"""Checks people's labels against their sheets, and labels by majority against people's labels."""

from __future__ import annotations

from collections import defaultdict

from ...gold import intake, majority
from ...protocol import Protocol
from ...records import HUMAN, Label
from ...stats.results import count_of
from ...store import Store
from ...store.queries import label_sets, labels
from .findings import Findings

Place = tuple[str, str]  # output, attribute


def check_people(store: Store, protocol: Protocol, findings: Findings) -> None:
    """Checks people's labels against their sheets, and notes what rests on people's word."""
    people = [name for name in label_sets.current_annotators(store) if name.startswith(HUMAN)]
    for where, sheet, now in intake.differing(store):
        findings.add("labels of people are not what their sheet says", f"{where}: {sheet}, {now}")
    if people:
        hashes = ", ".join(sorted({sheet[:16] for sheet in intake.sheets(store)}))
        who = "1 person" if len(people) == 1 else f"{len(people)} people"
        findings.note(
            f"labels of {who} rest on their word"
            + (f", and on sheets with SHA-256 {hashes}…" if hashes else "")
            + "; the digest below holds them"
        )
    _check_majority(store, protocol, findings)


def _check_majority(store: Store, protocol: Protocol, findings: Findings) -> None:
    stored = defaultdict[Place, list[Label]](list)
    for label in label_sets.iter_current(store):
        if label.annotator == majority.PEOPLE:
            stored[label.output, label.attribute].append(label)
    if not stored:  # the next report stores them
        return
    findings.count("labels", sum(map(len, stored.values())))
    follows = {(one.output, one.attribute): [one] for one in majority.current(store, protocol)}
    differing = [
        place for place in {**stored, **follows} if stored.get(place, []) != follows.get(place, [])
    ]
    if not differing:
        return
    past = {(output, attribute) for output, _, attribute in labels.places_of_people(store)}
    by_majority, by_others = (labels.latest_dates(store, which) for which in (True, False))
    last, older = max(by_majority.values()), 0
    for place in differing:
        before, now = ([one.value for one in of.get(place, [])] for of in (stored, follows))
        if by_others.get(place, "") > by_majority.get(place, last) or (not now and place in past):
            older += 1
        else:
            findings.add(
                "labels by majority are not what people say",
                f"{place[1]} of {place[0]}: {', '.join(before) or 'none'}, and"
                f" {', '.join(now) or 'none'} follows",
            )
    if older:
        verb = "is" if older == 1 else "are"
        findings.note(
            f"{count_of(older, 'label')} by majority {verb} older than what people say now; to "
            f"compute anew: tiltmeter report {store.folder}"
        )
