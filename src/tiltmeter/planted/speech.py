"""The sentences by which a planted model states an outcome, and its next tokens, with words from
the language packs. Pure.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, TypeVar

from ..languages.pack import AnswerRow, pack, strings
from ..languages.refusals import sentence
from ..models.http.body import list_at, object_at, text_at
from ..records import BOTH, INVALID, NEITHER, OTHER_LANGUAGE, REFUSAL, Json, Token
from .settings import OUTCOMES, Settings

# of a form's probability lies, in varied dress, on the form with a capital, a token of its own
CAPITAL_SHARE = 0.1
# Where an answer is no choice, the token that it starts with.
_FIRST_WORDS = {
    "refuse": "I",
    "both": "both",
    "neither": "neither",
    "invalid": "42",
    "foreign": "それ",
}
K = TypeVar("K")
_BLANK = re.compile(r"[^.!?\n]*_{2,}[^.!?\n]*[.!?]?")


class Known(NamedTuple):
    """A prompt's facts that answers depend on. blank: the sentence with a blank, or ""."""

    language: str
    forms: Mapping[str, str]
    outcomes: Mapping[str, float]
    blank: str


def blank_of(prompt: str) -> str:
    """Returns the sentence of a prompt that has a blank, or ""."""
    blank = _BLANK.search(prompt)
    return blank[0].strip() if blank else ""


_KINDS = {BOTH: BOTH, NEITHER: NEITHER, INVALID: INVALID}
# Shapes that need no words, for a language without a pack.
_BARE = {"form": ("{form}", "'{form}'", " {form}\n"), BOTH: ("{forms}",), INVALID: ("42", "...")}
_ENGLISH, _OTHERS = "en", ("ja", "ru")  # what an answer in another language is written in


@lru_cache(maxsize=1)
def _speech() -> Json:
    return tomllib.loads(Path(__file__).with_name("speech.toml").read_text("utf-8"))


@lru_cache
def sentences(language: str, kind: str) -> Sequence[str]:
    """Returns the sentences of the language's pack for a label; without any, the bare forms."""
    code = language or _ENGLISH
    if kind == REFUSAL:
        return declines(code)
    if kind == OTHER_LANGUAGE:
        others = (_ENGLISH,) if pack(code).list_of("scripts") != ("LATIN",) else _OTHERS
        lines = (pack(other).replies("dialogue", "two_lines")[0] for other in others)
        return tuple(line.partition("\n")[0] for line in lines)
    label = _KINDS.get(kind, "form")
    replies = tuple(row.reply for row in pack(code).answers if _has_label(row, label))
    return replies or _BARE.get(label) or sentences(_ENGLISH, kind)


def _has_label(row: AnswerRow, label: str) -> bool:
    return row.instrument == "choice" and row.expected == label


@lru_cache
def judge_sentences(kind: str) -> Sequence[str]:
    """Returns a planted judge's sentences of a kind: `label` or `nonsense`."""
    return tuple(map(str, list_at(_speech(), "judge", kind)))


@lru_cache
def declines(language: str) -> Sequence[str]:
    """Returns the refusals of a language's pack; the English ones if the pack has none."""
    refusals = tuple(filter(None, map(sentence, pack(language or _ENGLISH).refusals)))
    return refusals or declines(_ENGLISH)


@lru_cache
def intros(language: str) -> Sequence[str]:
    """Returns texts to put before a list of picked words."""
    return _replies("intro", language)


@lru_cache
def words_off_the_list(language: str) -> Sequence[str]:
    """Returns a language's words to pick that are on no list."""
    return _replies("off", language)[0].split(", ")


def _replies(shape: str, language: str) -> Sequence[str]:
    rows = [row for row in pack(language).answers if row.instrument == "picks"]
    replies = tuple(row.reply for row in rows if row.shape == shape)
    return replies or _replies(shape, _ENGLISH)


@lru_cache
def dialogues(language: str) -> Mapping[str, Sequence[str]]:
    """Returns {topic: two lines of a dialogue} in a language; {} if its pack has none."""
    rows = (row for row in pack(language).answers if row.instrument == "dialogue")
    return {row.shape: row.reply.split("\n") for row in rows}


def prose_phrases(kind: str) -> Sequence[str]:
    """Returns English words of a kind, for planted texts."""
    return tuple(map(str, list_at(_speech(), "prose", _ENGLISH, kind)))


def prose_phrase(key: str) -> str:
    """Returns an English phrase for planted texts."""
    return text_at(_speech(), "prose", _ENGLISH, key)


def speakers(language: str) -> dict[str, Sequence[str]]:
    """Returns {woman, man: (label alone, first of two, second of two)} in a language."""
    people = pack(language).people if "two_women" in pack(language).people else pack("en").people
    alone = object_at(people, "alone")
    named = {"woman": "two_women", "man": "two_men"}
    return {
        person: (
            str(alone.get(person) or _capital(strings(people[person])[0])),
            *strings(people[two]),
        )
        for person, two in named.items()
    }


def one_of(choices: Sequence[str], uniform: float, settings: Settings) -> str:
    """Returns the choice that `uniform` selects; the first choice if dress=plain."""
    return choices[0] if settings.dress == "plain" else choices[int(uniform * len(choices))]


