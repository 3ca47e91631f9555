"""Begun answers of an audit of choices end at the mark that closes what they were begun with: all
that is read has been said, and what a model adds (`he' or 'she' …`) is no part of the answer.

An endpoint is asked to stop there; the rest is cut off of replies that go on.
"""

from __future__ import annotations

from math import ceil

from ...protocol import Protocol
from ...records import STOP, Output, Trial

# About 40 characters: the longest text that is read as a word in the blank, so that a reply is read
# as it would be without the limit (benchmarks/begun_replies.py).
LEAST_TOKENS = 16
SPARE_TOKENS = 4  # beside the longest option: the mark, and what a model puts before the option
_CLOSING = {
    "'": "'",
    '"': '"',
    "`": "`",
    "‘": "’",
    "“": "”",
    "„": "“",
    "«": "»",
    "「": "」",
    "『": "』",
    "(": ")",
}


def ending(trial: Trial, protocol: Protocol) -> tuple[tuple[str, ...], int]:
    """(the texts at which the answer ends, the most tokens that it takes) of a begun choice; of all
    else, and if an option holds the closing mark, ((), 0).
    """
    closing = _CLOSING.get(trial.begin.rstrip()[-1:], "")
    if not closing or protocol.modes[trial.mode].logprobs:
        return (), 0
    longest = 0
    for spec in protocol.instruments:
        if spec.kind != "choice":
            return (), 0
        declared = spec.settings["forms"]
        language = trial.factors.get("language", "")
        forms = declared.get(language) or next(iter(declared.values()))
        for written in forms.values():
            if any(closing in form for form in written):
                return (), 0
            longest = max(longest, *map(_tokens_at_most, written))
    return (closing,), max(LEAST_TOKENS, longest + SPARE_TOKENS)


def answer(output: Output, trial: Trial, protocol: Protocol) -> Output:
    """The output as instruments read it. Of a begun choice: up to the mark that closes it; it is
    whole then, and also if the limit came first, which leaves room for every option.
    """
    stop, _ = ending(trial, protocol)
    if not stop or not output.text.strip():
        return output
    return output._replace(text=output.text.partition(stop[0])[0], ended=STOP)


def _tokens_at_most(form: str) -> int:
    """Estimates a word's tokens at worst: two letters of ASCII each, a byte of all else."""
    return ceil(len(form) / 2) if form.isascii() else len(form.encode())
