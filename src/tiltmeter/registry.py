"""Name → object. Short tables, looked at without importing what they name; other packages add to them by entry points.

A package adds a protocol with the entry-point group `tiltmeter.protocols` (name → a path or a module with a
`protocol.toml`), a model kind with `tiltmeter.models`, an instrument kind with `tiltmeter.instruments`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from .errors import ProtocolError, UnknownName
from .protocol import Protocol, load

PROTOCOLS = ("dialogues", "protext", "roles", "words")
MODELS = {
    "builtin": "tiltmeter.models.local:builtin",
    "gguf": "tiltmeter.models.local:gguf",
    "openai": "tiltmeter.models.openai:openai",
    "anthropic": "tiltmeter.models.anthropic:anthropic",
    "gemini": "tiltmeter.models.gemini:gemini",
    "file": "tiltmeter.models.stored:file",
    "replay": "tiltmeter.models.stored:replay",
    "planted": "tiltmeter.models.planted:planted",
    "planted-rewriter": "tiltmeter.models.planted_rewriter:planted_rewriter",
}
MODEL_TEXT = {
    "builtin": "the bundled SmolLM2-135M-Instruct: no key, English",
    "gguf": "gguf:PATH, a GGUF file of your own, on this machine",
    "openai": "openai:MODEL, OpenAI or any compatible server with --base-url",
    "anthropic": "anthropic:MODEL, Anthropic's own API",
    "gemini": "gemini:MODEL, Google's own API",
    "file": "file:PATH, answers that exist already (JSON lines)",
    "replay": "replay:RUN, the answers of another run",
    "planted": "planted:SETTINGS, a model with a tilt of known size",
    "planted-rewriter": "planted-rewriter:SETTINGS, rewrites that gender and misgender a known share",
}
INSTRUMENTS = {
    "choice": "tiltmeter.instruments.choice:Choice",
    "picks": "tiltmeter.instruments.picks:Picks",
    "dialogue": "tiltmeter.instruments.dialogue:DialogueForm",
    "judge": "tiltmeter.instruments.judge:ChoiceJudge",
    "pronouns": "tiltmeter.protocols.protext.rewrites:Rewrites",
    "pronoun_judge": "tiltmeter.protocols.protext.judge:PronounJudge",
    "negotiation": "tiltmeter.instruments.negotiation:Negotiation",
}
_HOME = Path(__file__).parent / "protocols"


def _entry_points(group: str) -> dict[str, Any]:
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=f"tiltmeter.{group}")}


def protocol_names() -> list[str]:
    return sorted({*PROTOCOLS, *_entry_points("protocols")})


def protocol(name: str) -> Protocol:
    """A protocol by its name, or by the path of its file (anything that ends in .toml)."""
    if name.endswith(".toml"):
        return load(Path(name))
    if name in PROTOCOLS:
        return load(_HOME / name / "protocol.toml")
    extra = _entry_points("protocols")
    if name in extra:
        found = extra[name].load()
        return load(Path(getattr(found, "__file__", found)).parent / "protocol.toml")
    raise UnknownName("protocol", name, protocol_names(), "Type: tiltmeter ls")


def model(name: str, **options: Any) -> Any:
    """A `models.Model` by `kind` or `kind:name` (typed where it is used, since no room here imports a room it names)."""
    kind, _, rest = name.partition(":")
    return _find(MODELS, "models", kind, "model kind")(rest, **options)


def instrument(kind: str, name: str = "") -> Callable[..., Any]:
    """The class of an instrument kind."""
    try:
        return _find(INSTRUMENTS, "instruments", kind, "instrument kind")
    except UnknownName as error:
        raise ProtocolError(f"instrument {name}: {error}") from None


def _find(table: dict[str, str], group: str, name: str, what: str) -> Callable[..., Any]:
    if name in table:
        module, _, attribute = table[name].partition(":")
        found: Callable[..., Any] = getattr(import_module(module), attribute)
        return found
    extra = _entry_points(group)
    if name in extra:
        loaded: Callable[..., Any] = extra[name].load()
        return loaded
    raise UnknownName(what, name, _names(table, extra))


def _names(table: Iterable[str], extra: Iterable[str]) -> list[str]:
    return sorted({*table, *extra})
