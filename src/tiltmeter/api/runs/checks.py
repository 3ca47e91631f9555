"""Warnings about a run's estimates, and checks against thresholds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...analyse.words.caution_kinds import CautionKind
from ...models.kinds import serves_asked
from ...protocol import Protocol
from ...protocol import thresholds as bounds
from ...protocol.design.thin_design import thin_design
from ...protocol.thresholds import Threshold
from ...records import UNRESOLVED, Estimate, Json
from ...stages.steps import injection_count
from ...stats.results import count_of
from ...store import Store, served_models
from ...store.queries import batches, endpoints, labels, settings

if TYPE_CHECKING:  # imports numpy; the first request must not pay for it
    from ...analyse.claims.gate import GateResult
    from ...analyse.claims.thresholds import Outcome
    from ...analyse.claims.verdicts import Verdict

LITTLE_MASS = 0.1  # of the probability on all options, below which most of it is elsewhere
MOSTLY_UNREAD = 0.5  # share of the labels that could not be read


@dataclass(frozen=True, slots=True)
class ThresholdCheck:
    """A threshold with its outcome for each estimate that it applies to."""

    threshold: Threshold
    outcomes: tuple[Outcome, ...]

    @property
    def sentences(self) -> list[str]:
        """Returns a sentence per estimate, or a sentence that there is no estimate."""
        if not self.outcomes:
            return [f"{self.threshold.in_words}: inconclusive, nothing of it was estimated"]
        return [outcome.sentence for outcome in self.outcomes]


PASSED = {  # the last line about a run's thresholds, by the exit code
    0: "thresholds: passed",
    3: "thresholds: failed (exit code 3)",
    4: "thresholds: inconclusive (exit code 4), nothing is shown, neither way",
}


NOT_ENOUGH = "not-enough"
UNGATED = "note: {} found to tilt, and no gate was set. Type: --fail-on tilt --margin 5"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The results of all thresholds and of a gate, for one run or several.

    tilts: number of headline claims that tilt, gated or not. changed: a line per answer or verdict
    that differs from an earlier one. allow: ("not-enough",) if too few data are not a failure.
    """

    checks: tuple[ThresholdCheck, ...]
    gate: GateResult | None = None
    tilts: int = 0
    changed: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """Returns 3 if a threshold is crossed or the gate fails; else 4 if a threshold or the gate
        is inconclusive, unless that is allowed; else 0.
        """
        from ...analyse.claims.thresholds import FAILED

        codes = [self._thresholds_code(), self.gate.decision.code if self.gate else 0]
        return FAILED if FAILED in codes else self._unless_allowed(max(codes))

    def _unless_allowed(self, code: int) -> int:
        from ...analyse.claims.thresholds import INCONCLUSIVE

        return 0 if self.allows_too_little and code == INCONCLUSIVE else code

    @property
    def allows_too_little(self) -> bool:
        """True if a gate or threshold without enough data is not a failure."""
        return NOT_ENOUGH in self.allow

    def _thresholds_code(self) -> int:
        from ...analyse.claims.thresholds import FAILED, code

        codes = [code(check.outcomes) for check in self.checks]
        return FAILED if FAILED in codes else max(codes, default=0)

    def gate_as_dict(self, margin: str | None) -> dict[str, Json] | None:
        """Returns the gate as plain values for JSON, None without a gate. margin: as typed."""
        if self.gate is None:
            return None
        return {
            "result": self.gate.decision.value,
            "exit_code": self._unless_allowed(self.gate.decision.code),
            "margin": margin,
            "claims": [claim.as_dict() for claim in self.gate.claims],
            "notes": list(self.gate.notes),
        }

    @property
    def sentences(self) -> list[str]:
        """Returns a sentence per threshold and estimate."""
        return [sentence for check in self.checks for sentence in check.sentences]

    @property
    def lines(self) -> list[str]:
        """Returns the sentences and the result for CI; [] if there is no threshold and no gate."""
        lines = [*self.sentences, PASSED[self._thresholds_code()]] if self.checks else []
        if self.checks and self.tilts and self.gate is None and not self.exit_code:
            lines.append(UNGATED.format(count_of(self.tilts, "headline claim")))
        changed = (f"note: {line}" for line in self.changed)
        return [*lines, *(self.gate.lines if self.gate else ()), *changed]

    def answers(self, gate: str) -> dict[str, int]:
        """Returns {threshold or gate: exit code}. gate: the gate's options as typed."""
        from ...analyse.claims.thresholds import code

        code_by_text = {
            f"--fail-if {check.threshold.text!r}": code(check.outcomes) for check in self.checks
        }
        code_by_text |= {gate: self.gate.decision.code} if self.gate else {}
        return {typed: self._unless_allowed(answer) for typed, answer in code_by_text.items()}


