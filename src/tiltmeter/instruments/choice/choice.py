"""The word that an answer chooses: from sampled text (reader.py) or probabilities (exact.py)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from ...errors import ProtocolError
from ...languages.letters import fold
from ...languages.pack import overlays
from ...languages.phrases import Language, language
from ...protocol import InstrumentSpec, Protocol
from ...records import CUT, INVALID, NEITHER, Answered, Json, Label, Steps, Trial
from .. import Instrument, SecondJudge, Settings
from ..text.prose import OWN_WORDS
from .discussing import discusses
from .exact import CALLS, read_probabilities
from .forms import check_forms, check_slots, forms_of
from .reader import parse

__all__ = ["Choice", "parse"]


class Choice(Instrument):
    """An instrument for the option that an answer chooses: sampled text by `parse`, probabilities
    by exact.py.

    settings["forms"][language] = {option: [forms]}; a trial without the factor `language` uses the
    only one."""

    kind = "choice"
    version = "11"
    answers = "choice"
    summary = "which of a closed list an answer chooses, drawn or read from probabilities"
    modality = "text"
    needs = ("forms",)
    settings_schema: ClassVar[Settings] = {
        "forms": {
            "type": "object",
            "minProperties": 1,
            "examples": [{"en": {"yes": ["yes"], "no": ["no"]}}],
            "description": "For each language the options, each with the words that count as it.",
            "additionalProperties": {
                "type": "object",
                "minProperties": 2,
                "additionalProperties": {
                    "type": "array",
                    "minItems": 1,
                    "items": {"type": "string", "minLength": 1},
                },
            },
        },
        "undecided": {
            "enum": [INVALID, NEITHER],
            "default": INVALID,
            "description": "What an answer in sentences counts as that decides nothing.",
        },
        "languages": OWN_WORDS,
    }

    @classmethod
    def values(cls, spec: InstrumentSpec) -> Mapping[str, Collection[str]]:
        """Returns {attribute: the options of all languages, without repetition}."""
        return {
            spec.attribute: list(
                dict.fromkeys(
                    option for forms in spec.settings["forms"].values() for option in forms
                )
            )
        }

    @classmethod
    def examples(cls, spec: InstrumentSpec, value: str, language: str) -> Sequence[str]:
        """Returns the first form of option `value`, in `language` if it has forms; or ()."""
        declared = spec.settings["forms"]
        forms = declared.get(language) or next(iter(declared.values()))
        return tuple(forms.get(value, ())[:1])

    unsure_settings: ClassVar[Mapping[str, Json]] = {}

    def is_unsure(self, labels: Sequence[Label]) -> bool:
        """True if the rules found no choice in a sampled answer."""
        undecided = self.settings.get("undecided", INVALID)
        return [label.value for label in labels] in ([INVALID], [undecided])

    @classmethod
    def second(cls) -> type[SecondJudge]:
        """Returns ChoiceJudge, by which a model labels the same answers."""
        from ..judges.text import ChoiceJudge

        return ChoiceJudge

    def reads(self, exact: bool) -> bool:
        """Returns True: this instrument labels sampled answers and exact probabilities."""
        return True

    def __init__(self, spec: InstrumentSpec, judge: str = "") -> None:
        check_forms(spec)
        self._own = overlays(spec.settings.get("languages"))
        super().__init__(spec, judge)

    def check_design(self, protocol: Protocol) -> None:
        """Raises ProtocolError if a language has no forms, or no factor selects one of several."""
        declared = self.settings["forms"]
        for code in protocol.levels.get("language", ()):
            if code not in declared:
                have = ", ".join(declared)
                raise ProtocolError(
                    f"the forms are in {have}, but the design also has {code}. Add: "
                    f"[instruments.forms.{code}]"
                )
        if "language" not in protocol.levels and len(declared) > 1:
            raise ProtocolError(
                f"the forms are in {', '.join(declared)}, but the design has no factor 'language' "
                "to choose between them. Add the factor, or keep the forms of one language."
            )

        check_slots(declared, protocol.cells)

    def wording(self) -> Mapping[str, Json]:
        """Returns {language: the pack of phrases by which answers are parsed}."""
        return {code: self._language(code).pack.record() for code in self.settings["forms"]}

    def _language(self, code: str) -> Language:
        return language(self._own.get(code, code))

    def calls(self, trial: Trial, exact: bool) -> Mapping[str, tuple[int, int]]:
        """Returns {subject: (fewest, most) calls after the first} for an exact reading; else {}.
        Each form that begins a longer form (彼 and 彼女) needs at least one further call.
        """
        if not exact:
            return {}
        _, forms = forms_of(self.settings["forms"], trial, self.name)
        written = {fold(form) for texts in forms.values() for form in texts}
        begun = sum(
            any(longer != form and longer.startswith(form) for longer in written)
            for form in written
        )
        return {trial.subject: (begun, CALLS)}

    def steps(self, item: Answered) -> Steps:
        """Returns one label for a sampled answer, or one per option weighted by probability."""
        code, forms = forms_of(self.settings["forms"], item.trial, self.name, item.cell)
        if item.exact or item.reply.alternatives:
            shares = yield from read_probabilities(item, forms, code, self.annotator)
            return [self.label(item, value, weight=share) for value, share in shares.items()]
        trial = item.trial
        text, pack_code = trial.begin + item.output.text, self._own.get(code, code)
        value = parse(text, forms, pack_code, trial.prompt, trial.begin)
        undecided = self.settings.get("undecided", INVALID)
        is_whole = item.output.ended != CUT  # what was cut may have been about to decide
        if value == INVALID != undecided and is_whole and discusses(text, pack_code, trial.prompt):
            value = undecided
        return [self.label(item, value)]
