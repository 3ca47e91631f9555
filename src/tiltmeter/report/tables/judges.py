"""Judges against people, and runs against one another: a report card for every annotator,
agreement, differences of runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from ...analyse.between_runs import first_words
from ...analyse.between_runs.compare import Comparison
from ...analyse.between_runs.paired_runs import ComparisonRow
from ...analyse.words import headlines, numerals
from ...gold.agreement import Agreement
from ...gold.review import MarkShare
from ...gold.validation import GoldGroup, ReportCard, Validation
from ...stats.results import Interval, count_of
from ..page_model import audits
from ..page_model.page import Column, Section, Table
from . import checked_labels

NUMBER = ("gold", "sensitivity", "specificity", "precision", "F1")
POINTS = " points"  # for which a column has no room
VALIDATION = "validation"  # in the place of a variant
WIDE = 8  # answers that a matrix has at most to be shown


def section(found: Validation) -> Section | None:
    """None where there is neither gold nor anything that several annotated."""
    if not found.cards and not found.agreements and not found.reviews:
        return None
    gold = "; ".join(
        f"{name}: {count_of(number, 'output')} with gold" for name, number in found.gold.items()
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
    said = [
        f"{text}.".replace("..", "."),
        *skips,
        *(f"Mind: {line}." for card in found.cards for line in card.warnings),
    ]
    return Section(VALIDATION, "Judges against people", " ".join(said), (), tuple(tables(found)))


def tables(found: Validation) -> Iterator[Table]:
    """The tables of the section: all labels of a judge, its rates and errors by attribute, then
    agreement, then reviews.
    """
    yield from checked_labels.tables(found.checked)
    yield from checked_labels.panels(found.panels)
    for place, card in enumerate(found.cards):
        yield _card(card, place)
        yield from _matrix(card.groups[0], card, place)
        if card.shares:
            yield _shares(card, place)
    if found.agreements:
        yield _agreement(found.agreements)
    if found.reviews:
        yield _reviews(found.reviews)


def _card(card: ReportCard, place: int) -> Table:
    columns = (
        Column("group", brief=True),
        Column("class", brief=True),
        *(Column(name, "number", True) for name in NUMBER),
    )
    rows = []
    for group in card.groups:
        about = f"{group.factor}: {group.level}" if group.factor else "all"
        for value, quality in group.classes.items():
            if quality.labels:
                rates = (quality.sensitivity, quality.specificity, quality.precision, quality.f1)
                rows.append((about, value, numerals.count(quality.labels), *map(rate_text, rates)))
        weighted = (group.weighted_recall, group.weighted_precision, group.weighted_f1)
        recall, precision, f1 = map(rate_text, weighted)
        number = numerals.count(group.labels)
        rows.append((about, "by gold", number, recall, numerals.NOTHING, precision, f1))
        rows.append(
            (
                about,
                "any",
                numerals.count(group.labels),
                rate_text(group.accuracy),
                numerals.NOTHING,
                numerals.NOTHING,
                rate_text(group.macro_f1),
            )
        )
    how = "drawn at random, with weights" if card.random else "not known to be drawn at random"
    about = (
        f"gold {how} · 95 % intervals over items; recall is the sensitivity; 'by gold': "
        "the mean of the classes, each weighted by its gold; 'any': accuracy under sensitivity, "
        "macro F1 under F1"
    )
    return Table(
        audits.slug("card", place),
        f"{card.annotator}: {card.attribute} against people",
        about,
        columns,
        tuple(rows),
    )


def _matrix(group: GoldGroup, card: ReportCard, place: int) -> Iterator[Table]:
    """Rows: what people said; columns: what the annotator said; labels as they are, without
    weights.
    """
    answers = list(
        dict.fromkeys((*group.matrix, *(said for row in group.matrix.values() for said in row)))
    )
    if len(answers) > WIDE:
        return
    columns = (Column("people", brief=True), *(Column(name, "number", True) for name in answers))
    rows = tuple(
        (truth, *(numerals.count(float(row.get(said, 0))) for said in answers))
        for truth, row in group.matrix.items()
    )
    title = f"{card.annotator}: {card.attribute}, which label it gave"
    yield Table(
        audits.slug("matrix", place),
        title,
        "rows: people; columns: the annotator",
        columns,
        rows,
    )


def _shares(card: ReportCard, place: int) -> Table:
    """Every class of the attribute as the annotator said it, and corrected by its confusion
    matrix.
    """
    columns = (
        Column("model", brief=True),
        Column("class", brief=True),
        Column("as labelled", "number", True),
        Column("corrected", "number", True),
    )
    rows = tuple(
        (one.subject, one.value, rate_text(one.said), rate_text(one.corrected))
        for one in card.shares
    )
    reasons = dict.fromkeys(
        one.corrected.note
        for one in card.shares
        if one.corrected.value is None and one.corrected.note
    )
    about = (
        "among outputs with one of these classes; the errors are those of all gold together "
        "· 95 % intervals over items"
    )
    about += "".join(f" · not corrected: {reason}" for reason in reasons)
    return Table(
        audits.slug("shares", place),
        f"{card.annotator}: shares of {card.attribute}",
        about,
        columns,
        rows,
    )


def _reviews(found: tuple[MarkShare, ...]) -> Table:
    """Tabulates people's marks of the attributes' values that a model made."""
    columns = (
        Column("who", brief=True),
        Column("mark", brief=True),
        Column("values", "number", True),
        Column("share", "number", True),
    )
    rows = tuple(
        (one.annotator, one.mark, numerals.count(one.number), rate_text(one.share)) for one in found
    )
    about = "each value of each attribute that a model found; 95 % intervals over attributes"
    return Table("taxonomy-review", "The taxonomy, reviewed by people", about, columns, rows)


def _agreement(found: tuple[Agreement, ...]) -> Table:
    names = ("who", "attribute", "coefficient")
    columns = (
        *(Column(name, brief=True) for name in names),
        Column("annotators", "number", True),
        Column("value", "number", True),
        Column("items", "number", True),
    )
    rows = tuple(
        (
            one.who,
            one.attribute,
            one.coefficient,
            str(one.raters),
            _coefficient(one.found),
            numerals.count(one.found.clusters),
        )
        for one in found
    )
    about = "0 is agreement by chance, of raw agreement none; 95 % intervals over items"
    return Table("agreement", "Agreement", about, columns, rows, folded=len(rows) > audits.MANY)


def _coefficient(found: Interval) -> str:
    """As `rate_text`, of what may lie below 0."""
    if found.value is None:
        return numerals.NOTHING
    if found.low is None or found.high is None:
        return numerals.fixed_decimals(found.value, 2)
    return (
        f"{numerals.fixed_decimals(found.value, 2)} [{numerals.fixed_decimals(found.low, 2)}, "
        f"{numerals.fixed_decimals(found.high, 2)}]"
    )


def rate_text(found: Interval) -> str:
    """`.91 [.85, .95]`; a dash where there is nothing to divide by."""
    if found.value is None:
        return numerals.NOTHING
    ends = (
        numerals.interval(found.low, found.high, "share", places=2) if found.low is not None else ""
    )
    return f"{numerals.share(found.value, 2)} {ends}".strip()


def comparison(found: Comparison, everything: bool = False) -> Table:
    """A row a difference, second less first, with its verdict; of headline measures only unless
    `everything` is wanted.
    """
    kept = [
        row for row in found.rows if everything or (row.headline and row.estimate.value is not None)
    ]
    several = len({row.estimate.instrument for row in kept}) > 1
    letters = {
        note: chr(ord("a") + n % 26)
        for n, note in enumerate(dict.fromkeys(row.estimate.note for row in kept))
        if note
    }
    columns = (
        Column("measure", brief=True),
        Column("group", brief=True),
        Column("run", brief=True),
        Column("values", "number", True),
        Column("difference", "number", True),
        Column("p adj.", "number", True),
        Column("verdict", brief=True),
        Column("note", "letter", True),
    )
    rows = tuple(comparison_cells(row, letters, several) for row in kept)
    margin = numerals.share(found.rows[0].margin) if found.rows else numerals.NOTHING
    about = (
        "second less first, 95 % intervals over items (of groups that are one item, over outputs, "
        "shuffled between the runs); of a divergence how far the two lie apart, less what chance "
        "gives; p adjusted over all headline differences (Holm), of the rest a measure · "
        f"verdict: different (adjusted p and interval), equivalent (the 90 % interval lies within "
        f"{margin} of 0), no difference found at this n, or undecided"
    )
    return Table(
        "comparison",
        "Runs against one another",
        about,
        columns,
        rows,
        tuple((letter, note) for note, letter in letters.items()),
    )


def comparison_cells(
    row: ComparisonRow, letters: Mapping[str, str] = MappingProxyType({}), several: bool = False
) -> tuple[str, ...]:
    """The cells of a difference: measure, group, runs, values, difference, adjusted p, verdict, and
    the letter of its note. several: with the instrument in the group.
    """
    e = row.estimate
    held = [level for name, level in (e.contrast or {}).items() if name != "run"]
    by = [e.instrument.partition("@")[0]] if several else []
    group = ", ".join(
        [
            *by,
            *(level for level in e.condition.values() if level),
            *(level if numerals.MINUS in level else f"against {level}" for level in held),
        ]
    )
    values = (
        f"{headlines.amount(row.first, 'share', bool(held))} → "
        f"{headlines.amount(row.second, 'share', bool(held))}"
    ).replace(POINTS, "")
    difference = numerals.NOTHING
    if e.value is not None and e.unit != "share":
        difference = numerals.quantity(e.value, e.unit)
    elif e.value is not None:
        difference = first_words.difference(e.value, e.low, e.high, e.unit).replace(POINTS, "")
    return (
        e.measure,
        group,
        (e.contrast or {})["run"],
        values,
        difference,
        numerals.chance(e.p_adjusted),
        row.verdict or numerals.NOTHING,
        letters.get(e.note, numerals.NOTHING),
    )
