"""Reasons to leave a prompt alone: the cue may decide the answer, or mean a known person."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ..records import IN_CODE, Cue
from .given_names import PRONOUNS, any_of
from .groups import mentions, spoken_of
from .tables import MAN, PERSON, WOMAN, known_people, matters, names, plain, words
from .unread import mentions_gender, person_or_thing, pronouns_alone, saying_asked_about

_FACT = re.compile(
    r"\b(?:who (?:was|is|were|wrote|said|won|directed|invented|founded)|tell me about|"
    r"(?:what|when|why|how|where) did|biograph\w*|fan ?fic\w*|(?:in )?(?:what|which) year|"
    r"how many (?:albums|books|films|movies|goals|points|games|oscars|grammys|medals|titles)|"
    r"(?:rookie|world cup|championship|grand slam|wimbledon|grammy|oscar|nobel)\w*|"
    r"co-?stars?|starr(?:ed|ing)|net worth|how (?:old|tall|rich) is|cast of|season \d|"
    r"(?:taller|older|younger|richer) than|(?:married|related) to|quotes? (?:by|from)|"
    r"(?:in|from) the (?:book|novel|film|movie|series|show|play))\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:(?:why|how|when|where|what|who)\b[^.?!]{0,30}? (?:did|was|were)"
    r"|(?:summary|essay|paper|report|facts|quiz|lesson|article|poster) (?:of|on|about)(?: how)?"
    r"|(?:explain|describe|summari[sz]e|discuss|analy[sz]e)(?: how| why| what)?) ([A-Z][a-zà-ÿ]+)",
    re.IGNORECASE,
)
# "What was the boy who cried wolf about?"
_TOLD_OF = re.compile(
    r"\b(?:who|what|why|how|when|summar\w+|explain|about)\b[^.?!\n]{0,30}\bthe "
    r"(?:boys?|girls?|(?:wo)?m[ae]n|prince(?:ss)?|king|queen|emperor|witch|mother|father) who\b",
    re.IGNORECASE,
)
_WORKS = (
    r"songs?|albums?|novels?|films?|movies?|paintings?|poems?|plays?|concerts?|hits?|"
    r"discograph\w*|tours?|speech(?:es)?|symphon\w*|podcasts?|sonnets?"
)
_QUOTED = re.compile(r"(?<!\w)(?:[“\"«][^”\"»\n]{2,400}[”\"»]|[‘'][^’'\n]{2,200}[’'](?!\w))")
_KEPT = re.compile(
    r"\b(?:word for word|verbatim|letter for letter|as (?:it (?:is|stands) )?written|unchanged|"
    r"(?:not|don[’']?t|without) (?:touch|chang|alter|edit)(?:e|ing)? "
    r"(?:it|this|that|anything|(?:the|a) (?:quot\w+|text|words?|wording|sentence|line))|"
    r"(?:how many|count the|number of) (?:words|letters|characters|syllables|vowels))\b",
    re.IGNORECASE,
)
_RACE_IN_TITLE = re.compile(r"\b(?:Black|White)\b")
_FEW = 2  # words in quotes that are spoken of as words
_WORK_CALLED = re.compile(rf"\b(?:{_WORKS}|books?|called|titled)[ ,]+$", re.IGNORECASE)
# A prompt that begins with a question about somebody, not a request: "Is Ronaldo still playing?"
_QUESTION = re.compile(
    r"\W*(?:is|was|are|were|does|did|do|has|had|why|what|when|where|who|how|which)\b([^.?!\n]*)(?:\?|\Z)",
    re.IGNORECASE,
)
_WHICH = re.compile(r"\W*(?:which|who|what) (?:\w+ )?$", re.IGNORECASE)
_OURS = re.compile(r"\b(?:i|my|me|mine|we|us|our|ours|you|your|he said|she said|says)\b", re.I)
# A person whose works are spoken of: "a song by", "songs like", "her latest album".
_WORK = (
    rf"\b(?:{_WORKS}) (?:by|like|from) (?:\w+ )?NAME\b|"
    rf"\bNAME(?: [^\W\d_]+)?[’']s (?:(?:new|latest|first|last|best|early|greatest) )?(?:{_WORKS})\b"
)
_FULL_NAME = re.compile(r"\b[A-Z][a-zà-ÿ]+ [A-Z][a-zà-ÿ]+\b")
_CAPITAL = re.compile(r"\b[A-Z][a-zà-ÿ]+\b")
_CODE = re.compile(r"[=()\[\]{}\\`;_]|\bselect\b|\binsert\b")
_A_PERSON = re.compile(rf"\b{PERSON}\b", re.IGNORECASE)
_ASKS_OF = re.compile(
    r"\b(?:what|why|which|who|when|how|where)\b[^.?!\n]{0,20} "
    r"(?:(?:was|did|had) (?:s?he|her|his)\b|does s?he (?:\w+ )?mean\b)",
    re.IGNORECASE,
)
_FAME = rf"\bNAME[’']s (?:\w+ )?(?:{any_of('fame')})\b"
_MINE = re.compile(r"\b(?:i|my|me|mine|we|us|our|ours)\b", re.IGNORECASE)
_CONSTANT = re.compile(r"(?<!\bmy )(?<!\bour )(?<!\bthe )(?<!\ba )\b[A-Z]{4,}\b")
_SHORTEST_IN_CODE = 3  # letters; a shorter word is a variable too


def known_person(text: str) -> str:
    """Returns the name of a known person in the text, or "". A single word counts only if it has a
    capital or no other meaning, unlike "drake".
    """
    for match in known_people().finditer(text):
        name = match.group()
        if " " in name or name[:1].isupper() or name.lower() not in names().evidence:
            return name
    return ""


def matter(text: str, attribute: str) -> str:
    """Returns the reason why a cue of this attribute matters, with the text's words; or ""."""
    for reason, pattern in matters(attribute):
        if hit := pattern.search(text):
            return f"{reason}: “{hit.group().strip()}”"
    return ""


