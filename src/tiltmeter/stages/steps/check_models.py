"""Checks that the models of a plan can be asked at all, before anything is stored in the run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...errors import MissingKey, UsageError
from ...instruments import Instrument
from ...instruments.judges.cascade import Cascade
from ...models import Model
from ...protocol import Protocol
from ...store import Store
from ...store.database import is_begun
from ...store.queries import trials
from ..planning import plan
from ..planning.cost import first_request
from ..planning.plan import Choices
from .connect import Connect


def check_models(
    protocol: Protocol,
    choices: Choices,
    judges: Sequence[str],
    connect: Connect,
    out: Path,
    instruments: Sequence[Instrument] = (),
) -> None:
    """Makes each model once and checks a first request with it, so that a refusal is raised now.

    A subject whose answers the run already holds needs neither key nor server.
    """
    numbers = _count_answered(out)
    for subject, modes in plan.count(protocol, choices).items():
        if sum(modes.values()) > numbers.get(subject, 0):
            _check_subject(protocol, choices, subject, connect)
    for judge in judges:
        try:
            model = connect.model(judge, 1)
            for instrument in instruments if protocol.pictures else ():
                _check_judge(protocol, choices, instrument, model)
        except MissingKey:
            if not numbers:  # a run that is there may have all labels of this judge
                raise


def _check_subject(protocol: Protocol, choices: Choices, subject: str, connect: Connect) -> None:
    model = connect.model(subject, 1)
    modes = set()
    for trial in plan.trials(protocol, plan.only(choices, subject)):
        if trial.mode in modes:
            continue
        modes.add(trial.mode)
        request = plan.request(trial, protocol)
        model.check(request)
        if choices.temperature is not None and not model.sends_temperature(request):
            raise UsageError(
                f"{subject} is never sent a temperature, so --temperature would change nothing "
                "but what the report says. Leave it out."
            )
        if len(modes) == len(choices.modes or protocol.default_modes):
            return


def _check_judge(
    protocol: Protocol, choices: Choices, instrument: Instrument, judge: Model
) -> None:
    """Checks that a judge accepts an instrument's first request, which may hold pictures."""
    trial = next(plan.trials(protocol, choices), None)
    asking = instrument.asked if isinstance(instrument, Cascade) else instrument
    request = first_request(asking, trial, protocol) if trial and asking.judge else None
    if request is not None and request.model == judge.name:
        judge.check(request)


def _count_answered(out: Path) -> dict[str, int]:
    """Counts the trials with an output, by subject; {} if the run does not exist yet."""
    if not is_begun(out):
        return {}
    with Store(out) as store:
        numbers: dict[str, int] = {}
        for part in trials.parts(store):
            numbers[part.subject] = numbers.get(part.subject, 0) + part.answered
        return numbers
