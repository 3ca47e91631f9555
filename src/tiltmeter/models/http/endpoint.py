"""Describes a self-hosted server by its own replies: its kind, weights, template, and the system
prompt that the template adds to every conversation.

llama.cpp answers /props and /apply-template, vLLM /version, /tokenize and /detokenize, Ollama
/api/version and /api/show. Facts that a server does not report are "unknown"; providers are not
asked."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from ...records import Json
from .body import at, count_at, list_at, object_at, text_at, word_at
from .connection import Connection
from .looking import look_up

MARK = "TILTMETER-ASKS-WHAT-STANDS-BEFORE-THIS"
_CONTROL = re.compile(
    r"<\|[^|>]{1,40}\|>|<\|?/?[a-z_]{1,20}\|?>|\[/?(?:INST|SYSTEM_PROMPT)\]|<</?SYS>>"
)
_ROLE = re.compile(r"^(?:system|user|human|developer)\s*:?\s*$", re.I | re.M)
# A role that follows its token at once: `<|im_start|>system`, `<start_of_turn>user`.
_HEADED = re.compile(
    r"(<\|(?:im_start|start|start_header_id|header_start)\|>|<start_of_turn>|<\|?role_start\|?>)"
    r"\s*(?:system|user|human|developer)\b",
    re.I,
)


async def describe(
    connection: Connection, headers: Mapping[str, str], model: str, messages: list[Json]
) -> dict[str, Json]:
    """Describes an endpoint. messages: the start of a conversation, whose last message is MARK."""
    root = connection.base.removesuffix("/v1")
    listed = await look_up(connection, f"{connection.base}/models", headers)
    entry = next((one for one in list_at(listed, "data") if at(one, "id") == model), None)
    entry = entry or (list_at(listed, "data") or [None])[0]
    props = object_at(await look_up(connection, f"{root}/props", headers))
    if props:
        return await _llama_cpp(connection, root, headers, props, entry, messages)
    version = word_at(await look_up(connection, f"{root}/version", headers), "version")
    if version:
        return await _vllm(connection, root, headers, version, entry, model, messages)
    version = word_at(await look_up(connection, f"{root}/api/version", headers), "version")
    if version:
        return await _ollama(connection, root, headers, version, model)
    return {}


async def _llama_cpp(
    connection: Connection,
    root: str,
    headers: Mapping[str, str],
    props: dict[str, Json],
    listed: Json,
    messages: list[Json],
) -> dict[str, Json]:
    body: dict[str, Json] = {"messages": messages}
    prompt = text_at(await look_up(connection, f"{root}/apply-template", headers, body), "prompt")
    served = count_at(props, "default_generation_settings", "n_ctx") or count_at(props, "n_ctx")
    return {
        "server": f"llama.cpp {word_at(props, 'build_info')}".strip(),
        "template": _digest(text_at(props, "chat_template")),
        "quantisation": word_at(props, "model_ftype") or None,
        "parameters": count_at(listed, "meta", "n_params"),
        "context": served,
        "trained_context": count_at(listed, "meta", "n_ctx_train"),
        "hidden_prompt": hidden_prompt(prompt) if MARK in prompt else None,
    }


async def _vllm(
    connection: Connection,
    root: str,
    headers: Mapping[str, str],
    version: str,
    listed: Json,
    model: str,
    messages: list[Json],
) -> dict[str, Json]:
    asked: dict[str, Json] = {"model": model, "messages": messages}
    tokens = list_at(await look_up(connection, f"{root}/tokenize", headers, asked), "tokens")
    back: dict[str, Json] = {"model": model, "tokens": tokens}
    detokenized = await look_up(connection, f"{root}/detokenize", headers, back) if tokens else None
    prompt = text_at(detokenized, "prompt")
    return {
        "server": f"vLLM {version}",
        "context": count_at(listed, "max_model_len"),
        "hidden_prompt": hidden_prompt(prompt) if MARK in prompt else None,
    }


async def _ollama(
    connection: Connection, root: str, headers: Mapping[str, str], version: str, model: str
) -> dict[str, Json]:
    description = await look_up(connection, f"{root}/api/show", headers, {"model": model})
    info = object_at(description, "model_info")
    trained = (value for name, value in info.items() if name.endswith(".context_length"))
    return {
        "server": f"Ollama {version}",
        "template": _digest(text_at(description, "template")),
        "quantisation": word_at(description, "details", "quantization_level") or None,
        "parameters": count_at(info, "general.parameter_count"),
        "trained_context": next((n for n in trained if isinstance(n, int)), None),
        "hidden_prompt": text_at(description, "system") if description else None,
    }


def hidden_prompt(prompt: str) -> str:
    """Returns the text that a template puts before the first user message, without marks."""
    before = _HEADED.sub(r"\1", prompt.partition(MARK)[0])
    text = _ROLE.sub("", _CONTROL.sub("\n", before))
    return "\n".join(line for line in map(str.strip, text.splitlines()) if line)


def _digest(template: str) -> str | None:
    return hashlib.sha256(template.encode()).hexdigest()[:16] if template else None
