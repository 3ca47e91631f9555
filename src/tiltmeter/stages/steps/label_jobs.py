"""Makes the job by which an annotator labels an output."""

from __future__ import annotations

from collections.abc import Sequence

from ...instruments import Comparer, Instrument, PictureParser, ReplyParser
from ...instruments.judges.cascade import Cascade
from ...instruments.text.thought import without_thought
from ...protocol import Protocol
from ...protocol.design.tables import Row
from ...records import ANSWER, CUT, INVALID, Answered, Label, LabelCall, Output, Reply, Trial
from ...store import Store
from ...store.queries import settings
from ..engine.sources import Job
from ..planning import begun


class LabelJobs:
    """A factory of the jobs that label outputs of a run."""

    def __init__(self, store: Store, protocol: Protocol) -> None:
        self._store, self._protocol = store, protocol
        self._names = (*protocol.factors, protocol.item)
        self._cells = {tuple(cell[name] for name in self._names): cell for cell in protocol.cells}
        system = settings.frozen(store).get("system")
        self._shown = {
            key: (protocol.context(cell, system), protocol.shown_with(cell))
            for key, cell in self._cells.items()
        }

    def introduce(self, instruments: Sequence[Instrument]) -> None:
        """Passes all outputs to the instruments that compare outputs with each other."""
        comparing = [instrument for instrument in instruments if isinstance(instrument, Comparer)]
        if comparing:
            modes = self._protocol.modes
            outputs = [
                (trial, begun.answer(output, trial, self._protocol))
                for trial, output in self._store.iter_outputs()
                if not modes[trial.mode].for_discovery
            ]
            for comparer in comparing:
                comparer.meet(outputs)

    def job(self, instrument: Instrument, trial: Trial, output: Output) -> Job | None:
        """Makes the job for one output; None if the instrument does not label it."""
        protocol = self._protocol
        is_exact = protocol.modes[trial.mode].logprobs > 0
        if protocol.modes[trial.mode].for_discovery or not instrument.can_label(trial):
            return None
        if not instrument.reads(is_exact):
            return None
        key = tuple([trial.factors[name] for name in self._names])
        cell, (context, pictures) = self._cells.get(key, {}), self._shown.get(key, ((), ()))
        shown_trial = trial
        if (context, pictures) != (trial.context, trial.pictures):
            shown_trial = trial._replace(context=context, pictures=pictures)
        history, output = _told(protocol, shown_trial), begun.answer(output, trial, protocol)
        return _job(self._store, instrument, shown_trial, output, is_exact, cell, history)


def _told(protocol: Protocol, trial: Trial) -> str:
    """Returns the system prompt that judges are shown; "" if the protocol does not show it."""
    if not protocol.judges_see_system:
        return ""
    return "\n".join(turn.content for turn in trial.context if turn.role == "system")


def _job(
    store: Store,
    instrument: Instrument,
    trial: Trial,
    output: Output,
    exact: bool,
    cell: Row,
    history: str,
) -> Job:
    cut = output.ended == CUT and not exact
    outcome = CUT if output.outcome == ANSWER and cut and instrument.needs_end else output.outcome
    if outcome != ANSWER:
        return [
            Label(trial.id, instrument.annotator, attribute, outcome)
            for attribute in instrument.attributes
        ]
    answer = without_thought(output.text)
    if answer != output.text:
        output = output._replace(text=answer)
    reply = store.reply(output.call) if exact or isinstance(instrument, ReplyParser) else None
    is_picture = isinstance(instrument, PictureParser) and output.blob
    picture = store.blob(output.blob) if is_picture else b""
    item = Answered(trial, output, reply or Reply(output.text), exact, cell, picture, history)
    steps, calls = instrument.steps(item), list[LabelCall]()
    try:
        requests = next(steps)
        while True:
            replies = yield requests
            for request in requests:
                calls.append(LabelCall(trial.id, instrument.annotator, len(calls) + 1, request.key))
            requests = steps.send(replies)
    except StopIteration as end:
        labels: Sequence[Label] = end.value
    finally:
        steps.close()
    if not labels:
        raise AssertionError(
            f"{instrument.annotator} gave no label: it must give one, such as 'invalid', for each "
            "output"
        )
    if cut and (not instrument.judge or isinstance(instrument, Cascade)):
        labels = [
            label._replace(value=CUT) if label.value == INVALID else label for label in labels
        ]
    return [*labels, *calls]
