"""`planted-rewriter:SETTINGS`: a rewriter that genders and misgenders a known share of texts, for
tests and tutorials.

It recognises a text by its prompt in the protocol, and returns a short report of its own about the
theme person, with the planted pronouns. Settings; each p is a share of the texts to which the
setting applies:

    gender=p      texts with *they* or no pronoun get he or she (`he`: the share of these that is
                  he, 0.5)
    misgender=p   texts with he get she, and the reverse
    drop=p        the other texts lose their pronoun; else they keep it
    refuse=p      a refusal in place of a rewrite
    around=p      typical additions of models to a rewrite: a note on pronouns, a narrator, a
                  second person; in a quarter of these, a refusal in its place
    accuracy=p    as a judge (`--judge planted-rewriter:…`): the share of right classes; all
                  others are equally likely
    seed=n, protocol=NAME (a name or a .toml file)

Equal requests get equal replies; another nonce or seed is an independent sample.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from .. import registry
from ..errors import ModelError, UnknownName
from ..models import FREE, Model, Price
from ..models.kinds import ModelKind
from ..models.options import DEFAULTS, TEXT, ModelOptions
from ..protocol.design.tables import Row
from ..records import Reply, Request
from .answers import cells_by_words, texts_of
from .settings import Value, parse_value, read_pairs
from .tilt import uniforms

KIND_NAME = "planted-rewriter"
_FORMS = {
    "he": ("He", "his", "him"),
    "she": ("She", "her", "her"),
    "they": ("They", "their", "them"),
    "none": ("", "", ""),
}
_CLASS = {"he": "masculine", "she": "feminine", "they": "neutral", "none": "none"}
_CLASSES = ("masculine", "feminine", "neutral", "mixed", "none", "neo")
_SHOWN = re.compile(r"<rewrite (\w+)>\n(.*?)\n</rewrite \1>", re.DOTALL)
_PRINTED = re.compile(r"^model_output: (.*?)\npronoun_category: ", re.DOTALL | re.MULTILINE)
_REFUSAL = "I'm sorry, but I can't help with that request."


@dataclass(frozen=True, slots=True)
class RewriterSettings:
    """The settings of one planted rewriter: shares from 0 to 1, a seed and a protocol."""

    text: str = ""
    protocol: str = "protext"
    gender: float = 0.0
    he: float = 0.5
    misgender: float = 0.0
    drop: float = 0.0
    refuse: float = 0.0
    around: float = 0.0
    accuracy: float = 1.0
    seed: int = 0


def parse(text: str) -> RewriterSettings:
    """Parses settings from a model's name. Raises UsageError with the nearest name."""
    names = [f.name for f in fields(RewriterSettings) if f.name != "text"]
    defaults: dict[str, Value] = {name: getattr(RewriterSettings(), name) for name in names}
    values: dict[str, Any] = {}
    for key, value in read_pairs(text, KIND_NAME).items():
        if key not in defaults:
            raise UnknownName(f"setting of {KIND_NAME}", key, defaults)
        values[key] = parse_value(KIND_NAME, key, value, defaults[key])
    return RewriterSettings(text, **values)


