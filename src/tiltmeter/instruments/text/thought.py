"""The marks around a model's reasoning (thinking), for servers that leave it in the text.

Closed thinking is removed with all text before it (a template may have opened it in the prompt),
open thinking with all text after it. This is the only table of marks: every instrument, judge and
dialect uses it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ...languages.patterns import lazy


class ThoughtMark(NamedTuple):
    """The marks of reasoning in a family of models. sign: a part of each mark in lower case, which
    every marked text contains; opened, closed: patterns.
    """

    sign: str
    opened: str
    closed: str


_TAGS = "(?:seed:)?(?:think|thinking|reasoning)"
# By the marks, the documentation of vLLM's parsers (docs.vllm.ai, features/reasoning_outputs), the
# models' own templates for [THINK], ◁think▷ and <seed:think>, and for gpt-oss the harmony format;
# without its tokens a channel's name runs into the text.
MARKS = (
    ThoughtMark("think", f"<{_TAGS}>", f"</{_TAGS}>"),  # DeepSeek, Qwen, GLM, Seed-OSS
    ThoughtMark("reasoning", f"<{_TAGS}>", f"</{_TAGS}>"),
    ThoughtMark("[think]", r"\[THINK\]", r"\[/THINK\]"),  # Mistral
    ThoughtMark("[/think]", r"\[THINK\]", r"\[/THINK\]"),
    ThoughtMark("think▷", "◁think▷", "◁/think▷"),  # Kimi
    ThoughtMark("_thinking|>", r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),  # Cohere
    ThoughtMark(
        "my thought process",  # Granite
        r"Here(?: i|')s my thought process:",
        r"Here(?: i|')s my thought process:.*?Here(?: i|')s my response:",
    ),
    ThoughtMark(
        "<|channel|>",  # gpt-oss
        r"(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)",
        r"<\|channel\|>final\b[^<]*<\|message\|>",
    ),
    ThoughtMark("analysis", r"\A\s*(?-i:analysis(?=[A-Z]))", r"\A\s*analysis.*assistantfinal"),
)
# Each mark has one of these, and few answers do: to look for them first is quicker.
_SIGNS = ("<", "[", "◁", "thought process", "nalysis")
_CLOSED = lazy(rf"\A.*(?:{'|'.join(dict.fromkeys(mark.closed for mark in MARKS))})", re.S | re.I)
_OPEN = lazy(rf"(?:{'|'.join(dict.fromkeys(mark.opened for mark in MARKS))}).*\Z", re.S | re.I)
# What stands around the answer beside the thought.
_AROUND = lazy(r"<\|(?:(?:START|END)_RESPONSE|end|return|start)\|>", re.I)


def without_thought(text: str) -> str:
    """Removes the text that a reasoning model marked as its thinking, closed or cut off."""
    for sign in _SIGNS:
        if sign in text:
            break
    else:
        return text
    lowered = text.lower()
    if not any(mark.sign in lowered for mark in MARKS):
        return text
    answer = _OPEN.sub(" ", _CLOSED.sub(" ", text))
    return text if answer == text else _AROUND.sub(" ", answer)
