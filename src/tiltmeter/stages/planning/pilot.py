"""The pilot of a run: the choice of its first trials, faults of their replies, and a forecast of
the rest. Pure.

The trials are spread over languages, cues and modes; the choice never depends on answers, so the
pilot's trials stay part of the run.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from ...protocol import Protocol
from ...records import ANSWER, CUT, ERROR, INVALID, OTHER_LANGUAGE, Trial
from ...store.queries.pilot import FirstReply
from . import begun, plan, request_sizes

FIRST, FIRST_PICTURES = 12, 4
SUSPECT = 4  # of the first, with one cause, after which as many are asked again
STOPS = 10  # of both, with one cause
LOOKED_AT = 2_000  # trials among which the first are chosen
# Prompt tokens, as a share of those estimated, below which the prompt was not read whole. The
# estimate of real prompts is too low and not too high (stages/planning/cost.py).
READ_SHARE = 0.4
LONG_PROMPT_TOKENS = 200  # estimated: shorter ones fit into every context

THOUGHT, LIMIT, UNREAD, CONTEXT, LANGUAGE = "thought", "limit", "unread", "context", "language"
FAILED = "failed"


def choose(trials: Iterable[Trial], protocol: Protocol, number: int) -> list[Trial]:
    """Chooses the first trials of a plan, each time the trial whose levels are rarest so far."""
    rest = [
        (trial, _levels(trial))
        for trial in islice(trials, LOOKED_AT)
        if not protocol.modes[trial.mode].for_discovery
    ]
    counts_so_far: Counter[tuple[str, str]] = Counter()
    chosen: list[Trial] = []
    while rest and len(chosen) < number:
        counts = [sum(map(counts_so_far.__getitem__, levels)) for _, levels in rest]
        trial, levels = rest.pop(counts.index(min(counts)))
        chosen.append(trial)
        counts_so_far.update(levels)
    return chosen


def _levels(trial: Trial) -> list[tuple[str, str]]:
    """Lists the levels of a trial; language and mode come repeatedly, so that they weigh more."""
    weighty = ("language", trial.factors.get("language", "")), ("mode", trial.mode)
    return [*trial.factors.items(), *weighty, weighty[0]]


@dataclass(frozen=True)
class First:
    """The first replies of one subject. seconds: the time that they took together."""

    subject: str
    protocol: Protocol
    trials: tuple[Trial, ...]
    replies: Mapping[str, FirstReply]
    seconds: float

    @property
    def seen(self) -> list[tuple[Trial, FirstReply]]:
        """Lists the answered trials with their replies."""
        return [
            (trial, self.replies[trial.id]) for trial in self.trials if trial.id in self.replies
        ]

    @property
    def causes(self) -> Counter[str]:
        """Counts the unmeasurable replies by cause."""
        all_causes = (cause_of(trial, reply, self.protocol) for trial, reply in self.seen)
        return Counter(cause for cause in all_causes if cause)

    @property
    def cause(self) -> str:
        """Returns the most frequent cause, "" if every reply can be measured."""
        return next((cause for cause, _ in self.causes.most_common(1)), "")

    def share(self, *values: str) -> float:
        """Returns the share of replies with one of these labels or outcomes."""
        matching = [reply for _, reply in self.seen if {reply.label, reply.outcome} & set(values)]
        return len(matching) / max(1, len(self.seen))

    @property
    def cut_share(self) -> float:
        """Returns the share of replies cut off before the part that the instruments read."""
        cut_causes = [cause for cause in self.causes.elements() if cause in (THOUGHT, LIMIT)]
        return len(cut_causes) / max(1, len(self.seen))

    @property
    def largest_thought(self) -> int:
        """Returns the most thinking tokens of a reply, 0 if none were counted."""
        return max((reply.thought or 0 for _, reply in self.seen), default=0)

    @property
    def completion_tokens(self) -> int:
        """Sums the completion tokens of all replies."""
        return sum(reply.completion_tokens or 0 for _, reply in self.seen)

    def forecast(self, counts: Mapping[str, int], estimates: Mapping[str, float]) -> Forecast:
        """Estimates the time and cost of the subject's whole plan. counts: its trials by mode;
        estimates: estimated prompt tokens of a trial by mode.
        """
        prompt = completion = dollars = 0.0
        for mode, number in counts.items():
            of_mode = [(t, r) for t, r in self.seen if t.mode == mode] or self.seen
            pairs = [
                (t, r) for t, r in of_mode if r.prompt_tokens and r.completion_tokens is not None
            ]
            if not pairs:
                continue
            estimate = sum(
                request_sizes.size(plan.request(t, self.protocol)).tokens for t, _ in pairs
            )
            ratio = sum(r.prompt_tokens or 0 for _, r in pairs) / max(1.0, estimate)
            prompt += number * ratio * estimates.get(mode, estimate / len(pairs))
            completion += number * sum(r.completion_tokens or 0 for _, r in pairs) / len(pairs)
            dollars += number * sum(r.cost or 0.0 for _, r in pairs) / len(pairs)
        calls = sum(counts.values())
        seconds = self.seconds / max(1, len(self.seen)) * calls
        return Forecast(calls, round(prompt), round(completion), dollars, seconds)

    def limit_needed(self) -> int:
        """Returns a token limit that most replies will fit: 1.5 times the 95th percentile of their
        tokens, or four times the current limit if the reply at that percentile is cut.
        """
        replies = [(t, r) for t, r in self.seen if r.completion_tokens]
        lengths = sorted(replies, key=lambda pair: pair[1].completion_tokens or 0)
        if not lengths:
            return 0
        trial, reply = lengths[math.ceil(0.95 * len(lengths)) - 1]
        tokens = reply.completion_tokens or 0
        need = 4 * trial.sampling.max_tokens if reply.ended == CUT else 1.5 * tokens
        return math.ceil(need / 10) * 10


@dataclass(frozen=True)
class Forecast:
    """The time and cost of a plan. dollars: 0 if the price is unknown."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    dollars: float
    seconds: float


