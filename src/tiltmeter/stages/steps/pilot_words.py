"""Sentences about the first replies of a run: a summary, and a fault with the command to type."""

from __future__ import annotations

from ...records import ERROR, INVALID, REFUSAL
from ..planning.pilot import (
    CONTEXT,
    FAILED,
    LANGUAGE,
    LIMIT,
    THOUGHT,
    UNREAD,
    First,
    Forecast,
    sample_replies,
)

SHOWN_CHARACTERS = 60
_UNREAD = "replies are whole and the rules do not know their form"
_ANOTHER_OUT = "and another --out"


def lines(first: First, forecast: Forecast) -> list[str]:
    """Describes a subject's pilot in lines: replies, tokens, and a forecast of the whole plan."""
    number = len(first.seen)
    speed = first.completion_tokens / first.seconds if first.seconds > 0.05 else 0.0
    thought = f", of them {first.largest_thought} thought at most" if first.largest_thought else ""
    shares = (
        f"{first.cut_share:.0%} cut, {first.share(INVALID):.0%} unread, "
        f"{first.share(REFUSAL):.0%} refused"
    )
    share = first.share(ERROR)
    replies = tokens = ""  # functions and some servers count none
    if first.completion_tokens:
        replies = f"{first.completion_tokens / max(1, number):.1f} tokens a reply{thought}; "
        tokens = f"{forecast.prompt_tokens:,} + {forecast.completion_tokens:,} tokens, "
    return [
        f"pilot of {first.subject}: {number} replies",
        *(
            f"  {language + ': ' if language else ''}{_short(reply.text)} → "
            f"{reply.label or reply.outcome}"
            for language, _, reply in sample_replies(first)
        ),
        f"  {replies}{shares}"
        + (f", {share:.0%} failed" if share else "")
        + (f"; {speed:.0f} tokens/s" if speed else ""),
        f"  all {forecast.calls:,} trials: about {tokens}{_duration(forecast.seconds)}"
        + (f", ${forecast.dollars:.2f}" if forecast.dollars else ""),
    ]


def quotes(line: str) -> bool:
    """True if a line of a pilot quotes a reply."""
    return line.startswith("  ") and "' → " in line


def _short(text: str) -> str:
    line = " ".join(text.split())
    short_line = f"{line[:SHOWN_CHARACTERS]}…" if len(line) > SHOWN_CHARACTERS else line
    return f"'{short_line}'"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def sentence(first: First, switched_off: bool) -> str:
    """Describes the fault of the first replies. switched_off: True if thinking was turned off."""
    replies, number = first.causes[first.cause], len(first.seen)
    start = f"{first.subject}: {replies} of the first {number} "
    limit = max((trial.sampling.max_tokens for trial, _ in first.seen), default=0)
    if first.cause == THOUGHT:
        reason = ", though it was told not to think" if switched_off else ""
        return f"{start}replies are empty: the limit of {limit} tokens went into reasoning{reason}."
    if first.cause == LIMIT:
        return f"{start}replies are cut: the limit of {limit} tokens is short for this model."
    if first.cause == UNREAD:
        return f"{start}{_UNREAD}."
    if first.cause == FAILED:
        text = next(reply.text for _, reply in first.seen if reply.outcome == ERROR)
        return f"{start}calls failed ({text.partition(':')[0]})."  # the rest may hold a prompt
    if first.cause == CONTEXT:
        return f"{start}prompts were not read whole: the context of the server cuts them."
    return f"{start}replies are in another language: the model does not speak it."


def options(first: First, switched_off: bool) -> list[str]:
    """Lists options that mend the fault, each an alternative to the others."""
    typed = {
        THOUGHT: ["--max-tokens 2000"]
        if switched_off
        else ["--reasoning off", "--max-tokens 2000"],
        LIMIT: [f"--max-tokens {first.limit_needed()}"],
        UNREAD: ["--judge-for unread --judge KIND:NAME"],
        CONTEXT: ["--context 8192"],
        LANGUAGE: [],
        FAILED: [],
    }
    return typed[first.cause]


def remedy(first: First, switched_off: bool) -> str:
    """Describes a remedy for the fault, with the options to type."""
    typed = " or with ".join(options(first, switched_off))
    if first.cause == LANGUAGE:
        languages = sorted({trial.factors.get("language", "") for trial, _ in first.seen} - {""})
        if len(languages) < 2:
            return "Choose another model, or a language that it speaks with --language."
        return f"Asked were {', '.join(languages)}: name those that it speaks with --language."
    if first.cause == FAILED:
        return "Mend the model, and type the same command with another --out."
    if first.cause == UNREAD:
        return f"Type the same command with {typed}."
    if first.cause == CONTEXT:
        return (
            f"Type the same command with {typed} {_ANOTHER_OUT} (gguf:, builtin), or start the "
            "server with a longer context (llama.cpp -c, vLLM --max-model-len, Ollama num_ctx)."
        )
    server = (
        " A server of one's own may switch it off too: llama.cpp with --reasoning-budget 0."
        if first.cause == THOUGHT and switched_off
        else ""
    )
    return f"Type the same command with {typed}, {_ANOTHER_OUT}.{server}"
