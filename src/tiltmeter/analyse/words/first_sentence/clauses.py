"""Claims as clauses: in the protocol's words, with both raw numbers, for one model or several."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from ....languages.letters import NAME
from ....protocol import MeasureSpec
from .. import numerals, populations
from ..verdict_words import Word
from .facts import ClaimFacts

# of a measure without words of its own
SHARE = "{subject} gives “{counted}” in {value} of {answers}"
SIDES = (
    "{subject} gives “{counted}” in {share} of {answers} for {level}, {other_share} for {baseline}"
)
DIFFERENCE = "{subject} gives “{counted}” {points} points {more} often for {level} than {baseline}"
RATIO = "{subject} gives “{counted}” {times} times as often for {level} as for {baseline}"
RATIO_BELOW = "{subject} gives “{counted}” {times} times as often for {baseline} as for {level}"
MEANS = "{subject} averages {share}{unit} for {level}, {other_share} for {baseline}"
OTHER = "for {subject}, {what} is {value}"
NOTHING = "nothing was measured"
UNNAMED = "{subject} answers differently {where}, but no single value by itself shows it"
# begin a clause that a comma sets apart
CONDITIONS = ("told ", "asked ", "where ", "over ", "if ", "shown ", "with ", "of ")
SUBJECT, SLIGHTLY = "{subject}", "{slightly}"
WORDS = 30  # of a sentence before its exceptions, at most
NAMED = 3  # models, or places, that are named; of more the range is told
_NEAR = 1e-9  # of what adding up floats leaves of no difference
_AS_MUCH = {
    "{points} points {more} often": "as often",
    "{value} times as": "as",
    "{times} times as": "as",
}
_NUMBER = re.compile(r"^([−+]?[\d,.]+)(.*)$")
NUMBERS = ("value", "share", "other_share", "times", "points")  # slots that hold one
_SLOT = re.compile(rf"\{{({NAME})\}}")
_VERB = re.compile(r"(\{subject\}(?:\{slightly\})?,? )(\w+?)(es|s)\b")
_IRREGULAR = {"has": "have", "is": "are", "does": "do", "goes": "go"}


class Clause(NamedTuple):
    """A clause without its full stop. begins: the kind of its first word: "model" (a name whose
    case never changes), "level" (a title that is only ever capitalised), or "word" (any case).
    """

    text: str
    begins: Literal["model", "level", "word"] = "word"

    @property
    def alone(self) -> str:
        """The clause as the beginning of a sentence."""
        return self.text if self.begins == "model" else capital(self.text)

    @property
    def inside(self) -> str:
        """The clause as the continuation of a sentence."""
        return self.text[:1].lower() + self.text[1:] if self.begins == "word" else self.text


def capital(text: str) -> str:
    """Capitalises the first letter of a text, skipping an opening quotation mark."""
    first = 1 if text[:1] in "“«" else 0
    return text[:first] + text[first : first + 1].upper() + text[first + 1 :]


def clause(
    group: Sequence[ClaimFacts], key: str = "tilt", *, whole: bool = True, asked: int = 0
) -> Clause:
    """Returns a clause over claims that differ only in model or place. key: which of the measure's
    sentences to use; whole: True to add the population and the even value; asked: the number of
    models in the run, if these claims cover fewer.
    """
    first = group[0]
    template = _template(first, key)
    models = list(dict.fromkeys(facts.model for facts in group))
    slots = _merged(group, models, template)
    if len(models) > 1:
        template = _VERB.sub(_plural, template)
        slots["subject"] = all_models(len(models), asked)
    is_slight = all(facts.slight and facts.tilts for facts in group)
    slots["where"] = _group_phrase(first)
    slots["slightly"] = " slightly" if is_slight else ""
    text = template.format_map(slots).removesuffix(".")
    framed = _with_context(group, template, text, slots, slight=is_slight) if whole else text
    if not template.startswith("{") or not framed.startswith(text[:9]):
        return Clause(framed)
    if template.startswith(SUBJECT):
        return Clause(framed, "model" if len(models) == 1 else "word")
    return Clause(framed, "level")


def _with_context(
    group: Sequence[ClaimFacts],
    template: str,
    text: str,
    slots: Mapping[str, str],
    *,
    slight: bool,
) -> str:
    """Adds the population, both shares if the template has none, and “slight” if that holds."""
    first = group[0]
    is_even = _is_share(first.spec) and "reference" in slots and "{reference}" not in template
    if (
        not first.unnamed
        and "share" in slots
        and not {"{share}", "{value}"} & set(re.findall(r"\{\w+\}", template))
    ):
        text += f" ({slots['share']} against {slots['other_share']})"
    if slight and SLIGHTLY not in template and not is_even:
        text += ", a slight difference"
    text = populations.headline(f"{text}.", first.word, first.row, first.nouns).removesuffix(".")
    if is_even and slight:
        comparative = "more" if first.above else "less"
        return f"{text}, slightly {comparative} than even ({slots['reference']})"
    return f"{text}; {slots['reference']} would be even" if is_even else text


def all_models(number: int, asked: int = 0) -> str:
    """Returns `both models`, `all 3 models`, or `2 of 3 models` if the run has more."""
    if asked > number:
        return f"{number} of {asked} models"
    return "both models" if number == 2 else f"all {number} models"


def _group_phrase(facts: ClaimFacts) -> str:
    """Returns `for women`, or `by gender` for a claim over all groups of a dimension."""
    factor = (facts.spec.contrast or {}).get("factor", "")
    within = (facts.spec.contrast or {}).get("within", "")
    if factor in facts.row.condition:
        return f"for {facts.slots[factor]}"
    return f"by {facts.slots.get(within, factor)}"


def numbers(facts: ClaimFacts) -> str:
    """Returns both raw numbers, such as `58 % against 46 %`; the value if they are unknown."""
    if "share" in facts.slots:
        return f"{facts.slots['share']} against {facts.slots['other_share']}"
    return facts.slots.get("value", numerals.NOTHING)


def brief_clause(facts: ClaimFacts, *, model: bool, counted: bool = False) -> str:
    """Writes a claim briefly, to follow another. model, counted: True to name model or value."""
    template = str(facts.spec.sentence.get("also", ""))
    if template and fits(template, facts.slots):
        text = template.format_map(facts.slots)
    elif "unit" in facts.slots:
        slots = facts.slots
        text = (
            f"{slots['share']}{slots['unit']} for {slots['level']}, {slots['other_share']} for "
            f"{slots['baseline']}"
        )
    elif counted and {"counted", "level", "share"} <= {*facts.slots}:
        text = f"“{facts.slots['counted']}” for {facts.slots['level']} {numbers(facts)}"
    elif "level" in facts.slots and "share" in facts.slots:
        text = f"{facts.slots['level']} {numbers(facts)}"
    elif "counted" in facts.slots:
        text = f"{facts.slots['counted']} {numbers(facts)}"
    else:
        text = clause([facts], whole=False).inside
        return text
    return f"{facts.model}: {text}" if model else text


def _template(facts: ClaimFacts, key: str) -> str:
    """Returns the measure's template for a key if it can be filled, else the usual template."""
    if facts.unnamed:
        return UNNAMED
    templates = {name: str(text) for name, text in facts.spec.sentence.items()}
    suffixes = () if facts.above else ("below",)
    if "alone" in templates and "alone" in facts.slots:
        return templates["alone"]
    for name in (*suffixes, "tilt") if key == "tilt" else (key, *suffixes, "tilt"):
        template = _equal(templates.get(name, ""), facts)
        flips = name == "tilt" and "{times}" in template and not facts.above  # the wrong way round
        if template and not flips and fits(template, facts.slots):
            return template
    defaults = (_equal(text, facts) for text in _usual(facts))
    return next((text for text in defaults if fits(text, facts.slots)), NOTHING)