def reason_beside_cues(text: str, spans: Sequence[tuple[int, int]], cues: Sequence[Cue]) -> str:
    """Returns the reason why a prompt's cues may not concern a private person, or ""."""
    return (
        _fact_about(text, cues)
        or _title(text, cues)
        or _in_code(text, spans, cues)
        or (len({cue.group for cue in cues} & {WOMAN, MAN}) > 1 and matter(text, "both"))
        or _nobody_named(text, cues)
    )


def _nobody_named(text: str, cues: Sequence[Cue]) -> str:
    """Returns a reason if a fact is asked for, the only cues are pronouns, nobody before them can
    be meant, and nobody speaks of themselves: “what does he mean with the title”. Else "".
    """
    first = cues[0]
    head = text[: first.start]
    if not pronouns_alone(cues) or _OURS.search(text) or _A_PERSON.search(head):
        return ""
    asks = _ASKS_OF.search(text)
    return f"perhaps a known person: “{text[first.start : first.end]}”" if asks else ""


def reason_without_cues(
    text: str, attribute: str, spans: Sequence[tuple[int, int]], because: str
) -> str:
    """Returns the reason why a prompt without cues may still concern somebody's group, or ""."""
    for quoted in _QUOTED.finditer(text) if attribute == "race" else ():
        if _RACE_IN_TITLE.search(quoted.group()):
            return f"perhaps a title: {quoted.group()}"
    if thing := matter(text, f"{attribute}?"):
        return thing
    if attribute != "gender":
        group = spoken_of(text) if attribute == "race" else ""
        if because and (group or mentions(text, attribute)):
            return because
        return group and f"a group is spoken of: “{group}”"
    named = because.startswith("names") and any(
        plain(word) in names().gender for word in _CAPITAL.findall(text)
    )
    if because and (named or mentions_gender(text, spans)):
        return because
    if saying := saying_asked_about(text):
        return f"word as word: “{saying}”"
    if person := person_or_thing(text):
        return f"perhaps a name: “{person}”"
    return _in_code(text, spans, ())


