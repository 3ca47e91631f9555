"""Writes the text of a protocol over a table of prompts, with comments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from string import Template
from types import MappingProxyType

from ...languages.quotes import base, facts
from ...protocol import EVERY
from .offered import begun_answer
from .own_prompts import PromptColumns
from .spoken import LANGUAGE

_STARTS = Path(__file__).parents[1] / "starts" / "table"
_MEASURE = "[[measures]]"  # begins a measure of a start, the gap first
_EXACT = """
[modes.exact]  # the probabilities of the words offered are read, once, where the model gives them
logprobs = 100
max_tokens = 1
begin = $begin  # the model goes on from here
"""


def write(name: str, table: str, reading: PromptColumns) -> str:
    """Writes the text of a protocol over the table, with comments."""
    options, code = reading.options, reading.language
    text = (_STARTS / ("choice.toml" if options else "length.toml")).read_text("utf-8")
    start, gap, others = (Template(part) for part in text.split(_MEASURE))
    counted = f"share of answers “{options[0]}”" if options else "words of an answer"
    begin = begun_answer(code) if options and len(reading.offered) == 1 else ""
    spoken = (LANGUAGE,) if code else ()
    added = f"\nadd = {{ language = {_quote(code)} }}" if code and not reading.tabled else ""
    # a column in another language has no English plural
    first = "" if base(code) in ("", "en") else '\nfirst = { measure = "gap", item = "item" }'
    words = (reading.words,) if reading.words else ()
    sampled = '  # names are a sample: "none" if there are no others'
    crossed = [(*reading.cues,)] if len(reading.cues) > 1 else []
    slots = {
        "name": re.sub(r"\W+", "_", name).strip("_").lower() or "audit",
        "table": _quote(table) + added,
        "question": _quote(f"{reading.measured}, and does that change when only the cue changes?"),
        "prompt": reading.prompt,
        "item": _quote(reading.item),
        "factors": _quote_all((*reading.cues, reading.item, *spoken)),
        "columns": _quote_all((reading.prompt, *reading.cues, reading.item, *words, *spoken)),
        "first": "".join(f"\ncue_words = {_quote(word)}{sampled}" for word in words) + first,
        "exact": Template(_EXACT).substitute(begin=_quote(begin)) if begin else "",
        "forms": "\n".join(_forms(reading)),
        "counted": _quote_all(options[:1]),
        "among": _quote_all(options),
        "by": ", ".join(f"[{_quote_all(by)}]" for by in [*zip(reading.cues), *crossed]),
        "text": _quote(counted),
    }
    measures = [
        gap.substitute(
            slots | _compared("gap" if number == 1 else f"gap_{number}", cue, levels, counted)
        )
        for number, (cue, levels) in enumerate(reading.cues.items(), 1)
    ]
    measures.append(others.substitute(slots))
    if len(reading.offered) > 1:
        measures[-1] += _language_measures(reading, counted, slots)
    return _MEASURE.join([start.substitute(slots), *measures])


def _language_measures(reading: PromptColumns, counted: str, slots: Mapping[str, str]) -> str:
    """Writes measures that hold the languages against each other."""
    text = (_STARTS / "languages.toml").read_text("utf-8")
    names = {code: facts(code).name for code in reading.offered}
    kind, attribute, unit = (
        ("share", "answer", "share") if reading.options else ("mean", "words", "words")
    )
    kinds = {
        "kind": kind,
        "difference": "difference" if reading.options else "mean_difference",
        "attribute": attribute,
        "unit": unit,
        "text": _quote(f"{counted}, by language"),
    }
    compared = _compared("languages", LANGUAGE, tuple(names), counted, names)
    return Template(text).substitute({**slots, **compared, **kinds})


def _compared(
    name: str,
    factor: str,
    levels: Sequence[str],
    counted: str,
    titles: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, str]:
    """Returns the slots of a measure that compares two levels, or all others with the first."""
    level, baseline = levels if len(levels) == 2 else (EVERY, levels[0])
    less = titles.get(baseline, baseline)
    more = titles.get(level, level) if level != EVERY else f"each other {factor}"
    return {
        "gap": name,
        "cue": _quote(factor),
        "level": _quote(level),
        "baseline": _quote(baseline),
        "gap_text": _quote(f"{counted}, {more} less {less}"),
    }


def _forms(reading: PromptColumns) -> Iterator[str]:
    """Yields the lines of the words that count as each option, for each language."""
    note = "  # for each option the words that count as it"
    for code, words in reading.offered.items():
        yield f"[instruments.forms.{code or 'und'}]{note}"
        yield from (
            f"{_quote(option)} = [{_quote(word)}]"
            for option, word in zip(reading.options, words, strict=True)
        )
        note = ""


def _quote_all(texts: Iterable[str]) -> str:
    return ", ".join(map(_quote, texts))


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # a string of JSON is one of TOML
