"""The settings of a planted model, `planted:KEY=VALUE,KEY=VALUE,…`. Pure.

p is a share from 0 to 1. A level follows a dot: `she.communal=0.8` applies if a factor has the
level communal. If levels of several factors apply, that of the factor latest in the protocol counts
(a word over its class, a class over an option order); if an item has several levels of one factor
(`communal|outlook`), their mean counts. `yes.women+fair=0.5` applies if both levels do.

A choice between words
    she=p                 share of one of the words offered; the others divide the rest
    spread=s              each item's log-odds are shifted by s × its own standard normal number,
                          fixed by `seed` and the item
    order=d               the share if the word is offered first (a level `she_first`), minus the
                          share if it is not
    rest=p                probability outside the log-probabilities listed; in sampled answers, an
                          invalid word
Picked words (words.py)
    NAME=w                weight of a class or a word, for any number of names
    off=p                 share of picks off the list
    short=p, long=p       shares of answers with fewer and with more picks
Rankings (rankings.py)
    GROUP=w               weight of a group's people
    place N=w             weight of the person at position N of the prompt
    short=p               share of answers that leave out the last person
Dialogues (dialogues.py)
    TOPIC=p               share of a topic
    one=p, more=p         shares of answers of one line and of more than two
Texts (prose.py)
    LIST=p, VALUE=p       share of a list's words among the hits, of a value among the answers;
                          ATTRIBUTE/VALUE=p if there are several attributes
    length=n              mean number of words
Pictures (pictures.py)
    ATTRIBUTE/VALUE=p     share of pictures painted with a value (of a panel's words: VALUE=p)
    revise=p              share of pictures whose prompt is reported as rewritten
Non-answers
    refuse=p, both=p, neither=p, invalid=p, foreign=p
                          foreign is another language
As a judge (judge.py)
    agree=p, accuracy=p   share of replies that are a label, and of labels that are right
    judge=reads|never     never: replies nonsense
Protocol and randomness
    protocol=NAME         whose prompts it knows: a name or a .toml file
    seed=n
    dress=varied|plain    plain says everything in one way
Delivery
    latency=s             seconds for a reply, uniform between half and one and a half times that
    most=n                alternatives that may be asked for; more is an error 400; 0 for no limit
    refuses=A+B           parameters that are an error 400, by their names on the wire
    wait=s                the Retry-After of `limit`, in seconds
    FAULTS and SWITCHES   below: shares of attempts that fail, and faults of every reply

Temperature is not modelled: the shares are those at temperature 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property

from ..errors import UnknownName, UsageError
from ..records import BOTH, INVALID, NEITHER, OTHER_LANGUAGE, REFUSAL

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
MOST_WEIGHT = 1e6  # the highest number of a setting that is no share
TOGETHER = "+"  # between levels of several factors
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
    "blind": "no pictures are read, and one that is shown is an error",
    "echo": "a begun answer is repeated in the reply",
    "fast": "the same bytes for every request, for benchmarks of clients (server only)",
}
DRESSES, JUDGES = ("varied", "plain"), ("reads", "never")
Value = bool | int | float | str | tuple[str, ...]


@dataclass(frozen=True)
class Settings:
    """The settings of a planted model. `value`: the tilted word; "" for equal shares."""

    text: str = ""
    protocol: str = "roles"
    value: str = ""
    share: float | None = None
    levels: Mapping[str, float] = field(default_factory=dict)
    # name → level ("" for all) → number
    planted: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
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
    blind: bool = False
    echo: bool = False
    fast: bool = False

    @cached_property
    def faulty(self) -> bool:
        """True if some share of attempts fails."""
        return any(getattr(self, name) for name in FAULTS)


DEFAULTS: dict[str, Value] = {
    f.name: getattr(Settings(), f.name)
    for f in fields(Settings)
    if f.name not in ("text", "value", "share", "levels", "planted")
}
# Numbers that are no shares: a standard deviation, a difference of shares, seconds.
_RANGES = {
    "order": (-1.0, 1.0),
    **dict.fromkeys(("spread", "wait", "latency"), (0.0, MOST_WEIGHT)),
}


def plain_settings(given: dict[str, str], text: str) -> Settings:
    """Parses and removes from `given` the settings common to all subjects. Raises UsageError."""
    named = [key for key in given if key in DEFAULTS]
    values = {key: parse_value("planted", key, given.pop(key), DEFAULTS[key]) for key in named}
    settings = Settings(text=text, **values)  # type: ignore[arg-type]
    for names in (OUTCOMES.keys() | {"rest"}, FAULTS):
        total = sum(getattr(settings, name) for name in names)
        if total > 1 + 1e-9:
            raise UsageError(
                f"planted: {' + '.join(sorted(names))} add up to {total:.3g}; these shares must "
                "not exceed 1. Lower one."
            )
    return settings


def read_pairs(text: str, kind: str) -> dict[str, str]:
    """Parses KEY=VALUE,KEY=VALUE. Raises UsageError if a key has no value or occurs twice."""
    pairs: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value:
            raise UsageError(
                f"{kind}: the setting '{key}' has no value. Type for instance: {kind}:{key}=…"
            )
        if key in pairs:
            raise UsageError(f"{kind}: the setting '{key}' is given twice. Give it once.")
        pairs[key] = value
    return pairs


def parse_value(kind: str, key: str, value: str, default: Value) -> Value:
    """Parses a setting's value to the type of its default. Raises UsageError with what to type."""
    choices = {"dress": DRESSES, "judge": JUDGES}.get(key)
    if choices and value not in choices:
        raise UnknownName(f"{key} of {kind}", value, choices)
    if isinstance(default, bool):
        if value not in ("0", "1"):
            raise UsageError(f"{kind}: {key} must be 0 or 1, not '{value}'. Type: {key}=1")
        return value == "1"
    if isinstance(default, tuple):
        return tuple(value.split("+"))
    if isinstance(default, float):
        lowest, highest = _RANGES.get(key, (0.0, 1.0))
        return number_of(kind, key, value, lowest=lowest, highest=highest)
    if isinstance(default, int):
        if not value.isdecimal():
            raise UsageError(
                f"{kind}: {key} must be a whole number, not '{value}'. Type for instance: {key}=3"
            )
        return int(value)
    return value


def number_of(
    kind: str, key: str, value: str, *, lowest: float = 0.0, highest: float = 1.0
) -> float:
    """Parses a setting's number. Raises UsageError unless it lies in [lowest, highest]."""
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
        raise UsageError(f"{kind}: {key} must be {span}, not '{value}'. For instance: {key}=0.7")
    return number
