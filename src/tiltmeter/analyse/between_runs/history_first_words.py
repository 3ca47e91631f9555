"""The headline and lede of a history of runs; the headline is about the last change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...instruments.ranking.marks import ORDINALS
from ...stats.results import count_of
from ..claims.verdicts import Verdict
from ..whole_run.signature import RULES
from ..words.verdict_words import Word
from .change_sentences import Change
from .first_words import (
    FirstWords,
    adjusted,
    amount_of_margin,
    detectable_of,
    difference,
    set_up_text,
    uncompared,
    weakened,
)
from .histories import History, HistoryLine, HistoryStep
from .paired_runs import held_of


def of_history(found: History, names: Mapping[str, str]) -> FirstWords:
    """Returns the headline and lede of a history. names: {model: its short name}."""
    headline = f"{_headline(found, names)}{uncompared(found.left_out)}"
    return FirstWords(headline, tuple(_lede(found, names)))


def _headline(found: History, names: Mapping[str, str]) -> str:
    compared = [step for step in found.steps if step.verdicts]
    changed = [step for step in compared if step.told]
    if not compared:
        return "None of these runs can be compared with the one before it."
    if changed:
        last = changed[-1]
        lead = _lead(last.told)
        sentence = weakened(_change(found, last, lead, names).over_time(), lead)
        is_like_these = lead.population.get("cue_words") == "like these"
        suffix = ", over words and items like these" if is_like_these else ""
        return f"{sentence} in the {_nth(last.second)} run{suffix}{_headline_end(compared, last)}"
    since = found.since_first
    if since and since.told:
        lead = _lead(since.told)
        sentence = weakened(_change(found, since, lead, names).over_time(), lead)
        return f"{sentence} between the first run and the last; no single step shows it."
    return _no_change(found, compared, names)


def _headline_end(compared: Sequence[HistoryStep], last: HistoryStep) -> str:
    """Ends a headline: whether other steps changed, and how many numbers changed in step `last`."""
    others = [step for step in compared if step is not last and step.first < last.first]
    before = sum(bool(step.told) for step in others)
    has_later = any(step.first > last.first for step in compared)
    parts = []
    if others:
        parts.append(
            f"changed before in {before} of {len(others)}" if before else "no change before"
        )
        parts[-1] += f" {'steps' if len(others) > 1 else 'step'}" if before else ""
    parts += ["no change since"] if has_later else []
    end = f"; {', '.join(parts)}." if parts else "."
    number = len(last.verdicts)
    if number > 1 and len(last.told) > 1:
        return f"{end} {len(last.told)} of {number} numbers changed there."
    return end


def _no_change(found: History, compared: Sequence[HistoryStep], names: Mapping[str, str]) -> str:
    """Writes that no change was found, with the first and last values."""
    verdicts = [one for step in compared for one in step.verdicts]
    runs = count_of(len(found.runs), "run")
    line = found.lines[0] if found.lines else None
    values = _first_and_last(found, line, names) if line else ""
    if all(one.word == Word.EQUIVALENT for one in verdicts):
        margin = amount_of_margin(found.margin, "share")
        return f"The same to within {margin} from run to run over {runs}{values}."
    smallest = detectable_of(verdicts)
    power = f"; a change of {smallest} would mostly have been found" if smallest else ""
    numbers = count_of(len(verdicts), "comparison")
    return f"No change found over {runs}, in {numbers}{values}{power}."


def _first_and_last(found: History, line: HistoryLine, names: Mapping[str, str]) -> str:
    first, last = line.values[0], line.values[-1]
    if first is None or last is None:
        return ""
    slots = _change_of_line(found, line, (0, len(found.runs) - 1), names).slots()
    return f": {slots['what']} is {slots['first']} in the first, {slots['second']} in the last"


def _lede(found: History, names: Mapping[str, str]) -> Iterator[str]:
    changed = [step for step in found.steps if step.told]
    since = found.since_first
    step = changed[-1] if changed else since if since and since.told else None
    if step is not None:
        lead = _lead(step.told)
        size = difference(lead.value or 0.0, lead.low, lead.high, lead.unit)
        yield f"The change is {size}, {adjusted(lead)}."
        yield from set_up_text(step.changes)
    if changed and since and since.verdicts:
        if since.told:
            lead = _lead(since.told)
            yield f"{_change(found, since, lead, names).over_time()} since the first run."
        else:
            yield "From the first run to the last no difference was found."
    yield f"All runs are read by the same rules (version {RULES})."


def _lead(told: Sequence[Verdict]) -> Verdict:
    """Returns the change with the smallest adjusted p; if several tie, the largest in size."""
    return min(told, key=lambda one: (one.p_adjusted or 0.0, -abs(one.value or 0.0)))


def _change(
    found: History, step: HistoryStep, verdict: Verdict, names: Mapping[str, str]
) -> Change:
    """Converts a step's difference to a Change, with the values of both runs if known."""
    line = line_of(found, verdict)
    if line is not None:
        return _change_of_line(found, line, (step.first, step.second), names)
    runs = found.runs[step.first].name, found.runs[step.second].name
    return Change(
        found.protocol,
        verdict.measure,
        None,
        None,
        verdict.unit,
        verdict.condition,
        held_of(verdict),
        runs,
    )


def _change_of_line(
    found: History, line: HistoryLine, places: tuple[int, int], names: Mapping[str, str]
) -> Change:
    first, second = (line.values[place] for place in places)
    unit = next((one.unit for one in (second, first) if one is not None), "share")
    condition = {**line.condition}
    if line.subject:
        condition["subject of the line"] = names.get(line.subject, line.subject)
    return Change(
        found.protocol,
        line.measure,
        None if first is None else first.value,
        None if second is None else second.value,
        unit,
        condition,
        line.contrast,
        (found.runs[places[0]].name, found.runs[places[1]].name),
    )


def line_of(found: History, verdict: Verdict) -> HistoryLine | None:
    """Returns the history's line on the number that a verdict compares; None if it has no line."""
    levels = held_of(verdict)
    return next(
        (
            line
            for line in found.lines
            if line.measure == verdict.measure
            and line.condition == verdict.condition
            and line.contrast == levels
            and line.subject in ("", verdict.subject)
        ),
        None,
    )


def _nth(place: int) -> str:
    """Returns the ordinal of a run by index: "first" for 0."""
    return ORDINALS[place] if place < len(ORDINALS) else f"{place + 1}th"
