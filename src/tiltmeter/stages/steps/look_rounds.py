"""The rounds of a look, for the stages that ask and label: only trials that open claims need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...protocol import Protocol
from ...protocol.design.tables import Row
from ...store import Store
from ...store.queries import looks as stored
from ..planning import plan
from ..planning.plan import Choices, Wanted
from ..planning.rounds import Rounds

Counts = Callable[[str, str, Mapping[str, str]], bool]  # of a subject, a mode and levels


@dataclass(frozen=True)
class LookRounds:
    """The rounds of one look. number: the look's index, from 1; since: last round of the look
    before; until: last round of this look; is_open: True for prompts that an undecided claim needs.
    """

    protocol: Protocol
    choices: Choices
    rounds: Rounds
    number: int
    since: int
    until: int
    is_open: Counts

    def filter_trials(self) -> Wanted:
        """Returns a filter for the trials that this look uses first: the trials of its rounds; for
        the first look, also all discovery trials.
        """
        wanted: dict[tuple[str, str, tuple[str, ...]], bool] = {}
        names = self.rounds.names

        def is_wanted(subject: str, mode: str, cell: Row, sample: int) -> bool:
            if self.protocol.modes[mode].for_discovery:
                return self.number == 1
            if not self.since < self.rounds.number(cell, sample) <= self.until:
                return False
            levels = {name: cell.get(name, "") for name in names}
            key = (subject, mode, tuple(levels.values()))
            if key not in wanted:
                wanted[key] = self.is_open(subject, mode, levels)
            return wanted[key]

        return is_wanted

    def assign(self, store: Store) -> int:
        """Adds the trials that this look uses first to the run; returns their number."""
        trials = list(plan.trials(self.protocol, self.choices, self.filter_trials()))
        aside = {name for name, mode in self.protocol.modes.items() if mode.for_discovery}
        stored.assign(
            store, [(trial.id, 0 if trial.mode in aside else self.number) for trial in trials]
        )
        for _ in store.iter_unanswered(trials):
            pass
        return len(trials)
