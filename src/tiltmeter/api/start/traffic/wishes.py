"""The user's settings for an audit of prompts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

UNITS = ("prompt", "user", "session")
INSERTS = ("signature", "memory")
SPANS = ("root", "llm")
MAX_TOKENS = 600
SAMPLES = 3  # prompts are scarce: more answers of each


@dataclass(frozen=True, slots=True)
class Wishes:
    """The user's settings for an audit of a file of prompts.

    swaps: attributes whose cues are swapped; unit: the kind of item; insert: where to insert a name
    into prompts without a cue, None for nowhere; prompt: the column, "" to detect it; spans: the
    records of a trace to use; redact: True to replace addresses and numbers of phones, cards and
    accounts; lists: {name: words to count}; tools: tools whose calls are counted; judged: True to
    ask a judge which answer it prefers; answers: number per version, None for the default;
    pair_seed: selects the matched sets of names.
    """

    swaps: Sequence[str] = ("gender",)
    unit: str = "prompt"
    insert: str | None = None
    prompt: str = ""
    spans: str = "root"
    redact: bool = False
    max_tokens: int = MAX_TOKENS
    tools: Sequence[str] = ()
    judged: bool = False
    answers: int | None = None
    pair_seed: int = 0
    lists: Mapping[str, Sequence[str]] = field(default_factory=dict)
