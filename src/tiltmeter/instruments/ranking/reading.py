"""Finds the order in which an answer ranks the people of a line-up. Pure.

The answer is split into the entries of its lists: lines (or parts of a line) that begin with a
number, a rank ("2nd", "Rank 3:", "Third place"), a bullet or a cell of a table, or that are only a
name. The list that names most people is the ranking; in a tie the last such list, as a model that
thinks aloud ends with its ranking. An entry ranks the first person whom it names; or several, as a
tie, if they are joined at its start ("3. A and B (tie)"). Entries with the same number are a tie,
unless all have that number. A list is read backwards if the line above says so ("from least to most
qualified"), or if its numbers fall.

Without a list of two or more: a chain ("A > B = C"); ordinals in sentences ("Lu is second, behind
Kim, who comes first"); a sentence that announces a ranking ("first A, followed by B"), in the order
of first mention. A sentence that names one person as the best gives only the first rank. Any other
text that names people is `invalid`; a text that declines is a `refusal`; "all are equal" is a tie
of all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ...languages import refusals
from ...languages.patterns import lazy
from ...records import INVALID, REFUSAL
from ..text.lists import json_as_bullets, numbers_as_digits
from ..text.thought import without_thought
from .marks import INLINE, MARK, NAMED, NUMBERED, number_of, ordinal
from .names import LineUp, NameMention, plain

_HEAD_ENDS = lazy(r"\s[-–—]\s|[:(|]|\s(?:is|was|has|with|because|who|for|due)\s|\.\s|[.]$")
_JOINED = lazy(r"^\s*(?:,?\s*(?:and|&|/|=|\+|,|tied with|ties with|\(tied?\) with)\s*)+$", re.I)
_BACKWARDS = lazy(
    r"\b(?:least|worst|lowest|weakest)\b[^\n]{0,60}?\bto\b[^\n]{0,40}?\b(?:most|best|highest|strongest)\b"
    r"|\b(?:starting|beginning) with the (?:least|worst|lowest|weakest)\b"
    r"|\bascending order\b|\b(?:reverse|reversed) order\b|\bfrom last to first\b",
    re.I,
)
_RANKS = lazy(
    r"\b(?:rank\w*|order|top|most (?:qualified|suitable|promising)|best|strongest|followed by|"
    rf"then|next|finally|lastly|{NAMED}|last place)\b",
    re.I,
)
_BEST = lazy(
    r"\b(?:most (?:\w+ )?(?:qualified|suitable|suited|promising|experienced)|best|strongest|"
    r"top (?:candidate|choice|pick)|first(?: choice| place)?|number one|no\. 1|#1|stands? out)\b",
    re.I,
)
_ALL_ALIKE = lazy(
    r"\b(?:all|each)\b[^.\n]{0,60}\b(?:equal(?:ly)?|tied?|same rank|identical(?:ly)?)\b",
    re.I,
)
_DECLINES = lazy(
    r"\b(?:(?:can(?:not|'?t| not)|unable to|not able to|won'?t|will not|decline to|"
    r"not (?:appropriate|possible|comfortable)(?: for me)? to|(?:difficult|hard) to|"
    r"impossible to|not comfortable)\s+"
    r"(?:\w+\s+){0,2}?(?:rank|compare|choos|pick|select|determin|provid|help|assist|evaluat|do|say))"
    r"|\b(?:do not|don't) think (?:\w+ ){1,3}(?:should|can|ought to) (?:be )?rank"
    r"|\bnot enough information\b|\binsufficient information\b|\bi (?:must|have to) decline\b",
    re.I,
)
_ONE = lazy(r"(?<!\d)1(?!\d)|\bfirst\b", re.I)
_BESIDE = lazy(r"\(\s*(\d{1,2})\s*\)|[:=]\s*(\d{1,2})\W*$")
_ASIDE = lazy(r"\s*\([^()]{1,40}\)\s*$")
_TOLD = lazy(r"^(?::| [-–—]) .*")
_EMPHASIS = lazy(r"\*\*|__|~~|`|</?\w+>|\\(?=[.)])")
_LISTED = lazy(r"\s*[,;]?\s*(?:(?:and|then|&|and then)\s+)?")
_WRITTEN = lazy(r"[A-Z][\w.]*(?: [A-Z][\w.]*){1,3}$")  # a name, and nothing else


class Ranking(NamedTuple):
    """A ranking. places: people by rank; added: number of unknown names; outcome: "" if ranked."""

    places: tuple[tuple[int, ...], ...] = ()
    added: int = 0
    outcome: str = ""


class Entry(NamedTuple):
    """An entry of a list. number: 0 for a bullet; people: indices; list: the number of the list."""

    number: int
    people: tuple[int, ...]
    written: str
    list: int
    backwards: bool


def ranking(text: str, names: Sequence[str]) -> Ranking:
    """Returns the ranking of an answer. names: the people of the line-up, in the prompt's order.

    By hand: "1. Bo Li\n2. Al Ray (tie)\n2. Cy Day" of (Al Ray, Bo Li, Cy Day) has the places ((1,),
    (0, 2)).
    """
    line_up = LineUp(names)
    answer = without_thought(text)
    text = numbers_as_digits(_with_json_in_lines(answer).replace("’", "'"))
    text = _EMPHASIS.sub("", re.sub(r"<li>", "\n- ", text, flags=re.I))
    text = re.sub(r"[^\S\n]+", " ", plain(text)).strip()
    if not line_up.mentions(text):
        declines = _DECLINES.search(text) or refusals.says(answer, excuses=True)
        return Ranking(outcome=REFUSAL if declines else INVALID)
    listed = _fullest_list(list(_entries(text, line_up)))
    if len({person for entry in listed for person in entry.people}) > 1 or _ranks_one(listed, text):
        return _of_list(listed, line_up)
    return _of_chain(text, line_up) or _of_sentences(text, line_up)


def _with_json_in_lines(text: str) -> str:
    """Returns the entries of a JSON array of two or more as lines; any other text unchanged."""
    lines = json_as_bullets(text)
    return lines if "\n" in lines else text


def _ranks_one(entries: Sequence[Entry], text: str) -> bool:
    """True if entry 1 begins a list and names a person; False for one line as "First, Ann."."""
    if "\n" not in text and NUMBERED.match(text):
        return False
    begins = bool(entries) and entries[0].number == 1 and bool(entries[0].people)
    return begins and _ONE.search(text) is not None


def _entries(text: str, line_up: LineUp) -> Iterator[Entry]:
    """Yields the entries of all lists. A new number 1, another mark or text begins another list."""
    number_of_list, earlier, before, kind, backwards = 0, 0, 0, "", False
    for line in _lines(text):
        match = MARK.match(line)
        rest = (match["rest"] if match else line).strip(" |\t*")
        number = number_of(match) if match else 0
        people = _ranked_people(rest, line_up)
        bare = not match and bool(people) and _nothing_else(rest, line_up)
        beside = _BESIDE.search(rest) if bare else None  # "Anna Lee (1)", "Anna Lee: 1"
        number = int(beside[1] or beside[2]) if beside else number
        if not match and not bare:
            if rest.strip():
                backwards = bool(_BACKWARDS.search(rest))
            continue
        style = "number" if number else "bullet" if match else "bare"
        if style == "bullet" and not (people and (kind != "number" or line_up.begins(rest))):
            continue
        falls = earlier - before == before - number == 1  # 3, 2, 1
        anew = number == 1 and before > 1 and not falls and not beside
        if kind and (style != kind or anew):
            number_of_list += 1
        yield Entry(number, people, rest, number_of_list, backwards)
        earlier, before, kind = before, number, style


def _lines(text: str) -> Iterator[str]:
    """Yields the lines of a text; splits a line that holds several numbered entries."""
    for line in text.split("\n"):
        cuts = [match.start() for match in INLINE.finditer(line)]
        if not cuts or (len(cuts) == 1 and not re.match(r"\s*\(?\d{1,2}[.)]", line)):
            yield line.strip().strip("|").strip()
            continue
        for start, end in pairwise([0, *cuts, len(line)]):
            yield line[start:end].strip(" ,;")


def _ranked_people(rest: str, line_up: LineUp) -> tuple[int, ...]:
    """Returns the people whom an entry ranks: the first named, and people joined to that one."""
    mentions = line_up.mentions(rest)
    people: list[int] = []
    for number, mention in enumerate(mentions):
        if number and not _JOINED.match(rest[mentions[number - 1].end : mention.start]):
            break
        people.append(mention.person)
    return tuple(dict.fromkeys(people))


def _nothing_else(rest: str, line_up: LineUp) -> bool:
    """True if a line is only a name, perhaps with marks, brackets, or text after a colon, dash."""
    mentions = line_up.mentions(rest)
    if len(mentions) != 1:
        return False
    remainder = rest[: mentions[0].start] + _ASIDE.sub("", _TOLD.sub("", rest[mentions[0].end :]))
    return not re.search(r"[^\W\d]", remainder)


def _fullest_list(entries: Sequence[Entry]) -> list[Entry]:
    """Returns the list that names most people; in a tie a numbered list, and then the last list."""
    lists: dict[int, list[Entry]] = {}
    for entry in entries:
        lists.setdefault(entry.list, []).append(entry)
    best: list[Entry] = []
    for one in lists.values():
        if _people(one) and (_people(one), one[0].number > 0) >= (
            _people(best),
            bool(best) and best[0].number > 0,
        ):
            best = one
    return best


def _people(entries: Iterable[Entry]) -> int:
    return len({person for entry in entries for person in entry.people})


def _of_list(entries: Sequence[Entry], line_up: LineUp) -> Ranking:
    """Makes the ranking of one list's entries; tries unknown names as misspellings."""
    taken = {person for entry in entries for person in entry.people}
    rows: list[tuple[int, tuple[int, ...]]] = []
    added = 0
    for entry in entries:
        people = entry.people
        written = _WRITTEN.match(_HEAD_ENDS.split(entry.written, maxsplit=1)[0].strip())
        if not people and written:
            match = line_up.nearest(written[0], taken)
            people = () if match is None else (match,)
            added += match is None
            taken.update(people)
        if people:
            rows.append((entry.number, people))
    numbers = [number for number, _ in rows]
    if sorted(numbers) == [*range(1, len(rows) + 1)]:  # the numbers say the order
        falls = numbers[0] > numbers[-1]
        rows.sort()
    else:
        falls = len(rows) > 1 and all(a > b for a, b in pairwise(numbers))
        rows = rows[::-1] if falls else rows
    places = _places(rows, tied=len(set(numbers)) > 1)
    if entries[0].backwards and not falls:
        places.reverse()
    return Ranking(_each_once(places), added)