def cause_of(trial: Trial, reply: FirstReply, protocol: Protocol) -> str:
    """Returns why a reply cannot be measured; "" if it can, in exact modes and for pictures."""
    mode = protocol.modes[trial.mode]
    if mode.logprobs or mode.size:
        return ""
    if reply.outcome == CUT:
        return THOUGHT
    if reply.outcome == ERROR:
        return FAILED
    if reply.outcome != ANSWER:
        return ""
    # without pictures, of which servers count 60 to 5,000 tokens each
    estimate = request_sizes.size(plan.request(trial._replace(pictures=()), protocol)).tokens
    if estimate >= LONG_PROMPT_TOKENS and 0 < (reply.prompt_tokens or 0) < READ_SHARE * estimate:
        return CONTEXT
    is_begun = bool(begun.ending(trial, protocol)[0])
    reads_prose = all(spec.kind != "choice" for spec in protocol.instruments)
    if reply.label == CUT or (reply.ended == CUT and reads_prose and not is_begun):
        return LIMIT
    return {OTHER_LANGUAGE: LANGUAGE, INVALID: UNREAD}.get(reply.label, "")


def needs_more(first: First, planned: int) -> bool:
    """True if twice the first trials are needed to decide whether the run can go on."""
    number = first.causes[first.cause] if first.cause else 0
    return SUSPECT <= number < len(first.seen) and len(first.trials) < min(2 * FIRST, planned)


def stops(first: First, number: int, planned: int) -> bool:
    """True if the run stops: all first replies fail with one cause, or STOPS of them do; of errors
    only all, as errors of some prompts are a result. A plan without further trials never stops.
    """
    alike = first.causes[first.cause] if first.cause else 0
    if planned <= number or not alike:
        return False
    return alike == len(first.seen) >= number or (alike >= STOPS and first.cause != FAILED)


def sample_replies(first: First, of_each: int = 2) -> Sequence[tuple[str, Trial, FirstReply]]:
    """Returns (language, trial, reply) for the first `of_each` replies in each language."""
    samples: list[tuple[str, Trial, FirstReply]] = []
    counts: Counter[str] = Counter()
    for trial, reply in first.seen:
        language = trial.factors.get("language", "")
        counts[language] += 1
        if counts[language] <= of_each:
            samples.append((language, trial, reply))
    return sorted(samples, key=lambda row: row[0])
