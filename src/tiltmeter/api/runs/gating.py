"""The gate of a run: against margins, and against an earlier run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import UsageError
from ...protocol import Protocol
from ...store import Store
from ...store.queries import calls
from . import baselines

if TYPE_CHECKING:  # what analyses brings numpy, for which a first request need not wait
    from ...analyse.claims.gate import Gate, GateResult
    from ...analyse.claims.verdicts import Verdict
    from ...analyse.claims.worse import Earlier


@dataclass(frozen=True, slots=True)
class Gates:
    """A gate with what it is held against. earlier: None without `--fail-on worse`; allowed: how
    much worse than that.
    """

    gate: Gate
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
    headline of the protocol has no margin.
    """
    from ...analyse.claims.gate import parse_gate, parse_sizes

    worse = "worse" in fail_on
    if (baseline is not None or worse_by is not None) and not worse:
        raise UsageError("--baseline and --worse-by need --fail-on worse.")
    gate = parse_gate(fail_on, margin)
    if gate is None:
        return None
    if protocol is not None:
        gate.refuse_without_margin(protocol)
    if not worse:
        return Gates(gate, None, {})
    if baseline is None or worse_by is None:
        raise UsageError(
            "--fail-on worse needs an earlier run, and how much worse is allowed: --baseline RUN "
            "--worse-by 2"
        )
    return Gates(gate, baselines.read(Path(baseline)), parse_sizes(worse_by))


def hold(folder: Path, protocol: Protocol, gates: Gates, claims: Sequence[Verdict]) -> GateResult:
    """Holds the headline claims of a run against a gate, and keeps its own baseline."""
    from ...analyse.claims.gate import Cost, together
    from ...analyse.claims.gate import hold as hold_claims
    from ...analyse.claims.worse import hold_against

    with Store(folder) as store:
        cost = Cost(calls.number_answered(store), store.spent())
        compared = [claim for claim in claims if not claim.nuisance]
        items = baselines.item_differences(store, protocol, compared)
    baselines.keep(folder / baselines.FILE, protocol.name, items)
    found = hold_claims(gates.gate, claims, cost)
    if gates.earlier is None:
        return found
    worse = hold_against(gates.earlier, items, gates.allowed)
    result: GateResult = together([*found.claims, *worse])
    return result
