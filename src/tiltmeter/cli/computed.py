"""A text that depends on nothing but what is installed, worked out once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..system import cache


def computed_once(options: Sequence[str], compute: Callable[[], str]) -> str:
    """The text for the options, computed where it is not known. It is kept unless other packages
    add to it: what they say may change with no file of ours.
    """
    key = cache.key_of(*options)
    text = cache.read_text(key)
    if text is None:
        from .. import registry

        text = compute()
        cache.keep_text("" if registry.has_outside() else key, text)
    return text
