"""What reads things that somebody else made: each reader with cases to begin with (fuzz.py)."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from urllib.parse import parse_qsl

from PIL import Image

from tiltmeter import images, registry
from tiltmeter.errors import TiltmeterError
from tiltmeter.explore.annotation.annotating import _parse as parse_answer
from tiltmeter.explore.selection.view import View
from tiltmeter.instruments.images import taxonomy
from tiltmeter.instruments.judges.injection import attempts
from tiltmeter.models import table
from tiltmeter.models.existing.answers import Answers
from tiltmeter.models.existing.readers import read_lines
from tiltmeter.models.http.allowance import retry_after
from tiltmeter.models.http.answer import Answer
from tiltmeter.models.http.body import parse
from tiltmeter.models.http.connection import Connection
from tiltmeter.models.http.fetching import Unfetched, decode_base64, shorten, split
from tiltmeter.models.providers.anthropic import AnthropicMessages
from tiltmeter.models.providers.bfl import BflTasks
from tiltmeter.models.providers.fal import FalQueue
from tiltmeter.models.providers.gemini import GeminiContent
from tiltmeter.models.providers.gemini_images import GeminiPictures
from tiltmeter.models.providers.ideogram import IdeogramGenerations
from tiltmeter.models.providers.openai import OpenAIChat
from tiltmeter.models.providers.openai_images import OpenAIImages
from tiltmeter.models.providers.replicate import ReplicatePredictions
from tiltmeter.protocol.reading.load import load
from tiltmeter.protocols.hiring.replies import contents
from tiltmeter.protocols.protext import own
from tiltmeter.records import Answered, Message, Output, Reply, Request, Sampling, Trial
from tiltmeter.row_files import read_rows
from tiltmeter.stages.steps.label import annotators
from tiltmeter.store import Store, rows
from tiltmeter.store.rows import StoredRequest
from tiltmeter.system import intake

CORPUS = Path(__file__).with_name("fuzz_corpus")
REQUEST = Request("openai:m", (Message("user", "Who?"),), Sampling(), logprobs=2)
DRAWN = Request("openai:m", (Message("user", "A nurse"),), Sampling(), size="8x8")
TAXONOMY_KEYS, TAXONOMY_PARTS = ("object",), ("product", "background")
Read = Callable[[bytes], object]


@dataclass(frozen=True)
class Target:
    """What is fuzzed. read: takes a case; seeds: what cases are made of."""

    read: Read
    seeds: Sequence[bytes]


def wire(dialect: object, request: Request) -> Read:
    """A dialect on the body of a good status and of a bad one."""
    connection = Connection("openai:m", "http://localhost/v1", key="sk-0123456789")

    def read(case: bytes) -> object:
        answer = Answer(200, {}, case, *parse(case))
        shorten(answer.body)
        try:
            return connection.parse_body(answer, lambda body: dialect.parse(request, body))  # type: ignore[attr-defined]
        except TiltmeterError:
            refused = dialect.refused(request, answer.body)  # type: ignore[attr-defined]
            dialect.unwelcome(answer.body)  # type: ignore[attr-defined]
            connection.error_text(answer)
            return refused

    return read


def queue(dialect: object) -> Read:
    """A dialect of queued work: the body as a receipt and as what a look brings."""
    connection = Connection("bfl:m", "http://localhost/v1", key="sk-0123456789")

    def read(case: bytes) -> object:
        answer = Answer(200, {}, case, *parse(case))
        with suppress(TiltmeterError):
            connection.parse_body(answer, dialect.submitted)  # type: ignore[attr-defined]
        status = getattr(dialect, "status", None)
        if status is not None:
            status(200, answer.body)
        dialect.refused(DRAWN, answer.body)  # type: ignore[attr-defined]
        dialect.unwelcome(answer.body)  # type: ignore[attr-defined]
        return connection.parse_body(answer, lambda body: dialect.look(DRAWN, body))  # type: ignore[attr-defined]

    return read


def in_folder(folder: Path, name: str, load_: Callable[[Path], object]) -> Read:
    """A loader on a file."""
    path = folder / name

    def read(case: bytes) -> object:
        path.write_bytes(case)
        return load_(path)

    return read


def importer(protocol: str) -> Callable[[Path], object]:
    """What `tiltmeter import` reads for a protocol."""
    declared, read = registry.protocol(protocol), registry.importer(protocol)
    return lambda path: list(read(declared, path))


def rankings(path: Path) -> object:
    """What `tiltmeter import hiring` reads of a file, whose hashes are another matter."""
    release = registry.source("hiring")
    assert release is not None
    return contents(path, tuple(release.files))


def labels(protocol: str, judges: Sequence[str] = ()) -> Read:
    """The instruments of a protocol on an answer, and the judges' replies being the case too."""
    declared = registry.protocol(protocol)
    made = annotators(declared, judges)
    cell = declared.cells[0]
    mode = next(iter(declared.modes))
    picture = "0.png" if declared.modality == "image" else ""

    def read(case: bytes) -> object:
        reply = Reply(case.decode("utf-8", "replace"))
        trial = Trial("t", "m", mode, cell, 0, "Who?", "", Sampling())
        output = Output("t", "answer", reply.text, "", picture)
        for instrument in made:
            steps = instrument.steps(Answered(trial, output, reply, False, cell))
            try:
                asked = next(steps)
                for _ in range(20):
                    asked = steps.send([reply] * len(asked))
            except StopIteration:
                continue
        return None

    return read


