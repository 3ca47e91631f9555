"""Cue words: names or other words that stand for levels of a factor, as a sample of such words.

Declared in a protocol as `cue_words = "name"`, a column of its tables, with `cue_sets = "set"` if
its rows are matched sets of one word per level; `cue_words = "none"` if they are not a sample of
other words. If not declared, `thin_design.name_columns` recognises a column of names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ...errors import ProtocolError
from ...stats.crossed.words import FEW_WORDS, LEAST_WORDS
from .. import MeasureSpec, Protocol
from ..names import refuse_unknown
from ..source.source_lines import SourceLocation
from .thin_design import (
    asked_columns,
    columns_of_pictures,
    compared_factors,
    is_called_name,
    name_columns,
    stands_in_prompts,
)

NONE = "none"
LANGUAGE = "language"
BY_WORD = "_by_word"  # ends the name of a measure
WORD_KINDS = {
    "difference": "share",
    "ratio": "share",
    "odds_ratio": "share",
    "mean_difference": "mean",
}
PEOPLE = {"person": "people", "who": "people"}  # columns that are not called names


@dataclass(frozen=True, slots=True)
class CueWords:
    """The cue words of one compared factor. column: the words' column; sets: the column of matched
    sets, "" if there is none; words: {level: its words}, without levels that have none.
    """

    factor: str
    column: str
    sets: str
    declared: bool
    words: Mapping[str, Sequence[str]]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns whose values are counted separately: the words and, if any, their sets."""
        return (self.column, self.sets) if self.sets else (self.column,)

    @property
    def singular(self) -> str:
        """The noun for one of the words: "name" in English, else the column's if it is written as
        English nouns are.
        """
        column = self.column if self.column.isascii() and self.column.islower() else "word"
        return "name" if is_called_name(self.column) else column

    @property
    def noun(self) -> str:
        """The plural noun for the words, in English."""
        return PEOPLE.get(self.column, f"{self.singular}s")

    @property
    def fewest(self) -> int:
        """The smallest number of words (or sets) that a level has."""
        return min(len(words) for words in self.words.values())


def cue_words(protocol: Protocol) -> dict[str, CueWords]:
    """Returns {compared factor: its cue words}, without factors that have none."""
    if protocol.cue_words == NONE:
        return {}
    cues = {}
    for factor in compared_factors(protocol):
        if factor == LANGUAGE:  # both languages have all names
            continue
        column = _column(protocol, factor)
        words = _by_level(protocol, factor, column) if column else {}
        if len(words) > 1:
            is_declared = bool(protocol.cue_words)
            cues[factor] = CueWords(factor, column, protocol.cue_sets, is_declared, words)
    return cues


def _column(protocol: Protocol, factor: str) -> str:
    if protocol.cue_words:
        tables = [table[0] for table in protocol.tables if factor in table[0]]
        return protocol.cue_words if any(protocol.cue_words in row for row in tables) else ""
    asked = asked_columns(protocol) - columns_of_pictures(protocol)
    columns = name_columns(protocol, factor)
    return next(
        (name for name in columns if name in asked or stands_in_prompts(protocol, factor, name)), ""
    )


def _by_level(protocol: Protocol, factor: str, column: str) -> dict[str, Sequence[str]]:
    """Returns {level: its distinct words, or distinct sets if the words come in sets}."""
    words: dict[str, dict[str, None]] = {}
    word_column = protocol.cue_sets or column
    for table in protocol.tables:
        for row in table:
            if factor in row and row.get(column, "").strip():
                words.setdefault(row[factor], {})[row.get(word_column, "")] = None
    return {level: tuple(of) for level, of in words.items()}


