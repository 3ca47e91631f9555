"""The checks of `doctor`: this machine, optional modules, the built-in model, keys, the user's
table of models, and models named on request.

A key's value is never shown, and nothing is downloaded; a model is sent a question only on request.
"""

from __future__ import annotations

import asyncio
import os
import platform
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib import metadata
from importlib.util import find_spec
from urllib.parse import urlsplit

from ...errors import MissingExtra, ModelError, TiltmeterError, install_line
from ...models import table
from ...models.http.connection import Connection
from ...models.kinds import DoctorFinding, ModelKind, all_kinds, full_name, kind_of
from ...models.options import TEXT
from ...records import Message, Request, Sampling, __version__
from ...stages.engine.run_coroutine import wait_for
from ...stages.steps.connect import Connect

# What it is for, the module that is looked for, the extra that brings it: parts that no kind of
# model needs (`ModelKind.modules` has the others).
OPTIONAL_MODULES = (
    ("words and dialogues: telling languages of one script apart", "py3langid", "languages"),
)
NEEDED_LIBRARIES = (
    "aiohttp",
    "click",
    "jinja2",
    "numpy",
    "platformdirs",
    "polars",
    "rich",
    "scipy",
    "starlette",
    "uvicorn",
)
ADDRESS_TIMEOUT_SECONDS = 10.0  # seconds for an address to answer
QUESTION = Request("", (Message("user", "Reply with the word: ready"),), Sampling(1.0, 1.0, 16))


def look(
    models: Iterable[str] = (), *, call: bool = False, connect: Connect | None = None
) -> list[DoctorFinding]:
    """Checks the machine offline, then each named model. call: True to ask each a question too."""
    kinds = all_kinds()
    findings = [
        *_machine(),
        *_optional_modules(kinds),
        *_checks(kinds),
        *_keys(kinds),
        _own_table(),
    ]
    models = list(models)
    if models:
        findings += wait_for(_models(models, call, connect or Connect()))
    return findings


def _machine() -> Iterator[DoctorFinding]:
    python = platform.python_version()
    yield DoctorFinding("machine", "tiltmeter", True, __version__)
    is_new = sys.version_info >= (3, 11)
    yield DoctorFinding(
        "machine", "Python", is_new, python, "" if is_new else "install Python 3.11 or newer"
    )
    yield DoctorFinding(
        "machine",
        "platform",
        True,
        f"{platform.system()} {platform.release()}, {platform.machine()}, "
        f"{os.cpu_count() or 1} cores",
    )
    missing = [name for name in NEEDED_LIBRARIES if find_spec(name) is None]
    versions = ", ".join(
        f"{name} {metadata.version(name)}" for name in NEEDED_LIBRARIES if name not in missing
    )
    yield DoctorFinding(
        "machine",
        "libraries",
        not missing,
        f"missing: {', '.join(missing)}" if missing else versions,
        "pip install --force-reinstall tiltmeter" if missing else "",
    )


def _optional_modules(kinds: Iterable[ModelKind]) -> Iterator[DoctorFinding]:
    """Checks optional modules and those of model kinds; yields one finding per module."""
    wanted = {module: (purpose, extra) for purpose, module, extra in OPTIONAL_MODULES}
    names: dict[str, list[str]] = {}
    for kind in kinds:
        for module in kind.modules:
            names.setdefault(module, []).append(kind.name)
            wanted[module] = f"models: {', '.join(names[module])}", kind.extra
    for module, (purpose, extra) in wanted.items():
        if find_spec(module) is None:
            missing = f"not installed ({purpose})"
            yield DoctorFinding("optional", module, None, missing, install_line(extra))
        else:
            yield DoctorFinding("optional", module, True, f"{_version(module)} ({purpose})")


def _version(module: str) -> str:
    try:
        return metadata.version(module)
    except metadata.PackageNotFoundError:  # a folder of that name in the working directory
        return "of unknown version"