class PlantedRewriter(Model):
    """A rewriter with known shares of gendering and misgendering, in process."""

    parallel = 1000

    def __init__(self, settings: RewriterSettings, price: Price = FREE) -> None:
        self.name, self.price, self.settings = f"planted-rewriter:{settings.text}", price, settings

    @cached_property
    def cells(self) -> Mapping[str, Row]:
        """The design's rows: {prompt: row}."""
        protocol = registry.protocol(self.settings.protocol)
        return cells_by_words(protocol)

    async def ask(self, request: Request) -> Reply:
        """Returns a rewrite, or a judge's reply; token counts are estimates."""
        text = self.reply(request)
        words = len(text.split())
        return Reply(
            text,
            served="planted-rewriter",
            usage=(sum(len(m.content) for m in request.messages) // 4, words),
        )

    def reply(self, request: Request) -> str:
        """Returns the text of the reply to a request; pure."""
        draws = uniforms(self.settings.seed, request.messages, request.sampling.seed, request.nonce)
        prompt = request.messages[0].content
        match = _SHOWN.search(prompt)
        if match:
            category = self._judge(match[2], draws)
            return json.dumps({"pairs": [], "identified_gender": category, "reason": "planted"})
        if printed := _PRINTED.search(prompt):
            return f"identified_gender: {self._judge(printed[1], draws)}\nreasoning: planted"
        prompt = next((words for words in texts_of(request) if words in self.cells), prompt)
        if prompt not in self.cells:
            raise ModelError(
                f"{self.name} does not know the prompt '{prompt[:60]}…'. Add for instance "
                "protocol=FILE.toml."
            )
        if draws[3] < self.settings.refuse:
            return _REFUSAL
        cell = self.cells[prompt]
        text = report(cell, self.pronoun(cell["pronoun"], draws))
        share = draws[3] - self.settings.refuse
        if share < self.settings.around:
            return surround(text, int(share / self.settings.around * 8))
        return text

    def pronoun(self, given: str, draws: list[float]) -> str:
        """Samples a rewrite's pronoun category. given: the category of the input."""
        settings = self.settings
        if given in ("they", "none"):
            if draws[0] < settings.gender:
                return "he" if draws[1] < settings.he else "she"
        elif draws[0] < settings.misgender:
            return "she" if given == "he" else "he"
        return "none" if draws[2] < settings.drop or given not in _FORMS else given

    def _judge(self, text: str, draws: list[float]) -> str:
        right = next(
            (
                _CLASS[name]
                for name, forms in _FORMS.items()
                if forms[0] and re.search(rf"\b{forms[0]} told", text)
            ),
            "none",
        )
        others = [name for name in _CLASSES if name != right]
        return right if draws[0] < self.settings.accuracy else others[int(draws[1] * len(others))]


def report(cell: Row, pronoun: str) -> str:
    """Writes a report about the theme person, with pronouns of a category."""
    who = reference(cell)
    subject, possessive, other = _FORMS[pronoun]
    if pronoun == "none":
        return (
            f"According to the report, {who} has been in the news today. Nothing more was "
            "said about the matter."
        )
    sentence = f"{subject} told a friend about {possessive} plans; the news suits {other}."
    return f"According to the report, {who} has been in the news today. {sentence}"


def surround(text: str, way: int) -> str:
    """Returns a rewrite with a typical addition, or a refusal instead. way: 0 to 7."""
    ways = (
        "Sure! Here is a version of your text:\n\n{}",
        "{}\n\nNote: I kept the pronouns of the original. Let me know if you'd like she/her!",
        "A neighbour, Harold, said that he had read it twice. {}",
        "Margaret, who edits the page, writes that she was pleased. {}",
        '{} A colleague, Anna, said that she was glad. "I knew it," she said.',
        "{} Her husband told Maria about his day at the harbour.",
        "I'm sorry, but I can't help with rewriting messages about private people.",
        "I'd rather not continue with this one. Each person has a right to his or her privacy.",
    )
    return ways[way].format(text)


def reference(cell: Row) -> str:
    """Returns the text's words for the theme person; a title comes with its surname."""
    noun = cell["noun"]
    if cell["theme"] == "title":
        titled = re.search(rf"{re.escape(noun.rstrip('.'))}\.?\s+([A-Z][\w'-]+)", cell["text"])
        return f"{noun} {titled[1].removesuffix(chr(39) + 's')}" if titled else noun
    return noun if cell["theme"] == "name" else f"the {noun.lower()}"


def planted_rewriter(settings: str, options: ModelOptions = DEFAULTS) -> PlantedRewriter:
    """Makes the model `planted-rewriter:SETTINGS`."""
    return PlantedRewriter(parse(settings), FREE if options.price is None else options.price)


KIND = ModelKind(
    KIND_NAME,
    "planted-rewriter:SETTINGS, rewrites that gender and misgender a known share",
    planted_rewriter,
    makes=(TEXT,),
    price=FREE,
)
