"""Judges that label while the subjects are still being asked.

Each output goes to every annotator that asks a judge as soon as it is stored. Rules label once all
outputs are stored, which takes moments; so does an annotator that must learn from all outputs.
Outputs left open, such as those of an earlier command, are labelled by `annotate` afterwards.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence

from ...instruments import Comparer, Instrument, Learner
from ...protocol import Protocol
from ...records import Output, Trial
from ...store import Store
from ..engine.limits import Tally
from ..engine.sources import Job, JobSource, Row
from .label_jobs import LabelJobs

MOST_WAITING = 2000  # outputs that an annotator has not begun with, before subjects wait for it


class Pipeline:
    """A queue of outputs from subjects to annotators.

    tally:   the events of the labelling.
    in_vain: (annotator, output) pairs for which a judge was asked and no label came.
    """

    def __init__(
        self,
        store: Store,
        protocol: Protocol,
        instruments: Sequence[Instrument],
        watch: Callable[[Tally], None] = lambda tally: None,
    ) -> None:
        self.tally, self.in_vain = Tally(spent=store.spent()), set[tuple[str, str]]()
        self._jobs, self._watch = LabelJobs(store, protocol), watch
        judging = [
            instrument
            for instrument in instruments
            if instrument.judge and not isinstance(instrument, Learner | Comparer)
        ]
        self._waiting = {instrument: deque[tuple[Trial, Output]]() for instrument in judging}
        self._asked: dict[str, Trial] = {}  # trials whose outputs are not stored yet
        self._subjects: Sequence[JobSource] = ()
        self._annotators: Sequence[JobSource] = ()

    def open(
        self, subjects: Sequence[JobSource], start: Callable[[JobSource], None]
    ) -> Sequence[JobSource]:
        """Returns the annotators' sources of jobs. start: called to add a worker to a source."""
        self._subjects, self._start = subjects, start
        self._annotators = [
            JobSource(self._jobs_of(instrument), self.tally, self._watch)
            for instrument in self._waiting
        ]
        return self._annotators

    # what subjects ask and tell

    def is_behind(self) -> bool:
        """True if an annotator's queue is so long that subjects must wait for it."""
        return any(len(outputs) >= MOST_WAITING for outputs in self._waiting.values())

    def expect(self, trial: Trial, job: Job) -> Job:
        """Runs a subject's job; remembers its trial, for `take` to pass on with the output."""
        self._asked[trial.id] = trial
        try:
            return (yield from job)
        except GeneratorExit:
            del self._asked[trial.id]
            raise

    def take(self, rows: Sequence[Row]) -> None:
        """Passes stored outputs on to the annotators."""
        for row in rows:
            if isinstance(row, Output):
                trial = self._asked.pop(row.trial)._replace(context=())  # as it is stored
                for outputs in self._waiting.values():
                    outputs.append((trial, row))
        for source in self._annotators:
            source.is_empty = False
            if not source.waiting:
                self._start(source)

    # what annotators do

    def _jobs_of(self, instrument: Instrument) -> Iterator[Job | None]:
        """Yields the jobs of an annotator; None while no output waits for it."""
        outputs = self._waiting[instrument]
        while True:
            job = None
            while outputs and job is None:
                trial, output = outputs.popleft()
                job = self._jobs.job(instrument, trial, output)
                if job is not None:
                    job = self._note(job, (instrument.annotator, trial.id))
                if len(outputs) == MOST_WAITING // 2:
                    for source in self._subjects:
                        self._start(source)
            yield job

    def _note(self, job: Job, key: tuple[str, str]) -> Job:
        """Runs a labelling job; if the job is closed without labels, adds it to `in_vain`."""
        try:
            return (yield from job)
        except GeneratorExit:
            self.in_vain.add(key)
            raise
