"""Models that answer from what exists already: `file:PATH` and `replay:RUN`. Both cost nothing and
ask nobody.

`file:PATH` is a JSONL file (UTF-8) with one answer a line:

    {"prompt": "Fill in …", "text": "She"}                  the prompt as it is asked, and what was
                                                            answered
    {"prompt": "Fill in …", "sample": 3, "text": "He"}      the same, numbered: samples count from 0
    {"id": "5f0c…", "text": "She"}                          by trial id

`outcome` may be answer (what it is when left out), refusal or error; `model` is the name of what
answered, for the record. Other fields are ignored, so the outputs.jsonl of `tiltmeter export` is
such a file. A trial takes the line with its id; else the line with its prompt and sample number.
Lines of one prompt without `sample` are numbered in the order in which they stand. A trial with no
line stays open (`Unanswered`): add lines and run the same command again.

`replay:RUN` answers from the calls of another run, the same subject's
(`replay:RUN#openai:gpt-4.1-mini` where it has several, or to replay a judge). A call answers a
request that agrees in messages, begun answer, sampling with its seed, number of log-probabilities
and schema; where several do, the one with the same id or else the same sample number.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ... import intake
from ...errors import Incapable, ModelError, Unanswered, UnknownName, UsageError
from ...records import ANSWER, ERROR, REFUSAL, SUBJECT, Json, Reply, Request, content_id
from ...store import Store
from ...store.queries import calls
from ...store.rows import StoredRequest
from .. import FREE, Model
from ..kinds import ModelKind
from ..options import DEFAULTS, TEXT, ModelOptions

MOST_ANSWERS_BYTES = 2**31  # of a file of answers
OUTCOMES = (ANSWER, REFUSAL, ERROR)


class Line(NamedTuple):
    """One answer of a file. `number` is the line's, from 1; `sample` None where the line has
    none.
    """

    number: int
    id: str
    prompt: str | None
    sample: int | None
    reply: Reply


class Answers:
    """The answers of a file, by trial id and by prompt and sample number."""

    def __init__(self, path: Path, lines: Iterable[Line] | None = None) -> None:
        self._path = path
        self._ids: dict[str, Line] = {}
        self._prompts: dict[tuple[str, int], Line] = {}
        self._numbered: dict[str, Line] = {}  # prompt → the first of its lines
        self._next: dict[str, int] = {}
        for line in read_lines(path) if lines is None else lines:
            if line.id:
                self._refuse_second(self._ids.setdefault(line.id, line), line, f"id '{line.id}'")
            if line.prompt is not None:
                self._add(line.prompt, line)
        if not self._ids and not self._prompts:
            raise ModelError(
                f'{path} holds no answers. A line looks like: {{"prompt": "…", "text": "…"}}'
            )

    def _add(self, prompt: str, line: Line) -> None:
        first = self._numbered.setdefault(prompt, line)
        if (first.sample is None) != (line.sample is None):
            without, having = (first, line) if first.sample is None else (line, first)
            raise ModelError(
                f"{self._path}, line {without.number}: no 'sample', which line {having.number} "
                "of the same prompt has. Number all lines of a prompt, from 0, or none."
            )
        sample = line.sample
        if sample is None:
            sample = self._next.get(prompt, 0)
            self._next[prompt] = sample + 1
        before = self._prompts.setdefault((prompt, sample), line)
        self._refuse_second(before, line, f"sample {sample} of the same prompt")

    def _refuse_second(self, before: Line, line: Line, what: str) -> None:
        if before is not line:
            raise ModelError(
                f"{self._path}: lines {before.number} and {line.number} both answer {what}. "
                "Remove one."
            )

    def find(self, trial: str, prompt: str, sample: int) -> Reply | None:
        """The answer to a trial, by its id or else by prompt and sample number; None for none."""
        line = self._ids.get(trial) or self._prompts.get((prompt, sample))
        return line.reply if line else None


def read_lines(path: Path, what: str = "text") -> Iterator[Line]:
    """The lines that are not blank; every error names its line. what: the field that holds the
    answer.
    """
    try:
        content = intake.read_bytes(path, MOST_ANSWERS_BYTES)
    except FileNotFoundError:
        raise UsageError(
            f"There is no file {path}. Type: --model file:PATH, a JSONL file with 'prompt' and "
            "'text'."
        ) from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ModelError(f"{path} is UTF-16. Save it as UTF-8.")
    for number, raw in enumerate(content.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        if raw.strip():
            where = f"{path}, line {number}"
            yield line(_object(raw, where, what), number, where, what)


def _object(raw: bytes, where: str, what: str) -> dict[str, Json]:
    try:
        data = json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError:
        raise ModelError(f"{where}: is not UTF-8. Save the file as UTF-8.") from None
    except (ValueError, RecursionError) as error:
        raise ModelError(
            f"{where}: is not JSON ({error}). One object stands on each line."
        ) from None
    if not isinstance(data, dict):
        raise ModelError(
            f'{where}: is not an object. A line looks like: {{"prompt": "…", "{what}": "…"}}'
        )
    return data


def line(data: Mapping[str, Json], number: int, where: str, what: str = "text") -> Line:
    """One answer of a file: `id`, or `prompt` with or without `sample`; `what` holds the answer.
    ModelError names `where`.
    """
    outcome, sample = data.get("outcome", ANSWER), data.get("sample")
    if outcome not in OUTCOMES:
        raise ModelError(f"{where}: {UnknownName('outcome', str(outcome), OUTCOMES)}")
    trial = _text(data.get("id", ""), "id", where)
    prompt = _text(data["prompt"], "prompt", where) if "prompt" in data else None
    text = _text(data.get(what, "" if outcome != ANSWER else None), what, where)
    if not trial and prompt is None:
        raise ModelError(f"{where}: neither 'id' nor 'prompt', so it is not known what it answers.")
    if sample is not None and (
        not isinstance(sample, int) or isinstance(sample, bool) or sample < 0
    ):
        raise ModelError(f"{where}: 'sample' must be a whole number from 0.")
    reply = Reply(text, str(outcome), served=str(data.get("model", "")), usage=(0, 0))
    return Line(number, trial, prompt, sample, reply)


def _text(value: Json, name: str, where: str) -> str:
    if not isinstance(value, str):
        raise ModelError(f"{where}: '{name}' {'is missing' if value is None else 'must be text'}.")
    return value


class Stored(Model):
    """What all share: no price, and a count of what was asked in vain."""

    price = FREE
    parallel = 1000
    continues = True

    def __init__(self, name: str) -> None:
        self.name = name
        self._asked = self._missing = 0
        self._first = ""

    def answer_or_open(self, reply: Reply | None, request: Request, remedy: str) -> Reply:
        """The reply; Unanswered with what is missing and what to type where there is none."""
        self._asked += 1
        if reply is not None:
            return reply
        self._missing += 1
        if not self._first:
            trial, sample = trial_and_sample(request)
            self._first = (
                f"trial {trial}, sample {sample} of '{request.messages[-1].content[:60]}…'"
            )
        raise Unanswered(
            f"{self._missing} of {self._asked} trials asked have no answer in {self.name}; the "
            f"first is {self._first}. {remedy}"
        )


def trial_and_sample(request: Request) -> tuple[str, int]:
    """The trial's id and its sample number, from the request's nonce."""
    trial, _, rest = request.nonce.partition("/")
    number = rest.partition("/")[0]
    return trial, int(number) if number.isdigit() else 0


class AnswerFile(Stored):
    """`file:PATH`; the file is read when the first answer is needed."""

    def __init__(self, path: str) -> None:
        super().__init__(f"file:{path}")
        self._path = Path(path)

    async def open(self) -> None:
        """Reads the whole file; UsageError where there is none, ModelError for a wrong line."""
        self._answers = Answers(self._path)

    async def ask(self, request: Request) -> Reply:
        """The file's answer to a trial; Unanswered without one, Incapable for log-probabilities."""
        if request.logprobs:
            raise Incapable(
                f"{self.name} holds answers and no log-probabilities. Type: --mode sampled"
            )
        trial, sample = trial_and_sample(request)
        found = self._answers.find(trial, request.messages[-1].content, sample)
        return self.answer_or_open(found, request, "Add the missing lines.")


