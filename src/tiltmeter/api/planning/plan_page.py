"""The result of `tiltmeter.plan`: prints as one line, and as a small page in a notebook."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from ...display.document import Block, Document
from ...protocol.design import prompt_pairs
from ...records import Json
from ...stages.planning import cost, other_levels
from ...stages.steps.connect import KnownModel
from ...stats.results import count_of
from ..stopping import sentences
from .plan_design import design_blocks

if TYPE_CHECKING:  # imports scipy, which a run that only asks must not pay for
    from ...stages.planning import power
    from ..stopping.forecast import StoppingForecast


HEADER_OF_CALLS = (
    "model",
    "part",
    "mode",
    "calls",
    "tokens in",
    "tokens out ≤",
    "$ about",
    "$ most",
)
CALLS_LAST = ("tokens out ≤", "tokens in", "mode", "part")  # columns that a narrow terminal drops


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """The plan of a run, made without asking a model.

    subjects:      {subject: {mode: trials}}.
    trials:        the number of measured trials; for_discovery: of trials asked only for an
        instrument to learn from.
    calls:         one line per model and part: calls, tokens, US dollars; `totals`: their sums.
    rule:          a sentence on how tokens were estimated.
    prompts:       prompts by level of the factor that the protocol counts by; often empty.
    others:        the number of trials with a further level of a factor that has defaults.
    models:        facts from the table of models: their retirement, and the source of their prices.
    waiting:       one line per instrument that waits for judges.
    doubts:        one line per possible failure: a context that prompts may not fit into.
    misfits:       one line per model that would be asked for outputs it cannot make.
    matched:       the differences between the prompts that are compared.
    icc:           the intra-item correlation that `design` assumes.
    correlation:   the assumed correlation between an item's shares at two levels.
    wanted:        the difference in shares to detect, or None.
    design:        the smallest difference that each headline measure detects with 80 % power.
    stopping:      the forecast of a run that stops early; else None, and not in `as_dict`.
    """

    protocol: str
    version: str
    subjects: Mapping[str, Mapping[str, int]]
    trials: int
    for_discovery: int
    calls: tuple[cost.CostLine, ...]
    totals: cost.Totals
    rule: str
    prompts: Mapping[str, int]
    others: tuple[other_levels.Other, ...]
    models: tuple[KnownModel, ...]
    waiting: tuple[str, ...]
    doubts: tuple[str, ...]
    misfits: tuple[str, ...]
    matched: tuple[prompt_pairs.PromptDifference, ...]
    icc: float
    correlation: float
    wanted: float | None
    design: tuple[power.Detectable, ...]
    stopping: StoppingForecast | None = None

    def as_dict(self) -> dict[str, Json]:
        """Returns plain values, as in `tiltmeter plan --json` (`for_discovery` is "aside")."""
        return {
            {"for_discovery": "aside"}.get(name, name): list(value)
            if isinstance(value, tuple)
            else value
            for name, value in asdict(self).items()
            if name != "stopping" or value is not None
        }

    def __repr__(self) -> str:
        return _line(self)

    def _repr_html_(self) -> str:
        return self.document().html()

    def document(self, thin: Sequence[str] = ()) -> Document:
        """Describes the plan as a document. thin: warnings that the design is too small."""
        return Document(f"Plan of {self.protocol} {self.version}", [*_blocks(self, thin)])

    def __getitem__(self, name: str) -> Json:
        warnings.warn(
            f"plan(…)['{name}'] is deprecated: write plan(…).{name} or plan(…).as_dict()['{name}']",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.as_dict()[name]


def _line(plan: Plan) -> str:
    """Summarises the plan in one line."""
    smallest = min((row.detectable for row in plan.design if row.detectable), default=None)
    detectable = "" if smallest is None else f"; smallest detectable difference {smallest:.3f}"
    return (
        f"<Plan {plan.protocol} {plan.version}: {count_of(plan.trials, 'trial')}, "
        f"{count_of(plan.totals['calls'], 'call')}, {_money(plan)}{detectable}>"
    )


def _money(plan: Plan) -> str:
    """Writes the expected cost of the calls, in US dollars."""
    unknown = plan.totals["price_unknown"]
    if unknown:
        return f"cost unknown (no price for {', '.join(unknown)})"
    how = "up to" if any(line.up_to for line in plan.calls) else "about"
    return f"{how} ${plan.totals['cost']:,.2f}"


def _blocks(plan: Plan, thin: Sequence[str]) -> Iterator[Block]:
    """Yields the blocks of a plan's page. thin: warnings that the design is too small."""
    yield Block(lines=[*_trials(plan)], brief=(0,), noun="prompts", weight=3)
    yield _uncut_block(_money_lines(plan))
    calls = [HEADER_OF_CALLS, *map(_cells, plan.calls), _sums(plan)]
    yield Block(
        table=calls,
        words=3,
        spare=CALLS_LAST,
        brief=(0, -1),
        noun="calls of each model",
        weight=6,
    )
    yield Block(lines=[*_notes_of_calls(plan)], noun="how calls are estimated", weight=1)
    yield Block(lines=[*_models(plan.models)], noun="models", weight=4)
    yield _uncut_block(
        (
            *(f"warning: a run is refused: {line}" for line in plan.misfits),
            *(f"warning: {line}" for line in (*plan.doubts, *thin)),
            *(f"waiting: {line}" for line in plan.waiting),
        )
    )
    if plan.design:
        yield from design_blocks(plan.design, plan.wanted, (plan.icc, plan.correlation))
    else:
        yield _uncut_block(
            [f"{plan.protocol} has no headline measure, so no detectable difference is worked out."]
        )
    yield from _stopping(plan)


