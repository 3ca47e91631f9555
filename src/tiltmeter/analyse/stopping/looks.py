"""A look: made once, from the final outputs and labels of its rounds only, and stored. The
decisions are recomputed from the look's stored sums whenever they are read; `export --verify`
recomputes the sums from the labels.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise, zip_longest
from typing import TypedDict

import numpy as np

from ...errors import RunMismatch, StoreError
from ...protocol import Protocol
from ...records import Estimate, Json
from ...records.typed_json import parse_as
from ...stats.stopping.blocks import CellBlocks, CellPart, OutputBlocks
from ...stats.stopping.decision import PlainTests, StoppingClaim, StoppingDecision, decide
from ...stats.stopping.paths import ItemPaths, paths_of_counts
from ...store import Store, now
from ...store.queries import looks as stored
from ..counts.value_counts import codes, codes_with_values
from ..whole_run.measure_run import measured_rows
from .plan import PlannedClaim, PlannedFamily, StoppingPlan, key_of
from .sums import CellGroups, Data, ItemSums, OutputGroups, alone_with, claim_data

Counts = Sequence[Sequence[float]]
Groups = Sequence[Sequence[Mapping[str, str]]]


class StoredGroups(TypedDict):
    """The outputs by group in a look's own rounds, and the attributes that the claim compares."""

    groups: Groups
    attributes: Sequence[str]


class StoredSums(TypedDict, total=False):
    """The data of a claim at a look: cumulated hits and outcomes by item and condition; or the
    outputs by group (in a claim over many cells, by object) of the rounds since the look before; or
    the p of a test without flips, with the fraction of variance left at the last look if cue words
    are a sample.
    """

    hits: Counts
    outcomes: Counts
    groups: Groups
    attributes: Sequence[str]
    objects: Sequence[StoredGroups]
    p: float
    left: float


@dataclass(frozen=True)
class Look:
    """A look. number: its index, from 1; rounds: rounds covered; digest: hash of its trials' and
    labels' ids; outputs: how many it covers; cost: of the subjects, US dollars; sums, decisions: by
    claim."""

    plan: str
    number: int
    rounds: int
    date: str
    digest: str
    outputs: int
    cost: float
    sums: Mapping[str, StoredSums]
    decisions: Mapping[str, StoppingDecision]

    def as_dict(self) -> dict[str, Json]:
        """Returns the look as plain JSON values, which `read_looks` can read."""
        fields: dict[str, Json] = json.loads(json.dumps(asdict(self)))
        return fields


def read_looks(store: Store, plan: StoppingPlan) -> list[Look]:
    """Returns the looks that a run made, in order. Raises StoreError if a look belongs to another
    plan, or its decisions do not follow from its sums.
    """
    past_looks: list[Look] = []
    for number, text in enumerate(stored.looks(store), 1):
        try:
            look = parse_as(Look, text)
        except ValueError:
            look = None
        if look is None or look.number != number or not _is_of_plan(plan, [*past_looks, look]):
            reason = "is no look"
        elif look.plan != plan.hash:
            reason = "was made by another plan than the run holds"
        elif not _follows(look.decisions, _decisions(plan, past_looks, look.sums)):
            reason = "decided what does not follow from what it saw"
        else:
            past_looks.append(look)
            continue
        raise StoreError(
            f"{store.folder} is damaged at artefacts.content: look {number} {reason}. Restore it "
            "from a copy."
        )
    return past_looks


def _is_of_plan(plan: StoppingPlan, looks: Sequence[Look]) -> bool:
    """True if the last look decides every claim of a plan, and sums have one shape in all looks."""
    last = looks[-1]
    return last.decisions.keys() == {claim.key for claim in plan.claims} and all(
        all(claim.key in look.sums for look in looks)
        and _have_shape(claim, [look.sums[claim.key] for look in looks])
        for claim in plan.claims
        if claim.key in last.sums
    )


def _have_shape(claim: PlannedClaim, sums: Sequence[StoredSums]) -> bool:
    if claim.statistic in ("plain", "words"):
        return all("p" in stored for stored in sums)
    if claim.statistic == "outputs":
        return _are_alike([stored.get("groups") for stored in sums]) and all(
            "attributes" in stored for stored in sums
        )
    if claim.statistic == "cells":
        objects: list[Sequence[StoredGroups]] = [stored.get("objects", ()) for stored in sums]
        places = zip_longest(
            *([part["groups"] for part in stored] for stored in objects), fillvalue=()
        )
        return all("objects" in stored for stored in sums) and all(map(_are_alike, places))
    tables = [table for stored in sums for table in (stored.get("hits"), stored.get("outcomes"))]
    widths = {len(row) for table in tables if table for row in table}
    return _are_alike(tables, len(claim.items)) and len(widths) <= 1


