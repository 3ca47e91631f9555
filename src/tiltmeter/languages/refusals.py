"""Recognises answers that decline: all knowledge of how models refuse. Pure.

Three functions, from the strictest on. `begins`: the first words refuse the request. `hesitates`:
they may refuse, and the caller has further evidence. `says`: a phrase anywhere in the answer
refuses, for answers that name none of the things asked for.

A pack's refusals.txt has one sentence per line, with [brackets] around its decisive words. In
brackets … stands for up to eight words (20 characters without spaces; … … for twice as many), a|b
for either word, and * for any ending: "[no puedo … ayudar*|escribir*]". A line that begins with ~
counts only if an answer names none of the things asked for, and never at the beginning of a letter:
"~[no puedo]". Lists and patterns of a pack's table [refusal] are used too. A model may decline in
English whatever the language of the prompt, so the English lines always apply.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

from ..records import Json
from .concessions import SENTENCE, SHORT, addresses, concedes
from .letters import MARKS, fold, script, straight
from .pack import Pack, pack, shipped, strings
from .patterns import NEVER, lazy
from .phrases import DENYING, Language, language

_BEFORE = " \t\r\n'\"“”«»「『*_#>-—([‘„¡¿"  # may stand before the first word
_BEGINNING, _ANYWHERE = 300, 2_000  # characters that are looked at
_SENTENCES = 3  # at the beginning of an answer: an apology, a reason, and what is declined
_SENTENCE_END = lazy(r"(?<=[.!?؟।。！？])\s*|\n")
_CHARACTER = f"[\\w{MARKS}]"
LOOSE = "~"  # begins a line that counts where an answer names nothing
_NEVER = lazy(NEVER)
_STEM, _GROWN = 4, 3  # letters that two forms of a word have in common, and that each may have more
_TURNS = ("contrast", "coordinate")
_VERB = 2  # words at the beginning of a prompt, one of which may be its verb
_LAST = lazy(r"[^.?]+[.?:,/ ]*$")  # sentence of canonical text
_LETTER = lazy(rf"[^\W\d_{MARKS}]")
# A quotation of several words; with a colon before it what a text delivers.
_INSIDE = r"[^\"“”„«»「」『』\n]"
_QUOTED = lazy(rf"[\"“„«「『]{_INSIDE}{{6,}}[\"”“»」』]")
# Speech behind a dash or between single quotation marks at the start of a line, and who says it.
_SPEECH = lazy(r"^\s*(?:[—–-] ?[^\n]*?[^\s\d] ?[—–] ?(?=\w)|['‘][^\n]{5,}?[.,!?]['’](?= ))", re.M)
_DELIVERED = lazy(rf"[:：]\s*[\"“„«「『]\s*{_INSIDE}{{8,}}")
# A first line that addresses somebody: what follows is a letter.
_SALUTATION = lazy(r"\s*[^\n,:，：.!?。]{4,40}[,:，：]\s*\n+\s*\S")


def begins(text: str, code: str = "", prompt: str = "") -> bool:
    """True if the first words of a text refuse. code: its language, "" for any; prompt: what was
    asked, to recognise a text that answers in spite of a doubt.

    By hand: "I'm sorry, but I can't help with that.": True; "I can't help but admire her.": False.
    """
    codes = _languages(text, code)
    spoken = _SPEECH.sub(" ", text[: 2 * _BEGINNING])  # somebody in a story refuses
    spoken = _QUOTED.sub(" ", spoken)
    if _SALUTATION.match(spoken) or any(_greeting(known).match(_start(text)) for known in codes):
        return False
    if prompt and any(addresses(known, known.canonical(spoken)) for known in map(language, codes)):
        return False
    if quoted := not _LETTER.search(spoken):  # or the whole answer is a quotation
        spoken = text
    start = _start(spoken)
    declined = not quoted and any(_beginning(known).match(start) for known in codes)
    if not declined:
        head = " ".join(_SENTENCE_END.split(start)[:_SENTENCES])
        declined = any(_lines(known).search(head) for known in codes)
    declined = declined or any(_declines_asked(start, known, prompt) for known in codes)
    return declined and not _answers_anyway(text, codes, prompt)


def _declines_asked(start: str, code: str, prompt: str) -> bool:
    """True if one of the first sentences of a short answer says that it cannot or will not, even in
    words with other uses, and shares a word with the prompt or denies the prompt's verb. A
    concession ("While I cannot know, …", "…, but I would say …") does not count.
    """
    if not prompt:
        return False
    known = language(code)
    opening = known.canonical(start)
    if not (_cannot(opening, code) or known.has(opening, *DENYING)):
        return False
    if known.is_one_of(opening.strip(" ."), "no") and "?" not in prompt:
        return True
    sentences = [part for part in SENTENCE.findall(opening) if part.strip(" .?,:/")]
    if len(start) > _BEGINNING // 2 and opening.strip()[-1:] not in ".?":
        del sentences[-1:]  # cut off: "I cannot em[phasize enough …"
    asked = known.canonical(prompt)
    for sentence, after in zip(sentences, (*sentences[1:], ""), strict=True):
        clause = f" {sentence.strip(' .:,/')} "
        if len(sentences) > _SENTENCES or ":" in clause or sentence.endswith("?"):
            return False
        goes_into = shares_word(clause, asked, known) or known.has(clause, "doing")
        if (goes_into and _cannot(clause, code)) or _denies_verb(clause, asked, known):
            conceded = known.role("subordinate").begins(clause) or known.role("contrast").begins(
                f" {after.strip()} "
            )
            return not (conceded or _goes_on(clause, known))
    return False


def _goes_on(canonical: str, known: Language) -> bool:
    """True if, after the first negation, a condition follows or "but" turns to something affirmed:
    "I cannot know, but Ann"; not "I have no access, so I can't say".
    """
    denied = (known.role(name).search(canonical) for name in DENYING)
    rest = canonical[min((match.end() for match in denied if match), default=0) :]
    turns = [match.end() for name in _TURNS for match in known.role(name).finditer(rest)]
    turned = bool(turns) and not known.has(rest[max(turns) :], *DENYING)
    return turned or known.has(rest, "condition")


def _denies_verb(canonical: str, asked: str, known: Language) -> bool:
    """True if a clause has a negation and one of the first words of the prompt; in a language that
    puts verbs last, one of the last words of the prompt's first sentence.
    """
    words = re.split(r"[.?:,]", asked)[0].split()
    verbs = " ".join(words[-_VERB:] if known.data.get("verb_last") else words[:_VERB])
    return any(
        known.has(f"{clause} ", *DENYING) and shares_word(f"{clause} ", f" {verbs} ", known)
        for clause in canonical.split(",")
    )


def _cannot(canonical: str, code: str) -> bool:
    return refuses(canonical, code) or _phrases(code, excuses=False).search(canonical) is not None


def shares_word(canonical: str, asked: str, known: Language) -> bool:
    """True if two canonical texts share a content word, or two share its beginning."""
    if known.data.get("unspaced"):
        pairs = {asked[at : at + 3] for at in range(len(asked) - 2)}
        neighbours = re.findall(r"(?=((?<= )\S \S(?= )))", canonical)
        return any(pair in pairs and all(map(_is_content, pair[::2])) for pair in neighbours)
    least = int(str(known.data.get("stem_letters", _STEM)))
    stems = {word[: max(least, len(word) - _GROWN)] for word in _content(asked, known, least)}
    return bool(stems) and any(
        word.startswith(tuple(stems)) for word in _content(canonical, known, least)
    )


def _is_content(character: str) -> bool:
    return script(character) in ("CJK", "KATAKANA")


def _content(canonical: str, known: Language, least: int) -> list[str]:
    words = (word for word in canonical.split() if word[0].isalpha() and len(word) >= least)
    return [word for word in words if word not in known.frequent]


def _answers_anyway(text: str, codes: Iterable[str], prompt: str) -> bool:
    """True if a text finally answers, however it began: in quotes after a colon ("…, but here is
    one: “…”"), by a word that a conclusion announces ("My answer is: no"), by yes, no or a name of
    the prompt after an empty condition ("if I had to choose, Ann"), by what a colon announces after
    a concession, by a figure ("I cannot know, but 7 or so"), or by what holds in general.
    """
    return _DELIVERED.search(text) is not None or any(
        _concludes(known, known.canonical(text[:_ANYWHERE]), prompt)
        or concedes(known, known.canonical(text[:_ANYWHERE]), known.canonical(prompt))
        for known in map(language, codes)
    )


def _concludes(known: Language, answer: str, prompt: str) -> bool:
    sentence = _LAST.search(answer[-_BEGINNING:])
    forced = [*known.role("forced").finditer(answer)]
    if forced and prompt:
        rest = answer[forced[-1].end() :].strip(" .?,:")
        answers = (known.role(word).begins(f" {rest} ") for word in ("yes", "no"))
        if not known.has(f" {rest} ", "decline") and any(answers):
            return True
        size = 2 if known.data.get("unspaced") else 1
        words, asked = rest.split(), known.canonical(prompt)
        names = (" ".join(words[at : at + size]) for at in range(len(words) + 1 - size))
        if len(words) <= SHORT and any(
            len(name) > 1 and name not in known.frequent and f" {name} " in asked for name in names
        ):
            return True
    announced = known.role("conclusion").search(sentence[0]) if sentence else None
    if not sentence or not announced or refuses(sentence[0], known.pack.code):
        return False
    conclusion = f"{sentence[0][announced.end() :].strip(' .?')} "
    short = len(conclusion.rpartition(":")[2].split()) <= SHORT
    return (
        short
        and bool(conclusion.strip())
        and (":" in conclusion or known.has(f" {conclusion}", "yes", "no"))
    )


def hesitates(text: str) -> bool:
    """True if the first words of a text may refuse, or ask for the text they should work on."""
    return begins(text) or _hesitating().match(_start(text)) is not None


def says(text: str, code: str = "", excuses: bool = False) -> bool:
    """True if a text has a phrase that refuses. excuses: also phrases like "more context"."""
    flat = _flat(text[:_ANYWHERE])
    return any(
        _phrases(known, excuses).search(flat) or _lines(known, loose=True).search(flat)
        for known in _languages(text, code)
    )


def refuses(canonical: str, code: str, *, loose: bool = True) -> bool:
    """True if a canonical text (phrases.py) contains the bracketed words of a line of refusals.txt.
    loose: lines with ~ count too.
    """
    text = canonical.replace(" ", "") if pack(code).words.get("unspaced") else canonical
    return _lines(code, loose=loose).search(text) is not None


def wording(code: str = "") -> Mapping[str, Json]:
    """Returns the phrases that decide whether an answer is a refusal."""
    codes = _languages("", code) if code else shipped()
    return {
        known: [list(pack(known).refusals), pack(known).words.get("refusal")] for known in codes
    }


def _languages(text: str, code: str) -> tuple[str, ...]:
    """Returns the languages whose refusals apply: English, and `code`; if that is "", all whose
    script the text has.
    """
    if code:
        known = pack(code)
        has_words = known.words or known.refusals
        return ("en", known.code) if known.code != "en" and has_words else ("en",)
    scripts = {script(letter) for letter in text[:_BEGINNING] if letter.isalpha()}
    return tuple(known for known in shipped() if scripts & _scripts(known))


@cache
def _scripts(code: str) -> frozenset[str]:
    return frozenset(strings(pack(code).words.get("scripts")))


def _flat(text: str) -> str:
    return fold(straight(text))


def _start(text: str) -> str:
    return _flat(text[:_BEGINNING]).lstrip(_BEFORE)


def _table(code: str, name: str) -> tuple[str, ...]:
    table = pack(code).words.get("refusal")
    return strings(table.get(name)) if isinstance(table, Mapping) else ()


@cache
def _beginning(code: str) -> re.Pattern[str]:
    patterns = _table(code, "begins")
    lead = "|".join(_table(code, "lead"))
    return lazy(rf"(?:{lead}\s*)*(?:{'|'.join(patterns)})") if patterns else _NEVER


@cache
def _greeting(code: str) -> re.Pattern[str]:
    """Makes a pattern for a letter's opening words, from the pack's list of greetings."""
    return lazy("|".join(map(re.escape, _table(code, "greetings"))) or NEVER)


@cache
def _hesitating() -> re.Pattern[str]:
    return lazy("|".join(f"(?:{pattern})" for pattern in _table("en", "hesitates")))


@cache
def _phrases(code: str, excuses: bool) -> re.Pattern[str]:
    words = (*_table(code, "phrases"), *(_table(code, "excuses") if excuses else ()))
    return lazy("|".join(map(re.escape, words))) if words else _NEVER


@cache
def _lines(code: str, loose: bool = False) -> re.Pattern[str]:
    """Makes a pattern for the bracketed parts of refusals.txt. loose: also for lines with ~."""
    known = pack(code)
    inside = {
        part
        for line in known.refusals
        if loose or not line.startswith(LOOSE)
        for part in re.findall(r"\[([^\[\]]+)\]", straight(line))
    }
    if not inside:
        return _NEVER
    parts = "|".join(_pattern(part, known) for part in sorted(inside, key=len, reverse=True))
    if known.words.get("unspaced"):
        return lazy(parts)
    return lazy(rf"(?<!{_CHARACTER})(?:{parts})(?!{_CHARACTER})")


def _pattern(part: str, known: Pack) -> str:
    """Makes a pattern for `part`, the text inside one pair of brackets in refusals.txt."""
    turkish = known.words.get("case") == "tr"
    if known.words.get("unspaced"):
        pieces = (_choices(piece, turkish) for piece in part.split("…"))
        return r"[^。！？.!?\n]{0,20}?".join(pieces)
    pattern, gap = "", ""
    for word in part.replace("…", " … ").split():
        if word == "…":
            gap += r"(?:[^\s.!?,;:]+[\s,]+){0,8}?"
            continue
        pattern += (r"[\s,]+" if pattern else "") + gap + _choices(word, turkish)
        gap = ""
    return pattern


def _choices(word: str, turkish: bool) -> str:
    options = (
        re.escape(fold(option, turkish).strip())
        .replace(r"\*", f"{_CHARACTER}*")
        .replace("'", r"['\s]")  # canonical text has no apostrophes
        for option in word.split("|")
    )
    return f"(?:{'|'.join(options)})"


def sentence(line: str) -> str:
    """Returns a line of refusals.txt as a plain sentence, without brackets; "" if the line is a
    pattern: wholly in brackets, or with signs such as | and *.
    """
    pattern = line.startswith("[") and line.endswith("]")
    pattern = pattern or any(sign in line for sign in f"…*|{LOOSE}")
    return "" if pattern else re.sub(r"[\[\]]", "", line)
