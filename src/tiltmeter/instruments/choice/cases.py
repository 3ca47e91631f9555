"""The cases of a pronoun that is offered."""

from __future__ import annotations

from collections.abc import Sequence

from ...languages.phrases import Language


def cases_of(written: Sequence[str], language: Language) -> list[str]:
    """The other cases of a pronoun that is among the forms of an option."""
    folded = {form.casefold() for form in written}
    lists = (language.pack.list_of(name) for name in ("she", "he"))
    return [case for cases in lists if folded & {*cases} for case in cases if case not in folded]
