"""Storage of a received picture as a file of the run."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from ... import images
from ...records import ERROR, Reply
from ...store import Store


async def store_picture(store: Store, reply: Reply) -> Reply:
    """Stores a reply's picture. An unusable picture is kept too, with the outcome `error`."""
    try:
        picture = await asyncio.to_thread(images.check_picture, reply.picture)
        name = await asyncio.to_thread(store.put_blob, reply.picture, picture.suffix)
    except images.Unusable as problem:
        blob = store.put_blob(reply.picture, ".bin") if reply.picture else ""
        return replace(
            reply,
            outcome=ERROR,
            text=f"the picture {blob or 'that came'} {problem}",
            picture=b"",
            blob=blob,
        )
    store.describe_picture(name, picture, len(reply.picture))
    return replace(reply, picture=b"", blob=name)