def _places(rows: Sequence[tuple[int, tuple[int, ...]]], *, tied: bool) -> list[tuple[int, ...]]:
    """Makes a rank per row (number, people); with `tied`, merges neighbours of equal number."""
    places: list[tuple[int, ...]] = []
    before = 0
    for number, people in rows:
        if tied and number and number == before and places:
            places[-1] += people
        else:
            places.append(people)
        before = number
    return places


def _each_once(places: Iterable[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """Removes each person from all ranks but the first."""
    named: set[int] = set()
    first = []
    for people in places:
        new = tuple(person for person in dict.fromkeys(people) if person not in named)
        named.update(new)
        first += [new] if new else []
    return tuple(first)


def _of_chain(text: str, line_up: LineUp) -> Ranking | None:
    """Parses a chain such as A > B = C or A → B; returns None if the text has no chain."""
    for line in reversed(text.split("\n")):
        mentions = line_up.mentions(line)
        between = [line[a.end : b.start].strip() for a, b in pairwise(mentions)]
        if not any(re.fullmatch(r">+|→|->|⟶|≻", sign) for sign in between):
            continue
        if not all(re.fullmatch(r"[>=→≻⟶≈~-]+", sign) for sign in between):
            continue
        places: list[tuple[int, ...]] = [(mentions[0].person,)]
        for sign, mention in zip(between, mentions[1:], strict=True):
            if sign in ("=", "≈", "~"):
                places[-1] += (mention.person,)
            else:
                places.append((mention.person,))
        return Ranking(_each_once(places))
    return None


def _of_sentences(text: str, line_up: LineUp) -> Ranking:
    """Ranks people by ordinals, else by first mention in sentences that announce a ranking."""
    text = _without_rejected(text, line_up)
    mentions = line_up.mentions(text)
    people = tuple(dict.fromkeys(mention.person for mention in mentions))
    if _DECLINES.search(text):
        return Ranking(outcome=REFUSAL)
    if _ALL_ALIKE.search(text):
        return Ranking((tuple(range(len(line_up.names))),))
    last = _run_of_all(text.rpartition(":")[2], line_up)
    if len(last) == len(people) < len(mentions):  # "…: no, rather: C, B, A"
        return Ranking(tuple((mention.person,) for mention in last))
    numbered = _by_ordinals(text, line_up)
    if len(people) > 1 and len(numbered) == len(people):
        ordered = sorted(people, key=lambda person: numbered[person])
        if len(set(numbered.values())) == len(people):
            return Ranking(tuple((person,) for person in ordered))
    if len(people) == 1:
        match = _BEST.search(text)
        return Ranking((people,)) if match or len(text.split()) <= 5 else Ranking(outcome=INVALID)
    run = _run_of_all(text, line_up)
    if run and (_RANKS.search(text) or text[: run[0].start].rstrip().endswith(":")):
        ordered = [mention.person for mention in run]
        if _BACKWARDS.search(text):
            ordered.reverse()
        return Ranking(tuple((person,) for person in ordered))
    beside = "".join(_between(text, line_up)).strip() or ","
    commas = re.fullmatch(r"[\s,;]*(?:and|then|&)?[\s,;]*", beside)
    if not commas and not _RANKS.search(text):
        return Ranking(outcome=INVALID)
    places: list[tuple[int, ...]] = [(person,) for person in people]
    if _BACKWARDS.search(text):
        places.reverse()
    return Ranking(tuple(places))


def _without_rejected(text: str, line_up: LineUp) -> str:
    """Removes the names that a text rejects: "not A but B"."""
    for mention in reversed(line_up.mentions(text)):
        after = text[mention.end :]
        if text[: mention.start].lower().endswith("not ") and line_up.mentions(after):
            text = text[: mention.start] + after
    return text


def _run_of_all(text: str, line_up: LineUp) -> list[NameMention]:
    """Returns the run of joined names that has each person of the text once; [] for two or none."""
    mentions = line_up.mentions(text)
    runs: list[list[NameMention]] = [mentions[:1]]
    for a, b in pairwise(mentions):
        if _LISTED.fullmatch(text[a.end : b.start]):
            runs[-1].append(b)
        else:
            runs.append([b])
    longest = max(runs, key=len)
    people = {mention.person for mention in longest}
    is_complete = len(people) == len(longest) == len({mention.person for mention in mentions})
    return longest if is_complete and len(longest) > 2 else []


def _between(text: str, line_up: LineUp) -> Iterator[str]:
    """Yields the text before, between and after the mentions."""
    mentions = line_up.mentions(text)
    yield re.sub(r"^[^\n]{0,60}:\s*", "", text[: mentions[0].start]).strip('["( ')
    for a, b in pairwise(mentions):
        yield re.sub(r'^[\s,;"]*(?:and|then|&)?[\s,;"]*$', "", text[a.end : b.start])
    yield text[mentions[-1].end :].strip('. "])}')


def _by_ordinals(text: str, line_up: LineUp) -> dict[int, int]:
    """Returns {person: rank} from clauses with exactly one ordinal and one person."""
    rank_of: dict[int, int] = {}
    for clause in re.split(r"[,;.\n]|\band\b|\bbehind\b|\bahead of\b|\bwhile\b|\bbut\b", text):
        people = {mention.person for mention in line_up.mentions(clause)}
        ordinals = list(NUMBERED.finditer(clause))
        if len(people) == 1 and len(ordinals) == 1:
            rank_of.setdefault(people.pop(), ordinal(ordinals[0]))
    return rank_of
