"""The page of a protocol in a notebook: its design, its measures, and some of its prompts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ..display.document import Block, Document
from ..stats.results import count_of
from . import Mode, Protocol

PROMPTS = 3  # that are shown
LEVELS = 8  # of a factor that are named


def page(protocol: Protocol) -> Document:
    """Builds the page of a protocol."""
    measures = [("measure", "kind", "what", "headline")]
    measures += [
        (spec.name, spec.kind, spec.text, "yes" if spec.headline else "")
        for spec in protocol.measures
    ]
    prompts = [protocol.prompt_text(cell) for cell in islice(protocol.cells, PROMPTS)]
    return Document(
        f"{protocol.title} ({protocol.name} {protocol.version})",
        [
            Block(lines=[protocol.question, protocol.citation]),
            Block(heading="Design", lines=list(_design(protocol))),
            Block(heading="Prompts, for instance", lines=prompts),
            Block(heading="Limits", lines=protocol.limits),
            Block(heading="Measures", table=measures),
        ],
    )


def _design(protocol: Protocol) -> Iterator[str]:
    yield f"{count_of(len(protocol.cells), 'prompt')} over {protocol.counted_items}"
    for name, levels in protocol.levels.items():
        titles = ", ".join(level or "–" for level in islice(levels, LEVELS))
        yield f"{name}: {titles}{f', … ({len(levels):,} in all)' if len(levels) > LEVELS else ''}"
    yield from map(_mode_line, protocol.modes.values())


def _mode_line(mode: Mode) -> str:
    if mode.logprobs:
        return f"mode {mode.name}: read from probabilities"
    return f"mode {mode.name}: {mode.samples} drawn per prompt"
