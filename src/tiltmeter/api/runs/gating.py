"""The gate of a run: the comparison of its claims with margins and with an earlier run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import UsageError
from ...protocol import Protocol
from ...store import Store
from ...store.queries import calls, tables
from . import baselines

if TYPE_CHECKING:  # imports numpy; the first request must not pay for it
    from ...analyse.claims.gate import Gate, GateResult
    from ...analyse.claims.verdicts import Verdict
    from ...analyse.claims.worse import Earlier

_FIRST = "gate", "margin"  # kind and name of the artefact


@dataclass(frozen=True, slots=True)
class Gates:
    """A gate and its standards. margin: the typed text; earlier: the earlier run, None without
    `--fail-on worse`; allowed: how much worse than in the earlier run a claim may be.
    """

    gate: Gate
    margin: str
    earlier: Earlier | None
    allowed: dict[str, tuple[float, bool]]


def gate_of(
    protocol: Protocol | None,
    fail_on: Sequence[str],
    margin: str | None,
    baseline: Path | str | None,
    worse_by: str | None,
) -> Gates | None:
    """Reads a gate's options; None if no gate was typed. Raises UsageError if it is incomplete."""
    from ...analyse.claims.gate import parse_gate
    from ...analyse.claims.margins import parse_sizes

    is_worse_gate = "worse" in fail_on
    if (baseline is not None or worse_by is not None) and not is_worse_gate:
        raise UsageError("--baseline and --worse-by need --fail-on worse.")
    gate = parse_gate(fail_on, margin)
    if gate is None:
        return None
    if protocol is not None:
        gate.refuse_unknown_names(protocol)
    if not is_worse_gate:
        return Gates(gate, margin or "", None, {})
    if baseline is None or worse_by is None:
        raise UsageError(
            "--fail-on worse needs an earlier run, and the points by which a tilt may grow: "
            "--baseline RUN --worse-by 2"
        )
    earlier = baselines.read(Path(baseline))
    return Gates(gate, margin or "", earlier, parse_sizes(worse_by))


def freeze_margin(store: Store, margin: str | None) -> None:
    """Stores a margin that is typed before the first answer; never replaces a stored margin."""
    if margin is not None and store.artefact(*_FIRST) is None and not tables.size(store, "outputs"):
        store.keep(*_FIRST, margin)


def _notes(store: Store, margin: str) -> tuple[str, ...]:
    """Returns a note if the margin differs from the stored one, or came after the first answer."""
    first = store.artefact(*_FIRST)
    if not margin or first == margin:
        return ()
    if first is None:
        return ("note: this margin was named when answers were there already",)
    return (f"note: before the first answer another margin was named: --margin {first}",)


def hold(folder: Path, protocol: Protocol, gates: Gates, claims: Sequence[Verdict]) -> GateResult:
    """Applies a gate to the headline claims of a run, and writes the run's own baseline."""
    from ...analyse.claims.gate import Cost, together
    from ...analyse.claims.gate import hold as hold_claims
    from ...analyse.claims.worse import hold_against

    with Store(folder) as store:
        notes = _notes(store, gates.margin)
        cost = Cost(calls.number_answered(store), store.spent())
        compared = [claim for claim in claims if not claim.nuisance]
        items = baselines.item_differences(store, protocol, compared)
    baselines.keep(folder / baselines.FILE, protocol.name, items)
    gated = hold_claims(gates.gate, claims, cost)
    worse = [] if gates.earlier is None else hold_against(gates.earlier, items, gates.allowed)
    joined = together([*gated.claims, *worse])
    return replace(joined, notes=(*gated.notes, *notes), left_out=gated.left_out)
