"""Labels outputs by the instruments of a protocol and by judges."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from ... import registry
from ...errors import ProtocolError, UsageError
from ...instruments import Comparer, Instrument, Learner, SecondJudge
from ...instruments.judges.cascade import Cascade
from ...protocol import InstrumentSpec, Protocol
from ...protocol.instrument_kinds import InstrumentKind, ReadyInstrument
from ...store import Store
from ...store.queries import agreement, labels, settings
from ...store.queries import outputs as stored_outputs
from ..engine.engine import Engine
from ..engine.limits import Limits, Tally
from ..engine.open_models import Models
from ..engine.sources import Job, JobSource
from .discover import discover
from .generate import counting
from .label_jobs import LabelJobs
from .pipeline import Pipeline

CHECKED = 50  # answers that rules read, which the judge labels too: how often do they agree?


def annotators(
    protocol: Protocol, judges: Sequence[str] = (), given: Mapping[str, str] | None = None
) -> list[Instrument]:
    """Makes the protocol's own instruments and, per judge, a copy of each that a judge can repeat.

    Instruments that consist of judges are made from these judges, or left out if there is none (see
    `missing_judges`). given: {kind of artefact, such as taxonomy: its text}, for instruments that
    would discover it.
    """
    instruments: list[Instrument] = []
    given = given or {}
    kinds = [registry.instrument_kind(spec.kind, spec.name) for spec in protocol.instruments]
    for artefact in given:
        if all(kind.discovers != artefact for kind in kinds):
            raise UsageError(
                f"No instrument of {protocol.name} takes a {artefact}; leave --{artefact} out."
            )
    for spec, kind in zip(protocol.instruments, kinds, strict=True):
        if kind.discovers in given:
            spec = replace(spec, settings={**spec.settings, kind.discovers: given[kind.discovers]})
        instruments += _with_judges(spec, kind, judges)
    if judges and not any(instrument.judge for instrument in instruments):
        raise UsageError(f"No instrument of {protocol.name} takes a judge; leave --judge out.")
    return instruments


def _with_judges(
    spec: InstrumentSpec, kind: InstrumentKind, judges: Sequence[str]
) -> list[Instrument]:
    """Makes an instrument: with all judges, once per judge, or followed by judges repeating it."""
    if kind.asks == "team" and len(judges) > len(kind.parts):
        raise UsageError(
            f"{spec.name} takes {len(kind.parts)} judges at most: {', '.join(kind.parts)}."
        )
    with_told = replace(spec, settings={**spec.settings, **spec.told})
    if kind.asks == "each":
        return [_make_instrument(kind.make, with_told, judge) for judge in judges]
    if kind.judged:
        return [_make_instrument(kind.make, with_told, *judges)] if judges else []
    second = kind.second
    if spec.unread is not None:
        from ...instruments.judges.unread import blind_cascade

        return [blind_cascade(_make_instrument(kind.make, spec), spec, judge) for judge in judges]
    if second is not None and spec.unsure is not None:
        return [_cascade(spec, kind, second, judge) for judge in judges]
    judged = [_make_instrument(second, with_told, judge) for judge in judges] if second else []
    return [_make_instrument(kind.make, spec), *judged]


def _make_instrument(
    make: Callable[..., ReadyInstrument], spec: InstrumentSpec, *judges: str
) -> Instrument:
    instrument = make(spec, *judges)
    if not isinstance(instrument, Instrument):
        raise ProtocolError(
            f"instrument {spec.name}: its class must derive from tiltmeter.instruments.Instrument"
        )
    return instrument


def _cascade(
    spec: InstrumentSpec,
    kind: InstrumentKind,
    second: Callable[..., ReadyInstrument],
    judge: str,
) -> Instrument:
    """Makes an instrument that asks a judge if its rules are unsure. The judge's requests are those
    of a judge that labels everything, so both share calls.
    """
    unsure_spec = replace(spec, settings={**spec.settings, **(spec.unsure or {})})
    judge_alone = _make_instrument(second, spec, judge)
    assert isinstance(judge_alone, SecondJudge)
    return Cascade(_make_instrument(kind.make, unsure_spec), judge_alone)


def ask_about_unread(protocol: Protocol, judges: Sequence[str]) -> Protocol:
    """Returns the protocol with judges for the answers that its rules leave unread. Raises
    UsageError without a judge, or if no instrument has a fixed list of values for a judge to choose
    from."""
    if not judges:
        raise UsageError(
            "--judge-for unread needs a judge. Type for instance: --judge openai:gpt-4.1-mini"
        )
    from ...instruments.judges.unread import asked_of_judges

    specs = []
    for spec in protocol.instruments:
        kind = registry.instrument_kind(spec.kind, spec.name)
        rules = None if kind.judged or kind.asks != "nobody" else _make_instrument(kind.make, spec)
        values = {name: list(listed) for name, listed in kind.values(spec).items()}
        people = protocol.annotation.get(spec.attribute, {})
        asked = None if rules is None else asked_of_judges(rules, values, people)
        specs.append(replace(spec, unread=asked))
    if all(spec.unread is None for spec in specs):
        raise UsageError(
            f"{protocol.name} has no rules whose unread answers a judge could label. Leave "
            "--judge-for out: judges then label everything."
        )
    return replace(protocol, instruments=tuple(specs))


def ask_where_unsure(
    protocol: Protocol, judges: Sequence[str], sure: float | None = None
) -> Protocol:
    """Returns the protocol with judges that are asked only if its rules are unsure. sure: how sure
    rules must be of a label; None for the instrument's own threshold. Raises UsageError if no
    instrument can ask in this way.
    """
    if not judges:
        raise UsageError(
            "--judge-for unsure needs a judge. Type for instance: --judge openai:gpt-4.1-mini"
        )
    specs = []
    for spec in protocol.instruments:
        kind = registry.instrument_kind(spec.kind, spec.name)
        defaults = kind.unsure_settings
        if kind.second is None or defaults is None:
            specs.append(spec)
            continue
        if spec.told:
            raise UsageError(
                "In this variant a judge labels everything, as in the paper. Leave --judge-for or "
                "--variant out."
            )
        if sure is not None and "sure" not in defaults:
            raise UsageError(
                f"The rules of {spec.name} do not say how sure they are. Leave --sure out."
            )
        threshold = spec.settings.get("sure") if sure is None else sure
        specs.append(
            replace(spec, unsure=defaults if threshold is None else {**defaults, "sure": threshold})
        )
    if all(spec.unsure is None for spec in specs):
        raise UsageError(
            f"No instrument of {protocol.name} reports when it is unsure, so judges label "
            "everything. Leave --judge-for out."
        )
    return replace(protocol, instruments=tuple(specs))


def missing_judges(protocol: Protocol, judges: Sequence[str] = ()) -> list[str]:
    """Lists, per instrument without the judges it needs, a line with the command to type."""
    needs = []
    for spec in protocol.instruments:
        kind = registry.instrument_kind(spec.kind, spec.name)
        if kind.judged and not judges:
            options = " ".join(f"--judge MODEL ({part})" for part in kind.parts)
            is_team = kind.asks == "team"
            how = "one model alone plays all parts" if is_team else "any number of them"
            needs.append(f"{spec.name} needs {options}; {how}. Type: tiltmeter label RUN --judge …")
    return needs


def keep_cascades(store: Store, instruments: Sequence[Instrument]) -> set[str]:
    """Records the judges that only unsure rules ask; warns if such a judge labels everything."""
    cascades = [instrument for instrument in instruments if isinstance(instrument, Cascade)]
    for one in cascades:
        settings.keep_cascade(store, one.annotator, one.judge, one.first.settings.get("sure"))
    old_judges = {cascade.judge for cascade in settings.cascades(store).values()}
    judges = old_judges & {
        instrument.judge for instrument in instruments if isinstance(instrument, SecondJudge)
    }
    return {
        f"{judge} labels everything now; before, it was asked only where the rules were unsure "
        "(--judge-for unsure)"
        for judge in sorted(judges)
    }


def open_pipeline(
    store: Store, protocol: Protocol, judges: Sequence[str], watch: Callable[[Tally], None]
) -> Pipeline:
    """Makes the pipeline from a run's subjects to the judges that `annotate` would ask."""
    instruments = annotators(protocol, judges, settings.given_materials(store))
    keep_cascades(store, instruments)
    return Pipeline(store, protocol, instruments, watch)


