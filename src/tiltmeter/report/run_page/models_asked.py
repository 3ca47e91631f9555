"""The models of a run, summed up from its calls: names as served, dates, numbers, cost."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...analyse.words import numerals
from ...records import Json
from ...stats.results import count_of
from ...store import Store
from ...store.queries import calls
from ...store.queries.trials import TrialPart
from ..page_model.figures import Pairs
from ..page_model.page import Subject


@dataclass(slots=True)
class Facts:
    """Sums over the calls to one model for one purpose (subject, or an annotator).

    questions: the number of questions about outputs, of which equal questions share a call; 0 if
    the run does not record it.
    """

    model: str
    purpose: str
    calls: int = 0
    served: dict[str, int] = field(default_factory=dict)
    fingerprints: dict[str, int] = field(default_factory=dict)
    omitted: set[str] = field(default_factory=set)
    revised: int = 0
    first: str = ""
    last: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    uncounted: int = 0
    cost: float = 0.0
    unknown_cost: int = 0
    servers: dict[int, int] = field(default_factory=dict)  # number → calls, where there are several
    questions: int = 0
    annotators: list[str] = field(default_factory=list)  # that rest on them, where that is known

    @property
    def labels_as(self) -> list[str]:
        """The annotators that use these calls: a judge, or rules that ask a judge if unsure."""
        return self.annotators or [self.purpose]

    @property
    def role(self) -> str:
        """The model's role: subject, judge, or again (an instrument calls the subject once more, as
        for the rest of a word's probability).

        An annotator's id is `instrument/judge@hash`, or `instrument/version@hash` without a judge.
        """
        if self.purpose == "subject":
            return "subject"
        return (
            "judge" if self.model in self.purpose.partition("/")[2].rpartition("@")[0] else "again"
        )

    def as_dict(self) -> dict[str, Json]:
        """Returns plain values for the signature and the JSON output."""
        return {
            "name": self.model,
            "purpose": self.purpose,
            "served": sorted(self.served),
            "fingerprints": sorted(self.fingerprints),
            "omitted": sorted(self.omitted),
            "first": self.first,
            "last": self.last,
            "calls": self.calls,
            "questions": self.questions or self.calls,
            "cost": None if self.unknown_cost else round(self.cost, 6),
        }


def facts(store: Store) -> list[Facts]:
    """Sums calls by model and purpose, in the order of their first calls."""
    by_model: dict[tuple[str, str], Facts] = {}
    for row in calls.sums(store):
        key = row.model, row.purpose
        one = by_model.setdefault(key, Facts(row.model, row.purpose, first=row.first))
        one.calls += row.calls
        one.first, one.last = min(one.first, row.first), max(one.last, row.last)
        for name, asked in ((row.served, one.served), (row.fingerprint, one.fingerprints)):
            if name:
                asked[name] = asked.get(name, 0) + row.calls
        one.omitted |= set(row.omitted)
        one.revised += row.revised
        one.prompt_tokens += row.prompt_tokens
        one.completion_tokens += row.completion_tokens
        one.uncounted += row.uncounted
        one.cost += row.cost
        one.unknown_cost += row.unknown_cost
    for model, purpose, server, number in calls.by_server(store):
        by_model[model, purpose].servers[server] = number
    for annotator_calls in calls.by_annotator(store):
        if (annotator_calls.model, annotator_calls.purpose) in by_model:
            one = by_model[annotator_calls.model, annotator_calls.purpose]
            one.questions += annotator_calls.turns
            one.annotators.append(annotator_calls.annotator)
    return list(by_model.values())


def asked_once(store: Store) -> list[str]:
    """Returns a line on the calls that judges' questions took, if equal questions shared calls."""
    shared = [one for one in calls.by_annotator(store) if one.turns > one.calls]
    questions, number = sum(one.turns for one in shared), sum(one.calls for one in shared)
    line = f"{questions:,} questions to judges were {number:,} calls: equal ones are asked once."
    return [line] if shared else []


