"""Name → object. Short tables, looked at without importing what they name; other packages add to
them by entry points.

A package adds a protocol with the entry-point group `tiltmeter.protocols` (name → a path or a
module with a `protocol.toml`), a model kind with `tiltmeter.models`, an instrument kind with
`tiltmeter.instruments`, a kind of measure with `tiltmeter.measures`, what `tiltmeter import` reads
for a protocol with `tiltmeter.importers`.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import ProtocolError, UnknownName, UsageError
from .protocol import Protocol
from .protocol.design.mitigations import read_mitigations
from .protocol.design.mitigations import with_mitigations as mitigated
from .protocol.design.tables import Beside
from .protocol.instrument_kinds import InstrumentKind, ReadyInstrument
from .protocol.measure_kinds import MeasureKind
from .protocol.measures import measure_kind, names
from .protocol.reading import load as loading
from .protocol.reading import schema
from .protocol.reading.load import load
from .protocol.source import copies
from .protocol.source.keys import ProtocolKeys
from .protocol.source.printed import PrintedNumber, read_printed
from .protocol.source.source_lines import SourceLocation
from .records import Json

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PROTOCOLS = (
    "decisions",
    "decisions_names",
    "dialogues",
    "gramvis",
    "hiring",
    "letters",
    "occupations",
    "protext",
    "roles",
    "soda",
    "words",
)
# Protocol → another file in the folder of one that ships: the same measure of other people.
COMPANIONS = {
    "dialogues_people": "dialogues/people.toml",
    "gramvis_people": "gramvis/people.toml",
    "occupations_people": "occupations/people.toml",
    "roles_people": "roles/people.toml",
    "words_people": "words/people.toml",
}
# Model kind → where its `KIND` is declared (models/kinds.py), in the order of `tiltmeter ls`.
MODELS = {
    "builtin": "tiltmeter.models.local.local:BUILTIN",
    "gguf": "tiltmeter.models.local.local:GGUF",
    "openai": "tiltmeter.models.providers.openai:KIND",
    "azure": "tiltmeter.models.providers.azure:KIND",
    "anthropic": "tiltmeter.models.providers.anthropic:KIND",
    "gemini": "tiltmeter.models.providers.gemini:KIND",
    "mistral": "tiltmeter.models.providers.mistral:KIND",
    "groq": "tiltmeter.models.providers.groq:KIND",
    "together": "tiltmeter.models.providers.together:KIND",
    "bfl": "tiltmeter.models.providers.bfl:KIND",
    "replicate": "tiltmeter.models.providers.replicate:KIND",
    "ideogram": "tiltmeter.models.providers.ideogram:KIND",
    "fal": "tiltmeter.models.providers.fal:KIND",
    "litellm": "tiltmeter.models.providers.litellm:KIND",
    "diffusers": "tiltmeter.models.local.diffusers:KIND",
    "python": "tiltmeter.models.own.function:KIND",
    "cmd": "tiltmeter.models.own.command:KIND",
    "file": "tiltmeter.models.existing.stored:FILE",
    "answers": "tiltmeter.models.existing.given:KIND",
    "folder": "tiltmeter.models.existing.folder:KIND",
    "faces": "tiltmeter.models.local.faces:KIND",
    "replay": "tiltmeter.models.existing.stored:REPLAY",
    "planted": "tiltmeter.planted.model:KIND",
    "planted-rewriter": "tiltmeter.planted.rewriter:KIND",
}
# Kinds that earlier versions had; their runs still open.
RETIRED_MODELS = {
    "objects": "The judge objects is no longer there: its error rates were known for rendered "
    "pictures only. Name a vision model, for instance --judge openai:gpt-4.1-mini"
}
INSTRUMENTS = {
    "choice": "tiltmeter.instruments.choice.choice:Choice",
    "picks": "tiltmeter.instruments.picks.picks:Picks",
    "dialogue": "tiltmeter.instruments.dialogue:DialogueForm",
    "judge": "tiltmeter.instruments.judges.text:ChoiceJudge",
    "rewrite": "tiltmeter.instruments.rewrites:Rewrites",
    "rewrite_judge": "tiltmeter.instruments.rewrites.judge:RewriteJudge",
    "people": "tiltmeter.instruments.people:People",
    "panel": "tiltmeter.instruments.judges.panel:PicturePanel",
    "revision": "tiltmeter.instruments.revision:Revision",
    "negotiation": "tiltmeter.instruments.judges.negotiation:Negotiation",
    "attributes": "tiltmeter.instruments.images.attributes:Attributes",
    "lexicon": "tiltmeter.instruments.lexicon:Lexicon",
    "length": "tiltmeter.instruments.length:Length",
    "reading_level": "tiltmeter.instruments.reading_level:ReadingLevel",
    "first_person": "tiltmeter.instruments.first_person:FirstPerson",
    "similarity": "tiltmeter.instruments.comparing.similarity:Similarity",
    "vocabulary": "tiltmeter.instruments.comparing.vocabulary:Vocabulary",
    "preference": "tiltmeter.instruments.comparing.preference:Preference",
    "tool": "tiltmeter.instruments.tool:Tool",
    "number": "tiltmeter.instruments.number:Number",
    "pronouns": "tiltmeter.instruments.pronouns.pronoun_use:PronounUse",
    "colour": "tiltmeter.instruments.images.picture_colour:PictureColour",
    "rubric": "tiltmeter.instruments.judges.rubric:Rubric",
    "ranking": "tiltmeter.instruments.ranking.ranking:Rankings",
}
IMPORTERS = {
    "gramvis": "tiltmeter.protocols.gramvis.counts:read",
    "soda": "tiltmeter.protocols.soda.labels:rows",
}
_HOME = Path(__file__).parent / "protocols"
_DECLARED: dict[str, Protocol] = {}  # those that were declared in this process, by name


def _entry_points(group: str) -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=f"tiltmeter.{group}")}


def protocol_names() -> list[str]:
    """The names of all protocols: those that ship and those of other packages."""
    return sorted({*PROTOCOLS, *COMPANIONS, *_entry_points("protocols")})


def has_outside() -> bool:
    """True if another package adds a protocol or a kind of anything."""
    groups = ("protocols", "models", "instruments", "measures", "importers")
    return any(map(_entry_points, groups))


def is_protocol(name: str) -> bool:
    """True if a protocol of that name ships or is one of another package."""
    shipped = name in PROTOCOLS or name in COMPANIONS or name in sourced_names()
    return shipped or name in _entry_points("protocols")


@lru_cache
def sourced_names() -> tuple[str, ...]:
    """The names of the protocols that ship without their texts, of which users have copies."""
    folders = sorted(path.parent.name for path in _HOME.glob("*/" + copies.NAME))
    return tuple(name for name in folders if name not in PROTOCOLS)


def is_sourced(name: str) -> bool:
    """True if a protocol ships without its texts, or one of your own has them in a copy."""
    if name.endswith(".toml"):
        release = source(name)
        return release is not None and bool(release.tables)
    return name not in PROTOCOLS and name in sourced_names()


def source(name: str) -> copies.CopySources | None:
    """The published data that a protocol reads and that does not ship; None if there is none."""
    if name.endswith(".toml"):
        return copies.source_of(Path(name).parent, name, "")
    if name in PROTOCOLS or is_sourced(name):
        return copies.source_of(_HOME / name, name, f"{__package__}.protocols.{name}")
    point = _entry_points("protocols").get(name)
    return copies.source_of(_outside_folder(name), name, point.module) if point else None


def printed_numbers(source: str) -> tuple[PrintedNumber, ...]:
    """The numbers that the authors of an audit printed, by the name of its protocol or the path of
    its file; () if there are none.
    """
    if source.endswith(".toml"):
        return read_printed(Path(source).parent)
    if source in PROTOCOLS or is_sourced(source):
        return read_printed(_HOME / source)
    if source in COMPANIONS:
        return ()
    return read_printed(_outside_folder(source)) if is_protocol(source) else ()


def declaration(name: str) -> dict[str, Any]:
    """Returns the declarations in the file of a protocol that ships, without its tables."""
    return tomllib.loads((_HOME / name / "protocol.toml").read_text("utf-8"))


@lru_cache
def protocol_of_copy(release: copies.CopySources, path: Path) -> Protocol:
    """A protocol that ships without its texts, with those of a copy. UsageError if the copy is not
    the release.
    """
    own = release.protocol.endswith(".toml")
    file = Path(release.protocol) if own else _HOME / release.protocol / "protocol.toml"
    return load(file, instrument_kind, texts=release.texts(path), shown=path)


def protocol(name: str | Path | Protocol) -> Protocol:
    """A protocol by its name, by the path of its file (anything that ends in .toml), or as it was
    declared in Python. UnknownName where there is none; ProtocolError where its file is wrong.
    """
    if isinstance(name, Protocol):
        return name
    name = str(name)
    if name.endswith(".toml"):
        return _sourced(name) if is_sourced(name) else load(Path(name), instrument_kind)
    if name in PROTOCOLS or name in COMPANIONS:
        return _built_in(name)
    if name in _DECLARED:
        return _DECLARED[name]
    if is_sourced(name):
        return _sourced(name)
    if name in _entry_points("protocols"):
        return load(_outside_folder(name) / "protocol.toml", instrument_kind, PROTOCOLS)
    raise _no_protocol(name)


def _no_protocol(name: str) -> UsageError:
    path = Path(name)
    if path.suffix == ".csv" and path.is_file():
        return UsageError(
            f"{name} is a table, not a protocol. Of prompts, type: tiltmeter init "
            f"{path.with_suffix('.toml')} --from {name}   (of answers: --model file:{name})"
        )
    if (path / "run.sqlite").is_file():
        return UsageError(
            f"{name} is a run, not a protocol. Type: tiltmeter analyse {name}, or: tiltmeter "
            f"explore {name}"
        )
    return UnknownName(
        "protocol", name, [*protocol_names(), *sourced_names(), *_DECLARED], "Type: tiltmeter ls"
    )


def protocol_file(name: str) -> Path:
    """The file of a protocol that ships or is one of another package."""
    if name in PROTOCOLS or name in COMPANIONS:
        return _HOME / COMPANIONS.get(name, f"{name}/protocol.toml")
    return _outside_folder(name) / "protocol.toml"


def outside_protocols() -> dict[str, Path]:
    """The protocols of other packages: name → the folder of its protocol.toml."""
    return {name: _outside_folder(name) for name in sorted(_entry_points("protocols"))}


def _outside_folder(name: str) -> Path:
    """An entry point names a module beside which protocol.toml lies, or the path of that file."""
    named = _entry_points("protocols")[name].load()
    return Path(getattr(named, "__file__", named)).parent


def _sourced(name: str) -> Protocol:
    """A protocol whose texts are in the user's copy. MissingCopy if none is known."""
    release, path = source(name), copies.remembered(name)
    assert release is not None  # its folder has sources.toml
    if path is None:
        raise copies.MissingCopy(release)
    return protocol_of_copy(release, path)


