"""Facts of the Unicode CLDR: quotation marks, "and" and "or", scripts and names of languages.

The data (cldr.json) is made by scripts/make_cldr.py. Models also write the marks of other languages
(«» in Spanish, for which CLDR has “”), so the marks of all languages are recognised in every
language, but only the language's own are written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

# opening mark → the marks that can close it: „…“ and “…”, »…« and «…»
PAIRS = {
    '"': '"',
    "“": "”“",
    "„": "“”",
    "”": "”",
    "«": "»",
    "»": "«",
    "‹": "›",
    "›": "‹",
    "「": "」",
    "『": "』",
    "《": "》",
    "〈": "〉",
    "‘": "’",
    "‚": "‘’",
    "'": "'",
}
# by themselves, of the languages with a pack
_BY_THEMSELVES = (
    ("ar", "العربية"), ("de", "Deutsch"), ("es", "español"), ("fr", "français"), ("hi", "हिन्दी"),
    ("it", "italiano"), ("ja", "日本語"), ("ko", "한국어"), ("nl", "Nederlands"), ("pl", "polski"),
    ("pt", "português"), ("ru", "русский"), ("tr", "Türkçe"), ("zh", "中文"),
)  # fmt: skip


class LanguageFacts(NamedTuple):
    """The facts about a language. name: in English; quotes: outer and inner pair; both, either:
    "and" and "or" between two items of a list; script: by ISO 15924.
    """

    name: str
    quotes: str
    both: str
    either: str
    script: str


@lru_cache
def _all() -> dict[str, LanguageFacts]:
    text = Path(__file__).with_name("cldr.json").read_text("utf-8")
    return {
        code: LanguageFacts(*row) for code, row in json.loads(text).items() if code != "version"
    }


@lru_cache
def named_languages() -> Mapping[str, str]:
    """Returns {a language's code, or its name in English or in itself, in lower case: its code}."""
    english = {language.name.casefold(): code for code, language in _all().items()}
    own = {name.casefold(): code for code, name in _BY_THEMSELVES}
    return {code: code for code in _all()} | english | own


def base(code: str) -> str:
    """Strips script, region and a protocol's own words from a code: "pt-BR" → "pt"."""
    return code.partition("@")[0].replace("_", "-").partition("-")[0].lower()


def facts(code: str) -> LanguageFacts:
    """Returns a language's facts; if CLDR lacks it, its code as the name, and English marks."""
    return _all().get(base(code)) or LanguageFacts(code, "“”‘’", "", "", "")
