"""Labels that an earlier version of an instrument wrote, read anew by the present version."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from ...protocol import Protocol
from ...records import __version__
from ...stats.results import count_of
from ...store import Store
from ...store.queries import settings
from .reread import replace_labels, reread


def describe(store: Store, name: str, reader: str, number: int, differing: int) -> str:
    """Describes labels that an earlier version of an instrument wrote, and how to check them.

    name, reader: the annotators by the earlier and by the present version; number: of labels.
    """
    old, new = (annotator.rpartition("@")[0] for annotator in (name, reader))
    versions = ", ".join(one for one in settings.versions(store) if one != __version__)
    verb = "was" if number == 1 else "were"
    return (
        f"{count_of(number, 'label')} {verb} read by {old}, which this version ({new}) cannot "
        f"repeat; read by {new}, {differing:,} of {number:,} differ. To check them, install the "
        f"tiltmeter that wrote them{f' (the run names {versions})' * bool(versions)}"
    )


def changed_claims(store: Store, protocol: Protocol) -> Iterator[str]:
    """Yields a line per headline claim that the present version's labels would change."""
    with TemporaryDirectory() as place:
        folder = Path(place) / "run"
        store.copy_to(folder)
        with Store(folder, writing=True) as copy:
            changes = [
                one._replace(
                    labels=tuple(label._replace(annotator=one.annotator) for label in one.labels)
                )
                for one in reread(store, protocol)
                if one.reader and one.now is not None and one.differs
            ]
            with copy.transaction():
                replace_labels(copy, changes)
        with Store(folder) as copy:
            claims = [_claims(each, protocol) for each in (store, copy)]
    for claim, stored in claims[0].items():
        anew = claims[1].get(claim, "it is not in the run.")
        if stored != anew:
            yield f"by the stored labels: {stored} By the labels read anew: {anew}"


def _claims(store: Store, protocol: Protocol) -> dict[tuple[object, ...], str]:
    """Returns {headline claim: its sentence}."""
    from ...analyse import estimates
    from ...analyse.claims import verdicts
    from ...analyse.claims.background import read_background

    rows = estimates.estimates(store, protocol, "default")
    return {
        (
            verdict.measure,
            verdict.subject,
            verdict.instrument,
            *sorted(verdict.condition.items()),
            *sorted((verdict.contrast or {}).items()),
        ): verdict.sentence
        for verdict in verdicts.verdicts(protocol, rows, read_background(store, protocol, rows))
    }