@lru_cache
def _built_in(name: str) -> Protocol:
    return load(_HOME / COMPANIONS.get(name, f"{name}/protocol.toml"), instrument_kind)


def declare(keys: ProtocolKeys) -> Protocol:
    """`Protocol.declare`: checks the keys, and lets the name stand for the protocol."""
    try:
        data = json.loads(json.dumps(keys, default=_rows))
    except (TypeError, ValueError) as error:
        raise ProtocolError(
            f"Protocol.declare(…): {error}. Give texts, numbers, lists and dicts, as a file has "
            "them."
        ) from None
    made = loading.declare(
        data,
        Beside(Path()),
        SourceLocation("Protocol.declare(…)", "", data),
        instrument_kind,
        [*protocol_names(), *sourced_names()],
    )
    _DECLARED[made.name] = made
    return made


Protocol.declarer = declare


def with_mitigations(asked: Protocol, file: str, *, graded: bool) -> Protocol:
    """A protocol with the mitigations of a file as a factor; its name stands for it in this
    process. graded: a judge grades the quality of answers.
    """
    known: Any = asked.definition or {}
    rows = read_mitigations(file)
    number = len(asked.items())
    data = mitigated(
        known["declared"], rows, languages=asked.languages, items=number, graded=graded
    )
    pictures = dict(known.get("pictures", {}))
    beside = Beside(None, dict(known["files"]), pictures=pictures, shown=asked.picture_folder)
    place = SourceLocation(f"{asked.name} with mitigations", "", data)
    made = loading.declare(data, beside, place, instrument_kind, stored=True)
    _DECLARED[made.name] = made
    return made


