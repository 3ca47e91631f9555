"""The decision about each prompt and attribute, in a table that the user can change."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from ....cues import Pairing, pair
from ....cues.matched import Picker
from ....cues.records import LANGUAGE, MIRRORED, NO_CUE, PAIRED, SET_ASIDE
from ....errors import MissingExtra, UsageError
from ....languages.identify import foreign
from ....records import digest
from ....row_files import read_rows
from ....row_files.logs import USER, Logged

SIGNATURE, MEMORY = "signature", "memory"
INSERTED = "inserted"  # the decision about a prompt without a cue that is given a name
MIRRORED_QUESTION = " (both groups)"
LEFT_OUT = "left out"  # by the user
DECISIONS = (PAIRED, MIRRORED, INSERTED, SET_ASIDE, NO_CUE, LEFT_OUT)
COLUMNS = (
    "prompt",
    "line",
    "item",
    "swap",
    "decision",
    "reason",
    "first",
    "first_text",
    "second",
    "second_text",
)
BETWEEN = "\n\x1d\n"  # turns of a conversation, which is swapped whole
_FEWEST_WORDS = 3  # of a turn whose language is identified
FEWEST_OF_A_GROUP = 9  # prompts below which an interval says little of others like them
_NAMES_OF_RACE = (
    "names: those read mostly as Black are exchanged for those read mostly as white; "
    "names of other groups are not recognised"
)
_SIDES = {"gender": ("woman", "man"), "race": ("Black", "white")}


@dataclass(frozen=True, slots=True)
class PromptDecision:
    """The decision about one prompt and one attribute.

    prompt: a hash of the conversation; line: number in the file; item: the unit of the prompt;
    swap: the attribute; groups, texts: of both versions, with turns joined by `BETWEEN`; span: the
    record's id if several share a line, else "".
    """

    prompt: str
    line: int
    item: str
    swap: str
    decision: str
    reason: str = ""
    groups: tuple[str, str] = ("", "")
    texts: tuple[str, str] = ("", "")
    span: str = ""

    @property
    def place(self) -> str:
        """The prompt's place in the file: its line, and its span if a line has several."""
        return f"{self.line}, span {self.span}" if self.span else str(self.line)

    @property
    def asked(self) -> bool:
        """True if the prompt has two versions, both of which are asked."""
        return self.decision in (PAIRED, MIRRORED, INSERTED)

    @property
    def question(self) -> str:
        """The question to which the prompt belongs: a swap, mirrored swap or inserted name."""
        suffixes = {MIRRORED: MIRRORED_QUESTION, INSERTED: " (name inserted)"}
        return self.swap + suffixes.get(self.decision, "")


def joined(row: Logged) -> str:
    """Returns a conversation as one text, beginning with the system prompt, which may be ""."""
    return BETWEEN.join((row.system, *(one.text for one in row.spoken)))


def asked_by_user(row: Logged) -> str:
    """Returns the user's own turns as one text: no system prompt, answer or result of a tool."""
    return "\n".join(turn.text for turn in row.turns if turn.role == USER)


def decide(
    rows: Sequence[Logged],
    items: Sequence[str],
    swaps: Sequence[str],
    *,
    insert: str = "",
    seed: int = 0,
) -> Iterator[PromptDecision]:
    """Yields a decision per prompt and attribute."""
    for row, item in zip(rows, items, strict=True):
        text = joined(row)
        language = _language(row)
        for swap in swaps:
            paired = pair(text, swap, language=language, seed=seed)
            yield _decision(row, item, paired, text, insert, seed)


def without_rare_groups(made: Sequence[PromptDecision]) -> list[PromptDecision]:
    """Sets aside prompts with a rare pair of groups; per question, keeps the commonest pair."""
    numbers = Counter((one.question, pair_of(one)) for one in made if one.decision == PAIRED)
    largest: dict[str, tuple[str, ...]] = {}
    for (question, groups), _ in numbers.most_common():
        largest.setdefault(question, groups)
    frequent = []
    for one in made:
        groups = pair_of(one)
        if (
            one.decision == PAIRED
            and groups != largest[one.question]
            and numbers[one.question, groups] < FEWEST_OF_A_GROUP
        ):
            reason = f"too few prompts of a group: {' and '.join(groups)}"
            one = replace(one, decision=SET_ASIDE, reason=reason)
        frequent.append(one)
    return frequent


def pair_of(one: PromptDecision) -> tuple[str, ...]:
    """Returns both groups of a pair, sorted."""
    return tuple(sorted(one.groups))


def _language(row: Logged) -> str:
    """Returns "not English" if any turn of the user is; the system prompt may be in English."""
    turns = (turn.text for turn in row.turns if turn.role == USER)
    try:
        is_foreign = any(
            len(text.split()) >= _FEWEST_WORDS and foreign(text, "en")
            for text in (asked_by_user(row), *turns)
        )
    except MissingExtra:
        return "en"
    return "not English" if is_foreign else "en"


def _decision(
    row: Logged, item: str, found: Pairing, text: str, insert: str, seed: int
) -> PromptDecision:
    decision = PromptDecision(
        digest(text)[:12],
        row.line,
        item,
        found.attribute,
        found.status,
        found.reason,
        found.groups,
        found.texts,
        row.span,
    )
    if found.status == NO_CUE and insert and found.attribute in _SIDES:
        return _inserted(decision, text, insert, seed)
    return decision


