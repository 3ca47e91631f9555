"""What comes from outside, changed at random: only clean errors, or a value.

    python benchmarks/fuzz.py [--cases 100000] [--target NAME] [--seed 0] [--json]

Each target reads bytes or JSON that somebody else made: the wire formats (dialects over a reply),
the loaders (protocols, tables, answers), the parsers of judges' replies, the rows of a run, and
names of files. A case is one of the corpus (benchmarks/fuzz_corpus) with
bytes cut, doubled, swapped, or replaced by what is known to hurt. An exception that is none of
tiltmeter's is printed with its case; keep such a case in the corpus once it is mended.
Exits 1 where there was one.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tiltmeter import intake, registry
from tiltmeter.errors import TiltmeterError
from tiltmeter.instruments.judges.injection import attempts
from tiltmeter.models.existing.stored import Answers
from tiltmeter.models.http.body import parse
from tiltmeter.models.http.connection import Answer, Connection, _retry_after
from tiltmeter.models.http.fetching import Unfetched, decode_base64, shorten, split
from tiltmeter.models.providers.anthropic import AnthropicMessages
from tiltmeter.models.providers.gemini import GeminiContent
from tiltmeter.models.providers.openai import OpenAIChat
from tiltmeter.models.providers.openai_images import OpenAIImages
from tiltmeter.protocol.load import load
from tiltmeter.records import Answered, Message, Output, Reply, Request, Sampling, Trial
from tiltmeter.stages.label import annotators
from tiltmeter.store import rows
from tiltmeter.store.rows import StoredRequest

CORPUS = Path(__file__).with_name("fuzz_corpus")
HURTS = (
    *(b"null", b"true", b"[]", b"{}", b"-1", b"1e999", b"NaN", b"-Infinity", b'""', b'"\\ud83d"'),
    *(b"9" * 400, b"[" * 300, b'{"a":' * 300, b"\x00", b"\xff\xfe", b"\xf0\x9f", b"../", b"\x1b["),
    *(
        b"=1+1",
        b"'",
        b'"',
        b"\\",
        b"\n",
        b"</answer>",
        b"{{",
        b"}}",
        "é".encode(),
        "\u202e".encode(),
    ),
)
REQUEST = Request("openai:m", (Message("user", "Who?"),), Sampling(), logprobs=2)
DRAWN = Request("openai:m", (Message("user", "A nurse"),), Sampling(), size="8x8")
CLEAN = (TiltmeterError, Unfetched, OSError)


@dataclass(frozen=True)
class Target:
    """What is fuzzed. read: takes a case; seeds: what cases are made of."""

    read: Callable[[bytes], object]
    seeds: Sequence[bytes]


def wire(dialect: object, request: Request) -> Callable[[bytes], object]:
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


def in_folder(
    folder: Path, name: str, load_: Callable[[Path], object]
) -> Callable[[bytes], object]:
    """A loader on a file."""

    def read(case: bytes) -> object:
        path = folder / name
        path.write_bytes(case)
        return load_(path)

    return read


def labels(protocol: str, judges: Sequence[str] = ()) -> Callable[[bytes], object]:
    """The instruments of a protocol on an answer, and the judges' replies being the case too."""
    declared = registry.protocol(protocol)
    made = annotators(declared, judges)
    cell = declared.cells[0]
    mode = next(iter(declared.modes))

    def read(case: bytes) -> object:
        reply = Reply(case.decode("utf-8", "replace"))
        trial = Trial("t", "m", mode, cell, 0, "Who?", "", Sampling())
        answered = Answered(trial, Output("t", "answer", reply.text, ""), reply, False, cell)
        for instrument in made:
            steps = instrument.steps(answered)
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


def name(case: bytes) -> object:
    """A file's name: never one outside."""
    folder = Path(tempfile.gettempdir())
    path = intake.inside(folder, case.decode("utf-8", "replace"))
    assert path.resolve().is_relative_to(folder.resolve())
    return path


def link(case: bytes) -> object:
    """An address or base64 in a reply."""
    text = case.decode("utf-8", "replace")
    _retry_after({"Retry-After": text})
    with suppress(Unfetched):
        split(text)
    return decode_base64(text)


def kept(target: str) -> Iterator[bytes]:
    """What cases are made of, and those that once did harm."""
    for path in sorted(CORPUS.glob(f"{target.replace(' ', '-')}-*")):
        yield path.read_bytes()


def targets(folder: Path) -> dict[str, Target]:
    """All of them; folder: where loaders find their files."""
    shipped = Path(registry.__file__).parent / "protocols"
    protocols = [path.read_bytes() for path in sorted(shipped.glob("*/protocol.toml"))[:4]]
    readers = {
        "openai": wire(OpenAIChat("m", "", local=True), REQUEST),
        "openai images": wire(OpenAIImages("m", ""), DRAWN),
        "anthropic": wire(AnthropicMessages("m", ""), REQUEST),
        "gemini": wire(GeminiContent("m", ""), REQUEST),
        "protocol": in_folder(folder, "p.toml", load),
        "answers": in_folder(folder, "a.jsonl", Answers),
        "labels of roles": labels("roles", ("openai:j",)),
        "labels of words": labels("words"),
        "injection": lambda case: attempts(case.decode("utf-8", "replace")),
        "rows": row,
        "names": name,
        "links": link,
    }
    return {
        target: Target(read, protocols if target == "protocol" else list(kept(target)))
        for target, read in readers.items()
    }


def change(case: bytes, chance: random.Random) -> bytes:
    """One to four changes of a case."""
    changed = bytearray(case)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(changed) + 1)
        end = min(len(changed), at + chance.randint(0, 12))
        match chance.randrange(5):
            case 0:
                changed[at:end] = chance.choice(HURTS)
            case 1:
                del changed[at:end]
            case 2:
                changed[at:at] = changed[at:end] * chance.randint(1, 20)
            case 3:
                changed[at:end] = bytes(chance.randrange(256) for _ in range(end - at))
            case _:
                changed = changed[:at] if chance.random() < 0.2 else changed
    return bytes(changed[:200_000])


def fuzz(name: str, target: Target, cases: int, seed: int) -> list[str]:
    """The cases that raised what they should not, with it."""
    chance = random.Random(f"{name}/{seed}")
    found: dict[str, str] = {}
    for number in range(cases + len(target.seeds)):
        seeds = target.seeds
        case = seeds[number] if number < len(seeds) else change(chance.choice(seeds), chance)
        try:
            target.read(case)
        except CLEAN as error:
            if str(error).count("\n") > 2:
                found[f"{name}: {str(error).count(chr(10))} lines"] = repr(case[:2000])
        except Exception as error:  # noqa: BLE001
            trace = error.__traceback__
            while trace and trace.tb_next:
                trace = trace.tb_next
            where = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else ""
            found[f"{name}: {type(error).__name__} at {where}"] = f"{error} {case[:2000]!r}"
    return [f"{what} {case}" for what, case in found.items()]


def measure(cases: int, seed: int = 0, only: str = "") -> dict[str, list[str]]:
    """Target → what it should not have raised."""
    with tempfile.TemporaryDirectory() as folder:
        return {
            name: fuzz(name, target, cases, seed)
            for name, target in targets(Path(folder)).items()
            if only in ("", name)
        }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--target", default="")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = measure(given.cases, given.seed, given.target)
    if given.json:
        print(json.dumps(found))
    else:
        for name, wrong in found.items():
            print(f"{name:16} {given.cases} cases, {len(wrong)} kinds of harm", *wrong, sep="\n  ")
    return 1 if any(found.values()) or not found else 0


if __name__ == "__main__":
    sys.exit(main())
