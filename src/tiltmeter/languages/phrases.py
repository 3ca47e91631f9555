"""The canonical form of answers, and patterns for the roles that a language's words have in an
answer.

Canonical text is words and a few marks, separated by one space, with a space at both ends. Upper
case, width, quotes of all kinds, emphasis, tags, emoji and invisible characters are removed;
contractions are spelled out. The marks are `.` `?` (a sentence ends), `,` (a clause ends; also
brackets and dashes), `:` (an announcement; also `=`) and `/` (also `|` and `&`). A character of a
script without spaces is a word, so a phrase is a sequence of words in every language.

The phrases are data (the language's pack: one list per role, and the frames of answers.csv). In a
language without a pack only a bare answer can be parsed, or the prompt's sentence with its blank
filled."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property, lru_cache
from itertools import permutations

from ..records import BOTH, NEITHER, REFUSAL, Json
from . import quotes
from .identify import frequent_words
from .letters import UNSPACED, WORD, fold, script, straight, without_accents
from .pack import Pack, pack, strings
from .patterns import BEHIND, NEVER, WordPattern, lazy
from .remembered import Remembered

_TOKEN = lazy(f"[{UNSPACED}]|{WORD}(?:-{WORD})*|[^\\w\\s]|\n")
_ASCII_TOKEN = lazy(r"[^\W_]+(?:-[^\W_]+)*|[^\w\s]|\n", re.A)  # the same, and quicker
_MARKS = {
    mark: kind
    for kind, marks in {
        ".": ".!;。｡।॥؛۔\n",
        "?": "?؟",
        ",": ",،、()—–-",
        ":": ":=→",
        "/": "/|&\\+",
    }.items()
    for mark in marks
}
_BOX = lazy(r"\\(?:boxed|text(?:bf|rm)?|mathrm)\b")  # LaTeX around an answer
_ANY_LETTERS = "xqxqx"  # stands for `*` while a phrase is made canonical
GAP = 5  # words (characters in scripts without spaces) that … in a phrase stands for at most
# lists of a pack whose words deny what a clause says
DENYING = ("reject", "reject_after", "negation")
# lists of a pack whose words stand in sentences of any kind
_PASSING = ("she", "he", "third", "yes", "no", "filler", "reject", "join", "both", "neither")
_WHOLE = 3  # letters of an ending that leave one letter of a word at least; shorter ones leave two
PHRASE = 60  # characters of a text that may well come again
_STEM, _TAIL = 4, 6  # letters of a verb's stem at least, and of what may follow it at most
_STRUCK = lazy(r"~~[^~]*~~")
# HTML that decorates, and the control tokens of chat templates that small models write out.
_TAG = lazy(
    r"</?(?:answer|b|br|code|div|em|h[1-6]|i|p|s|span|strong|u)\s*/?>|<\|\w{1,30}\|>|\[/?inst\]",
    re.I,
)
# expected label of a frame → the role that it adds to, with {other} in it and without
_FRAME_ROLES = {
    BOTH: ("together", "both"),
    NEITHER: ("neither", "neither"),
    REFUSAL: ("decline", "decline"),
    "form": ("prefer", "decision"),
    "other": ("reject_pair", "reject_before"),
}


def _mark_or_word(token: str) -> str:
    """Returns a token's word or mark in canonical text; "" if it is left out."""
    word = _MARKS.get(token, token)
    return word if word[0].isalnum() or word in ".?,:/" else ""


_word_of = Remembered(_mark_or_word).__getitem__


