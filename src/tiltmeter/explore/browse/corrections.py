"""Labels that a person corrects while looking at an output in the explorer (key `r`).

This person has seen the judges' labels, so a correction is not gold: it is stored as a label by
`human:NAME (corrected)`, appears beside the others, counts as a disagreement of annotators, and is
used in no estimate, gold correction or agreement. Gold is labelled blind, on the annotation page.
"""

from __future__ import annotations

import json
from typing import TypedDict

from ...errors import UsageError
from ...gold import annotation, people
from ...records import CORRECTED, VOTE, Label
from ...store.queries import labels, outputs
from ..selection.index import Source


class CorrectableAttribute(TypedDict):
    """An attribute of an output. mine: this person's value, or ""; values: (value, meaning)."""

    name: str
    question: str
    mine: str
    values: tuple[tuple[str, str], ...]


def corrector(source: Source, name: str) -> str:
    """Returns the annotator for a person's corrections. UsageError if the name is invalid."""
    return people.annotator_named(source.store, source.protocol, name) + CORRECTED


def correctable(source: Source, output: str, annotator: str) -> list[CorrectableAttribute]:
    """Returns the attributes of which an output has a single value, and the values to choose from.
    Raises UsageError if there is no such output.
    """
    stored = outputs.one(source.store, output)
    if stored is None:
        raise UsageError(f"There is no output {output[:40]} in this run.")
    trial, _ = stored
    current = labels.of_output(source.store, output)
    several = labels.attributes_with_several(source.store)
    names = (one.attribute for one in current if not one.attribute.endswith(VOTE))
    mine = {one.attribute: one.value for one in current if one.annotator == annotator}
    of = {"subject": trial.subject, **trial.factors}
    return [
        {
            "name": name,
            "question": source.protocol.annotation.get(name, {}).get("question") or name,
            "mine": mine.get(name, ""),
            "values": tuple(
                (choice.value, choice.meaning)
                for choice in annotation.choices(source.store, source.protocol, name, of)
            ),
        }
        for name in dict.fromkeys(names)
        if name not in several
    ]


def correct(source: Source, output: str, annotator: str, attribute: str, value: str) -> None:
    """Stores a correction in place of this person's earlier one (which stays on record); ""
    withdraws the earlier one. Raises UsageError if the attribute or the value cannot be chosen.
    """
    known = {one["name"]: one for one in correctable(source, output, annotator)}
    if attribute not in known:
        raise UsageError(f"'{attribute[:80]}' is not an attribute that can be corrected here.")
    if not value:
        source.store.withdraw([(output, annotator, attribute)])
    elif value in {name for name, _ in known[attribute]["values"]}:
        source.store.supersede([Label(output, annotator, attribute, value)])
    else:
        raise UsageError(f"'{value[:80]}' is not on the list of {attribute}.")


def parse_correction(body: bytes) -> tuple[int, str, str, str]:
    """Parses (run, output, attribute, value) from a request's body. UsageError if malformed."""
    try:
        sent = json.loads(body)
        run, texts = sent["run"], [sent[name] for name in ("output", "attribute", "value")]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise UsageError("A correction needs 'run', 'output', 'attribute' and 'value'.") from None
    if not isinstance(run, int) or not all(isinstance(text, str) for text in texts):
        raise UsageError("'run' must be a number, and the other fields must be strings.")
    return run, texts[0], texts[1], texts[2]
