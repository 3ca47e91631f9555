"""The record of a kind of model: its name, how a model is made, and what it costs and needs.

The file of a kind declares `KIND = ModelKind(…)`, and one line of `registry.MODELS` names it; a
package elsewhere names its own by an entry point of the group `tiltmeter.models`. `ls`, `plan`,
`doctor`, the table of prices and the report use the record and have no lists of their own. An entry
point may also name a plain function or class: it is called with the text after the colon, and with
the fields of `ModelOptions` as keywords.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from .. import registry
from ..errors import UsageError
from . import Model, Price, table
from .http.dialect import Dialect
from .http.provider import Provider
from .options import DEFAULTS, PICTURES, TEXT, ModelOptions

FILES = (".csv", ".tsv", ".json", ".jsonl", ".parquet", ".eval", ".py", ".gguf")  # meant as files


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """A result of `doctor`.

    ok:   True if fine, False if wrong, None if missing but not needed.
    type: the command to type about it, or "".
    """

    area: str
    name: str
    ok: bool | None
    said: str
    type: str = ""

    def as_dict(self) -> dict[str, str | bool | None]:
        """Returns the fields by name, for --json."""
        return asdict(self)


def _nothing_to_check() -> Iterable[DoctorFinding]:
    return ()


@dataclass(frozen=True, slots=True)
class ModelKind:
    """A kind of model, as in `--model NAME:…`.

    summary:      one line for `tiltmeter ls`.
    make:         makes a model from the text after the colon. UsageError or MissingKey with what to
                  type.
    makes:        the media of its models; if both, the table of models or the server decides.
    provider:     address and key of the kind's only provider, or None.
    own_server:   True if a general --base-url is not meant for it (`--base-url KIND=URL` is).
    price:        the default price of every model of the kind; None if unknown.
    modules:      modules that every model of the kind needs.
    extra:        the extra that installs them: `pip install '.[EXTRA]'`.
    batches:      True if its provider accepts batches.
    judge_only:   True if it answers one kind of question about outputs and cannot be a subject.
    serves_asked: True if its servers report the exact model requested, so that another name means
                  that the model was replaced.
    error_rates:  a TOML file with the measured error rates of a judge (error_rates.py).
    dialect:      its dialect for text, without a key, to parse stored bodies again.
    check:        further checks of `doctor`, besides key and modules.
    identify:     returns the text after the colon with a mark that changes with the model, such as
                  a hash of its code; executes nothing. UsageError if it cannot be a model.
    executes:     True if its models run somebody's code: such a model is made only if the person
                  who runs the audit named it.
    templated:    True if its weights bring a chat template, which adds tokens to a prompt.
    sees:         False if none of its models accepts pictures.
    on_workers: True if its models may be in processes of their own (--workers), where they have no
                provider; False for answers that exist already.
    """

    name: str
    summary: str
    make: Callable[[str, ModelOptions], Model]
    makes: tuple[str, ...] = (TEXT, PICTURES)
    provider: Provider | None = None
    own_server: bool = False
    price: Price | None = None
    modules: tuple[str, ...] = ()
    extra: str = ""
    judge_only: bool = False
    batches: bool = False
    serves_asked: bool = False
    error_rates: Path | None = None
    dialect: Callable[[str], Dialect] | None = None
    check: Callable[[], Iterable[DoctorFinding]] = _nothing_to_check
    identify: Callable[[str], str] = str
    executes: bool = False
    templated: bool = False
    on_workers: bool = True
    sees: bool = True

    @property
    def is_served(self) -> bool:
        """True if its models may be on several servers: behind HTTP, or from another package."""
        return self.provider is not None or self.name not in registry.MODELS


def kind_of(name: str) -> ModelKind:
    """Returns the kind of a model named `kind` or `kind:name`. Raises UnknownName if unknown."""
    kind, colon, _ = name.partition(":")
    if not registry.is_model(kind):
        refuse_without_kind(kind, bool(colon))
    declared = registry.model_entry(kind)
    return declared if isinstance(declared, ModelKind) else _of_factory(kind, declared)


def refuse_without_kind(name: str, has_colon: bool) -> None:
    """Raises UsageError for a name without a kind if it is a known model's or a file's."""
    if has_colon:
        return
    if Path(name).is_file():
        kind = "gguf" if name.endswith(".gguf") else "python" if name.endswith(".py") else "file"
        more = ":FUNCTION" if kind == "python" else ""
        raise UsageError(f"A model is KIND:NAME. Did you mean '{kind}:{name}{more}'?")
    if Path(name).is_dir():
        is_run = (Path(name) / "run.sqlite").is_file()
        raise UsageError(
            f"A model is KIND:NAME. Did you mean '{'replay' if is_run else 'folder'}:{name}'?"
        )
    if Path(name).suffix in FILES:
        raise UsageError(f"There is no file {name}. A file of answers is named: file:PATH")
    by_name = {row.partition(":")[2]: row for row in table.rows()}
    matches = difflib.get_close_matches(name, by_name, 1, 0.8)
    families = {"gpt": "openai", "o1": "openai", "claude": "anthropic", "gemini": "gemini"}
    family = next((kind for start, kind in families.items() if name.startswith(start)), "")
    if matches or family:
        suggestion = by_name[matches[0]] if matches else f"{family}:{name}"
        raise UsageError(
            f"A model is KIND:NAME. Did you mean '{suggestion}'? Type: tiltmeter ls models"
        )


def known_kind(name: str) -> ModelKind | None:
    """Returns the kind of a model named in a run; None if the kind is no longer installed."""
    try:
        return kind_of(name)
    except UsageError:
        return None


def serves_asked(name: str) -> bool:
    """True if a model's servers report the exact model requested (see `ModelKind`)."""
    kind = known_kind(name)
    return kind is not None and kind.serves_asked


def all_kinds() -> list[ModelKind]:
    """Lists all kinds: the shipped kinds in the registry's order, then others by name."""
    return [kind_of(name) for name in registry.model_names()]


def makes(name: str) -> tuple[str, ...]:
    """Returns the media that a model makes, by kind or table; both if only its server knows."""
    by_kind, row = kind_of(name).makes, table.find(name)
    if len(by_kind) == 1 or row is None or row.own:
        return by_kind
    return (PICTURES,) if row.modality == "image" else (TEXT,)


def sees(name: str) -> bool:
    """Returns False if a model is known not to accept pictures, by its kind or its row in the
    table; True if only its server knows.
    """
    row = table.find(name)
    return kind_of(name).sees and (row is None or row.takes.get("vision") is not False)


def full_name(name: str) -> str:
    """Returns a model's name in a run for the name as typed (see `ModelKind.identify`)."""
    kind, colon, rest = name.partition(":")
    return f"{kind}:{kind_of(name).identify(rest)}" if colon else name


def make_model(name: str, options: ModelOptions = DEFAULTS) -> Model:
    """Makes a model named `kind` or `kind:name`. Raises UsageError, MissingKey or MissingExtra."""
    return kind_of(name).make(name.partition(":")[2], options)


def _of_factory(name: str, factory: Callable[..., Model]) -> ModelKind:
    """Makes the ModelKind for a package whose entry point is a function or class, not a record."""

    def make(rest: str, options: ModelOptions) -> Model:
        keywords: dict[str, Any] = {f.name: getattr(options, f.name) for f in fields(options)}
        return factory(rest, **keywords)

    lines = (factory.__doc__ or "").strip().splitlines()
    return ModelKind(name, lines[0] if lines else "of another package", make)
