"""Imports published outputs in rows as trials, outputs and labels, without an importer function.

`[[outputs]]` in sources.toml says how to find the parts of an output; slots are columns of the row:

    [[outputs]]
    text = "{chatgpt_gen}"                        # the answer
    subject = "ChatGPT"                           # the model that gave it
    match = { person = "{first_name} {age}" }     # finds the prompt by these columns of the design
    values.gender = { f = "female", m = "male" }  # levels that the design calls otherwise
    files = "out/{model}.csv"                     # the files of these rows; its slots are columns
    skip_unmatched = true                         # rows that the design does not have are left out

Without `match` a prompt is found by its item and factors, each in the column of its name. Each row
is read by the protocol's rules, as an answer to its prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ... import registry
from ...errors import ProtocolError, UsageError
from ...instruments import Instrument
from ...protocol import Protocol
from ...protocol.source.copies import Copy
from ...records import ANSWER, Answered, Label, Output, Reply, Sampling, Trial, content_id
from ...row_files import Row, rows_of_content

Imported = tuple[Trial, Output, Sequence[Label]]
Key = tuple[str, ...]
_KEYS = ("text", "subject", "match", "values", "files", "skip_unmatched")
_SLOT = re.compile(r"\{([\w-]+)\}")


@dataclass(frozen=True, slots=True)
class RowLayout:
    """The layout of a row: the columns of an output's parts, from `[[outputs]]` of sources.toml."""

    text: str
    subject: str
    match: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    files: str = ""
    skip_unmatched: bool = False

    @classmethod
    def of(cls, keys: Mapping[str, Any]) -> RowLayout:
        """Reads the keys of the table. Raises ProtocolError if one is unknown or missing."""
        unknown = sorted(set(keys) - set(_KEYS))
        missing = [key for key in _KEYS[:2] if key not in keys]
        if unknown or missing:
            fault = f"does not take {', '.join(unknown)}" if unknown else f"lacks {missing[0]}"
            raise ProtocolError(f"sources.toml: [[outputs]] {fault}. It has: {', '.join(_KEYS)}")
        return cls(**keys)

    def columns_of(self, file: str) -> Row | None:
        """Returns the columns given by a file's path; None if `files` does not match the path."""
        if not self.files:
            return {}
        parts = _SLOT.split(self.files)
        pattern = "".join(
            f"(?P<{part}>[^/]+)" if index % 2 else re.escape(part)
            for index, part in enumerate(parts)
        )
        match = re.fullmatch(pattern, file)
        return match.groupdict() if match else None

    def key(self, columns: Mapping[str, str], row: Row, place: str) -> Key:
        """Returns the values by which a row's prompt is found."""
        values = ((name, _fill(text, row, place)) for name, text in columns.items())
        return tuple(self.values.get(name, {}).get(value, value) for name, value in values)


def read_rows(protocol: Protocol, layout: RowLayout, copy: Copy) -> Iterator[Imported]:
    """Yields an output per row of a copy's files, labelled by the protocol's rules."""
    names = (protocol.item, *protocol.factors)
    columns = layout.match or {name: f"{{{name}}}" for name in names}
    cells = {tuple(cell[name] for name in columns): cell for cell in protocol.cells}
    readers = _readers(protocol)
    for file, content in copy.contents.items():
        of_file = layout.columns_of(file)
        for line, row in rows_of_content(content) if of_file is not None else ():
            location = f"{file}, line {line}"
            row = {**row, **(of_file or {})}
            key = layout.key(columns, row, location)
            if key not in cells and layout.skip_unmatched:
                continue
            if key not in cells:
                wanted_names = ", ".join(
                    f"{name} = {value}" for name, value in zip(columns, key, strict=True)
                )
                raise UsageError(
                    f"{location}: the design has no prompt with {wanted_names}. Add to `values` of "
                    "[[outputs]] the name that the design has for this value."
                )
            subject = _fill(layout.subject, row, location)
            trial = Trial(
                content_id(protocol.name, file, str(line), subject),
                subject,
                protocol.default_mode,
                {name: cells[key][name] for name in names},
                0,
                protocol.prompt_text(cells[key]),
                "",
                Sampling(None, None, 0),
            )
            output = Output(trial.id, ANSWER, _fill(layout.text, row, location), "")
            item = Answered(trial, output, Reply(output.text), cell=cells[key])
            yield trial, output, [label for reader in readers for label in _labels(reader, item)]


def _readers(protocol: Protocol) -> list[Instrument]:
    """Makes the instruments of the protocol that label by rules."""
    kinds = ((spec, registry.instrument_kind(spec.kind)) for spec in protocol.instruments)
    instruments = (kind.make(spec) for spec, kind in kinds if kind.asks == "nobody")
    return [reader for reader in instruments if isinstance(reader, Instrument)]


def _labels(reader: Instrument, item: Answered) -> Sequence[Label]:
    steps = reader.steps(item)
    try:
        next(steps)
    except StopIteration as end:
        labels: Sequence[Label] = end.value
        return labels
    raise ProtocolError(f"instrument {reader.name} asks a model, which an import cannot do.")


def _fill(template: str, row: Row, place: str) -> str:
    def value(slot: re.Match[str]) -> str:
        if slot[1] not in row:
            raise UsageError(f"{place}: there is no column {slot[1]}. There are: {', '.join(row)}.")
        return row[slot[1]]

    return _SLOT.sub(value, template)
