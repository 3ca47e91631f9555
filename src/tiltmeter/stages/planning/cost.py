"""The calls, tokens and cost of a run before it is made. Pure.

Calls of a subject are its trials. A judge is asked about every output that is text; how often
depends on its replies, so there are two numbers: where every reply settles it, and the most there
can be (as where a judge never says a usable word). Outputs with the same question share a call
(`Request.shared`): how many differ is known of choices, if each option is always written alike; of
all else every answer is counted as one of its own.

Tokens are estimated: by characters (`tokens`), 8 for each message, 22 for the template of a model
of one's own, and 1,500 for a picture that is shown. Of 271 prompts that two small models were sent,
in four languages, this is .98 to 1.24 of the bill by protocol and language (version 0.1: .51 to
1.11). No rule was held against a provider's bill. Completions are counted at their limit, which
most replies stay far below; a picture that is drawn counts as 7,024. `most` takes what a budget
reserves: a token a byte, and what no provider is known to exceed for a picture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypedDict

from ...instruments import Instrument, Learner
from ...instruments.judges.cascade import Cascade
from ...models import DRAWN_TOKENS, FREE, PICTURE_TOKENS, Price
from ...models.kinds import known_kind
from ...protocol import Protocol
from ...records import SUBJECT, Answered, Output, Reply, Request, Trial
from . import plan
from .plan import Choices

RULE = (
    "tokens, estimated: English characters ÷ 4, other Latin ÷ 3, other scripts .75 each, 8 a "
    "message, 22 for the template of a model of one's own, 1,500 a picture shown; completions at "
    "their limit, 7,024 a picture drawn. "
    "Equal questions to a judge are one call: of a choice as many are counted as it has options "
    "(more where answers are worded in several ways), of all else as many as outputs. "
    "'most': every judge as often as it may be asked, a token a byte (what --max-cost reserves)"
)
MESSAGE_TOKENS = 8  # that a message has beside its text
# Tokens of a picture of 1,024 × 1,024 that is shown. By the providers' guides: width · height ÷ 750
# = 1,398 with Claude (platform.claude.com/docs/en/build-with-claude/vision), 765 with gpt-4o and
# 1,024 · 1.62 = 1,659 with gpt-4.1-mini (platform.openai.com/docs/guides/images-vision). At second
# hand: up to 1,120 with Gemini 3 (of ai.google.dev/gemini-api/docs/media-resolution), 2,833 + 4 ·
# 5,667 = 25,501 with gpt-4o-mini (github.com/autogenhub/autogen/pull/57), which only `most` allows
# for.
SHOWN_PICTURE_TOKENS = 1_500
# Tokens of a picture of 1,024 × 1,024 that is drawn: gpt-image-2's in high quality, as OpenAI's own
# calculator said in April 2026 (community.openai.com/t/1379464); gpt-image-1's largest had 6,240
# (github.com/traceloop/openllmetry-js/pull/623).
DRAWN_PICTURE_TOKENS = 7_024
_LATIN = "\u024f"  # the last of the Latin letters; Greek, Cyrillic and all else come after
TEMPLATE_TOKENS = 22.0  # of a chat template, beside those of its messages
LOOKED_AT_OUTPUTS = 40  # outputs whose judge's prompt is looked at


@dataclass(frozen=True, slots=True)
class Line:
    """One model in one part. Tokens and dollars of all its calls; None where the price is unknown.

    questions: where every reply can be used; of these, calls are the different ones.
    calls, prompt_tokens, completion_tokens, cost: where every reply can be used; with `_most`: the
    most there can be.
    up_to: of a judge that is asked only where rules are unsure, how often they are; its line is as
    if it were asked about every output. "" of all else.
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
    """Sums over all lines, as a Line has them. price_unknown: models that are in no sum of
    dollars.
    """

    calls: int
    calls_most: int
    prompt_tokens: int
    completion_tokens: int
    cost: float
    cost_most: float
    price_unknown: list[str]


class Size(NamedTuple):
    """Of one call: tokens of the prompt, the most there can be, tokens of the longest completion,
    the most; pictures drawn.
    """

    tokens: float
    size: float
    limit: float
    longest: float
    drawn: float = 0.0


class _Asked(NamedTuple):
    """Outputs that a model is asked about; questions and calls where every reply can be used; the
    most calls there can be.
    """

    outputs: int
    questions: int
    calls: float
    most: int


