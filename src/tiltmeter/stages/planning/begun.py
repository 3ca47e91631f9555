"""Rules for audits of choices in which the model is given the beginning of the answer: the answer
ends at the mark that closes the beginning; further text (`he' or 'she' …`) is not read.

Providers are asked to stop at that mark; if a reply goes on, the rest is cut off.
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
    """Returns (texts at which the answer ends, most tokens of the answer) for a choice with a begun
    answer; ((), 0) for anything else, or if an option contains the closing mark.
    """
    closing = _CLOSING.get(trial.begin.rstrip()[-1:], "")
    if not closing or protocol.modes[trial.mode].logprobs:
        return (), 0
    limit = 0
    for spec in protocol.instruments:
        if spec.kind != "choice":
            return (), 0
        forms_by_language = spec.settings["forms"]
        language = trial.factors.get("language", "")
        forms = forms_by_language.get(language) or next(iter(forms_by_language.values()))
        for words in forms.values():
            if any(closing in form for form in words):
                return (), 0
            limit = max(limit, *map(_tokens_at_most, words))
    return (closing,), max(LEAST_TOKENS, limit + SPARE_TOKENS)


def answer(output: Output, trial: Trial, protocol: Protocol) -> Output:
    """Returns an output as instruments read it. A begun choice is cut at its closing mark and
    counts as complete, even if the token limit came first: the limit leaves room for every option.
    """
    stop, _ = ending(trial, protocol)
    if not stop or not output.text.strip():
        return output
    return output._replace(text=output.text.partition(stop[0])[0], ended=STOP)


def _tokens_at_most(form: str) -> int:
    """Estimates the most tokens of a word: one per two ASCII letters, else one per byte."""
    return ceil(len(form) / 2) if form.isascii() else len(form.encode())