def _inserted(made: PromptDecision, text: str, insert: str, seed: int) -> PromptDecision:
    """Inserts a matched name into a prompt without a cue: as signature, or in the system prompt."""
    side = ("women", "men")[int(made.prompt, 16) % 2]  # of names that cue race
    names = Picker(text, seed).pick(made.swap, INSERTED).names
    keys = (
        (("younger", "women"), ("younger", "men"))
        if made.swap == "gender"
        else (("Black", side), ("White", side))
    )
    if insert == SIGNATURE:
        texts = tuple(f"{text.rstrip()}\n\nThanks,\n{names[key]}" for key in keys)
    else:
        system, _, rest = text.partition(BETWEEN)
        texts = tuple(
            f"{system}\n\nThe user's name is {names[key]}.".strip() + BETWEEN + rest for key in keys
        )
    return replace(made, decision=INSERTED, groups=_SIDES[made.swap], texts=(texts[0], texts[1]))


def write(path: Path, decisions: Sequence[PromptDecision]) -> None:
    """Writes the table of decisions, readable only by its owner."""
    path.touch(mode=0o600)
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for decision in decisions:
            versions = zip(decision.groups, map(_cell, decision.texts), strict=True)
            first = (
                decision.prompt,
                decision.place,
                decision.item,
                decision.swap,
                decision.decision,
                decision.reason,
            )
            table.writerow((*first, *chain.from_iterable(versions)))


def _cell(text: str) -> str:
    """Writes a conversation for a cell: ⁂ between turns; a system prompt comes first, after ⁂⁂."""
    system, _, spoken = text.partition(BETWEEN)
    return (f"⁂⁂ {system}\n⁂\n" if system else "") + spoken.replace(BETWEEN, "\n⁂\n")


def _parse_cell(cell: str) -> str:
    turns = cell.replace("\r\n", "\n").split("\n⁂\n")
    system = turns.pop(0).removeprefix("⁂⁂ ") if turns[0].startswith("⁂⁂ ") else ""
    return BETWEEN.join((system, *turns))


def changed(path: Path, decisions: Sequence[PromptDecision]) -> list[PromptDecision]:
    """Applies a table of decisions that the user changed. Raises UsageError for an invalid row."""
    edits: dict[tuple[str, str], tuple[int, Mapping[str, str]]] = {}
    for line, row in read_rows(path, needs=COLUMNS):
        edits[row["prompt"], row["swap"]] = line, row
    result = []
    for decision in decisions:
        edit = edits.get((decision.prompt, decision.swap))
        result.append(decision if edit is None else _changed(path.name, *edit, decision))
    return result


def _changed(name: str, line: int, row: Mapping[str, str], one: PromptDecision) -> PromptDecision:
    decision = row["decision"].strip()
    if decision not in DECISIONS:
        raise UsageError(f"{name}, line {line}: decision must be one of {', '.join(DECISIONS)}.")
    texts = tuple(_parse_cell(row[side]) for side in ("first_text", "second_text"))
    edited = replace(
        one,
        decision=decision,
        item=row["item"].strip() or one.item,
        reason=row["reason"],
        groups=(row["first"].strip(), row["second"].strip()),
        texts=(texts[0], texts[1]),
    )
    if not edited.asked:
        return edited
    if not all((*edited.groups, *(text.replace(BETWEEN, "").strip() for text in texts))):
        raise UsageError(
            f"{name}, line {line}: fill in the columns first, first_text, second and second_text, "
            "which a prompt that is asked needs."
        )
    if len({text.count(BETWEEN) for text in edited.texts}) > 1:
        raise UsageError(f"{name}, line {line}: both texts need the same number of turns (⁂).")
    return edited


def summary(
    decisions: Sequence[PromptDecision], swaps: Sequence[str], redactable: Mapping[str, int]
) -> list[str]:
    """Returns lines with the numbers of prompts by decision, and the reasons of those set aside.

    redactable: {swap: number of prompts set aside that --redact would pair}.
    """
    lines = []
    for swap in swaps:
        of_swap = [decision for decision in decisions if decision.swap == swap]
        counts = Counter(one.decision for one in of_swap)
        reasons = Counter(
            one.reason.partition(":")[0] for one in of_swap if one.decision == SET_ASIDE
        )
        foreign_prompts = reasons.pop(LANGUAGE, 0)
        cued = len(of_swap) - counts[NO_CUE] - counts[INSERTED] - foreign_prompts
        parts = [
            f"{counts[word]:,} {word}" for word in (PAIRED, MIRRORED, LEFT_OUT) if counts[word]
        ]
        if aside := counts[SET_ASIDE] - foreign_prompts:
            listing = ", ".join(f"{number} {reason}" for reason, number in reasons.most_common(4))
            parts.append(f"{aside:,} set aside ({listing})")
        verb = "have a cue that is recognised" if swap == "race" else "name or imply it"
        lines.append(f"{swap}: {cued:,} of {len(of_swap):,} prompts {verb}")
        lines += [f"  {' · '.join(parts)}"] if parts else []
        lines += _explanations(swap, counts, foreign_prompts, redactable.get(swap, 0))
    return lines


def _explanations(
    swap: str, counts: Mapping[str, int], foreign_prompts: int, redactable: int
) -> Iterator[str]:
    """Yields the lines below the numbers of one swap. counts: prompts by decision."""
    if swap == "race":
        yield f"  {_NAMES_OF_RACE}"
    if redactable:
        yield f"  {redactable:,} of those set aside would be paired with --redact"
    if foreign_prompts:
        yield f"  {foreign_prompts:,} in another language: set aside"
    if counts[MIRRORED]:
        yield "  mirrored: people of both groups, exchanged; without a direction"
    if counts[INSERTED]:
        yield f"  {counts[INSERTED]:,} without a cue: asked with a name inserted"
    elif counts[NO_CUE]:
        hint = " (--insert signature asks them with a name)" if swap in _SIDES else ""
        yield f"  {counts[NO_CUE]:,} without a cue: not asked{hint}"
