"""Translates servers' words for why a reply ended, and computes the reasoning tokens in a reply."""

from __future__ import annotations

from ..instruments.text.thought import without_thought
from ..records import CUT, FILTER, REFUSAL, STOP, TOOL, UNKNOWN

# Reasons in lower case. OpenAI's, Anthropic's and Google's stand in their SDKs' types; eos and
# eos_token are those of text-generation servers, model_length is Mistral's.
_REASONS = {
    STOP: ("stop", "end_turn", "stop_sequence", "eos", "eos_token", "completed"),
    CUT: (
        *("cut", "length", "max_tokens", "max_output_tokens", "model_length"),
        "model_context_window_exceeded",
    ),
    FILTER: (
        *("filter", "content_filter", "safety", "recitation", "blocklist", "prohibited_content"),
        *("spii", "image_safety", "image_prohibited_content", "image_recitation"),
    ),
    REFUSAL: ("refusal",),
    TOOL: ("tool", "tool_use", "tool_calls", "function_call", "unexpected_tool_call"),
}
_ENDED = {reason: ended for ended, reasons in _REASONS.items() for reason in reasons}


def ended_by(reason: str) -> str:
    """Translates a provider's `finish_reason` into `Reply.ended`."""
    return _ENDED.get(reason.lower(), UNKNOWN)


def thought_tokens(
    text: str, reasoning: str, completion: int | None, counted: int | None
) -> int | None:
    """Returns the number of a completion's tokens that were reasoning; None if unknown.

    counted: the server's number. If it is 0 or missing although reasoning came, beside the text or
    marked in it, the completion's tokens are divided in proportion to characters.
    """
    if counted:
        return counted
    inside = len(text) - len(without_thought(text).strip()) if text else 0
    hidden = len(reasoning) + (inside if inside > len(text) - len(text.strip()) else 0)
    if not hidden or completion is None:
        return counted
    return round(completion * min(1.0, hidden / (len(reasoning) + len(text))))