def row(case: bytes) -> object:
    """The JSON columns of a run; the errors of a damaged one are ValueError and its like."""
    text = case.decode("utf-8", "replace")
    for read in (StoredRequest.parse, rows.levels, rows.unpack, rows.omitted_settings):
        try:
            read(text)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            continue
    return None


def run_file(folder: Path) -> Target:
    """A run's file, read whole."""
    path = folder / "run"
    with Store(path, create=True, writing=True) as store:
        trial = Trial("t1", "m", "sampled", {"word": "nurse"}, 0, "Who?", "", Sampling())
        list(store.iter_unanswered([trial]))
        called = (REQUEST, Reply("she", usage=(3, 1), raw="{}"))
        store.write([called], [Output("t1", "answer", "she", REQUEST.key)], [])
        store.put("source", "roles")
    file = path / "run.sqlite"

    def read(case: bytes) -> object:
        file.write_bytes(case)
        with Store(path) as store:
            found = [*store.iter_outputs(), *store.iter_labels(), *store.iter_trials()]
            return found, store.reply(REQUEST.key), store.get("source"), store.spent()

    with closing(sqlite3.connect(file)) as db, db:
        db.execute("VACUUM")
    db.close()
    return Target(read, [file.read_bytes()])


def name(case: bytes) -> object:
    """A file's name: never one outside."""
    folder = Path(tempfile.gettempdir())
    path = intake.inside(folder, case.decode("utf-8", "replace"))
    assert path.resolve().is_relative_to(folder.resolve())
    return path


def link(case: bytes) -> object:
    """An address or base64 in a reply."""
    text = case.decode("utf-8", "replace")
    retry_after({"Retry-After": text})
    with suppress(Unfetched):
        split(text)
    return decode_base64(text)


def picture(case: bytes) -> object:
    """A picture that came, as a judge is shown it."""
    with suppress(images.Unusable):
        images.check_picture(case)
        return images.encode_for_judge(case, 8)
    return None


def pictures() -> list[bytes]:
    """A small picture in each format."""
    made = []
    for kind in ("PNG", "JPEG", "WEBP", "GIF"):
        target = BytesIO()
        Image.new("RGB", (12, 9), "teal").save(target, kind)
        made.append(target.getvalue())
    return made


def taxonomy_file(path: Path) -> object:
    """A file of attributes; what is no UTF-8 the command line refuses before."""
    text = path.read_bytes().decode("utf-8", "replace")
    return taxonomy.parse(
        text, path.name, keys=TAXONOMY_KEYS, parts=TAXONOMY_PARTS, fixed=("colour",)
    )


