"""What `doctor` looks at: this machine, optional parts, the built-in model, keys, the user's table,
and models on request.

A key's value is never shown, and nothing is fetched: a model is asked one question only where that
is wished.
"""

from __future__ import annotations

import asyncio
import os
import platform
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from .. import __version__
from ..errors import MissingExtra, ModelError, TiltmeterError
from ..models import table
from ..models.http.connection import Connection
from ..models.http.provider import PROVIDERS
from ..models.local.offline import Offline
from ..models.providers import litellm
from ..records import Message, Request, Sampling
from ..stages.connect import Connect
from ..stages.engine import wait_for

# What it is for, the module that is looked for, the distribution that it comes with, the extra that
# brings it.
PARTS = (
    ("builtin and gguf: models", "xllamacpp", "xllamacpp", "builtin"),
    (
        "words and dialogues: telling languages of one script apart",
        "py3langid",
        "py3langid",
        "languages",
    ),
    ("the judges faces and objects: small networks", "onnxruntime", "onnxruntime", "faces"),
    ("the judge objects: writing in pictures", "rapidocr", "rapidocr", "objects"),
    ("litellm: models of the long tail", "litellm", "litellm", "litellm"),
)
# A judge on this machine, the module without which its weights are no use, and what to type to have
# them.
OFFLINE = (
    (
        "faces",
        "onnxruntime",
        "tiltmeter run gramvis --model planted:protocol=gramvis --judge faces --limit 1 --out try",
    ),
    ("objects", "rapidocr", "tiltmeter label RUN --judge objects --taxonomy FILE"),
)
NEEDED = ("aiohttp", "click", "jinja2", "numpy", "platformdirs", "polars", "rich", "scipy")
WAIT = 10.0  # seconds for an address to answer
QUESTION = Request("", (Message("user", "Reply with the word: ready"),), Sampling(1.0, 1.0, 16))


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. ok: True fine, False wrong, None not there and not needed. type: what to
    type about it.
    """

    area: str
    name: str
    ok: bool | None
    said: str
    type: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def look(
    models: Iterable[str] = (), *, call: bool = False, connect: Connect | None = None
) -> list[Finding]:
    """Everything that can be told without asking anybody, then each model named; `call` asks each
    one question.
    """
    found = [*_machine(), *_parts(), _builtin(), *_offline(), *_keys(), _own_table()]
    models = list(models)
    if models:
        found += wait_for(_models(models, call, connect or Connect()))
    return found


def _machine() -> Iterator[Finding]:
    python = platform.python_version()
    yield Finding("machine", "tiltmeter", True, __version__)
    new = sys.version_info >= (3, 11)
    yield Finding("machine", "Python", new, python, "" if new else "install Python 3.11 or newer")
    yield Finding(
        "machine",
        "platform",
        True,
        f"{platform.system()} {platform.release()}, {platform.machine()}, "
        f"{os.cpu_count() or 1} cores",
    )
    missing = [name for name in NEEDED if find_spec(name) is None]
    versions = ", ".join(
        f"{name} {metadata.version(name)}" for name in NEEDED if name not in missing
    )
    yield Finding(
        "machine",
        "libraries",
        not missing,
        f"missing: {', '.join(missing)}" if missing else versions,
        "pip install --force-reinstall tiltmeter" if missing else "",
    )


def _parts() -> Iterator[Finding]:
    for purpose, module, distribution, extra in PARTS:
        if find_spec(module) is None:
            yield Finding(
                "optional", module, None, f"not installed ({purpose})", f"pip install '.[{extra}]'"
            )
            continue
        try:
            found = (
                litellm.check_version() if module == "litellm" else metadata.version(distribution)
            )
        except TiltmeterError as error:  # a version that steals keys
            yield Finding("optional", module, False, str(error), "pip uninstall litellm")
            continue
        except metadata.PackageNotFoundError:  # a folder of that name in the working directory
            found = "of unknown version"
        yield Finding("optional", module, True, f"{found} ({purpose})")


def _builtin() -> Finding:
    """Whether the bundled weights are in the cache; where not, the first run that needs them
    fetches them.
    """
    from ..models.local import weights

    try:
        path = weights.cached(weights.SMOLLM2)
    except TiltmeterError as error:
        return Finding("built-in model", "weights", False, str(error))
    if path is None:
        return Finding(
            "built-in model",
            "weights",
            None,
            f"not fetched yet; they go to {weights.cache()}",
            "tiltmeter run roles --model builtin --mode exact --limit 2 --out try",
        )
    return Finding(
        "built-in model", "weights", True, f"{path} ({path.stat().st_size / 2**20:.0f} MiB)"
    )


def _offline() -> Iterator[Finding]:
    """Whether the weights of the judges on this machine are in the cache; the first run with such a
    judge fetches them.
    """
    from ..models.local import weights

    for judge, module, command in OFFLINE:
        if find_spec(module) is None:
            continue
        missing = [
            one
            for one in weights.KNOWN.values()
            if judge in one.judges and weights.cached(one) is None
        ]
        if missing:
            size = sum(one.download or one.size for one in missing) / 1e6
            named = " and ".join(one.title for one in missing)
            yield Finding(
                "judges on this machine",
                judge,
                None,
                f"not fetched yet: {named} (about {size:.0f} MB)",
                command,
            )
        else:
            yield Finding(
                "judges on this machine", judge, True, f"its weights are in {weights.cache()}"
            )


def _keys() -> Iterator[Finding]:
    for provider in PROVIDERS.values():
        names = [name for name in provider.keys if os.environ.get(name, "").strip()]
        if not names:
            yield Finding("keys", provider.kind, None, "no key", f"export {provider.keys[0]}=…")
            continue
        try:
            provider.key()
        except TiltmeterError as error:
            yield Finding("keys", provider.kind, False, str(error))
        else:
            yield Finding("keys", provider.kind, True, f"{names[0]} is set")


def _own_table() -> Finding:
    try:
        found = table.rows()
    except TiltmeterError as error:
        return Finding("models", "table", False, str(error))
    own = [row.name for row in found.values() if row.own]
    path = table.own_file()
    there = (
        f"{len(own)} of your own in {path}"
        if path.is_file()
        else f"none of your own (they would be in {path})"
    )
    return Finding("models", "table", True, f"{len(found)} rows, {there}", "tiltmeter ls models")


async def _models(names: list[str], call: bool, connect: Connect) -> list[Finding]:
    return [await _model(name, call, connect) for name in names]


async def _model(name: str, call: bool, connect: Connect) -> Finding:
    """Makes the model (which checks its name, key, parts and end), then its address, then one
    question where wished.
    """
    try:
        if name.partition(":")[0] in ("builtin", "gguf") and find_spec("xllamacpp") is None:
            raise MissingExtra(name, "builtin")
        model = connect.model(name, 1)
        answers = "text" in model.makes and not isinstance(model, Offline)
        if not call or not answers:
            further = (
                "--call asks it one question"
                if answers
                else "it draws or looks: it is asked no question"
            )
            connection = getattr(model, "connection", None)
            if type(connection) is Connection and connection.base:
                await _reach(connection.base)
                return Finding("model", name, True, f"{connection.base} answers ({further})")
            return Finding("model", name, True, f"can be made ({further})")
        begun = time.monotonic()
        await model.open()
        try:
            reply = await model.ask(Request(name, QUESTION.messages, QUESTION.sampling))
        finally:
            await model.close()
    except TiltmeterError as error:
        return Finding("model", name, False, str(error))
    said = [
        f"answered in {time.monotonic() - begun:.1f} s",
        *([f"as {reply.served}"] if reply.served else []),
    ]
    if reply.usage:
        said.append(
            f"{reply.usage[0]} + {reply.usage[1]} tokens"
            + (f", ${model.price.of(*reply.usage):.6f}" if model.price and any(model.price) else "")
        )
    if reply.omitted:
        said.append(f"left out: {', '.join(reply.omitted)}")
    if reply.outcome != "answer":
        said.append(f"the reply is no answer ({reply.outcome})")
    return Finding("model", name, reply.outcome == "answer", ", ".join(said))


async def _reach(url: str) -> None:
    """Raises ModelError where nothing listens at an address."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"https": 443, "http": 80}[parts.scheme]
        async with asyncio.timeout(WAIT):
            _, writer = await asyncio.open_connection(parts.hostname, port)
    except (ValueError, KeyError):
        raise ModelError(
            f"'{url}' is not a URL. Type for instance: --base-url http://localhost:8000/v1"
        ) from None
    except (OSError, TimeoutError) as error:
        raise ModelError(
            f"Nothing answers at {url} ({error or 'time-out'}). Start the server, mend --base-url, "
            "or look at your network."
        ) from None
    writer.close()
