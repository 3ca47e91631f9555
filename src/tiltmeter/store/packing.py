"""Ids, texts, dates and requests, made small in a run's file and read back.

An id of 32 hexadecimal digits has a number, its first 16 digits, which sorts as the id does: rows
are looked up and sorted by this integer. A long text is compressed with zlib against an earlier
text of its kind, which it mostly repeats. A request is stored as its last message and its shape
(model and settings), which thousands of requests share.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from ..records import Request, canonical
from .rows import StoredRequest, request_of

Packed: TypeAlias = str | bytes | None  # a text as it is, or compressed
FIRST = -(1 << 63)  # the least integer of an id
_HASHED = re.compile("[0-9a-f]{32}").fullmatch
_DATED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00").fullmatch
_SHORTEST = 120  # characters of a text that is compressed
_SMALL = 4096  # bytes: a window of zlib that costs 15 µs to begin in place of 120
_LARGEST_BYTES = 1 << 28  # that a text unpacks to: a few bytes of a stranger's can name terabytes
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=8192)  # an id is written with its trial, its call, its output and its labels
def id_number(key: str) -> int:
    """Returns an integer for an id, in the order of ids: from its hexadecimal digits, or from its
    bytes if it has other characters. The integer of an id with more bytes is made from its hash.
    """
    if not _HASHED(key):
        content = key.encode("utf-8", "surrogatepass")
        key = (content.ljust(8, b"\0") if len(content) <= 8 else mark_of(key)).hex()
    return int(key[:16], 16) + FIRST


_encoded = lru_cache(maxsize=64)(str.encode)


def number_text(number: int) -> str:
    """Returns the id of an `id_number`: the whole id if it is short, else its first digits."""
    beginning = (number - FIRST).to_bytes(8, "big")
    short = beginning.rstrip(b"\0")
    return short.decode() if short.isascii() and short.decode().isprintable() else beginning.hex()


def mark_of(text: str) -> bytes:
    """Returns a 16-byte key by which a text can be looked up."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]


def pack(text: str | None, base: str = "") -> Packed:
    """Compresses a text if that makes it smaller. base: a text that it may repeat."""
    if text is None or len(text) < _SHORTEST:
        return text
    content, base_bytes = text.encode(), _encoded(base)
    if len(content) < _SMALL and len(base_bytes) < _SMALL:
        squeeze = _begun(base_bytes).copy()
    else:
        squeeze = zlib.compressobj(6, zdict=base_bytes)
    packed = squeeze.compress(content) + squeeze.flush()
    return packed if len(packed) < len(content) else text


@lru_cache(maxsize=64)
def _begun(base: bytes) -> zlib._Compress:
    """Makes a compressor with a base as its dictionary. Level 6 packs prompts no better than 3."""
    return zlib.compressobj(3, zlib.DEFLATED, 12, 5, zdict=base)


def unpack(packed: Packed, base: str | None = "") -> str | None:
    """Decompresses a text. Raises zlib.error or ValueError unless `pack` used the same base."""
    if not isinstance(packed, bytes):
        return packed
    stream = zlib.decompressobj(0, zdict=_encoded(base or ""))  # 0: as small a window as it needs
    text = stream.decompress(packed, _LARGEST_BYTES)
    if not stream.eof:
        raise ValueError("the text is too long, or cut off")
    return text.decode()


@lru_cache(maxsize=64)  # all rows of a transaction have one
def pack_date(date: str) -> int | str:
    """Returns milliseconds since 1970, or the text if it is not in the form of `store.now`."""
    if not _DATED(date):
        return date
    try:
        return round((datetime.fromisoformat(date) - _EPOCH).total_seconds() * 1000)
    except ValueError:
        return date


class PackedRequest(NamedTuple):
    """The parts of a request. shape: JSON of everything that no other field holds, "" if `prompt`
    is the whole text; context: JSON of the messages before the last, "" for none; prompt: the last
    message's content; pictures: JSON of the last message's pictures, "" for none; about, turn: the
    nonce before and after the slash.
    """

    shape: str
    context: str
    prompt: str
    pictures: str
    seed: int | None
    about: str
    turn: str


@lru_cache(maxsize=1000)
def _shape(*parts: object) -> str:
    return canonical(parts)


def split_request(request: Request) -> PackedRequest:
    """Splits a request into its parts."""
    if not request.messages:
        return _whole(request.text, request.nonce)
    *before, last = request.messages
    about, slash, turn = request.nonce.partition("/")
    if slash and not about:
        turn = f"/{turn}"
    temperature, top_p, max_tokens, seed = request.sampling
    shape = _shape(
        *(request.model, last.role, temperature, top_p, max_tokens, request.begin),
        *(request.logprobs, request.schema, request.purpose, request.size, request.longest),
        request.stop,
    )
    return PackedRequest(
        shape,
        canonical(before) if before else "",
        last.content,
        canonical(last.pictures) if last.pictures else "",
        seed,
        about if slash else "",
        turn if slash else request.nonce,
    )


def split_text(text: str) -> PackedRequest:
    """Splits a request given as its text, so that `join_request` restores exactly this text."""
    try:
        request = request_of(text)
        parts = split_request(request) if request.text == text else None
    except (ValueError, TypeError, IndexError, AttributeError, RecursionError):
        parts = None
    if parts is not None and join_request(*_joined(parts)) == text:
        return parts
    try:
        nonce = str(StoredRequest.parse(text).nonce)
    except (ValueError, TypeError, RecursionError):
        nonce = ""
    return _whole(text, nonce)


def _whole(text: str, nonce: str) -> PackedRequest:
    return PackedRequest("", "", text, "", None, "", nonce)


def _joined(parts: PackedRequest) -> tuple[str, str, str, str, int | None, str]:
    nonce = f"{parts.about}/{parts.turn}" if parts.about else parts.turn
    return (*parts[:5], nonce)


@lru_cache(maxsize=1000)
def _read_shape(shape: str) -> list[object]:
    fields: list[object] = json.loads(shape)
    return fields


def join_request(
    shape: str | None, context: str | None, prompt: str, pictures: str, seed: int | None, nonce: str
) -> str:
    """Joins the parts of a request into the form of `Request.text`."""
    if not shape:
        return prompt
    model, role, temperature, top_p, max_tokens, begin, *rest = _read_shape(shape)
    logprobs, schema, purpose, *further = rest
    messages = json.loads(context) if context else []
    last = (role, prompt, json.loads(pictures) if pictures else [])
    if not further[-1]:
        further.pop()
    parts = StoredRequest(
        *(str(model), [*messages, last], (temperature, top_p, max_tokens, seed), begin),  # type: ignore[arg-type]
        *(logprobs, schema, purpose, nonce),  # type: ignore[arg-type]
    )
    return canonical((*parts[:8], *(further if any(further) else ())))