def _are_alike(parts: Sequence[Sequence[object] | None], number: int | None = None) -> bool:
    """True if no part is None, and all parts that are not empty have one length."""
    lengths = {len(part) for part in parts if part} | ({number} if number is not None else set())
    return None not in parts and len(lengths) <= 1


def check_looks(store: Store, plan: StoppingPlan, looks: Sequence[Look]) -> None:
    """Raises RunMismatch if the run no longer holds the trials or labels that a look used."""
    annotators = {claim.instrument for claim in plan.claims}
    for look in looks:
        if stored.digest(store, look.number, annotators) != look.digest:
            raise RunMismatch(
                f"{store.folder}: look {look.number} was made from other trials or labels than "
                "the run holds now, so its decisions cannot be trusted. Restore the run from a "
                "copy, or start a new run with another --out."
            )


def is_over(plan: StoppingPlan, looks: Sequence[Look]) -> bool:
    """True if no more trials will be asked."""
    return bool(looks) and (len(looks) == len(plan.looks) or not open_claims(plan, looks))


def open_claims(plan: StoppingPlan, looks: Sequence[Look]) -> list[PlannedClaim]:
    """Returns the claims that are still undecided after these looks."""
    if not looks:
        return plan.claims
    last = looks[-1].decisions
    return [claim for claim in plan.claims if last[claim.key].state == "on"]


def make_look(store: Store, protocol: Protocol, plan: StoppingPlan, looks: Sequence[Look]) -> Look:
    """Computes the next look from the labels of its rounds, and stores it."""
    look = look_again(store, protocol, plan, looks)
    stored.keep_look(store, look.number, look.as_dict())
    return look


def look_again(store: Store, protocol: Protocol, plan: StoppingPlan, looks: Sequence[Look]) -> Look:
    """Computes the look that follows `looks`, from the labels of its rounds."""
    number = len(looks) + 1
    sums = _read_sums(store, protocol, plan, open_claims(plan, looks), number)
    outputs, cost = stored.calls_up_to(store, number)
    annotators = {claim.instrument for claim in plan.claims}
    return Look(
        plan.hash,
        number,
        plan.looks[number - 1],
        now(),
        stored.digest(store, number, annotators),
        outputs,
        cost,
        sums,
        _decisions(plan, looks, sums),
    )


def _decisions(
    plan: StoppingPlan, looks: Sequence[Look], sums: Mapping[str, StoredSums]
) -> dict[str, StoppingDecision]:
    """Decides each claim on the sums of all looks: the earlier ones and this one."""
    decisions: dict[str, StoppingDecision] = {}
    for family in plan.families:
        before = [look.sums for look in looks]
        decided = _decide(plan, family, [*before, sums], looks[-1].decisions if looks else {})
        decisions |= {one.key: one for one in decided}
    return decisions


def _follows(given: Mapping[str, StoppingDecision], found: Mapping[str, StoppingDecision]) -> bool:
    """True if both sets of decisions are equal, up to rounding that differs between processors."""

    def alike(a: object, b: object) -> bool:
        are_numbers = isinstance(a, float) and isinstance(b, float)
        return np.isclose(a, b, rtol=1e-6, atol=1e-9) if are_numbers else a == b  # type: ignore

    return given.keys() == found.keys() and all(
        alike(a, b)
        for key, one in given.items()
        for a, b in zip(asdict(one).values(), asdict(found[key]).values(), strict=True)
    )


def _read_sums(
    store: Store,
    protocol: Protocol,
    plan: StoppingPlan,
    wanted: Sequence[PlannedClaim],
    number: int,
) -> dict[str, StoredSums]:
    names = {claim.measure for claim in wanted}
    reduced = alone_with(protocol, [spec for spec in protocol.measures if spec.name in names])
    kinds = {claim.statistic for claim in wanted}
    cumulated: dict[str, Data] = {}
    block: dict[str, Data] = {}
    rows: dict[str, Estimate] = {}
    with stored.RunAtLook(store.folder, number) as view:
        if "items" in kinds:
            cumulated = claim_data(view, reduced)
        if kinds & {"plain", "words"}:
            rows = {key_of(row): row for row in measured_rows(view, reduced)}
    if kinds & {"outputs", "cells"}:
        with stored.RunAtLook(store.folder, number, first=number) as view:
            block = claim_data(view, reduced)
    return {
        claim.key: _p_to_store(claim, rows.get(claim.key), plan.looks[number - 1] / plan.looks[-1])
        if claim.statistic in ("plain", "words")
        else _sums_to_store(claim, cumulated.get(claim.key), block.get(claim.key))
        for claim in wanted
    }


