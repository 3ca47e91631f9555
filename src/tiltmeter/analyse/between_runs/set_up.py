"""The set-ups of two runs (model, judges, options, endpoint's reports), and their differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...protocol import Protocol
from ...records import HUMAN, content_id
from ...store import Store, served_models
from ...store.queries import endpoints, labels, settings, trials

UNKNOWN = "not known"


class Difference(NamedTuple):
    """A setting in which two runs differ."""

    what: str
    before: str
    after: str


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Difference]:
    """Yields the settings that differ in the later run. before, after: results of `made_with`."""
    for fact in dict.fromkeys((*before, *after)):
        earlier, later = before.get(fact, ""), after.get(fact, "")
        if earlier != later:
            yield Difference(fact, earlier, later)


def made_with(store: Store, protocol: Protocol) -> dict[str, str]:
    """Reads {setting that a run's numbers depend on: its value}, without empty values."""
    frozen = settings.frozen(store)
    subjects = trials.subjects(store)
    served = [row for row in served_models.read_served(store) if row.model in subjects]
    judges = [name for name in labels.annotators(store) if not name.startswith(HUMAN)]
    levels = trials.levels_asked(store)
    items = {row.get(protocol.item, "") for row in levels}
    system, temperature = frozen.get("system"), frozen.get("temperature")
    facts = {
        "model": ", ".join(subjects),
        "served as": ", ".join(dict.fromkeys(f"{r.name} {r.fingerprint}".strip() for r in served)),
        "protocol": f"{protocol.name} {frozen.get('version')}",
        "design": str(frozen.get("digest", ""))[:8],
        "tiltmeter": ", ".join(settings.versions(store)) or UNKNOWN,
        "labelled by": ", ".join(judges),
        "language": ", ".join(sorted({row.get("language", "") for row in levels} - {""})),
        "items": f"{len(items):,}",
        "asked": ", ".join(
            dict.fromkeys(f"{part.mode} × {part.samples}" for part in trials.parts(store))
        ),
        "seed": str(frozen.get("seed", 0)),
        "begun answer": frozen.get("begin") or "",
        "temperature": "" if temperature is None else f"{temperature:g}",
        "system prompt": content_id(system)[:8] if system else "",
    }
    facts |= endpoints.facts(store, subjects)
    return {name: text for name, text in facts.items() if text}
