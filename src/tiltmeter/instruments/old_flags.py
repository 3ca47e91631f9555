"""Support, for one version, for third-party classes that declare themselves by flags (`judges`,
`panel`, `each_judge`, `material`), as was usual before version 0.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from ..records import Output, Trial
from . import Discoveries, Instrument, Judge, Learner, Panel, Team


class _Learning(Protocol):
    """The methods of a class that has the flag `material`."""

    lessons: Callable[[Iterable[tuple[Trial, Output]]], Discoveries]
    learnt: Callable[[str], None]
    material_text: Callable[[], str]


def with_bases(cls: type[Instrument]) -> type[Instrument]:
    """Makes a subclass of a class, with the base classes that replace the class's flags."""
    parts: tuple[str, ...] = getattr(cls, "judges", ())
    artefact_kind: str = getattr(cls, "material", "")
    subclass = _with_judges(cls, parts) if parts else cls
    return _with_lessons(subclass, artefact_kind) if artefact_kind else subclass


def _with_judges(cls: type[Instrument], names: tuple[str, ...]) -> type[Instrument]:
    base: type[Instrument] = Panel if getattr(cls, "panel", False) else Team
    if getattr(cls, "each_judge", False):
        base = Judge
    return type(cls.__name__, (cls, base), {"parts": names})


def _with_lessons(cls: type[Instrument], kind: str) -> type[Instrument]:
    def discover(self: _Learning, outputs: Iterable[tuple[Trial, Output]]) -> Discoveries:
        return self.lessons(outputs)

    def take_over(self: _Learning, text: str) -> None:
        self.learnt(text)

    def artefact_text(self: _Learning) -> str:
        return self.material_text()

    settings = {"artefact": kind, "discover": discover, "take_over": take_over}
    return type(cls.__name__, (cls, Learner), {**settings, "artefact_text": artefact_text})
