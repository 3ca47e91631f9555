"""Models that answer from existing data: `file:PATH` and `replay:RUN`. Both cost nothing and call
no model.

`file:PATH` is a file of answers, one per row: CSV, TSV, JSON, Parquet, or JSON lines (UTF-8):

  {"prompt": "Fill in …", "text": "She"}               by the prompt; its answers in their order
  {"prompt": "Fill in …", "sample": 3, "text": "He"}   by the prompt and the sample, from 0
  {"id": "5f0c…", "text": "She"}                       by the trial's id
  {"word": "patient", "text": "She"}                   by the trial's factors

`outcome` may be answer (the default), refusal, cut or error; `finish_reason` is why it ended, in
providers' words (length, max_tokens, …); `thought` is the number of reasoning tokens; `model` the
name of the model that answered, for the record. `--column text=response` reads `text` from the
file's column `response`. Other fields are ignored, so the outputs.jsonl of `tiltmeter export` is
such a file. answers.py matches trials and lines; logs.py reads logs of other tools. A trial without
a line stays open (`Unanswered`): add lines and run the same command again.

`replay:RUN` answers from the calls of another run, those of its only subject
(`replay:RUN#openai:gpt-4.1-mini` if it has several, or to replay a judge). A call answers a request
that agrees in messages, start of the answer, sampling with its seed, number of log-probabilities
and schema; if several do, the one with the same id, else the same sample number.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ...errors import Incapable, ModelError, Unanswered, UnknownName, UsageError
from ...records import SUBJECT, Reply, Request, Sampling, content_id
from ...store import Store
from ...store.queries import calls
from ...store.rows import StoredRequest
from .. import FREE, Model
from ..kinds import ModelKind
from ..options import DEFAULTS, TEXT, ModelOptions, ReadFactors
from .answers import Answers, WantedTrial
from .readers import read_lines


class Stored(Model):
    """The base of models with existing answers, which cost nothing; counts missing answers."""

    price = FREE
    parallel = 1000
    continues = True

    def __init__(self, name: str) -> None:
        self.name = name
        self._asked = self._missing = 0
        self._first = ""

    def answer_or_open(self, reply: Reply | None, request: Request, remedy: str) -> Reply:
        """Returns the reply. If it is None, raises Unanswered with the trial and the remedy."""
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
    """Returns the trial's id and the sample number from a request's nonce."""
    trial, _, rest = request.nonce.partition("/")
    number = rest.partition("/")[0]
    return trial, int(number) if number.isdigit() else 0


class AnswerFile(Stored):
    """A file of answers as a model, `file:PATH`; it is read when the model is opened."""

    def __init__(self, path: str, options: ModelOptions = DEFAULTS) -> None:
        super().__init__(f"file:{path}")
        self._path, self._options = Path(path), options

    def read(self) -> Answers:
        """Reads the file's answers. Raises UsageError if it is missing, ModelError if malformed."""
        return Answers(self._path, read_lines(self._path, columns=self._options.columns))

    async def open(self) -> None:
        """Reads the whole file."""
        self._answers = self.read()

    async def ask(self, request: Request) -> Reply:
        """Returns the file's answer. Unanswered if there is none; Incapable for logprobs."""
        if request.logprobs:
            raise Incapable(
                f"{self.name} holds answers without log-probabilities. Type: --mode sampled"
            )
        line = self._answers.find(wanted_by(request, self._options.factors))
        return self.answer_or_open(line and line.reply, request, "Add the missing lines.")


def wanted_by(request: Request, factors: ReadFactors | None) -> WantedTrial:
    """Describes the trial whose answer a request wants."""
    trial, sample = trial_and_sample(request)
    prompt = request.messages[-1].content
    return WantedTrial(trial, prompt, sample, lambda: factors(trial) if factors else {})


class Replay(Stored):
    """Another run's answers as a model, `replay:RUN` or `replay:RUN#MODEL`."""

    makes = ("text", "pictures")

    def __init__(self, name: str) -> None:
        super().__init__(f"replay:{name}")
        folder, _, self._model = name.partition("#")
        self._folder = Path(folder)

    async def open(self) -> None:
        """Opens the run's store and indexes its answered calls; closes the store on an error."""
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
        """Returns {request's hash: (key, nonce) of each call that answered it}."""
        model = self._model or self._only_subject()
        models = calls.models(self._store)
        if model not in models:
            raise UnknownName(f"model in {self._folder}", model, models)
        index: dict[str, list[tuple[str, str]]] = {}
        for key, request in calls.answered_requests(self._store, model):
            index.setdefault(_question_hash(request), []).append((key, request.nonce))
        return index

    def _only_subject(self) -> str:
        subjects = calls.models(self._store, SUBJECT)
        if len(subjects) == 1:
            return subjects[0]
        if not subjects:
            raise ModelError(f"{self._folder} holds no answers to replay.")
        raise UsageError(
            f"{self._folder} holds answers of {', '.join(subjects)}. Name one of these models: "
            f"replay:{self._folder}#{subjects[0]}"
        )

    async def ask(self, request: Request) -> Reply:
        """Returns the stored reply to an equal request. Raises Unanswered if there is none."""
        what = _question_hash(StoredRequest.parse(request.text))
        key = _matching_call(self._index.get(what, []), request.nonce)
        stored = self._store.reply(key) if key else None
        reply = None
        if stored is not None:
            picture = self._store.blob(stored.blob) if stored.blob else b""
            reply = replace(stored, cost=0.0, usage=None, blob="", remote="", picture=picture)
        return self.answer_or_open(
            reply,
            request,
            "It was asked nothing with the same prompt, begun answer, sampling and seed.",
        )


def _question_hash(request: StoredRequest) -> str:
    """Returns a hash of a request without its model, purpose and nonce."""
    sampling = list(request.sampling)
    if request.begin:  # where a begun answer may end was not said before version 0.3
        sampling[Sampling._fields.index("max_tokens")] = None
    return content_id(request._replace(model="", purpose="", nonce="", sampling=sampling, stop=()))


def _matching_call(calls: list[tuple[str, str]], nonce: str) -> str:
    """Returns the key of the only call with this nonce, else with its sample number; or ""."""
    exact = [key for key, before in calls if before == nonce]
    rest = nonce.partition("/")[2]
    matching = exact or [key for key, before in calls if before.partition("/")[2] == rest]
    return matching[0] if len(matching) == 1 else ""


def answer_file(path: str, options: ModelOptions = DEFAULTS) -> AnswerFile:
    """Makes the model `file:PATH`. Raises UsageError if the path is missing."""
    if not path:
        raise UsageError("Which file? Type for instance: --model file:answers.jsonl")
    return AnswerFile(path, options)


def replay(name: str, options: ModelOptions = DEFAULTS) -> Replay:
    """Makes the model `replay:RUN` or `replay:RUN#MODEL`. Raises UsageError if RUN is missing."""
    if not name.partition("#")[0]:
        raise UsageError("Which run? Type for instance: --model replay:run")
    return Replay(name)


FILE = ModelKind(
    "file",
    "file:PATH, answers that exist already (CSV, TSV, JSON, Parquet, logs of Inspect and lm-eval)",
    answer_file,
    makes=(TEXT,),
    price=FREE,
    on_workers=False,
)
REPLAY = ModelKind(
    "replay", "replay:RUN, the answers of another run", replay, price=FREE, on_workers=False
)
