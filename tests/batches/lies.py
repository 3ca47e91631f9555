"""Lies of a provider: replies that are wrong for a while, and right again afterwards.

A lie changes the first `times` replies of one kind (upload, create, list, look, results). What was done and billed stays
what it is: only what is said of it is wrong. `LIES` has them by format.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from tiltmeter.models.http.body import at, object_at
from tiltmeter.records import Json

HTML = b"<!DOCTYPE html><html><body><h1>Bad gateway</h1></body></html>"
_KINDS = (
    ("results", "GET", r"/content$|/results$|:download$"),
    ("create", "POST", r"/batches$|/batch/jobs$|:batchGenerateContent$"),
    ("list", "GET", r"/batches$|/batch/jobs$"),
    ("look", "GET", r"/(batches|jobs)/[^/]+$"),
    ("upload", "POST", r"/files(/[^/]*)?$"),
)


class Said(NamedTuple):
    """A reply. abort: the connection is dropped in its place."""

    status: int
    content: bytes
    headers: Mapping[str, str] = {}
    abort: bool = False


Change = Callable[[Said], Said]


class Lie(NamedTuple):
    """One lie. place: the kind of reply; times: how many of them."""

    name: str
    place: str
    change: Change
    times: int = 1


def kind_of(method: str, path: str) -> str:
    """Which kind of reply a request gets; "" for any other."""
    return next((k for k, m, sign in _KINDS if m == method and re.search(sign, path)), "")


# changes of whole replies


def says(status: int, content: bytes = b"", **headers: str) -> Change:
    return lambda said: Said(status, content, {k.replace("_", "-"): v for k, v in headers.items()})


def error(status: int, **headers: str) -> Change:
    return says(status, b'{"error": {"message": "Something is wrong."}}', **headers)


def text(change: Callable[[bytes], bytes]) -> Change:
    return lambda said: said._replace(content=change(said.content))


def aborts(said: Said) -> Said:
    return said._replace(abort=True)


def edit(change: Callable[[dict[str, Json]], object]) -> Change:
    """The reply as JSON, changed in place or replaced."""

    def changed(said: Said) -> Said:
        body = object_at(json.loads(said.content))
        found = change(body)
        return said._replace(content=json.dumps(body if found is None else found).encode())

    return changed


def lines(change: Callable[[dict[str, Json]], object]) -> Change:
    """Each line of the reply, changed in place or replaced."""

    def changed(said: Said) -> Said:
        grown = []
        for line in said.content.splitlines():
            body = json.loads(line)
            found = change(body)
            grown.append(json.dumps(body if found is None else found))
        return said._replace(content="".join(f"{line}\n" for line in grown).encode())

    return changed


def put(*path: str | int, value: Json) -> Callable[[dict[str, Json]], None]:
    """Sets what stands under a path, where the path is there."""

    def change(body: dict[str, Json]) -> None:
        inner = at(body, *path[:-1])
        if isinstance(inner, dict) and isinstance(path[-1], str):
            inner[path[-1]] = value

    return change


def drop(*path: str) -> Callable[[dict[str, Json]], None]:
    """Takes away what stands under a path."""

    def change(body: dict[str, Json]) -> None:
        inner = at(body, *path[:-1])
        if isinstance(inner, dict):
            inner.pop(path[-1], None)

    return change


def also(*changes: Callable[[dict[str, Json]], None]) -> Callable[[dict[str, Json]], None]:
    def change(body: dict[str, Json]) -> None:
        for each in changes:
            each(body)

    return change


def _half(content: bytes) -> bytes:
    whole = content.splitlines(keepends=True)
    return b"".join(whole[: len(whole) // 2])


def _swapped(content: bytes) -> bytes:
    return content.replace(b'"', b"'")


def _other_names(content: bytes) -> bytes:
    return re.sub(rb'(custom_id|key)": "[0-9a-f]{8}', rb'\1": "00000000', content)


_RESULTS: Mapping[str, Change] = {
    "empty": says(200),
    "no content": says(204),
    "404": error(404),
    "410": error(410),
    "a page of HTML": says(200, HTML, Content_Type="text/html"),
    "a page of HTML with 502": says(502, HTML),
    "500": error(500),
    "503": error(503),
    "429": error(429, Retry_After="0"),
    "408": error(408),
    "403": error(403),
    "401": error(401),
    "302": says(302, Location="https://example.org/"),
    "dropped": aborts,
    "cut in a line": text(lambda c: c[: len(c) * 2 // 3 + 1]),
    "cut after the first byte": text(lambda c: c[:1]),
    "cut before the last brace": text(lambda c: c.rstrip()[:-1]),
    "half of the lines": text(_half),
    "the first line alone": text(lambda c: c.splitlines(keepends=True)[0] if c else c),
    "garbled": text(lambda c: bytes(b ^ 0x5A for b in c)),
    "each tenth byte garbled": text(lambda c: bytes(0xFF if n % 10 == 3 else b for n, b in enumerate(c))),
    "blank lines": says(200, b"\n\n  \n"),
    "null": says(200, b"null\n"),
    "a list": text(lambda c: b"[" + b",".join(c.splitlines()) + b"]"),
    "one line of all": text(lambda c: c.replace(b"\n", b" ")),
    "empty objects": lines(lambda line: {}),
    "an error with 200": says(200, b'{"error": {"message": "try again"}}\n'),
    "names of another batch": text(_other_names),
    "names in capitals": text(lambda c: re.sub(rb'(custom_id|key)": "([^"]*)"', lambda m: m[1] + b'": "' + m[2].upper() + b'"', c)),
    "CRLF": text(lambda c: c.replace(b"\n", b"\r\n")),
    "doubled and reversed": text(lambda c: b"".join(reversed(c.splitlines(keepends=True))) * 2),
    "with a mark of UTF-8": text(lambda c: b"\xef\xbb\xbf" + c),
    "UTF-16": text(lambda c: c.decode().encode("utf-16")),
    "zeros at the end": text(lambda c: c + b"\0" * 100),
    "packed and not said": text(gzip.compress),
    "said to be packed": lambda said: said._replace(headers={"Content-Encoding": "gzip"}),
    "single quotes": text(_swapped),
}  # fmt: skip
_LOOKS: Mapping[str, Change] = {
    "404": error(404),
    "500": error(500),
    "429": error(429, Retry_After="0"),
    "a page of HTML": says(200, HTML),
    "empty": says(200),
    "dropped": aborts,
    "cut": text(lambda c: c[: len(c) // 2]),
    "null": says(200, b"null"),
    "a list": text(lambda c: b"[" + c + b"]"),
    "an empty object": says(200, b"{}"),
    "an error with 200": says(200, b'{"error": {"message": "try again"}}'),
    "no id": edit(drop("id")),
}
_CREATIONS: Mapping[str, Change] = {
    "404, though made": error(404),
    "400, though made": error(400),
    "500, though made": error(500),
    "429, though made": error(429, Retry_After="0"),
    "409, though made": error(409),
    "a page of HTML, though made": says(200, HTML),
    "empty, though made": says(200),
    "dropped, though made": aborts,
    "cut, though made": text(lambda c: c[: len(c) // 2]),
    "null, though made": says(200, b"null"),
    "an empty object, though made": says(200, b"{}"),
}
_LISTS: Mapping[str, Change] = {
    "an empty object": says(200, b"{}"),
    "500": error(500),
    "404": error(404),
    "a page of HTML": says(200, HTML),
    "empty": says(200),
    "cut": text(lambda c: c[: len(c) // 2]),
}
_UPLOADS: Mapping[str, Change] = {
    "500": error(500),
    "a page of HTML": says(200, HTML),
    "empty": says(200),
    "dropped": aborts,
}


def _of(place: str, changes: Mapping[str, Change], *times: int) -> list[Lie]:
    return [
        Lie(f"{place}: {name}" + (f", {n} times" if n > 1 else ""), place, change, n)
        for name, change in changes.items()
        for n in times
    ]


def _lost_receipt(lists: Mapping[str, Change]) -> list[Lie]:
    """The receipt of a creation is lost and the list that would tell of it lies."""
    return [Lie(f"lost receipt, list: {name}", "list", change) for name, change in lists.items()]


_OPENAI_LINES: Mapping[str, Change] = {
    "the status as text": lines(put("response", "status_code", value="200")),
    "the status as text with words": lines(put("response", "status_code", value="200 OK")),
    "the status as a fraction": lines(put("response", "status_code", value=200.0)),
    "the status null": lines(put("response", "status_code", value=None)),
    "no status": lines(drop("response", "status_code")),
    "the status 0": lines(put("response", "status_code", value=0)),
    "the status true": lines(put("response", "status_code", value=True)),
    "the status 2000": lines(put("response", "status_code", value=2000)),
    "the status -200": lines(put("response", "status_code", value=-200)),
    "the status a list": lines(put("response", "status_code", value=[200])),
    "the status 500": lines(put("response", "status_code", value=500)),
    "the status 429": lines(put("response", "status_code", value=429)),
    "the status 400": lines(put("response", "status_code", value=400)),
    "no body": lines(drop("response", "body")),
    "a body of null": lines(put("response", "body", value=None)),
    "a body of text": lines(put("response", "body", value="ok")),
    "no response": lines(put("response", value=None)),
    "no response, and expired": lines(also(put("response", value=None), put("error", value={"code": "batch_expired", "message": "expired"}))),
    "an error beside it": lines(put("error", value={"code": "x", "message": "odd"})),
    "no name": lines(drop("custom_id")),
    "a number as name": lines(put("custom_id", value=7)),
}  # fmt: skip
_NO_FILES = also(put("output_file_id", value=None), put("error_file_id", value=None))
_OPENAI_LOOKS: Mapping[str, Change] = {
    "no file": edit(_NO_FILES),
    "an empty name of a file": edit(put("output_file_id", value="")),
    "another file": edit(put("output_file_id", value="batch_none-output")),
    "failed with a file": edit(put("status", value="failed")),
    "failed without a file": edit(also(put("status", value="failed"), _NO_FILES)),
    "failed with an error": edit(also(put("status", value="failed"), put("errors", value={"data": [{"message": "odd", "code": "x"}]}))),
    "expired": edit(put("status", value="expired")),
    "expired without a file": edit(also(put("status", value="expired"), _NO_FILES)),
    "cancelled without a file": edit(also(put("status", value="cancelled"), _NO_FILES)),
    "completed at once": edit(put("status", value="completed")),
    "an unknown state": edit(put("status", value="archived")),
    "no state": edit(drop("status")),
    "the state in capitals": edit(lambda body: put("status", value=str(body["status"]).upper())(body)),
    "a number as state": edit(put("status", value=3)),
    "no counts": edit(put("request_counts", value=None)),
    "counts of zero without a file": edit(also(put("request_counts", value={"total": 0, "completed": 0, "failed": 0}), _NO_FILES)),
    "counts as text": edit(put("request_counts", value={"total": "12", "completed": "12", "failed": "0"})),
    "all counted as failed": edit(lambda body: put("request_counts", value={"total": 12, "completed": 0, "failed": 12})(body)),
    "counts below zero": edit(put("request_counts", value={"total": -1, "completed": -1, "failed": 2})),
    "huge counts": edit(put("request_counts", value={"total": 10**18, "completed": 10**18, "failed": 0})),
}  # fmt: skip
_OPENAI_LISTS: Mapping[str, Change] = {
    **_LISTS,
    "no metadata": edit(lambda body: [drop("metadata")(object_at(one)) for one in body["data"]] and None),  # type: ignore[union-attr]
    "metadata null": edit(lambda body: [put("metadata", value=None)(object_at(one)) for one in body["data"]] and None),  # type: ignore[union-attr]
    "data null": edit(put("data", value=None)),
    "data empty": edit(put("data", value=[])),
    "more without end": edit(put("has_more", value=True)),
}  # fmt: skip
_KINDS_OF_RESULT = ("errored", "expired", "canceled", "odd", "", None, 7)
_ANTHROPIC_LINES: Mapping[str, Change] = {
    **{f"type {kind!r}": lines(put("result", "type", value=kind)) for kind in _KINDS_OF_RESULT},
    "no type": lines(drop("result", "type")),
    "no message": lines(drop("result", "message")),
    "a message of null": lines(put("result", "message", value=None)),
    "a message of text": lines(put("result", "message", value="ok")),
    "no result": lines(drop("result")),
    "a result of null": lines(put("result", value=None)),
    "type in capitals": lines(put("result", "type", value="SUCCEEDED")),
    "an overload": lines(put("result", value={"type": "errored", "error": {"type": "error", "error": {"type": "overloaded_error", "message": "odd"}}})),
    "an invalid request": lines(put("result", value={"type": "errored", "error": {"type": "error", "error": {"type": "invalid_request_error", "message": "odd"}}})),
    "no name": lines(drop("custom_id")),
    "a number as name": lines(put("custom_id", value=7)),
}  # fmt: skip
_NONE = {"processing": 0, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
_ANTHROPIC_LOOKS: Mapping[str, Change] = {
    "no address of results": edit(put("results_url", value=None)),
    "no key for results": edit(drop("results_url")),
    "ended at once": edit(put("processing_status", value="ended")),
    "an unknown state": edit(put("processing_status", value="archived")),
    "no state": edit(drop("processing_status")),
    "a number as state": edit(put("processing_status", value=3)),
    "no counts": edit(put("request_counts", value=None)),
    "counts of zero": edit(put("request_counts", value=_NONE)),
    "counts of zero, no results": edit(also(put("request_counts", value=_NONE), put("results_url", value=None))),
    "all counted as expired": edit(put("request_counts", value=_NONE | {"expired": 12})),
    "all counted as expired, no results": edit(also(put("request_counts", value=_NONE | {"expired": 12}), put("results_url", value=None), put("processing_status", value="ended"))),
    "all counted as errored": edit(put("request_counts", value=_NONE | {"errored": 12})),
    "counts as text": edit(put("request_counts", value={"succeeded": "12"})),
    "huge counts": edit(put("request_counts", value=_NONE | {"succeeded": 10**18})),
}  # fmt: skip
_ANTHROPIC_LISTS: Mapping[str, Change] = {
    **_LISTS,
    "data null": edit(put("data", value=None)),
    "data empty": edit(put("data", value=[])),
    "more without end": edit(put("has_more", value=True)),
}
_MISTRAL_LOOKS: Mapping[str, Change] = {
    "no file": edit(also(put("output_file", value=None), put("error_file", value=None))),
    "failed with a file": edit(put("status", value="FAILED")),
    "no state": edit(drop("status")),
    "no counts": edit(also(drop("succeeded_requests"), drop("completed_requests"), drop("failed_requests"))),
    "counts of zero without a file": edit(also(put("succeeded_requests", value=0), put("completed_requests", value=0), put("output_file", value=None))),
}  # fmt: skip
_TOGETHER_LOOKS: Mapping[str, Change] = {
    "no file": edit(_NO_FILES),
    "failed with a file": edit(put("status", value="FAILED")),
    "no state": edit(drop("status")),
}
_META = "metadata"
_GEMINI_LOOKS: Mapping[str, Change] = {
    **{name: change for name, change in _LOOKS.items() if name != "no id"},
    "no name": edit(drop("name")),
    "no output": edit(drop(_META, "output")),
    "failed with output": edit(put(_META, "state", value="BATCH_STATE_FAILED")),
    "failed without output": edit(also(put(_META, "state", value="BATCH_STATE_FAILED"), drop(_META, "output"))),
    "expired without output": edit(also(put(_META, "state", value="BATCH_STATE_EXPIRED"), drop(_META, "output"))),
    "no state": edit(drop(_META, "state")),
    "no counts": edit(drop(_META, "batchStats")),
    "no counts and no output": edit(also(drop(_META, "batchStats"), drop(_META, "output"))),
    "output of another shape": edit(put(_META, "output", value=[])),
}  # fmt: skip
_FEW_RESULTS = {
    name: change
    for name, change in _RESULTS.items()
    if name in ("empty", "404", "a page of HTML", "cut in a line", "half of the lines", "garbled", "403", "dropped", "empty objects", "names of another batch")
}  # fmt: skip
_FEW_LINES = {
    name: change
    for name, change in _OPENAI_LINES.items()
    if name in ("the status as text", "the status null", "no body", "no response", "the status 0")
}
_FEW_CREATIONS = {
    name: change
    for name, change in _CREATIONS.items()
    if name in ("500, though made", "empty, though made", "400, though made")
}


def _like_openai(looks: Mapping[str, Change]) -> list[Lie]:
    return [
        *_of("results", _FEW_RESULTS, 1),
        *_of("results", _FEW_LINES, 1),
        *_of("look", looks, 1),
        *_of("create", _FEW_CREATIONS, 1),
    ]


_FOUR = dict(list(_OPENAI_LOOKS.items())[:4])
LIES: Mapping[str, list[Lie]] = {
    "openai": [
        *_of("results", _RESULTS, 1, 3),
        *_of("results", _OPENAI_LINES, 1),
        *_of("look", _LOOKS, 1, 4),
        *_of("look", _OPENAI_LOOKS, 3),
        *_of("create", _CREATIONS, 1),
        *_of("upload", _UPLOADS, 1),
        *_lost_receipt(_OPENAI_LISTS),
    ],
    "azure": _like_openai(_FOUR),
    "groq": _like_openai(_FOUR),
    "mistral": _like_openai(_MISTRAL_LOOKS),
    "together": _like_openai(_TOGETHER_LOOKS),
    "anthropic": [
        *_of("results", _RESULTS, 1, 3),
        *_of("results", _ANTHROPIC_LINES, 1),
        *_of("look", _LOOKS, 1, 4),
        *_of("look", _ANTHROPIC_LOOKS, 3),
        *_of("create", _CREATIONS, 1),
        *_lost_receipt(_ANTHROPIC_LISTS),
    ],
    "gemini": [*_of("look", _GEMINI_LOOKS, 1), *_of("create", _FEW_CREATIONS, 1)],
}


class Liar:
    """Tells one lie as often as it is to be told. told: how often it was."""

    def __init__(self, lie: Lie | None = None) -> None:
        self.lie, self.told = lie, 0

    def changes(self, kind: str) -> bool:
        """True if a reply of this kind may be changed."""
        return self.lie is not None and kind == self.lie.place and self.told < self.lie.times

    def provokes(self, kind: str) -> bool:
        """True if a complaint about this request follows from what was told: results are asked for where a look said that
        they are, or that the batch has ended."""
        return (
            self.told > 0 and self.lie is not None and (self.lie.place, kind) == ("look", "results")
        )

    def loses_receipt(self) -> bool:
        """True if the lie is about a list, which is asked for only where a receipt was lost."""
        return self.lie is not None and self.lie.place == "list"

    def change(self, said: Said) -> Said:
        """The reply with the lie in it; the reply itself where the lie cannot be told of it."""
        assert self.lie is not None
        try:
            changed = self.lie.change(said)
        except (ValueError, KeyError, TypeError, AttributeError):
            return said
        self.told += changed != said
        return changed


def by_name(format_: str, name: str) -> Lie | None:
    """The lie of a format by its name."""
    return next((lie for lie in LIES[format_] if lie.name == name), None)
