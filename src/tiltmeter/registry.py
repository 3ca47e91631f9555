"""Tables from names to objects, which are imported when they are needed; other packages add to them
by entry points.

The group `tiltmeter.protocols` adds protocols (name → a path or a module with a `protocol.toml`),
`tiltmeter.models` kinds of models, `tiltmeter.instruments` kinds of instruments,
`tiltmeter.measures` kinds of measures, `tiltmeter.importers` readers for `tiltmeter import`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from .errors import ProtocolError, UnknownName, UsageError
from .protocol import Protocol
from .protocol.design.mitigations import read_mitigations
from .protocol.design.mitigations import with_mitigations as mitigated
from .protocol.design.tables import Beside
from .protocol.instrument_kinds import InstrumentKind, ReadyInstrument
from .protocol.reading import load, schema
from .protocol.reading.misnamed import misnamed
from .protocol.source import copies
from .protocol.source.frames import as_data
from .protocol.source.keys import ProtocolKeys
from .protocol.source.printed import PrintedNumber, read_printed
from .protocol.source.source_lines import SourceLocation
from .records import Json
from .system.entry_points import entry_points

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
# Protocol → a second file in the folder of another one: the same measures, about other people.
COMPANIONS = {
    "dialogues_people": "dialogues/people.toml",
    "gramvis_people": "gramvis/people.toml",
    "occupations_people": "occupations/people.toml",
    "roles_people": "roles/people.toml",
    "words_people": "words/people.toml",
}
# Model kind → the address of its `ModelKind` (models/kinds.py), in the order of `tiltmeter ls`.
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
# Kinds of earlier versions, with what to type instead; their runs still open.
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
_DECLARED: dict[str, Protocol] = {}  # protocols declared in this process, by name


def protocol_names() -> list[str]:
    """Lists the names of all protocols that ship or that other packages add."""
    return sorted({*PROTOCOLS, *COMPANIONS, *entry_points("protocols")})


def has_outside() -> bool:
    """True if another package adds a protocol, model, instrument, measure or importer."""
    return any(map(entry_points, ("protocols", "models", "instruments", "measures", "importers")))


def is_protocol(name: str) -> bool:
    """True if a protocol of that name ships or is added by another package."""
    is_shipped = name in PROTOCOLS or name in COMPANIONS or name in sourced_names()
    return is_shipped or name in entry_points("protocols")  # asked last, as reading them takes long


@lru_cache
def sourced_names() -> tuple[str, ...]:
    """Lists shipped protocols whose texts do not ship; users have copies of these texts."""
    folders = sorted(path.parent.name for path in _HOME.glob("*/" + copies.NAME))
    return tuple(name for name in folders if name not in PROTOCOLS)


def is_sourced(name: str) -> bool:
    """True if a protocol (shipped, or a user's file) needs the user's copy of published data."""
    if name.endswith(".toml"):
        release = source(name)
        return release is not None and bool(release.tables)
    return name not in PROTOCOLS and name in sourced_names()


def _folder(name: str) -> Path | None:
    """Returns the folder of a protocol, given by its name or the path of its file."""
    if name.endswith(".toml"):
        return Path(name).parent
    if name in PROTOCOLS or is_sourced(name):
        return _HOME / name
    return _outside_folder(name) if name in entry_points("protocols") else None


def source(name: str) -> copies.CopySources | None:
    """Returns the published data that a protocol needs and that does not ship; None without any."""
    folder, point = _folder(name), entry_points("protocols").get(name)
    if folder is None:
        return None
    shipped = f"{__package__}.protocols.{name}" if folder == _HOME / name else ""
    return copies.source_of(folder, name, shipped or (point.module if point else ""))


def printed_numbers(name: str) -> tuple[PrintedNumber, ...]:
    """Returns the numbers that the authors of a published audit report; () if there are none."""
    folder = _folder(name)
    return () if folder is None else read_printed(folder)


def declaration(name: str) -> dict[str, Any]:
    """Reads the file of a shipped protocol, without its tables."""
    return tomllib.loads((_HOME / name / "protocol.toml").read_text("utf-8"))


@lru_cache
def protocol_of_copy(release: copies.CopySources, path: Path) -> Protocol:
    """Loads a protocol with the texts of a copy. UsageError if the copy is of another release."""
    is_path = release.protocol.endswith(".toml")
    file = Path(release.protocol) if is_path else _HOME / release.protocol / "protocol.toml"
    return load.load(file, instrument_kind, texts=release.texts(path), shown=path)


def protocol(name: str | Path | Protocol) -> Protocol:
    """Returns a protocol by its name, by the path of its file (.toml), or as declared in Python.
    Raises UnknownName if there is no such protocol, ProtocolError if its file is wrong.
    """
    if isinstance(name, Protocol):
        return name
    name = str(name)
    if name.endswith(".toml"):
        return _sourced(name) if is_sourced(name) else load.load(Path(name), instrument_kind)
    if name in PROTOCOLS or name in COMPANIONS:
        return _built_in(name)
    if name in _DECLARED:
        return _DECLARED[name]
    if is_sourced(name):
        return _sourced(name)
    if name in entry_points("protocols"):
        return load.load(_outside_folder(name) / "protocol.toml", instrument_kind, PROTOCOLS)
    if refusal := misnamed(Path(name)):
        raise UsageError(refusal)
    known = [*protocol_names(), *sourced_names(), *_DECLARED]
    raise UnknownName("protocol", name, known, "Type: tiltmeter ls")


def protocol_file(name: str) -> Path:
    """Returns the file of a protocol that ships or is added by another package."""
    if name in PROTOCOLS or name in COMPANIONS:
        return _HOME / COMPANIONS.get(name, f"{name}/protocol.toml")
    return _outside_folder(name) / "protocol.toml"


def outside_protocols() -> dict[str, Path]:
    """Lists the protocols of other packages: {name: the folder of its protocol.toml}."""
    return {name: _outside_folder(name) for name in sorted(entry_points("protocols"))}


def _outside_folder(name: str) -> Path:
    """Returns the folder of another package's protocol; an entry point names it."""
    place = entry_points("protocols")[name].load()
    return Path(getattr(place, "__file__", place)).parent


def _sourced(name: str) -> Protocol:
    """Loads a protocol with the texts of the user's copy. Raises MissingCopy if none is known."""
    release, path = source(name), copies.remembered(name)
    assert release is not None  # its folder has sources.toml
    if path is None:
        raise copies.MissingCopy(release)
    return protocol_of_copy(release, path)


@lru_cache
def _built_in(name: str) -> Protocol:
    return load.load_shipped(protocol_file(name))


def declare(keys: ProtocolKeys) -> Protocol:
    """Declares a protocol in Python (`Protocol.declare`): checks its keys, registers its name."""
    data = as_data(keys)
    place = SourceLocation("Protocol.declare(…)", "", data)
    taken = [*protocol_names(), *sourced_names()]
    declared = load.declare(data, Beside(Path()), place, instrument_kind, taken)
    _DECLARED[declared.name] = declared
    return declared


Protocol.declarer = declare


def with_mitigations(asked: Protocol, file: str, *, graded: bool) -> Protocol:
    """Adds the mitigations listed in a file to a protocol, as a factor, and registers the result by
    its new name in this process. graded: True if a judge grades the quality of answers.
    """
    known: Any = asked.definition or {}
    rows = read_mitigations(file)
    items = len(asked.items())
    data = mitigated(known["declared"], rows, languages=asked.languages, items=items, graded=graded)
    pictures = dict(known.get("pictures", {}))
    beside = Beside(None, dict(known["files"]), pictures=pictures, shown=asked.picture_folder)
    place = SourceLocation(f"{asked.name} with mitigations", "", data)
    declared = load.declare(data, beside, place, instrument_kind, stored=True)
    _DECLARED[declared.name] = declared
    return declared


def model_names() -> list[str]:
    """Lists the kinds of models: first those that ship, then other packages' by name."""
    return [*MODELS, *sorted(entry_points("models").keys() - MODELS.keys())]


def is_model(name: str) -> bool:
    """True if a name is a kind of model, alone or followed by a colon."""
    kind = name.partition(":")[0]
    return kind in MODELS or kind in RETIRED_MODELS or kind in entry_points("models")


def model_entry(kind: str) -> Any:
    """Returns a kind of model for `models.kinds`: a `ModelKind` or a plain factory."""
    if kind in RETIRED_MODELS:
        raise UsageError(RETIRED_MODELS[kind])
    return _find(MODELS, "models", kind, "model kind")


def instrument_kind(kind: str, name: str = "") -> InstrumentKind:
    """Returns the record of a kind of instrument, built in or of another package. ProtocolError if
    there is none. name: the instrument of a protocol that names it.
    """
    try:
        instrument_class = _find(INSTRUMENTS, "instruments", kind, "instrument kind")
    except UnknownName as error:
        raise ProtocolError(f"instrument {name}: {error}" if name else str(error)) from None
    return _record(instrument_class)


@lru_cache
def _record(instrument: Callable[..., ReadyInstrument]) -> InstrumentKind:
    record: Callable[[], InstrumentKind] | None = getattr(instrument, "record", None)
    if record is None:
        raise ProtocolError(f"{instrument} is not a subclass of tiltmeter.instruments.Instrument.")
    return record()


def instrument_kinds() -> list[InstrumentKind]:
    """Lists all kinds of instruments, including those of other packages."""
    return [instrument_kind(name) for name in _names(INSTRUMENTS, entry_points("instruments"))]


def instrument(kind: str, name: str = "") -> Callable[..., ReadyInstrument]:
    """Returns the class of a kind of instrument, for scripts that read answers without a run."""
    return instrument_kind(kind, name).make


def schema_for_editors() -> dict[str, Json]:
    """Returns the JSON Schema of a protocol's file, with every kind of instrument it can name."""
    return schema.editor({kind.name: kind for kind in instrument_kinds() if kind.nameable})


def importer(protocol: str) -> Callable[..., Any]:
    """Returns the function that reads the path given to `tiltmeter import`."""
    read: Callable[..., Any] = _find(IMPORTERS, "importers", protocol, "importer for the protocol")
    return read


def _find(table: dict[str, str], group: str, name: str, what: str) -> Any:
    """Imports the object of a name from a table or an entry point, or raises UnknownName."""
    if name in table:
        module, _, attribute = table[name].partition(":")
        return getattr(import_module(module), attribute)
    extra = entry_points(group)
    if name in extra:
        return extra[name].load()
    raise UnknownName(what, name, _names(table, extra))


def _names(table: Iterable[str], extra: Iterable[str]) -> list[str]:
    return sorted({*table, *extra})