def _p_to_store(claim: PlannedClaim, row: Estimate | None, part: float) -> StoredSums:
    """Returns the p of a test without flips. part: the fraction of all rounds up to this look. For
    cue words also V_K/V_k: V_k less the variance within prompts that later rounds remove, over V_k.
    """
    stored: StoredSums = {"p": 1.0 if row is None or row.p is None else row.p}
    population = None if row is None else row.population
    if claim.statistic == "plain" or population is None or not population["se"]:
        return stored
    within = population["se_within"]
    if within is not None:
        stored["left"] = round(1 - (within / population["se"]) ** 2 * (1 - part), 9)
    return stored


def _sums_to_store(claim: PlannedClaim, cumulated: Data | None, block: Data | None) -> StoredSums:
    if claim.statistic == "outputs":
        if not isinstance(block, OutputGroups):
            return {"groups": (), "attributes": ()}
        stored = _groups_to_store(block)
        return {"groups": stored["groups"], "attributes": stored["attributes"]}
    if claim.statistic == "cells":
        objects = block.objects if isinstance(block, CellGroups) else ()
        return {"objects": [_groups_to_store(one) for one in objects]}
    if not isinstance(cumulated, ItemSums):
        return {"hits": (), "outcomes": ()}
    ordered = cumulated.in_order(claim.items)
    return {"hits": ordered.hits.round(9).tolist(), "outcomes": ordered.outcomes.round(9).tolist()}


def _groups_to_store(block: OutputGroups) -> StoredGroups:
    groups = [
        [{name: one[name] for name in block.attributes if name in one} for one in group]
        for group in block.groups
    ]
    return {"groups": groups, "attributes": block.attributes}


def _decide(
    plan: StoppingPlan,
    family: PlannedFamily,
    sums: Sequence[Mapping[str, StoredSums]],
    earlier: Mapping[str, StoppingDecision],
) -> list[StoppingDecision]:
    inputs = [
        StoppingClaim(
            claim.key,
            _path(claim, [one[claim.key] for one in sums]) if claim.key in sums[-1] else None,
            claim.calls,
        )
        for claim in family.claims
    ]
    return decide(plan.design(family), inputs, len(sums), earlier)


def _path(
    claim: PlannedClaim, looks: Sequence[StoredSums]
) -> ItemPaths | OutputBlocks | CellBlocks | PlainTests:
    """Returns a claim's data at all looks in the form that its test needs: counts, outputs or p."""
    if claim.statistic in ("plain", "words"):
        return PlainTests([look["p"] for look in looks], looks[-1].get("left"))
    if claim.statistic == "outputs":
        return _blocks(looks)
    if claim.statistic == "cells":
        return _cell_blocks(looks)
    width = max((len(look["hits"][0]) for look in looks if len(look["hits"])), default=1)
    blank = np.zeros((len(claim.items), width))
    hits, outcomes = (
        np.stack([np.array(counts) if len(counts) else blank for counts in series], axis=2)
        for series in ([look["hits"] for look in looks], [look["outcomes"] for look in looks])
    )
    return paths_of_counts(hits=np.minimum(hits, outcomes), outcomes=outcomes, null=claim.null)


def _cell_blocks(looks: Sequence[StoredSums]) -> CellBlocks | PlainTests:
    """Returns, by object, every look's outputs as integer codes."""
    parts = []
    for place in range(max(len(look["objects"]) for look in looks)):
        of_object = [look["objects"][place] for look in looks if place < len(look["objects"])]
        number = max(len(one["groups"]) for one in of_object)
        attributes = list(dict.fromkeys(name for one in of_object for name in one["attributes"]))
        filled = [one["groups"] or ((),) * number for one in of_object]
        flat, values = codes_with_values(
            [group for groups in filled for group in groups], attributes
        )
        if len(of_object) == len(looks) and any(len(group) for group in flat):
            ends = range(0, len(flat) + 1, number)
            blocks = [flat[start:end] for start, end in pairwise(ends)]
            parts.append(CellPart(blocks, attributes, values))
    return CellBlocks(parts) if parts else PlainTests([1.0] * len(looks))


def _blocks(looks: Sequence[StoredSums]) -> OutputBlocks | PlainTests:
    number = max(len(look["groups"]) for look in looks)
    attributes = list(dict.fromkeys(name for look in looks for name in look["attributes"]))
    filled = [look["groups"] or ((),) * number for look in looks]
    flat = codes([group for groups in filled for group in groups], attributes)
    if not number or not any(len(group) for group in flat):
        return PlainTests([1.0] * len(looks))
    ends = range(0, len(flat) + 1, number)
    return OutputBlocks([flat[start:end] for start, end in pairwise(ends)], "pairs")
