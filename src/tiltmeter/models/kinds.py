"""A kind of model is one record: what it is called, how a model is made, what it costs and needs.

The file of a kind declares `KIND = ModelKind(…)`, and one line of `registry.MODELS` names it; a
package elsewhere names its own by an entry point of the group `tiltmeter.models`. `ls`, `plan`,
`doctor`, the table of prices and the report read the record and have no lists of their own. An
entry point may also name a plain function or class: it is called with what stands behind the colon
and with the fields of `ModelOptions` as keywords.
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
    """One thing that `doctor` looked at.

    ok:   True fine, False wrong, None not there and not needed.
    type: what to type about it, or "".
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
    """One kind of model, as in `--model NAME:…`.

    summary:      one line for `tiltmeter ls`.
    make:         a model from what stands behind the colon. UsageError or MissingKey with what to
                  type.
    makes:        what its models can make; with both, the table of models or the server decides.
    provider:     address and key of the kind's one provider, or None.
    own_server:   True if a general --base-url is not meant for it (`--base-url KIND=URL` is).
    price:        the default price of every model of the kind; None if unknown.
    modules:      modules that every model of the kind needs.
    extra:        the extra that installs them: `pip install '.[EXTRA]'`.
    batches:      True if its provider takes batches.
    judge_only:   True if it answers one kind of question about outputs and is no subject.
    serves_asked: True if its servers name the very model that was asked, so that any other name is
                  a replacement.
    error_rates:  a TOML file with the measured error rates of a judge (error_rates.py).
    dialect:      its dialect of text, without a key, which reads again a body that came.
    check:        what `doctor` should look at beside key and modules.
    identify:     what stands behind the colon, with what tells one model from a changed one, such
                  as a hash of its code; executes nothing. UsageError where it cannot be a model.
    executes:     True if a model of it runs somebody's code: it is made only where the person who
                  runs the audit named it.
    templated:    True if its weights bring a chat template, which adds tokens to a prompt.
    sees:         False if none of its models is shown pictures.
    on_workers: True if its models may be in processes of their own (--workers), where they have no
                provider; False of answers that exist already.
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
        """True if its models may be on several servers: behind HTTP, or of another package."""
        return self.provider is not None or self.name not in registry.MODELS


def kind_of(name: str) -> ModelKind:
    """Returns the kind of a model named `kind` or `kind:name`. UnknownName suggests the nearest."""
    kind, colon, _ = name.partition(":")
    if not registry.is_model(kind):
        refuse_without_kind(kind, bool(colon))
    declared = registry.model_entry(kind)
    return declared if isinstance(declared, ModelKind) else _of_factory(kind, declared)


def refuse_without_kind(name: str, has_colon: bool) -> None:
    """Raises UsageError for a name without its kind, if a known model or a file has this name."""
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
    near = difflib.get_close_matches(name, by_name, 1, 0.8)
    families = {"gpt": "openai", "o1": "openai", "claude": "anthropic", "gemini": "gemini"}
    family = next((kind for start, kind in families.items() if name.startswith(start)), "")
    if near or family:
        suggestion = by_name[near[0]] if near else f"{family}:{name}"
        raise UsageError(
            f"A model is KIND:NAME. Did you mean '{suggestion}'? Type: tiltmeter ls models"
        )


def known_kind(name: str) -> ModelKind | None:
    """Returns the kind of a model that a run names; None if it is no longer installed."""
    try:
        return kind_of(name)
    except UsageError:
        return None


def serves_asked(name: str) -> bool:
    """True if the servers of a model name the very model that was asked (`ModelKind`)."""
    kind = known_kind(name)
    return kind is not None and kind.serves_asked


def all_kinds() -> list[ModelKind]:
    """Lists every kind: those that ship in the order of the registry, then others by name."""
    return [kind_of(name) for name in registry.model_names()]


def makes(name: str) -> tuple[str, ...]:
    """Returns the media that a model makes: by kind or table; both if its server alone knows."""
    by_kind, row = kind_of(name).makes, table.find(name)
    if len(by_kind) == 1 or row is None or row.own:
        return by_kind
    return (PICTURES,) if row.modality == "image" else (TEXT,)


def sees(name: str) -> bool:
    """Returns False for a model that is known to read no pictures, by its kind or by its row in the
    table; True if only its server knows.
    """
    row = table.find(name)
    return kind_of(name).sees and (row is None or row.takes.get("vision") is not False)


def full_name(name: str) -> str:
    """Returns a model's name in a run, from the name that was typed (`ModelKind.identify`)."""
    kind, colon, rest = name.partition(":")
    return f"{kind}:{kind_of(name).identify(rest)}" if colon else name


def make_model(name: str, options: ModelOptions = DEFAULTS) -> Model:
    """Makes a model named `kind` or `kind:name`. Raises UsageError, MissingKey or MissingExtra."""
    return kind_of(name).make(name.partition(":")[2], options)


def _of_factory(name: str, factory: Callable[..., Model]) -> ModelKind:
    """Makes the kind of a package that names a plain function or class instead of a record."""

    def make(rest: str, options: ModelOptions) -> Model:
        keywords: dict[str, Any] = {f.name: getattr(options, f.name) for f in fields(options)}
        return factory(rest, **keywords)

    lines = (factory.__doc__ or "").strip().splitlines()
    return ModelKind(name, lines[0] if lines else "of another package", make)
