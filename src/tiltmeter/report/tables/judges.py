"""Tables of judges compared with people, and of runs compared with one another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ...analyse.between_runs import first_words
from ...analyse.between_runs.compare import Comparison
from ...analyse.between_runs.paired_runs import ComparisonRow, held_of
from ...analyse.words import headlines, numerals
from ...gold.agreement import Agreement
from ...gold.classes import ClassShare
from ...gold.consensus import PanelAccuracy
from ...gold.label_check import CheckedGroup
from ...gold.review import MarkShare
from ...gold.validation import GoldGroup, ReportCard, Validation
from ...stats.results import Interval, count_of
from ..page_model import audits
from ..page_model.page import Section
from ..page_model.table import Column, Field, Table, number, table_of, words
from .estimate_tables import note_letters

RATES = ("sensitivity", "specificity", "precision", "F1")
UNKNOWN = Interval(None, None, None, "none")
POINTS = " points"  # for which a column has no room
VALIDATION = "validation"  # in the place of a variant
WIDE = 8  # answers that a matrix has at most to be shown


def two_places(value: float) -> str:
    """Formats a share as `.91`."""
    return numerals.share(value, 2)


def rate_text(found: Interval, write: Callable[[float], str] = two_places) -> str:
    """Formats `.91 [.85, .95]`; a dash if the value is undefined. write: formats each number."""
    if found.value is None:
        return numerals.NOTHING
    if found.low is None or found.high is None:
        return write(found.value)
    return f"{write(found.value)} [{write(found.low)}, {write(found.high)}]"


CHECKED: tuple[Field[CheckedGroup], ...] = (
    words("group", lambda row: f"{row.factor}: {row.level}" if row.factor else "all"),
    number("labels", lambda row: numerals.count(row.labels)),
    number("agreed", lambda row: numerals.count(row.agreed)),
    number("wrong", lambda row: numerals.count(row.wrong)),
    number("ambiguous", lambda row: numerals.count(row.ambiguous)),
    number("share wrong", lambda row: rate_text(row.wrong_share, numerals.share)),
)
OF_PANELS: tuple[Field[PanelAccuracy], ...] = (
    words("who", lambda row: row.who),
    number("labels", lambda row: numerals.count(row.labels)),
    number("right", lambda row: numerals.count(row.right)),
    number("accuracy", lambda row: rate_text(row.accuracy, numerals.share)),
)


def section(found: Validation) -> Section | None:
    """Makes the section on judges and people; None without gold, agreement or reviews."""
    if not found.cards and not found.agreements and not found.reviews:
        return None
    people_alone = bool(found.gold) and not found.cards
    value = "a value that most people gave" if people_alone else "gold"
    gold = "; ".join(
        f"{name}: {count_of(number, 'output')} with {value}" for name, number in found.gold.items()
    )
    text = (
        gold
        or "No gold: what people would say of these outputs is not known, and no number is "
        "corrected for it."
    )
    skips = (
        f"{attribute}: people skipped {', '.join(f'{n} ({why})' for why, n in reasons.items())}."
        for attribute, reasons in found.skipped.items()
    )
    lines = [
        f"{text}.".replace("..", "."),
        *skips,
        *(f"Mind: {line}." for card in found.cards for line in card.warnings),
    ]
    title = "Agreement of people" if people_alone else "Judges against people"
    return Section(VALIDATION, title, " ".join(lines), (), tuple(tables(found)))


def tables(found: Validation) -> Iterator[Table]:
    """Yields the section's tables: labels, rates and errors per judge; agreement; reviews."""
    yield from _checked(found.checked)
    yield from _panels(found.panels)
    for place, card in enumerate(found.cards):
        yield _card(card, place)
        yield from _matrix(card.groups[0], card, place)
        if card.shares:
            yield _shares(card, place)
    if found.agreements:
        yield _agreement(found.agreements)
    if found.reviews:
        yield _reviews(found.reviews)


def _rate(name: str, place: int) -> Field[ClassRow]:
    return number(name, lambda row: rate_text(row[3][place]))


