"""Removal of the environment's keys from rows before they are stored: no run may hold a key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..records import Label, Output, Reply, Request
from ..secret_filter import without

Call = tuple[Request, Reply]
Rows = tuple[Sequence[Call], Sequence[Output], Sequence[Label]]


def clean_rows(
    secrets: Sequence[str],
    calls: Sequence[Call],
    outputs: Sequence[Output],
    labels: Sequence[Label],
) -> Rows:
    """Cuts keys out of rows. Searches all texts at once first, as they rarely hold a key."""
    texts = [part for _, reply in calls for part in (*_parts(reply), _tokens(reply))]
    texts += [output.text for output in outputs]
    texts += {label.value for label in labels}
    text = "\n".join(texts)
    if without(secrets, text) == text:
        return calls, outputs, labels
    return (
        [(request, clean_reply(secrets, reply)) for request, reply in calls],
        [row._replace(text=without(secrets, row.text)) for row in outputs],
        [row._replace(value=without(secrets, row.value)) for row in labels],
    )


def clean_reply(secrets: Sequence[str], reply: Reply) -> Reply:
    """Cuts keys out of a reply; drops tokens and body if the tokens hold a key or spell one."""
    parts, tokens = _parts(reply), _tokens(reply)
    if not any(without(secrets, each) != each for each in (*parts, tokens)):
        return reply
    text, raw, revised, served, fingerprint, remote = (without(secrets, part) for part in parts)
    cleaned = replace(
        reply,
        text=text,
        raw=raw,
        revised=revised,
        served=served,
        fingerprint=fingerprint,
        remote=remote,
    )
    if without(secrets, tokens) == tokens:
        return cleaned
    return replace(cleaned, alternatives=(), raw="")


def _parts(reply: Reply) -> tuple[str, ...]:
    body, about = (reply.text, reply.raw, reply.revised), (reply.served, reply.fingerprint)
    return (*body, *about, reply.remote)


def _tokens(reply: Reply) -> str:
    """Joins the reply's tokens, which may spell a key together, and appends all alternatives."""
    if not reply.alternatives:
        return ""
    offered = [
        token.bytes.decode("utf-8", "replace") for place in reply.alternatives for token in place
    ]
    first = [place[0].bytes.decode("utf-8", "replace") for place in reply.alternatives if place]
    return "\n".join(("".join(first), *offered))