def _rows(value: Any) -> Any:
    """A frame of polars or pandas as a table."""
    if hasattr(value, "to_dicts"):
        return {"rows": value.to_dicts()}
    if hasattr(value, "to_dict"):
        return {"rows": value.to_dict("records")}
    raise TypeError(f"{type(value).__name__} is nothing that a file can hold")


def model_names() -> list[str]:
    """The kinds of models: those that ship, then those of other packages by name."""
    return [*MODELS, *sorted(_entry_points("models").keys() - MODELS.keys())]


def is_model(name: str) -> bool:
    """True if a name is that of a kind of model, or begins with one and a colon."""
    kind = name.partition(":")[0]
    return kind in MODELS or kind in RETIRED_MODELS or kind in _entry_points("models")


def model_entry(kind: str) -> Any:
    """Returns the entry of a kind of model, a `ModelKind` or a plain factory.

    `models.kinds` reads it; it is untyped here since no room here imports a room that it names.
    """
    if kind in RETIRED_MODELS:
        raise UsageError(RETIRED_MODELS[kind])
    return _find(MODELS, "models", kind, "model kind")


def instrument_kind(kind: str, name: str = "") -> InstrumentKind:
    """Returns the facts of a kind of instrument, built in or of another package. ProtocolError if
    there is none, which says in which instrument it is named.
    """
    try:
        found = _find(INSTRUMENTS, "instruments", kind, "instrument kind")
    except UnknownName as error:
        raise ProtocolError(f"instrument {name}: {error}" if name else str(error)) from None
    return _record(found)


