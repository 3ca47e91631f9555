"""A vision model labels each picture by attributes with closed lists of values; some of these
attributes it chose itself beforehand.

One call per picture, at temperature 0, with a JSON schema. The reply must be one JSON object with
exactly the keys asked for and values from their lists, perhaps in a code fence; else it is asked
for again. After ROUNDS replies a value that is still missing or off its list is `invalid`. JSON
inside prose is not accepted either. `not_applicable` means that the picture does not show the
attribute.

A colour is a free word, mapped to the palette of colour.py; the word itself is the label of
ATTRIBUTE_raw. The attribute of `constraint` (settings) says whether the picture obeys what the
prompt demands of every picture: one product, no people.

Besides the attributes of the settings (`colours`, `lists`) there are those of a taxonomy: a file
(`--taxonomy`), or the judge's choice from the pictures of one set (`sets`: a subject and an
object), at most two per prompt. If the run has modes set aside for this, these pictures come from
them, so that attributes are not chosen on the pictures that are measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from ...errors import ProtocolError, UnknownName, UsageError
from ...protocol import InstrumentSpec, Protocol
from ...records import INVALID, Answered, Label, Message, Output, Request, Sampling, Steps, Trial
from .. import Discoveries, Discovery, Learner, Settings, Team
from ..judges.prompt import asking, converse
from ..wording import Json
from . import colour, taxonomy, taxonomy_prompt
from .attribute_question import (
    CHECKS,
    answer_schema,
    article,
    ask_about,
    ask_as_printed,
    read,
    texts_of,
)
from .taxonomy import NOT_APPLICABLE, Attribute

ROUNDS = 3
LONGEST_PIXELS = 768  # pixels of a shown picture's longer side, as the panel's
SMALL_PIXELS = 512  # where many pictures are shown at once
PICTURES_OF_A_PROMPT = 2  # pictures of a prompt that attributes are chosen from
FEWEST_PICTURES, MOST_PICTURES = 4, 36  # pictures that attributes are chosen from
SAMPLING = Sampling(temperature=0.0, top_p=1.0, max_tokens=1024)
CONSTRAINT = "constraint"
_KEPT = {
    ("one", "no"): "kept",
    ("one", "yes"): "people",
    ("several", "no"): "several_products",
    ("several", "yes"): "several_products_and_people",
    ("none", "no"): "no_product",
    ("none", "yes"): "no_product",
}


class Attributes(Team, Learner):
    """settings: colours = [names], lists = {name: values}, sets = factors whose levels share a
    taxonomy, found = {part: number of attributes to choose}, values = [fewest, most], one = the
    factor that names the object shown; taxonomy = the text of a given file; printed = a paper's
    prompt in place of ours, which does not ask whether the picture obeys its prompt.
    """

    kind = "attributes"
    version = "3"
    modality = "image"
    answers = "picture"
    summary = "a vision model labels pictures by attributes, some of which it chooses before"
    artefact: ClassVar[str] = "taxonomy"
    discovery_calls: ClassVar[int] = ROUNDS
    needs = ("colours", "lists", "sets", "found", "values", "one")
    settings_schema: ClassVar[Settings] = {
        "colours": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Attributes that are colours.",
        },
        "lists": {
            "type": "object",
            "description": "Attributes with the values that each can have.",
            "additionalProperties": {"type": "array", "minItems": 1, "items": {"type": "string"}},
        },
        "sets": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "string"},
            "description": "What a taxonomy belongs to: subject, or factors.",
        },
        "found": {
            "type": "object",
            "additionalProperties": {"type": "integer", "minimum": 1},
            "description": "How many attributes the judge chooses of each part.",
        },
        "values": {
            "type": "array",
            "minItems": 2,
            "maxItems": 2,
            "items": {"type": "integer", "minimum": 1},
            "description": "The fewest and the most values of a chosen attribute.",
        },
        "one": {"type": "string", "description": "The factor that names what is shown."},
        "printed": {
            "type": "object",
            "required": ["ask", "listed", "colour", "names"],
            "description": "What authors printed: the prompt, its two kinds of lines, and names.",
        },
    }

    def __init__(self, spec: InstrumentSpec, judge: str = "") -> None:
        if not judge:
            raise UsageError(
                f"{spec.name} is labelled by a vision model. Type for instance: --judge "
                "openai:gpt-4.1-mini"
            )
        self.found: list[Attribute] = []
        settings = dict(spec.settings)
        text = str(settings.get(self.artefact, ""))
        self.fixed = [Attribute(name, part_of(name), (), {}) for name in settings["colours"]]
        self.fixed += [
            Attribute(name, part_of(name), tuple(values), {})
            for name, values in settings["lists"].items()
        ]
        self.sets = tuple(settings["sets"])
        least, most = settings["values"]
        taken = (*(one.name for one in self.fixed), CONSTRAINT, *CHECKS)
        self.wanted = taxonomy_prompt.Wanted(dict(settings["found"]), least, most, taken)
        self.given = bool(text)
        if text:  # comments and spaces of the file are no part of the annotator
            self.take_over(text)
            settings[self.artefact] = taxonomy.text(self.found)
        super().__init__(
            InstrumentSpec(spec.name, spec.kind, spec.attribute, settings, spec.also), judge
        )
        self.printed: Mapping[str, Any] = settings.get("printed", {})
        names = [one.name for one in self.fixed]
        self.attributes = (*names, *([] if self.printed else [CONSTRAINT]))

    def check_design(self, protocol: Protocol) -> None:
        """Raises ProtocolError if `one` or `sets` names something that is not a factor."""
        for name in (self.settings["one"], *self.sets):
            if name not in (*protocol.factors, "subject"):
                raise ProtocolError(
                    f"one and sets: {UnknownName('factor', name, protocol.factors)}"
                )

    def wording(self) -> Mapping[str, Json]:
        """Returns the prompts, rounds, sampling, picture sizes in pixels and the palette."""
        return {
            **texts_of().table,
            **taxonomy_prompt.wording(),
            "rounds": ROUNDS,
            "sampling": SAMPLING,
            "shown": (LONGEST_PIXELS, SMALL_PIXELS, PICTURES_OF_A_PROMPT, MOST_PICTURES),
            "palette": colour.palette(),
        }

    def calls(self, trial: Trial, exact: bool) -> Mapping[str, tuple[int, int]]:
        """Returns {judge: (1, ROUNDS)}: the fewest and the most calls per picture."""
        return {self.judge: (1, ROUNDS)}

    # the taxonomy

    @property
    def artefact_name(self) -> str:
        """The annotator's name if a file gave the taxonomy, else the instrument's name."""
        return self.annotator if self.given else self.name

    def take_over(self, text: str) -> None:
        """Loads a taxonomy from TOML. Raises UsageError if it cannot be used for labelling."""
        self.found = (
            taxonomy.parse(
                text,
                "the taxonomy",
                keys=self.sets,
                parts=tuple(self.wanted.parts),
                fixed=self.wanted.taken,
            )
            if text.strip()
            else []
        )

    def artefact_text(self) -> str:
        """Returns the chosen attributes as TOML, sorted by set."""
        return taxonomy.text(sorted(self.found, key=lambda one: tuple(one.of.items())))

    def set_of(self, trial: Trial) -> Mapping[str, str]:
        """Returns {factor: level} for the factors in `sets`: the set that a trial belongs to."""
        return {key: trial.subject if key == "subject" else trial.factors[key] for key in self.sets}

    def can_label(self, trial: Trial) -> bool:
        """True if the taxonomy has attributes for the trial's set, or was given and is empty."""
        return (self.given and not self.found) or any(
            one.belongs(self.set_of(trial)) for one in self.found
        )

    def discover(self, outputs: Iterable[tuple[Trial, Output]]) -> Discoveries:
        """Yields (set, steps that choose its attributes) for each set without a taxonomy."""
        if self.given:
            return
        sets: dict[tuple[str, ...], list[tuple[Trial, Output]]] = {}
        for trial, output in outputs:
            if not self.can_label(trial):
                items = sets.setdefault(tuple(self.set_of(trial).values()), [])
                items += (
                    [(trial, output)] if output.blob and trial.sample < PICTURES_OF_A_PROMPT else []
                )
        for key, items in sets.items():
            of = dict(zip(self.sets, key, strict=True))
            yield (
                of,
                self._choose(
                    of,
                    sorted(items, key=lambda item: (item[0].prompt, item[0].sample))[
                        :MOST_PICTURES
                    ],
                ),
            )

    def _choose(self, of: Mapping[str, str], items: Sequence[tuple[Trial, Output]]) -> Discovery:
        """Asks for a set's attributes, at most ROUNDS times. False if no reply is usable."""
        if len(items) < FEWEST_PICTURES:
            return False
        asked = taxonomy_prompt.question(
            [trial.prompt for trial, _ in items],
            items[0][0].factors[self.settings["one"]],
            self.wanted,
        )
        pictures = tuple(output.blob for _, output in items)

        def request(messages: tuple[Message, ...], turn: int) -> Request:
            return Request(
                self.judge,
                messages,
                SAMPLING,
                schema=taxonomy_prompt.schema(self.wanted),
                longest=SMALL_PIXELS,
                purpose=self.annotator,
                nonce=f"{'/'.join(of.values())}/{turn}",
            )

        def read_choice(text: str) -> tuple[list[Attribute], str]:
            chosen, wrong = taxonomy_prompt.read_attributes(text, self.wanted, of)
            return chosen, taxonomy_prompt.again(wrong) if wrong else ""

        question = Message("user", asked, pictures)
        chosen, is_usable = yield from converse([question], request, read_choice, ROUNDS)
        if is_usable:
            self.found += chosen
        return is_usable

    # the labels

    def steps(self, item: Answered) -> Steps:
        """Asks the judge about the picture, at most ROUNDS times; returns a label per attribute."""
        wanted = [*self.fixed, *(one for one in self.found if one.belongs(self.set_of(item.trial)))]
        one = item.trial.factors[self.settings["one"]]
        if self.printed:
            asked = ask_as_printed(wanted, one, self.printed)
        else:
            asked = ask_about(wanted, article(one))
        blob = item.output.blob
        question = Message("user", asked, (blob,) if blob else ())

        def read_values(text: str) -> tuple[dict[str, str], str]:
            values, wrong = read(text, wanted, self.printed)
            return values, texts_of().fill("again", problems="; ".join(wrong)) if wrong else ""

        schema = "" if self.printed else answer_schema(wanted)
        request = asking(self, item, SAMPLING, schema, LONGEST_PIXELS)
        values, _ = yield from converse([question], request, read_values, ROUNDS)
        return self._labels(item, wanted, values)

    def _labels(
        self, item: Answered, wanted: Sequence[Attribute], values: Mapping[str, str]
    ) -> list[Label]:
        labels = []
        for one in wanted:
            value = values.get(one.name, INVALID)
            if not one.values and value not in (INVALID, NOT_APPLICABLE):
                labels.append(self.label(item, value, attribute=one.name + taxonomy.RAW))
                value = colour.canonical(value)
            labels.append(self.label(item, value, attribute=one.name))
        if self.printed:
            return labels
        kept_part = _KEPT.get((values.get("products", ""), values.get("people", "")), INVALID)
        return [*labels, self.label(item, kept_part, attribute=CONSTRAINT)]


def part_of(name: str) -> str:
    """Returns the part of a picture that an attribute describes: "background" or "product"."""
    return "background" if name.startswith("background") else "product"
