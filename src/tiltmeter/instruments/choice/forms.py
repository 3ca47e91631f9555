"""The forms of options, as a protocol declares them: {language: {option: its forms}}."""

from __future__ import annotations

from collections.abc import Mapping

from ...errors import ProtocolError, UnknownName
from ...languages.phrases import Language, language
from ...protocol import InstrumentSpec
from ...records import OUTCOMES, Trial
from .mentions import Forms


def forms_of(declared: Mapping[str, Forms], trial: Trial, name: str) -> tuple[str, Forms]:
    """The language of a trial and its options' forms."""
    code = trial.factors.get("language") or next(iter(declared))
    if code not in declared:
        raise ProtocolError(
            f"instrument {name}: {UnknownName('language', code, declared)} "
            f"Add a table [instruments.forms.{code}]."
        )
    return code, declared[code]


def check_forms(spec: InstrumentSpec) -> None:
    """Refuses forms that cannot be told apart, naming them. Raises ProtocolError."""
    declared = spec.settings.get("forms")
    if not isinstance(declared, Mapping) or not declared:
        raise ProtocolError(
            f"instrument {spec.name}: 'forms' is missing. Add for instance: "
            'forms.en = { he = ["he"], she = ["she"] }'
        )
    for code, forms in declared.items():
        where = f"instrument {spec.name}: forms.{code}"
        if not isinstance(forms, Mapping) or len(forms) < 2:
            raise ProtocolError(f"{where} needs two options or more, each with a list of forms.")
        seen: dict[str, str] = {}
        for option, written in forms.items():
            if option in OUTCOMES:
                raise ProtocolError(
                    f"{where}: an option cannot be called '{option}', which is an outcome. "
                    "Rename it."
                )
            if (
                isinstance(written, str)
                or not written
                or not all(isinstance(form, str) for form in written)
            ):
                raise ProtocolError(f"{where}.{option} must be a list of words.")
            for form in written:
                _check_form(form, option, seen, where, language(code))


def _check_form(form: str, option: str, seen: dict[str, str], where: str, known: Language) -> None:
    key = known.canonical(form).strip()
    if not key:
        raise ProtocolError(f"{where}.{option}: the form '{form}' has no letters.")
    if seen.setdefault(key, option) != option:
        raise ProtocolError(
            f"{where}: '{form}' is a form of '{option}' and of '{seen[key]}'. Leave one out."
        )