def check_cue_words(protocol: Protocol, columns: Collection[str], place: SourceLocation) -> None:
    """Raises ProtocolError if the column of cue words is in no table with a compared factor."""
    for key, name in (("cue_words", protocol.cue_words), ("cue_sets", protocol.cue_sets)):
        if name and not (key == "cue_words" and name == NONE):
            refuse_unknown("column", name, columns, place.at(key))
    if protocol.cue_sets and not protocol.cue_words:
        raise ProtocolError(
            f"{place.at('cue_sets')}: cue_sets needs the column of the words too. Write for "
            'instance: cue_words = "name"'
        )
    if protocol.cue_words not in ("", NONE) and not protocol.cues:
        raise ProtocolError(
            f"{place.at('cue_words')}: no measure compares a factor whose table has the column "
            f"{protocol.cue_words}. Put this column into the table of the factor's levels."
        )


def sentences(protocol: Protocol) -> Iterator[str]:
    """Yields a sentence per compared factor: its cue words, and how far conclusions can reach."""
    if protocol.cue_words == NONE and compared_factors(protocol):
        yield "Cue words: none, by declaration. The words in the prompts are all there are."
    yield from _lineup_sentence(protocol)
    for factor, cue in cue_words(protocol).items():
        words = f"{cue.noun} in matched sets" if cue.sets else cue.noun
        counts = ", ".join(f"{len(of)} for {level}" for level, of in cue.words.items())
        how = "" if cue.declared else f' (recognised; to declare: cue_words = "{cue.column}")'
        yield f"Cue words of {factor}: {words}, {counts}{how}. {_population(cue)}"


def _lineup_sentence(protocol: Protocol) -> Iterator[str]:
    """Yields a sentence on the names of the candidates in rankings (`Group: Name; Group: Name`)."""
    names: dict[str, dict[str, None]] = {}
    lineups: dict[str, set[str]] = {}
    column = lineup_column(protocol)
    for row in (row for table in protocol.tables for row in table if row.get(column)):
        for candidate in row[column].split("; "):
            group, _, name = candidate.partition(": ")
            names.setdefault(group, {})[name] = None
            lineups.setdefault(candidate, set()).add(row.get(protocol.item, ""))
    if names:
        fewest = min(map(len, names.values()))
        has_one_lineup = all(len(of) == 1 for of in lineups.values())
        how = "each in one line-up alone" if has_one_lineup else "some of them in several line-ups"
        yield (
            f"Cue words of {column} (recognised): names, {fewest} per group, {how}. Conclusions "
            "are about names and line-ups like these."
        )


def _population(cue: CueWords) -> str:
    if cue.fewest < LEAST_WORDS:
        return "Conclusions are about these words: nothing can be said of others. Give ten each."
    few = " Few: ten each are advised." if cue.fewest < FEW_WORDS else ""
    return f"Conclusions are about words like these.{few}"


def word_measures(protocol: Protocol) -> list[MeasureSpec]:
    """Makes a share or mean per cue word for each headline that compares levels by cue words."""
    measures: dict[tuple[object, ...], MeasureSpec] = {}
    for spec in protocol.measures:
        cue = protocol.cues.get((spec.contrast or {}).get("factor", ""))
        counted_of = (spec.attribute, spec.values, spec.among, *spec.where)
        if spec.headline and cue is not None and spec.kind in WORD_KINDS:
            if (cue.column, *counted_of) in measures:  # another factor of the same words
                continue
            value_name = "/".join(spec.values) or spec.attribute
            kind = WORD_KINDS[spec.kind]
            measures[cue.column, *counted_of] = replace(
                spec,
                name=spec.name + BY_WORD,
                kind=kind,
                by=((cue.factor, cue.column),),
                contrast=None,
                null=None,
                headline=False,
                text=f"{kind} of {value_name} for each {cue.column}",
                figure="forest",
                band=None,
                family="",
                parts=(),
                sentence={},
            )
    return list(measures.values())


def lineup_column(protocol: Protocol) -> str:
    """Returns the column that names the candidates of a ranking; "" if no instrument ranks."""
    rankings = (spec for spec in protocol.instruments if spec.kind == "ranking")
    return next((str(spec.settings.get("candidates", "")) for spec in rankings), "")