def models_file(path: Path) -> object:
    """A table of models of one's own."""
    found = table._read_file(path)
    return [table._row(table.Listed(name), entry, path) for name, entry in found.items()]


def view(case: bytes) -> object:
    """The parameters of an explorer's address."""
    return View.parse(dict(parse_qsl(case.decode("utf-8", "replace")))).address()


def kept(target: str) -> Iterator[bytes]:
    """What cases are made of, and those that once did harm."""
    for path in sorted(CORPUS.glob(f"{target.replace(' ', '-')}-*")):
        yield path.read_bytes()


def wires() -> Mapping[str, Read]:
    """The providers' formats."""
    gemini = GeminiContent("m", "")
    return {
        "openai": wire(OpenAIChat("m", "", local=True), REQUEST),
        "openai images": wire(OpenAIImages("m", ""), DRAWN),
        "anthropic": wire(AnthropicMessages("m", ""), REQUEST),
        "gemini": wire(gemini, REQUEST),
        "gemini images": wire(GeminiPictures(gemini), DRAWN),
        "bfl": queue(BflTasks("m", "")),
        "fal": queue(FalQueue("m", "")),
        "ideogram": queue(IdeogramGenerations("m", "")),
        "replicate": queue(ReplicatePredictions("o/m", "")),
        "links": link,
    }


def answers_of(path: Path) -> Answers:
    """The answers of a file, as `file:` reads them."""
    return Answers(path, read_lines(path))


def files(folder: Path) -> Mapping[str, Read]:
    """What is read from files."""
    loaders: dict[str, tuple[str, Callable[[Path], object]]] = {
        "protocol": ("p.toml", load),
        "answers": ("a.jsonl", answers_of),
        "answers in CSV": ("a.csv", answers_of),
        "answers in JSON": ("a.json", answers_of),
        "manifest": ("m.csv", lambda path: list(read_lines(path, "file"))),
        "counts": ("c.csv", importer("gramvis")),
        "soda labels": ("l.csv", importer("soda")),
        "rankings": ("r.jsonl", rankings),
        "table": ("g.csv", lambda path: list(read_rows(path, short_rows=True))),
        "table of lines": ("g.jsonl", lambda path: list(read_rows(path, short_rows=True))),
        "spreadsheet": ("g.xlsx", lambda path: list(read_rows(path))),
        "corpus": ("o.csv", own.load),
        "corpus lines": ("o.jsonl", own.load),
        "models": ("models.toml", models_file),
        "taxonomy": ("t.toml", taxonomy_file),
    }
    return {target: in_folder(folder, *loader) for target, loader in loaders.items()}


def replies() -> Mapping[str, Read]:
    """What instruments make of answers and of judges' replies."""
    return {
        "labels of roles": labels("roles", ("openai:j",)),
        "labels of words": labels("words"),
        "labels of dialogues": labels("dialogues", ("openai:j",)),
        "labels of gramvis": labels("gramvis", ("openai:a", "openai:b")),
        "labels of protext": labels("protext", ("openai:j",)),
        "labels of hiring": labels("hiring"),
        "injection": lambda case: attempts(case.decode("utf-8", "replace")),
    }


def targets(folder: Path) -> dict[str, Target]:
    """All of them; folder: where loaders find their files."""
    shipped = Path(registry.__file__).parent / "protocols"
    protocols = [path.read_bytes() for path in sorted(shipped.glob("*/protocol.toml"))[:4]]
    readers: dict[str, Read] = {
        **wires(),
        **files(folder),
        **replies(),
        "rows": row,
        "names": name,
        "answer of the page": parse_answer,
        "view": view,
    }
    made = {target: Target(read, list(kept(target))) for target, read in readers.items()}
    made["protocol"] = Target(readers["protocol"], [*protocols, *kept("protocol")])
    made["pictures"] = Target(picture, pictures())
    made["run"] = run_file(folder)
    return made