ClassRow = tuple[str, str, float, tuple[Interval, ...]]  # group, class, labels, rates
CARD: tuple[Field[ClassRow], ...] = (
    words("group", lambda row: row[0]),
    words("class", lambda row: row[1]),
    number("gold", lambda row: numerals.count(row[2])),
    *(_rate(name, place) for place, name in enumerate(RATES)),
)


def _card(card: ReportCard, place: int) -> Table:
    how = "drawn at random, with weights" if card.random else "not known to be drawn at random"
    about = (
        f"gold {how} · 95 % intervals over items; recall is the sensitivity; 'by gold': "
        "the mean of the classes, each weighted by its gold; 'any': accuracy under sensitivity, "
        "macro F1 under F1"
    )
    title = f"{card.annotator}: {card.attribute} against people"
    rows = (row for group in card.groups for row in _class_rows(group))
    return table_of(audits.slug("card", place), title, about, rows, CARD)


def _class_rows(group: GoldGroup) -> Iterator[ClassRow]:
    """Yields the rates of each class of a group, then their averages over classes."""
    about = f"{group.factor}: {group.level}" if group.factor else "all"
    for value, class_ in group.classes.items():
        if class_.labels:
            yield (
                about,
                value,
                class_.labels,
                (class_.sensitivity, class_.specificity, class_.precision, class_.f1),
            )
    weighted = group.weighted_recall, UNKNOWN, group.weighted_precision, group.weighted_f1
    yield about, "by gold", group.labels, weighted
    yield about, "any", group.labels, (group.accuracy, UNKNOWN, UNKNOWN, group.macro_f1)


def _matrix(group: GoldGroup, card: ReportCard, place: int) -> Iterator[Table]:
    """Yields the confusion matrix of people's and the annotator's labels, if not too wide."""
    answers = list(
        dict.fromkeys((*group.matrix, *(said for row in group.matrix.values() for said in row)))
    )
    if len(answers) > WIDE:
        return
    yield table_of(
        audits.slug("matrix", place),
        f"{card.annotator}: {card.attribute}, which label it gave",
        "rows: people; columns: the annotator",
        group.matrix.items(),
        (words("people", lambda row: row[0]), *map(_answer_column, answers)),
    )


def _answer_column(answer: str) -> Field[tuple[str, Mapping[str, int]]]:
    return number(answer, lambda row: numerals.count(row[1].get(answer, 0)))


def _shares(card: ReportCard, place: int) -> Table:
    """Tabulates the shares of all classes, raw and corrected by the confusion matrix."""
    reasons = dict.fromkeys(
        share.corrected.note
        for share in card.shares
        if share.corrected.value is None and share.corrected.note
    )
    about = (
        "among outputs with one of these classes; the errors are those of all gold together "
        "· 95 % intervals over items"
    )
    about += "".join(f" · not corrected: {reason}" for reason in reasons)
    fields: tuple[Field[ClassShare], ...] = (
        words("model", lambda row: row.subject),
        words("class", lambda row: row.value),
        number("as labelled", lambda row: rate_text(row.said)),
        number("corrected", lambda row: rate_text(row.corrected)),
    )
    title = f"{card.annotator}: shares of {card.attribute}"
    return table_of(audits.slug("shares", place), title, about, card.shares, fields)


def _reviews(found: tuple[MarkShare, ...]) -> Table:
    """Tabulates how people marked the attribute values that a model proposed."""
    fields: tuple[Field[MarkShare], ...] = (
        words("who", lambda row: row.annotator),
        words("mark", lambda row: row.mark),
        number("values", lambda row: numerals.count(row.number)),
        number("share", lambda row: rate_text(row.share)),
    )
    about = "each value of each attribute that a model found; 95 % intervals over attributes"
    title = "The taxonomy, reviewed by people"
    return table_of("taxonomy-review", title, about, found, fields)


def _agreement(found: tuple[Agreement, ...]) -> Table:
    def coefficient(value: float) -> str:  # it may lie below 0
        return numerals.fixed_decimals(value, 2)

    fields: tuple[Field[Agreement], ...] = (
        words("who", lambda row: row.who),
        words("attribute", lambda row: row.attribute),
        words("coefficient", lambda row: row.coefficient),
        number("annotators", lambda row: str(row.raters)),
        number("value", lambda row: rate_text(row.found, coefficient)),
        number("items", lambda row: numerals.count(row.found.clusters)),
    )
    about = "0 is agreement by chance, of raw agreement none; 95 % intervals over items"
    are_many = len(found) > audits.MANY
    return table_of("agreement", "Agreement", about, found, fields, folded=are_many)


