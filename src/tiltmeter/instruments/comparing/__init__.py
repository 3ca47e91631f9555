"""Instruments that compare an answer with the other answers to the same prompt.

The versions of a prompt differ only in the level of one factor (setting `versions`). A comparison
between versions has as its null the same version asked again, as sampling alone makes a difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from ...errors import ProtocolError
from ...protocol import Protocol
from ...protocol.source.json_schema import Schema
from ...records import ANSWER, Answered, Output, Reply, Trial
from .. import Comparer, Settings
from ..text.prose import LANGUAGE, MASK, ProseParser, prose

Prompt = tuple[str, ...]  # what all versions of a prompt share: the subject, the mode, the factors
VERSIONS: Schema = {
    "type": "string",
    "minLength": 1,
    "examples": ["group"],
    "description": "The factor whose levels are the versions of a prompt.",
}


class TextComparer(ProseParser, Comparer):
    """A comparer of texts, which it first cleans of markup and non-answers."""

    needs: ClassVar[tuple[str, ...]] = ("versions",)
    settings_schema: ClassVar[Settings] = {
        "versions": VERSIONS,
        "language": LANGUAGE,
        "mask": MASK,
    }

    def check_design(self, protocol: Protocol) -> None:
        """Raises ProtocolError if the factor of the versions is not in the design."""
        if self.settings["versions"] not in protocol.factors:
            raise ProtocolError(
                f"instrument {self.name}: versions = '{self.settings['versions']}' is not a "
                f"factor. Name one of: {', '.join(protocol.factors)}"
            )

    def meet(self, outputs: Sequence[tuple[Trial, Output]]) -> None:
        """Stores all usable answers of the run, by prompt, version and sample."""
        self._texts: dict[Prompt, dict[str, dict[int, str]]] = {}
        for trial, output in outputs:
            if output.outcome != ANSWER:
                continue
            text, outcome = prose(Answered(trial, output, Reply(output.text)), self.settings)
            if not outcome:
                prompt, version = self.place(trial)
                versions = self._texts.setdefault(prompt, {})
                versions.setdefault(version, {})[trial.sample] = text
        self.has_met = True

    def place(self, trial: Trial) -> tuple[Prompt, str]:
        """Returns the prompt that a trial asks, and its version."""
        factor = str(self.settings["versions"])
        rest = (f"{name}={level}" for name, level in trial.factors.items() if name != factor)
        return (trial.subject, trial.mode, *sorted(rest)), trial.factors[factor]

    def same_prompt(self, trial: Trial) -> Mapping[str, Mapping[int, str]]:
        """Returns {version: {sample: text}} of all answers to the prompt of a trial."""
        return self._texts.get(self.place(trial)[0], {})
