"""Finds the rewrite inside a reply: without the text before it ("Sure! Here is …:") and after it
(notes, offers, tables of changes); of several variants, the first. Rules only.

A reply is cut into blocks at empty lines and rules (`---`). Lists of phrases: reply.toml.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from ...languages import refusals
from ..wording import Texts, texts_of

_BLOCKS = re.compile(r"\n[ \t]*\n\s*|\n[ \t]*(?:-{3,}|\*{3,}|_{3,})[ \t]*(?:\n\s*|$)")
_RULE = re.compile(r"^[ \t]*(?:-{3,}|\*{3,}|_{3,})[ \t]*$", re.MULTILINE)
_MARKS = " \t\n*_#>\"“'‘([-—"
_WORD = re.compile(r"[^\W\d_]{4,}")
_LABEL = re.compile(
    r"^[ \t>*_#|]*\(?(?:(?:option|version|variant|alternative|rewrite|take|rephrasing|attempt)"
    r"[ \t]*#?(?:\d+|[a-e]|one|two|three|four)\b|(?:first|second|third) (?:option|version|"
    r"variant|alternative|take))"
    r"(?:[ \t]*\([^)\n]{0,50}\)|[ \t]*[-–—:][^\n*]{0,50}?(?=[:*]))?[ \t]*[:.)*—–-]*[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBER = re.compile(r"^[ \t>*_#]*\(?(\d)[.):][ \t*_]*", re.MULTILINE)
_BULLET = re.compile(r"^[ \t>]*[•*+-][ \t]+(?=\S)", re.MULTILINE)
_HEADING = re.compile(
    r"^[ \t>]*(?:#{1,6}[ \t]+[^\n]{1,60}|[^\w\n]{0,4}\*\*[^*\n]{2,50}\*\*:?)[ \t]*$", re.MULTILINE
)
_KINDS = {"label": _LABEL, "number": _NUMBER, "heading": _HEADING, "bullet": _BULLET}
_SENTENCE = re.compile(r"(?<=[.!?…])[\"”*)_]*\s+(?=[\"“*(_A-Z])")


class ReplyPart(NamedTuple):
    """The part of a reply that is the rewrite. variants: True if it is the first of several;
    announced: if text before it announces a rewrite; declined: if text before it declines.
    """

    text: str
    variants: bool
    announced: bool
    declined: bool


@cache
def phrases() -> Texts:
    """Returns the lists of phrases in reply.toml."""
    return texts_of(Path(__file__).with_name("reply.toml"))


@cache
def _any(name: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{phrase})" for phrase in phrases().words(name)), re.IGNORECASE)


@lru_cache(maxsize=4096)
def content(text: str) -> frozenset[str]:
    """Returns the first six letters of each longer word, for comparing two texts."""
    return frozenset(word.lower()[:6] for word in _WORD.findall(text))


def shared_words(given: str, text: str) -> float:
    """Computes the share of an input's longer words that a text contains."""
    asked = content(given)
    return len(asked & content(text)) / len(asked) if asked else 1.0


def the_rewrite(given: str, reply: str) -> ReplyPart:
    """Returns the part of a reply that rewrites the input `given`."""
    text = reply.replace("’", "'")
    blocks, announced, declined = [text], "", False
    first = None
    if "\n" in text or _any("announces").match(text.lstrip(_MARKS)):
        blocks = [block for block in _BLOCKS.split(text) if block and block.strip()]
        blocks, announced, declined = _without_opening(given, blocks)
        blocks = _without_notes(given, blocks)
    body = "\n\n".join(blocks)
    if "\n" in text or announced:
        several = bool(announced and _any("several").search(announced))
        first = first_variant(given, body, several)
    rewrite = body if first is None else first
    excused = first is None and (declined or refusals.hesitates(text))
    if excused and (offered := _find_offer(given, rewrite)):
        return ReplyPart(_without_offers(given, offered), False, True, True)
    return ReplyPart(_without_offers(given, rewrite), first is not None, bool(announced), declined)


