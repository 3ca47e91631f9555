"""The forms of options, as a protocol declares them: {language: {option: its forms}}."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ...errors import ProtocolError, UnknownName
from ...languages.letters import NAME, is_unspaced, script
from ...languages.patterns import lazy
from ...languages.phrases import Language, language
from ...protocol import InstrumentSpec
from ...records import OUTCOMES, Trial

Forms = Mapping[str, Sequence[str]]  # option → its forms in one language
SLOT = lazy(rf"\{{({NAME})\}}")  # a column of the row, whose value is the form


def forms_of(
    declared: Mapping[str, Forms], trial: Trial, name: str, cell: Mapping[str, str] | None = None
) -> tuple[str, Forms]:
    """Returns the language of a trial and the forms of its options. cell: the row whose values fill
    the slots of the forms; without it the slots remain.
    """
    code = trial.factors.get("language") or next(iter(declared))
    if code not in declared:
        raise ProtocolError(
            f"instrument {name}: {UnknownName('language', code, declared)} "
            f"Add a table [instruments.forms.{code}]."
        )
    return code, filled(declared[code], cell) if cell else declared[code]


def filled(forms: Forms, cell: Mapping[str, str]) -> Forms:
    """Fills a row's values into slots of the forms ("{ans0}"). KeyError if a column is missing."""
    if not any(map(SLOT.search, (form for written in forms.values() for form in written))):
        return forms
    return {
        option: [SLOT.sub(lambda slot: cell[slot[1]], form) for form in written]
        for option, written in forms.items()
    }


def check_slots(declared: Mapping[str, Forms], cells: Sequence[Mapping[str, str]]) -> None:
    """Raises ProtocolError if a slot names no column of the design, or if a row gives two options
    the same form.
    """
    for cell in cells:
        code = cell.get("language") or next(iter(declared))
        try:
            forms = filled(declared.get(code, {}), cell)
        except KeyError as slot:
            raise ProtocolError(
                f"forms.{code}: a form has the slot {slot.args[0]}, but the tables have no such "
                f"column. Their columns: {', '.join(cell)}."
            ) from None
        if forms is declared.get(code):
            return
        options: dict[str, str] = {}
        for option, written in forms.items():
            for form in written:
                _check_form(form, option, options, f"forms.{code}", language(code))


def check_forms(spec: InstrumentSpec) -> None:
    """Raises ProtocolError, naming the forms, if two options share a form or a form is invalid."""
    declared: Mapping[str, Forms] = spec.settings["forms"]
    for code, forms in declared.items():
        where = f"instrument {spec.name}: forms.{code}"
        options: dict[str, str] = {}
        for option, written in forms.items():
            if option in OUTCOMES:
                raise ProtocolError(
                    f"{where}: an option cannot be called '{option}', which is an outcome. "
                    "Rename it."
                )
            for form in written:
                _check_form(form, option, options, where, language(code))


def _check_form(form: str, option: str, seen: dict[str, str], where: str, known: Language) -> None:
    key = known.canonical(form).strip()
    if not key:
        raise ProtocolError(f"{where}.{option}: the form '{form}' has no letters.")
    if seen.setdefault(key, option) != option:
        raise ProtocolError(
            f"{where}: '{form}' is a form of '{option}' and of '{seen[key]}'. Remove one of these."
        )


def merge_forms(one: str, other: str) -> Iterator[str]:
    """Yields two forms merged into one: he-she; and s/he, (s)he, 彼(女) if one contains the other.
    Scripts without spaces get no hyphen: it is parsed as a comma there, so 彼女-彼 would equal the
    beginning of 彼女、彼女; and a comma joins mentions anyway.
    """
    if not is_unspaced(one[-1]) and not is_unspaced(other[0]):
        yield f"{one}-{other}"
    if other.endswith(one):
        start = other.removesuffix(one)
        yield from (f"{start}/{one}", f"({start}){one}", f"{start}({one})")
    if other.startswith(one):
        end = other.removeprefix(one)
        yield from (f"{one}/{end}", f"{one}({end})")


def is_part(match: re.Match[str]) -> bool:
    """True if a match (WordPattern) of Han characters adjoins a further one, as 父 does in 祖父."""
    around = match.string[match.start() - 1 : match.start()] + match.string[match.end() :][:2]
    return all(script(c) == "CJK" for c in match[0] if c != " ") and any(
        script(c) == "CJK" for c in around if c.isalpha()
    )


def cases_of(written: Sequence[str], language: Language) -> list[str]:
    """Lists the other cases (him, his) of a pronoun that is a form of an option."""
    folded = {form.casefold() for form in written}
    lists = (language.pack.list_of(name) for name in ("she", "he"))
    return [case for cases in lists if folded & {*cases} for case in cases if case not in folded]