def warnings(store: Store, protocol: Protocol, estimates: Sequence[Estimate]) -> list[str]:
    """Returns the warnings about a run's estimates, one sentence each."""
    from ...analyse.whole_run import warnings as of_divergences

    sentences = (
        _shard(store),
        _batches_out(store),
        *served_models.warnings(store, serves_asked),
        *endpoints.warnings(store),
        injection_count.warning(store),
        *of_divergences.warnings(store, protocol),
        *_people_cautions(store, protocol),
        *_unread_warnings(estimates),
        *_always_alike(estimates),
        *thin_design(protocol),
    )
    return [warning for warning in sentences if warning]


def cautions(verdicts: Sequence[Verdict], given: Sequence[str]) -> list[str]:
    """Lists the cautions of verdicts, each with its claims and its code. given: warnings that are
    listed already.
    """
    from ...analyse.claims import gate_lines

    claims: dict[str, list[str]] = {}
    for verdict, name in zip(verdicts, gate_lines.names(verdicts), strict=True):
        for caution in verdict.cautions:
            if not any(caution.text in text for text in given):
                claims.setdefault(f"{caution.text} [{caution.code}]", []).append(name)
    return [f"{'; '.join(names)}: {text}" for text, names in claims.items()]


def _shard(store: Store) -> str:
    stored = settings.shard(store)
    if stored is None:
        return ""
    return (
        f"This is shard {stored.number} of {stored.of}: its numbers are of that part of the plan "
        "alone. Join all: tiltmeter merge RUN RUN … --out RUN"
    )


def _batches_out(store: Store) -> str:
    batch_rows = batches.rows(store, batches.UNFINISHED)
    if not batch_rows:
        return ""
    open_requests = (
        f"{sum(row.requests for row in batch_rows):,} requests are in batches that have not ended."
    )
    return f"{open_requests} The command that handed them in collects them."


def _people_cautions(store: Store, protocol: Protocol) -> Sequence[str]:
    """Lists cautions about labels of people that are used without a judge."""
    from ...gold import majority

    return list(majority.sentences(store, protocol)) if labels.have_human(store) else []


def _unread_warnings(estimates: Sequence[Estimate]) -> Iterator[str]:
    """Yields a warning per row whose answers' probability cannot be read as any option."""
    for row in estimates:
        is_mass_row = row.measure == "captured_mass" and row.value is not None
        if not is_mass_row or (row.value or 0.0) >= LITTLE_MASS:
            continue
        if row.outcomes.get(UNRESOLVED, 0.0) > MOSTLY_UNREAD * sum(row.outcomes.values()):
            yield (
                f"{row.subject} lists next to nothing that can be read as one of the options "
                "(pieces of characters, or too few alternatives). Type: --mode sampled"
            )


def _always_alike(estimates: Sequence[Estimate]) -> Iterator[str]:
    """Yields a line per subject whose repeated answers are equal, which prevents a test."""
    kind = CautionKind.REPEATS_ALIKE
    for subject in dict.fromkeys(row.subject for row in estimates if kind in row.cautions):
        yield f"{subject}: {kind.mark}"


def parse_thresholds(protocol: Protocol, texts: Sequence[str]) -> list[Threshold]:
    """Parses thresholds (`gap > 0.1`). Raises UsageError for unknown measures and levels."""
    return [bounds.check(bounds.parse(text), protocol) for text in texts]


def thresholds(protocol: Protocol, texts: Sequence[str]) -> list[Threshold]:
    """Returns the protocol's own thresholds, then the thresholds in `texts`."""
    return parse_thresholds(protocol, (*protocol.thresholds, *texts))


def check_all(
    named: Sequence[Threshold],
    estimates: Sequence[Estimate],
    verdicts: Sequence[Verdict],
    gate: GateResult | None = None,
) -> CheckResult:
    """Checks the estimates against thresholds. gate: the result of the gate, if one is set."""
    from ...analyse.claims.thresholds import judge
    from ...analyse.words.verdict_words import Word

    return CheckResult(
        tuple(ThresholdCheck(bound, tuple(judge(bound, estimates, verdicts))) for bound in named),
        gate,
        sum(claim.word is Word.TILT and not claim.nuisance for claim in verdicts),
    )
