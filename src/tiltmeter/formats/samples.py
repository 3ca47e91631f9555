"""The outputs of a run one by one, each with its messages, its call and its labels, for export:
people appear as numbers; folders, addresses and keys are removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from ..records import ERROR, Output, Trial, content_id
from ..secret_filter import environment_secrets, without
from ..store import Store
from ..store.queries import calls, labels
from ..store.queries.calls import StoredCall
from .private import Hide

_REPLY_CHARACTERS = 0  # of a call's own texts: the output has them


@dataclass(frozen=True, slots=True)
class AttributeLabels:
    """The labels of one attribute of an output by one annotator: (value, weight) by position. A
    weight other than 1 is a probability, or for people 1 / (the probability that the output was
    sampled).
    """

    annotator: str
    attribute: str
    values: tuple[tuple[str, float], ...]
    ranked: bool

    @property
    def probabilities(self) -> Mapping[str, float] | None:
        """{value: probability} if several values share one position, else None."""
        return dict(self.values) if len(self.values) > 1 and not self.ranked else None


@dataclass(frozen=True, slots=True)
class Sample:
    """One output. messages: (role, text) as they were sent."""

    trial: Trial
    output: Output
    call: StoredCall | None
    messages: tuple[tuple[str, str], ...]
    labels: tuple[AttributeLabels, ...]

    @property
    def cell(self) -> str:
        """An id that all samples of one prompt share."""
        return content_id(self.trial.mode, self.trial.factors)[:12]

    @property
    def tokens(self) -> Mapping[str, int] | None:
        """Token counts by the keys of both log formats; None if the server sent none."""
        call = self.call
        if call is None or call.prompt_tokens is None or call.completion_tokens is None:
            return None
        return {
            "input_tokens": call.prompt_tokens,
            "output_tokens": call.completion_tokens,
            "total_tokens": call.prompt_tokens + call.completion_tokens,
        }


def samples(store: Store, subject: str, hide: Hide) -> Iterator[Sample]:
    """Yields the outputs of a subject, sorted by id. hide: anonymises names (`private.hider`)."""
    secrets = environment_secrets()

    def text_of(output: Output) -> str:  # what failed is told in words of ours, with its address
        return hide(output.text) if output.outcome == ERROR else without(secrets, output.text)

    for trial, output in store.iter_outputs():
        if trial.subject != subject:
            continue
        call = calls.by_key(store, output.call, _REPLY_CHARACTERS) if output.call else None
        asked = [("user", trial.prompt)]
        sent = [(role, text) for role, text, _ in call.request.messages] if call else asked
        yield Sample(
            trial._replace(subject=hide(subject), prompt=without(secrets, trial.prompt)),
            output._replace(text=text_of(output)),
            call,
            tuple((role, without(secrets, text)) for role, text in sent),
            tuple(_labels(store, output.trial, hide)),
        )


def _labels(store: Store, output: str, hide: Hide) -> Iterator[AttributeLabels]:
    rows = labels.of_output(store, output)
    for (annotator, attribute), group in groupby(rows, lambda row: (row.annotator, row.attribute)):
        current = list(group)
        values = tuple((row.value, row.weight) for row in current)
        yield AttributeLabels(hide(annotator), attribute, values, current[-1].position > 0)