def tokens(text: str) -> float:
    """About how many tokens a text has, as billed by SmolLM2 and Qwen2.5 for real prompts: English
    ÷ 4 (÷ 3.9 to 5.1), other languages of Latin letters ÷ 3 (÷ 2.9 to 3.4), of every other script
    .75 a character (.63 to .76 in Chinese and Japanese).
    """
    if text.isascii():
        return len(text) / 4
    beyond = sum(character > _LATIN for character in text)
    accents = sum("\x7f" < character <= _LATIN for character in text)
    return (len(text) - beyond) / (3 if accents else 4) + 0.75 * beyond


def template_tokens(model: str, price: Price | None) -> float:
    """Tokens that the chat template of a model of one's own adds to a conversation: marks of turns
    and often a system prompt; some 30 in all of SmolLM2 and Qwen2.5. Providers add few.
    """
    kind = known_kind(model)
    served = kind is not None and kind.provider is not None and price == FREE
    return TEMPLATE_TOKENS if served or (kind is not None and kind.templated) else 0.0


def size(request: Request) -> Size:
    """Estimates the size of one request."""
    texts = [*(message.content for message in request.messages), request.begin, request.schema]
    shown, limit = (
        sum(len(message.pictures) for message in request.messages),
        request.sampling.max_tokens,
    )
    return Size(
        sum(map(tokens, texts))
        + MESSAGE_TOKENS * len(request.messages)
        + SHOWN_PICTURE_TOKENS * shown,
        sum(len(text.encode()) for text in texts)
        + 16 * len(request.messages)
        + PICTURE_TOKENS * shown,
        DRAWN_PICTURE_TOKENS if request.size else limit,
        DRAWN_TOKENS if request.size else limit,
        bool(request.size),
    )


