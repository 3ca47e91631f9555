"""Removal of the environment's keys from everything that is written: runs, pages, logs, messages.

A key is found in plain and in the forms that programs give it: escaped in JSON or Python, quoted in
a URL, escaped in HTML, as hexadecimal digits, in Base64 at any offset.
"""

from __future__ import annotations

import html
import os
import re
from base64 import b64encode
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.I)
_PROXY_NAME = re.compile(r"_PROXY$", re.I)
SHORTEST_CHARACTERS = 8  # a shorter value is not a key, and hiding it would garble messages
HIDDEN = "***"
_IN_ADDRESS = re.compile(r"(?<=//)[^/@\s]+(?=@)")
_CALLED = r"[\w-]*(?:key|token(?!s)|secret|password)[\w-]*"
# an option or parameter with such a name, up to the end of its value
_NAMED = re.compile(rf"((?:--{_CALLED} |{_CALLED}=)['\"]?)(?!…(?:\s|$))[^\s&'\"]+", re.I)
_RUN = re.compile(r"[A-Za-z0-9]+")


class _Forms(NamedTuple):
    """A secret in all its forms. signs: each text that holds the secret contains one of these;
    byte_signs: the same as UTF-8, one character per byte, as a text is searched faster than bytes.
    """

    signs: tuple[str, ...]
    byte_signs: tuple[str, ...]
    pattern: re.Pattern[str]


def environment_secrets() -> list[str]:
    """Lists values of variables named like keys, and passwords of proxies, longest first."""
    values = {value for name, value in os.environ.items() if _SECRET_NAME.search(name)}
    for name, value in os.environ.items():
        if _PROXY_NAME.search(name):
            values |= _passwords(value)
    return sorted({v for v in values if len(v) >= SHORTEST_CHARACTERS}, key=len, reverse=True)


def _passwords(address: str) -> set[str]:
    try:
        password = urlsplit(address).password or ""
    except ValueError:
        return set()
    return {password, unquote(password)}


@lru_cache(maxsize=200)
def _forms(secret: str) -> _Forms:
    content = secret.encode("utf-8", "surrogatepass")
    packed = [content.hex(), content.hex().upper()]
    for offset in range(3):  # whatever stands before it
        coded = b64encode(b"\0" * offset + content).decode().rstrip("=")
        inner = coded[(offset * 8 + 5) // 6 : len(coded) - (0 if len(content) % 3 == 0 else 1)]
        packed += [inner, inner.replace("+", "-").replace("/", "_")]
    whole = [re.escape(each) for each in dict.fromkeys(packed) if len(each) >= SHORTEST_CHARACTERS]
    spelled = "".join(map(_spelled, secret))
    longest = max(_RUN.findall(secret), key=len, default="")
    points = "".join(f"\\u{ord(char):04x}" for char in secret)[:12]
    percents = "".join(f"%{byte:02x}" for byte in content)[:12]
    first = ord(secret[0])
    references = (f"&#{first};", f"&#x{first:x};", f"&#x{first:X};", f"\\x{first:02x}")
    signs = (longest, *packed, points, points.upper().replace("U", "u"), percents, percents.upper())
    if len(longest) < SHORTEST_CHARACTERS // 2:
        signs = ("",)  # every text is looked at
    texts = tuple(dict.fromkeys(each for each in (*signs, *references) if each or signs == ("",)))
    coded_signs = tuple(text.encode("utf-8", "surrogatepass").decode("latin-1") for text in texts)
    return _Forms(texts, coded_signs, re.compile("|".join([spelled, *whole])))


@lru_cache(maxsize=500)
def _spelled(char: str) -> str:
    """Writes a regular expression for all encodings of a character."""
    code, content = ord(char), char.encode("utf-8", "surrogatepass")
    ways = [
        rf"\\{{0,3}}{re.escape(char)}",
        rf"\\{{1,3}}u(?i:{code:04x})",
        rf"\\{{1,3}}x(?i:{code:02x})",
        "".join(f"%(?i:{byte:02x})" for byte in content),
        rf"&#0*{code};",
        rf"&#[xX]0*(?i:{code:x});",
    ]
    named = html.escape(char)
    if named != char:
        ways.append(re.escape(named))
    return f"(?:{'|'.join(ways)})"


def without(secrets: Sequence[str], text: str) -> str:
    """Hides secrets in a text, in all their forms."""
    for secret in filter(None, secrets):
        forms = _forms(secret)
        for sign in forms.signs:
            if sign in text:
                text = forms.pattern.sub(HIDDEN, text)
                break
    return text


def variable_in(text: str) -> str:
    """Returns the name of the environment variable whose key a text holds; "" if it holds none."""
    for secret in environment_secrets():
        if without([secret], text) != text:
            return next((n for n, v in os.environ.items() if secret in (v, unquote(v))), "a proxy")
    return ""


def without_bytes(secret: str, content: bytes) -> bytes:
    """Hides a key in a server's bytes; returns the same object if the bytes do not hold it."""
    characters = content.decode("latin-1") if secret else ""
    for sign in _forms(secret).byte_signs if secret else ():
        if sign in characters:
            break
    else:
        return content
    text = content.decode("utf-8", "surrogateescape")
    return without((secret,), text).encode("utf-8", "surrogateescape")


def named_secret(secrets: Sequence[str], name: str) -> str:
    """Masks keys in a model's name; "" if it holds none. The path of a file does not count."""
    plain = re.sub(r"--[\w-]*(?:file|path|env)[= ]\S+", "", name)
    return mask(secrets, name) if mask(secrets, plain) != plain else ""


def mask(secrets: Sequence[str], text: str) -> str:
    """Hides secrets: known ones, passwords in addresses, values named like keys."""
    text = _IN_ADDRESS.sub(HIDDEN, without(secrets, text))
    return _NAMED.sub(rf"\1{HIDDEN}", text)
