"""The values that people may give an attribute: its whole list, also those that no judge has used.

A closed list is in the protocol's settings, or the palette for a colour, or in the run's taxonomy.
Besides its values people may answer that the output does not show the attribute (`not_applicable`),
or that several values fit equally (`ambiguous`). The latter is stored as a reason to skip, as no
judge could have given it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from .. import registry
from ..errors import UsageError
from ..instruments.images import colour
from ..instruments.images.taxonomy import NOT_APPLICABLE, Attribute, parse
from ..protocol import EVERY, Protocol
from ..records import OUTCOMES
from ..store import Store
from ..store.queries import artefacts, labels, outputs

TAXONOMY = "taxonomy"  # kind of the artefacts with the attributes that a judge chose
AMBIGUOUS = "ambiguous"  # what people may say of a closed list beside its values


def taxonomies(store: Store, protocol: Protocol) -> list[Attribute]:
    """Returns the attributes of all taxonomies of a run, ordered by the taxonomies' names."""
    specs = protocol.instruments
    keys = sorted({str(key) for spec in specs for key in spec.settings.get("sets", ())})
    parts = sorted({str(part) for spec in specs for part in spec.settings.get("found", ())})
    return [
        attribute
        for name, content in artefacts.by_name(store, TAXONOMY)
        for attribute in parse(content, f"the taxonomy of {name}", keys=keys, parts=parts, fixed=())
    ]


def closed_lists(store: Store, protocol: Protocol) -> list[Attribute]:
    """Returns the attributes with closed lists: colours, lists of the settings, then taxonomies."""
    attributes = []
    for spec in protocol.instruments:
        lists = spec.settings.get("lists")
        listed = dict(lists) if isinstance(lists, Mapping) else {}
        palette = (*colour.colours(), *colour.SPECIAL)
        named = dict.fromkeys(spec.settings.get("colours", ()), palette) | listed
        attributes += [Attribute(name, "", tuple(values), {}) for name, values in named.items()]
    return attributes + taxonomies(store, protocol)


def closed_values(
    store: Store, protocol: Protocol, attribute: str, of: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Returns the closed list of an attribute, or ().

    of: an output's levels and subject, to get that output's list; None for the values of all lists
    of this name.
    """
    values = (
        value
        for one in closed_lists(store, protocol)
        if one.name == attribute and (of is None or one.belongs(of))
        for value in one.values
    )
    return tuple(dict.fromkeys(values))


def values_of(store: Store, protocol: Protocol, attribute: str) -> tuple[str, ...]:
    """Returns all values that gold may give an attribute: the values of measures and of its
    instrument, its closed list with `not_applicable` and `ambiguous`, values that annotators of the
    run used, and non-answers.
    """
    values: dict[str, None] = {}
    for measure in protocol.measures:
        if measure.attribute == attribute:
            values |= dict.fromkeys(
                value for value in (*measure.among, *measure.values) if value != EVERY
            )
    for spec in protocol.instruments:
        listed = registry.instrument_kind(spec.kind, spec.name).values(spec).get(attribute, ())
        values |= dict.fromkeys(sorted(listed) if isinstance(listed, set | frozenset) else listed)
        if spec.attribute == attribute:
            values |= dict.fromkeys(spec.settings.get("topics", ()))
    closed = closed_values(store, protocol, attribute)
    values |= dict.fromkeys(closed)
    values |= dict.fromkeys(labels.machine_values(store, attribute))
    values |= dict.fromkeys((NOT_APPLICABLE, AMBIGUOUS) if closed else ())
    return tuple(dict.fromkeys((*(value for value in values if value not in OUTCOMES), *OUTCOMES)))


def ambiguous_is_a_skip(store: Store, protocol: Protocol, attribute: str) -> bool:
    """True if the attribute has a closed list without `ambiguous`.

    Then people may still answer `ambiguous`, and the answer is stored as a reason to skip.
    """
    closed = closed_values(store, protocol, attribute)
    return bool(closed) and AMBIGUOUS not in closed


def attributes_of_outputs(
    store: Store, protocol: Protocol, wanted: Collection[str]
) -> dict[str, list[Attribute]]:
    """Returns {output: the attributes with a closed list that a machine labelled on the output}.

    Raises UsageError if the protocol has no closed lists.
    """
    closed = {
        (one.name, *sorted(one.of.items())): one for one in closed_lists(store, protocol)
    }.values()
    if not closed:
        raise UsageError(
            f"{protocol.name} has no attributes with closed lists. Name one attribute with "
            "--attribute."
        )
    stored = labels.of_machines(store, tuple({one.name for one in closed}))
    labelled = {(output, name) for output, name, _ in stored}
    return {
        answer.id: [
            attribute
            for attribute in closed
            if attribute.belongs({"subject": answer.subject, **answer.levels})
            and (answer.id, attribute.name) in labelled
        ]
        for answer in outputs.answers(store)
        if answer.id in wanted
    }