def say(settings: Settings, known: Known, outcome: str, uniform: float) -> str:
    """Writes an outcome in one of the sentences that fit the prompt."""
    return _fill(one_of(_sentences(known, outcome), uniform, settings), known, outcome)


def ways(known: Known, outcome: str) -> list[str]:
    """Lists all sentences that state an outcome in answer to a prompt."""
    return [_fill(sentence, known, outcome) for sentence in _sentences(known, outcome)]


def _sentences(known: Known, outcome: str) -> Sequence[str]:
    kind = "form" if outcome in known.forms else outcome
    return _fitting(known.language, kind, tuple(known.forms.values()), bool(known.blank))


@lru_cache
def _fitting(language: str, kind: str, forms: Sequence[str], has_blank: bool) -> Sequence[str]:
    candidates = sentences(language, kind)
    unfit = () if has_blank else ("{filled}",)
    if _negates(language, forms):  # nobody says "not no, but yes"
        unfit = (*unfit, "{other}")
    return [
        sentence for sentence in candidates if not any(slot in sentence for slot in unfit)
    ] or candidates


def _negates(language: str, forms: Sequence[str]) -> bool:
    """True if a form is a word for yes or no, or a negation, in the language."""
    words = {w for name in ("yes", "no", "reject") for w in pack(language).list_of(name)}
    return any(form.casefold() in words for form in forms)


def _fill(sentence: str, known: Known, outcome: str) -> str:
    forms = list(known.forms.values())
    chosen = known.forms.get(outcome, forms[0])
    other = next((form for form in reversed(forms) if form != chosen), forms[-1])
    filled = re.sub(r"_{2,}", _capital(chosen), known.blank)
    return sentence.format(
        form=chosen,
        Form=_capital(chosen),
        other=other,
        filled=filled,
        forms="/".join(forms),
        Forms="/".join(map(_capital, forms)),
    )


def _capital(word: str) -> str:
    return word[:1].upper() + word[1:]


def pick(shares: Mapping[K, float], uniform: float, otherwise: K) -> K:
    """Samples a key by its share, using `uniform`; returns `otherwise` beyond the shares' sum."""
    for key, share in shares.items():
        uniform -= share
        if uniform < 0:
            return key
    return otherwise


# begun answers and next tokens


def finish_answer(begin: str, form: str) -> str:
    """Returns what follows `begin` in an answer: a form; closes an open quotation mark."""
    return _with_blank(begin, form) + _closing(begin)


def next_token(
    settings: Settings, known: Known, begin: str, number: int, uniform: float
) -> tuple[str, tuple[Token, ...]]:
    """Samples the next token; returns it and the `number` likeliest, by the planted shares."""
    shares: dict[bytes, float] = {}
    for text, share in _continuations(settings, known, begin):
        token = text.encode()[:1] if settings.firstbyte else text.encode()
        if share > 0:
            shares[token] = shares.get(token, 0.0) + share
    drawn = pick(shares, uniform, otherwise=b"42")
    ranked = sorted(shares.items(), key=lambda pair: -pair[1])[:number]
    return drawn.decode("utf-8", "replace"), tuple(
        Token(token, math.log(share)) for token, share in ranked
    )


def _continuations(settings: Settings, known: Known, begin: str) -> Iterator[tuple[str, float]]:
    """Yields (continuation of an answer that starts with `begin`, probability); if `begin` ends
    inside a form, the probability is conditional on the forms that still fit.

    With `begin` "彼", 彼 for he and 彼女 for she: 女 has P(she) / (P(he) + P(she)), and the end of
    the word has the rest.
    """
    begun = {value: _characters_begun(begin, form) for value, form in known.forms.items()}
    deepest = max(begun.values())
    if deepest:
        going = {value: known.outcomes[value] for value in known.forms if begun[value] == deepest}
        total = sum(going.values()) or 1.0
        for value, share in going.items():
            yield known.forms[value][deepest:] or _closing(begin) or ".", share / total
        return
    capital = CAPITAL_SHARE if settings.dress == "varied" else 0.0
    for value, whole in known.forms.items():
        # 彼女 begins as 彼
        form = min((other for other in known.forms.values() if whole.startswith(other)), key=len)
        yield _with_blank(begin, form), known.outcomes[value] * (1 - capital)
        yield _with_blank(begin, _capital(form)), known.outcomes[value] * capital
    for name, outcome in OUTCOMES.items():
        yield (
            _FIRST_WORDS[name],
            known.outcomes[outcome] - (settings.rest if outcome == INVALID else 0.0),
        )


def _characters_begun(begin: str, form: str) -> int:
    """Counts the characters at the end of `begin` that are a form's first ones, in a new word."""
    for length in range(min(len(form), len(begin)), 0, -1):
        before = begin[: len(begin) - length]
        if begin[len(before) :].lower() == form[:length].lower() and not before[-1:].isalpha():
            return length
    return 0


def _with_blank(begin: str, form: str) -> str:
    """Returns the form with a space before it if `begin` ends in a letter, digit or comma."""
    return f" {form}" if begin[-1:].isalnum() or begin[-1:] in tuple(",;:") else form


def _closing(begin: str) -> str:
    """Returns the closing mark of a quotation that `begin` leaves open, or ""."""
    opened = re.search(r"['\"“`*]+(?=\w*$)", begin)
    return opened[0].replace("“", "”") if opened else ""
