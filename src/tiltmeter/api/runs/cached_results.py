"""A cache of a run's results: its estimates, and the fact that nothing is left to ask.

A key is made of everything that results depend on: the content of the run, its folder, the
protocol, the options, the version of the tool and its files. So nothing has to be invalidated: a
new label leads to a new key. Nothing is cached for a protocol with kinds from another package,
whose code is not part of the key. TILTMETER_KEEP=0 computes everything anew.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import registry
from ...errors import TiltmeterError
from ...protocol import Protocol
from ...protocol.built_in_measures import KINDS
from ...records import Estimate, Json, Voice, __version__, content_id
from ...store import Store
from ...store.queries.state import fingerprint
from ...system import cache

if TYPE_CHECKING:  # import the engine, which reading a run needs not
    from ...stages.planning.plan import Choices
    from ..options.options import Asking

FUNCTIONS = ("detect", "test_items", "name_cells")  # fields that no file can hold
CACHED = tuple(column.name for column in fields(Estimate) if column.name not in FUNCTIONS)


def _key_of(store: Store, protocol: Protocol, *options: Json) -> str:
    """Returns the key of a run's results with these options; "" if nothing may be cached."""
    if not cache.keeps() or not _is_built_in(protocol):
        return ""
    folder, whole = str(store.folder.resolve()), _mark(protocol)
    made_by = (__version__, cache.installation())
    return content_id(made_by, folder, fingerprint(store), whole, options)


def _is_built_in(protocol: Protocol) -> bool:
    """True if all kinds that a protocol names are tiltmeter's own."""
    return all(spec.kind in registry.INSTRUMENTS for spec in protocol.instruments) and all(
        spec.kind in KINDS for spec in protocol.measures
    )


def _mark(protocol: Protocol) -> Json:
    """Identifies a protocol's content: by name if it ships with the package, else by hash."""
    name = protocol.name
    is_shipped = name in registry.PROTOCOLS
    if is_shipped and protocol.definition is registry.protocol(name).definition:
        return name
    return content_id(protocol.definition)


def estimates(store: Store, protocol: Protocol, variant: str) -> list[Estimate]:
    """Returns the estimates of a run in one variant; computes them unless they are cached."""
    key = _key_of(store, protocol, "estimates", variant)
    text = cache.read_text(key)
    if text is not None:
        rows = json.loads(text)
        return [_estimate(**row) for row in rows]
    from ...analyse import estimates as run_estimates

    rows = run_estimates.estimates(store, protocol, variant)
    if key:
        cache.keep_text(
            key, json.dumps([{name: getattr(row, name) for name in CACHED} for row in rows])
        )
    return rows


def _estimate(
    cautions: Sequence[str],
    voices: Sequence[Sequence[Any]],
    spread: tuple[float, float] | None,
    **row: Any,
) -> Estimate:
    """Returns a row as it was before JSON made lists of its tuples."""
    return Estimate(
        **row,
        cautions=tuple(cautions),
        voices=tuple(Voice(*voice) for voice in voices),
        spread=spread and (spread[0], spread[1]),
    )


def warnings_if_finished(
    folder: Path, protocol: Protocol, choices: Choices, asking: Asking, stopping: bool
) -> list[str] | None:
    """Returns the warnings if an audit with these options is finished; None if that is unknown."""
    if not folder.exists():
        return None
    try:
        with Store(folder) as store:
            key = _finished_key(store, protocol, choices, asking, stopping)
            text = cache.read_text(key)
    except TiltmeterError:  # the run itself will raise it
        return None
    warnings: list[str] | None = None if text is None else json.loads(text)
    return warnings


def keep_finished(
    store: Store,
    protocol: Protocol,
    choices: Choices,
    asking: Asking,
    warnings: Collection[str],
    stopping: bool,
) -> None:
    """Records in the cache that an audit is finished, with the warnings of labelling."""
    key = _finished_key(store, protocol, choices, asking, stopping)
    cache.keep_text(key, json.dumps(sorted(warnings)))


def _finished_key(
    store: Store, protocol: Protocol, choices: Choices, asking: Asking, stopping: bool
) -> str:
    instructions = [(spec.told, spec.unsure) for spec in protocol.instruments]
    shard = str(asking.shard or "")
    asked = (asdict(choices), asking.judges, asking.given, instructions, stopping, shard)
    return _key_of(store, protocol, "finished", *asked)