@lru_cache
def _record(instrument: Callable[..., ReadyInstrument]) -> InstrumentKind:
    record: Callable[[], InstrumentKind] | None = getattr(instrument, "record", None)
    if record is None:
        raise ProtocolError(
            f"{instrument} is no instrument: it is no subclass of tiltmeter.instruments.Instrument."
        )
    return record()


def instrument_kinds() -> list[InstrumentKind]:
    """All kinds of instruments, those of other packages too."""
    return [instrument_kind(name) for name in _names(INSTRUMENTS, _entry_points("instruments"))]


def instrument(kind: str, name: str = "") -> Callable[..., ReadyInstrument]:
    """The class of an instrument kind."""
    return instrument_kind(kind, name).make


def schema_for_editors() -> dict[str, Json]:
    """JSON Schema of a protocol's file, with every kind of instrument that it can name."""
    return schema.editor({kind.name: kind for kind in instrument_kinds() if kind.nameable})


def measure(kind: str) -> MeasureKind:
    """Returns the facts of a kind of measure, built in or of another package. UnknownName if there
    is none.
    """
    return measure_kind(kind)


def measure_names() -> list[str]:
    """All kinds of measures."""
    return names()


def importer(protocol: str) -> Callable[..., Any]:
    """The function that reads the path that `tiltmeter import` is given."""
    read: Callable[..., Any] = _find(IMPORTERS, "importers", protocol, "importer for the protocol")
    return read


def _find(table: dict[str, str], group: str, name: str, what: str) -> Any:
    """Returns the entry of a name in a table or by an entry point. UnknownName for neither."""
    if name in table:
        module, _, attribute = table[name].partition(":")
        return getattr(import_module(module), attribute)
    extra = _entry_points(group)
    if name in extra:
        return extra[name].load()
    raise UnknownName(what, name, _names(table, extra))


def _names(table: Iterable[str], extra: Iterable[str]) -> list[str]:
    return sorted({*table, *extra})