class Language:
    """The phrases of one language, as patterns over canonical text (`role`)."""

    def __init__(self, known: Pack) -> None:
        # options that come with each row ask for the pack's phrases again and again
        self._recent = lru_cache(maxsize=32_768)(self._canonical)
        # several rules look at one reply and at its prompt
        self._latest = lru_cache(maxsize=64)(self._canonical)
        self.code, self.pack, self.data = quotes.base(known.code), known, known.words
        self.scripts = frozenset(strings(self.data.get("scripts")))
        self._reads_boxes = "boxed" in known.list_of("conclusion")
        self.frequent = frozenset(strings(self.data.get("common")))
        self.frequent |= frequent_words().get(self.code, frozenset())
        self._turkish = self.data.get("case") == "tr"
        pairs = map(strings, _rows(self.data.get("contractions")))
        self._contractions = [
            (short.removeprefix("-"), _ending(short), full) for short, full in pairs
        ]
        self._roles: dict[str, WordPattern] = {}
        self._sought: dict[tuple[str, ...], WordPattern] = {}
        self.persons = [
            [self.canonical(word).strip() for word in strings(words)]
            for name, words in known.people.items()
            if name in ("woman", "man", "nonbinary")
        ]
        self._alike = [  # words that mean the same
            *self.persons,
            *([self.canonical(w).strip() for w in known.list_of(name)] for name in ("yes", "no")),
        ]

    def canonical(self, text: str) -> str:
        """Returns a text in canonical form: words and marks between single spaces."""
        return (self._recent if len(text) <= PHRASE else self._latest)(text)

    def _canonical(self, text: str) -> str:
        if not self._reads_boxes and "\\" in text:
            text = _BOX.sub(" ", text)
        text = _STRUCK.sub(" ", text) if "~~" in text else text
        text = _TAG.sub(" ", text) if "<" in text or "[" in text else text
        text = fold(straight(text), self._turkish)
        for sign, short, full in self._contractions:
            if sign in text:  # to look for it first is quicker
                text = short.sub(full, text)
        tokens = (_ASCII_TOKEN if text.isascii() else _TOKEN).findall(text)
        return f" {' '.join(filter(None, map(_word_of, tokens)))} "

    def phrase(self, text: str) -> str:
        """Makes a regular expression of a phrase in canonical text. In the phrase `@` stands for a
        mention, `*` for any letters of a word, `a|b` for either word, `…` for up to five words
        without negation.
        """
        words = text.replace("*", _ANY_LETTERS).replace("@", " @ ").replace("…", " … ").split()
        pattern, gap = "", ""
        for word in words:
            if word == "…":
                gap = f"{self._between}{{0,{GAP}}}?"
                continue
            options = [self.canonical(option).strip() for option in word.split("|")]
            option = "|".join(re.escape(option) for option in options if option)
            part = r"@\S+" if word == "@" else f"(?:{option})" if "|" in option else option
            pattern += f"{gap} {part}" if part else ""
            gap = ""
        return pattern.strip().replace(_ANY_LETTERS, r"\S*")

    @cached_property
    def _between(self) -> str:
        """Makes a pattern for a word in a gap: not a mark, a mention or a negation."""
        denying = (word for name in DENYING for word in self.pack.list_of(name))
        words = {self.canonical(word.replace("*", _ANY_LETTERS)).strip() for word in denying}
        barred = "|".join(re.escape(word) for word in sorted(words) if word)
        barred = barred.replace(_ANY_LETTERS, r"\S*") or NEVER
        return rf"(?: (?!(?:{barred})(?= ))[^@~.?:/ ]\S*)"

    def any_of(self, phrases: Iterable[str]) -> WordPattern:
        """Makes a pattern that matches the longest of the phrases, as whole words; nothing if there
        are none. Phrases are grouped by first letter, which excludes most positions fast.
        """
        patterns = sorted({self.phrase(phrase) for phrase in phrases}, key=len, reverse=True)
        begun: dict[str, list[str]] = {}
        for phrase in patterns:
            begun.setdefault(phrase[:1] if phrase[:1].isalnum() else "", []).append(phrase[1:])
        wild = [phrase for phrase in patterns if not phrase[:1].isalnum()]
        parts = [f"{first}(?:{'|'.join(rest)})" for first, rest in begun.items() if first]
        return WordPattern(f"{BEHIND}(?:{'|'.join((*parts, *wild))})(?= )" if patterns else NEVER)

    def any_mention(self, phrases: Iterable[str]) -> WordPattern:
        """Makes a pattern as `any_of` does; but in scripts without spaces a phrase does not match
        if its end begins another phrase: 答えはいいえ has いいえ and not はい.
        """
        texts = {self.canonical(phrase).strip() for phrase in phrases}
        if not self.data.get("unspaced"):
            return self.any_of(texts)
        longest_first = sorted(texts, key=lambda text: (-len(text), text))
        pattern = "|".join(
            f"{re.escape(text)}{_unless(text, longest_first)}" for text in longest_first
        )
        return WordPattern(f"{BEHIND}(?:{pattern})(?= )" if pattern else NEVER)

    def role(self, name: str) -> WordPattern:
        """Returns the pattern for the phrases of one list (role) of the pack, frames included."""
        if name not in self._roles:
            words = (*self.pack.list_of(name), *self._frames(name))
            plain = map(without_accents, words if name in DENYING else ())
            self._roles[name] = self.any_of((*words, *(word for word in plain if len(word) > 2)))
        return self._roles[name]

    def is_one_of(self, word: str, name: str) -> bool:
        """True if a word equals one phrase of the list `name`."""
        text = self.canonical(word)
        return self.role(name).begins(text) == len(text) - 1

    def ending(self, sentence: str) -> str:
        """Returns the end of a sentence if it does not change the meaning (です), or ""."""
        last = re.compile(f"{self.role('filler').pattern} ?$").search(sentence)
        return last[0].rstrip() if last else ""

    def _frames(self, name: str) -> Iterator[str]:
        for row in self.pack.answers:
            if row.use != "frame" or row.instrument != "choice":
                continue
            slots = re.findall(r"\{(\w+)\}", row.reply)
            role = _FRAME_ROLES.get(row.expected, ("", ""))[len(slots) < 2]
            if role == "prefer" and slots[0] == "other":
                role = "prefer_last"
            if role == name:
                yield re.sub(r"\{\w+\}", "@", row.reply).strip(" .。।")

    def variants(self, form: str) -> set[str]:
        """Returns other forms of the same meaning: cases of a word for a person, other words for
        yes or no; each also with the language's endings, particles and prefixes.
        """
        alike = next((words for words in self._alike if form in words), [form])
        others = {word for words in self._alike if words is not alike for word in words}
        shapes = {ended for word in alike for ended in (word, *self._endings(word))}
        prefixed = (
            f"{prefix}{shape}" for prefix in self.pack.list_of("prefixes") for shape in shapes
        )
        return (shapes | set(prefixed)) - others - {form}

    def _endings(self, word: str) -> Iterator[str]:
        yield from (f"{word}{particle}" for particle in self.pack.list_of("particles"))
        for endings in self._groups_of_endings if word not in self.in_passing else ():
            for ending, other in permutations(endings, 2):
                if word.endswith(ending) and len(word) > len(ending) + (len(ending) < _WHOLE):
                    yield f"{word.removesuffix(ending)}{other}"
        yield from self._separable(word)

    @cached_property
    def _groups_of_endings(self) -> list[tuple[str, ...]]:
        return [strings(group) for group in _rows(self.data.get("endings"))]

    def verb_stem(self, form: str) -> str:
        """Makes a pattern for the forms of a verb from its infinitive ("conceder": "concederia");
        "" if the word is no infinitive, or too short to distinguish its forms from other words.
        """
        tails = self.pack.list_of("verb_tails")
        for ending in sorted(self.pack.list_of("verb_endings"), key=len, reverse=True):
            stem = form.removesuffix(ending)
            if form.endswith(ending) and len(stem) >= (2 if tails else _STEM) and " " not in stem:
                tail = rf"(?:{'|'.join(tails)})\S*" if tails else rf"\S{{0,{_TAIL}}}"
                return f"{re.escape(stem)}{tail}"
        return ""

    @cached_property
    def places(self) -> list[tuple[str, ...]]:
        """The words for each position, first, second, …, in a list ("the latter")."""
        return [strings(words) for words in _rows(self.data.get("places"))]

    @cached_property
    def in_passing(self) -> frozenset[str]:
        """The words that occur in sentences of any kind: pronouns, yes, no, and, or."""
        return frozenset(word.casefold() for name in _PASSING for word in self.pack.list_of(name))

    def _separable(self, participle: str) -> Iterator[str]:
        """Yields other forms of a separable verb: ablehnen, abzulehnen, Ablehnung of abgelehnt."""
        stems = {pair[0]: pair[1] for pair in map(strings, _rows(self.data.get("stems")))}
        changed = {core: stem for stem, core in stems.items()}
        for prefix in strings(self.data.get("separable")):
            start = f"{prefix}ge"
            if participle.startswith(prefix) and participle.endswith("en"):  # the infinitive
                core = participle.removeprefix(prefix).removesuffix("en")
                endings = ("t", "d", "en") if self.code == "nl" else ("t", "en")
                yield from (f"{start}{changed.get(core, core)}{ending}" for ending in endings)
                yield from (f"{prefix}zu{core}en", f"{prefix}{core}ung")
            if participle.startswith(start) and participle.endswith(("t", "en")):
                stem = participle.removeprefix(start).removesuffix("t").removesuffix("en")
                stem = stems.get(stem, stem)
                yield from (f"{prefix}{stem}{ending}" for ending in ("en", "e", "t", "ung"))
                yield f"{prefix}zu{stem}en"

    def has(self, text: str, *roles: str) -> bool:
        """True if a canonical text contains a phrase of one of the roles."""
        return self.any_role(*roles).search(text) is not None

    def any_role(self, *roles: str) -> WordPattern:
        """Returns the pattern for the phrases of several roles."""
        if roles not in self._sought:
            words = [self.role(role) for role in roles]
            several = len(roles) > 1
            self._sought[roles] = WordPattern(*(w.pattern for w in words)) if several else words[0]
        return self._sought[roles]

    def foreign(self, canonical: str) -> bool:
        """True if a text is in another language, to judge by its script or frequent words."""
        if self.scripts and not (canonical.isascii() and "LATIN" in self.scripts):
            letters = {c: number for c, number in Counter(canonical).items() if c.isalpha()}
            elsewhere = sum(n for c, n in letters.items() if script(c) not in self.scripts)
            if elsewhere * 2 > sum(letters.values()):
                return True
        words = [word for word in canonical.split() if word[0].isalpha()]
        frequent = sum(word in self.frequent for word in words)
        codes = Counter(code for word in words for code in _languages_of(word))
        most = max((number for code, number in codes.items() if code != self.code), default=0)
        return bool(self.data) and most > max(frequent, len(words) / 3)