def _uncut_block(lines: Iterable[str]) -> Block:
    """Makes a block of lines that is shown in full even on a small screen."""
    blocks = [*lines]
    return Block(lines=blocks, brief=range(len(blocks)), weight=9)


def _trials(plan: Plan) -> Iterator[str]:
    aside = (
        f", and {plan.for_discovery:,} aside of them that are not measured"
        if plan.for_discovery
        else ""
    )
    yield f"{plan.protocol} {plan.version}: {count_of(plan.trials, 'trial')}{aside}"
    if plan.prompts:
        numbers = (f"{number:,} {level}" for level, number in plan.prompts.items())
        yield f"prompts: {', '.join(numbers)}"
    for other in plan.others:
        fewer = plan.trials - other["trials"]
        change = f", {abs(fewer):,} {'fewer' if fewer > 0 else 'more'}" if fewer else ""
        yield f"with --where {other['factor']}={other['level']}: {other['trials']:,} trials{change}"


def _money_lines(plan: Plan) -> Iterator[str]:
    """Yields a line with the expected cost and the upper bound of a run's cost."""
    total = plan.totals
    if not total["cost"] and not total["price_unknown"]:
        return
    sure = "up to" if any(line.up_to for line in plan.calls) else "about"
    line = f"cost: {sure} ${_sum(total['cost'], total['price_unknown'])}"
    most = _sum(total["cost_most"], total["price_unknown"])
    yield (
        f"{line}. At the very most ${most}: if every answer ran to its limit of tokens, every "
        "byte were a token and every judge asked all its rounds. --max-cost holds a run below "
        "what you name."
    )


def _sums(plan: Plan) -> tuple[str, ...]:
    """Makes the last row of the table of calls: the totals."""
    total = plan.totals
    least = total["calls"] - sum(line.calls for line in plan.calls if line.up_to)
    return (
        "in all",
        "",
        "",
        _range(least, total["calls_most"]),
        f"{total['prompt_tokens']:,}",
        f"{total['completion_tokens']:,}",
        _sum(total["cost"], total["price_unknown"]),
        _sum(total["cost_most"], total["price_unknown"]),
    )


def _notes_of_calls(plan: Plan) -> Iterator[str]:
    yield f"  {plan.rule}"
    yield from (f"  {note}" for note in dict.fromkeys(filter(None, map(_up_to, plan.calls))))
    for name in plan.totals["price_unknown"]:
        yield (
            f"  the price of {name} is unknown and not in the sum. Add for instance: --price "
            f"{name}=2.5/10"
        )


def _up_to(line: cost.CostLine) -> str:
    """Explains that a judge is asked only if rules are unsure; "" for a line without this limit."""
    return line.up_to and (
        f"{line.model} is asked where the rules are unsure ({line.up_to}); tokens and dollars are "
        f"those of asking about all {line.outputs:,}"
    )


def _cells(line: cost.CostLine) -> tuple[str, ...]:
    """Makes a row of the table of calls: one model in one part of the run."""
    return (
        line.model,
        "subject" if line.part == "subject" else line.part.partition("/")[0],
        line.mode,
        _range(0 if line.up_to else line.calls, line.calls_most),
        f"{line.prompt_tokens:,}",
        f"{line.completion_tokens:,}",
        _dollars(line.cost),
        _dollars(line.cost_most),
    )


def _models(models: Iterable[KnownModel]) -> Iterator[str]:
    for model in models:
        if model["retired"]:
            yield (
                f"warning: {model['name']} was retired on {model['retires_on']}: a run is "
                "refused, unless --base-url names a server that still has it"
            )
        elif model["soon"]:
            yield (
                f"warning: {model['name']} ends on {model['retires_on']}: nobody can repeat the "
                "run after that"
            )
        elif model["retires_on"]:
            yield f"{model['name']} ends on {model['retires_on']}"
        for limit in model.get("limits", ()):
            yield f"{model['name']}: {limit}"
        if "batch" in model:
            yield f"{model['name']}: {model['batch']}"
        if "price_date" in model:
            yield f"{model['name']}: price as of {model['price_date']}, {model['price_source']}"


def _stopping(plan: Plan) -> Iterator[Block]:
    """Yields blocks on the calls and findings of a run that stops early."""
    if plan.stopping is None:
        return
    rows = [*sentences.table(plan.totals, plan.wanted, plan.stopping)]
    yield Block(
        heading=sentences.heading(plan.stopping),
        table=rows,
        words=1,
        spare=rows[0][-1:],
        noun="what stopping early saves",
        weight=7,
    )
    explained = [f"  {line}" for line in sentences.sentences(plan.totals, plan.stopping)]
    yield Block(lines=explained, brief=(0,), noun="more on stopping early", weight=2)


def _range(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _sum(dollars: float, unknown: Sequence[str]) -> str:
    """Writes a sum of dollars; adds "?" if there are models whose price is unknown."""
    amount = _dollars(dollars) if dollars or not unknown else ""
    return " + ".join(filter(None, (amount, "?" if unknown else "")))


def _dollars(dollars: float | None) -> str:
    return (
        "?"
        if dollars is None
        else "0"
        if dollars == 0
        else f"{dollars:,.2f}"
        if dollars >= 0.01
        else "<0.01"
    )
