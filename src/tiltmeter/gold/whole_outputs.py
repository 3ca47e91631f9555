"""People who label all attributes of an output before they go on to the next, as the SODA paper's
check does (270 pictures × 8 attributes).

An item is an attribute of an output, `OUTPUT ATTRIBUTE`; the items of an output follow one another.
What is kept is what a task of each single attribute keeps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from .. import gold
from ..errors import UsageError
from ..protocol import EVERY, Protocol
from ..store import Store
from .annotation import Task, choices, open_task
from .answers import State, ValueChoice
from .lists import attributes_of_outputs

ALL = "all attributes"  # what the page calls the task


@dataclass(frozen=True)
class WholeOutputTask:
    """Outputs of which one person labels every attribute with a closed list.

    tasks: attribute → the task over all outputs. lists: output → attribute → the possible values.
    """

    annotator: str
    tasks: Mapping[str, Task]
    lists: Mapping[str, Mapping[str, tuple[ValueChoice, ...]]]
    attribute: str = ALL
    choices: tuple[ValueChoice, ...] = ()
    voices: Mapping[str, Sequence[State]] = field(default_factory=dict)

    @property
    def items(self) -> list[str]:
        """Lists the items by output in this person's order, attributes in the protocol's order."""
        order = sorted(self.lists)
        Random(f"{self.annotator}/{EVERY}").shuffle(order)
        return [f"{output} {attribute}" for output in order for attribute in self.lists[output]]

    def choices_of(self, item: str) -> tuple[ValueChoice, ...]:
        """Returns the values that an item may be given."""
        output, _, attribute = item.partition(" ")
        return self.lists[output][attribute]

    def beside(self, item: str) -> list[str]:
        """Returns the items of the same output, including this one."""
        output, _, _ = item.partition(" ")
        return [f"{output} {attribute}" for attribute in self.lists[output]]

    def states(self) -> dict[str, State]:
        """Returns item → this person's answers so far, for items that have any."""
        return {
            f"{output} {attribute}": state
            for attribute, task in self.tasks.items()
            for output, state in task.states().items()
        }

    def save(self, item: str, seen: State, now: State) -> State:
        """Saves an answer like `Task.save`; its value must be on the output's own list."""
        output, _, attribute = item.partition(" ")
        if attribute not in self.lists.get(output, {}):
            raise UsageError(f"There is no item '{item[:80]}' here.")
        task = replace(self.tasks[attribute], choices=self.choices_of(item))
        return task.save(output, seen, now)


def open_whole_outputs(
    store: Store, protocol: Protocol, annotator: str, drawn: gold.GoldSample
) -> WholeOutputTask:
    """Opens a person's task: their part of a sample for all attributes."""
    known: dict[str, tuple[ValueChoice, ...]] = {}
    listed: dict[str, dict[str, tuple[ValueChoice, ...]]] = {}
    for output, attributes in attributes_of_outputs(
        store, protocol, list(drawn["outputs"])
    ).items():
        for one in attributes:
            key = f"{one.name} {sorted(one.of.items())}"
            if key not in known:
                known[key] = choices(store, protocol, one.name, one.of)
            listed.setdefault(output, {})[one.name] = known[key]
    names = dict.fromkeys(name for each in listed.values() for name in each)
    tasks = {
        name: open_task(store, protocol, annotator, {**drawn, "attribute": name}) for name in names
    }
    return WholeOutputTask(annotator, tasks, listed)