class Replay(Stored):
    """`replay:RUN` or `replay:RUN#MODEL`; the run is opened for reading."""

    makes = ("text", "pictures")

    def __init__(self, name: str) -> None:
        super().__init__(f"replay:{name}")
        folder, _, self._model = name.partition("#")
        self._folder = Path(folder)

    async def open(self) -> None:
        """Opens the run's store and indexes its answered calls; on an error it is closed again."""
        self._store = Store(self._folder)
        try:
            self._index = self._index_calls()
        except BaseException:
            self._store.close()
            raise

    async def close(self) -> None:
        """Closes the run's store."""
        self._store.close()

    def _index_calls(self) -> dict[str, list[tuple[str, str]]]:
        """What was asked → (key, nonce) of each call that answered it."""
        model = self._model or self._only_subject()
        known = calls.models(self._store)
        if model not in known:
            raise UnknownName("model of that run", model, known)
        index: dict[str, list[tuple[str, str]]] = {}
        for key, request in calls.answered_requests(self._store, model):
            index.setdefault(_what(request), []).append((key, request.nonce))
        return index

    def _only_subject(self) -> str:
        subjects = calls.models(self._store, SUBJECT)
        if len(subjects) == 1:
            return subjects[0]
        if not subjects:
            raise ModelError(f"{self._folder} holds no answers to replay.")
        raise UsageError(
            f"{self._folder} holds answers of {', '.join(subjects)}. Type one: "
            f"replay:{self._folder}#{subjects[0]}"
        )

    async def ask(self, request: Request) -> Reply:
        """The stored reply to the same request, at no cost; Unanswered where there is none."""
        what = _what(StoredRequest.parse(request.text))
        key = _matching_call(self._index.get(what, []), request.nonce)
        found = self._store.reply(key) if key else None
        reply = None
        if found is not None:
            picture = self._store.blob(found.blob) if found.blob else b""
            reply = replace(found, cost=0.0, usage=None, blob="", remote="", picture=picture)
        return self.answer_or_open(
            reply,
            request,
            "It was asked nothing with the same prompt, begun answer, sampling and seed.",
        )


