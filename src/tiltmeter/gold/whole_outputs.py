"""Tasks in which a person labels all attributes of an output before the next output, as in the SODA
paper's check (270 pictures × 8 attributes).

An item is an attribute of an output, `OUTPUT ATTRIBUTE`; the items of one output are consecutive.
The answers are stored as by tasks of single attributes.
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
    """Outputs of which one person labels every attribute that has a closed list.

    tasks: {attribute: its task over all outputs}. lists: {output: {attribute: possible values}}.
    """

    annotator: str
    tasks: Mapping[str, Task]
    lists: Mapping[str, Mapping[str, tuple[ValueChoice, ...]]]
    attribute: str = ALL
    choices: tuple[ValueChoice, ...] = ()
    voices: Mapping[str, Sequence[State]] = field(default_factory=dict)

    @property
    def items(self) -> list[str]:
        """The items: outputs in this person's order, attributes in the protocol's."""
        order = sorted(self.lists)
        Random(f"{self.annotator}/{EVERY}").shuffle(order)
        return [f"{output} {attribute}" for output in order for attribute in self.lists[output]]

    def choices_of(self, item: str) -> tuple[ValueChoice, ...]:
        """Returns the possible values of an item."""
        output, _, attribute = item.partition(" ")
        return self.lists[output][attribute]

    def beside(self, item: str) -> list[str]:
        """Returns all items of the same output, including the given item."""
        output, _, _ = item.partition(" ")
        return [f"{output} {attribute}" for attribute in self.lists[output]]

    def states(self) -> dict[str, State]:
        """Returns {item: this person's answers so far}, without unanswered items."""
        return {
            f"{output} {attribute}": state
            for attribute, task in self.tasks.items()
            for output, state in task.states().items()
        }

    def save(self, item: str, seen: State, now: State) -> State:
        """Saves an answer like `Task.save`; the value must be on the list of this output."""
        output, _, attribute = item.partition(" ")
        if attribute not in self.lists.get(output, {}):
            raise UsageError(f"There is no item '{item[:80]}' here.")
        task = replace(self.tasks[attribute], choices=self.choices_of(item))
        return task.save(output, seen, now)


def open_whole_outputs(
    store: Store, protocol: Protocol, annotator: str, drawn: gold.GoldSample
) -> WholeOutputTask:
    """Makes a person's task: all attributes of this person's part of a sample."""
    offered: dict[str, tuple[ValueChoice, ...]] = {}
    listed: dict[str, dict[str, tuple[ValueChoice, ...]]] = {}
    for output, attributes in attributes_of_outputs(
        store, protocol, list(drawn["outputs"])
    ).items():
        for one in attributes:
            key = f"{one.name} {sorted(one.of.items())}"
            if key not in offered:
                offered[key] = choices(store, protocol, one.name, one.of)
            listed.setdefault(output, {})[one.name] = offered[key]
    names = dict.fromkeys(name for each in listed.values() for name in each)
    tasks = {
        name: open_task(store, protocol, annotator, {**drawn, "attribute": name}) for name in names
    }
    return WholeOutputTask(annotator, tasks, listed)