def _without_opening(given: str, blocks: list[str]) -> tuple[list[str], str, bool]:
    """Drops blocks before the rewrite; returns (blocks, announcement, True if it declines)."""
    opening, declined = "", False
    while len(blocks) > 1 and not opening and not _LABEL.match(blocks[0]):
        block, line = blocks[0], blocks[0].lstrip(_MARKS)
        bare = block.rstrip().rstrip("*_").rstrip()
        if bare.endswith(":") and len(block) < 400:
            declined = declined or refusals.hesitates(line)
            if not _any("announces").match(line) and not declined and not _heading_only(bare):
                break
            opening, blocks = block, blocks[1:]
        elif refusals.hesitates(line) or (
            _any("announces").match(line)
            and len(block.split()) < 40
            and _any("rewriting").search(block)
            and shared_words(given, block) < 0.1
        ):
            declined = declined or refusals.hesitates(line)
            opening, blocks = block if not declined else "", blocks[1:]
            if declined and _any("offers").search(block):
                opening = block
        else:
            break
    if blocks:
        blocks = [*_after_colon(blocks[0]), *blocks[1:]]
    return blocks, opening, declined


def _find_offer(given: str, body: str) -> str:
    """Returns the text that a reply which begins by declining offers after a colon ("here's one:
    …"); "" if this text shares few words with the input, or the text before the colon shares
    many."""
    if shared_words(given, body.partition(":")[0]) >= phrases().number("told"):
        return ""
    for colon in re.finditer(r":\s+", body):
        rest = body[colon.end() :]
        if (
            "for example" not in body[: colon.start()].lower()
            and len(rest.split()) > phrases().number("offered_words")
            and shared_words(given, rest) >= phrases().number("told_after_offer")
        ):
            return rest
    return ""


def _heading_only(line: str) -> bool:
    return line.startswith(("**", "#", "*")) and len(line.split()) < 7


def _after_colon(block: str) -> list[str]:
    """Returns [block], without "Sure! Here is a version:" if the block goes on after the colon."""
    if _LABEL.match(block) or not _any("announces").match(block.lstrip(_MARKS)):
        return [block]
    for end in (":\n", ": "):
        head, colon, rest = block.partition(end)
        if colon and len(head.split()) < 25 and rest.strip() and _any("rewriting").search(head):
            return [rest.strip()]
    return [block]


def _without_notes(given: str, blocks: list[str]) -> list[str]:
    """Keeps the blocks before the first note on the rewrite, and at least a quarter of the text."""
    if len(blocks) < 2:
        return blocks
    total = sum(map(len, blocks))
    lines_seen = 0
    for number, block in enumerate(blocks):
        line = block.lstrip(_MARKS + "`<sub>")
        early = lines_seen * 4 < total or not number or _LABEL.match(block) is not None
        if not early and (
            _any("heads").match(line) or _speaks_of_rewrite(given, _unoffered(given, block))
        ):
            return blocks[:number]
        if not early and number == len(blocks) - 1 and _closing(given, line):
            return blocks[:number]
        lines_seen += len(block)
    return blocks


def _speaks_of_rewrite(given: str, block: str) -> bool:
    """True if a block comments on the rewriting, in words that the input does not have."""
    source = given.replace("’", "'").lower()
    hits = sum(match[0].lower() not in source for match in _any("about").finditer(block))
    return hits > 1 or (hits == 1 and len(block.split()) < 80)


def _without_offers(given: str, text: str) -> str:
    """Removes remarks in brackets, and last lines or sentences that offer further help."""
    text = _any("remarks").sub(" ", text)
    lines = _RULE.sub("", text).strip(" \n").split("\n")
    while len(lines) > 1 and (
        not lines[-1].strip()
        or _closing(given, lines[-1])
        or _any("heads").match(lines[-1].lstrip(_MARKS))
    ):
        lines.pop()
    lines[-1] = _unoffered(given, lines[-1])
    return "\n".join(lines).strip(" \t\n")


