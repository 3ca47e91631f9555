"""The gate of a run: against margins, and against an earlier run."""

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

if TYPE_CHECKING:  # what analyses brings numpy, for which a first request need not wait
    from ...analyse.claims.gate import Gate, GateResult
    from ...analyse.claims.verdicts import Verdict
    from ...analyse.claims.worse import Earlier

_FIRST = "gate", "margin"  # kind and name of the artefact


@dataclass(frozen=True, slots=True)
class Gates:
    """A gate with what it is held against. margin: as it was typed; earlier: None without
    `--fail-on worse`; allowed: how much worse than that.
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
    """Reads the options of a gate; None if none was typed. UsageError if one lacks another, or a
    margin names no headline of the protocol.
    """
    from ...analyse.claims.gate import parse_gate, parse_sizes

    worse = "worse" in fail_on
    if (baseline is not None or worse_by is not None) and not worse:
        raise UsageError("--baseline and --worse-by need --fail-on worse.")
    gate = parse_gate(fail_on, margin)
    if gate is None:
        return None
    if protocol is not None:
        gate.refuse_unknown_names(protocol)
    if not worse:
        return Gates(gate, margin or "", None, {})
    if baseline is None or worse_by is None:
        raise UsageError(
            "--fail-on worse needs an earlier run, and how much worse is allowed: --baseline RUN "
            "--worse-by 2"
        )
    earlier = baselines.read(Path(baseline))
    return Gates(gate, margin or "", earlier, parse_sizes(worse_by))


def freeze_margin(store: Store, margin: str | None) -> None:
    """Keeps the margin that was named before the first answer; a later one takes no place of it."""
    if margin is not None and store.artefact(*_FIRST) is None and not tables.size(store, "outputs"):
        store.keep(*_FIRST, margin)


def _notes(store: Store, margin: str) -> tuple[str, ...]:
    """Says if a margin is another one than before the first answer, or was named after it."""
    first = store.artefact(*_FIRST)
    if not margin or first == margin:
        return ()
    if first is None:
        return ("note: this margin was named when answers were there already",)
    return (f"note: before the first answer another margin was named: --margin {first}",)


def hold(folder: Path, protocol: Protocol, gates: Gates, claims: Sequence[Verdict]) -> GateResult:
    """Holds the headline claims of a run against a gate, and keeps its own baseline."""
    from ...analyse.claims.gate import Cost, together
    from ...analyse.claims.gate import hold as hold_claims
    from ...analyse.claims.worse import hold_against

    with Store(folder) as store:
        notes = _notes(store, gates.margin)
        cost = Cost(calls.number_answered(store), store.spent())
        compared = [claim for claim in claims if not claim.nuisance]
        items = baselines.item_differences(store, protocol, compared)
    baselines.keep(folder / baselines.FILE, protocol.name, items)
    found = hold_claims(gates.gate, claims, cost)
    worse = [] if gates.earlier is None else hold_against(gates.earlier, items, gates.allowed)
    return replace(together([*found.claims, *worse]), notes=(*found.notes, *notes))