def is_equal(facts: ClaimFacts) -> bool:
    """True if the value equals the null value."""
    value, null = facts.row.value, facts.spec.null
    return value is not None and null is not None and abs(value - null) < _NEAR


def _equal(template: str, facts: ClaimFacts) -> str:
    """Rewords a template if the value equals the null: “as often”, not “0 points less often”."""
    if not is_equal(facts):
        return template
    for phrase, instead in _AS_MUCH.items():
        before, match, after = template.partition(phrase)
        if match:
            return f"{before}{instead}{after.replace(' than ', ' as ', 1)}"
    return template


def _usual(facts: ClaimFacts) -> tuple[str, ...]:
    ratio = RATIO if facts.above else RATIO_BELOW
    if facts.row.unit in numerals.RATIOS:
        return (SIDES, ratio, OTHER)
    if facts.row.unit != "share":
        return (MEANS, OTHER)
    if _is_share(facts.spec):
        return (SHARE, OTHER)
    return (SIDES, DIFFERENCE, OTHER) if facts.spec.contrast else (OTHER,)


def _is_share(spec: MeasureSpec) -> bool:
    """True if the measure is a plain share that is compared with a null value."""
    is_plain = spec.contrast is None and not spec.reference and not spec.signed
    return spec.unit == "share" and is_plain and spec.null is not None


