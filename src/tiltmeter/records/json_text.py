"""Text and JSON as they are stored and sent."""

from __future__ import annotations

import json
from collections.abc import Callable


def json_writer(comma: str, colon: str, sort_keys: bool) -> Callable[[object], str]:
    """Makes a JSON writer, twice as fast as `json.JSONEncoder`, which sets itself up per value."""
    plain = json.JSONEncoder(
        ensure_ascii=False, separators=(comma, colon), sort_keys=sort_keys, check_circular=False
    )
    try:
        from _json import encode_basestring, make_encoder
    except ImportError:  # not in CPython
        return plain.encode
    encode = make_encoder(
        None, plain.default, encode_basestring, None, colon, comma, sort_keys, False, True
    )
    return lambda value: "".join(encode(value, 0))


def whole_text(text: str) -> str:
    """Replaces lone surrogates, which UTF-8 cannot hold; a reply cut within an emoji has one."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