def _unoffered(given: str, block: str) -> str:
    """Removes sentences at the end of a block that offer further help."""
    parts = _SENTENCE.split(block)
    number = len(parts)
    while number > 1 and _closing(given, parts[number - 1]):
        number -= 1
    if number == len(parts):
        return block
    return block[: block.rfind(parts[number - 1]) + len(parts[number - 1])]


def _closing(given: str, line: str) -> bool:
    line = line.lstrip(_MARKS)
    return _any("closes").match(line) is not None and line[:20] not in given.replace("’", "'")


def first_variant(given: str, text: str, several: bool = False) -> str | None:
    """Returns the first of several variants; None if the text is not a list of variants."""
    for kind, heads in _heads(text):
        parts = _cut(text, heads)
        before = text[: heads[0][0]].split()
        if kind == "label" or (len(before) < 12 and (several or _same_story(given, kind, parts))):
            return _without_label(parts[0]) or None
    other = _any("or_else").search(text)
    if other and other.start() > 20:
        return text[: other.start()].strip()
    return None


def _heads(text: str) -> list[tuple[str, list[tuple[int, int]]]]:
    """Lists the ways to cut a text into variants as (kind of heading, the headings' offsets)."""
    headings = {
        kind: [match.span() for match in pattern.finditer(text)] for kind, pattern in _KINDS.items()
    }
    number = _NUMBER.search(text)
    if number and number[1] != "1":
        headings["number"] = []
    return [(kind, heads) for kind, heads in headings.items() if len(heads) > 1]


def _cut(text: str, heads: Sequence[tuple[int, int]]) -> list[str]:
    """Returns the text below each heading, which may be empty."""
    ends = [begin for begin, _ in heads[1:]] + [len(text)]
    return [
        _RULE.sub("", text[end:until]).strip() for (_, end), until in zip(heads, ends, strict=True)
    ]


def _without_label(part: str) -> str:
    """Removes a leading style label ("**Excited:** …") from a variant."""
    match = re.match(r"\*\*[^*\n]{2,40}\*\*[ \t:.]*\n?|\*\*[^*\n]{2,40}:\*\*", part)
    return part[match.end() :].strip() if match else part.strip()


def _same_story(given: str, kind: str, parts: Sequence[str]) -> bool:
    """True if parts are versions of one text: any two parts, and the first part and all others,
    share many more words of the input than different parts of one text do.
    """
    if not (3 if kind == "heading" else 2) <= len(parts) <= 6:
        return False
    asked = content(given)
    first_words, second_words = (set(part.lower().split()) for part in parts[:2])
    alike = len(first_words & second_words) / max(1, len(first_words | second_words))
    if alike >= phrases().number("alike"):
        return True
    sets = [content(part) & asked for part in parts]
    if len(sets[0]) < 3:
        return False
    pairs = [_overlap(one, two) for one, two in combinations(sets, 2)]
    least = phrases().section("same_story").number(kind)
    first = _overlap(sets[0], frozenset().union(*sets[1:]))
    return first >= least and sum(pairs) / len(pairs) >= least


def _overlap(one: frozenset[str], two: frozenset[str]) -> float:
    return len(one & two) / max(1, min(len(one), len(two)))


def refuses(given: str, reply: str, part: ReplyPart) -> bool:
    """True if a reply declines and shares few words with the input, or mentions the task and shares
    even fewer words; a rewrite shares many.
    """
    shared = shared_words(given, part.text) if part.text else 0.0
    if part.declined or refusals.hesitates(reply):
        least = "told_after_offer" if part.announced else "told"
        return shared < phrases().number(least)
    spoken = part.text if part.announced else reply  # who announces a text speaks of the task
    return shared < phrases().number("told_of_task") and _any("task").search(spoken) is not None