def _fact_about(text: str, cues: Sequence[Cue]) -> str:
    """Returns a reason if a fact about a known person may be asked for (a full name, no “my”)."""
    people = {cue.person.split("-")[0] for cue in cues if cue.person}
    if not _OURS.search(text):
        if match := _TOLD_OF.search(text):
            return f"perhaps of a work: “{match.group()}”"
        before, first = text[: cues[0].start], text[: cues[0].end]
        if _WHICH.fullmatch(before):
            return f"the answer decides whom it means: “{first}”"
        question = _QUESTION.match(text)
        for name in _CAPITAL.findall(question[1]) if question else ():
            if name.lower() in people or pronouns_alone(cues):
                return f"perhaps a known person: “{name}”"
        for asked in _PAST.finditer(text):
            if asked[1].lower() in people:
                return f"perhaps a known person: “{asked.group()}”"
    for full in _FULL_NAME.finditer(text):
        if full.group().split()[0].lower() in people and _FACT.search(text):
            return f"perhaps a known person: “{full.group()}”"
    for person in people:
        pattern = _WORK if _MINE.search(text) else f"{_WORK}|{_FAME}"
        if work := re.search(pattern.replace("NAME", re.escape(person)), text, re.IGNORECASE):
            return f"perhaps a known person: “{work.group()}”"
    return ""


def _title(text: str, cues: Sequence[Cue]) -> str:
    """Returns a reason if a cue is in a capitalised quotation, as in a work's title; or ""."""
    for quoted in _QUOTED.finditer(text):
        start, end, inner = quoted.start() + 1, quoted.end() - 1, quoted.group()[1:-1]
        within = [cue for cue in cues if start <= cue.start < end]
        if not within:
            continue
        around = text[: start - 1] + text[end + 1 :]
        if asked := matter(around, "quoted"):
            return asked
        if _KEPT.search(around):
            return f"a quotation that is kept as it is: {quoted.group()}"
        alone = len(inner.split()) <= _FEW and within[0].start == start
        if alone and (not within[0].person or _WORK_CALLED.search(text[: quoted.start()])):
            return f"a word as a word, or a title: {quoted.group()}"
        long_words = re.findall(r"[^\W\d_]{4,}", inner)
        capitals = all(word[0].isupper() for word in long_words)
        if capitals and len(inner.split()) > 1 and not re.search(r"[:,;.]", inner):
            return f"perhaps a title: {quoted.group()}"
    return ""


def _in_code(text: str, spans: Sequence[tuple[int, int]], cues: Sequence[Cue]) -> str:
    """Returns a reason if code or an address, which is never edited, has a name of a gender, or if
    a noun is in capitals among other words, like a constant of a program. Else "".
    """
    constants = {hit.start(): hit.group() for hit in _CONSTANT.finditer(text)}
    for cue in cues if not text.isupper() else ():
        if cue.start in constants and not cue.person and cue.same.lower() not in PRONOUNS:
            return f"perhaps a word of a program: “{constants[cue.start]}”"
    if not spans:
        return ""
    genders = frozenset(cue.group for cue in cues)
    known = _told_in_code(genders) | {cue.person for cue in cues if cue.person}
    for start, end in spans:
        code = text[start:end].lower()
        parts = set(re.split(r"[^a-zà-ÿ]+", code))
        named = known & parts
        if "=" in code:  # user=bob
            named |= {part for part in parts if names().gender.get(part) in genders}
        for full in _FULL_NAME.finditer(text) if "@" in code else ():
            given, surname = full.group().lower().split()
            named |= {given} & known if surname in code.partition("@")[0] else set()
        if _CODE.search(code):
            named |= {part for part in parts if part in words() or part in PRONOUNS}
        if named:
            return f"{IN_CODE}: “{text[start:end][:40]}”"
    return ""


@lru_cache
def _told_in_code(genders: frozenset[str]) -> frozenset[str]:
    """Returns names of these genders that may occur in code; of both genders if none is given."""
    table = names()
    named = {name for name, gender in table.gender.items() if not genders or gender in genders}
    return frozenset(name for name in named - table.evidence if len(name) > _SHORTEST_IN_CODE)
