"""Makes sheets for people to annotate: outputs of a run, sampled so that labels can be weighted.

A sample is stratified by conditions; part of it is random, part comes from the outputs on which
annotators disagree. Within a condition the outputs with disagreement and those without it are each
a simple random sample, whichever part they came by, so the weight is (outputs of the kind)/(sampled
of the kind). The sample and its method are stored as an artefact of the run.
"""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from ..errors import UnknownName, UsageError
from ..instruments.images.taxonomy import NOT_APPLICABLE
from ..protocol import EVERY, Protocol
from ..protocol.design.tables import SEVERAL
from ..records import VOTE, content_id
from ..store import Store, now
from ..store.queries import labels, outputs
from . import SAMPLE, GoldSample, attributes, conditions, known_attributes, refuse_stopped
from .lists import AMBIGUOUS, attributes_of_outputs, closed_lists, values_of

FEWEST_OUTPUTS = 4  # outputs that a condition has to get for a factor to be stratified by
FEWEST_WHOLE_OUTPUTS = 2  # as many as in the SODA paper's check: 270 of 135 prompts
MOST_DISAGREEING_SHARE = 0.5  # of a sample, at most, that is picked for disagreement
RANDOM, DISAGREEMENT = "random", "disagreement"
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet would run


@dataclass(frozen=True, slots=True)
class Sheet:
    """Outputs to annotate. rows: {column of the file: cell}; by: the factors that stratify the
    sample; values: () if each row lists its own; random, disagreeing: numbers of outputs.
    """

    attribute: str
    values: tuple[str, ...]
    by: tuple[str, ...]
    rows: tuple[Mapping[str, str], ...]
    random: int
    disagreeing: int


def draw(
    store: Store, protocol: Protocol, number: int, attribute: str = "", seed: int = 0
) -> Sheet:
    """Samples outputs to annotate; stores the sample, its method and its weights in the run.

    attribute: "*" for all attributes with a closed list, one row each. number: of outputs in all.
    At most half are from disagreements between annotators or votes, the others a random sample per
    condition. Raises UsageError if there are no outputs to sample.
    """
    refuse_stopped(store)
    attribute = attribute or default_attribute(store, protocol)
    known = known_attributes(store, protocol)
    if attribute not in (*known, EVERY):
        raise UnknownName("attribute", attribute, known)
    pool = _pool(store, protocol, _labelled_names(store, protocol, attribute))
    if not pool:
        raise UsageError(
            f"No output with text has a label of {attribute} yet. Type: tiltmeter label RUN"
        )
    by = _strata_factors(protocol, pool, number, whole=attribute == EVERY)
    random = Random(f"{seed}/{attribute}")
    picked = pick(pool, by, number, random)
    info: GoldSample = {
        "attribute": attribute,
        "by": by,
        "seed": seed,
        "number": len(picked),
        "of": len(pool),
        "date": now(),
        "rule": "random within conditions, and among outputs on which annotators disagree; "
        "weight = outputs of the kind in the condition / picked of the kind",
        "outputs": picked,
    }
    store.keep(
        SAMPLE,
        content_id(attribute, seed, sorted(picked))[:16],
        json.dumps(info, ensure_ascii=False),
    )
    kinds = Counter(kind for _, kind in picked.values())
    listed = values_of(store, protocol, attribute) if attribute != EVERY else ()
    if attribute == EVERY:
        rows = _rows_of_attributes(store, protocol, pool, picked)
    else:
        rows = [_row(store, pool[output], attribute, *picked[output]) for output in picked]
    return Sheet(attribute, listed, tuple(by), tuple(rows), kinds[RANDOM], kinds[DISAGREEMENT])


def _labelled_names(store: Store, protocol: Protocol, attribute: str) -> tuple[str, ...]:
    """Returns the attributes one of which must be labelled for an output to be sampled."""
    if attribute == EVERY:
        return tuple(dict.fromkeys(one.name for one in closed_lists(store, protocol)))
    return (attribute, attribute + VOTE)


def _rows_of_attributes(
    store: Store,
    protocol: Protocol,
    pool: Mapping[str, SheetCandidate],
    picked: Mapping[str, tuple[float, str]],
) -> list[dict[str, str]]:
    """Returns one row per output and attribute, with the possible values of the attribute."""
    listed = attributes_of_outputs(store, protocol, picked)
    return [
        {
            **_row(store, pool[output], one.name, *picked[output]),
            "values": " | ".join((*one.values, NOT_APPLICABLE, AMBIGUOUS)),
        }
        for output in picked
        for one in listed[output]
    ]


def default_attribute(store: Store, protocol: Protocol) -> str:
    """Returns the first headline measure's attribute if labelled, else the first instrument's."""
    declared = {*attributes(protocol)}
    seen = {*labels.attributes(store)} or declared
    closed = declared & seen - labels.attributes_with_several(store)
    wanted = sorted(protocol.measures, key=lambda measure: not measure.headline)
    labelled = (measure.attribute for measure in wanted if measure.attribute in closed)
    if not protocol.instruments:
        raise UsageError(
            f"{protocol.name} has no instrument, so there is no attribute to annotate. Add "
            "[[instruments]] to its file."
        )
    return next(labelled, protocol.instruments[0].attribute)


@dataclass(frozen=True, slots=True)
class SheetCandidate:
    """An output that may be sampled. condition: its levels; disagree: True if its labels differ."""

    id: str
    condition: Mapping[str, str]
    prompt: str
    text: str
    blob: str
    disagree: bool


