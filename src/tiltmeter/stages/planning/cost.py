"""The calls, tokens and cost of a run before it is made. Pure.

Calls of a subject are its trials. A judge is asked about every output that is text; how often
depends on its replies, so there are two numbers: if every reply settles it, and the most possible
(if a judge never gives a usable reply). Outputs with the same question share a call
(`Request.shared`): the number of distinct questions is known for choices, if each option is always
written alike; for other answers, each question counts as distinct.

Tokens are estimated: by characters (`tokens`), 8 per message, 22 for the template of a local model,
and 1,500 per picture shown. For 271 prompts to two small models, in four languages, the estimates
are .98 to 1.24 of the models' own counts, by protocol and language (version 0.1: .51 to 1.11). They
were not compared with a provider's bill. Completions are counted at their limit, which most replies
stay far below; a generated picture counts as 7,024. `most` counts what a budget reserves: a token
per byte, and per picture a number that no provider is known to exceed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypedDict

from ...instruments import Instrument, Learner
from ...instruments.judges.cascade import Cascade
from ...models import Price
from ...protocol import Protocol
from ...records import SUBJECT, Answered, Output, Reply, Request, Trial
from . import plan
from .plan import Choices
from .request_sizes import Size, mean_size, size, template_tokens

RULE = (
    "tokens, estimated: English characters ÷ 4, other Latin ÷ 3, other scripts .75 each, 8 a "
    "message, 22 for the template of a model of one's own, 1,500 a picture shown; completions at "
    "their limit, 7,024 a picture drawn. "
    "Equal questions to a judge are one call: of a choice as many are counted as it has options "
    "(more where answers are worded in several ways), of all else as many as outputs. "
    "'most': every judge as often as it may be asked, a token a byte (what --max-cost reserves)"
)
LOOKED_AT_OUTPUTS = 40  # outputs whose judge's prompt is looked at


@dataclass(frozen=True, slots=True)
class CostLine:
    """One model in one part of a run. Sums over all its calls; US dollars are None without a price.

    questions: the number if every reply can be used; calls counts identical questions once. calls,
    prompt_tokens, completion_tokens, cost: if every reply can be used; those ending in `_most`: the
    maximum. up_to: if a judge labels only outputs of which rules are unsure, how often they are;
    the line itself counts every output. "" for all other models.
    """

    model: str
    part: str
    mode: str
    outputs: int
    questions: int
    calls: int
    calls_most: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    cost_most: float | None
    up_to: str = ""


class Totals(TypedDict):
    """Sums over all lines. price_unknown: models whose cost is not included."""

    calls: int
    calls_most: int
    prompt_tokens: int
    completion_tokens: int
    cost: float
    cost_most: float
    price_unknown: list[str]


class _JudgeLoad(NamedTuple):
    """The load of a model. outputs: the outputs that it is asked about; questions, calls: if every
    reply can be used; most: the most calls possible.
    """

    outputs: int
    questions: int
    calls: float
    most: int


def lines(
    protocol: Protocol,
    choices: Choices,
    instruments: Sequence[Instrument],
    price: Callable[[str], Price | None],
) -> list[CostLine]:
    """Lists the cost per subject and mode, then per instrument, mode and model that it asks."""
    trial_counts = plan.count(protocol, choices)
    rounds = _rounds(protocol, choices)
    cost_lines: list[CostLine] = []
    for subject, numbers in trial_counts.items():
        for mode, trials in rounds.items():
            mean = mean_size([size(plan.request(trial, protocol)) for trial in trials])
            load = _JudgeLoad(*[numbers[mode]] * 4)
            cost_lines.append(_line(subject, SUBJECT, mode, load, mean, price(subject)))
    for instrument in instruments:
        if isinstance(instrument, Learner):
            cost_lines += _discoveries(instrument, protocol, rounds, tuple(trial_counts), price)
        for mode, trials in rounds.items():
            is_exact = protocol.modes[mode].logprobs > 0
            if protocol.modes[mode].for_discovery or not instrument.reads(is_exact):
                continue
            samples = max(numbers[mode] for numbers in trial_counts.values()) // max(1, len(trials))
            calls = _requests_of(instrument, trials, tuple(trial_counts), samples, is_exact)
            shown = (
                _mean_request(instrument, protocol, trials, is_exact) if calls else Size(0, 0, 0, 0)
            )
            cost_lines += [
                replace(
                    _line(model, instrument.annotator, mode, call, shown, price(model)),
                    up_to=_how_often(instrument, model),
                )
                for model, call in calls.items()
            ]
    return cost_lines


def _mean_request(
    instrument: Instrument, protocol: Protocol, trials: Sequence[Trial], exact: bool
) -> Size:
    """Returns the mean size of an instrument's first request, over a sample of the trials."""
    asking = instrument.asked if isinstance(instrument, Cascade) else instrument
    requests = (
        plan.request(trial, protocol) if exact else first_request(asking, trial, protocol)
        for trial in trials[:: max(1, len(trials) // LOOKED_AT_OUTPUTS)]
    )
    return mean_size([size(request) for request in requests if request is not None])


def _how_often(instrument: Instrument, model: str) -> str:
    """Describes how often rules are unsure if `model` is the judge for these outputs; else ""."""
    if not isinstance(instrument, Cascade) or model != instrument.judge:
        return ""
    return instrument.first.unsure_share or "how often they are is not known before they have read"


def _requests_of(
    instrument: Instrument,
    trials: Sequence[Trial],
    subjects: Sequence[str],
    samples: int,
    exact: bool,
) -> dict[str, _JudgeLoad]:
    """Returns {model: its load from an instrument} for the outputs of one round."""
    loads: dict[str, _JudgeLoad] = {}
    for trial in trials:
        outputs = samples * len(subjects)
        different = min(outputs, instrument.different_answers(trial) or outputs) / max(1, outputs)
        for subject in subjects:
            calls = instrument.calls(trial._replace(subject=subject), exact)
            for model, (least, most) in calls.items():
                sums = loads.get(model, _JudgeLoad(0, 0, 0, 0))
                loads[model] = _JudgeLoad(
                    sums.outputs + samples,
                    sums.questions + least * samples,
                    sums.calls + least * samples * different,
                    sums.most + most * samples,
                )
    return loads


def totals(lines: Iterable[CostLine]) -> Totals:
    """Sums all lines; lists the models without a known price, whose cost is left out."""
    lines = list(lines)
    return {
        "calls": sum(line.calls for line in lines),
        "calls_most": sum(line.calls_most for line in lines),
        "prompt_tokens": sum(line.prompt_tokens for line in lines),
        "completion_tokens": sum(line.completion_tokens for line in lines),
        "cost": sum(line.cost or 0.0 for line in lines),
        "cost_most": sum(line.cost_most or 0.0 for line in lines),
        "price_unknown": list(dict.fromkeys(line.model for line in lines if line.cost is None)),
    }


def _rounds(protocol: Protocol, choices: Choices) -> Mapping[str, list[Trial]]:
    """Returns {mode: one sample's trials} of the first subject; others get the same prompts."""
    one_sample = replace(choices, subjects=choices.subjects[:1], samples=1)
    by_mode: dict[str, list[Trial]] = {}
    for trial in plan.trials(protocol, one_sample):
        by_mode.setdefault(trial.mode, []).append(trial)
    return by_mode


def _discoveries(
    instrument: Learner,
    protocol: Protocol,
    rounds: Mapping[str, list[Trial]],
    subjects: Sequence[str],
    price: Callable[[str], Price | None],
) -> Iterator[CostLine]:
    """Yields the cost of an instrument's discovery, by which it learns before it labels."""
    discovery_modes = [
        trial
        for mode, trials in rounds.items()
        for trial in trials
        if protocol.modes[mode].for_discovery
    ]
    trials = discovery_modes or [trial for trials in rounds.values() for trial in trials]
    samples = 1 if discovery_modes else protocol.modes[trials[0].mode].samples if trials else 0
    texts = [
        (
            trial._replace(subject=subject, sample=trial.sample + sample),
            Output(trial.id, "answer", "", "", "?"),
        )
        for subject in subjects
        for trial in trials
        for sample in range(samples)
    ]
    sizes = []
    for _, discovery in instrument.discover(texts):
        sizes += [size(first) for first in next(discovery, ())]
        discovery.close()
    if sizes:
        number = len(sizes)
        yield _line(
            instrument.judge,
            f"{instrument.artefact}/{instrument.annotator}",
            trials[0].mode,
            _JudgeLoad(number, number, number, number * instrument.discovery_calls),
            mean_size(sizes),
            price(instrument.judge),
        )


def first_request(instrument: Instrument, trial: Trial, protocol: Protocol) -> Request | None:
    """Returns an instrument's first request about its example answer; if the instrument takes that
    for a non-answer, about an answer in English.

    If the subject makes pictures, the answer is a placeholder for a picture.
    """
    picture = "picture" if protocol.modes[trial.mode].size else ""
    for factors in (trial.factors, {**trial.factors, "language": "en"}):
        item = Answered(
            trial._replace(factors=factors),
            Output(trial.id, "answer", "" if picture else instrument.typical_answer, "", picture),
            Reply(instrument.typical_answer, blob=picture),
        )
        steps = instrument.steps(item)
        try:
            return next(iter(next(steps)))
        except StopIteration:
            continue
        finally:
            steps.close()
    return None


def longest(protocol: Protocol, choices: Choices) -> int:
    """Returns the tokens of the longest prompt (its estimate doubled) plus reply in a plan."""
    sizes = (
        2 * size(request).tokens + request.sampling.max_tokens
        for trials in _rounds(protocol, choices).values()
        for request in (plan.request(trial, protocol) for trial in trials)
        if not request.size
    )
    return round(max(sizes, default=0.0))


def estimates(protocol: Protocol, choices: Choices) -> dict[str, float]:
    """Returns the mean prompt tokens of a trial, by mode."""
    return {
        mode: mean_size([size(plan.request(trial, protocol)) for trial in trials]).tokens
        for mode, trials in _rounds(protocol, choices).items()
    }


def _line(
    model: str,
    part: str,
    mode: str,
    asked: _JudgeLoad,
    size: Size,
    price: Price | None,
) -> CostLine:
    """Makes a line. Every further turn repeats the last prompt with a reply and a message added."""
    least, most = round(asked.calls), asked.most
    turns = most / asked.outputs if asked.outputs else 0.0
    prompt = least * (size.tokens + (0.0 if size.drawn else template_tokens(model, price)))
    limit = least * size.limit
    reply_tokens = size.longest + (price.reserve if price and not size.drawn else 0)
    worst_prompt = most * size.size + (size.longest + size.size) * most * max(0.0, turns - 1) / 2
    cost = price.of(round(prompt), round(limit), round(least * size.drawn)) if price else None
    highest_cost = (
        price.of(round(worst_prompt), round(most * reply_tokens), round(most * size.drawn))
        if price
        else None
    )
    return CostLine(
        model,
        part,
        mode,
        asked.outputs,
        asked.questions,
        least,
        most,
        round(prompt),
        round(limit),
        cost,
        highest_cost,
    )