@cache
def _codes_of_words() -> dict[str, list[str]]:
    codes: dict[str, list[str]] = {}
    for code, common in frequent_words().items():
        for word in common:
            codes.setdefault(word, []).append(code)
    return codes


def _languages_of(word: str) -> Sequence[str]:
    """Returns the languages among whose frequent words a word is."""
    return _codes_of_words().get(word, ())


def _unless(text: str, others: Iterable[str]) -> str:
    """Makes a lookahead: no match if the end of `text` begins another phrase that follows there."""
    words = text.split()
    rests = {
        " ".join(["", *other[size:]])
        for other in map(str.split, others)
        for size in range(1, min(len(words), len(other)))
        if words[-size:] == other[:size]
    }
    return "".join(f"(?!{re.escape(rest)}(?= ))" for rest in sorted(rests))


def _ending(short: str) -> re.Pattern[str]:
    """Makes a pattern for a contraction: a whole word; or an ending after a letter, if it begins
    with an apostrophe or (in the pack) a hyphen.
    """
    ends = short.startswith(("'", "n't", "-"))
    before, short = r"(?<=[^\W\d_])" if ends else r"\b", short.removeprefix("-")
    return lazy(before + re.escape(short) + r"\b")


def _rows(value: Json) -> list[Json]:
    return [] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)


@cache
def language(code: str) -> Language:
    """Returns the language for a code such as "en" or "zh-Hant" (pack "zh"), also with a protocol's
    own words ("pt@1a2b3c4d"). For "" and codes without a pack it has no phrases.
    """
    return (
        Language(pack(code))
        if "@" in code or code == quotes.base(code)
        else language(quotes.base(code))
    )