async def annotate(
    store: Store,
    protocol: Protocol,
    judges: Sequence[str],
    models: Models,
    limits: Limits,
    watch: Callable[[Tally], None] = lambda tally: None,
    given: Mapping[str, str] | None = None,
    pipeline: Pipeline | None = None,
) -> Tally:
    """Labels every output that an annotator has not labelled yet; before that, lets instruments
    learn. pipeline: labelled while subjects were asked; its tally is continued, and outputs that it
    failed to label are not asked about again.
    """
    instruments = annotators(protocol, judges, given)
    tally = pipeline.tally if pipeline is not None else Tally(spent=store.spent())
    tally.warnings |= set(missing_judges(protocol, judges)) | keep_cascades(store, instruments)
    if any(isinstance(instrument, Learner) for instrument in instruments):
        discovered = await discover(store, protocol, instruments, models, limits, watch)
        tally.warnings |= discovered.warnings
        if models.aside is not None and models.aside.deferred:  # it is found out in a batch
            return Tally(warnings=tally.warnings)
    jobs, in_vain = LabelJobs(store, protocol), pipeline.in_vain if pipeline is not None else ()
    jobs.introduce(instruments)
    _forget_partly_compared(store, instruments)

    def unlabelled(instruments: Sequence[Instrument]) -> Iterator[Job]:
        for instrument in instruments:
            for trial, output in store.iter_unlabelled(instrument.annotator):
                if (instrument.annotator, trial.id) not in in_vain:
                    job = jobs.job(instrument, trial, output)
                    if job is not None:
                        yield counting(job, tally)

    rules = [instrument for instrument in instruments if not instrument.judge]
    judged = [[instrument] for instrument in instruments if instrument.judge]
    sources = [unlabelled(group) for group in (rules, *judged)]
    watch(tally)
    engine = Engine(store, models, limits, watch, tally)
    await engine.drive_all([JobSource(source, tally, watch) for source in sources])
    for by in instruments:
        if isinstance(by, Cascade) and by.check is not None:
            await Engine(store, models, limits).drive(_checks(store, jobs, by, by.check))
            tally.warnings.add(_agreement(store, by, by.check))
            watch(tally)
    return tally


