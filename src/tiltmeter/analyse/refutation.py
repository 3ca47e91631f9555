"""Does gold refute the judge that a claim rests on?

A claim counts some values. A judge is refuted for it where the upper end of the interval of
Youden's J (sensitivity + specificity − 1 for these values, the lowest of the levels that the claim
compares) lies below one half: then its labels say little about what they are counted for. Gold that
is too scarce to say refutes nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .. import gold
from ..gold import GoldPair
from ..protocol import EVERY, MeasureSpec, Protocol
from ..records import Estimate
from ..stats import youden
from ..stats.confusion import Confusion, confusion
from ..store import Store
from . import claims

Key = tuple[str, str, tuple[str, ...]]
# (annotator, attribute, values that count) → why gold refutes the judge
Refuted = Mapping[Key, str]


def refutations(store: Store, protocol: Protocol, rows: Sequence[Estimate]) -> dict[Key, str]:
    """Why gold refutes a judge, for each headline claim for which it does."""
    pairs: dict[tuple[str, str], list[GoldPair]] = {}
    for pair in gold.pairs(store):
        pairs.setdefault((pair.annotator, pair.attribute), []).append(pair)
    found: dict[Key, str] = {}
    if not pairs:
        return found
    for spec, row in claims.headline(protocol, rows):
        key = place(spec, row)
        own = pairs.get((row.instrument, spec.attribute), [])
        if not own or not key[2] or key in found:
            continue
        levels = list(_levels(spec, own))
        index = youden.lowest_youden(
            golds=[_binary(one, key[2], protocol.item) for one in levels], positive=[1]
        )
        if youden.is_refuted(index):
            found[key] = (
                f"gold refutes {row.instrument.partition('@')[0]}: on {len(own)} gold labels its "
                f"Youden's J for {' or '.join(key[2])} is {index.value:.2f} "
                f"[{index.low:.2f}, {index.high:.2f}], where 1 is right and 0 is guessing."
            )
    return found


def place(spec: MeasureSpec, row: Estimate) -> Key:
    """The key of a claim in `Refuted`."""
    values = spec.values
    if values in ((EVERY,), ()):
        named = row.condition.get(spec.attribute)
        values = (named,) if named else ()
    return (row.instrument, spec.attribute, values)


def _levels(spec: MeasureSpec, pairs: Sequence[GoldPair]) -> Iterator[list[GoldPair]]:
    """The gold of each level that a claim compares; all of it where it compares none."""
    contrast = spec.contrast or {}
    named = [contrast[name] for name in ("level", "baseline") if name in contrast]
    levels = [[p for p in pairs if p.factors.get(contrast["factor"]) == name] for name in named]
    yield from [one for one in levels if one] or [list(pairs)]


def _binary(pairs: Sequence[GoldPair], values: Sequence[str], item: str) -> Confusion:
    """Truth and answer as "counts" (1) or not (0), by item."""
    items = {name: n for n, name in enumerate(dict.fromkeys(_item(p, item) for p in pairs))}
    return confusion(
        truth=[int(p.truth in values) for p in pairs],
        said=[int(p.said in values) for p in pairs],
        classes=2,
        items=len(items),
        clusters=[items[_item(p, item)] for p in pairs],
        weights=[p.weight for p in pairs],
    )


def _item(pair: GoldPair, item: str) -> str:
    return pair.factors.get(item, pair.output)