def _checks(kinds: Iterable[ModelKind]) -> Iterator[DoctorFinding]:
    """Runs the checks of each kind whose modules are installed."""
    for kind in kinds:
        if all(find_spec(module) is not None for module in kind.modules):
            yield from kind.check()


def _keys(kinds: Iterable[ModelKind]) -> Iterator[DoctorFinding]:
    """Checks that the environment has a key for each provider; a key is never shown."""
    for provider in (kind.provider for kind in kinds if kind.provider):
        names = [name for name in provider.keys if os.environ.get(name, "").strip()]
        if not names:
            yield DoctorFinding(
                "keys", provider.kind, None, "no key", f"export {provider.keys[0]}=…"
            )
            continue
        try:
            provider.key()
        except TiltmeterError as error:
            yield DoctorFinding("keys", provider.kind, False, str(error))
        else:
            yield DoctorFinding("keys", provider.kind, True, f"{names[0]} is set")


def _own_table() -> DoctorFinding:
    try:
        rows = table.rows()
    except TiltmeterError as error:
        return DoctorFinding("models", "table", False, str(error))
    names = [row.name for row in rows.values() if row.own]
    path = table.own_file()
    summary = (
        f"{len(names)} of your own in {path}"
        if path.is_file()
        else f"none of your own (they would be in {path})"
    )
    return DoctorFinding(
        "models", "table", True, f"{len(rows)} rows, {summary}", "tiltmeter ls models"
    )


async def _models(names: list[str], call: bool, connect: Connect) -> list[DoctorFinding]:
    return [await _model(name, call, connect) for name in names]


async def _model(name: str, call: bool, connect: Connect) -> DoctorFinding:
    """Makes a model (name, key, modules); then asks it if `call`, else checks its address."""
    try:
        kind, name = kind_of(name), full_name(name)
        connect = replace(connect, named=(name,))
        if any(find_spec(module) is None for module in kind.modules):
            raise MissingExtra(name, kind.extra)
        model = connect.model(name, 1)
        is_subject = TEXT in model.makes and not kind.judge_only
        if not call or not is_subject:
            further = (
                "--call asks it one question"
                if is_subject
                else "it draws or looks: it is asked no question"
            )
            connection = getattr(model, "connection", None)
            if type(connection) is Connection and connection.base:
                await _reach(connection.base)
                return DoctorFinding("model", name, True, f"{connection.base} answers ({further})")
            return DoctorFinding("model", name, True, f"can be made ({further})")
        start_time = time.monotonic()
        await model.open()
        try:
            reply = await model.ask(Request(name, QUESTION.messages, QUESTION.sampling))
        finally:
            await model.close()
    except TiltmeterError as error:
        return DoctorFinding("model", name, False, str(error))
    sentences = [
        f"answered in {time.monotonic() - start_time:.1f} s",
        *([f"as {reply.served}"] if reply.served else []),
    ]
    if reply.usage:
        sentences.append(
            f"{reply.usage[0]} + {reply.usage[1]} tokens"
            + (f", ${model.price.of(*reply.usage):.6f}" if model.price and any(model.price) else "")
        )
    if reply.omitted:
        sentences.append(f"left out: {', '.join(reply.omitted)}")
    if reply.outcome != "answer":
        sentences.append(f"the reply is no answer ({reply.outcome})")
    return DoctorFinding("model", name, reply.outcome == "answer", ", ".join(sentences))


async def _reach(url: str) -> None:
    """Raises ModelError if nothing listens at an address."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"https": 443, "http": 80}[parts.scheme]
        async with asyncio.timeout(ADDRESS_TIMEOUT_SECONDS):
            _, writer = await asyncio.open_connection(parts.hostname, port)
    except (ValueError, KeyError):
        raise ModelError(
            f"'{url}' is not a URL. Type for instance: --base-url http://localhost:8000/v1"
        ) from None
    except (OSError, TimeoutError) as error:
        raise ModelError(
            f"Nothing answers at {url} ({error or 'time-out'}). Start the server, correct "
            "--base-url, or check your network."
        ) from None
    writer.close()