def _pool(store: Store, protocol: Protocol, names: tuple[str, ...]) -> dict[str, SheetCandidate]:
    """Returns {id: output} of outputs that may be sampled: sampled answers with a label of one of
    these attributes; all sampled answers if no machine has labelled any yet.
    """
    labels_of: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for output, name, value in labels.of_machines(store, names):
        labels_of[output].add((name, value))
    modes = [
        name
        for name, mode in protocol.modes.items()
        if not mode.logprobs and not mode.for_discovery
    ]
    pool: dict[str, SheetCandidate] = {}
    # items that people rate before any judge does
    unlabelled = not labels_of and bool({*attributes(protocol)} & {*names})
    for answer in outputs.answers(store):
        if answer.mode in modes and (unlabelled or answer.id in labels_of):
            condition = {"subject": answer.subject, "mode": answer.mode, **answer.levels}
            values = Counter(name for name, _ in labels_of[answer.id])
            disagree = max(values.values(), default=0) > 1
            pool[answer.id] = SheetCandidate(
                answer.id, condition, answer.prompt, answer.text, answer.blob, disagree
            )
    return pool


def _strata_factors(
    protocol: Protocol, pool: Mapping[str, SheetCandidate], number: int, whole: bool
) -> list[str]:
    """Chooses as many factors as leave each condition enough of the `number` outputs. Factors that
    are never pooled come first, then the item if a design has only a few items.

    whole: True if all attributes of an output are annotated; then a condition needs fewer outputs.
    """
    by: list[str] = []
    fewest = FEWEST_WHOLE_OUTPUTS if whole else FEWEST_OUTPUTS
    factors = conditions(protocol, [one.condition for one in pool.values()])
    first = [name for name in factors if name == protocol.item]
    for name in dict.fromkeys(("subject", "mode", "language", *first, *factors)):
        strata = {
            tuple(one.condition.get(factor, "") for factor in (*by, name)) for one in pool.values()
        }
        levels = {one.condition.get(name, "") for one in pool.values()}
        if (
            len(levels) > 1
            and not any(SEVERAL in level for level in levels)
            and len(strata) * fewest <= number
        ):
            by.append(name)
    return by


def pick(
    pool: Mapping[str, SheetCandidate], by: Sequence[str], number: int, random: Random
) -> dict[str, tuple[float, str]]:
    """Samples outputs; returns {output: (weight, RANDOM or DISAGREEMENT)}."""
    strata: dict[tuple[str, ...], list[SheetCandidate]] = defaultdict(list)
    for one in pool.values():
        strata[tuple(one.condition.get(name, "") for name in by)].append(one)
    for part in strata.values():
        random.shuffle(part)
    split = sum(one.disagree for one in pool.values())
    extra = min(int(number * MOST_DISAGREEING_SHARE), split)
    while True:
        first = _share_out(strata, min(number - extra, len(pool)))
        rest = {key: [one for one in strata[key][first[key] :] if one.disagree] for key in strata}
        available = sum(map(len, rest.values()))
        if available >= extra:
            break
        extra = available  # the random part has taken the others of them
    more = _share_out(rest, extra)
    picked: dict[str, tuple[float, str]] = {}
    for key, part in strata.items():
        chosen = [(one, RANDOM) for one in part[: first[key]]]
        chosen += [(one, DISAGREEMENT) for one in rest[key][: more[key]]]
        picked |= {one.id: (_weight(one, part, [o for o, _ in chosen]), why) for one, why in chosen}
    order = sorted(picked)
    random.shuffle(order)  # so that a person does not annotate condition after condition
    return {output: picked[output] for output in order}


def _weight(
    one: SheetCandidate, part: Sequence[SheetCandidate], chosen: Sequence[SheetCandidate]
) -> float:
    """Returns a sampled output's weight: the stratum's outputs of this kind per sampled output."""
    present, taken = Counter(o.disagree for o in part), Counter(o.disagree for o in chosen)
    if set(present) != set(taken):
        return round(len(part) / len(chosen), 6)
    return round(present[one.disagree] / taken[one.disagree], 6)


def _share_out(
    strata: Mapping[tuple[str, ...], Sequence[SheetCandidate]], number: int
) -> dict[tuple[str, ...], int]:
    """Divides a number among the strata as evenly as their sizes allow."""
    share = dict.fromkeys(strata, 0)
    while number > 0:
        open_strata = [key for key in strata if share[key] < len(strata[key])]
        if not open_strata:
            break
        for key in open_strata[:number]:
            share[key] += 1
        number -= min(number, len(open_strata))
    return share


def _row(
    store: Store, one: SheetCandidate, attribute: str, weight: float, why: str
) -> dict[str, str]:
    """Returns a row of the sheet, without labels and subject, which would bias annotators."""
    return {
        "output": one.id,
        "attribute": attribute,
        "value": "",
        "annotator": "",
        "weight": f"{weight:g}",
        "drawn": why,
        "prompt": one.prompt,
        "answer": one.text or (one.blob and store.blob_path(one.blob)),
    }


def guard_formula(text: str) -> str:
    """Puts a quote before a cell's text if a spreadsheet would take it for a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text


def write_sheet(sheet: Sheet, path: Path | str) -> None:
    """Writes a sheet as CSV or JSON lines (.jsonl); in CSV, quotes cells that resemble formulas."""
    path = Path(path)
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            if path.suffix == ".jsonl":
                file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in sheet.rows)
                return
            writer = csv.DictWriter(file, list(sheet.rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(
                {name: guard_formula(text) for name, text in row.items()} for row in sheet.rows
            )
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}.") from None