def subjects(
    known: list[Facts], trials: list[TrialPart], changes: list[str]
) -> tuple[Subject, ...]:
    """Returns the subjects in the order of their trials, also those without calls (answers from a
    file), then the judges.

    changes: lines of `served.warnings`, each beginning with the model's name.
    """
    listed = []
    for name in dict.fromkeys(part.subject for part in trials):
        one = next(
            (f for f in known if f.model == name and f.purpose == "subject"), Facts(name, "subject")
        )
        mine = [part for part in trials if part.subject == name]
        lines = [_asked_line(part) for part in mine]
        more = [
            (f"asked again by {f.purpose}", _again(f))
            for f in known
            if f.model == name and f.role == "again"
        ]
        listed.append(
            Subject(
                name, "subject", (*lines, *_lines(one), *more), tuple(_warnings(one, mine, changes))
            )
        )
    for fact in known:
        if fact.role == "judge":
            facts = (("labels as", ", ".join(fact.labels_as)), *_lines(fact))
            listed.append(Subject(fact.model, "judge", facts, tuple(_warnings(fact, [], changes))))
    return tuple(listed)


def _again(fact: Facts) -> str:
    cost = (
        f"cost unknown for {fact.unknown_cost:,}"
        if fact.unknown_cost
        else numerals.dollars(fact.cost)
    )
    return f"{fact.calls:,} calls, {cost}"


def _asked_line(part: TrialPart) -> tuple[str, str]:
    names = ("temperature", "top_p", "max_tokens")
    is_picture = part.max_tokens == 0  # a picture, which only has a seed
    settings = [] if is_picture else [f"{name} {_setting(getattr(part, name))}" for name in names]
    if part.begin:
        settings.append(f"answer begun with “{part.begin}”")
    return (
        f"{part.mode} mode",
        f"{part.answered:,} of {part.trials:,} trials "
        f"answered{'; ' * bool(settings)}{', '.join(settings)}",
    )


def _setting(value: float | None) -> str:
    return "provider default" if value is None else f"{value:g}"


def _lines(one: Facts) -> Pairs:
    if not one.calls:
        return (("calls", "none stored"),)
    when = (
        one.first[:10]
        if one.first[:10] == one.last[:10]
        else f"{one.first[:10]} to {one.last[:10]}"
    )
    tokens = f"{one.prompt_tokens:,} in, {one.completion_tokens:,} out"
    if one.uncounted:
        tokens += f" (not stated for {count_of(one.uncounted, 'call')})"
    cost = numerals.dollars(one.cost)
    if one.unknown_cost:
        cost = f"unknown for {count_of(one.unknown_cost, 'call')}" + (
            f", {cost} for the rest" if one.cost else ""
        )
    lines = [
        ("served as", _names_text(one.served, one.calls)),
        ("fingerprint", _names_text(one.fingerprints, one.calls)),
        ("asked on (UTC)", when),
        ("calls", _calls_text(one)),
        ("tokens", tokens),
        ("cost", cost),
        ("left to the provider", _omitted_text(one)),
    ]
    if one.servers:
        rows = one.servers.items()
        servers = [f"server {number} ({count_of(sent, 'call')})" for number, sent in rows]
        lines.insert(0, ("answered by", ", ".join(servers)))
    if one.revised:
        lines.append(("prompts revised by the server", f"{one.revised:,}"))
    return tuple(lines)


def _calls_text(one: Facts) -> str:
    """Writes the number of calls; also of questions, if several questions shared a call."""
    if one.questions <= one.calls:
        return f"{one.calls:,}"
    return f"{one.calls:,} for {one.questions:,} questions: equal ones are asked once"


def _omitted_text(one: Facts) -> str:
    return (
        f"{', '.join(sorted(one.omitted))} (refused by the model, provider default)"
        if one.omitted
        else "nothing"
    )


def _names_text(names: dict[str, int], calls: int) -> str:
    if not names:
        return "not stated"
    if len(names) == 1 and sum(names.values()) == calls:
        return next(iter(names))
    stated = [f"{name} ({count_of(number, 'call')})" for name, number in names.items()]
    rest = calls - sum(names.values())
    return ", ".join([*stated, *([f"not stated ({rest:,} calls)"] if rest else [])])


def _warnings(one: Facts, trials: list[TrialPart], changes: list[str]) -> list[str]:
    warnings = [line for line in changes if line.startswith(f"{one.model} ")]
    open_trials = sum(part.trials - part.answered for part in trials)
    if open_trials:
        warnings.append(
            f"{open_trials:,} planned trials have no answer yet: the same command goes on with "
            "them. Trials are asked in interleaved rounds, so what is there is balanced."
        )
    if one.revised:
        warnings.append(f"The server rewrote {count_of(one.revised, 'prompt')} before answering.")
    return warnings
