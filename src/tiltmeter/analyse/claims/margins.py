"""The margins of a gate: parsing, and the size that holds for a measure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from ...errors import UsageError
from ...protocol import MeasureSpec, Protocol
from ...protocol.design.refusals import UNANSWERED
from ...protocol.thresholds import RATIOS
from ..words import numerals

Sizes = Mapping[str, tuple[float, bool]]  # measure, "" for all others → (size, True if per cent)
HOW_MUCH = "Say how much would matter: --margin 5 (points), or --margin refusal=2,length=10%"
_NO_ANSWER = UNANSWERED.removeprefix("_")  # names the margin of missing answers
_LIKE_IT = (_NO_ANSWER, "refusal", "")  # the margins that hold for them, the first that is named
DEFAULT = 5.0  # points of missing answers, if no margin for them is named


def parse_sizes(text: str) -> dict[str, tuple[float, bool]]:
    """Parses `--margin` and `--worse-by`: {measure, or "" for others: (size, True if per cent)}."""
    return dict(map(_margin, text.split(",")))


def _margin(text: str) -> tuple[str, tuple[float, bool]]:
    name, _, size = text.rpartition("=")
    is_per_cent = size.strip().endswith("%")
    try:
        number = float(size.strip().removesuffix("%"))
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise UsageError(f"'{text}' is not a margin. {HOW_MUCH}")
    if not name and not is_per_cent and number < 1:
        share = f"{100 * number:g}"
        raise UsageError(
            f"A margin is in points (5: a share of 50 against 55 %), and {size} is less than one. "
            f"Did you mean {share}? If not, type it with its measure: MEASURE={size}"
        )
    return name.strip(), (number, is_per_cent)


def size_of(sizes: Sizes, measure: str, unit: str) -> float | None:
    """Returns the size given for a measure, or for the first part of its name (`refusal` for
    `refusal_gender`), in the measure's unit; for ratios as a factor above 1. Missing answers always
    have one: their own, that of refusals, that of all, or DEFAULT.

    A bare 5 means 5 points for shares and 5 % for ratios. None without a size, or if a bare size
    would apply to another unit: 5 grades are not 5 points.
    """
    if is_of_missing(measure):
        named = next((sizes[name] for name in (measure, *_LIKE_IT) if name in sizes), None)
        return (named[0] if named else DEFAULT) / 100
    margin = sizes.get(measure) or sizes.get(kind_of(measure))
    if margin is None and "" not in sizes:
        return None
    size, per_cent = margin or sizes[""]
    if unit in RATIOS:
        return 1 + size / 100
    if unit == "share":
        return size / 100
    return size if margin and not per_cent else None


def is_of_missing(measure: str) -> bool:
    """True if a measure counts missing answers, by its name."""
    return measure.endswith(UNANSWERED) or kind_of(measure) == _NO_ANSWER


def kind_of(measure: str) -> str:
    """Returns the first part of a measure's name."""
    return measure.partition("_")[0]


def refuse_unfit(sizes: Sizes, protocol: Protocol) -> None:
    """Raises UsageError if a margin is for no headline measure or in per cent of a measure that has
    a unit of its own, or if no headline measure has a margin.
    """
    headlines = [spec for spec in protocol.measures if spec.headline]
    if not headlines:
        return
    names = {spec.name for spec in headlines} | {kind_of(spec.name) for spec in headlines}
    for name, (size, per_cent) in sizes.items():
        if name and name not in (*names, _NO_ANSWER):
            raise UsageError(
                f"--margin names “{name}”, which is not a headline of {protocol.name}. "
                f"Name one of: {', '.join(dict.fromkeys(kind_of(h.name) for h in headlines))}"
            )
        named = [spec for spec in headlines if name in (spec.name, kind_of(spec.name))]
        if per_cent and named and not any(map(_has_per_cent, named)):
            raise UsageError(
                f"--margin {name}={size:g}%: {name} is measured in {named[0].unit}, not in per "
                f"cent. Type a number of {named[0].unit}, such as: --margin {name}=1"
            )
    for spec in headlines:
        margin = size_of(sizes, spec.name, spec.unit) or 0.0
        if spec.unit == "share" and margin >= 1:
            raise UsageError(
                f"--margin: shares differ by at most 100 points, so {100 * margin:g} lets any tilt "
                f"of {spec.name} pass. {HOW_MUCH}"
            )
    others = [spec for spec in headlines if not is_of_missing(spec.name)]
    if all(size_of(sizes, spec.name, spec.unit) is None for spec in others):
        raise UsageError(
            f"--margin fits no headline of {protocol.name}, as none is a share or a ratio. "
            f"Write a size for each: --margin {','.join(examples(spec.name for spec in others))}"
        )


def _has_per_cent(spec: MeasureSpec) -> bool:
    return spec.unit == "share" or spec.unit in RATIOS


def examples(names: Iterable[str]) -> list[str]:
    """Returns an example of a size per kind of measure: `reading=1`."""
    return list(dict.fromkeys(f"{kind_of(name)}=1" for name in names))


def in_words(margin: float, unit: str, null: float | None) -> str:
    """Writes a margin with both of its ends if they differ: a factor of 1.2 is −17 to +20 %."""
    if unit == "share":
        around = f" around {numerals.percent(null)}" if null else ""
        size = f"{100 * margin:g}"
        return f"{size} point{'s' * (size != '1')}{around}"
    if unit in RATIOS:
        low, high = 100 * (1 - 1 / margin), 100 * (margin - 1)
        return f"{numerals.MINUS}{_short(low)} to +{_short(high)} %"
    return f"{margin:g} {unit}".strip()


def _short(size: float) -> str:
    return f"{round(size, 0 if size >= 10 else 1):g}"