def fits(template: str, slots: Mapping[str, str]) -> bool:
    """True if every slot of a template has a value."""
    try:
        template.format_map({"slightly": "", **slots})
    except KeyError:
        return False
    return True


def _plural(match: re.Match[str]) -> str:
    """Turns the verb of a matched phrase into the plural: “both models write”."""
    begins, stem, ending = match.groups()
    verb = _IRREGULAR.get(stem + ending) or stem + ("" if ending == "s" else "e")
    if ending == "es" and stem.endswith(("s", "x", "ch", "sh")):
        verb = stem
    return begins + verb


def _merged(group: Sequence[ClaimFacts], models: Sequence[str], template: str) -> dict[str, str]:
    """Returns slots that hold for all claims; lists differing numbers by model or as a range."""
    slots = dict(group[0].slots)
    is_labelled = False
    named = [name for name in _SLOT.findall(template) if name in NUMBERS]
    for name in dict.fromkeys((*named, *NUMBERS)):
        texts = [facts.slots.get(name, "") for facts in group]
        if len(set(texts)) == 1 or not all(texts):
            continue
        if len(models) == len(group) and 1 < len(models) <= NAMED:
            by_model = [f"{text} ({model})" for text, model in zip(texts, models, strict=True)]
            slots[name] = join_names(texts if is_labelled else by_model)
            is_labelled = True
        else:
            slots[name] = span(texts)
    for name, _ in group[0].place:
        titles = list(dict.fromkeys(facts.slots.get(name, "") for facts in group))
        if len(titles) > 1 and all(titles):
            slots[name] = join_names(titles)
    return slots


def span(texts: Sequence[str]) -> str:
    """Returns the range of numbers that are given as texts: `40 to 55 %`."""
    read: Callable[[str], tuple[float, str, str]] = _read
    ranked = sorted(map(read, texts))
    (first, low, _), (last, high, unit) = ranked[0], ranked[-1]
    decimals = {len(text.partition(".")[2]) for text in (low, high)}
    if unit == " %" and len(decimals) > 1:
        low, high = (numerals.fixed_decimals(value, min(decimals)) for value in (first, last))
    return f"{low}{unit}" if low == high else f"{low} to {high}{unit}"


def _read(text: str) -> tuple[float, str, str]:
    match = _NUMBER.match(text)
    if match is None:
        return 0.0, text, ""
    number, unit = match.groups()
    return float(number.replace(",", "").replace(numerals.MINUS, "-")), number, unit


def join_names(names: Sequence[str]) -> str:
    """Joins names as text: `a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def number_of_words(text: str) -> int:
    """Counts the words and numbers of a text; a per cent sign is not a word."""
    return sum(any(sign.isalnum() for sign in part) for part in text.split())


def is_tested(facts: ClaimFacts) -> bool:
    """True if the claim was tested against a null value and gold does not refute its judge."""
    return facts.word.record.tested and facts.word != Word.JUDGE_REFUTED
