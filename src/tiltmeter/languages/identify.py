"""Tells a text in another language than the one it was asked for in.

Scripts decide first, with no library: Han, kana and Hangul for Chinese, Japanese and Korean, where
text in other letters for the most part (romanised Chinese too) is another language. Languages that
share a script are told apart by py3langid (a naive Bayes classifier over byte n-grams, Lui and
Baldwin 2012), an optional extra that is imported when first needed: where words that only one of
these languages has leave a doubt. Those words save most answers the 0.2 ms that it takes.

Text so short that nothing can be told is not called foreign: an identifier's doubt must not remove
an answer.
"""

from __future__ import annotations

import re
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
from .quotes import base

Rank = Callable[[str], Sequence[tuple[str, float]]]

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_KANA = "\u3041-\u3096\u30a1-\u30fa\uff66-\uff9d"
_HANGUL = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"
_IN_KANA = re.compile(f"[{_KANA}]")
_IN_ANY = re.compile(f"[{_HAN}{_KANA}{_HANGUL}]")
_OWN = {
    "zh": re.compile(f"[{_HAN}]"),
    "ja": re.compile(f"[{_HAN}{_KANA}]"),
    "ko": re.compile(f"[{_HANGUL}]"),
}
_OTHER = {"zh": re.compile(f"[{_KANA}{_HANGUL}]"), "ja": _OWN["ko"], "ko": _OWN["ja"]}
_WORD = re.compile(
    "(?:[^\\W\\d_\u1100-\u11ff\u3041-\u318e\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9d]"
    f"|[{MARKS}])+"
)
CHARACTERS_A_WORD = 2  # of Han, kana or Hangul that say about as much as one word in letters
# of Han and kana together: 优の良品 is Chinese, a Japanese sentence has a third or more
KANA_SHARE_IN_CHINESE = 0.1
HAN_WITHOUT_KANA = 6  # characters: a Japanese sentence of that length has kana (了解。 need not)
# what parts words; to split them is a third quicker than to find them
_APART = re.compile(r"[^\w\s'¿¡-]")
ENOUGH_WORDS = 3  # that only the language has, with none that only another has, settle it
LEAD_NATS = 6.0  # by which another language must lead (a factor of 400)
LONGEST_CHARACTERS = 2000  # looked at


def foreign(text: str, code: str) -> bool:
    """True if most of a text is not in `code` (as "zh-Hant" is "zh"). Raises MissingExtra."""
    code, text = base(code), text[:LONGEST_CHARACTERS].casefold().replace("’", "'")
    if code in _OWN:
        return _in_other_script(text, code)
    others = 0 if text.isascii() else len(_IN_ANY.findall(text))
    if others and others > CHARACTERS_A_WORD * len(_WORD.findall(text)):
        return True
    told = _language_of_own_words(text) if code in _lists().only else ""
    return (
        told != code
        if told
        else _WORD.search(text) is not None and _is_foreign_to_identifier(text, code)
    )


def _in_other_script(text: str, code: str) -> bool:
    """True if a text is not mostly in the script of `code`: Chinese, Japanese or Korean."""
    others = CHARACTERS_A_WORD * len(_WORD.findall(text)) + len(_OTHER[code].findall(text))
    without_kana = code == "ja" and not _IN_KANA.search(text)
    if not others and not without_kana:  # most answers: their own script need not be counted
        return False
    own = len(_OWN[code].findall(text))
    if own < others:
        return True
    if code == "zh":
        return len(_IN_KANA.findall(text)) > KANA_SHARE_IN_CHINESE * own
    return without_kana and own >= HAN_WITHOUT_KANA


def _language_of_own_words(text: str) -> str:
    """The language that words of its own tell, with none of another's; "" where a doubt is left."""
    apart = _APART.sub(" ", text.replace("¿", " ¿ ").replace("¡", " ¡ "))
    found = [code for code in map(_owners().get, apart.split()) if code]
    return found[0] if len(found) >= ENOUGH_WORDS and len(set(found)) == 1 else ""


def _is_foreign_to_identifier(text: str, code: str) -> bool:
    """True if another language leads over `code`; False for one that is not known."""
    scores = dict(_identifier("" if code in _lists().others else code)(text))
    own = scores.get(code)
    return own is not None and max(scores.values()) - own > LEAD_NATS


@lru_cache
def _identifier(code: str) -> Rank:
    """py3langid's ranking of the others, and of `code` if it is none: (language, log-probability up
    to a constant). To load its model takes half a second of a processor.
    """
    try:
        library = import_module("py3langid").langid  # here, since it needs numpy
    except ModuleNotFoundError:
        raise MissingExtra(
            "Telling languages of one script apart (English, French, Spanish)", "languages"
        ) from None
    identifier = library.LanguageIdentifier.from_model_file(library.MODEL_FILE)
    wanted = {*_lists().others, code}
    identifier.set_languages([n for n in dict.fromkeys(identifier.nb_classes) if n in wanted])
    rank: Rank = identifier.rank
    return rank


class Lists(NamedTuple):
    """others: the languages that an answer may be in beside its own; only: {language: words that it
    alone has}; frequent: {language: its frequent words}.
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
    """{language: its frequent words}, of languages that answers come in unasked."""
    return _lists().frequent


@lru_cache
def _owners() -> Mapping[str, str]:
    return {word: code for code, words in _lists().only.items() for word in words}


def wording() -> Mapping[str, Json]:
    """Returns what labels that depend on the language depend on: the library's version too, since
    another may decide differently.
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
    """The code of the language of a text: by its script, else the likeliest, and of several nearly
    as likely the one with a pack. "" for a text without letters or clues, or without the library.
    """
    text = text[:LONGEST_CHARACTERS].casefold()
    if not _WORD.search(text) and not _IN_ANY.search(text):
        return ""
    for code in ("ko", "zh", "ja"):
        if _IN_ANY.search(text) and not _in_other_script(text, code):
            return code
    try:
        ranked = _everything()(text)
    except MissingExtra:
        return ""
    if not ranked:
        return ""
    near = [code for code, score in ranked if score > ranked[0][1] - LEAD_NATS]
    return next((code for code in near if code in shipped()), near[0] if near else "")


@lru_cache
def _everything() -> Rank:
    """py3langid's ranking of all languages that it knows."""
    try:
        library = import_module("py3langid").langid
    except ModuleNotFoundError:
        raise MissingExtra("Telling the language of prompts", "languages") from None
    rank: Rank = library.LanguageIdentifier.from_model_file(library.MODEL_FILE).rank
    return rank