def _forget_partly_compared(store: Store, instruments: Sequence[Instrument]) -> None:
    """Withdraws the labels of comparing annotators that have not seen all outputs, so that they
    label all outputs again; a judge's stored replies are reused.
    """
    for instrument in instruments:
        if isinstance(instrument, Comparer) and next(
            store.iter_unlabelled(instrument.annotator), None
        ):
            store.withdraw(labels.keys_of(store, instrument.annotator))


def _checks(store: Store, jobs: LabelJobs, by: Cascade, check: SecondJudge) -> Iterator[Job]:
    """Yields jobs in which the judge of unread answers also labels some answers that rules read."""
    for name in agreement.read_outputs(store, by.annotator, CHECKED):
        value = labels.value(store, name, check.annotator, check.attribute)
        output = None if value else stored_outputs.one(store, name)
        job = jobs.job(check, *output) if output else None
        if job is not None:
            yield job


def _agreement(store: Store, by: Cascade, check: SecondJudge) -> str:
    """Describes how often the judge and the rules agree on answers that the rules read."""
    both = (by.annotator, check.annotator)
    equal, number = agreement.alike(store, *both, by.attribute, check.attribute)
    return (
        f"{by.judge} labels what the rules of {by.name} left unread; of {number} answers that they "
        f"read it says the same of {equal}"
    )
