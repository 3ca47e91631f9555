"""A cache for texts that depend only on the installation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..system import cache


def computed_once(options: Sequence[str], compute: Callable[[], str]) -> str:
    """Returns the text for these options, from the cache if possible. Texts to which other packages
    contribute are not cached: they may change without a change of tiltmeter's files.
    """
    key = cache.key_of(*options)
    text = cache.read_text(key)
    if text is None:
        from .. import registry

        text = compute()
        cache.keep_text("" if registry.has_outside() else key, text)
    return text