def lines(
    protocol: Protocol,
    choices: Choices,
    instruments: Sequence[Instrument],
    price: Callable[[str], Price | None],
) -> list[Line]:
    """A line for each subject and mode, then for each part that a judge plays, or a subject that is
    asked once more.
    """
    counted = plan.count(protocol, choices)
    rounds = _rounds(protocol, choices)
    found: list[Line] = []
    for subject, numbers in counted.items():
        for mode, trials in rounds.items():
            mean = _mean([size(plan.request(trial, protocol)) for trial in trials])
            found.append(
                _line(
                    subject,
                    SUBJECT,
                    mode,
                    _Asked(*[numbers[mode]] * 4),
                    mean,
                    price(subject),
                )
            )
    for instrument in instruments:
        if isinstance(instrument, Learner):
            found += _discoveries(instrument, protocol, rounds, tuple(counted), price)
        for mode, trials in rounds.items():
            exact = protocol.modes[mode].logprobs > 0
            if protocol.modes[mode].for_discovery or not instrument.reads(exact):
                continue
            samples = max(numbers[mode] for numbers in counted.values()) // max(1, len(trials))
            calls = _requests_of(instrument, trials, tuple(counted), samples, exact)
            asking = instrument.asked if isinstance(instrument, Cascade) else instrument
            some = trials[:: max(1, len(trials) // LOOKED_AT_OUTPUTS)]
            asked = (
                [
                    plan.request(trial, protocol)
                    if exact
                    else first_request(asking, trial, protocol)
                    for trial in some
                ]
                if calls
                else []
            )
            shown = _mean([size(each) for each in asked if each is not None])
            found += [
                replace(
                    _line(model, instrument.annotator, mode, one, shown, price(model)),
                    up_to=_how_often(instrument, model),
                )
                for model, one in calls.items()
            ]
    return found


def _how_often(instrument: Instrument, model: str) -> str:
    """Describes how often a judge is asked that labels if rules are unsure; "" for all else."""
    if not isinstance(instrument, Cascade) or model != instrument.judge:
        return ""
    return instrument.first.unsure_share or "how often they are is not known before they have read"


def _requests_of(
    instrument: Instrument,
    trials: Sequence[Trial],
    subjects: Sequence[str],
    samples: int,
    exact: bool,
) -> dict[str, _Asked]:
    """Model → what an instrument asks it about the outputs of one round of trials, each drawn
    `samples` times of every subject.
    """
    found: dict[str, _Asked] = {}
    for trial in trials:
        outputs = samples * len(subjects)
        different = min(outputs, instrument.different_answers(trial) or outputs) / max(1, outputs)
        for subject in subjects:
            calls = instrument.calls(trial._replace(subject=subject), exact)
            for model, (least, most) in calls.items():
                sums = found.get(model, _Asked(0, 0, 0, 0))
                found[model] = _Asked(
                    sums.outputs + samples,
                    sums.questions + least * samples,
                    sums.calls + least * samples * different,
                    sums.most + most * samples,
                )
    return found


def totals(found: Iterable[Line]) -> Totals:
    """Sums over all lines; the models whose price is unknown are named and not summed."""
    found = list(found)
    return {
        "calls": sum(line.calls for line in found),
        "calls_most": sum(line.calls_most for line in found),
        "prompt_tokens": sum(line.prompt_tokens for line in found),
        "completion_tokens": sum(line.completion_tokens for line in found),
        "cost": sum(line.cost or 0.0 for line in found),
        "cost_most": sum(line.cost_most or 0.0 for line in found),
        "price_unknown": list(dict.fromkeys(line.model for line in found if line.cost is None)),
    }


def _rounds(protocol: Protocol, choices: Choices) -> Mapping[str, list[Trial]]:
    """One round of trials of the first subject, by mode: prompts do not differ between subjects and
    rounds.
    """
    one = replace(choices, subjects=choices.subjects[:1], samples=1)
    found: dict[str, list[Trial]] = {}
    for trial in plan.trials(protocol, one):
        found.setdefault(trial.mode, []).append(trial)
    return found


def _discoveries(
    instrument: Learner,
    protocol: Protocol,
    rounds: Mapping[str, list[Trial]],
    subjects: Sequence[str],
    price: Callable[[str], Price | None],
) -> Iterator[Line]:
    """A line for what an instrument finds out before it labels, of the trials that are drawn aside
    or, without such, of all.
    """
    aside = [
        trial
        for mode, trials in rounds.items()
        for trial in trials
        if protocol.modes[mode].for_discovery
    ]
    trials = aside or [trial for trials in rounds.values() for trial in trials]
    samples = 1 if aside else protocol.modes[trials[0].mode].samples if trials else 0
    shown = [
        (
            trial._replace(subject=subject, sample=trial.sample + sample),
            Output(trial.id, "answer", "", "", "?"),
        )
        for subject in subjects
        for trial in trials
        for sample in range(samples)
    ]
    asked = []
    for _, discovery in instrument.discover(shown):
        asked += [size(first) for first in next(discovery, ())]
        discovery.close()
    if asked:
        number = len(asked)
        yield _line(
            instrument.judge,
            f"{instrument.artefact}/{instrument.annotator}",
            trials[0].mode,
            _Asked(number, number, number, number * instrument.discovery_calls),
            _mean(asked),
            price(instrument.judge),
        )


def first_request(instrument: Instrument, trial: Trial, protocol: Protocol) -> Request | None:
    """The first request of an instrument about its example answer; where it takes that for none,
    about one in English.

    Where the subject draws, the answer is a picture, of which only its place in the request is
    looked at.
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
    """Tokens of the longest prompt of a plan with its reply: twice the estimate, which is exceeded
    by up to two thirds.
    """
    sizes = (
        2 * size(request).tokens + request.sampling.max_tokens
        for trials in _rounds(protocol, choices).values()
        for request in (plan.request(trial, protocol) for trial in trials)
        if not request.size
    )
    return round(max(sizes, default=0.0))


def estimates(protocol: Protocol, choices: Choices) -> dict[str, float]:
    """Prompt tokens of a trial of each mode, on average."""
    return {
        mode: _mean([size(plan.request(trial, protocol)) for trial in trials]).tokens
        for mode, trials in _rounds(protocol, choices).items()
    }


def _mean(sizes: Sequence[Size]) -> Size:
    number = max(1, len(sizes))
    return (
        Size(*(sum(part) / number for part in zip(*sizes, strict=True)))
        if sizes
        else Size(0.0, 0.0, 0.0, 0.0)
    )


def _line(
    model: str,
    part: str,
    mode: str,
    asked: _Asked,
    one: Size,
    price: Price | None,
) -> Line:
    """A further turn adds to its prompt a reply and a message no longer than the first, so turn k
    has k of both more.
    """
    least, most = round(asked.calls), asked.most
    turns = most / asked.outputs if asked.outputs else 0.0
    prompt = least * (one.tokens + (0.0 if one.drawn else template_tokens(model, price)))
    limit = least * one.limit
    longest = one.longest + (price.reserve if price and not one.drawn else 0)
    worst_prompt = most * one.size + (one.longest + one.size) * most * max(0.0, turns - 1) / 2
    cost = price.of(round(prompt), round(limit), round(least * one.drawn)) if price else None
    worst = (
        price.of(round(worst_prompt), round(most * longest), round(most * one.drawn))
        if price
        else None
    )
    return Line(
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
        worst,
    )
