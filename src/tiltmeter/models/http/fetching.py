"""Fetches pictures to which a reply links, at once: such addresses are valid for minutes (BFL's
ten, Replicate's sixty).

An address is http(s) or `data:`. A redirect is followed and checked like the first address. The key
is sent along only to the server that gets the requests (same scheme, host and port), as a user's
own server may guard its pictures with it.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import SplitResult, unquote_to_bytes, urljoin, urlsplit

from ...errors import ModelError, TransientError
from ...records import ERROR, Json, Reply
from .answer import PASSING_STATUSES, TooLong
from .connection import Connection

TRIES, FIRST_WAIT_SECONDS = 4, 0.5  # of one address; seconds, doubled each time
MOST_REDIRECTS = 3
MOST_CHARACTERS = 2000  # characters of a text in a stored reply; a picture in base64 is longer


class Link(NamedTuple):
    """A reply with the address of its picture."""

    reply: Reply
    url: str


class Unfetched(Exception):
    """The error if an address will never give a picture; its message ends a sentence."""


async def fetch_picture(connection: Connection, link: Link, headers: Mapping[str, str]) -> Reply:
    """Fetches a reply's picture. If that fails, the outcome is `error`, as the reply is paid for
    and not asked for again. Raises ModelError, marked as paid, if the address may not be called.
    """
    try:
        return replace(link.reply, picture=await content(connection, link.url, headers))
    except (Unfetched, TransientError) as error:
        return replace(link.reply, outcome=ERROR, text=loss_reason(error))
    except ModelError as error:
        error.possibly_paid = True
        raise


def loss_reason(error: Exception) -> str:
    """Explains why a generated picture is missing, as the text of the outcome `error`."""
    lost = "" if isinstance(error, Unfetched) else "lost: "
    return f"the picture was drawn and {lost}{error}"


async def content(connection: Connection, url: str, headers: Mapping[str, str]) -> bytes:
    """Fetches the content of an address.

    Raises Unfetched if the content is missing or gone, TransientError if it may come later,
    ModelError if the address may not be called.
    """
    if url.startswith("data:"):
        return _data(url)
    for attempt in range(1, TRIES + 1):
        try:
            return await _get(connection, url, headers)
        except TooLong:
            raise Unfetched("is too large to keep") from None
        except TransientError as error:
            if attempt == TRIES:
                raise
            wait = FIRST_WAIT_SECONDS * 2 ** (attempt - 1)
            await asyncio.sleep(wait if error.retry_after is None else min(error.retry_after, 60.0))
    raise AssertionError("unreachable")


async def _get(connection: Connection, url: str, headers: Mapping[str, str]) -> bytes:
    for _ in range(MOST_REDIRECTS + 1):
        parts = split(url)
        is_own_host = _origin(parts) == _origin(urlsplit(connection.base))
        answer = await connection.send(url, headers if is_own_host else {})
        if answer.status == 200:
            return answer.content
        if 300 <= answer.status < 400 and answer.headers.get("Location"):
            url = urljoin(url, answer.headers["Location"])
        elif answer.status in PASSING_STATUSES or answer.status >= 500:
            connection.fail(answer, answer.status, None)
        else:
            gone = "; it has expired" if answer.status in (403, 404, 410) else ""
            raise Unfetched(f"its address on {parts.hostname} answers HTTP {answer.status}{gone}")
    raise Unfetched(f"its address redirects more than {MOST_REDIRECTS} times")


def split(url: str) -> SplitResult:
    """Splits an address from a reply. Raises Unfetched unless it is an http(s) address."""
    try:
        parts = urlsplit(url)
        usable = (
            parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
        )
        _ = parts.port  # ValueError where it is none
    except ValueError:
        usable = False
    if not usable:
        raise Unfetched(f"its address cannot be fetched: {url[:60]!r}")
    return parts


def _origin(parts: SplitResult) -> tuple[str, str | None, int | None]:
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def _data(url: str) -> bytes:
    """Decodes the bytes of a data: URL (RFC 2397)."""
    head, comma, rest = url.partition(",")
    if not comma:
        raise Unfetched("its data: address has no data")
    return decode_base64(rest) if head.endswith(";base64") else unquote_to_bytes(rest)


def decode_base64(text: str) -> bytes:
    """Decodes a picture in base64 or a data: URL. Raises Unfetched if it is neither."""
    if text.startswith("data:"):
        return _data(text)
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        raise Unfetched("its data is not base64") from None


def shorten(body: Json) -> str:
    """Returns a reply's body as JSON for the store, without pictures: they are in `blobs/`."""
    return json.dumps(_short(body), ensure_ascii=False)


def _short(value: Json) -> Json:
    if isinstance(value, str) and len(value) > MOST_CHARACTERS:
        return f"{value[:40]}… ({len(value)} characters)"
    if isinstance(value, list):
        return [_short(each) for each in value]
    if isinstance(value, dict):
        return {name: _short(each) for name, each in value.items()}
    return value
