"""The facts that the endpoints of a run reported about themselves, by model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...records import Json
from .. import Store

ENDPOINTS = "endpoints"
NAMES = {  # of what a record holds → in words
    "server": "server",
    "interface": "interface",
    "template": "template",
    "hidden_prompt": "hidden system prompt",
    "quantisation": "quantisation",
    "parameters": "parameters",
    "context": "context",
    "trained_context": "trained context",
    "effort": "reasoning asked",
    "reserve": "tokens reserved for reasoning",
    "left_out": "left out, since it is refused",
    "without_effect": "sent, without effect",
}


def endpoints(store: Store) -> dict[str, dict[str, Json]]:
    """Returns {model: its endpoint's record}, for models with a record."""
    return store.get(ENDPOINTS) or {}


def keep_endpoint(store: Store, model: str, record: Mapping[str, Json]) -> None:
    """Stores the record of a model; a later one replaces it."""
    store.put(ENDPOINTS, {**endpoints(store), model: dict(record)})


def hidden_prompts(store: Store) -> dict[str, str]:
    """Returns {model: the system prompt that its template adds}, for models that have one."""
    prompts = ((model, record.get("hidden_prompt")) for model, record in endpoints(store).items())
    return {model: str(prompt) for model, prompt in prompts if prompt}


def lines(store: Store) -> Iterator[tuple[str, str]]:
    """Yields (model, the facts that its endpoint reported)."""
    for model, record in endpoints(store).items():
        facts_told = (
            f"{name}: {_text(record[key])}" for key, name in NAMES.items() if record.get(key)
        )
        facts_joined = "; ".join(facts_told)
        missing = "" if record.get("hidden_prompt") is not None else "hidden system prompt: unknown"
        yield model, "; ".join(filter(None, (facts_joined, _thought(store, model), missing)))


def _thought(store: Store, model: str) -> str:
    """Writes the share of reasoning in the replies of a model; "" if the server does not say."""
    query = (
        "SELECT max(o.thought), sum(o.thought > 0), count(o.thought) FROM outputs o"
        " JOIN trials t ON t.n = o.n WHERE t.subject = ?"
    )
    most, thinking, replies = store.first(query, (model,))
    if not replies:
        return ""
    text = f"{most:,} tokens at most, in {thinking:,} of {replies:,} replies" if most else "none"
    return f"reasoning seen: {text}"


def facts(store: Store, models: Sequence[str]) -> dict[str, str]:
    """Returns {name of a fact: its text}; a text names the models if several have a record."""
    endpoints_of = {model: record for model, record in endpoints(store).items() if model in models}
    by_name: dict[str, str] = {}
    for key, name in NAMES.items():
        texts = {
            model: _text(record[key]) for model, record in endpoints_of.items() if record.get(key)
        }
        lines_of_models = (
            f"{model} {text}" if len(endpoints_of) > 1 else text for model, text in texts.items()
        )
        if texts:
            by_name[name] = "; ".join(lines_of_models)
    return by_name


def warnings(store: Store) -> Iterator[str]:
    """Yields a line per model whose template adds a system prompt that nobody asked for."""
    for model, prompt in hidden_prompts(store).items():
        yield (
            f"{model} was asked with a system prompt that its template adds: “{prompt}”. An audit "
            'with one is of another subject than without; --system "" asks for none'
        )


def differences(first_run: Store, second_run: Store, whose: tuple[str, str]) -> Iterator[str]:
    """Yields a line per fact in which the endpoints of a model differ between two runs."""
    first, second = endpoints(first_run), endpoints(second_run)
    for model in first.keys() & second.keys():
        for key, name in NAMES.items():
            values = first[model].get(key), second[model].get(key)
            if None not in values and values[0] != values[1]:
                texts = " and ".join(
                    f"{_text(value)} {where}" for value, where in zip(values, whose, strict=True)
                )
                yield f"{model} was asked through another endpoint: its {name} is {texts}."


def _text(value: Json) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(inside)}" for key, inside in value.items())
    if isinstance(value, bool):
        return "on" if value else "off"
    return f'"{value}"' if isinstance(value, str) and " " in value else str(value or "none")
