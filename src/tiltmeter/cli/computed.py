"""Texts that depend on the installation alone, computed once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..system import cache


def computed_once(options: Sequence[str], compute: Callable[[], str]) -> str:
    """Returns the text for the options, from the cache if possible. Does not cache it if other
    packages contribute to it, since they may change without a change of tiltmeter's files.
    """
    key = cache.key_of(*options)
    text = cache.read_text(key)
    if text is None:
        from .. import registry

        text = compute()
        cache.keep_text("" if registry.has_outside() else key, text)
    return text
