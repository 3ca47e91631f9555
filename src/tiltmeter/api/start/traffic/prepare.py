"""Prepares the folder of an audit from a file of prompts: decisions, pairs, and a protocol."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ....cues import ATTRIBUTES
from ....errors import UnknownName, UsageError
from ....row_files.logs import Logged, read_log
from . import decisions as deciding
from . import pairs_page, protocol_text, redaction
from .decisions import PromptDecision
from .then_and_now import answers_then
from .units import near_copies
from .wishes import Wishes

CUES, PAIRS, PROMPTS, PROTOCOL = "cues.csv", "pairs.html", "prompts.csv", "audit.toml"


@dataclass(frozen=True, slots=True)
class Prepared:
    """An audit that is ready to run. shape: format of the log; lines: a summary for people; then:
    {hash of a prompt: its answer in the log}.
    """

    protocol: Path
    decisions: tuple[PromptDecision, ...]
    shape: str
    lines: tuple[str, ...]
    then: Mapping[str, str] = field(default_factory=dict)

    @property
    def asked(self) -> list[PromptDecision]:
        """Lists the decisions with prompts to ask."""
        return [decision for decision in self.decisions if decision.asked]


def prepare(
    file: Path, folder: Path, wishes: Wishes, tell: Callable[[str], None] = lambda line: None
) -> Prepared:
    """Reads prompts, decides which cues to swap, and writes the audit into a folder.

    tell: gets a line before the pairing, which may take seconds. An existing table of decisions in
    the folder has priority. Raises UsageError, without any text of a prompt, if nothing can be
    asked.
    """
    for swap in wishes.swaps:
        if swap not in ATTRIBUTES:
            raise UnknownName("cue", swap, ATTRIBUTES)
    log = read_log(file, wishes.prompt, wishes.spans)
    rows = list(map(redaction.redacted, log.rows)) if wishes.redact else list(log.rows)
    rows = _distinct(rows, wishes.unit)
    tell(f"Pairing {len(rows):,} prompts of {file.name} …")
    items = _items(rows, wishes.unit)
    decisions = deciding.decide(
        rows, items, wishes.swaps, insert=wishes.insert or "", seed=wishes.pair_seed
    )
    chosen = deciding.without_rare_groups(list(decisions))
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    cues = folder / CUES
    if cues.exists():
        chosen = deciding.changed(cues, chosen)
    else:
        deciding.write(cues, chosen)
    number = len(rows)
    head = f"{len(log.rows):,} prompts ({log.shape}), {len(set(items)):,} items"
    if number < len(log.rows):
        head += f"; {len(log.rows) - number:,} the same as another"
    if log.left_out:
        head += f"; {log.left_out:,} records without a question left out"
    if log.cut:
        head += "; the last line is cut off and left out"
    redactable = redaction.paired_if_redacted(rows, chosen, wishes.pair_seed)
    lines = (head, *deciding.summary(chosen, wishes.swaps, redactable))
    pairs_page.write_page(folder / PAIRS, chosen, lines)
    old_answers = answers_then(rows)
    prepared = Prepared(folder / PROTOCOL, tuple(chosen), log.shape, lines, old_answers)
    _write_protocol(folder, prepared, wishes)
    return prepared


def _distinct(rows: Sequence[Logged], unit: str) -> list[Logged]:
    """Keeps the first of equal conversations: of all, or of a user or session if it is the unit."""
    first: dict[tuple[object, ...], Logged] = {}
    for row in rows:
        whose = () if unit == "prompt" else (row.user, row.session)
        first.setdefault((row.turns, *whose), row)
    return list(first.values())


def _items(rows: Sequence[Logged], unit: str) -> list[str]:
    """Returns each prompt's item. Raises UsageError if the log lacks the unit (user or session)."""
    if unit == "prompt":
        texts = [deciding.asked_by_user(row) for row in rows]
        return [f"p{index + 1:05d}" for index in near_copies(texts)]
    names = [row.user if unit == "user" else row.session for row in rows]
    if not all(names):
        raise UsageError(
            f"{sum(not name for name in names):,} of {len(names):,} records do not name their "
            f"{unit}. Add a column {unit}_id, or leave --unit out."
        )
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names), 1)}
    return [f"{unit[0]}{numbers[name]:05d}" for name in names]


def _write_protocol(folder: Path, prepared: Prepared, wishes: Wishes) -> None:
    table = protocol_text.rows(prepared.decisions)
    if not table:
        raise UsageError(
            f"No prompt can be asked in two versions. See why: {folder / PAIRS}\n"
            "Prompts without a cue can be asked with a name: --insert signature"
        )
    path = folder / PROMPTS
    path.touch(mode=0o600)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    prepared.protocol.write_text(
        protocol_text.text(wishes, table, PROMPTS), encoding="utf-8", newline="\n"
    )
