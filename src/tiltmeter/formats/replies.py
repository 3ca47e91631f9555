"""Replies that people labelled, one reply with its label per line, so that a reply misread in one
run becomes a test of the code that reads replies. `difficult` is True if two people gave a reply
different labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from ..protocol import Protocol
from ..records import ANSWER, UNKNOWN, Json, __version__, content_id
from .samples import AttributeLabels, Sample

_PERSON = re.compile(r"P\d+(?!\d)")  # a person's number in place of their name
_FINISHES = {"cut": "length", UNKNOWN: ""}  # others are called alike


def rows(protocol: Protocol, found: Iterable[Sample]) -> Iterator[tuple[str, dict[str, Json]]]:
    """Yields (language, row) per reply that a person labelled. `label` holds the person's label of
    the protocol's first such attribute; further attributes have keys of their own; `read_as` holds
    the labels by instruments.
    """
    for sample in found:
        people = [label for label in sample.labels if _PERSON.match(label.annotator)]
        if not people or sample.output.outcome != ANSWER:
            continue
        by_attribute = {
            name: [_values(one) for one in group]
            for name, group in groupby(sorted(people, key=_attribute), _attribute)
        }
        order = [name for spec in protocol.instruments for name in (spec.attribute, *spec.also)]
        first = min(by_attribute, key=lambda name: (name not in order, [*order, name].index(name)))
        others = {name: values[0] for name, values in by_attribute.items() if name != first}
        is_split = any(value != values[0] for values in by_attribute.values() for value in values)
        trial, output, call = sample.trial, sample.output, sample.call
        language = trial.factors.get("language", "")
        yield (
            language,
            {
                "id": content_id(trial.prompt, trial.begin, output.text)[:10],
                "protocol": protocol.name,
                "language": language,
                "model": call.served if call and call.served else trial.subject,
                "prompt": trial.prompt,
                "begin": trial.begin,
                "reply": output.text,
                "label": by_attribute[first][0],
                **others,
                "difficult": is_split,
                "note": "",
                "finish_reason": _FINISHES.get(output.ended, output.ended),
                "usage": _usage(sample),
                "seed": None,
                "facts": dict(trial.factors),
                "origin": f"tiltmeter {__version__}",
                "read_as": {
                    label.attribute: _values(label)
                    for label in sample.labels
                    if label not in people
                },
            },
        )


def _attribute(labels: AttributeLabels) -> str:
    return labels.attribute


def _values(labels: AttributeLabels) -> Json:
    """Returns the value of an attribute, or the list of values if there are several."""
    values = [value for value, _ in labels.values]
    return values[0] if len(values) == 1 else values


def _usage(sample: Sample) -> Json:
    tokens = sample.tokens
    if tokens is None:
        return None
    return {
        "prompt_tokens": tokens["input_tokens"],
        "completion_tokens": tokens["output_tokens"],
    }