def _what(request: StoredRequest) -> str:
    """A hash of what a request asks, whoever is asked and whatever for."""
    return content_id(request._replace(model="", purpose="", nonce=""))


def _matching_call(calls: list[tuple[str, str]], nonce: str) -> str:
    """The key of the one call with this nonce, or else of the one with the same sample number; ""
    where none is the one.
    """
    exact = [key for key, before in calls if before == nonce]
    rest = nonce.partition("/")[2]
    found = exact or [key for key, before in calls if before.partition("/")[2] == rest]
    return found[0] if len(found) == 1 else ""


def answer_file(path: str, options: ModelOptions = DEFAULTS) -> AnswerFile:
    """`file:PATH`."""
    if not path:
        raise UsageError("Which file? Type for instance: --model file:answers.jsonl")
    return AnswerFile(path)


def replay(name: str, options: ModelOptions = DEFAULTS) -> Replay:
    """`replay:RUN` or `replay:RUN#MODEL`."""
    if not name.partition("#")[0]:
        raise UsageError("Which run? Type for instance: --model replay:run")
    return Replay(name)


FILE = ModelKind(
    "file",
    "file:PATH, answers that exist already (JSON lines)",
    answer_file,
    makes=(TEXT,),
    price=FREE,
)
REPLAY = ModelKind("replay", "replay:RUN, the answers of another run", replay, price=FREE)
