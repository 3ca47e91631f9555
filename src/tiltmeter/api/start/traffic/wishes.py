"""An audit of prompts as somebody asks for it."""

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
    """An audit as somebody asks for it of a file of prompts.

    swaps: attributes; unit: what is one item; insert: the place of a name in prompts without a cue,
    None for none; prompt: the column, "" to be told; spans: which records of a trace; redact: True
    to put placeholders for addresses and numbers of phones, cards and accounts; lists: words to
    count; tools: names of tools whose calls are counted; judged: True if a judge says which answer
    it prefers; answers: their number for each version, None for the usual one; pair_seed: chooses
    the matched sets of names.
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
