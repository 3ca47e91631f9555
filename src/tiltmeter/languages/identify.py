"""Finds texts that are in another language than the one they were asked for in.

Scripts decide first, without a library: Han, kana and Hangul for Chinese, Japanese and Korean; a
text mostly in other letters (romanised Chinese too) is foreign to them. Languages that share a
script are distinguished by words that only one of them has; if these do not decide, by py3langid (a
naive Bayes classifier over byte n-grams, Lui and Baldwin 2012), an optional extra that is imported
at its first use. The words save most answers the 0.2 ms that py3langid takes.

A text too short to decide is not called foreign: an identifier's doubt must not remove an answer.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from ..errors import MissingExtra
from ..records import Json
from .letters import MARKS
from .pack import shipped
from .patterns import lazy
from .quotes import base

Rank = Callable[[str], Sequence[tuple[str, float]]]

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_KANA = "\u3041-\u3096\u30a1-\u30fa\uff66-\uff9d"
_HANGUL = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"
_IN_KANA = lazy(f"[{_KANA}]")
_IN_ANY = lazy(f"[{_HAN}{_KANA}{_HANGUL}]")
_OWN = {
    "zh": lazy(f"[{_HAN}]"),
    "ja": lazy(f"[{_HAN}{_KANA}]"),
    "ko": lazy(f"[{_HANGUL}]"),
}
_OTHER = {"zh": lazy(f"[{_KANA}{_HANGUL}]"), "ja": _OWN["ko"], "ko": _OWN["ja"]}
_WORD = lazy(
    "(?:[^\\W\\d_\u1100-\u11ff\u3041-\u318e\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9d]"
    f"|[{MARKS}])+"
)
CHARACTERS_A_WORD = 2  # of Han, kana or Hangul that say about as much as one word in letters
# of Han and kana together: 优の良品 is Chinese, a Japanese sentence has a third or more
KANA_SHARE_IN_CHINESE = 0.1
HAN_WITHOUT_KANA = 6  # characters: a Japanese sentence of that length has kana (了解。 need not)
# what parts words; to split them is a third quicker than to find them
_APART = lazy(r"[^\w\s'¿¡-]")
ENOUGH_WORDS = 3  # that only the language has, with none that only another has, settle it
LEAD_NATS = 6.0  # by which another language must lead (a factor of 400)
LONGEST_CHARACTERS = 2000  # looked at


def foreign(text: str, code: str) -> bool:
    """True if most of a text is not in language `code`. Raises MissingExtra without py3langid."""
    code, text = base(code), text[:LONGEST_CHARACTERS].casefold().replace("’", "'")
    if code in _OWN:
        return _in_other_script(text, code)
    others = 0 if text.isascii() else len(_IN_ANY.findall(text))
    if others and others > CHARACTERS_A_WORD * len(_WORD.findall(text)):
        return True
    detected = _language_of_own_words(text) if code in _lists().only else ""
    return (
        detected != code
        if detected
        else _WORD.search(text) is not None and _is_foreign_to_identifier(text, code)
    )


def _in_other_script(text: str, code: str) -> bool:
    """True if a text is not mostly in the script of `code` (zh, ja or ko)."""
    others = CHARACTERS_A_WORD * len(_WORD.findall(text)) + len(_OTHER[code].findall(text))
    without_kana = code == "ja" and not _IN_KANA.search(text)
    if not others and not without_kana:  # most answers: their own script need not be counted
        return False
    letters = len(_OWN[code].findall(text))
    if letters < others:
        return True
    if code == "zh":
        return len(_IN_KANA.findall(text)) > KANA_SHARE_IN_CHINESE * letters
    return without_kana and letters >= HAN_WITHOUT_KANA


def _language_of_own_words(text: str) -> str:
    """Returns the only language whose exclusive words the text has; "" if in doubt."""
    apart = _APART.sub(" ", text.replace("¿", " ¿ ").replace("¡", " ¡ "))
    codes = [code for code in map(_owners().get, apart.split()) if code]
    return codes[0] if len(codes) >= ENOUGH_WORDS and len(set(codes)) == 1 else ""


def _is_foreign_to_identifier(text: str, code: str) -> bool:
    """True if py3langid prefers another language by LEAD_NATS; False if it lacks `code`."""
    scores = dict(_identifier("" if code in _lists().others else code)(text))
    score = scores.get(code)
    return score is not None and max(scores.values()) - score > LEAD_NATS


@lru_cache
def _identifier(code: str = "*") -> Rank:
    """Returns py3langid's ranking function over `code` and the usual others, or over all languages
    ("*"): text → (language, log-probability up to a constant). Loading its model takes half a CPU
    second.
    """
    try:
        library = import_module("py3langid").langid  # here, since it needs numpy
    except ModuleNotFoundError:
        raise MissingExtra(
            "Distinguishing languages of one script (English, French, Spanish)", "languages"
        ) from None
    identifier = library.LanguageIdentifier.from_model_file(library.MODEL_FILE)
    if code != "*":
        wanted = {*_lists().others, code}
        identifier.set_languages([n for n in dict.fromkeys(identifier.nb_classes) if n in wanted])
    rank: Rank = identifier.rank
    return rank


class Lists(NamedTuple):
    """The word lists per language. others: languages in which an answer may come unasked; only:
    {language: words that no other language has}; frequent: {language: its frequent words}.
    """

    others: tuple[str, ...]
    only: Mapping[str, frozenset[str]]
    frequent: Mapping[str, frozenset[str]]


@lru_cache
def _lists() -> Lists:
    data = tomllib.loads(Path(__file__).with_name("identify.toml").read_text("utf-8"))
    only, frequent = (
        {code: frozenset(words) for code, words in data[name].items()}
        for name in ("only", "frequent")
    )
    return Lists(tuple(data["others"]), only, frequent)


def frequent_words() -> Mapping[str, frozenset[str]]:
    """Returns {language: its frequent words}, for languages in which answers may come unasked."""
    return _lists().frequent


@lru_cache
def _owners() -> Mapping[str, str]:
    return {word: code for code, words in _lists().only.items() for word in words}


def wording() -> Mapping[str, Json]:
    """Returns the lists and bounds that a language decision depends on, and the library's version,
    as another version may decide differently.
    """
    try:
        library = f"py3langid {version('py3langid')}"
    except PackageNotFoundError:
        library = "none"
    only = {code: sorted(words) for code, words in _lists().only.items()}
    return {
        "library": library,
        "others": _lists().others,
        "only": only,
        "lead": LEAD_NATS,
        "enough": ENOUGH_WORDS,
    }


def language_of(text: str) -> str:
    """Returns the code of a text's language by script, else of the likeliest language, or of one
    with a pack if about as likely. "" if the text has no letters or clues, or without py3langid.
    """
    text = text[:LONGEST_CHARACTERS].casefold()
    if not _WORD.search(text) and not _IN_ANY.search(text):
        return ""
    for code in ("ko", "zh", "ja"):
        if _IN_ANY.search(text) and not _in_other_script(text, code):
            return code
    try:
        ranked = _identifier()(text)
    except MissingExtra:
        return ""
    if not ranked:
        return ""
    likely = [code for code, score in ranked if score > ranked[0][1] - LEAD_NATS]
    return next((code for code in likely if code in shipped()), likely[0] if likely else "")
