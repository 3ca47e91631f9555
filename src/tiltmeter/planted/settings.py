"""The settings of a planted model. Pure.

A planted model is named by its settings, `planted:KEY=VALUE,KEY=VALUE,…`:

    VALUE=p          share of one of the two or more words that the protocol offers (`she=0.7`); the
                     others divide the rest
    VALUE.LEVEL=p    the same where a factor has this level (`she.communal=0.8`). Where levels of
                     several factors fit, the factor that the protocol names later counts (a word
                     over its class, a class over an option order); where an item has several levels
                     of one factor (`communal|outlook`), their mean
    spread=s         each item's log-odds are shifted by s × its own standard normal number, fixed
                     by `seed` and the item
    order=d          the share where VALUE is offered first, less the share where it is not (a level
                     `VALUE_first`)
    refuse, both, neither, invalid, foreign      shares of answers that are no choice; `foreign` is
                                                 another language
    refuse.LEVEL=p  the same where a factor has this level (`foreign.MM=0.3`); so for `one`, `more`,
                    `off`, `short`, `long`
    rest=p           probability outside the log-probabilities listed; in drawn answers, an invalid
                     word
    protocol=NAME    whose prompts it knows: a name or a .toml file
    seed, dress=plain|varied
    NAME=…, NAME.LEVEL=…   of a protocol of picked words the weight of a class or a word, of one of
                 dialogues the share of a topic, for any number of names: planted_words.py and
                 planted_dialogues.py
    VALUE=p, VALUE.LEVEL=p, …   of a protocol of texts the share of a list's words among the hits,
                                of a value of a rubric among
                 the answers; ATTRIBUTE/VALUE where it has several attributes; length=n: words of a
                 text. planted_prose.py
    off, short, long=p     of picked words: share of picks off the list; shares of answers with
                           fewer and with more picks
    one, more=p  shares of dialogues of one line and of more than two
    ATTRIBUTE/VALUE=p, …     of a protocol of pictures the share of a value that is drawn (of a
                 panel's words: VALUE=p); planted_pictures.py
    revise=p     share of pictures whose prompt is said to have been rewritten
    agree=p, accuracy=p, judge=reads|never       as a judge: how often it names a label, and how
                                                 often the right one
    latency=s        seconds for a reply (uniform between half and one and a half times that)
    most=n           alternatives that may be asked for (20, as vLLM does); more is an error 400. 0
                     for no limit
    refuses=A+B      parameters that are an error 400, by their names on the wire

How a reply fails to arrive has settings too, shares of attempts and switches: `FAULTS` and
`SWITCHES` below. `wait` is the Retry-After of `limit`, in seconds. Temperature is not modelled: the
shares are those at temperature 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

from .. import registry
from ..errors import UnknownName, UsageError
from ..records import BOTH, INVALID, NEITHER, OTHER_LANGUAGE, REFUSAL
from .capabilities import (
    classes_of,
    drawn_of,
    levels,
    names_of,
    offered,
    topics_of,
    words_of,
    written_of,
)

# setting → the outcome that it plants
OUTCOMES = {
    "refuse": REFUSAL,
    "both": BOTH,
    "neither": NEITHER,
    "invalid": INVALID,
    "foreign": OTHER_LANGUAGE,
}
# What only picked words and only dialogues have.
FORMS = ("off", "short", "long", "one", "more")
LENGTH = "length"  # of texts: their mean number of words
# Shares of attempts that fail, drawn anew at each attempt, so a retry gets through.
FAULTS = {
    "fail": "HTTP 503",
    "limit": "HTTP 429 with Retry-After: `wait` seconds",
    "hang": "no answer until the client gives up",
    "drop": "the connection is closed without an answer",
    "truncate": "JSON that breaks off",
}
# What is wrong with every reply, as 0 or 1.
SWITCHES = {
    "html": "a web page instead of JSON",
    "notchat": "JSON that is no chat reply",
    "redirect": "HTTP 307 to another address",
    "unauthorised": "HTTP 401",
    "quota": "HTTP 429 that no waiting mends",
    "lie": "a usage that cannot be",
    "nologprobs": "log-probabilities are asked for and left out",
    "firstbyte": "tokens are single bytes, so a form's first token need not be a character",
    "echo": "a begun answer is repeated in the reply",
    "fast": "the same bytes for every request, for benchmarks of clients (server only)",
}
DRESSES, JUDGES = ("varied", "plain"), ("reads", "never")


@dataclass(frozen=True)
class Settings:
    """The settings of one planted model. `value` is the tilted word ("" where the name gives none:
    equal shares).
    """

    text: str = ""
    protocol: str = "roles"
    value: str = ""
    share: float | None = None
    levels: Mapping[str, float] = field(default_factory=dict)
    planted: Mapping[str, Mapping[str, float]] = field(
        default_factory=dict
    )  # name → level ("" for all) → number
    spread: float = 0.0
    order: float = 0.0
    refuse: float = 0.0
    both: float = 0.0
    neither: float = 0.0
    invalid: float = 0.0
    foreign: float = 0.0
    off: float = 0.0
    short: float = 0.0
    long: float = 0.0
    one: float = 0.0
    more: float = 0.0
    rest: float = 0.0
    revise: float = 0.0
    seed: int = 0
    dress: str = "varied"
    judge: str = "reads"
    agree: float = 1.0
    accuracy: float = 1.0
    fail: float = 0.0
    limit: float = 0.0
    hang: float = 0.0
    drop: float = 0.0
    truncate: float = 0.0
    wait: float = 1.0
    latency: float = 0.0
    most: int = 0
    refuses: tuple[str, ...] = ()
    html: bool = False
    notchat: bool = False
    redirect: bool = False
    unauthorised: bool = False
    quota: bool = False
    lie: bool = False
    nologprobs: bool = False
    firstbyte: bool = False
    echo: bool = False
    fast: bool = False

    @cached_property
    def faulty(self) -> bool:
        return any(getattr(self, name) for name in FAULTS)


_DEFAULTS = {
    f.name: f.default
    for f in fields(Settings)
    if f.name not in ("text", "value", "share", "levels", "planted")
}
_ABOVE_ONE = ("spread", "wait", "latency")  # seconds and a standard deviation: not shares


def parse(text: str) -> Settings:
    """Settings from a model's name, with or without `planted:`. Raises UsageError with the nearest
    name.
    """
    text = text.removeprefix("planted:")
    found: dict[str, object] = {}
    shares: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value:
            raise UsageError(
                f"planted: the setting '{key}' has no value. Type for instance: "
                f"planted:she=0.7,{key}=…"
            )
        if key in found or key in shares:
            raise UsageError(f"planted: the setting '{key}' is given twice. Leave one out.")
        if key in _DEFAULTS:
            found[key] = _parse_value(key, value)
        else:
            shares[key] = value
    settings = _with_tilt(Settings(text=text, **found), shares)  # type: ignore[arg-type]
    for names in (OUTCOMES.keys() | {"rest"}, FAULTS):
        total = sum(getattr(settings, name) for name in names)
        if total > 1 + 1e-9:
            raise UsageError(
                f"planted: {' + '.join(sorted(names))} are {total:.3g} in all; shares are at "
                "most 1 together."
            )
    return settings


def _parse_value(key: str, value: str) -> object:
    default = _DEFAULTS[key]
    choices = {"dress": DRESSES, "judge": JUDGES}.get(key)
    if choices and value not in choices:
        raise UnknownName(f"{key} of planted", value, choices)
    if isinstance(default, bool):
        if value not in ("0", "1"):
            raise UsageError(f"planted: {key} is 0 or 1, not '{value}'. Type: {key}=1")
        return value == "1"
    if isinstance(default, tuple):
        return tuple(value.split("+"))
    if isinstance(default, float):
        return _number(
            key,
            value,
            lowest=-1.0 if key == "order" else 0.0,
            highest=1e6 if key in _ABOVE_ONE else 1.0,
        )
    if isinstance(default, int):
        return _whole(key, value)
    return value


def _number(key: str, value: str, *, lowest: float = 0.0, highest: float = 1.0) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not lowest <= number <= highest:
        span = (
            f"a number from {lowest:g} to {highest:g}"
            if highest <= 1
            else f"a number, {lowest:g} or more"
        )
        raise UsageError(f"planted: {key} is {span}, not '{value}'. Type for instance: {key}=0.7")
    return number


def _whole(key: str, value: str) -> int:
    if not value.isdecimal():
        raise UsageError(
            f"planted: {key} is a whole number, not '{value}'. Type for instance: {key}=3"
        )
    return int(value)


def _with_tilt(settings: Settings, shares: Mapping[str, str]) -> Settings:
    """The settings with the tilted word and its levels, which must be the protocol's own."""
    if not shares:
        return settings
    protocol = registry.protocol(settings.protocol)
    known, picked, topics = (
        levels(protocol),
        words_of(protocol),
        topics_of(protocol) or names_of(drawn_of(protocol)),
    )
    written = written_of(protocol)
    if written is not None:
        topics = [*names_of(written), LENGTH]
    values = [*classes_of(picked), *topics] if picked or topics else list(offered(protocol))
    planted: dict[str, dict[str, float]] = {}
    for key, number in shares.items():
        name, dot, level = key.partition(".")
        outcome = name in (*OUTCOMES, *FORMS)
        if not outcome and name not in values:
            raise UnknownName("setting of planted", name, [*values, *_DEFAULTS])
        if dot and level not in known:
            raise UnknownName(f"level of {protocol.name}", level, known)
        highest = 1e6 if (picked or name == LENGTH) and not outcome else 1.0
        planted.setdefault(name, {})[level] = _number(key, number, highest=highest)
    if picked or topics:
        return replace(settings, planted=planted)
    named = [name for name in planted if name in values]
    if len(named) > 1:
        raise UsageError(
            f"planted: {' and '.join(named)} are both given a share. Give one; the others divide "
            "the rest."
        )
    value = named[0] if named else ""
    tilted = planted.pop(value, {})
    return replace(
        settings, value=value, share=tilted.pop("", None), levels=tilted, planted=planted
    )
