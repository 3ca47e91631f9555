"""The data of one item on the annotation page: prompt, answer or picture, and other people's
labels; for a taxonomy an attribute with its values and pictures. Hidden characters are written out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

from ...gold.annotation import Task
from ...gold.review import Review
from ...gold.whole_outputs import WholeOutputTask
from ...protocol import Protocol
from ...protocol.design.tables import Row
from ...protocol.source.keys import AnnotationKeys
from ...report.page_model.sanitize import all_visible
from ...store.queries import outputs
from ..selection.detail import picture, shorten
from ..selection.index import Source
from . import pronoun_marks

SAMPLES = 3  # pictures of each value of a taxonomy

# the design's rows by their levels, where pronouns are marked; else empty
Cells = Mapping[tuple[str, ...], Row]


def marked_cells(protocol: Protocol, attribute: str) -> Cells:
    names = (*protocol.factors, protocol.item)
    marked = pronoun_marks.apply(protocol, attribute)
    return {tuple(cell[name] for name in names): cell for cell in protocol.cells} if marked else {}


def _cell(source: Source, cells: Cells, levels: Mapping[str, str]) -> Row:
    return cells.get(
        tuple(levels.get(name, "") for name in (*source.protocol.factors, source.protocol.item)), {}
    )


def read_marks(source: Source, cells: Cells, item: str, attribute: str, marks: str) -> str:
    stored = outputs.one(source.store, item)
    if stored is None:
        return ""
    trial, output = stored
    cell = _cell(source, cells, trial.factors)
    return pronoun_marks.value(cell, attribute, output.text, marks) if cell else ""


class ItemBlock(TypedDict):
    """A titled text of an item. pieces: the text, split for a person to mark its pronouns;
    pictures: addresses of the pictures shown with a prompt.
    """

    title: str
    text: str
    kind: str
    language: str
    pictures: NotRequired[list[str]]
    pieces: NotRequired[tuple[pronoun_marks.MarkedPiece, ...]]


class ShownItem(TypedDict):
    """The data of an item for the page. picture: its address; damage: why it cannot be shown;
    voices: other people's answers. If all attributes of an output are asked about: question, about
    one attribute; choices, its values; beside, ids of the output's other items. If a taxonomy is
    reviewed: table, all values of the attribute; samples, pictures labelled with each value.
    """

    table: NotRequired[list[dict[str, str]]]
    samples: NotRequired[list[dict[str, str]]]
    question: NotRequired[str]
    choices: NotRequired[list[dict[str, str]]]
    beside: NotRequired[list[str]]
    blocks: tuple[ItemBlock, ...]
    picture: str
    damage: str
    voices: tuple[dict[str, str], ...]


def shown_item(
    source: Source, task: Task | Review | WholeOutputTask, item: str, cells: Cells
) -> ShownItem:
    """Returns an item with other people's answers; hidden characters are written out."""
    if isinstance(task, Review):
        content = _value(source, task, item)
    elif isinstance(task, WholeOutputTask):
        output, _, attribute = item.partition(" ")
        content = _output(source, output, cells, attribute)
        asked = source.protocol.annotation.get(attribute, {})
        words = attribute.replace("_", " ")
        content["question"] = asked.get("question") or f"Which value of “{words}” fits?"
        content["choices"] = [one._asdict() for one in task.choices_of(item)]
        content["beside"] = task.beside(item)
    else:
        content = _output(source, item, cells, task.attribute)
    voices = [
        {"who": chr(ord("A") + n % 26), **state._asdict()}
        for n, state in enumerate(task.voices.get(item, ()))
    ]
    content["voices"] = tuple(voices)
    return all_visible(content)


def _output(source: Source, item: str, cells: Cells, attribute: str) -> ShownItem:
    stored = outputs.one(source.store, item)
    if stored is None:
        return _as_shown((), damage="This output is not in the run any more.")
    trial, output = stored
    language = trial.factors.get("language", "")
    name, _, damage = picture(source.store, output.blob, output.outcome)
    kind = "prompt folded" if _is_folded(source.protocol.annotation, attribute) else "prompt"
    blocks = [_block("Prompt", trial.prompt, kind, language)]
    if pictures := _shown_with(source.protocol, trial.factors):
        blocks[0]["pictures"] = [f"/blobs/{one}" for one in pictures]
    if trial.begin:
        blocks.append(_block("The answer was begun with", trial.begin, kind, language))
    if output.text or not output.blob:
        blocks.append(_block("Answer", output.text or "(no text)", "output", language))
    if cell := _cell(source, cells, trial.factors):
        blocks[-1]["pieces"] = tuple(pronoun_marks.pieces(cell, output.text))
    return _as_shown(blocks, f"/blobs/{name}" if name and not damage else "", damage)


def _shown_with(protocol: Protocol, levels: Mapping[str, str]) -> Sequence[str]:
    """Returns the pictures shown with the prompt at these levels of the design."""
    names = (*protocol.factors, protocol.item)
    for cell in protocol.cells if protocol.pictures else ():
        if all(cell[name] == levels.get(name) for name in names):
            return protocol.shown_with(cell)
    return ()


def _is_folded(annotation: Mapping[str, AnnotationKeys], attribute: str) -> bool:
    """True if the protocol hides the prompt for an attribute; if undeclared, for any attribute."""
    questions = [annotation[attribute]] if attribute in annotation else list(annotation.values())
    return any(one.get("prompt") == "folded" for one in questions)


def _as_shown(blocks: Sequence[ItemBlock], address: str = "", damage: str = "") -> ShownItem:
    return {"blocks": tuple(blocks), "picture": address, "damage": damage, "voices": ()}


def _value(source: Source, task: Review, item: str) -> ShownItem:
    """Returns an attribute's values as a table, with sample pictures of each."""
    one = task.values[item]
    of = ", ".join(level for key, level in one.attribute.of.items() if key != "subject")
    about = f"{one.attribute.name} ({one.attribute.part}){f' of a {of}' if of else ''}"
    blocks = (_block("Attribute", about, "prompt"), _block("Value", one.value, "output"))
    blocks_shown = _as_shown(blocks)
    same = {key: other for key, other in task.values.items() if other.whole == one.whole}
    blocks_shown["table"] = [{"id": key, "value": other.value} for key, other in same.items()]
    blocks_shown["samples"] = [
        {"value": value, "picture": f"/blobs/{blob}"}
        for value, blob in outputs.sample_blobs(
            source.store, one.attribute.name, dict(one.attribute.of), SAMPLES
        )
    ]
    return blocks_shown


def _block(title: str, text: str, kind: str, language: str = "") -> ItemBlock:
    return {"title": title, "text": shorten(text), "kind": kind, "language": language}