def _checked(found: Sequence[CheckedGroup]) -> Iterator[Table]:
    """Yields a table per annotator, with a row per group."""
    for place, annotator in enumerate(dict.fromkeys(row.annotator for row in found)):
        yield table_of(
            audits.slug("checked", place),
            f"{annotator}: all attributes against people",
            "labels as they were drawn; ambiguous: people could not tell either · 95 % intervals "
            "over outputs",
            (row for row in found if row.annotator == annotator),
            CHECKED,
        )


def _panels(found: Sequence[PanelAccuracy]) -> Iterator[Table]:
    """Yields a table per panel and attribute: rows by number of agreeing judges, then by judge."""
    of = dict.fromkeys((row.annotator, row.attribute) for row in found)
    for place, (annotator, attribute) in enumerate(of):
        yield table_of(
            audits.slug("panel", place),
            f"{annotator}: {attribute} against people, by how far the judges agree",
            "the panel's label where so many judges said one word, then each judge's own votes · "
            "95 % intervals over items",
            (row for row in found if (row.annotator, row.attribute) == (annotator, attribute)),
            OF_PANELS,
        )


def comparison(found: Comparison, everything: bool = False) -> Table:
    """Tabulates differences, second run minus first, with verdicts. everything: all measures."""
    rows = [
        row for row in found.rows if everything or (row.headline and row.estimate.value is not None)
    ]
    has_several = len({row.estimate.instrument for row in rows}) > 1
    letters = note_letters([row.estimate for row in rows])
    fields: tuple[Field[ComparisonRow], ...] = (
        words("measure", lambda row: row.estimate.measure),
        words("group", lambda row: _group(row, has_several)),
        words("run", lambda row: (row.estimate.contrast or {})["run"]),
        number("values", values),
        number("difference", difference),
        number("p adj.", lambda row: numerals.chance(row.estimate.p_adjusted)),
        words("verdict", lambda row: row.verdict or numerals.NOTHING),
        Field(
            Column("note", "letter", True),
            lambda row: letters.get(row.estimate.note, numerals.NOTHING),
        ),
    )
    margin = numerals.share(found.rows[0].margin) if found.rows else numerals.NOTHING
    about = (
        "second less first, 95 % intervals over items (of groups that are one item, over outputs, "
        "shuffled between the runs); of a divergence how far the two lie apart, less what chance "
        "gives; p adjusted over all headline differences (Holm), of the rest a measure · "
        f"verdict: different (adjusted p and interval), equivalent (the 90 % interval lies within "
        f"{margin} of 0), no difference found at this n, or undecided"
    )
    footnotes = tuple((letter, note) for note, letter in letters.items())
    return table_of("comparison", "Runs against one another", about, rows, fields, footnotes)


def _group(row: ComparisonRow, several: bool) -> str:
    """Writes the levels of a difference, after its instrument if there are several."""
    e = row.estimate
    levels = held_of(e).values()
    against = (level if numerals.MINUS in level else f"against {level}" for level in levels)
    by = [e.instrument.partition("@")[0]] if several else []
    return ", ".join([*by, *filter(None, e.condition.values()), *against])


def values(row: ComparisonRow) -> str:
    """Formats the number in both runs, the earlier run first."""
    signed = bool(held_of(row.estimate))
    both = (headlines.amount(one, "share", signed) for one in (row.first, row.second))
    return " → ".join(both).replace(POINTS, "")


def difference(row: ComparisonRow) -> str:
    """Formats the second run's number minus the first's, with its interval."""
    e = row.estimate
    if e.value is None:
        return numerals.NOTHING
    if e.unit != "share":
        return numerals.quantity(e.value, e.unit)
    return first_words.difference(e.value, e.low, e.high, e.unit).replace(POINTS, "")
