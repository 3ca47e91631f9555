"""The amount of thinking before an answer: in users' words, and in requests.

An effort is a word that providers use (none, minimal, low, medium, high, …); "none" switches
reasoning off and "" leaves the default. As of November 2026: the efforts of OpenAI in its SDK's
types, DeepSeek's in api-docs.deepseek.com/guides/thinking_mode, OpenRouter's in
openrouter.ai/docs/use-cases/reasoning-tokens, the template's switch in docs.vllm.ai
(features/reasoning_outputs); Google's budgets for efforts in ai.google.dev/gemini-api/docs/openai.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from ..errors import UsageError
from ..records import Json

OFF, DEFAULT, NONE = "off", "default", "none"
EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max")
RESERVE_TOKENS = 1024  # for thoughts, beside what an answer needs, until it is known what they take
# What can be left out if an endpoint refuses it. `thinking` is DeepSeek's, `reasoning`
# OpenRouter's.
FIELDS = ("reasoning_effort", "chat_template_kwargs", "thinking", "reasoning")
GEMINI_BUDGETS = {"minimal": 512, "low": 1024, "medium": 8192, "high": 24576}


def check(wanted: str | None) -> None:
    """Raises UsageError if `wanted` is neither off, default nor an effort."""
    if wanted not in (None, OFF, DEFAULT, NONE, *EFFORTS):
        raise UsageError(
            f"--reasoning {wanted} is not known. Type one of: off, default, {', '.join(EFFORTS)}"
        )


def effort(wanted: str | None, efforts: Sequence[str], *, switchable: bool) -> str:
    """Returns the effort to ask for. wanted: off, default, an effort, or None to switch thinking
    off only if the model is known to allow it.

    efforts: the efforts that the model is known to accept, from the least; switchable: True if the
    endpoint is known to accept the switch for any model.
    """
    if wanted == DEFAULT:
        return ""
    if wanted not in (None, OFF, NONE):
        return str(wanted)
    if efforts:
        return efforts[0]
    return NONE if switchable or wanted is not None else ""


def chat_fields(host: str, asked: str) -> dict[str, Json]:
    """Returns the fields of a chat request that ask a host's model for an effort."""
    if not asked:
        return {}
    if host.endswith("openrouter.ai"):
        return {"reasoning": {"effort": asked}}
    if host.endswith("deepseek.com"):
        kind: dict[str, Json] = {"thinking": {"type": "disabled" if asked == NONE else "enabled"}}
        return kind if asked == NONE else kind | {"reasoning_effort": asked}
    if host.endswith(PROVIDERS):
        return {"reasoning_effort": asked}
    template: dict[str, Json] = {"chat_template_kwargs": {"enable_thinking": asked != NONE}}
    return template if asked == NONE else template | {"reasoning_effort": asked}


def is_off(value: Json) -> bool:
    """True if the value of one of FIELDS switches reasoning off."""
    return value in (
        NONE,
        {"effort": NONE},
        {"type": "disabled"},
        {"enable_thinking": False},
    )


# Hosts that take OpenAI's own field and no switch of a template.
PROVIDERS = ("openai.com", "azure.com", "groq.com", "together.ai", "mistral.ai", "googleapis.com")


def host_of(url: str) -> str:
    """Returns the host of a base URL, or ""."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def without_effect(host: str, asked: str) -> tuple[str, ...]:
    """Lists parameters that an endpoint accepts but ignores, as DeepSeek does while it thinks."""
    return ("temperature", "top_p") if host.endswith("deepseek.com") and asked != NONE else ()
