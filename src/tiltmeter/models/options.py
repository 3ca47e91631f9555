"""The options that every kind of model gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from . import Price

TEXT, PICTURES = "text", "pictures"
ReadBlob = Callable[[str], bytes]  # a blob's name → its bytes
ReadFactors = Callable[[str], Mapping[str, str]]  # a trial's id → its factors


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The options of one model, as `stages.connect` determines them. Each kind of model
    ignores the options that do not concern it.

    base_url:     a server to use instead of the provider's, or "".
    price:        the price that the user gave, else that in models.toml; None if unknown.
    timeout:      seconds for one call.
    concurrency:  the most calls in progress at once.
    builtin_from: a file of the user's with the bundled weights.
    read:         returns the bytes of a picture of the run, by name; None outside a run.
    factors:      returns the factors of a trial of the run, by its id; None outside a run.
    omitted:      names, as the API spells them, of parameters that the model refuses.
    effort:       how much the model should think (reasoning.py): "none", an effort, or "" for the
                  endpoint's default; None if nothing is known, so that the kind decides.
    thinks:       True if the model is known to think in any case, so that a reserve is needed.
    modality:     "text" or "image" if models.toml states the kind of output, else "".
    context:      the tokens of prompt and reply that a local model can hold; None for its usual
                  number, or `needed_context` if that is more.
    no_system:    True to begin each conversation with an empty system prompt, so that a template
                  adds none of its own.
    columns:      {field: the column of a file of answers that has the field}."""

    base_url: str = ""
    price: Price | None = None
    timeout: float = 120.0
    concurrency: int = 16
    builtin_from: str | None = None
    read: ReadBlob | None = None
    factors: ReadFactors | None = None
    omitted: tuple[str, ...] = ()
    effort: str | None = None
    thinks: bool = False
    modality: str = ""
    context: int | None = None
    needed_context: int = 0
    no_system: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)


DEFAULTS = ModelOptions()
