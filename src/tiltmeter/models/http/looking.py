"""Asks an endpoint about itself; a server that does not answer is used nevertheless."""

from __future__ import annotations

from collections.abc import Mapping

from ...records import Json
from .body import parse
from .connection import Connection

PATIENCE_S = 5.0  # for one question
MOST_BYTES = 4 * 2**20  # of an answer; a template has some ten thousand


async def look_up(
    connection: Connection,
    url: str,
    headers: Mapping[str, str],
    body: Mapping[str, Json] | None = None,
) -> Json:
    """Gets, or posts `body`, and returns the JSON; None after an error or for a foreign host."""
    import aiohttp

    if not connection.own(url):
        return None
    try:
        async with connection.session.request(
            "GET" if body is None else "POST",
            url,
            json=body,
            headers=headers,
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=PATIENCE_S),
        ) as response:
            if response.status != 200:
                return None
            content = connection.without_key(await response.content.read(MOST_BYTES))
    except (TimeoutError, aiohttp.ClientError, OSError, UnicodeError, ValueError):
        return None
    return parse(content).body
